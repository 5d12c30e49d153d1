"""Leading eigenpairs of sparse matrices, beside LAPACK: of parts that weak ties connect, alike or not."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from conclust.spectra import bipartite
from conclust.spectra.bipartite import leading_of_sparse, some_eigenpairs
from conclust.spectra.transfer_cut import transfer_cut_of_products


def block(size, seed):
    """Return the weights of a connected graph of points in the plane."""
    points = np.random.default_rng(seed).random((size, 2))
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    return np.where(squares < 0.15, np.exp(-squares / 0.02), 0.0)


def bridged(blocks, tie):
    """Return inner products and degrees of a graph whose blocks are tied in a chain."""
    sizes = [len(one) for one in blocks]
    inner = sp.block_diag(blocks).toarray()
    degrees = inner.sum(axis=1)
    firsts = np.cumsum([0, *sizes[:-1]])
    for one, other in pairwise(firsts):
        ends = [one, other]
        inner[np.ix_(ends, ends)] += 0.5 * tie
        degrees[ends] += tie
    return inner, degrees


def matrix(inner, degrees):
    y = 1 / np.sqrt(degrees)
    return inner * y[:, None] * y


@pytest.mark.parametrize("tie", [1e-7, 1e-3])
@pytest.mark.parametrize("k", [4, 6, 15])
@pytest.mark.parametrize("alike", [False, True], ids=["different", "alike"])
def test_parts_that_weak_ties_connect_span_the_leading_eigenvectors(alike, k, tie):
    inner, degrees = bridged([block(60, 0 if alike else seed) for seed in range(6)], tie)
    one, parts = np.zeros(len(degrees), dtype=np.int64), np.repeat(np.arange(6), 60)
    side = transfer_cut_of_products(sp.csr_array(inner), degrees, k, lambda: one, parts=parts)
    E, V, values = matrix(inner, degrees), side.clusters, side.values**2
    np.testing.assert_allclose(V.T @ E @ V, np.diag(values), atol=1e-8)
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-8)
    below = np.linalg.eigvalsh(E)[: -k - 1 : -1] - values
    assert below.min() > -1e-8
    assert below[:6].max() < 1e-5
    assert alike or below.max() < 0.01


@pytest.mark.long
@pytest.mark.parametrize("k", [1, 6, 15])
@pytest.mark.parametrize("alike", [False, True], ids=["different", "alike"])
def test_exact_eigenpairs_equal_the_dense_ones(alike, k):
    E = matrix(*bridged([block(60, 0 if alike else seed) for seed in range(6)], 1e-3))
    expected_values, expected = np.linalg.eigh(E)
    pairs = leading_of_sparse(sp.csr_array(E), k, exactly=True)
    if pairs is None:  # missed, or not converged: the caller uses a dense solver
        assert alike or k < 6
        return
    values, vectors = pairs
    np.testing.assert_allclose(values, expected_values[: -k - 1 : -1], atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-8)
    # Even the vectors that only weak ties separate.
    gaps = np.abs(np.subtract.outer(expected_values, values))
    for column in range(k):
        near = gaps[:, column] < 1e-8
        assert np.linalg.norm(expected[:, near].T @ vectors[:, column]) == pytest.approx(
            1, abs=1e-4
        )


def test_a_missed_copy_of_an_eigenvalue_is_noticed(monkeypatch):
    E = sp.csr_array(matrix(*bridged([block(150, 0)] * 2, 1e-3)))
    solve = bipartite.eigsh

    def without_the_third(matrix, k, **options):
        if k == 1:  # the search for it
            return solve(matrix, k, **options)
        values, vectors = solve(matrix, k + 1, **options)
        left = np.delete(np.arange(k + 1), k - 2)
        return values[left], vectors[:, left]

    assert leading_of_sparse(E, 12, exactly=True) is not None
    monkeypatch.setattr(bipartite, "eigsh", without_the_third)
    assert leading_of_sparse(E, 12) is not None
    assert leading_of_sparse(E, 12, exactly=True) is None


def test_partial_spectra_that_lapack_does_not_find_are_complete():
    # dsyevr fails for some of these complete graphs, and finds no eigenvalue of others.
    for n in range(20, 60):
        graph = (np.ones((n, n)) - np.eye(n)) / (n - 1)
        values, vectors = some_eigenpairs(graph, n - 6, n)
        np.testing.assert_allclose(values, [-1 / (n - 1)] * 5 + [1], atol=1e-12)
        np.testing.assert_allclose(graph @ vectors, vectors * values, atol=1e-12)
