"""The bipartite graph of objects and clusters: B diag(w), read in blocks and as sums, never as one matrix.

The labels of hard partitions say which entries of B are 1: rows of B times a table, and sums over the
objects of clusters, are found from them by kernels, in memory of the labels. Soft members and other graphs
have a sparse matrix.

The largest eigenvalues of a symmetric matrix, and their vectors, are found by LAPACK for small ones, else by Lanczos.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator, eigsh

from conclust._kernels import cluster_sums, indicator_rows, sparse_gram, weighted_gram
from conclust._progress import rounds
from conclust._threads import thread_count
from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import DENSE
from conclust.ensemble.labels import indicator_of, one_hot
from conclust.exceptions import InputError

# Number of objects in a block.
_BLOCK = 1 << 14
# A matrix whose share of non-zero entries is at least 1 in this number is multiplied as a dense one.
_FULL = 4
# Relative difference below which numbers are equal up to rounding.
_EQUAL = 1e-12


@dataclass(frozen=True)
class LabelEdges:
    """The edges of hard partitions: from an object to each of its clusters, with the cluster's weight.

    Attributes
    ----------
    ensemble : Ensemble
        Hard partitions. Their weights do not enter by themselves.
    weights : ndarray of shape (T,)
        Weights of the clusters.
    """

    ensemble: Ensemble
    weights: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """(n, T)."""
        return self.ensemble.n_samples, len(self.weights)

    def rows(self, table: Floats, some: slice, *, unit: bool = False) -> Floats:
        """Return rows of the product of B and `table`; with `unit` scaled to length 1, except rows of zeros."""
        begin, end, _ = some.indices(self.ensemble.n_samples)
        out = np.empty((max(0, end - begin), table.shape[1]))
        weighed = np.ascontiguousarray(table * self.weights[:, None])
        indicator_rows(self.ensemble.label_view, weighed, begin, unit, out)
        return out

    def times(self, values: Floats) -> Floats:
        """Return B values, (n,)."""
        return self.rows(values[:, None], slice(None))[:, 0]

    def squares(self) -> Floats:
        """Return the squared length of each row of B, (n,)."""
        return self.times(self.weights)

    def sums(self, values: Floats | None = None) -> Floats:
        """Return B' values, (T,); None stands for ones."""
        if values is None:
            return np.asarray(self.weights * self.ensemble.cluster_sizes)
        column = np.empty((len(self.weights), 1))
        cluster_sums(self.ensemble.label_view, np.ascontiguousarray(values), None, column)
        return np.asarray(self.weights * column[:, 0])

    def inner(self, mass: Floats) -> Floats:
        """Return B' diag(mass) B, (T, T)."""
        T = len(self.weights)
        if T <= DENSE and np.ptp(mass) <= _EQUAL * mass.max():
            G: Floats = self.ensemble.gram.toarray() * mass.max()
        else:
            G = np.empty((T, T))
            weighted_gram(
                self.ensemble.label_view, np.ascontiguousarray(mass), G, thread_count(None)
            )
        G *= self.weights[:, None]
        G *= self.weights
        return G

    def shares(self, parts: Ints, k: int) -> Floats:
        """Return the weight of the edges from each of k parts of the objects to each cluster, (T, k)."""
        sums = np.empty((len(self.weights), k))
        cluster_sums(
            self.ensemble.label_view, None, np.ascontiguousarray(parts, dtype=np.int64), sums
        )
        return np.asarray(sums * self.weights[:, None])

    def matrix(self) -> sp.csr_array:
        """Return B."""
        return self._weighed(indicator_of(self.ensemble.codes, self.ensemble.offsets))

    def blocks(self) -> Iterator[sp.csr_array]:
        """Yield B in blocks of rows."""
        for begin in range(0, self.ensemble.n_samples, _BLOCK):
            codes = self.ensemble.codes[begin : begin + _BLOCK]
            yield self._weighed(indicator_of(codes, self.ensemble.offsets))

    def part(self, objects: Ints) -> LabelEdges:
        """Return the edges of some objects."""
        return LabelEdges(self.ensemble.part(objects), self.weights)

    def _weighed(self, B: sp.csr_array) -> sp.csr_array:
        B.data *= self.weights[B.indices]
        return B


