import pickle
from functools import cache
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.cases import corrupt_graphs
from tests.naive import networks as naive
from tests.naive.partitions import all_partitions

from conclust import Ensemble, GraphConsensus
from conclust.exceptions import InputError, ParameterError
from conclust.metrics import adjusted_rand_index
from conclust.networks import to_communities
from conclust.networks.estimator import modularity
from conclust.networks.reading import read_network

KINDS = ("fast", "threshold", "strict", "ecg")


def random_edges(seed, n=30, weighted=True):
    """Return a dict of edges to weights: three groups, some leaves and an attached path."""
    rng = np.random.default_rng(seed)
    of = np.arange(n) % 3
    edges = {}
    for a in range(n):
        for b in range(a + 1, n):
            if rng.random() < (0.6 if of[a] == of[b] else 0.06):
                edges[a, b] = float(rng.integers(1, 4)) if weighted else 1.0
    for a, b in ((0, n), (n, n + 1), (n + 1, n + 2), (5, n + 3)):
        edges[a, b] = 1.0
    return edges, n + 4


def matrix_of(edges, n):
    i, j = np.array(list(edges)).T
    half = sp.coo_array((list(edges.values()), (i, j)), shape=(n, n))
    return sp.csr_array(half + half.T)


def random_runs(seed, n, count=7):
    rng = np.random.default_rng(seed)
    base = np.arange(n) % 3
    return np.where(rng.random((n, count)) < 0.2, rng.integers(0, 4, (n, count)), base[:, None])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_final_weights_match_the_naive_twin(kind, seed):
    edges, n = random_edges(seed)
    runs = random_runs(seed, n)
    model = GraphConsensus(kind, threshold=0.6, random_state=0)
    model.fit(matrix_of(edges, n), ensemble=runs)
    expected = naive.weights(kind, edges, runs.T.tolist(), n, threshold=0.6)
    dense = np.zeros((n, n))
    for (a, b), weight in expected.items():
        dense[a, b] = dense[b, a] = weight
    np.testing.assert_allclose(model.weights_.toarray(), dense, atol=1e-12)


@pytest.mark.parametrize("quality", ["modularity", "cpm"])
def test_few_nodes_reach_the_best_of_all_partitions(quality):
    rng = np.random.default_rng(3)
    for _ in range(12):
        every = [(a, b) for a in range(7) for b in range(a + 1, 7)]
        edges = {e: float(rng.integers(1, 4)) for e in every if rng.random() < 0.45}
        if not edges:
            continue
        model = GraphConsensus("ecg", quality=quality, resolution=0.8, min_weight=1.0, n_runs=1)
        model.set_params(random_state=0).fit(matrix_of(edges, 7))
        value = naive.modularity if quality == "modularity" else naive.potts
        best = max(value(edges, labels, 0.8) for labels in all_partitions(7))
        # A local optimum of single moves and merges; on seven nodes within a few percent.
        assert value(edges, model.labels_.tolist(), 0.8) >= 0.95 * best - 1e-9


def test_all_forms_of_a_graph_agree():
    edges, n = random_edges(1)
    A = matrix_of(edges, n)
    G = nx.Graph()
    G.add_nodes_from(range(n))
    G.add_weighted_edges_from((a, b, w) for (a, b), w in edges.items())
    expected = GraphConsensus(random_state=4).fit(A)
    triples = [(a, b, w) for (a, b), w in edges.items()]
    for graph in (G, sp.triu(A), sp.tril(A).tocsc(), sp.csr_matrix(A)):
        model = GraphConsensus(random_state=4).fit(graph)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
    listed = GraphConsensus(random_state=4).fit(triples)
    array = GraphConsensus(random_state=4).fit(np.array(triples))
    assert list(array.nodes_) == listed.nodes_
    np.testing.assert_array_equal(array.labels_, listed.labels_)
    named = GraphConsensus(random_state=4).fit([(f"v{a}", f"v{b}", w) for a, b, w in triples])
    assert named.nodes_ == [f"v{v}" for v in listed.nodes_]
    np.testing.assert_array_equal(named.labels_, listed.labels_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_of_edges_equals_a_list_of_edges(library):
    frames = pytest.importorskip(library)
    edges, _ = random_edges(1)
    rows = [(f"v{a}", f"v{b}", w) for (a, b), w in edges.items()]
    columns = dict(zip(("source", "target", "weight"), zip(*rows, strict=True), strict=True))
    frame = frames.DataFrame({name: list(column) for name, column in columns.items()})
    expected = GraphConsensus(random_state=4).fit(rows)
    model = GraphConsensus(random_state=4).fit(frame)
    assert model.nodes_ == expected.nodes_
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.weights_.data, expected.weights_.data)
    with pytest.raises(InputError, match="as edge 0"):
        GraphConsensus().fit(frame[["source"]])


