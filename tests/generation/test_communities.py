import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from tests.cases import corrupt_graphs
from tests.naive import neighbours as naive

from conclust import Ensemble, EnsembleGenerator
from conclust.exceptions import InputError, ParameterError
from conclust.generation.kinds import communities
from conclust.generation.kinds.communities import sizes_of_neighbourhoods
from conclust.neighbours import find_neighbours, neighbour_graph

IRIS = load_iris().data
METHODS = ["graph", "density", ["graph", "density", "kmeans"]]


# ------------------------------------------------------------------------------- definition of members


def test_sizes_of_neighbourhoods_depend_on_the_number_of_objects():
    assert sizes_of_neighbourhoods(2).tolist() == [1]
    assert sizes_of_neighbourhoods(4).tolist() == [3]
    assert sizes_of_neighbourhoods(7).tolist() == [5]
    assert sizes_of_neighbourhoods(1000).tolist() == [5, 7, 9, 12, 16, 22, 30, 40]


@pytest.mark.parametrize("n_neighbors", [6, 25])
def test_a_member_holds_the_communities_of_its_graph(n_neighbors, monkeypatch):
    monkeypatch.setattr(communities, "_RESOLUTIONS", (1.0, 1.0))
    points = np.unique(IRIS, axis=0)
    graph = neighbour_graph(points, n_neighbors, weights="jaccard")
    generator = EnsembleGenerator("graph", 3, random_state=0)
    labels = generator.fit_transform(points, graph=graph.to_scipy())
    weights, rows = graph.to_scipy().toarray(), graph.rows
    for column in labels.T:
        of_points = column[rows.first]
        assert np.array_equal(of_points[rows.inverse], column)
        degrees = weights.sum(axis=1)
        rate = 1.0 / degrees.sum()
        best = naive.quality(weights, of_points, degrees, rate)
        for v in range(0, len(of_points), 7):
            for c in range(column.max() + 2):
                moved = of_points.copy()
                moved[v] = c
                assert naive.quality(weights, moved, degrees, rate) <= best + 1e-9