@dataclass(frozen=True)
class MatrixEdges:
    """Edges in a sparse matrix.

    Attributes
    ----------
    B : csr_array of shape (n, T)
        Their weights.
    """

    B: sp.csr_array

    @cached_property
    def _across(self) -> sp.csr_array:
        return sp.csr_array(self.B.T)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, T)."""
        n, T = self.B.shape
        return int(n), int(T)

    def rows(self, table: Floats, some: slice, *, unit: bool = False) -> Floats:
        """Return rows of the product of B and `table`; with `unit` scaled to length 1, except rows of zeros."""
        products = np.asarray(self.B[some] @ np.ascontiguousarray(table))
        return unit_rows(products) if unit else products

    def times(self, values: Floats) -> Floats:
        """Return B values, (n,)."""
        return np.asarray(self.B @ values)

    def squares(self) -> Floats:
        """Return the squared length of each row of B, (n,)."""
        return np.asarray(self.B.power(2).sum(axis=1), dtype=np.float64).ravel()

    def sums(self, values: Floats | None = None) -> Floats:
        """Return B' values, (T,); None stands for ones."""
        if values is None:
            return np.asarray(self.B.sum(axis=0), dtype=np.float64).ravel()
        return np.asarray(self._across @ values)

    def inner(self, mass: Floats) -> Floats:
        """Return B' diag(mass) B, (T, T)."""
        B, root = self.B, np.sqrt(mass)
        n, T = self.shape
        if _FULL * B.nnz > n * T:
            whole = B.toarray() * root[:, None]
            return np.asarray(whole.T @ whole)
        G = np.empty((T, T))
        starts, columns = B.indptr.astype(np.int64), B.indices.astype(np.int32, copy=False)
        sparse_gram(starts, columns, B.data.astype(np.float64, copy=False), root, G)
        return G

    def shares(self, parts: Ints, k: int) -> Floats:
        """Return the weight of the edges from each of k parts of the objects to each cluster, (T, k)."""
        return np.asarray((self.B.T @ one_hot(parts, k)).toarray())

    def matrix(self) -> sp.csr_array:
        """Return B."""
        return self.B

    def blocks(self) -> Iterator[sp.csr_array]:
        """Yield B in blocks of rows."""
        for begin in range(0, self.B.shape[0], _BLOCK):
            yield self.B[begin : begin + _BLOCK]

    def part(self, objects: Ints) -> MatrixEdges:
        """Return the edges of some objects."""
        return MatrixEdges(sp.csr_array(self.B[objects]))


# Weights of the edges between objects and clusters: a matrix B (n, T), non-negative.
Edges: TypeAlias = LabelEdges | MatrixEdges


def edges_of(ensemble: Ensemble, cluster_weights: Floats | None = None) -> Edges:
    """Return the graph of an ensemble: its indicator, with clusters weighted by their partitions and optional factors.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions, hard or soft.
    cluster_weights : ndarray of shape (T,), default=None
        Beside the weights of the partitions.
    """
    weights = ensemble.column_weights
    if cluster_weights is not None:
        weights = weights * cluster_weights
    if not ensemble.is_soft:
        return LabelEdges(ensemble, np.asarray(weights, dtype=np.float64))
    return MatrixEdges(sp.csr_array(ensemble.indicator @ sp.diags_array(weights)))


def unit_rows(rows: Floats) -> Floats:
    """Scale rows to unit length; rows of zeros are unchanged."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    # Below this a row is the rounding error of one that is 0 on paper.
    norms[norms < 1e-12] = np.inf
    return np.asarray(rows / norms[:, None])


# Matrices up to this size are solved densely; Lanczos finds a few eigenvectors of larger ones.
_WHOLE = 1_500
# The same for sparse matrices, and where eigenvalues are to be exact.
_SMALL, _EXACT = 100, 200
# Maximum size of matrices solved densely if Lanczos does not converge: 72 MB.
_WHOLE_AT_LAST = 3_000
# Relative error of eigenvalues, which is the square of that of vectors.
_ERROR = 1e-6
# The difference above which a missed eigenvalue is reported.
_APART = 1e-6


def is_small(n: int) -> bool:
    """Return whether a matrix of n rows is solved densely."""
    return n <= _WHOLE


def leading(E: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues in decreasing order, and their vectors."""
    n = len(E)
    k = min(k, n)
    if n <= _WHOLE or 4 * k > n:
        return solved_densely(E, k)
    return lanczos(E, n, k, np.random.default_rng(n).standard_normal(n))