def test_repeated_edges_add_up_and_loops_are_no_ties():
    model = GraphConsensus(n_runs=1, recluster=False, random_state=0)
    model.fit([(0, 1), (1, 0), (2, 2), (1, 2, 0.5)], ensemble=np.zeros((3, 1), dtype=int))
    np.testing.assert_array_equal(model.weights_.toarray(), [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]])


def graph_with_loops(seed):
    rng = np.random.default_rng(seed)
    G = nx.gnp_random_graph(7, 0.5, seed=seed)
    G.add_weighted_edges_from((v, v, rng.integers(1, 5)) for v in rng.choice(7, 3, replace=False))
    return G


@pytest.mark.parametrize("form", ["networkx", "matrix", "triangle", "edges", "array"])
def test_self_loops_count_as_in_the_modularity_of_networkx(form):
    forms = {
        "networkx": lambda G: G,
        "matrix": nx.to_scipy_sparse_array,
        "triangle": lambda G: sp.triu(nx.to_scipy_sparse_array(G, nodelist=range(7))).tocsr(),
        "edges": lambda G: [(f"v{a}", f"v{b}", w) for a, b, w in G.edges(data="weight", default=1)],
        "array": lambda G: np.array(list(G.edges(data="weight", default=1))),
    }
    for seed in range(6):
        G = graph_with_loops(seed)
        model = GraphConsensus(n_runs=1, recluster=False, threshold=1, split=False, random_state=0)
        model = model.fit(forms[form](G))
        found = [{int(str(v).removeprefix("v")) for v in c} for c in model.to_communities()]
        assert nx.community.modularity(G, found) > best_with_loops(seed)[0] - 1e-12, seed


@cache
def best_with_loops(seed):
    """Return the largest modularity, and how much lower it is of the best partition of the graph without loops."""
    G = graph_with_loops(seed)
    bare = G.copy()
    bare.remove_edges_from(nx.selfloop_edges(G))
    every = [to_communities(labels) for labels in all_partitions(7)]
    best = max(nx.community.modularity(G, c) for c in every)
    other = max(every, key=lambda c: nx.community.modularity(bare, c))
    return best, best - nx.community.modularity(G, other)


def test_self_loops_change_the_best_partition():
    assert sum(best_with_loops(seed)[1] > 0.01 for seed in range(6)) > 2


def test_more_iterations_raise_the_modularity_of_runs():
    G = nx.gnp_random_graph(400, 0.02, seed=2)

    def qualities(n_iterations):
        model = GraphConsensus(n_runs=6, split=False, n_iterations=n_iterations, random_state=0)
        runs = model.fit(G).ensemble_.labels.T
        return np.array([nx.community.modularity(G, to_communities(run)) for run in runs])

    one, two, many = qualities(1), qualities(2), qualities(None)
    assert (two - one).min() > -1e-12
    assert (many - two).min() > -1e-12
    assert np.mean(many - two) > 0.002
    np.testing.assert_array_equal(many, qualities(1000))
    np.testing.assert_array_equal(many, qualities(2**40))
    np.testing.assert_array_equal(two, qualities(GraphConsensus().n_iterations))


def test_communities_are_returned_to_networkx():
    G = nx.relabel_nodes(nx.karate_club_graph(), lambda v: f"member {v}")
    model = GraphConsensus(random_state=0).fit(G)
    actual = model.to_communities()
    assert nx.community.is_partition(G, actual)
    assert [len(c) for c in actual] == np.bincount(model.labels_).tolist()
    for k, community in enumerate(actual):
        assert {
            node for node, label in zip(G, model.labels_, strict=True) if label == k
        } == community
    assert nx.community.modularity(G, actual) > 0.37  # the optimum: .4198 without weights


