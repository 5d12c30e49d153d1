"""Members by spectral clustering under random metrics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from tests.naive import multimetric as naive

from conclust import EnsembleGenerator
from conclust.exceptions import EnsembleWarning, InputError, ParameterError
from conclust.generation.kinds import multimetric as module
from conclust.generation.kinds.multimetric import MultimetricRecipe, neighbour_graph

IRIS = load_iris().data


def rng(seed=0):
    return np.random.default_rng(seed)


# ------------------------------------------------------------------------------------- the graph


@pytest.mark.parametrize(
    ("d", "k", "width"), [(1, 5, 0.2), (3, 7, 0.5), (20, 20, 0.8), (40, 90, 0.3)]
)
def test_the_graph_holds_the_kernel_of_nearest_neighbours(d, k, width):
    """By a tree for few features, by all distances for many."""
    points = rng(d).normal(size=(70, d)) * 100
    found = neighbour_graph(points, k, width)
    np.testing.assert_allclose(found.toarray(), naive.graph(points, min(k, 69), width), rtol=1e-10)
    assert (found - found.T).nnz == 0
    assert found.data.min() >= np.exp(-3 / width)


def test_blocks_of_points_change_nothing(monkeypatch):
    points = rng(0).normal(size=(60, 4))
    whole = neighbour_graph(points, 6, 0.5)
    monkeypatch.setattr(module, "_CELLS", 50)
    np.testing.assert_array_equal(neighbour_graph(points, 6, 0.5).toarray(), whole.toarray())


def test_edges_between_equal_points_have_weight_one():
    graph = neighbour_graph(np.ones((8, 2)), 3, 0.5)
    assert (graph.data == 1).all()
    assert not graph.diagonal().any()
    twins = np.repeat(rng(0).normal(size=(9, 20)), 2, axis=0)
    weights = neighbour_graph(twins, 4, 0.5).toarray()
    assert all(weights[2 * i, 2 * i + 1] == 1 for i in range(9))


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_the_unit_of_the_points_does_not_matter(unit):
    points = rng(0).normal(size=(50, 4))
    np.testing.assert_allclose(
        neighbour_graph(points * unit, 5, 0.4).toarray(), neighbour_graph(points, 5, 0.4).toarray()
    )


# ------------------------------------------------------------------------------------- the members


def test_members_are_a_spectral_clustering_of_the_graph():
    X, y = make_blobs(150, 12, centers=5, cluster_std=5.0, random_state=0)

    class Said:  # the numbers that a member draws
        def integers(self, *arguments, **more):
            return rng(1).integers(2**63, size=1, dtype=np.uint64) if more else 12

        def uniform(self, low, high):
            assert (low, high) == (0.2, 0.8)
            return 0.45

    (found,) = MultimetricRecipe().run(X, [5], Said())
    W = naive.graph(X, 12, 0.45)
    assert connected_components(W)[0] == 1
    best = KMeans(5, n_init=20, random_state=0).fit(naive.embedding(W, 5))
    assert adjusted_rand_score(found.labels, best.labels_) > 0.95
    assert adjusted_rand_score(found.labels, y) > 0.8
    assert found.model is None


@pytest.mark.long
def test_neighbours_and_widths_are_drawn_from_the_ranges_of_the_paper(monkeypatch):
    drawn = []

    def graph(points, neighbours, width):
        drawn.append((points.shape, neighbours, width))
        return neighbour_graph(points, neighbours, width)

    monkeypatch.setattr(module, "neighbour_graph", graph)
    generator = EnsembleGenerator("multimetric", 300, n_clusters=3, random_state=0)
    generator.fit(rng(0).normal(size=(40, 7)))
    assert {shape for shape, _, _ in drawn} == {(40, 4)}  # half of the features
    assert {neighbours for _, neighbours, _ in drawn} == set(range(5, 21))
    widths = np.array([width for _, _, width in drawn])
    assert 0.2 < widths.min() < 0.22
    assert 0.78 < widths.max() < 0.8
    assert {len(member.features) for member in generator.members_} == {4}
    assert len({member.features for member in generator.members_}) == 35  # of 7, 4


def test_surplus_components_are_joined_to_near_ones():
    centers = np.array([[0.0, 0.0], [0.0, 1000.0], [9000.0, 0.0], [9000.0, 1000.0]])
    X, y = make_blobs(400, centers=centers, cluster_std=1.0, random_state=0)
    X = np.hstack([X, X.sum(axis=1, keepdims=True)])
    for k, expected in ((1, y * 0), (4, y)):
        (found,) = MultimetricRecipe().run(X, [k], rng(0))
        assert adjusted_rand_score(found.labels, expected) == 1
    (found,) = MultimetricRecipe().run(X[:, :2], [2], rng(0))
    assert adjusted_rand_score(found.labels, y // 2) == 1


def test_few_and_equal_points_are_clustered():
    assert EnsembleGenerator("multimetric").fit_transform([[0.0], [1.0]]).shape == (2, 30)
    assert (EnsembleGenerator("multimetric", 3).fit_transform(np.ones((5, 2))) == 0).all()
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], 30, axis=0)
    labels = EnsembleGenerator("multimetric", 4, n_clusters=3, random_state=0).fit_transform(X)
    for column in labels.T:
        assert adjusted_rand_score(column, X[:, 0]) == 1


# --------------------------------------------------------------------------------- the generator


def test_members_have_descriptions_and_do_not_label_new_points():
    generator = EnsembleGenerator("multimetric", feature_fraction=0.5, random_state=0)
    labels = generator.fit_transform(IRIS)
    assert labels.dtype == np.int8
    assert {member.method for member in generator.members_} == {"multimetric"}
    assert {len(member.features) for member in generator.members_} == {2}
    assert {member.n_clusters for member in generator.members_} <= set(range(2, 13))
    np.testing.assert_array_equal(generator.transform(IRIS), labels)
    with pytest.raises(InputError, match=r"new points: 30 of the 30 .*\(multimetric\).*'spectral'"):
        generator.transform(IRIS[:10])


def test_too_many_objects_are_refused_by_name():
    X = np.zeros((100_001, 1))
    with pytest.raises(ParameterError, match="compares all pairs") as caught:
        EnsembleGenerator(["kmeans", "multimetric"]).fit(X)
    assert "'kmeans' or 'spectral' where members draw more than 100000" in str(caught.value)
    assert "sample_fraction" in str(caught.value)


@pytest.mark.parametrize(("d", "drawn"), [(1, 1), (2, 2), (3, 3), (4, 2), (9, 4)])
def test_few_features_are_all_used(d, drawn):
    generator = EnsembleGenerator("multimetric", 2, n_clusters=2, random_state=0)
    generator.fit(rng(0).normal(size=(40, d)))
    counts = [d if one.features is None else len(one.features) for one in generator.members_]
    assert counts == [drawn, drawn]


def test_a_member_without_an_embedding_names_other_methods(monkeypatch):
    def not_converged(operator, k, **options):
        n = operator.shape[0]
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((n, 0)))

    monkeypatch.setattr("conclust.spectra.eigenpairs._WHOLE", 10)
    monkeypatch.setattr("conclust.spectra.eigenpairs._WHOLE_AT_LAST", 10)
    monkeypatch.setattr("conclust.spectra.eigenpairs.eigsh", not_converged)
    generator = EnsembleGenerator("multimetric", 2, n_clusters=3, random_state=0)
    with (
        pytest.warns(EnsembleWarning, match="drawn again"),
        pytest.raises(
            InputError,
            match=r"method='multimetric' failed 3 times.*150 vertices.*method='graph'",
        ),
    ):
        generator.fit(IRIS)


def test_a_failed_member_is_drawn_again(monkeypatch):
    generator = EnsembleGenerator("multimetric", 3, n_clusters=3, random_state=0, n_jobs=1)
    expected = generator.fit_transform(IRIS)
    given, calls = module.graph_embedding, []

    def first_fails(graph, k, rng):
        calls.append(graph)
        if len(calls) == 1:
            raise InputError("No eigenvector converged.")
        return given(graph, k, rng)

    monkeypatch.setattr(module, "graph_embedding", first_fails)
    with pytest.warns(EnsembleWarning, match=r"with \d+ neighbours and the width 0\.\d\d could"):
        found = generator.fit_transform(IRIS)
    assert len(calls) == 4
    assert abs(calls[0] - calls[1]).sum() > 0
    np.testing.assert_array_equal(found[:, 1:], expected[:, 1:])
