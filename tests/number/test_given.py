"""Clusters of a given number: specks are not counted, and near neighbours judge the candidates."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from conclust import ConsensusClustering
from conclust.metrics import adjusted_rand_index
from conclust.neighbours import neighbour_graph
from conclust.number.decision import share_torn
from conclust.trees.agglomeration import clusters_at, counted_cut


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_cut_is_the_coarsest_with_enough_clusters_that_are_no_specks(seed, K):
    rng = np.random.default_rng(seed)
    points = np.vstack(
        [rng.normal(size=(60, 2)), rng.normal(5, 0.1, (2, 2)), rng.normal(-6, 0.1, (1, 2))]
    )
    tree = linkage(points, "average")
    labels = counted_cut(tree, K)
    levels = [
        level
        for level in range(K, 2 * K + 1)
        if np.count_nonzero(np.bincount(clusters_at(tree, level)) >= 63 / (10 * K)) == K
    ]
    if not levels:
        np.testing.assert_array_equal(labels, clusters_at(tree, K))
        return
    expected = clusters_at(tree, levels[0])
    sizes = np.bincount(expected)[expected]
    np.testing.assert_array_equal(labels < 0, sizes < 63 / (10 * K))
    kept = labels >= 0
    assert adjusted_rand_index(labels[kept], expected[kept]) == 1
    assert sorted(set(labels[kept])) == list(range(K))


@pytest.mark.parametrize("seed", range(2))
def test_ten_far_objects_are_no_cluster(seed):
    rng = np.random.default_rng(seed)
    X = np.vstack(
        [rng.normal(size=(500, 2)), rng.normal(size=(500, 2)), rng.normal(size=(10, 2)) * 0.3]
    )
    X[500:1000, 0] += 3.5
    X[1000:] += [1.75, 9]
    model = ConsensusClustering(n_clusters=2, random_state=seed).fit(X)
    assert adjusted_rand_index(model.labels_[:1000], np.repeat([0, 1], 500)) > 0.75
    assert set(model.specks_) <= set(range(1000, 1010))


def test_small_clusters_next_to_a_large_one_are_counted():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), [500, 50, 50, 50, 50, 50])
    X = 40 * np.eye(6)[y] + rng.normal(size=(750, 6))
    model = ConsensusClustering(n_clusters=6, random_state=0).fit(X)
    assert adjusted_rand_index(model.labels_, y) == 1
    assert model.specks_ == ()


def test_the_share_of_ties_that_a_cluster_could_keep_is_counted_pair_by_pair():
    points, labels = np.random.default_rng(0).normal(size=(40, 2)), np.repeat([0, 1], [3, 37])
    graph = neighbour_graph(points, 4)
    tied = graph.to_scipy().toarray() > 0
    torn = []
    for k in range(2):
        inside = labels == k
        could = sum(min(tied[i].sum(), inside.sum() - 1) for i in np.flatnonzero(inside))
        torn.append(1 - tied[inside][:, inside].sum() / could)
    assert share_torn(graph, 2, labels) == pytest.approx(max(torn))
    assert share_torn(graph, 3, labels) == np.inf


def test_rings_are_torn_less_by_the_rings_than_by_halves():
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    graph = neighbour_graph(np.vstack([ring, 3 * ring]), 5)
    rings, halves = np.repeat([0, 1], 60), np.tile(angle > np.pi, 2).astype(np.int64)
    assert share_torn(graph, 2, rings) < 0.5 * share_torn(graph, 2, halves)
