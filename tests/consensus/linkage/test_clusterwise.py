"""Linkage on rows of B and W, against greedy twins on all pairs and against the dense matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.naive import similarity as naive
from tests.naive.linkage import between, random_labels, replay

from conclust import EAC, LWEA, Ensemble
from conclust.consensus.linkage import cut
from conclust.exceptions import EnsembleWarning, EvidenceWarning
from conclust.similarity import (
    approximate_simrank,
    cluster_certainty,
    connected_triples,
    simrank,
    trajectory_similarity,
)
from conclust.trees import clusterwise
from conclust.trees.clusterwise import cluster_tree, pairs_of, warn_of_unobserved

LINKAGES = ["average", "single", "complete", "ward"]
CASES = [(0.0, 0.0, False), (0.25, 0.0, True), (0.0, 0.2, True), (0.25, 0.2, False)]
KINDS = {
    "certainty": lambda e: sp.csr_array(sp.diags_array(cluster_certainty(e))),
    "triples": connected_triples,
    "trajectories": trajectory_similarity,
}


@pytest.fixture(params=[1, 6, 4096])
def few(request, monkeypatch):
    """Number of remaining clusters when a matrix is made."""
    monkeypatch.setattr(clusterwise, "_FEW", request.param)
    monkeypatch.setattr(clusterwise, "_FEW_MIXED", request.param)
    return request.param


def tree_of(ensemble, W, linkage, mean="partitions"):
    pairs = pairs_of(ensemble, W, mean=mean)
    return cluster_tree(pairs, linkage, max_dense=10_000, owner="it").matrix


def sums(labels, W, weights):
    """c_ij and N_ij of all pairs of objects: b_i' W b_j within partitions, and the partitions that observed both."""
    labels = np.asarray(labels)
    n, m = labels.shape
    weights = np.ones(m) if weights is None else weights
    parts = naive.blocks(labels)
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    c, N = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for u in range(m):
                if -1 in (labels[i, u], labels[j, u]):
                    continue
                N[i, j] += weights[u]
                for a, one in enumerate(parts[u]):
                    for b, other in enumerate(parts[u]):
                        if i in one and j in other:
                            c[i, j] += weights[u] * W[starts[u] + a, starts[u] + b]
    return c, N


def equal_rows(labels):
    """The pairs of objects that are merged at the start."""
    same = (labels[:, None] == labels[None]).all(axis=2)
    apart = (labels == -2).any(axis=1)
    same &= ~apart[:, None] & ~apart
    return same | np.eye(len(labels), dtype=bool)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
def test_the_tree_matches_greedy_merging_of_all_pairs(few, kind, linkage, missing, noise, weighted):
    rng = np.random.default_rng(21)
    labels = random_labels(rng, 16, 5, missing=missing, noise=noise)
    labels[3] = labels[7]
    weights = rng.random(5) + 0.2 if weighted else None
    e = Ensemble(labels, weights=weights)
    W = KINDS[kind](e)
    c, N = sums(labels, W.toarray() if sp.issparse(W) else W, weights)
    same = equal_rows(labels)

    def distance(A, B):
        if same[np.ix_(A, B)].any():
            return 0.0
        if linkage == "average":  # the ratio of sums
            total = N[np.ix_(A, B)].sum()
            return 1.0 - c[np.ix_(A, B)].sum() / total if total else 1.0
        return between(D, A, B, linkage)

    D = 1.0 - np.divide(c, N, out=np.zeros_like(c), where=N > 0)
    D[same] = 0.0
    D = np.sqrt(np.maximum(D, 0.0)) if linkage == "ward" else D
    tree = tree_of(e, W, linkage)
    if linkage == "average" and weighted and missing:
        # Every merge is greedy, starting with the pairs at 0.
        assert (np.diff(tree[:, 2]) >= 0).all()
    replay(tree, distance, 1e-9)


