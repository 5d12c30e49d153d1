"""Products with the indicator B (n, T), which is not made of hard labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from conclust._kernels import cluster_row_sums, indicator_rows
from conclust._types import Floats
from conclust.ensemble import Ensemble


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
