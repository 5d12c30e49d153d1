"""The graph of objects and clusters read from labels equals that of the sparse indicator."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.cases import labels_of_codes, planted, random_codes

from conclust import HBGF, LCE, LWGP, Ensemble
from conclust._kernels import lloyd_round, seed_points
from conclust.consensus.graph.kmeans import Points, kmeans_labels
from conclust.spectra.bipartite import LabelEdges, MatrixEdges, edges_of


def both_edges(seed, dtype=np.uint8, clusters=(3, 5, 2), missing=0.2, noise=0.1):
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, 70, clusters, dtype, missing=missing, noise=noise)
    ensemble = Ensemble(labels_of_codes(codes))
    weights = rng.random(int(ensemble.offsets[-1]))
    dense = ensemble.indicator.toarray() * weights
    return LabelEdges(ensemble, weights), MatrixEdges(sp.csr_array(dense)), dense


@pytest.mark.parametrize("clusters", [(3, 5, 2), (60, 300, 2), (2,), (4,) * 20])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("d", [1, 3, 4, 10, 16, 21, 35])
def test_rows_are_products_of_the_indicator(clusters, missing, d):
    labelled, sparse, B = both_edges(d, clusters=clusters, missing=missing, noise=missing / 2)
    table = np.random.default_rng(1).normal(size=(B.shape[1], d))
    expected = B @ table
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    unit = np.divide(expected, lengths, out=np.zeros_like(expected), where=lengths > 0)
    for edges in (labelled, sparse):
        for some in (slice(None), slice(7, 31), slice(70, 90)):
            np.testing.assert_allclose(edges.rows(table, some), expected[some], atol=1e-12)
            np.testing.assert_allclose(edges.rows(table, some, unit=True), unit[some], atol=1e-12)


@pytest.mark.parametrize("names", [3, 400, 70_000])
def test_codes_of_every_width_are_read(names):
    rng = np.random.default_rng(0)
    n = max(50, names)
    labels = np.column_stack([np.arange(n) % names, rng.integers(0, 4, n)])
    ensemble = Ensemble(labels)
    table = rng.normal(size=(int(ensemble.offsets[-1]), 2))
    np.testing.assert_allclose(
        edges_of(ensemble).rows(table, slice(None)), ensemble.indicator @ table, atol=1e-12
    )


@pytest.mark.parametrize("clusters", [(3, 5, 2), (60, 300, 2)])  # few and many columns per row
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_sums_and_inner_products_equal_those_of_the_indicator(missing, clusters):
    labelled, sparse, B = both_edges(2, clusters=clusters, missing=missing, noise=missing / 3)
    rng = np.random.default_rng(0)
    values, parts, v = rng.random(70), rng.integers(0, 4, 70), rng.random(B.shape[1])
    for edges in (labelled, sparse):
        np.testing.assert_allclose(edges.times(v), B @ v, atol=1e-12)
        np.testing.assert_allclose(edges.sums(), B.sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(edges.sums(values), B.T @ values, atol=1e-12)
        np.testing.assert_allclose(edges.shares(parts, 4), B.T @ np.eye(4)[parts], atol=1e-12)
        np.testing.assert_allclose(edges.matrix().toarray(), B, atol=1e-12)
        np.testing.assert_allclose(sp.vstack(list(edges.blocks())).toarray(), B, atol=1e-12)
        np.testing.assert_allclose(edges.part(np.arange(9, 30)).times(v), B[9:30] @ v, atol=1e-12)
        for mass in (values, np.full(70, 0.25)):
            expected = B.T @ (B * mass[:, None])
            np.testing.assert_allclose(edges.inner(mass), expected, atol=1e-12)


def test_soft_members_have_a_matrix():
    rng = np.random.default_rng(0)
    soft = Ensemble.from_memberships([rng.dirichlet(np.ones(3), 20) for _ in range(4)])
    soft = soft.reweighted([1.0, 2.0, 0.5, 0.0])
    weights = rng.random(12)
    expected = soft.indicator.toarray() * soft.column_weights * weights
    np.testing.assert_allclose(edges_of(soft, weights).matrix().toarray(), expected)


@pytest.mark.parametrize("d", [1, 3, 8, 13])
@pytest.mark.parametrize("k", [1, 4, 7, 20])
def test_a_lloyd_iteration_matches_the_definition(d, k):
    rng = np.random.default_rng(d)
    rows, mass, centers = rng.normal(size=(60, d)), rng.random(60), rng.normal(size=(k, d))
    labels, distances = np.zeros(60, dtype=np.int64), np.empty(60)
    sums, totals = np.zeros((k, d)), np.zeros(k)
    changed = lloyd_round(rows, mass, centers, labels, distances, sums, totals)
    squares = ((rows[:, None] - centers) ** 2).sum(axis=2)
    nearest = squares.argmin(axis=1)
    np.testing.assert_array_equal(labels, nearest)
    np.testing.assert_allclose(distances, squares.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(totals, np.bincount(nearest, mass, k), atol=1e-12)
    np.testing.assert_allclose(sums, np.eye(k)[nearest].T @ (rows * mass[:, None]), atol=1e-12)
    assert changed == np.count_nonzero(nearest)
    assert lloyd_round(rows, mass, centers, labels, distances, sums, totals) == 0


@pytest.mark.parametrize("n", [5, 64, 201])
@pytest.mark.parametrize("k", [1, 2, 9, 60])
def test_seeds_match_the_definition_of_k_means_plus_plus(n, k):
    rng = np.random.default_rng(n + k)
    rows, mass = rng.integers(0, 4, (n, 3)).astype(np.float64), rng.random(n)
    options = 2 + int(np.log(k))
    uniform = rng.random(1 + (k - 1) * options)
    chosen = np.full(k, -1)
    count = seed_points(np.ascontiguousarray(rows.T), mass, uniform, options, chosen)
    assert count == min(k, len(np.unique(rows, axis=0)))

    def draw(chances, share):
        sums = np.cumsum(chances)
        return int(np.searchsorted(sums, share * sums[-1], side="right"))

    squares = ((rows[:, None] - rows) ** 2).sum(axis=2)
    expected = [draw(mass, uniform[0])]
    distances = squares[expected[0]]
    for drawn in uniform[1:].reshape(-1, options)[: count - 1]:
        tries = [draw(distances * mass, share) for share in drawn]
        left = [np.minimum(distances, squares[i]) for i in tries]
        best = int(np.argmin([round(one @ mass, 9) for one in left]))
        expected.append(tries[best])
        distances = left[best]
    np.testing.assert_array_equal(rows[chosen[:count]], rows[expected])


def test_rows_made_on_demand_are_clustered_like_stored_rows(monkeypatch):
    monkeypatch.setattr("conclust.consensus.graph.kmeans._BLOCK", 1000)
    values = np.random.default_rng(0).normal(size=(7_000, 3))

    class Made:
        shape = values.shape

        def __getitem__(self, some):
            return values[some].copy()

    seed, mass = np.random.SeedSequence(0), np.ones(7_000)
    for always in (0, 40):
        a = kmeans_labels(Points(values, mass, always), 5, seed)
        b = kmeans_labels(Points(Made(), mass, always), 5, seed)
        assert len(a) == 7_000 - always
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "method",
    [
        HBGF(4, random_state=0),
        HBGF(4, joint=False, random_state=0),
        LWGP(4, random_state=0),
        LCE(4, random_state=0),
    ],
)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_blocks_and_cluster_limits_do_not_change_results(method, missing, monkeypatch):
    labels, _ = planted(n=6_000, m=10, k=4, flip=0.2, missing=missing)
    ensemble = Ensemble(labels)
    one = method.fit(ensemble).labels_
    monkeypatch.setattr("conclust.consensus.graph.kmeans._BLOCK", 512)
    monkeypatch.setattr("conclust.spectra.bipartite._BLOCK", 512)
    np.testing.assert_array_equal(method.fit(ensemble).labels_, one)
    monkeypatch.setattr("conclust.spectra.transfer_cut._HELD", 10)
    other = method.fit(ensemble).labels_
    assert np.mean(other == one) > 0.999
