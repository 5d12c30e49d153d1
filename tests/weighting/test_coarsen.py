"""Partitions merged down to fewer clusters, against the bottleneck on tables counted from sets."""

import numpy as np
import pytest
from tests.cases import E1, planted
from tests.naive.linkage import random_labels
from tests.naive.similarity import blocks
from tests.naive.voting import information_merges

from conclust import Ensemble
from conclust.exceptions import InputError, ParameterError
from conclust.lattice import is_finer
from conclust.metrics import adjusted_rand_index
from conclust.weighting import coarsen
from conclust.weighting.granularity import matched


def naive(labels, k, weights):
    """Merge each partition's clusters; objects that are missing or noise in another one are ignored."""
    parts = blocks(labels)
    merged = np.array(labels)
    for u, part in enumerate(parts):
        joint = np.array(
            [
                [weights[v] * len(mine & other) for mine in part]
                for v, others in enumerate(parts)
                for other in others
                if v != u
            ]
        )
        for number, group in enumerate(information_merges(joint / joint.sum(), k)):
            for cluster in group:
                merged[sorted(part[cluster]), u] = number
    return merged


@pytest.mark.parametrize(("missing", "noise"), [(0, 0), (0.25, 0), (0, 0.2), (0.2, 0.2)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_coarsening_matches_the_naive_twin(missing, noise, weighted, k):
    rng = np.random.default_rng(8)
    labels = random_labels(rng, 40, 6, k=6, missing=missing, noise=noise)
    weights = rng.random(6) + 0.1 if weighted else None
    coarse = coarsen(Ensemble(labels, weights=weights), k)
    expected = Ensemble(naive(labels, k, np.ones(6) if weights is None else weights))
    np.testing.assert_array_equal(coarse.labels, expected.labels)
    assert coarse.cluster_counts.max() <= k
    if weighted:
        np.testing.assert_array_equal(coarse.weights, weights)
    else:
        assert coarse.weights is None


def test_merged_clusters_are_unions_and_coarse_partitions_are_unchanged():
    labels, _ = planted(n=60, m=8, k=5, flip=0.3)
    labels[:, 3] = np.arange(60) % 2
    found_labels = coarsen(labels, 3).labels
    for u in range(8):
        assert is_finer(labels[:, u], found_labels[:, u])
    np.testing.assert_array_equal(found_labels[:, 3], labels[:, 3])
    np.testing.assert_array_equal(coarsen(labels, 5).labels, Ensemble(labels).labels)


def test_soft_members_are_merged_by_their_sums():
    labels, _ = planted(n=40, m=5, k=4, flip=0.2)
    hard = Ensemble(labels)
    soft = Ensemble.from_memberships([np.eye(4)[column] for column in hard.labels.T])
    coarse = coarsen(soft, 2)
    assert coarse.is_soft
    np.testing.assert_allclose(coarse.indicator.sum(axis=1), 5.0)
    np.testing.assert_array_equal(coarse.labels, coarsen(hard, 2).labels)


def test_clusters_in_only_one_partition_are_merged_first():
    labels = [[0, -1], [1, -1], [2, 0], [2, 0], [3, 1], [3, 1]]
    assert coarsen(labels, 3).labels[:, 0].tolist() == [0, 0, 1, 1, 2, 2]


def test_invalid_arguments_are_refused():
    with pytest.raises(
        InputError, match="Partition 0 shares objects with no partition of positive weight"
    ):
        coarsen([[0], [1], [2]], 2)
    with pytest.raises(ParameterError, match="'n_clusters' parameter of coarsen must be an int"):
        coarsen(E1, 0)


def test_a_partition_without_informed_clusters_is_refused():
    labels = np.random.default_rng(0).integers(0, 5, (30, 3))
    alone = [Ensemble(labels, weights=[0, 1, 0]), np.full((30, 3), -2)]
    alone[1][:, 1] = labels[:, 1]
    for ensemble in alone:
        with pytest.raises(InputError, match="Partition 1 shares objects with no partition"):
            coarsen(ensemble, 2)


def test_matched_granularity_leaves_a_partition_without_others_unchanged():
    labels = np.random.default_rng(0).integers(0, 5, (30, 3))
    merged, recoding = matched(Ensemble(labels, weights=[0, 1, 0]), 2)
    assert merged.cluster_counts.tolist() == [2, 5, 2]
    np.testing.assert_array_equal(recoding(Ensemble(labels).codes), merged.codes)


def test_matched_granularity_merges_two_partitions():
    labels = np.column_stack([np.repeat(np.arange(6), 5), np.repeat(np.arange(3), 10)])
    merged, recoding = matched(Ensemble(labels), 3)
    assert merged.cluster_counts.tolist() == [3, 3]
    assert adjusted_rand_index(*merged.codes.T.astype(int)) == 1.0
    np.testing.assert_array_equal(recoding(Ensemble(labels).codes), merged.codes)


def test_matched_granularity_leaves_a_single_partition_unchanged():
    alone = Ensemble(np.arange(6)[:, None])
    merged, recoding = matched(alone, 2)
    assert merged is alone
    np.testing.assert_array_equal(recoding(alone.codes), alone.codes)