def test_requested_numbers_of_clusters_are_met():
    points = np.random.default_rng(0).normal(size=(700, 3))
    asked = [4, 9, 15, 24]
    for method in ("graph", "density"):
        generator = EnsembleGenerator([(method, asked)], random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            generator.fit(points)
        actual = np.array([member.n_clusters for member in generator.members_])
        if method == "graph":
            assert (np.abs(actual - asked) <= np.maximum(1, 0.1 * np.array(asked))).all()
        else:
            assert (actual <= asked).all()


# ----------------------------------------------------------------------------- same bits, always


@pytest.mark.parametrize("method", METHODS[2:])
def test_more_members_do_not_change_the_first(method):
    few = EnsembleGenerator(method, 5, random_state=3).fit_transform(IRIS)
    more = EnsembleGenerator(method, 11, random_state=3).fit_transform(IRIS)
    assert np.array_equal(more[:, :5], few)


def test_one_search_serves_all_members(monkeypatch):
    calls = []
    original = communities.neighbours_of

    def counted(*arguments):
        calls.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(communities, "neighbours_of", counted)
    EnsembleGenerator(["graph", "density", "kmeans"], 20, n_jobs=3, random_state=0).fit(IRIS)
    assert len(calls) == 1


@pytest.mark.parametrize("method", METHODS)
def test_new_points_and_copies_are_labelled(method):
    points, _ = make_blobs(300, 4, centers=6, random_state=1)
    generator = EnsembleGenerator(method, 8, random_state=0).fit(points[:200])
    labels = generator.transform(points)
    assert np.array_equal(labels[:200], generator.transform(points[:200]))
    alone = np.concatenate([generator.transform(points[i : i + 1]) for i in range(190, 210)])
    assert np.array_equal(alone, labels[190:210])
    restored = pickle.loads(pickle.dumps(generator))
    assert np.array_equal(restored.transform(points), labels)
    assert [m.n_clusters for m in generator.members_] == [int(c.max()) + 1 for c in labels[:200].T]


def test_a_new_point_takes_the_label_of_most_of_its_neighbours():
    points, _ = make_blobs(200, 2, centers=4, cluster_std=2.5, random_state=1)
    generator = EnsembleGenerator("graph", 4, random_state=0)
    labels = generator.fit_transform(points)
    new = np.random.default_rng(0).uniform(-12, 12, (60, 2))
    actual, _ = naive.nearest(points, 15, new)
    for u, column in enumerate(generator.transform(new).T):
        for decided, near in zip(column.tolist(), actual, strict=True):
            votes = labels[near, u].tolist()
            most = max(map(votes.count, votes))
            assert decided == next(label for label in votes if votes.count(label) == most)


# --------------------------------------------------------------------------- samples and blocks


def test_many_objects_are_sampled(monkeypatch):
    monkeypatch.setattr(communities, "_ALL_FITTED", 400)
    points, kind = make_blobs(2000, 4, centers=6, cluster_std=0.5, random_state=2)
    base = EnsembleGenerator(["graph", "density"], 10, n_clusters=6, random_state=0)
    labels = base.fit_transform(points)
    assert np.array_equal(base.transform(points), labels)
    for u in range(0, 10, 2):
        assert adjusted_rand_score(kind, labels[:, u]) == 1.0
    # Samples that members draw are the same for all: one search, and blocks of points never held together.
    fitted = clone(base).set_params(fit_on=400)
    labels = fitted.fit_transform(points)
    assert np.array_equal(fitted.transform(points), labels)
    blocks = fitted.transform_blocks(np.array_split(points, 7))
    assert np.array_equal(np.concatenate(list(blocks)), labels)
    models = [member.model for member in fitted.members_]
    assert len(models[0].search.points) == 400
    assert all(model.search.same_as(models[0].search) for model in models)


# ------------------------------------------------------------------------------- unusual points


@pytest.mark.parametrize("method", METHODS[:2])
@pytest.mark.parametrize("clusters", [None, 2])
def test_few_objects_are_clustered(method, clusters):
    for n in range(2, 61, 5):
        points = np.random.default_rng(n).normal(size=(n, 2))
        labels = EnsembleGenerator(method, 4, n_clusters=clusters, random_state=0).fit_transform(
            points
        )
        assert labels.shape == (n, 4)
        Ensemble(labels)


@pytest.mark.parametrize("method", METHODS)
def test_duplicates_constants_and_islands_are_clustered(method):
    rng = np.random.default_rng(0)
    heap = np.concatenate([np.zeros((30, 2)), rng.normal(size=(30, 2))])
    same = np.ones((20, 3))
    constant = np.column_stack([rng.normal(size=50), np.full(50, 7.0)])
    islands = np.concatenate([rng.normal(size=(12, 2)) + 1e4 * i for i in range(5)])
    lattice = rng.integers(0, 3, (90, 2)).astype(float)
    for points in (heap, same, constant, islands, lattice):
        generator = EnsembleGenerator(method, 6, random_state=0)
        labels = generator.fit_transform(points)
        assert np.array_equal(generator.transform(points), labels)
        rows = find_neighbours(points, 1).rows
        for u, member in enumerate(generator.members_):
            column = labels[:, u]
            if member.method != "kmeans":
                assert np.array_equal(column[rows.first][rows.inverse], column)
            assert len(np.unique(column)) == member.n_clusters


# -------------------------------------------------------------------------------- a user's graph


def test_a_given_graph_is_clustered(monkeypatch):
    monkeypatch.setattr(communities, "sizes_of_neighbourhoods", lambda n: np.array([12]))
    points, _ = make_blobs(240, 3, centers=4, random_state=0)
    graph = neighbour_graph(points, 12, weights="jaccard").to_scipy()
    generator = EnsembleGenerator("graph", 4, random_state=0)
    expected = generator.fit_transform(points)
    for form in (graph, sp.csr_matrix(graph), graph.tocoo(), graph.astype(np.float32)):
        labels = generator.fit_transform(points, graph=form)
        if form.dtype == np.float64:
            assert np.array_equal(labels, expected)
        assert np.array_equal(generator.transform(points), labels)
    # Only the graph matters.
    elsewhere = np.random.default_rng(0).normal(size=points.shape)
    assert np.array_equal(generator.fit_transform(elsewhere, graph=graph), expected)
    numbers = clone(generator).set_params(n_clusters=[3, 7])
    assert {m.n_clusters for m in numbers.fit(points, graph=graph).members_} <= {3, 4, 6, 7}


def test_density_members_can_join_members_of_a_given_graph():
    points, _ = make_blobs(240, 3, centers=4, random_state=0)
    graph = neighbour_graph(points, 12, weights="jaccard").to_scipy()
    generator = EnsembleGenerator(["graph", "density"], 6, random_state=0)
    labels = generator.fit_transform(points, graph=graph)
    assert np.array_equal(labels[:, 1::2], generator.fit_transform(points)[:, 1::2])
    # Copies may be in different clusters of the graph: then only fitted points can be labelled.
    twice = np.concatenate([points, points[:3]])
    bigger = sp.block_diag([graph, np.ones((3, 3)) - np.eye(3)]).tocsr()
    labels = generator.fit_transform(twice, graph=bigger)
    assert np.array_equal(generator.transform(twice), labels)
    with pytest.raises(InputError, match="can label only the X given to fit"):
        generator.transform(points)


def test_the_cache_depends_on_the_graph(tmp_path):
    points, _ = make_blobs(100, 3, centers=4, random_state=0)
    graphs = [neighbour_graph(points, k).to_scipy() for k in (6, 12)]
    generator = EnsembleGenerator("graph", 4, random_state=0, cache_dir=tmp_path)
    first = [generator.fit_transform(points, graph=graph) for graph in graphs]
    assert generator.n_cached_ == 0
    assert np.array_equal(generator.fit_transform(points, graph=graphs[0]), first[0])
    assert generator.n_cached_ == 4
    assert not np.array_equal(*first)


def test_invalid_graphs_are_refused():
    graph = neighbour_graph(IRIS, 5).to_scipy()
    points = np.unique(IRIS, axis=0)
    generator = EnsembleGenerator("graph", 2, random_state=0)
    with pytest.raises(InputError, match="with a row and a column for each of 150 objects"):
        generator.fit(IRIS, graph=graph[:100, :100])
    with pytest.raises(InputError, match="sparse matrix"):
        generator.fit(points, graph=graph.toarray())
    directed = graph.tolil()
    directed[0, 1] = 0.7
    with pytest.raises(InputError, match="must be symmetric"):
        generator.fit(points, graph=directed.tocsr())
    with pytest.raises(InputError, match="not negative"):
        generator.fit(points, graph=-graph)
    for corrupt in corrupt_graphs(sp.csr_array(graph)):
        with pytest.raises(InputError, match="not a valid sparse matrix"):
            generator.fit(points, graph=corrupt)
    with pytest.raises(InputError, match="takes a graph only for members by 'graph'"):
        EnsembleGenerator("kmeans", 2).fit(points, graph=graph)
    for wrong in ({"sample_fraction": 0.5}, {"fit_on": 50}):
        with pytest.raises(ParameterError, match=f"'{next(iter(wrong))}' parameter"):
            clone(generator).set_params(**wrong).fit(points, graph=graph)
