"""Leading eigenvectors of a graph of components with weak ties, beside LAPACK on the whole matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from conclust.spectra import bridged
from conclust.spectra.bridged import leading_of_bridged
from conclust.spectra.transfer_cut import transfer_cut_of_bridged, transfer_cut_of_products


def bridged_graph(sizes, tie, seed):
    """Return inner products of connected blocks, ties between neighbouring blocks, parts and degrees."""
    rng = np.random.default_rng(seed)
    parts = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    n = len(parts)
    inner, ties = np.zeros((n, n)), np.zeros((len(sizes) - 1, n))
    for part in range(len(sizes)):
        rows = np.flatnonzero(parts == part)
        places = rng.random((len(rows), 2))
        squares = ((places[:, None] - places) ** 2).sum(axis=2)
        inner[np.ix_(rows, rows)] = np.where(squares < 0.2, np.exp(-squares / 0.02), 0.0)
    degrees = inner.sum(axis=1)
    for part, row in enumerate(ties):
        ends = [np.flatnonzero(parts == p)[0] for p in (part, part + 1)]
        row[ends] = np.sqrt(0.5 * tie)
        degrees[ends] += tie
    return inner, ties, parts, degrees


@pytest.mark.parametrize("tie", [1e-7, 1e-3, 0.5])
@pytest.mark.parametrize(
    ("sizes", "k"),
    [([40] * 6, 1), ([40] * 6, 4), ([40] * 6, 6), ([40] * 6, 15), ([200] + [20] * 20, 12)],
)
def test_eigenpairs_are_those_of_the_whole_matrix(sizes, k, tie, monkeypatch):
    monkeypatch.setattr(bridged, "_SHARE", 1.0)
    inner, ties, parts, degrees = bridged_graph(sizes, tie, seed=k)
    y = 1 / np.sqrt(degrees)
    E, Z = inner * y[:, None] * y, ties * y
    pairs = leading_of_bridged(sp.csr_array(E), Z, parts, k)
    assert pairs is not None
    expected_values, expected = np.linalg.eigh(E + Z.T @ Z)
    values, vectors = pairs
    np.testing.assert_allclose(values, expected_values[: -k - 1 : -1], atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-10)
    # Each vector alone: even the ones that only weak ties tell apart.
    gaps = np.abs(np.subtract.outer(expected_values, values))
    for column in range(k):
        near = gaps[:, column] < 1e-9
        inside = expected[:, near].T @ vectors[:, column]
        assert np.linalg.norm(inside) == pytest.approx(1.0, abs=1e-6)


def test_the_whole_is_solved_where_blocks_would_not_be_quicker():
    inner, ties, parts, degrees = bridged_graph([100, 10], 1e-3, seed=0)
    y = 1 / np.sqrt(degrees)
    E, Z = sp.csr_array(inner * y[:, None] * y), ties * y
    assert leading_of_bridged(E, Z, parts, 2) is None  # one block is nearly all of it
    inner, ties, parts, degrees = bridged_graph([10] * 6, 1e-3, seed=0)
    y = 1 / np.sqrt(degrees)
    E, Z = sp.csr_array(inner * y[:, None] * y), ties * y
    assert leading_of_bridged(E, Z, parts, 20) is None  # more values than are few


@pytest.mark.parametrize("sizes", [[40] * 6, [200, 20, 20]])
def test_a_transfer_cut_of_a_bridged_graph_is_that_of_its_whole_matrix(sizes):
    inner, ties, parts, degrees = bridged_graph(sizes, 1e-2, seed=3)
    side = transfer_cut_of_bridged(sp.csr_array(inner), ties, parts, degrees, 5)
    whole = transfer_cut_of_products(
        inner + ties.T @ ties, degrees, 5, lambda: np.zeros(len(degrees), dtype=np.int64)
    )
    np.testing.assert_allclose(side.values, whole.values, atol=1e-10)
    np.testing.assert_allclose(np.abs(side.loads), np.abs(whole.loads), atol=1e-7)
    count = len(degrees) + 3
    which = np.sort(np.random.default_rng(0).permutation(count)[: len(degrees)])
    among = side.among(which, count)
    np.testing.assert_array_equal(among.loads[which], side.loads)
    rest = np.setdiff1d(np.arange(count), which)
    assert not among.loads[rest].any()
    assert (among.components[rest] == -1).all()
