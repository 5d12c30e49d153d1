import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from tests.naive import neighbours as naive
from tests.naive.partitions import all_partitions

from conclust.neighbours import neighbour_graph
from conclust.neighbours.graph import CommunityGraph


def graph_of(weights, quality="modularity", masses=None):
    sparse = csr_array(weights)
    sparse.sort_indices()
    masses = np.ones(len(weights)) if masses is None else masses
    starts, ends = sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32)
    return CommunityGraph.of(starts, ends, sparse.data.astype(np.float64), masses, quality)


def planted(rng, sizes, inside, outside):
    of = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(of[:, None] == of[None, :], inside, outside)
    upper = np.triu(rng.random(chance.shape) < chance, 1)
    return (upper | upper.T).astype(float), of


def ring_of_cliques(count, size):
    n = count * size
    weights = np.kron(np.eye(count), np.ones((size, size))) - np.eye(n)
    for c in range(count):
        a, b = c * size, (c + 1) % count * size + 1
        weights[a, b] = weights[b, a] = 1
    return weights, np.repeat(np.arange(count), size)


def small_graphs():
    rng = np.random.default_rng(0)
    yield planted(rng, [12, 20, 9], 0.5, 0.08)[0]
    yield planted(rng, [30, 30], 0.2, 0.1)[0]
    yield planted(rng, [5] * 8, 0.9, 0.1)[0] * rng.integers(1, 5)
    noise = np.triu(rng.random((40, 40)), 1)
    yield noise + noise.T
    points = rng.normal(size=(70, 2))
    yield neighbour_graph(points, 6, weights="jaccard").to_scipy().toarray()


@pytest.mark.long
@pytest.mark.parametrize("quality", ["modularity", "cpm"])
@pytest.mark.parametrize("number", range(5))
def test_no_single_move_gains_and_communities_are_connected(number, quality):
    weights = list(small_graphs())[number]
    n = len(weights)
    graph = graph_of(weights, quality)
    for resolution in (0.3, 1.0, 3.0):
        found = [graph.communities(resolution, seed) for seed in range(3)]
        different = {labels.tobytes(): (labels, count) for labels, count in found}
        for labels, count in different.values():
            first = [labels.tolist().index(c) for c in range(count)]
            assert first == sorted(first)
            assert labels.max() == count - 1
            for c in range(count):
                inside = np.ix_(labels == c, labels == c)
                assert connected_components(csr_array(weights[inside]))[0] == 1
            rate = graph.unit * resolution
            best = naive.quality(weights, labels, graph.loads, rate)
            for v in range(n):
                for c in range(count + 1):
                    moved = labels.copy()
                    moved[v] = c
                    assert naive.quality(weights, moved, graph.loads, rate) <= best + 1e-9


def test_the_objective_is_modularity():
    weights = planted(np.random.default_rng(1), [12, 20, 9], 0.5, 0.08)[0]
    graph = graph_of(weights)
    labels, _ = graph.communities(1.5, 0)
    ours = naive.quality(weights, labels, graph.loads, 1.5 * graph.unit)
    alone = naive.quality(weights, np.arange(41), graph.loads, 1.5 * graph.unit)
    by_definition = naive.modularity(weights, labels, 1.5)
    of_nobody = naive.modularity(weights, np.arange(41), 1.5)
    assert (ours - alone) / (weights.sum() / 2) == pytest.approx(by_definition - of_nobody)


@pytest.mark.parametrize("quality", ["modularity", "cpm"])
def test_small_graphs_are_solved_optimally(quality):
    for count, size in ((4, 5), (9, 6), (20, 4)):
        weights, of = ring_of_cliques(count, size)
        for seed in range(5):
            labels, found = graph_of(weights, quality).communities(1.0 if count < 12 else 2.0, seed)
            assert found == count
            assert np.array_equal(labels, of)
    weights, of = planted(np.random.default_rng(2), [60, 60, 60], 0.3, 0.02)
    for seed in range(5):
        assert np.array_equal(graph_of(weights, quality).communities(1.0, seed)[0], of)