@pytest.mark.parametrize("linkage", ["average", "single", "complete"])
@pytest.mark.parametrize(("missing", "noise", "weighted"), CASES)
def test_average_similarities_are_means_over_all_pairs_of_clusters(
    few, linkage, missing, noise, weighted
):
    rng = np.random.default_rng(22)
    labels = random_labels(rng, 12, 4, missing=missing, noise=noise)
    weights = rng.random(4) + 0.2 if weighted else None
    e = Ensemble(labels, weights=weights)
    S, _ = naive.simrank(labels, 4, weights, 0.7)
    D = 1.0 - S
    D[equal_rows(labels)] = 0.0
    tree = tree_of(e, 0.7 * simrank(e, decay=0.7, n_iter=4), linkage, "pairs")
    replay(tree, lambda A, B: between(D, A, B, linkage), 1e-9)


@pytest.mark.parametrize("n_rows", [1, 40, 400])
@pytest.mark.parametrize("kind", [*KINDS, "simrank"])
@pytest.mark.parametrize("linkage", ["average", "single"])
def test_rows_and_matrix_give_the_same_tree(monkeypatch, kind, linkage, n_rows):
    monkeypatch.setattr(clusterwise, "_FEW", n_rows)
    monkeypatch.setattr(clusterwise, "_FEW_MIXED", n_rows)
    labels = random_labels(np.random.default_rng(5), 300, 6, k=5)
    e = Ensemble(labels)
    mean = "pairs" if kind == "simrank" else "partitions"
    W = approximate_simrank(e) if kind == "simrank" else KINDS[kind](e)
    pairs = pairs_of(e, W, mean=mean)
    actual = cluster_tree(pairs, linkage, max_dense=1, owner="it").matrix
    expected = clusterwise.linkage_of(pairs.dissimilarities(), pairs.start, linkage)
    np.testing.assert_allclose(actual[:, 2], expected[:, 2], atol=1e-11)
    for k in (2, 5, 20):
        np.testing.assert_array_equal(cut(actual, k), cut(expected, k))


def test_trees_of_soft_members_are_greedy(few):
    rng = np.random.default_rng(7)
    e = Ensemble.from_memberships([rng.dirichlet(np.ones(k), 20) for k in (3, 4, 2)])
    W = connected_triples(e)
    B = e.indicator.toarray()
    D = 1.0 - B @ W.toarray() @ B.T / 3
    np.fill_diagonal(D, 0.0)
    for linkage in ("average", "single", "complete"):
        replay(tree_of(e, W, linkage), lambda A, B, how=linkage: between(D, A, B, how), 1e-9)


def test_objects_without_shared_clusters_are_at_distance_one(few):
    labels = np.column_stack([np.arange(9)] * 2)
    tree = tree_of(Ensemble(labels), sp.csr_array(sp.eye_array(18)), "average")
    np.testing.assert_array_equal(tree[:, 2], 1.0)
    assert cut(tree, 9).tolist() == list(range(9))
    noise = np.full((5, 2), -2)
    assert tree_of(Ensemble(noise), sp.csr_array((0, 0)), "single")[:, 2].tolist() == [1.0] * 4
    assert tree_of(Ensemble(noise), sp.csr_array((0, 0)), "average")[:, 2].tolist() == [1.0] * 4


def test_small_memberships_do_not_overflow():
    # Products that underflow: rows occur again with no effect.
    rows = np.full((40, 3), 1e-200)
    rows[np.arange(40), np.arange(40) % 3] = 1.0
    e = Ensemble.from_memberships([rows / rows.sum(axis=1, keepdims=True)])
    W = sp.csr_array(sp.diags_array(np.full(3, 1e-200)))
    for linkage in ("average", "single"):
        assert (tree_of(e, W, linkage)[:, 2] == 1.0).all()


# -- LWEA


