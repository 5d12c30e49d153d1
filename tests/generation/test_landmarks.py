"""Members by spectral clustering on landmarks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from tests.naive import landmarks as naive

from conclust import HBGF, ConsensusClustering, EnsembleGenerator
from conclust.exceptions import InputError, ParameterError
from conclust.generation import landmarks as module
from conclust.generation.landmarks import Landmarks, LandmarkSpectralRecipe
from conclust.spectral import bipartite_spectrum, transfer_cut

IRIS = load_iris().data


def rng(seed=0):
    return np.random.default_rng(seed)


# ---------------------------------------------------------------------------- nearest landmarks


def test_nearest_landmarks_are_exact_where_all_are_looked_at():
    for d in (1, 2, 7, 8, 9, 40):
        points, places = rng(d).normal(size=(300, d)), rng(d + 1).normal(size=(51, d))
        found, squares = Landmarks.of(places, 5, rng()).nearest(points, 5)
        exact = cdist(points, places, "sqeuclidean")
        np.testing.assert_array_equal(found, np.argsort(exact, axis=1, kind="stable")[:, :5])
        np.testing.assert_allclose(squares, np.take_along_axis(exact, found.astype(int), 1))


def test_equally_near_landmarks_come_in_their_order():
    places = np.array([[0.0], [1.0], [1.0], [3.0], [1.0]])
    found, squares = Landmarks.of(places, 4, rng()).nearest(np.array([[1.0], [2.0]]), 4)
    assert found[0].tolist() == [1, 2, 4, 0]
    assert found[1].tolist() == [1, 2, 3, 4]
    assert squares[1].tolist() == [1.0] * 4


def test_the_search_in_two_steps_is_what_it_says():
    points, places = rng(0).normal(size=(200, 3)), rng(1).normal(size=(400, 3))
    search = Landmarks.of(places, 5, rng(2))
    found, _ = search.nearest(points, 5)
    np.testing.assert_array_equal(found, naive.nearest(points, search, 5))
    assert sorted(search.grouped.tolist()) == list(range(400))
    exact = np.argsort(cdist(points, places), axis=1)[:, :5]
    shared = np.mean([len(set(a) & set(b)) for a, b in zip(found, exact, strict=True)]) / 5
    assert 0.9 < shared < 1  # most are found, not all


def test_blocks_of_points_change_nothing(monkeypatch):
    points, places = rng(0).normal(size=(100, 3)), rng(1).normal(size=(60, 3))
    search = Landmarks.of(places, 5, rng(2))
    whole = search.nearest(points, 5)
    monkeypatch.setattr(module, "_BLOCK", 7)
    for ours, theirs in zip(search.nearest(points, 5), whole, strict=True):
        np.testing.assert_array_equal(ours, theirs)


# ------------------------------------------------------------------------------------- the cut


def test_members_are_a_spectral_clustering_of_the_bipartite_graph():
    X, _ = make_blobs(300, 2, centers=6, cluster_std=1.5, random_state=0)
    recipe = LandmarkSpectralRecipe(n_landmarks=40)
    places = recipe._landmarks(X, rng(3))
    ties = recipe._ties(places, X, rng(4))
    weights = naive.ties(X, places, Landmarks.of(places, 5, rng(4)), 5)
    np.testing.assert_allclose(ties.toarray(), weights, rtol=1e-9)
    found = module._cut(ties, places, 6, rng(5))
    rows = naive.embedding(weights, 6)
    best = KMeans(6, n_init=20, random_state=0).fit(rows)
    inertia = sum(((rows[found == k] - rows[found == k].mean(0)) ** 2).sum() for k in range(6))
    assert inertia <= best.inertia_ * 2  # one random start
    assert adjusted_rand_score(found, best.labels_) > 0.6


def test_the_transfer_cut_is_the_side_of_the_clusters():
    B = sp.csr_array(rng(0).random((50, 12)) * (rng(1).random((50, 12)) < 0.4))
    whole = bipartite_spectrum(B, 5)
    values, V, loads = transfer_cut(B, 5)
    np.testing.assert_array_equal(values, whole.values)
    np.testing.assert_array_equal(V, whole.clusters)
    root = 1 / np.sqrt(np.asarray(B.sum(axis=1)).ravel())
    np.testing.assert_allclose((B @ loads) * root[:, None], whole.objects)


def test_groups_that_are_not_round_are_found():
    X, y = make_moons(1200, noise=0.05, random_state=0)
    members = EnsembleGenerator("spectral", 5, n_clusters=2, random_state=0).fit_transform(X)
    scores = [adjusted_rand_score(y, column) for column in members.T]
    assert np.median(scores) > 0.95
    assert adjusted_rand_score(y, KMeans(2, n_init=5, random_state=0).fit_predict(X)) < 0.6


def test_usenc_is_the_cut_of_members_and_objects():
    X, y = make_moons(800, noise=0.05, random_state=0)
    members = EnsembleGenerator("spectral", random_state=0).fit_transform(X)
    assert members.shape == (800, 20)
    model = HBGF(2, joint=False, random_state=0).fit(members)
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_usenc_of_points_is_one_call():
    X, y = make_moons(800, noise=0.05, random_state=0)
    generator = EnsembleGenerator("spectral", n_clusters=range(5, 20))
    model = ConsensusClustering(HBGF(joint=False), generator, n_clusters=2, random_state=0)
    assert adjusted_rand_score(y, model.fit_predict(X)) > 0.95
    assert model.ensemble_.shape == (800, 20)


def test_more_components_than_clusters_are_joined_by_their_means():
    centers = np.array([[0.0, 0.0], [0.0, 1000.0], [9000.0, 0.0], [9000.0, 1000.0]])
    X, y = make_blobs(400, centers=centers, cluster_std=1.0, random_state=0)
    for k, expected in ((1, y * 0), (2, y // 2), (4, y)):
        found = EnsembleGenerator("spectral", 4, n_clusters=k, random_state=0).fit_transform(X)
        for column in found.T:
            assert adjusted_rand_score(column, expected) == 1


# ----------------------------------------------------------------------------- degenerate points


def test_few_and_equal_points():
    assert EnsembleGenerator("spectral").fit_transform([[0.0], [1.0]]).shape == (2, 20)
    assert (EnsembleGenerator("spectral", 3).fit_transform(np.ones((5, 2))) == 0).all()
    X = np.repeat([[0.0], [1.0], [5.0]], 10, axis=0)
    labels = EnsembleGenerator("spectral", 4, n_clusters=3, random_state=0).fit_transform(X)
    for column in labels.T:
        assert adjusted_rand_score(column, X[:, 0]) == 1


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_the_unit_of_the_points_does_not_matter(scale):
    labels = EnsembleGenerator("spectral", 3, random_state=0).fit_transform(IRIS)
    other = EnsembleGenerator("spectral", 3, random_state=0).fit_transform(IRIS * scale)
    for a, b in zip(labels.T, other.T, strict=True):
        assert adjusted_rand_score(a, b) > 0.8


# --------------------------------------------------------------------------------- the generator


def test_members_are_described_and_know_only_their_points():
    generator = EnsembleGenerator("spectral", random_state=0)
    labels = generator.fit_transform(IRIS)
    assert labels.dtype == np.uint8
    assert {member.method for member in generator.members_} == {"spectral"}
    assert {member.n_clusters for member in generator.members_} <= set(range(2, 13))
    np.testing.assert_array_equal(generator.transform(IRIS), labels)
    with pytest.raises(InputError, match=r"cannot label new points: 20 of the 20 .*\(spectral\)"):
        generator.transform(IRIS[:10])


def test_objects_that_are_not_drawn_are_missing():
    labels = EnsembleGenerator(
        "spectral", 5, sample_fraction=0.7, feature_fraction=0.5, random_state=0
    ).fit_transform(IRIS)
    assert labels.dtype == np.int8
    assert ((labels >= 0).sum(axis=0) == 105).all()


def test_kinds_take_turns():
    generator = EnsembleGenerator(["kmeans", "spectral"], random_state=0)
    labels = generator.fit_transform(IRIS)
    assert labels.shape == (150, 40)
    assert labels.dtype == np.uint8
    assert [member.method for member in generator.members_] == ["kmeans", "spectral"] * 20
    assert EnsembleGenerator(["kmeans"]).fit(IRIS).transform(IRIS).shape == (150, 100)
    fewer = EnsembleGenerator(["kmeans", "spectral"], 5, random_state=0).fit_transform(IRIS)
    np.testing.assert_array_equal(fewer, labels[:, :5])
    fixed = EnsembleGenerator(["spectral", "kmeans"], 6, n_clusters=4, random_state=0).fit(IRIS)
    assert {member.n_clusters for member in fixed.members_} == {4}


def test_kinds_take_turns_with_clusterers():
    generator = EnsembleGenerator(["spectral", KMeans(3, n_init=1)], random_state=0)
    labels = generator.fit_transform(IRIS)
    assert labels.shape == (150, 2)
    assert labels.dtype == np.int32
    assert [member.method for member in generator.members_] == ["spectral", "KMeans"]
    assert generator.members_[1].n_clusters == 3
    with pytest.raises(ParameterError, match="a non-empty list of clusterers, 'kmeans' and 'spec"):
        EnsembleGenerator(["kmeans", "mixed"]).fit(IRIS)
    with pytest.raises(ParameterError, match=r"Is it 'spectral'\?"):
        EnsembleGenerator("spectra").fit(IRIS)