def test_seven_nodes_reach_the_best_of_all_partitions():
    """Reaches the optimum with two groups, and comes close to it without groups."""
    rng = np.random.default_rng(3)
    every = [np.array(each) for each in all_partitions(7)]
    for groups in (True, False) * 4:
        of = np.array([0, 0, 0, 1, 1, 1, 1]) if groups else np.zeros(7)
        chance = np.where(of[:, None] == of[None, :], 0.9 if groups else 0.6, 0.15)
        weights = np.triu(rng.random((7, 7)) * (rng.random((7, 7)) < chance), 1)
        weights += weights.T
        best = max(naive.modularity(weights, each) for each in every)
        graph = graph_of(weights)
        found = [naive.modularity(weights, graph.communities(1.0, seed)[0]) for seed in range(20)]
        assert (1.0 - 1e-12 if groups else 0.9) * best <= max(found) <= best + 1e-12


def test_the_requested_number_is_met_within_a_twentieth():
    points = np.random.default_rng(4).normal(size=(900, 4))
    made = neighbour_graph(points, 15, weights="jaccard")
    for quality in ("modularity", "cpm"):
        graph = CommunityGraph.of(made.starts, made.ends, made.weights, np.ones(900), quality)
        for seed, wanted in enumerate([2, 3, 5, 8, 13, 21, 30]):
            labels, count = graph.communities_of_number(wanted, seed)
            assert count == len(np.unique(labels))
            assert abs(count - wanted) <= max(1, 0.1 * wanted)


def test_results_depend_on_the_seed_only():
    points = np.random.default_rng(5).normal(size=(500, 3))
    made = neighbour_graph(points, 10, weights="jaccard")
    graph = CommunityGraph.of(made.starts, made.ends, made.weights, np.ones(500), "modularity")
    first = [graph.communities(2.0, seed)[0] for seed in range(6)]
    assert all(np.array_equal(graph.communities(2.0, s)[0], first[s]) for s in range(6))
    assert len({labels.tobytes() for labels in first}) > 1


def test_a_node_weighs_as_many_objects_as_it_holds():
    """Equal masses change nothing, and the degree of a node grows with its mass."""
    weights, _ = planted(np.random.default_rng(6), [20, 20], 0.4, 0.05)
    once, thrice = graph_of(weights), graph_of(weights, masses=np.full(40, 3.0))
    np.testing.assert_allclose(thrice.loads, 3 * once.loads)
    assert np.array_equal(once.communities(1.0, 0)[0], thrice.communities(1.0, 0)[0])


def test_graphs_without_edges_give_singletons():
    labels, count = graph_of(np.zeros((4, 4))).communities(1.0, 0)
    assert count == 4
    assert labels.tolist() == [0, 1, 2, 3]
    assert graph_of(np.zeros((4, 4))).communities_of_number(2, 0)[1] == 4


def test_no_single_move_gains_in_a_graph_that_is_prefetched():
    """From 20,000 nodes on visits are prefetched; the last nodes have no edges."""
    rng = np.random.default_rng(9)
    n = 30_000
    one = rng.integers(0, n - 5, 3 * n)
    other = np.minimum(one // 20 * 20 + rng.integers(0, 20, 3 * n), n - 6)
    pairs = np.column_stack([one, other])[one != other]
    graph = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    graph = csr_array(graph + graph.T)
    graph.sort_indices()
    starts, ends = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    made = CommunityGraph.of(starts, ends, graph.data, np.ones(n), "modularity")
    labels, count = made.communities(1.0, 0)
    assert count == labels.max() + 1
    onto = csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, count))
    ties = csr_array(graph @ onto)
    loads = np.bincount(labels, made.loads, count)
    sources = np.repeat(np.arange(n), np.diff(ties.indptr))
    is_own = ties.indices == labels[sources]
    others = loads[ties.indices] - np.where(is_own, made.loads[sources], 0.0)
    gains = ties.data - made.unit * made.loads[sources] * others
    stay = np.zeros(n)
    stay[sources[is_own]] = gains[is_own]
    assert (gains <= stay[sources] + 1e-9).all()
    assert len(np.unique(labels[-5:])) == 5