@pytest.mark.parametrize("limit", [3, 1])
def test_pairs_without_evidence_are_reported(limit):
    labels = [[0, -1], [0, -1], [-1, 0], [-1, 0], [1, 1]]
    pattern = "objects of 4 pairs" if limit == 3 else "if there are any, count as dissimilarity 1"
    with pytest.warns(EvidenceWarning, match=pattern):
        warn_of_unobserved(Ensemble(labels), limit)
    with pytest.warns(EvidenceWarning, match="count as dissimilarity 1") as heard:
        LWEA(2, max_dense=2).fit(labels)
    assert heard[0].filename == __file__


def chain_on_whole_rows(rows, diagonal, masses):
    """Nearest-neighbour chain that computes all rows of similarities: merges and heights."""
    rows, masses = rows.copy(), masses.copy()
    n = len(rows)
    alive, tops = np.ones(n, dtype=bool), np.zeros(n)
    chain, links, merges = [], [], []
    while len(merges) < n - 1:
        if not chain:
            chain, links = [0], [0.0]
        tip = chain[-1]
        total = np.zeros(n)
        for k in np.flatnonzero(rows[tip]):  # one after the other, as in the kernel
            total += diagonal[k] * rows[tip, k] * rows[:, k]
        S = (total * (1 / masses[tip] * (1 / masses)) + 6144.0) - 6144.0  # the kernel's grid
        S[tip] = S[~alive] = -1.0
        best = int(np.argmax(S))
        if len(chain) > 1 and (S[best] <= links[-1] or best in chain):
            kept, absorbed = sorted(chain[-2:])
            tops[kept] = max(0.0, 1.0 - links[-1], tops[kept], tops[absorbed])
            chain, links = chain[:-2], links[:-2]
            rows[kept] += rows[absorbed]
            masses[kept] += masses[absorbed]
            alive[absorbed] = False
            merges.append((kept, absorbed, tops[kept]))
        else:
            chain.append(best)
            links.append(S[best])
    return merges


@pytest.mark.parametrize(
    ("name", "n_partitions", "share"),
    [("planted", 9, 0.3), ("planted", 9, 0.8), ("ties", 4, 1.0), ("own columns", 3, 1.0)],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_remembered_neighbours_give_the_bits_of_whole_rows(name, n_partitions, share, weighted):
    rng = np.random.default_rng(31)
    labels = rng.integers(0, 6, (700, 1)) + np.zeros((1, n_partitions), dtype=int)
    wrong = rng.random(labels.shape) < share
    k = 60 if name == "own columns" else 6
    labels[wrong] = rng.integers(0, k, int(wrong.sum()))
    e = Ensemble(labels)
    T = int(e.offsets[-1])
    W = sp.csr_array(sp.diags_array(rng.random(T) if weighted else np.ones(T)))
    pairs = pairs_of(e, W)
    start = pairs.start
    rows = sp.csr_array(sp.diags_array(start.masses) @ pairs.rows).toarray()
    expected = chain_on_whole_rows(rows, pairs.W.diagonal(), start.masses)
    n = len(start)
    left, right = np.empty((2, n - 1), dtype=np.int64)
    heights = np.empty(n - 1)
    chain = clusterwise.AverageChain(clusterwise._row_pairs(pairs), 1)
    while chain.run(50):
        pass
    chain.read(left, right, heights, np.arange(n))
    assert list(zip(left.tolist(), right.tolist(), heights.tolist(), strict=True)) == expected


@pytest.mark.parametrize("model", [EAC(3, max_dense=50), LWEA(3, max_dense=50)], ids=str)
def test_many_minutes_of_linkage_are_warned_of(model, monkeypatch):
    labels = np.random.default_rng(0).integers(0, 5, (300, 12))
    monkeypatch.setattr(clusterwise, "_SECONDS_A_PRODUCT", 60 * 7.5 / (300 * 300 * 12 / 5))
    with pytest.warns(
        EnsembleWarning, match=r"300 different rows of labels, .* more than 7 minutes"
    ):
        model.fit(labels)
