"""The refinement by centres: clusters that it changes or keeps, and `predict` after it."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles, make_moons

from conclust import ConsensusClustering
from conclust.consensus.auto.votes import certain_clusters
from conclust.exceptions import ParameterError
from conclust.metrics import adjusted_rand_index
from conclust.points import Refinement, objects_to_refine, refine_by_centers


def no_votes(refined):
    return np.zeros((0, refined.max() + 1))


def overlapping(seed=0, n=300, d=8, distance=3.0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    X = rng.normal(size=(2 * n, d))
    X[:, 0] += distance * y
    return X, y


def test_overlapping_gaussians_are_refined_to_their_centres():
    X, y = overlapping()
    rough = y.copy()
    rough[np.random.default_rng(1).permutation(600)[:150]] ^= 1
    refinement = refine_by_centers(X, rough, 2, no_votes)
    means = np.stack([X[rough == k].mean(axis=0) for k in (0, 1)])
    best = KMeans(2, init=means, n_init=1, tol=0).fit(X)
    assert np.array_equal(refinement.labels(X), best.labels_)
    np.testing.assert_allclose(refinement.centers, best.cluster_centers_, atol=1e-9)


@pytest.mark.parametrize("seed", [11, 33])
def test_small_wide_clusters_next_to_a_large_one_are_refined(seed):
    """Their ties are cut often, wherever the border is; of all ties, fewer are cut by the centres."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], [150, 35, 30])
    X = rng.normal(size=(215, 6)) * np.array([0.35, 1.5, 1.2])[y, None]
    X[y == 1, 0] += 3.8
    X[y == 2, 1] += 3.8
    X[y == 0, 2] *= 2.5
    rough = np.where(y == 2, 2, np.where(y == 1, 0, X[:, 2] > 0)).astype(int)
    refinement = refine_by_centers(X, rough, 3, no_votes)
    assert adjusted_rand_index(y, rough) < 0.35
    assert adjusted_rand_index(y, refinement.labels(X)) > 0.9


@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_other_shapes_are_not_refined(make):
    X, y = make(
        500, noise=0.04, random_state=0, **({"factor": 0.5} if make is make_circles else {})
    )
    assert refine_by_centers(X, y, 2, no_votes) is None


def test_an_unchanged_partition_is_not_a_refinement():
    X, y = overlapping(distance=40.0)
    assert refine_by_centers(X, y, 2, no_votes) is None


def test_a_cluster_that_becomes_empty_keeps_the_consensus():
    X = np.concatenate([np.zeros((5, 1)), np.ones((5, 1)), np.full((2, 1), 0.5)])
    labels = np.array([0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 2, 2])
    assert refine_by_centers(X, labels, 3, no_votes) is None or len(np.unique(labels)) == 3


def test_many_objects_are_sampled():
    labels = np.where(np.arange(12_000) % 5 == 0, -1, 0)
    drawn = objects_to_refine(labels, 3)
    assert len(drawn) == 5_000
    assert (np.diff(drawn) > 0).all()
    assert (labels[drawn] >= 0).all()
    assert np.array_equal(objects_to_refine(labels[:50], 3), np.flatnonzero(labels[:50] >= 0))


@pytest.fixture(scope="module")
def model():
    return ConsensusClustering(n_clusters=2, refine=True, random_state=0).fit(overlapping(2)[0])


def test_refinement_matches_k_means_on_overlapping_gaussians(model):
    X, y = overlapping(2)
    best = adjusted_rand_index(y, KMeans(2, n_init=10, random_state=0).fit(X).labels_)
    assert model.refinement_ is not None
    assert adjusted_rand_index(y, model.labels_) >= best - 0.02


def test_predict_follows_the_refinement(model):
    X, _ = overlapping(2)
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(model.predict_proba(X), model.membership_)
    assert np.array_equal(model.membership_.argmax(axis=1), model.labels_)
    new = overlapping(3)[0]
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(restored.predict(new), model.predict(new))


