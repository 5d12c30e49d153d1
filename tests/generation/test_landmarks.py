"""Members by spectral clustering on landmarks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from tests.naive import landmarks as naive

from conclust import HBGF, EnsembleGenerator
from conclust._files.saving import of_bytes, to_bytes
from conclust.exceptions import FileFormatError, InputError, ParameterError
from conclust.generation.kinds.landmarks import LandmarkSpectralRecipe, bridges, start_seed
from conclust.generation.labelling import models

IRIS = load_iris().data


def rng(seed=0):
    return np.random.default_rng(seed)


# ------------------------------------------------------------------------------------- the cut


def test_members_are_a_spectral_clustering_of_the_bipartite_graph():
    X, _ = make_blobs(300, 2, centers=6, cluster_std=1.5, random_state=0)
    recipe = LandmarkSpectralRecipe(n_landmarks=40)
    graph = recipe._graph(X, rng(4))
    weights = naive.ties(X, graph.search.points, graph.search, 5)
    np.testing.assert_allclose(graph.ties.toarray(), weights, rtol=1e-9)
    draws = rng(5)
    cut = graph.cut(graph.side(6), 6, graph.drawn(draws), start_seed(draws))
    found = cut.label_tied(graph.found, graph.weights)
    rows = naive.embedding(weights, 6)
    best = KMeans(6, n_init=20, random_state=0).fit(rows)
    inertia = sum(((rows[found == k] - rows[found == k].mean(0)) ** 2).sum() for k in range(6))
    assert inertia <= best.inertia_ * 2  # one random start
    assert adjusted_rand_score(found, best.labels_) > 0.6


def test_surplus_components_are_joined_to_near_ones():
    centers = np.array([[0.0, 0.0], [0.0, 1000.0], [9000.0, 0.0], [9000.0, 1000.0]])
    X, y = make_blobs(400, centers=centers, cluster_std=1.0, random_state=0)
    for k, expected in ((1, y * 0), (2, y // 2), (4, y)):
        labels = EnsembleGenerator("spectral", 4, n_clusters=k, random_state=0).fit_transform(X)
        for column in labels.T:
            assert adjusted_rand_score(column, expected) == 1


def noisy_rings(seed, noise=43):
    """Two rings of 400 and 600 points about one centre, and single points around them."""
    random = rng(seed)
    angles = random.uniform(0, 2 * np.pi, 1000)
    of_ring = np.repeat([1.0, 2.0], [400, 600])
    rings = np.column_stack([np.cos(angles), np.sin(angles)]) * of_ring[:, None]
    rings += random.normal(scale=0.08, size=rings.shape)
    return np.vstack([rings, random.uniform(-3, 3, (noise, 2))]), of_ring


def test_outliers_are_not_peeled_off_one_by_one():
    X, of_ring = noisy_rings(0)
    members = EnsembleGenerator("spectral", 8, n_clusters=8, random_state=0).fit_transform(X)
    for column in members.T:
        sizes = np.sort(np.bincount(column, minlength=8))
        # Six single points and two parts were the usual result.
        assert sizes[0] >= 5
        assert sizes[-1] < 800
    # Members that cover the rings find them.
    members = EnsembleGenerator("spectral", 20, random_state=0).fit_transform(X)
    found = HBGF(2, random_state=0).fit_predict(members)[:1000]
    assert adjusted_rand_score(of_ring, found) > 0.95


def test_islands_join_near_components_and_concentric_rings_stay_apart():
    """There are more components than clusters, and the means of the rings coincide."""
    random = rng(5)
    X, of_ring = noisy_rings(1, noise=0)
    X[:, :] = X / np.linalg.norm(X, axis=1, keepdims=True) * (of_ring * 1.0)[:, None]
    island = random.normal([2.6, 0.0], 0.05, (25, 2))
    X = np.vstack([X, island])
    members = EnsembleGenerator("spectral", 5, n_clusters=2, random_state=0).fit_transform(X)
    expected = np.concatenate([of_ring, np.full(25, 2.0)])
    assert all(adjusted_rand_score(expected, column) == 1 for column in members.T)


@pytest.mark.parametrize(("n", "d", "parts"), [(30, 2, 4), (200, 3, 50), (40, 1, 40), (10, 2, 1)])
def test_bridges_form_a_minimum_spanning_tree_of_the_components(n, d, parts):
    points = rng(n).normal(size=(n, d)) + 100.0
    part = np.r_[np.arange(parts), rng(1).integers(0, parts, n - parts)]
    ends, squares = bridges(points, part)
    exact = cdist(points, points, "sqeuclidean")
    np.testing.assert_allclose(squares, exact[ends[:, 0], ends[:, 1]], atol=1e-9)
    apart = np.full((parts, parts), np.inf)
    np.minimum.at(apart, (part[:, None], part[None, :]), exact)
    np.fill_diagonal(apart, 0)
    tree = minimum_spanning_tree(apart).data
    np.testing.assert_allclose(np.sort(squares), np.sort(tree), atol=1e-9)
    joined = sp.coo_array((np.ones(len(ends)), part[ends].T), (parts, parts))
    assert connected_components(joined, directed=False)[0] == 1


# ----------------------------------------------------------------------------- degenerate points


def test_few_and_equal_points_are_clustered():
    assert EnsembleGenerator("spectral").fit_transform([[0.0], [1.0]]).shape == (2, 20)
    assert (EnsembleGenerator("spectral", 3).fit_transform(np.ones((5, 2))) == 0).all()
    X = np.repeat([[0.0], [1.0], [5.0]], 10, axis=0)
    labels = EnsembleGenerator("spectral", 4, n_clusters=3, random_state=0).fit_transform(X)
    for column in labels.T:
        assert adjusted_rand_score(column, X[:, 0]) == 1


@pytest.mark.parametrize("scale", [2.0**-498, 2.0**498])
def test_the_unit_of_the_points_does_not_matter(scale):
    labels = EnsembleGenerator("spectral", 3, random_state=0).fit_transform(IRIS)
    other = EnsembleGenerator("spectral", 3, random_state=0).fit_transform(IRIS * scale)
    np.testing.assert_array_equal(labels, other)


# --------------------------------------------------------------------------------- the generator


def test_objects_that_are_not_drawn_are_missing():
    labels = EnsembleGenerator(
        "spectral", 5, sample_fraction=0.7, feature_fraction=0.5, random_state=0
    ).fit_transform(IRIS)
    assert labels.dtype == np.int8
    assert ((labels >= 0).sum(axis=0) == 105).all()


def test_kinds_alternate():
    generator = EnsembleGenerator(["kmeans", "spectral"], random_state=0)
    labels = generator.fit_transform(IRIS)
    assert labels.shape == (150, 40)
    assert labels.dtype == np.int8
    assert [member.method for member in generator.members_] == ["kmeans", "spectral"] * 20
    assert EnsembleGenerator(["kmeans"]).fit(IRIS).transform(IRIS).shape == (150, 100)
    fewer = EnsembleGenerator(["kmeans", "spectral"], 5, random_state=0).fit_transform(IRIS)
    np.testing.assert_array_equal(fewer, labels[:, :5])
    fixed = EnsembleGenerator(["spectral", "kmeans"], 6, n_clusters=4, random_state=0).fit(IRIS)
    assert {member.n_clusters for member in fixed.members_} == {4}


def test_kinds_alternate_with_clusterers():
    generator = EnsembleGenerator(["spectral", KMeans(3, n_init=1)], random_state=0)
    labels = generator.fit_transform(IRIS)
    assert labels.shape == (150, 2)
    assert labels.dtype == np.int32
    assert [member.method for member in generator.members_] == ["spectral", "KMeans"]
    assert generator.members_[1].n_clusters == 3
    with pytest.raises(
        ParameterError, match="list of clusterers, 'kmeans', 'spherical', 'spectral', "
    ):
        EnsembleGenerator(["kmeans", "mixed"]).fit(IRIS)
    with pytest.raises(ParameterError, match=r"Is it 'spectral'\?"):
        EnsembleGenerator("spectra").fit(IRIS)


# ------------------------------------------------------------------------------------ new points


def test_transform_repeats_the_labels_of_fitted_points():
    """In blocks, one by one, in another order, and scaled, for every object."""
    X, _ = make_moons(700, noise=0.1, random_state=1)
    for more in ({}, {"scale": "standard", "feature_fraction": 0.5}):
        generator = EnsembleGenerator("spectral", 4, random_state=0, **more)
        labels = generator.fit_transform(X)
        np.testing.assert_array_equal(generator.transform(X), labels)
        order = rng(2).permutation(700)
        np.testing.assert_array_equal(generator.transform(X[order]), labels[order])
        alone = np.vstack([generator.transform(x[None]) for x in X[:60]])
        np.testing.assert_array_equal(alone, labels[:60])


@pytest.mark.parametrize("fit_on", [None, 1500])
def test_graphs_of_few_points_or_of_a_sample_share_their_landmarks(fit_on):
    """They differ by the number of nearest ones; one search labels points for all as one for each does."""
    X, _ = make_blobs(
        900 if fit_on is None else 2000, 3, centers=5, cluster_std=2.0, random_state=0
    )
    generator = EnsembleGenerator("spectral", 8, fit_on=fit_on, random_state=0).fit(X)
    cuts = [member.model for member in generator.members_]
    assert len({id(cut.search) for cut in cuts}) == 1
    assert {cut.n_nearest for cut in cuts} == {5, 7, 10, 14}
    new = rng(0).normal(scale=8, size=(200, 3))
    apart = np.column_stack([cut.label(new) for cut in cuts])
    np.testing.assert_array_equal(models.LandmarkCut.label_all(cuts, new), apart)


def test_new_points_join_the_clusters_of_their_landmarks():
    """Against the naive twin, which processes a point at a time from the ties to the nearest centre."""
    X, _ = make_blobs(500, 3, centers=5, cluster_std=2.0, random_state=0)
    new = rng(0).normal(scale=8, size=(300, 3))
    generator = EnsembleGenerator("spectral", 3, n_clusters=6, random_state=0).fit(X)
    found = generator.transform(new)
    for u, member in enumerate(generator.members_):
        expected, margins = naive.place(new, member.model)
        sure = margins > 1e-9
        assert sure.mean() > 0.99
        np.testing.assert_array_equal(found[sure, u], expected[sure])


def test_distant_points_join_the_clusters_of_their_landmarks():
    """Their ties have nearly equal weights, like those of any object far from its landmarks."""
    near = rng(0).normal(size=(400, 2))
    X = np.vstack([near, near + 300.0])
    generator = EnsembleGenerator("spectral", 6, n_clusters=3, random_state=0).fit(X)
    far = np.array([[-5000.0, -5000.0], [5300.0, 5300.0]])
    model = generator.members_[0].model
    _, squares = model.search.nearest(far, 5)
    np.testing.assert_allclose(models.tie_weights(squares, model.sigma), np.exp(-0.5), rtol=1e-3)
    labels, placed = generator.transform(X), generator.transform(far)
    for u, member in enumerate(generator.members_):
        assert placed[0, u] in labels[:400, u]
        assert placed[1, u] in labels[400:, u]
        np.testing.assert_array_equal(placed[:, u], naive.place(far, member.model)[0])


def test_new_points_join_components():
    centers = np.array([[0.0, 0.0], [0.0, 1000.0], [9000.0, 0.0], [9000.0, 1000.0]])
    X, y = make_blobs(400, centers=centers, cluster_std=1.0, random_state=0)
    new, of_new = make_blobs(100, centers=centers, cluster_std=3.0, random_state=1)
    for k, group in ((1, np.zeros(4)), (2, np.array([0, 0, 1, 1])), (4, np.arange(4))):
        generator = EnsembleGenerator("spectral", 3, n_clusters=k, random_state=0)
        for column, placed in zip(
            generator.fit_transform(X).T, generator.transform(new).T, strict=True
        ):
            both = np.concatenate([column, placed])
            assert adjusted_rand_score(group[np.concatenate([y, of_new])], both) == 1


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("n_nearest", lambda a: a * 1000),
        ("sigma", lambda a: a * np.nan),
        ("loads", lambda a: a + np.inf),
        ("centers", lambda a: a[:0]),
    ],
)
def test_arrays_of_invalid_models_are_rejected(name, change):
    recipe = LandmarkSpectralRecipe(n_landmarks=200 if name == "n_nearest" else 10)
    model = recipe.run(IRIS, [3], rng())[0].model
    assert of_bytes(to_bytes(model), "the model").search.same_as(model.search)
    odd = replace(model, **{name: change(getattr(model, name))})
    with pytest.raises(FileFormatError, match="do not fit each other"):
        of_bytes(to_bytes(odd), "the model")


def test_new_points_with_infinite_squares_are_refused():
    X = np.random.default_rng(0).normal(size=(60, 2))
    generator = EnsembleGenerator("spectral", 4, scale=None, random_state=0).fit(X)
    with pytest.raises(InputError, match=r"need numbers up to 1e\+152\. Got"):
        generator.transform(1e154 * X)
