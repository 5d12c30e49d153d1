"""Clusters around centres: when they are the answer, and `predict` by them."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons

from conclust import ConsensusClustering
from conclust._files.saving import of_bytes, to_bytes
from conclust.borders import leading_components
from conclust.consensus.auto.votes import certain_clusters
from conclust.metrics import adjusted_rand_index
from conclust.number.centers import Ellipsoids
from conclust.pipeline import ClusterCenters


def overlapping(seed=0, n=300, d=8, distance=3.0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    X = rng.normal(size=(2 * n, d))
    X[:, 0] += distance * y
    return X, y


@pytest.fixture(scope="module")
def model():
    return ConsensusClustering(n_clusters=2, random_state=0).fit(overlapping(5)[0])


@pytest.mark.parametrize("d", [2, 60])
def test_points_are_nearest_to_the_mean_in_the_metric_of_the_covariance_within_clusters(d):
    """The same in the leading components and in the points' own coordinates, by Mahalanobis distances."""
    X, _ = overlapping(d=d)
    X = X * np.linspace(1, 3, d) + 7
    compared = leading_components(X, 50)
    found = Ellipsoids.fit(compared, 2, 0)
    labels = found.labels(compared)
    distances = cdist(compared, found.means, "mahalanobis", VI=found.precision)
    np.testing.assert_array_equal(labels, distances.argmin(axis=1))
    centers, whitening = found.of_points(X, compared)
    np.testing.assert_allclose(cdist(X @ whitening, centers), distances, rtol=1e-6)


def test_overlapping_gaussians_are_divided_about_as_by_k_means_which_knows_that_they_are_round(
    model,
):
    X, y = overlapping(5)
    best = adjusted_rand_index(y, KMeans(2, n_init=10, random_state=0).fit(X).labels_)
    assert model.centers_ is not None
    assert adjusted_rand_index(y, model.labels_) >= best - 0.05


def test_flat_clusters_are_separated_by_the_covariance_within_them():
    """Two clusters that are long in one direction: k-means cuts them across."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 250)
    X = rng.laplace(size=(500, 2)) * [4.2, 0.7]
    X[:, 1] += 5.5 * y
    assert adjusted_rand_index(y, KMeans(2, n_init=10, random_state=0).fit(X).labels_) < 0.2
    model = ConsensusClustering(n_clusters=2, random_state=0).fit(X)
    assert adjusted_rand_index(y, model.labels_) > 0.9


def test_overlapping_blobs_are_counted():
    X, y = make_blobs(600, centers=[[0, 0], [4, 0], [0, 4.2], [12, 12], [12, 16]], random_state=1)
    for seed in range(3):
        model = ConsensusClustering(random_state=seed).fit(X)
        assert model.n_clusters_ == 5
        assert adjusted_rand_index(y, model.labels_) > 0.9


@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_other_shapes_keep_the_division_of_the_tree(make):
    factor = {"factor": 0.5} if make is make_circles else {}
    X, y = make(500, noise=0.04, random_state=0, **factor)
    for number in (None, 2):
        model = ConsensusClustering(n_clusters=number, random_state=0).fit(X)
        assert model.centers_ is None
        assert adjusted_rand_index(y, model.labels_) == 1


def test_a_number_that_the_points_show_gives_the_same_clusters():
    X, _ = make_blobs(300, centers=4, n_features=3, cluster_std=2, random_state=4)
    found = ConsensusClustering(random_state=1).fit(X)
    given = ConsensusClustering(n_clusters=found.n_clusters_, random_state=1).fit(X)
    assert found.n_clusters_ > 1
    np.testing.assert_array_equal(found.labels_, given.labels_)
    np.testing.assert_array_equal(found.membership_, given.membership_)


def test_predict_follows_the_centres(model):
    X, _ = overlapping(5)
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(model.predict_proba(X), model.membership_)
    assert np.array_equal(model.membership_.argmax(axis=1), model.labels_)
    new = overlapping(3)[0]
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(restored.predict(new), model.predict(new))


def test_centres_are_read_back_unchanged(model):
    restored = of_bytes(to_bytes(model.centers_), "it")
    columns = int(model.ensemble_.offsets[-1])
    assert restored.fits(8, columns, 2)
    assert not restored.fits(9, columns, 2)
    assert np.array_equal(restored.whitening, model.centers_.whitening)


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
    centers = ClusterCenters(np.zeros((3, 1)), np.ones((1, 1)), votes)
    indicator = sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    membership = centers.membership(np.array([0, 1, 1]), indicator)
    expected = [[0.7, 0.2, 0.1], [0.1, 0.45, 0.45], [0.45, 0.45, 0.1]]
    np.testing.assert_allclose(membership, expected)
    assert membership.argmax(axis=1).tolist() == [0, 1, 1]


def test_labels_are_numbered_by_first_appearance():
    X, _ = overlapping(2)
    model = ConsensusClustering(n_clusters=2, random_state=0).fit(X[::-1])
    assert model.centers_ is not None
    assert model.labels_[0] == 0
    assert model.predict(X[::-1])[0] == 0
