"""The separation of few objects: silhouettes beside scikit-learn's, planted clusters, single clouds."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score, silhouette_score

from conclust import ConsensusClustering
from conclust.selection import choose
from conclust.selection.resampled.testing import SMALLEST, largest_silhouette


def blobs(size, centers, seed):
    centers = np.asarray(centers, dtype=float)
    y = np.repeat(np.arange(len(centers)), size)
    return centers[y] + np.random.default_rng([seed, 5]).normal(size=(len(y), centers.shape[1])), y


@pytest.mark.parametrize("seed", range(4))
def test_the_silhouette_equals_scikit_learns(seed):
    rng = np.random.default_rng([seed, 1])
    X = rng.normal(size=(rng.integers(8, 50), rng.integers(1, 6)))
    tree = linkage(X, "ward")
    values = {}
    for K in range(2, len(X) // SMALLEST + 1):
        labels = fcluster(tree, K, "maxclust")
        if np.bincount(labels)[1:].min() >= SMALLEST and K <= 10:
            values[K] = silhouette_score(X, labels)
    value, labels = largest_silhouette(X)
    if not values:
        assert (value, labels) == (-1.0, None)
        return
    assert value == pytest.approx(max(values.values()), abs=1e-12)
    assert labels.max() + 1 == max(values, key=values.get)


def test_equal_points_of_a_cluster_have_a_silhouette_of_one():
    X = np.zeros((12, 2))
    X[:6] = 1.0
    value, labels = largest_silhouette(X)
    assert value == 1.0
    assert np.array_equal(labels, np.repeat([0, 1], 6))
    assert largest_silhouette(np.zeros((9, 2))) == (-1.0, None)


@pytest.mark.long
@pytest.mark.parametrize("size", [8, 20])
@pytest.mark.parametrize("centers", [[[0, 0], [9, 0]], [[0, 0], [9, 0], [0, 9]]])
def test_auto_finds_few_separated_objects(size, centers):
    X, y = blobs(size, centers, 3)
    model = ConsensusClustering(n_clusters="auto", random_state=0).fit(X)
    assert model.n_clusters_ == len(centers)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.selection_.p_value <= 0.05


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")
@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_auto_keeps_few_objects_of_a_cloud_together(kind):
    rng = np.random.default_rng(4)
    found = [
        choose(getattr(rng, kind)(size=(24, 2)), n_references=39, random_state=0) for _ in range(3)
    ]
    assert sum(each.n_clusters > 1 for each in found) <= 1
    one = next(each for each in found if each.n_clusters == 1)
    assert "farther apart" in one.reason or "clouds are as stable" in one.reason
