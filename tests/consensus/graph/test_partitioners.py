"""The partitioners of graphs: against brute force, on hard cases, and against other packages."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.cases import random_graph
from tests.naive import graph as naive

from conclust import Ensemble
from conclust._kernels import PartRefiner
from conclust.consensus.graph import partition_graph
from conclust.consensus.graph.partition import (
    Hypergraph,
    part_capacity,
    partition_hypergraph,
)

# -- the partitioner against brute force


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_lowest_balanced_cut_is_found(form):
    rng = np.random.default_rng(0)
    optimal = 0
    for trial in range(60):
        k = 2 + trial % 3
        W = random_graph(rng, 7)
        capacity = part_capacity(np.ones(7), k, 0.05)
        actual = partition_graph(W if form == "dense" else sp.csr_array(W), k, random_state=trial)
        assert actual.cut == pytest.approx(naive.cut(W, actual.labels))
        assert np.bincount(actual.labels, minlength=k).min() > 0
        assert np.bincount(actual.labels).max() <= actual.capacity == capacity
        best = naive.best_balanced(lambda labels, W=W: naive.cut(W, labels), 7, k, capacity)
        assert actual.cut >= best - 1e-9
        optimal += actual.cut <= best + 1e-9
    assert optimal >= 57


def test_the_lowest_connectivity_is_found():
    rng = np.random.default_rng(0)
    optimal = 0
    for trial in range(60):
        k = 2 + trial % 3
        columns = rng.integers(0, 3, (7, 5))
        H = Ensemble(columns).indicator
        actual = partition_hypergraph(
            Hypergraph(H, np.ones(H.shape[1]), np.ones(7)), k, random_state=trial
        )
        assert actual.cut == naive.connectivity(columns, actual.labels)
        assert np.bincount(actual.labels).max() <= actual.capacity
        best = naive.best_balanced(
            lambda labels, c=columns: naive.connectivity(c, labels), 7, k, actual.capacity
        )
        optimal += actual.cut == best
    assert optimal >= 57


@pytest.mark.parametrize("k", [2, 7, 40])
@pytest.mark.parametrize("share", [0.02, 0.4, 1.0])
def test_dense_and_sparse_refinement_make_the_same_moves(k, share):
    # Scanned gains, and gains in trees.
    rng = np.random.default_rng(k)
    n = 130
    W = random_graph(rng, n, share)
    rows = sp.csr_array(W)
    rows = (rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data)
    for mass in (np.ones(n), rng.uniform(0.1, 3.0, n), np.repeat([1.0, 8.0], [n - 9, 9])):
        capacity = 1.1 * mass.sum() / k + mass.max() * (k > 7)
        start = rng.permutation(np.arange(n) % k)
        for passes, patience in ((1, 1000), (50, 3), (50, 200)):
            dense, sparse = start.copy(), start.copy()
            refiner = PartRefiner(mass, k, capacity, passes, patience)
            assert refiner.dense(W, dense) == refiner.sparse(*rows, sparse)
            np.testing.assert_array_equal(dense, sparse)
        assert not np.array_equal(dense, start)


@pytest.mark.long
@pytest.mark.parametrize(("n", "k"), [(30, 2), (90, 4), (150, 11)])
def test_hypergraph_refinement_makes_the_moves_of_the_twin(n, k):
    rng = np.random.default_rng(n)
    truth = rng.integers(k, size=n)
    columns = [np.where(rng.random(n) < 0.3, rng.integers(k, size=n), truth) for _ in range(4)]
    members = np.column_stack([np.eye(k)[column] for column in columns])
    H, pins = sp.csr_array(members), sp.csc_array(members)
    incidences = [
        part.astype(dtype)
        for M in (H, pins)
        for part, dtype in ((M.indptr, np.int64), (M.indices, np.int32))
    ]
    # Whole weights: sums of gains are exact.
    for weights in (np.ones(4 * k), rng.integers(0, 5, 4 * k) + 0.0):
        for mass in (np.ones(n), rng.integers(1, 4, n) + 0.0):
            capacity = np.ceil(1.1 * mass.sum() / k)
            labels = rng.permutation(np.arange(n) % k)
            expected = naive.moved_hypergraph(members, weights, labels, mass, k, capacity, 3, 20)
            refiner = PartRefiner(mass, k, capacity, 3, 20)
            passes = refiner.hypergraph(*incidences, weights, labels)
            np.testing.assert_array_equal(labels, expected[0])
            assert passes == expected[1]


def test_heavy_vertices_are_kept_whole():
    W = random_graph(np.random.default_rng(5), 12)
    weights = np.array([30.0, *[1.0] * 11])
    cut = partition_graph(W, 3, vertex_weights=weights, random_state=0)
    sums = np.bincount(cut.labels, weights=weights)
    assert sums.max() <= cut.capacity
    assert len(sums) == 3


# -- hard cases of graph partitioning


def test_isolated_vertices_have_a_part():
    W = np.zeros((8, 8))
    W[:3, :3] = W[3:6, 3:6] = 1
    actual = partition_graph(W, 2, random_state=0)
    assert actual.cut == 0
    assert np.bincount(actual.labels).max() <= actual.capacity == 5
    empty = partition_graph(np.zeros((6, 6)), 3, random_state=0)
    assert np.bincount(empty.labels, minlength=3).min() > 0


def test_float_weights_are_used_exactly():
    W = np.full((6, 6), 1e-7)
    W[:3, :3] = W[3:, 3:] = 3.3e-5
    actual = partition_graph(W, 2, random_state=0)
    np.testing.assert_array_equal(actual.labels, [0, 0, 0, 1, 1, 1])
    assert actual.cut == pytest.approx(9e-7)


def test_the_input_graph_is_not_modified():
    W = sp.csr_array(np.array([[5.0, 1.0], [1.0, 0.0]]))
    D = W.toarray()
    for graph in (W, D):
        assert partition_graph(graph, 2, random_state=0).cut == 1
    assert W[0, 0] == D[0, 0] == 5


@pytest.mark.parametrize("method", ["internal", "spectral"])
def test_only_the_seed_of_the_call_matters(method):
    W = random_graph(np.random.default_rng(2), 60, 0.2)
    np.random.seed(3)  # noqa: NPY002  (the process-wide generator is what this is about)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    a = partition_graph(W, 4, method=method, random_state=7)
    partition_graph(random_graph(np.random.default_rng(8), 30), 3, method=method, random_state=1)
    b = partition_graph(W, 4, method=method, random_state=7)
    np.testing.assert_array_equal(a.labels, b.labels)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
