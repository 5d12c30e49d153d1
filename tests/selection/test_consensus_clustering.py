"""Consensus clustering as Monti et al. (2003) and ConsensusClusterPlus have it, on the wines, against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale
from tests.naive import selection as naive

from conclust.exceptions import ParameterError
from conclust.selection import consensus_clustering

X = scale(load_wine().data)[::2]
# Few resamples leave doubts about the number of clusters, which is not the question here.
pytestmark = pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")
AVERAGE = AgglomerativeClustering(linkage="average", metric="cosine")


@pytest.fixture(scope="module")
def found():
    return consensus_clustering(X, range(2, 5), clusterer=AVERAGE, n_resamples=20, random_state=0)


@pytest.mark.parametrize("K", [2, 3, 4])
def test_each_resample_is_the_clusterer_run_on_the_objects_drawn(found, K):
    labels = found.ensembles[K].labels
    for column, same in zip(labels.T, found.ensembles[2].labels.T, strict=True):
        drawn = np.flatnonzero(column >= 0)
        assert len(drawn) == round(0.8 * len(X))
        np.testing.assert_array_equal(drawn, np.flatnonzero(same >= 0))
        own = clone(AVERAGE).set_params(n_clusters=K).fit_predict(X[drawn])
        assert adjusted_rand_score(column[drawn], own) == 1.0


@pytest.mark.parametrize("K", [2, 3, 4])
def test_the_consensus_follows_the_formulas(found, K):
    labels = found.ensembles[K].labels
    matrix = naive.consensus_matrix(labels)
    np.fill_diagonal(matrix, 1.0)
    assert not np.isnan(matrix).any()
    np.testing.assert_allclose(found.consensus_matrix(K), matrix, atol=1e-15)
    tree = linkage(squareform(1.0 - matrix, checks=False), "average")
    # Which of two equally high steps of a tree comes first is not part of the method.
    assert adjusted_rand_score(cut_tree(tree, K).ravel(), found.labels[K]) > 0.95
    values, heights = found.cdf(K)
    pairs = matrix[np.triu_indices(len(X), 1)]
    np.testing.assert_allclose(heights, [np.mean(pairs <= v + 1e-12) for v in values])
    for cluster, mean in enumerate(found.cluster_consensus(K)):
        own = np.flatnonzero(found.labels[K] == cluster)
        inside = matrix[np.ix_(own, own)][np.triu_indices(len(own), 1)]
        assert mean == pytest.approx(inside.mean())
        for i, item in enumerate(found.item_consensus(K)[:, cluster]):
            assert item == pytest.approx(matrix[i, own[own != i]].mean())


def test_the_area_grows_by_delta(found):
    areas = np.array([naive.area(found.ensembles[K].labels) for K in (2, 3, 4)])
    np.testing.assert_allclose(found.table["area"], areas)
    grown = np.maximum(np.diff(areas), 0) / areas[:-1]
    np.testing.assert_allclose(found.table["delta"], [areas[0], *grown])


def test_tracked_clusters_keep_their_names(found):
    tracked = found.tracking()
    assert tracked.shape == (len(X), 3)
    for column, K in zip(tracked.T, (2, 3, 4), strict=True):
        assert adjusted_rand_score(column, found.labels[K]) == 1.0
    assert (tracked[:, 0] == tracked[:, 1]).mean() > 0.6
    assert len(np.unique(tracked[:, 1])) == 3


def test_the_three_wines_are_found_by_wards_clusters():
    found = consensus_clustering(X, [3], n_resamples=10, random_state=0)
    assert adjusted_rand_score(load_wine().target[::2], found.labels[3]) > 0.7


@pytest.mark.parametrize("clusterer", ["kmeans", KMeans(n_init=1)])
def test_the_settings_repeat_a_run_with_any_number_of_threads(clusterer):
    first = consensus_clustering(X, 3, clusterer=clusterer, n_resamples=20, n_jobs=1)
    assert first.settings["n_resamples"] == 20
    again = consensus_clustering(
        X,
        3,
        clusterer=clusterer,
        n_resamples=20,
        random_state=first.settings["random_state"],
        n_jobs=2,
    )
    np.testing.assert_array_equal(first.consensus_matrix(3), again.consensus_matrix(3))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"k": 1}, "The 'k' parameter of consensus_clustering must be"),
        ({"k": 80}, "up to the 71 objects that a resample draws"),
        ({"n_resamples": 1}, "The 'n_resamples' parameter of consensus_clustering"),
        ({"proportion": 1.5}, "The 'proportion' parameter of consensus_clustering"),
        ({"clusterer": "ward"}, "The 'clusterer' parameter of consensus_clustering"),
    ],
)
def test_wrong_parameters_are_refused(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        consensus_clustering(X, **parameters)


def test_a_number_that_was_not_tried_is_refused(found):
    for result in (found.cluster_consensus, found.item_consensus, found.consensus_matrix):
        with pytest.raises(ParameterError, match="one of the numbers tried"):
            result(7)
