"""K-hyperedge medoids: against sets of objects, and all choices of medoids."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from tests.cases import E1, planted
from tests.naive import hyperedges as naive
from tests.naive.linkage import random_labels

from conclust import CEHM, Ensemble
from conclust.consensus.literature.cehm import medoids
from conclust.exceptions import ParameterError
from conclust.similarity import cluster_certainty, cluster_jaccard


def test_four_objects_match_hand_calculation():
    model = CEHM(2).fit(E1)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    # If all objects are labelled, each cluster votes by the labels of its objects.
    votes = [[1, 0], [0, 1], [1, 0], [0, 1], [2 / 3, 1 / 3], [0, 1]]
    np.testing.assert_allclose(model.votes_, votes)
    np.testing.assert_allclose(model.membership_[2], [2 / 9, 7 / 9])


@pytest.mark.parametrize("seed", range(8))
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


@pytest.mark.parametrize("seed", range(6))
def test_no_swap_of_medoids_improves_the_weighted_objective(seed):
    rng = np.random.default_rng(seed)
    weights = rng.permutation([8.0, 4.0, 1.0, 0.5])
    e = Ensemble(random_labels(rng, 20, 4, k=4), weights=weights)
    clusters, votes = naive.clusters_of(e.labels), e.column_weights
    medoid = CEHM(2).fit(e).medoids_
    reached = naive.likeness(clusters, medoid, votes)
    for place in range(2):
        for other in range(len(clusters)):
            changed = medoid.copy()
            changed[place] = other
            assert naive.likeness(clusters, changed, votes) <= reached + 1e-9


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


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("theta", [None, 0.4])
def test_labels_match_the_naive_twin(seed, theta):
    labels, _ = planted(n=60, m=9, k=3, flip=0.2, seed=seed)
    labels = np.repeat(labels, 1 + np.arange(60) % 2, axis=0)
    e = Ensemble(labels)
    model = CEHM(3, theta=theta).fit(e)
    weights = np.full(int(e.offsets[-1]), 1 / 9)
    if theta is not None:
        weights = weights * cluster_certainty(e, theta)
    expected = naive.held(naive.clusters_of(e.labels), model.medoids_, len(labels), weights)
    assert adjusted_rand_score(model.labels_, expected) == 1.0


def test_medoids_with_all_their_objects_have_seeds():
    # {0, 1} is within {0, ..., 5}: none of its objects is in it alone.
    labels = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [1, 0], [2, 0], [2, 1], [2, 1], [2, 1]])
    model = CEHM(3).fit(np.repeat(labels, [5, 5, 1, 1, 1, 1, 5, 5, 5], axis=0))
    assert model.n_clusters_ == 3


def test_there_are_at_most_as_many_clusters_as_distinct_ones():
    truth = np.repeat(np.arange(3), 10)
    model = CEHM(7).fit(np.column_stack([truth] * 4))
    assert model.n_clusters_ == 3
    assert len(model.medoids_) == 3


def test_objects_without_votes_have_an_even_membership():
    labels = np.full((9, 2), -2)
    labels[:8] = np.repeat([0, 1], 4)[:, None]
    model = CEHM(2).fit(labels)
    np.testing.assert_allclose(model.membership_[8], [0.5, 0.5])
    alone = CEHM(2).fit(np.full((4, 2), -2))
    assert alone.labels_.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_prediction_repeats_the_fit(missing):
    labels, _ = planted(n=90, m=10, k=4, flip=0.15, missing=missing)
    model = CEHM(4, theta=0.4).fit(labels)
    np.testing.assert_allclose(model.predict_proba(labels), model.membership_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(labels), model.labels_)


def test_soft_members_with_certain_rows_equal_labels():
    labels, _ = planted(n=60, m=7, k=3, flip=0.2)
    e = Ensemble(labels)
    soft = Ensemble.from_memberships([np.eye(int(c.max()) + 1)[c] for c in e.labels.T])
    hard, soft = CEHM(3).fit(e), CEHM(3).fit(soft)
    np.testing.assert_allclose(soft.membership_, hard.membership_, atol=1e-12)


def test_theta_must_be_positive():
    with pytest.raises(ParameterError, match="The 'theta' parameter of CEHM must be"):
        CEHM(2, theta=0.0).fit(E1)