def solved_densely(E: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the same by LAPACK."""
    n = len(E)
    values, vectors = some_eigenpairs(E, n - k, n)
    return values[::-1], vectors[:, ::-1]


def some_eigenpairs(E: Floats, begin: int, end: int) -> tuple[Floats, Floats]:
    """Return the eigenvalues from number `begin` to before `end`, rising, and their vectors."""
    # LAPACK's partial spectrum can be empty, or fail, if many eigenvalues are equal: a complete graph, or nearly
    # disconnected blocks.
    with contextlib.suppress(np.linalg.LinAlgError):
        values, vectors = scipy.linalg.eigh(E, subset_by_index=(begin, end - 1))
        if len(values) == end - begin:
            return values, vectors
    values, vectors = scipy.linalg.eigh(E)
    return values[begin:end], vectors[:, begin:end]


def leading_of_sparse(
    E: sp.csr_array | LinearOperator, k: int, *, known: Floats | None = None, exactly: bool = False
) -> tuple[Floats, Floats] | None:
    """Return the same for a sparse matrix or its products; None if a dense solver is as fast or more reliable.

    known: orthonormal vectors (n, c) that span leading eigenvectors up to small changes, as those of the parts of a graph that weak
    ties connect do: Lanczos searches beside them, and Rayleigh-Ritz combines all. exactly: the eigenvalues up to rounding, though
    many may be equal. Lanczos can miss one of them, so a second run searches for it.
    """
    n = E.shape[0]
    if n < (_EXACT if exactly else _SMALL) or 4 * k > n:
        return None
    rng = np.random.default_rng(n)

    def beside(held: Floats, k: int, **options: Any) -> tuple[Floats, Floats]:
        def product(v: Floats) -> Floats:
            v = E @ v.ravel()
            return np.asarray(v - held @ (v @ held) if held.size else v)

        start = rng.standard_normal(n)
        start -= held @ (start @ held)
        operator: Any = LinearOperator((n, n), matvec=product, dtype=float)
        return eigsh(operator, k, which="LA", v0=start, **options)  # type: ignore[no-any-return]

    vectors = held = np.empty((n, 0)) if known is None else known
    more = k - held.shape[1]
    try:
        if more > 0:
            tol = 1e-14 if exactly else _ERROR**0.5
            values, vectors = beside(held, more, ncv=more + more // 2 + 15, maxiter=100, tol=tol)
        if exactly:
            missed = beside(vectors, 1, ncv=20, maxiter=20, tol=1e-2)[0]
            if missed[0] > values.min() + _APART:
                return None
    except ArpackNoConvergence:
        return None
    if known is None:
        return _decreasing(values, vectors)
    both = np.column_stack([known, vectors]) if more > 0 else known
    values, mixed = np.linalg.eigh(both.T @ (E @ both))
    return values[: -k - 1 : -1], both @ mixed[:, : -k - 1 : -1]


def _decreasing(values: Floats, vectors: Floats) -> tuple[Floats, Floats]:
    """Return eigenpairs in decreasing order of the values."""
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def lanczos(operator: Any, n: int, k: int, start: Floats) -> tuple[Floats, Floats]:
    """Return the same by Lanczos iterations from a start, of anything that multiplies vectors (n,)."""
    inner, products = aslinearoperator(operator), 0

    def product(v: Floats) -> Floats:
        nonlocal products
        products += 1
        rounds("products with the graph", products)
        return np.asarray(inner.matvec(v))

    counting: Any = LinearOperator((n, n), matvec=product, dtype=float)
    try:
        values, vectors = eigsh(
            counting, k, which="LA", v0=start, ncv=min(n - 1, 2 * k + 30), maxiter=300, tol=_ERROR
        )
    except ArpackNoConvergence as error:
        if n <= _WHOLE_AT_LAST:
            E = np.column_stack([product(unit) for unit in np.eye(n)])
            return solved_densely(0.5 * (E + E.T), k)
        # The converged eigenvectors are an embedding of fewer dimensions.
        values, vectors = error.eigenvalues, error.eigenvectors
        if len(values) == 0:
            raise InputError(
                f"No eigenvector of a graph with {n:,} vertices converged, as its leading eigenvalues are too "
                "close to each other. Use a method without a spectral embedding."
            ) from error
    return _decreasing(values, vectors)
