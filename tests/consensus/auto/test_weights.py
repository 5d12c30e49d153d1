"""Only the ratios of weights count in the default consensus."""

import numpy as np
import pytest

from conclust import AutoConsensus, Ensemble
from conclust.confidence import questions
from conclust.weighting import certainty_weights


def agreeing(seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 150)
    return np.column_stack(
        [np.where(rng.random(150) < 0.3, rng.integers(0, 4, 150), truth) for _ in range(9)]
    )


def independent():
    return np.random.default_rng(0).integers(0, 3, (200, 8))


@pytest.mark.parametrize("labels", [agreeing(), independent()], ids=["agreeing", "independent"])
@pytest.mark.parametrize("weight", [1 / 9, 2.0, 1e-9, 1e9])
def test_equal_weights_are_no_weights(labels, weight):
    plain = AutoConsensus().fit(labels)
    weighted = AutoConsensus().fit(Ensemble(labels, weights=np.full(labels.shape[1], weight)))
    np.testing.assert_array_equal(weighted.labels_, plain.labels_)
    np.testing.assert_array_equal(weighted.membership_, plain.membership_)


@pytest.mark.parametrize("unit", [1 / 64, 8.0, 1e6])
def test_the_unit_of_weights_does_not_matter(unit):
    labels = agreeing()
    weights = certainty_weights(labels)
    one = AutoConsensus().fit(Ensemble(labels, weights=weights))
    other = AutoConsensus().fit(Ensemble(labels, weights=unit * weights))
    assert one.n_clusters_ == 4
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_array_equal(
        questions(Ensemble(labels, weights=unit * weights), 10),
        questions(Ensemble(labels, weights=weights), 10),
    )