@pytest.mark.long
def test_the_refinement_can_be_turned_off_and_on(model):
    X, _ = overlapping(2)
    off = clone(model).set_params(refine=False).fit(X)
    assert off.refinement_ is None
    assert np.array_equal(off.labels_, model.consensus_.labels_)
    named = ConsensusClustering("eac", n_clusters=2, random_state=0).fit(X)
    assert named.refinement_ is None
    by_default = ConsensusClustering(n_clusters=2, random_state=0).fit(X)
    assert np.array_equal(by_default.labels_, model.labels_)
    on = ConsensusClustering("eac", n_clusters=2, refine=True, random_state=0).fit(X)
    assert on.refinement_ is not None


def test_memberships_are_votes_of_the_members(model):
    """Checked against a loop over pairs: the mean similarity with each cluster, weighted by certainty."""
    ensemble, labels = model.ensemble_, model.labels_
    weighted, certainty = certain_clusters(ensemble)
    counting = (weighted.column_weights * certainty).tolist()
    codes = ensemble.codes + ensemble.offsets[:-1]
    K = model.n_clusters_
    for i in range(0, len(labels), 37):
        similarity = np.zeros(K)
        for j in range(len(labels)):
            same = codes[i] == codes[j]
            similarity[labels[j]] += sum(counting[t] for t in codes[i][same])
        similarity /= np.bincount(labels)
        shares = similarity / similarity.sum()
        if shares.argmax() != labels[i]:
            shares[[shares.argmax(), labels[i]]] = shares[[shares.argmax(), labels[i]]].mean()
        np.testing.assert_allclose(model.membership_[i], shares, atol=1e-9)


def test_members_and_centres_that_differ_give_equal_probabilities():
    votes = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    refinement = Refinement(np.zeros((3, 1)), votes)
    indicator = sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    membership = refinement.membership(np.array([0, 1, 1]), indicator)
    expected = [[0.7, 0.2, 0.1], [0.1, 0.45, 0.45], [0.45, 0.45, 0.1]]
    np.testing.assert_allclose(membership, expected)
    assert membership.argmax(axis=1).tolist() == [0, 1, 1]


def test_labels_are_numbered_by_first_appearance():
    X, _ = overlapping(2)
    refined = ConsensusClustering(n_clusters=2, random_state=0).fit(X[::-1])
    assert refined.refinement_ is not None
    assert refined.labels_[0] == 0
    assert refined.predict(X[::-1])[0] == 0


def test_refine_must_be_a_bool():
    with pytest.raises(ParameterError, match="must be a bool or 'auto'"):
        ConsensusClustering(refine=None).fit(np.zeros((60, 2)))
    with pytest.raises(ParameterError, match="'min_clusters' parameter of ConsensusClustering"):
        ConsensusClustering(min_clusters=0).fit(np.zeros((60, 2)))


def test_flat_clusters_are_separated_by_the_covariance_within_them():
    """Two clusters that are long in one direction: Euclidean centres cut them across."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 250)
    # Not normal: no mixture of normal distributions fits.
    X = rng.laplace(size=(500, 2)) * [4.2, 0.7]
    X[:, 1] += 5.5 * y
    rough = (X[:, 1] + 0.15 * X[:, 0] > 2.75).astype(np.int64)
    refinement = refine_by_centers(X, rough, 2, no_votes)
    assert refinement is not None
    assert refinement.whitening is not None
    centers = np.stack([X[rough == k].mean(axis=0) for k in (0, 1)])
    residuals = X - centers[rough]
    covariance = residuals.T @ residuals / len(X)
    shrunk = 0.9 * covariance + 0.1 * np.trace(covariance) / 2 * np.eye(2)
    W = refinement.whitening
    np.testing.assert_allclose(W.T @ shrunk @ W, np.eye(2), atol=1e-9)
    means = np.stack([(X @ W)[rough == k].mean(axis=0) for k in (0, 1)])
    best = KMeans(2, init=means, n_init=1, tol=0).fit(X @ W)
    assert np.array_equal(refinement.labels(X), best.labels_)
    assert adjusted_rand_index(y, refinement.labels(X)) > adjusted_rand_index(y, rough)
    assert adjusted_rand_index(y, KMeans(2, n_init=10, random_state=0).fit(X).labels_) < 0.2


def test_more_features_than_half_of_the_points_are_not_whitened():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40)) * np.linspace(1, 6, 40)
    refinement = refine_by_centers(X, np.arange(60) % 2, 2, no_votes)
    assert refinement is None or refinement.whitening is None
