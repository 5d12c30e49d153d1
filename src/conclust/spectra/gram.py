"""Products with the indicator B (n, T) of hard labels, and B'B (T, T), without storing them if they are large.

B'B has the contingency tables of all pairs of partitions. A thousand partitions of a hundred objects have a B'B of
10 million numbers from 0.1 million labels. Up to a size it is ``Ensemble.gram``, counted once and kept; beyond it is
read a block at a time, or as products with B.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from conclust._arrays.rows import inverse_or_zero
from conclust._kernels import cluster_row_sums, indicator_rows
from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import Derived, counted_rows

# Maximum number of entries of B'B in memory, whole or as a block.
_ENTRIES = 1 << 24
_BLOCK = 1 << 22


@dataclass(frozen=True)
class IndicatorProducts:
    """Products with B and with W B', W being weights of clusters, to the bits of products with sparse matrices.

    Those are made of soft partitions only.

    Attributes
    ----------
    ensemble : Ensemble
        The partitions.
    weights : ndarray of shape (T,)
        Diagonal of W.
    """

    ensemble: Ensemble
    weights: Floats

    @classmethod
    def of(cls, ensemble: Ensemble, weights: Floats | None = None) -> IndicatorProducts:
        """Return the products with these weights; None stands for ones."""
        total = int(ensemble.offsets[-1])
        return cls(ensemble, np.ones(total) if weights is None else np.ascontiguousarray(weights))

    def times(self, table: Floats) -> Floats:
        """Return B table (n, k)."""
        if self.ensemble.is_soft:
            return np.asarray(self.ensemble.indicator @ table)
        out = np.empty((self.ensemble.n_samples, table.shape[1]))
        indicator_rows(self.ensemble.label_view, np.ascontiguousarray(table), 0, False, out)
        return out

    def sums(self, rows: Floats) -> Floats:
        """Return W B' rows (T, k)."""
        if self.ensemble.is_soft:
            return np.asarray(self._transposed @ rows)
        out = np.empty((len(self.weights), rows.shape[1]))
        cluster_row_sums(self.ensemble.label_view, self.weights, np.ascontiguousarray(rows), out)
        return out

    @cached_property
    def _transposed(self) -> sp.csr_array:
        return sp.csr_array((self.ensemble.indicator * self.weights).T)


@dataclass(frozen=True)
class GramBlock:
    """The rows of B'B that belong to some partitions.

    Attributes
    ----------
    partitions : slice
        Partitions to read.
    rows : slice
        Rows of their clusters.
    gram : csr_array of shape (rows, T)
        The rows.
    """

    partitions: slice
    rows: slice
    gram: sp.csr_array


def is_held(ensemble: Derived) -> bool:
    """Return whether ``Ensemble.gram`` is small enough to be stored; for labels in blocks it always is."""
    return bool(ensemble.gram_entries <= _ENTRIES) or not ensemble.is_held


def gram_blocks(ensemble: Derived, mass: Floats | None = None) -> Iterator[GramBlock]:
    """Yield B'B, or B' diag(mass) B, by the rows of whole partitions: all at once if it is small."""
    offsets, m = ensemble.offsets, ensemble.n_partitions
    total = int(offsets[-1])
    if mass is None and is_held(ensemble):
        yield GramBlock(slice(0, m), slice(0, total), ensemble.gram)
        return
    transposed: sp.csr_array | None = None
    room = total if is_held(ensemble) else max(1, _BLOCK // total)
    for partitions, rows in runs_of_partitions(offsets, room):
        height = rows.stop - rows.start
        if mass is None and _is_dense(ensemble, height, partitions.stop - partitions.start):
            yield GramBlock(partitions, rows, counted_rows(ensemble.label_view, partitions, height))
            continue
        if transposed is None:
            B = ensemble.indicator
            other = B if mass is None else sp.csr_array(B.multiply(mass[:, np.newaxis]))
            transposed = sp.csr_array(B.T)
        yield GramBlock(partitions, rows, sp.csr_array(transposed[rows] @ other))


def _is_dense(ensemble: Derived, height: int, n_partitions: int) -> bool:
    """Return whether rows of B'B of some partitions have fewer entries, zeros included, than counts are added up."""
    if ensemble.is_soft:
        return False
    entries = height * int(ensemble.offsets[-1])
    return entries <= min(_ENTRIES, ensemble.n_samples * ensemble.n_partitions * n_partitions)


def runs_of_partitions(offsets: Ints, room: int) -> Iterator[tuple[slice, slice]]:
    """Yield consecutive partitions with at most `room` clusters altogether, at least one, and their clusters."""
    first, m = 0, len(offsets) - 1
    while first < m:
        last = int(np.searchsorted(offsets, offsets[first] + room, "right")) - 1
        last = min(m, max(first + 1, last))
        yield slice(first, last), slice(int(offsets[first]), int(offsets[last]))
        first = last


def scaled_gram_norm(ensemble: Ensemble, scale: Floats) -> float:
    """Return the squared norm of diag(scale) B'B diag(scale)."""
    total = 0.0
    columns = sp.diags_array(scale)
    for block in gram_blocks(ensemble):
        scaled = sp.csr_array(sp.diags_array(scale[block.rows]) @ block.gram @ columns)
        total += float((scaled.data**2).sum())
    return total


# Entries of a block of products.
_FORMS_AT_ONCE = 1 << 22


def averaging_indicator(ensemble: Ensemble) -> sp.csr_array:
    """Return the indicator (n, T) with each object's partition weights scaled to sum to 1.

    b_i' C b_j is then the mean of C over the clusters of i and j. A noise object has no cluster in its
    partition, which makes its mean smaller.
    """
    B = ensemble.indicator
    share = inverse_or_zero(ensemble.observed_weights)
    return sp.csr_array(sp.diags_array(share) @ B @ sp.diags_array(ensemble.column_weights))


def quadratic_forms(V: sp.csr_array, W: sp.csr_array | Floats) -> Floats:
    """Return v_i' W v_i of all rows of V, for a symmetric W, some rows at a time."""
    n, T = V.shape
    values = np.empty(n)
    step = max(1, _FORMS_AT_ONCE // max(1, T))
    for begin in range(0, n, step):
        some = V[begin : begin + step]
        values[begin : begin + step] = sp.csr_array(some.multiply(some @ W)).sum(axis=1)
    return values
