"""Cumulative voting in blocks with a reference of many more clusters than requested."""

import numpy as np
import pytest

from conclust import CumulativeVoting, Ensemble
from conclust.blocks import BlockedArray, LabelStore

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def split(kind):
    """Planted clusters split into random parts, up to nine per partition."""
    rng = np.random.default_rng(8)
    truth = rng.integers(3, size=400)
    counts = rng.integers(1, 4, size=9)
    labels = np.column_stack([truth * s + rng.integers(s, size=400) for s in counts])
    flipped = rng.random(labels.shape) < 0.2
    labels[flipped] = rng.integers(0, 3, flipped.sum())
    if kind != "complete":
        labels[rng.random(labels.shape) < 0.3] = -1
        labels[60:75] = -1  # never observed
    if kind == "noise":
        labels[rng.random(labels.shape) < 0.1] = -2
    weights = rng.uniform(0.5, 2.0, 9)
    weights[4] = 0.0
    labels[:, 0] = np.where((labels == -1).all(axis=1), -1, np.maximum(labels[:, 0], 0))
    return labels, weights


@pytest.mark.parametrize("kind", ["complete", "missing", "noise"])
@pytest.mark.parametrize("scheme", ["urcv", "rcv", "acv", "cvote", "bvote", "lwcv"])
def test_many_merges_equal_those_in_memory(scheme, kind):
    labels, weights = split(kind)
    whole = CumulativeVoting(3, scheme=scheme).fit(Ensemble(labels, weights=weights))
    parts = CumulativeVoting(3, scheme=scheme).fit(
        LabelStore(labels, weights=weights, block_rows=33)
    )
    assert whole.reference_membership_.shape[1] > 6
    assert parts.reference_ == whole.reference_
    np.testing.assert_array_equal(parts.merged_, whole.merged_)
    np.testing.assert_allclose(parts.votes_, whole.votes_, atol=1e-12)
    np.testing.assert_array_equal(np.asarray(parts.labels_), whole.labels_)
    before = parts.reference_membership_
    assert isinstance(before, BlockedArray)
    seen = (labels != -1).any(axis=1)
    np.testing.assert_allclose(np.asarray(before)[seen], whole.reference_membership_, atol=1e-12)
    np.testing.assert_allclose(np.asarray(before)[~seen], 1.0 / before.shape[1])
