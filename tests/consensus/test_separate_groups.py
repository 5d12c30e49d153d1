"""The warning about partitions that share no objects, such as batches clustered separately."""

import warnings

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import conclust as cc
from conclust.consensus.base import _separate_groups
from conclust.exceptions import EvidenceWarning


def labels_of_batches(n=300, n_batches=3, each=2):
    """Partitions of four classes, `each` of them for every batch."""
    rng = np.random.default_rng(0)
    classes, batch = rng.integers(0, 4, n), rng.integers(0, n_batches, n)
    labels = np.repeat(classes[:, None], n_batches * each, axis=1)
    labels[batch[:, None] != np.arange(n_batches * each) // each] = -1
    return labels, classes


def warnings_of(labels, **parameters):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cc.AutoConsensus(4, **parameters).fit(labels)
    return [str(one.message) for one in caught if issubclass(one.category, EvidenceWarning)]


@pytest.mark.parametrize("method", ["AutoConsensus", "HBGF", "KCC", "Voting"])
def test_batches_without_common_objects_give_a_warning(method):
    labels, _ = labels_of_batches()
    with pytest.warns(EvidenceWarning, match="fall into 3 groups without common objects"):
        getattr(cc, method)(4).fit(labels)


def test_one_partition_of_all_objects_connects_the_batches():
    labels, classes = labels_of_batches()
    whole = np.column_stack([labels, classes])
    assert warnings_of(whole) == []
    assert cc.metrics.adjusted_rand_index(classes, cc.AutoConsensus(4).fit(whole).labels_) == 1.0
    # It does not connect them if it does not count.
    unused = cc.Ensemble(whole, weights=[1.0] * 6 + [0.0])
    assert len(warnings_of(unused)) == 1


def test_a_single_common_object_among_many_is_found():
    labels, _ = labels_of_batches(n=30_000, n_batches=2)
    assert len(warnings_of(labels)) == 1
    labels[12_345] = 0
    assert warnings_of(labels) == []


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_connected_components(seed):
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random((40, 12)) < 0.04, 0, 255).astype(np.uint8)
    present = (codes != 255).astype(int)
    count, expected = connected_components(present.T @ present, directed=False)
    groups = _separate_groups(codes, np.ones(12))
    assert len(groups) == count
    for group in groups:
        assert np.array_equal(group, np.flatnonzero(expected == expected[group[0]]))
