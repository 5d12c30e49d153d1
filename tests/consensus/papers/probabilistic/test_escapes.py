"""Escapes from local minima: merges and splits, and the search through them."""

from __future__ import annotations

import numpy as np
import pytest

from conclust.consensus.papers.probabilistic.search.multistart import escape, ways_out
from conclust.evidence import evidence


def blocks(sizes, m=10):
    """Four true groups on which all partitions agree: c is a block matrix."""
    truth = np.repeat(np.arange(len(sizes)), sizes)
    return truth, np.tile(truth[:, None], (1, m))


def options(Y, cost, inside, counted=lambda x: x, seed=0):
    return list(ways_out(Y, cost, inside, counted, np.random.default_rng(seed)))


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_escapes_move_mass_among_three_clusters_only(k):
    rng = np.random.default_rng(k)
    Y = rng.dirichlet(np.ones(k), 30)
    cost, inside = rng.random((k, k)), rng.random(k)
    actual = options(Y, cost, inside)
    pairs = min(k, k * (k - 1) // 2)
    assert len(actual) == pairs * min(3, max(k - 2, 0))
    for other in actual:
        assert (other >= 0).all()
        np.testing.assert_allclose(other.sum(axis=1), 1)
        assert (np.abs(other - Y).max(axis=0) > 0).sum() == 3


def test_the_cheapest_merge_and_the_worst_cluster_come_first():
    Y = np.full((6, 4), 0.25)
    cost = np.array([[0, 5, 5, 5], [5, 0, 5, 1], [5, 5, 0, 5], [5, 1, 5, 0]])
    first = options(Y, cost, np.array([1.0, 0, 3, 9]))[0]
    # 1 takes the mass of 3; 2, which disagrees most among the rest, is split: its part becomes 3.
    np.testing.assert_allclose(first[:, 0], 0.25)
    np.testing.assert_allclose(first[:, 1], 0.5)
    np.testing.assert_allclose(first[:, 2] + first[:, 3], 0.25)


def test_a_split_separates_two_groups_in_one_cluster():
    truth, labels = blocks([5, 5, 7, 8])
    c = evidence(labels)[0].astype(float)
    # Clusters 0 and 1 halve the first group; the last two groups share cluster 2.
    Y = np.eye(3)[np.array([0, 0, 2, 2])[truth]]
    Y[:5, 1], Y[:5, 0] = 0.5, 0.5
    Y = np.hstack([Y, np.zeros((25, 1))])
    Y[5:10] = np.eye(4)[3]
    against = Y.T @ (labels.shape[1] - c) @ Y
    actual = options(Y, against - Y.T @ c @ Y, against.diagonal(), lambda x: c @ x)[0]
    groups = [actual[truth == g].argmax(axis=1) for g in range(4)]
    assert all(len(np.unique(group)) == 1 for group in groups)
    assert len({int(group[0]) for group in groups}) == 4


def test_the_search_continues_from_improvements_and_stops_when_patience_ends():
    tried = []

    def ways(best):
        return iter([np.array([best + step]) for step in (1, -1, -2)])

    def descend(membership, best):
        tried.append((best, int(membership[0])))
        return int(membership[0])

    assert escape(3, ways, descend, lambda other, best: 0 <= other < best, 3) == 0
    assert tried == [(3, 4), (3, 2), (2, 3), (2, 1), (1, 2), (1, 0), (0, 1), (0, -1), (0, -2)]
    tried.clear()
    assert escape(3, ways, descend, lambda other, best: other < best, 1) == 3
    assert tried == [(3, 4)]
