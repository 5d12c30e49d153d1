"""Clusters of a given number: specks are not counted, and near neighbours judge the candidates."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from conclust import ConsensusClustering
from conclust.metrics import adjusted_rand_index
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
    centers = 40 * np.eye(6)
    y = np.repeat(np.arange(6), [500, 50, 50, 50, 50, 50])
    model = ConsensusClustering(n_clusters=6, random_state=0).fit(
        centers[y] + rng.normal(size=(750, 6))
    )
    assert adjusted_rand_index(model.labels_, y) == 1
    assert model.specks_ == ()
