"""The bipartite graph of objects and clusters: B diag(w), read in blocks and as sums, never as one matrix.

The labels of hard partitions say which entries of B are 1: rows of B times a table, and sums over the
objects of clusters, are found from them by kernels, in memory of the labels. Soft members and other graphs
have a sparse matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from conclust._kernels import cluster_sums, indicator_rows, sparse_gram, weighted_gram
from conclust._threads import thread_count
from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import indicator_of, one_hot
from conclust.ensemble.products import DENSE

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
