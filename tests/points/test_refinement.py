"""The refinement by centres: what it keeps, what it leaves, and what `predict` follows."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles, make_moons

from conclust import ConsensusClustering
from conclust.exceptions import ParameterError
from conclust.metrics import adjusted_rand_index
from conclust.points import Refinement, objects_to_refine, refine_by_centers


def overlapping(seed=0, n=300, d=8, distance=3.0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    X = rng.normal(size=(2 * n, d))
    X[:, 0] += distance * y
    return X, y


def test_overlapping_gaussians_go_to_their_centres():
    X, y = overlapping()
    rough = y.copy()
    rough[np.random.default_rng(1).permutation(600)[:150]] ^= 1
    refinement = refine_by_centers(X, rough, 2)
    means = np.stack([X[rough == k].mean(axis=0) for k in (0, 1)])
    best = KMeans(2, init=means, n_init=1, tol=0).fit(X)
    assert np.array_equal(refinement.labels(X), best.labels_)
    np.testing.assert_allclose(refinement.centers, best.cluster_centers_, atol=1e-9)
    assert refinement.variance == pytest.approx(best.inertia_ / X.size)


@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_other_shapes_are_left_as_they_are(make):
    X, y = make(
        500, noise=0.04, random_state=0, **({"factor": 0.5} if make is make_circles else {})
    )
    assert refine_by_centers(X, y, 2) is None


def test_the_same_partition_is_no_refinement():
    X, y = overlapping(distance=40.0)
    assert refine_by_centers(X, y, 2) is None


def test_a_cluster_that_becomes_empty_keeps_the_consensus():
    X = np.concatenate([np.zeros((5, 1)), np.ones((5, 1)), np.full((2, 1), 0.5)])
    labels = np.array([0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 2, 2])
    assert refine_by_centers(X, labels, 3) is None or len(np.unique(labels)) == 3


def test_memberships_are_those_of_gaussians_of_one_variance():
    refinement = Refinement(np.array([[0.0], [2.0]]), 0.5)
    X = np.linspace(-1, 3, 9)[:, None]
    expected = expit(-(X[:, 0] ** 2 - (X[:, 0] - 2) ** 2) / (2 * 0.5))
    np.testing.assert_allclose(refinement.membership(X)[:, 0], expected, atol=1e-12)
    assert np.array_equal(refinement.membership(X).argmax(axis=1), refinement.labels(X))


def test_objects_are_drawn_where_there_are_many():
    labels = np.where(np.arange(12_000) % 5 == 0, -1, 0)
    drawn = objects_to_refine(labels, 3)
    assert len(drawn) == 5_000
    assert (np.diff(drawn) > 0).all()
    assert (labels[drawn] >= 0).all()
    assert np.array_equal(objects_to_refine(labels[:50], 3), np.flatnonzero(labels[:50] >= 0))


@pytest.fixture(scope="module")
def model():
    return ConsensusClustering(n_clusters=2, random_state=0).fit(overlapping(2)[0])


def test_the_default_is_as_good_as_k_means_on_overlapping_gaussians(model):
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
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(new), model.predict(new))


def test_the_refinement_can_be_turned_off_and_on(model):
    X, _ = overlapping(2)
    off = clone(model).set_params(refine=False).fit(X)
    assert off.refinement_ is None
    assert np.array_equal(off.labels_, model.consensus_.labels_)
    named = ConsensusClustering("hbgf", n_clusters=2, random_state=0).fit(X)
    assert named.refinement_ is None
    on = ConsensusClustering("hbgf", n_clusters=2, refine=True, random_state=0).fit(X)
    assert on.refinement_ is not None


def test_refine_is_a_bool_or_none():
    with pytest.raises(ParameterError, match="'refine' parameter of ConsensusClustering"):
        ConsensusClustering(refine="yes").fit(np.zeros((60, 2)))
    with pytest.raises(ParameterError, match="'min_clusters' parameter of ConsensusClustering"):
        ConsensusClustering(min_clusters=0).fit(np.zeros((60, 2)))