def test_given_runs_are_combined():
    G = nx.karate_club_graph()
    runs = [nx.community.louvain_communities(G, seed=seed) for seed in range(10)]
    ensemble = Ensemble.from_communities(runs, nodes=G)
    model = GraphConsensus("strict", recluster=False).fit(G, ensemble=ensemble)
    pieces = nx.Graph()
    pieces.add_nodes_from(G)
    of = [{node: k for k, c in enumerate(run) for node in c} for run in runs]
    pieces.add_edges_from((a, b) for a, b in G.edges if all(run[a] == run[b] for run in of))
    expected = {frozenset(piece) for piece in nx.connected_components(pieces)}
    assert {frozenset(c) for c in model.to_communities()} == expected


def test_missing_runs_do_not_count_and_edges_without_runs_have_no_support():
    labels = np.array([[0, -1], [0, 0], [1, 0], [-1, 0]])
    model = GraphConsensus("threshold", threshold=1.0, recluster=False)
    model.fit([(0, 1), (1, 2), (2, 3), (0, 3)], ensemble=labels)
    # 0-1: 1 of 1; 1-2: 1 of 2; 2-3: 1 of 1; 0-3: observed by no run.
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1])


def test_a_ring_of_cliques_is_not_merged():
    number = 300
    G = nx.ring_of_cliques(number, 10)
    truth = np.repeat(np.arange(number), 10)
    for parameters in ({"kind": "strict", "n_runs": 50, "split": False}, {"quality": "cpm"}):
        model = GraphConsensus(**parameters, random_state=0).fit(G)
        assert model.n_clusters_ == number
        assert adjusted_rand_index(truth, model.labels_) == 1.0
    one = model.ensemble_  # by the Potts model each run has them
    assert adjusted_rand_index(truth, one.labels[:, 0]) == 1.0
    # One run at the resolution limit of modularity does not.
    runs = GraphConsensus(n_runs=1, split=False, random_state=0).fit(G)
    assert runs.n_clusters_ < 0.8 * number


def test_communities_of_an_lfr_network_are_found():
    G = nx.LFR_benchmark_graph(
        1000, 3, 1.5, 0.3, average_degree=10, max_degree=50, min_community=20, seed=2
    )
    G.remove_edges_from(nx.selfloop_edges(G))
    truth = np.array([min(G.nodes[v]["community"]) for v in G])
    scores = {}
    for kind in KINDS:
        model = GraphConsensus(kind, random_state=0).fit(G)
        scores[kind] = adjusted_rand_index(truth, model.labels_)
    assert model.ensemble_.n_partitions == 16
    alone = GraphConsensus(n_runs=1, split=False, random_state=0).fit(G)
    scores["one"] = adjusted_rand_index(truth, alone.labels_)
    assert scores["fast"] > scores["one"]
    assert scores["strict"] > scores["one"]
    assert min(scores.values()) > 0.6


@pytest.mark.parametrize("kind", KINDS)
def test_same_bits_for_any_number_of_threads_and_after_copying(kind):
    edges, n = random_edges(2, n=120)
    A = matrix_of(edges, n)
    model = GraphConsensus(kind, random_state=7, n_jobs=1).fit(A)
    for other in (clone(model).set_params(n_jobs=4), pickle.loads(pickle.dumps(model))):
        refitted = other.fit(A)
        np.testing.assert_array_equal(refitted.labels_, model.labels_)
        np.testing.assert_array_equal(refitted.ensemble_.labels, model.ensemble_.labels)
        np.testing.assert_array_equal(refitted.weights_.data, model.weights_.data)


