"""K-hyperedge medoids: against sets of objects, and all choices of medoids."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from tests.cases import planted
from tests.naive import hyperedges as naive
from tests.naive.linkage import random_labels

from conclust import CEHM, Ensemble
from conclust.consensus.literature.cehm import medoids
from conclust.similarity import cluster_jaccard


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_swap_of_medoids_improves_the_objective(seed, k):
    rng = np.random.default_rng(seed)
    e = Ensemble(random_labels(rng, 20, 4, k=4))
    clusters = naive.clusters_of(e.labels)
    weights = rng.random(len(clusters)) + 0.1
    actual = medoids(cluster_jaccard(e), weights, k)
    assert len(set(actual.tolist())) == k
    reached = naive.likeness(clusters, actual, weights)
    for place in range(k):
        for other in range(len(clusters)):
            changed = actual.copy()
            changed[place] = other
            assert naive.likeness(clusters, changed, weights) <= reached + 1e-9
    assert reached <= naive.best_medoids(clusters, k, weights) + 1e-9


def test_nearly_all_medoids_are_optimal():
    hits = 0
    for seed in range(20):
        e = Ensemble(random_labels(np.random.default_rng(seed), 24, 4, k=4))
        clusters = naive.clusters_of(e.labels)
        ones = np.ones(len(clusters))
        actual = medoids(cluster_jaccard(e), ones, 3)
        hits += (
            naive.likeness(clusters, actual, ones) >= naive.best_medoids(clusters, 3, ones) - 1e-9
        )
    assert hits >= 17


def test_clusters_without_weight_are_not_medoids():
    J = sp.csr_array(np.array([[0.0, 0.9, 0.5], [0.9, 0.0, 0.2], [0.5, 0.2, 0.0]]))
    assert medoids(J, np.array([1.0, 0.0, 1.0]), 3).tolist() == [0, 2]
    assert medoids(J, np.array([0.0, 0.0, 0.0]), 3).tolist() == []


@pytest.mark.parametrize("seed", range(3))
def test_labels_match_the_naive_twin(seed):
    labels, _ = planted(n=60, m=9, k=3, flip=0.2, seed=seed)
    labels = np.repeat(labels, 1 + np.arange(60) % 2, axis=0)
    e = Ensemble(labels)
    model = CEHM(3).fit(e)
    weights = np.full(int(e.offsets[-1]), 1 / 9)
    expected = naive.held(naive.clusters_of(e.labels), model.medoids_, len(labels), weights)
    assert adjusted_rand_score(model.labels_, expected) == 1.0


def test_medoids_with_all_their_objects_have_seeds():
    # {0, 1} is within {0, ..., 5}: none of its objects is in it alone.
    labels = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [1, 0], [2, 0], [2, 1], [2, 1], [2, 1]])
    model = CEHM(3).fit(np.repeat(labels, [5, 5, 1, 1, 1, 1, 5, 5, 5], axis=0))
    assert model.n_clusters_ == 3


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_prediction_repeats_the_fit(missing):
    labels, _ = planted(n=90, m=10, k=4, flip=0.15, missing=missing)
    model = CEHM(4).fit(labels)
    np.testing.assert_allclose(model.predict_proba(labels), model.membership_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
