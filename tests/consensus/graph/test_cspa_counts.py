"""CSPA of complete labels: the graph in whole numbers, its embedding by products, starts that are merged."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.cases import planted
from tests.naive import graph as naive

from conclust import CSPA, Ensemble, coassociation
from conclust._kernels import PartRefiner, count_ties
from conclust.consensus.graph.partition import Graph, cut_graph, part_capacity, read_graph
from conclust.spectra.transfer_cut import graph_embedding
from conclust.trees.agglomeration import starting_clusters


def random_counts(rng, n, largest, share=1.0):
    upper = np.triu(rng.integers(0, largest + 1, (n, n)) * (rng.random((n, n)) < share), 1)
    return upper + upper.T


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (67, 2), (130, 7), (261, 40)])
def test_whole_and_real_weights_make_the_same_moves(n, k, dtype):
    rng = np.random.default_rng(n)
    counts = random_counts(rng, n, 255 if dtype == np.uint8 else 60_000, 0.6)
    for mass in (np.ones(n), rng.uniform(0.1, 3.0, n)):
        capacity = 1.1 * mass.sum() / k + mass.max() * (k > 7)
        start = rng.permutation(np.arange(n) % k)
        for passes, patience in ((1, 1000), (50, 3), (50, 200)):
            whole, real = start.copy(), start.copy()
            refiner = PartRefiner(mass, k, capacity, passes, patience)
            done = refiner.dense(counts.astype(dtype), whole)
            assert done == refiner.dense(counts.astype(float), real)
            np.testing.assert_array_equal(whole, real)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_ties_are_products_with_the_parts(dtype):
    rng = np.random.default_rng(3)
    counts = random_counts(rng, 90, np.iinfo(dtype).max)
    labels = rng.integers(0, 4, 90)
    ties = np.empty((90, 5))
    count_ties(counts.astype(dtype), labels, ties)
    np.testing.assert_array_equal(ties, counts @ np.eye(5)[labels])


def labels_with_copies(n, copies, seed=0):
    labels, truth = planted(seed, n, 9, 4, flip=0.4)
    labels[::17, 2] = -2
    return np.repeat(labels, copies, axis=0), np.repeat(truth, copies)


@pytest.mark.parametrize(("copies", "dtype"), [(1, np.uint8), (6, np.uint16)])
def test_whole_numbers_are_shares_times_the_number_of_partitions(copies, dtype):
    labels, _ = labels_with_copies(60, copies)
    same = starting_clusters(Ensemble(labels), mute=True)
    model = CSPA(4, random_state=0)
    assert model._count_type(same) == dtype
    counts, embed = model._counts(same, dtype)
    shares = model._all_pairs(same, 9.0)
    shares = shares.toarray() if sp.issparse(shares) else shares
    np.testing.assert_allclose(counts / 9, shares)
    assert counts.dtype == dtype
    rows = embed(np.random.default_rng(0))
    other = graph_embedding(counts.astype(float), 4, np.random.default_rng(0))
    np.testing.assert_allclose(rows @ rows.T, other @ other.T, atol=1e-6)


@pytest.mark.parametrize("n", [260, 2000])
def test_the_embedding_by_products_spans_that_of_the_matrix(n):
    labels, _ = labels_with_copies(n, 1, seed=5)
    same = starting_clusters(Ensemble(labels), mute=True)
    model = CSPA(4)
    counts, embed = model._counts(same, model._count_type(same))
    assert (len(same) > 1500) == (n > 1500)
    rows = embed(np.random.default_rng(0))
    other = graph_embedding(counts.astype(float), 4, np.random.default_rng(0))
    np.testing.assert_allclose(rows @ rows.T, other @ other.T, atol=1e-3)


@pytest.mark.parametrize("copies", [1, 3])
def test_the_objective_is_the_cut_of_balanced_parts(copies):
    labels, _ = labels_with_copies(100, copies, seed=2)
    model = CSPA(4, random_state=0).fit(labels)
    shares = np.where(np.eye(len(labels), dtype=bool), 0.0, coassociation(labels) / 9)
    assert model.objective_ == pytest.approx(naive.cut(shares, model.labels_), rel=1e-12)
    same = starting_clusters(Ensemble(labels), mute=True)
    assert np.bincount(model.labels_).max() <= part_capacity(same.masses, 4, 0.05)


@pytest.mark.long
def test_merged_starts_reach_cuts_as_low_as_all_of_them():
    merged, every = [], []
    for seed in range(12):
        labels, _ = planted(seed, 300, 8, 5, flip=0.6)
        graph = Graph(read_graph(coassociation(labels).astype(float)), np.ones(300))
        how = {"balance": 0.05, "method": "internal", "n_init": 10}
        root = np.random.SeedSequence(seed)
        merged.append(cut_graph(graph, 5, root=root, merged=True, **how).cut)
        every.append(cut_graph(graph, 5, root=root, **how).cut)
    ratios = np.array(merged) / every
    assert ratios.mean() < 1.001
    assert ratios.max() < 1.01
