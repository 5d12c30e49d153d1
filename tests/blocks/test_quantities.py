"""Weights of partitions and the distribution of pairs have the same bits for labels in blocks as in memory."""

import itertools

import numpy as np
import pytest
from tests.blocks.forms import cases

from conclust import Ensemble
from conclust.blocks import LabelStore
from conclust.exceptions import InputError, UnsupportedEnsembleError
from conclust.selection import pair_distribution
from conclust.weighting import (
    agreement_weights,
    certainty_weights,
    cluster_and_select,
    coarsen,
    degenerate_partitions,
    validity_weights,
)

CASES = cases()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("measure", ["nmi", "ari"])
@pytest.mark.parametrize("scale", [False, True])
def test_agreement_weights_in_blocks_equal_those_in_memory(case, measure, scale):
    labels, weights = CASES[case]
    whole = agreement_weights(Ensemble(labels, weights=weights), measure=measure, scale=scale)
    store = LabelStore(labels, weights=weights, block_rows=37)
    np.testing.assert_array_equal(agreement_weights(store, measure=measure, scale=scale), whole)


@pytest.mark.parametrize("case", CASES)
def test_certainty_weights_and_degenerate_partitions_equal_those_in_memory(case):
    labels, weights = CASES[case]
    ensemble = Ensemble(labels, weights=weights)
    store = LabelStore(labels, weights=weights, block_rows=37)
    np.testing.assert_array_equal(certainty_weights(store), certainty_weights(ensemble))
    for share in (0.3, 0.4, 0.9):
        actual = degenerate_partitions(store, share)
        np.testing.assert_array_equal(actual, degenerate_partitions(ensemble, share))


@pytest.mark.parametrize("case", ["plain", "missing", "nowhere", "components"])
@pytest.mark.parametrize("n_pairs", [500, 10**6])
def test_the_distribution_of_pairs_equals_that_in_memory(case, n_pairs):
    labels = CASES[case][0]
    whole = pair_distribution(labels, n_pairs=n_pairs, random_state=3)
    for rows in (1, 41):
        store = LabelStore(labels, block_rows=rows)
        parts = pair_distribution(store, n_pairs=n_pairs, random_state=3)
        np.testing.assert_array_equal(parts.table[1:], whole.table[1:])
        assert (parts.pac(), parts.area) == (whole.pac(), whole.area)
        assert parts.sampled == whole.sampled == (n_pairs == 500)


def test_the_distribution_of_all_pairs_matches_its_definition():
    labels = CASES["nowhere"][0][90:150]
    shares = []
    for a, b in itertools.combinations(labels, 2):
        both = (a != -1) & (b != -1)
        if both.any():
            shares.append(((a == b) & (a >= 0))[both].mean())
    shares = np.array(shares)
    actual = pair_distribution(LabelStore(labels, block_rows=7))
    assert actual.n_pairs == len(shares)
    assert actual.area == pytest.approx(1.0 - shares.mean())
    assert actual.pac((0.1, 0.9)) == pytest.approx(((shares > 0.1) & (shares <= 0.9)).mean())
    values, heights = actual.cdf()
    np.testing.assert_allclose(heights, [(shares <= v + 1e-12).mean() for v in values])


def test_weights_and_ensembles_without_pairs_are_refused():
    labels = CASES["plain"][0]
    with pytest.raises(UnsupportedEnsembleError, match="takes no weights"):
        pair_distribution(LabelStore(labels, weights=np.arange(1.0, 9.0)))
    alone = np.array([[0, -1, 0], [-1, 0, -1], [-1, 0, -1], [0, -1, 1]])
    with pytest.raises(InputError, match="nothing to count"):
        pair_distribution(LabelStore(alone[:2]))
    assert pair_distribution(LabelStore(alone)).n_pairs == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda store: coarsen(store, 2),
        lambda store: validity_weights(store, np.zeros((300, 2))),
        lambda store: cluster_and_select(store, 3),
    ],
)
def test_quantities_that_need_all_labels_refuse_blocks(call):
    with pytest.raises(UnsupportedEnsembleError, match=r"LabelStore\(...\)\.ensemble\(\)"):
        call(LabelStore(CASES["plain"][0]))