def test_nodes_without_edges_are_singletons():
    G = nx.Graph([("a", "b")])
    G.add_node("c")
    assert GraphConsensus(random_state=0).fit(G).labels_.tolist() == [0, 0, 1]
    assert GraphConsensus(random_state=0).fit(nx.empty_graph(3)).labels_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (nx.DiGraph([(0, 1)]), r"directed.*A \+ A\.T with A = networkx"),
        (sp.csr_array([[0, 1, 0], [0, 0, 0], [2, 0, 0]]), r"directed.*A \+ A\.T"),
        (sp.csr_array((2, 3)), r"shape \(2, 3\)"),
        (np.eye(4), r"scipy\.sparse\.csr_array"),
        ([(0, 1, -1.0)], "not negative"),
        ([(0, 1, float("nan"))], "finite"),
        ([(0, 1, "heavy")], "edge 0"),
        ([0, 1], "Got 0 as edge 0"),
        ([], "no node"),
        (sp.csr_array((1, 1)), "only one node"),
        (sp.csr_array([[0, 1j], [1j, 0]]), "real numbers"),
        (np.array([[0.0, np.inf], [0.0, 1.0]]), "Got inf as a node"),
        (np.ma.array([[0, 1], [1, 2]], mask=[[0, 1], [0, 0]]), "Edge 0 has a missing end"),
        (SimpleNamespace(to_networkx=nx.Graph), r"Got SimpleNamespace: pass graph\.to_networkx"),
    ],
)
def test_graphs_that_are_not_undirected_are_refused(graph, words):
    with pytest.raises(InputError, match=words):
        GraphConsensus().fit(graph)


def test_ecg_is_not_clustered_again():
    with pytest.raises(ParameterError, match="ECG removes no edge"):
        GraphConsensus("ecg", recluster=False).fit([(0, 1)])


def test_an_ensemble_of_other_nodes_is_refused():
    with pytest.raises(InputError, match="3 rows and the graph 2 nodes"):
        GraphConsensus().fit([(0, 1)], ensemble=[[0], [0], [1]])


def test_labels_convert_to_communities():
    assert to_communities([1, 0, -1, 1]) == [{1}, {0, 3}]
    with pytest.raises(InputError, match="2 labels and 3 nodes"):
        to_communities([0, 1], "abc")
    with pytest.raises(InputError, match="whole numbers"):
        to_communities([0.5, 1.0])
    with pytest.raises(InputError, match=r"'nodes' must be different\. Got 1 duplicates"):
        to_communities([0, 1, 0], ["a", "a", "b"])


@pytest.mark.parametrize("width", [2, 3])
def test_points_are_not_read_as_edges(width):
    points = np.random.default_rng(0).random((20, width))
    for given in (points, pd.DataFrame(points), points.tolist()):
        with pytest.raises(InputError, match=r"as a node\. If these are points.*neighbour_graph"):
            GraphConsensus(random_state=0).fit(given)
    edges = np.array([[0.0, 1.0, 0.5], [1.0, 2.0, 0.5], [0.0, 2.0, 2.5]])
    assert GraphConsensus(random_state=0).fit(edges[:, :width]).n_clusters_ == 1


def test_frames_of_edges_are_read_by_the_names_of_networkx():
    G = nx.karate_club_graph()
    frame = nx.to_pandas_edgelist(G)
    usual = GraphConsensus(random_state=0).fit(frame[["source", "target", "weight"]])
    other = GraphConsensus(random_state=0).fit(frame[["weight", "source", "target"]])
    assert len(usual.nodes_) == 34
    np.testing.assert_array_equal(other.labels_, usual.labels_)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_edges_with_a_missing_end_are_refused(missing):
    with pytest.raises(InputError, match="Edge 1 has a missing end"):
        GraphConsensus().fit([("a", "b"), ("b", missing), ("c", "a")])


@pytest.mark.parametrize("name", ["weight", "w"])
def test_the_third_column_of_a_frame_is_the_weight(name):
    ends = [(i, j) for i in range(40) for j in range(i)]
    frame = pd.DataFrame(ends, columns=["source", "target"])
    frame[name] = [10.0 if (i < 20) == (j < 20) else 0.01 for i, j in ends]
    assert GraphConsensus(random_state=0).fit(frame).n_clusters_ == 2
    frame["more"] = 1.0
    if name == "weight":
        assert GraphConsensus(random_state=0).fit(frame).n_clusters_ == 2
    else:
        with pytest.raises(InputError, match="and one of weights"):
            GraphConsensus(random_state=0).fit(frame)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_matrices_of_nodes_are_not_read_as_edges(n):
    A = np.ones((n, n)) - np.eye(n)
    names = list("abcdefg"[:n])
    given = [pd.DataFrame(A, names, names)]
    if n > 2:  # two rows are the same edge twice
        given += [A, A.astype(int), A.tolist()]
    for graph in given:
        with pytest.raises(InputError, match=r"scipy\.sparse\.csr_array\(matrix\)|as edge 0"):
            GraphConsensus().fit(graph)
    edges = [(0, 1, 1), (1, 2, 1), (2, 0, 1)]
    for triangle in (edges, np.array(edges), pd.DataFrame(edges)):
        assert len(GraphConsensus(random_state=0).fit(triangle).nodes_) == 3


