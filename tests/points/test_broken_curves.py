"""Thin curves with many points, whose neighbour graph breaks at random gaps."""

import networkx as nx
import numpy as np
import pytest

from conclust import ConsensusClustering
from conclust.neighbours import neighbour_graph
from conclust.points.unbroken import unbroken_graph


def spiral(n, seed):
    angle = 1.5 * np.pi * (1 + 2 * np.random.default_rng(seed).uniform(size=n))
    return angle[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)]) / 10


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 2])
def test_a_spiral_of_many_points_is_one_cluster(seed):
    assert ConsensusClustering(random_state=seed).fit(spiral(5_000, seed)).n_clusters_ == 1


@pytest.mark.long
def test_two_spirals_that_are_apart_are_two_clusters():
    X = np.vstack([spiral(2_500, 0), spiral(2_500, 1) + np.array([10, 0])])
    labels = ConsensusClustering(random_state=0).fit(X).labels_
    assert labels.max() == 1
    assert len(np.unique(labels[:2_500])) == len(np.unique(labels[2_500:])) == 1


def n_ties(graph):
    return len(graph.ends)


def line(n, seed, height):
    x = np.sort(np.random.default_rng(seed).uniform(size=n))
    return np.column_stack([x, np.full(n, height)])


def test_ends_of_curves_are_connected_and_curves_side_by_side_are_not():
    # Twelve neighbours on either side of the gap are within its width.
    gap = 12 / 2_000
    curve = line(2_000, 0, 0.0)
    broken = curve + np.where(curve[:, :1] > 0.4, [[gap, 0.0]], [[0.0, 0.0]])
    assert n_ties(unbroken_graph(broken)) == n_ties(neighbour_graph(broken, 20))
    beside = np.vstack([curve, line(2_000, 1, gap)[800:1_200]])
    assert n_ties(unbroken_graph(beside)) == n_ties(neighbour_graph(beside, 10))
    few = broken[::2]
    assert n_ties(unbroken_graph(few)) == n_ties(neighbour_graph(few, 10))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_two_long_spirals_in_each_other_are_two_clusters(seed):
    angle = 6 * np.pi * np.sqrt(np.random.default_rng(seed).uniform(0.05, 1.0, 1_100))
    one = angle[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.vstack([one, -one])
    labels = ConsensusClustering(random_state=0).fit(X).labels_
    assert labels.max() == 1
    assert len(np.unique(labels[:1_100])) == len(np.unique(labels[1_100:])) == 1


def pairs_tied_at_ends(X):
    """The pairs of parts by the definition, with the whole graph for each."""
    ten, twenty = (nx.from_scipy_sparse_array(neighbour_graph(X, k).to_scipy()) for k in (10, 20))
    parts = list(nx.connected_components(ten))
    part_of = {i: p for p, part in enumerate(parts) for i in part}

    def stays_whole(part, other):
        ends = {i for i in parts[part] if any(part_of[j] == other for j in twenty[i])}
        near = ends | {j for i in ends for j in ten[i]}
        pieces = nx.connected_components(ten.subgraph(parts[part] - near))
        return sum(len(piece) >= 25 for piece in pieces) <= 1

    pairs = {(part_of[i], part_of[j]) for i, j in twenty.edges} - {
        (p, p) for p in range(len(parts))
    }
    pairs |= {pair[::-1] for pair in pairs}
    return {pair for pair in pairs if stays_whole(*pair) and stays_whole(*pair[::-1])}, part_of


@pytest.mark.parametrize("seed", range(4))
def test_parts_are_joined_by_the_definition(seed):
    rng = np.random.default_rng(seed)
    around = rng.uniform(size=(60, 1, 2)) + rng.normal(0, 1e-4, (60, 12, 2))
    strips = [line(700, seed + h, h * 0.002) for h in range(3)]
    X = np.vstack([*strips, around.reshape(-1, 2)])
    pairs, part_of = pairs_tied_at_ends(X)
    assert pairs
    links = nx.Graph(pairs)
    links.add_nodes_from(part_of.values())
    group_of = {p: g for g, group in enumerate(nx.connected_components(links)) for p in group}
    wider = neighbour_graph(X, 20)
    kept = [
        group_of[part_of[i]] == group_of[part_of[j]]
        for i, j in zip(wider.sources.tolist(), wider.ends.tolist(), strict=True)
    ]
    graph = unbroken_graph(X)
    np.testing.assert_array_equal(graph.sources, wider.sources[kept])
    np.testing.assert_array_equal(graph.ends, wider.ends[kept])
    np.testing.assert_array_equal(graph.weights, wider.weights[kept])


def test_many_parts_without_a_tie_between_them():
    centres = 1_000.0 * np.arange(100)[:, np.newaxis]
    X = (centres + np.random.default_rng(0).normal(size=(100, 60))).reshape(-1, 1)
    assert n_ties(unbroken_graph(X)) == n_ties(neighbour_graph(X, 10))