def test_weights_whose_sum_overflows_are_refused_and_tiny_ones_are_not():
    triangle = np.array([[0, 1], [1, 2], [2, 0]])
    with pytest.raises(InputError, match=r"add up to less than 1e\+150\. Got inf"):
        GraphConsensus().fit(np.column_stack([triangle, [1e308] * 3]))
    # Weights of different size, in a ring that only the split resolves.
    ring = nx.ring_of_cliques(200, 6)
    for a, b in ring.edges:
        ring[a][b]["weight"] = 1.0 + (a + b) % 3
    A = nx.to_scipy_sparse_array(ring)
    usual = GraphConsensus(random_state=0).fit(A).labels_
    assert usual.max() + 1 == 200
    for unit in (2.0**-1000, 2.0**-700, 2.0**450):
        scaled = GraphConsensus(random_state=0).fit(A * unit).labels_
        np.testing.assert_array_equal(scaled, usual)


def test_rows_of_an_ensemble_in_another_order_than_the_nodes_are_refused():
    G = nx.les_miserables_graph()
    own = GraphConsensus(random_state=0).fit(G)
    frame = pd.DataFrame(own.ensemble_.labels, index=list(G))
    same = GraphConsensus(random_state=0).fit(G, ensemble=frame)
    np.testing.assert_array_equal(same.labels_, own.labels_)
    for other in (frame[::-1], frame.sort_index()):
        with pytest.raises(InputError, match="names of the nodes, in another order"):
            GraphConsensus(random_state=0).fit(G, ensemble=other)
    plain = frame.reset_index(drop=True)
    np.testing.assert_array_equal(
        GraphConsensus(random_state=0).fit(G, ensemble=plain).labels_, own.labels_
    )


def test_rows_of_a_matrix_have_no_names():
    """Points in a random order, as ``frame.sample(frac=1)`` returns them, have rows of other numbers."""
    A = nx.to_scipy_sparse_array(nx.les_miserables_graph())
    own = GraphConsensus(random_state=0).fit(A)
    shuffled = np.random.default_rng(0).permutation(A.shape[0])
    frame = pd.DataFrame(own.ensemble_.labels, index=shuffled)
    found = GraphConsensus(random_state=0).fit(A, ensemble=frame)
    np.testing.assert_array_equal(found.labels_, own.labels_)


def test_graphs_with_indices_outside_are_refused():
    for graph in corrupt_graphs(matrix_of(*random_edges(0))):
        with pytest.raises(InputError, match="graph is not a valid sparse matrix: ind"):
            GraphConsensus().fit(graph)


def test_a_random_graph_has_one_community_with_a_reason():
    model = GraphConsensus(random_state=0).fit(nx.gnp_random_graph(200, 0.05, seed=0))
    assert model.n_clusters_ == 1
    assert model.reason_.startswith("One cluster: the runs have a mean adjusted Rand index of 0.1")
    sparse = nx.gnp_random_graph(300, 0.01, seed=0)
    model = GraphConsensus(random_state=0).fit(sparse)
    assert model.n_clusters_ == nx.number_connected_components(sparse)


def test_graphs_with_communities_are_not_taken_for_random_ones():
    for G, most in (
        (nx.karate_club_graph(), 4),
        (nx.ring_of_cliques(12, 5), 12),
        (nx.planted_partition_graph(4, 30, 0.4, 0.08, seed=0), 4),
        (nx.grid_2d_graph(10, 10), 30),
    ):
        model = GraphConsensus(random_state=0).fit(G)
        assert 1 < model.n_clusters_ <= most
        assert ": the runs agree on the edges within them. " in model.reason_


def test_the_modularity_equals_networkx():
    G = nx.karate_club_graph()
    G.add_edge(3, 3, weight=2.0)
    labels = np.arange(34) % 4
    communities = [set(np.flatnonzero(labels == k).tolist()) for k in range(4)]
    expected = nx.community.modularity(G, communities, weight="weight")
    np.testing.assert_allclose(modularity(read_network(G), labels), expected)
