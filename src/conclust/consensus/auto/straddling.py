"""Straddling: whether the clusters of fine partitions lie across the borders of a partition."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._kernels import cluster_sums
from conclust.ensemble import Ensemble

__all__ = ["Straddling", "fine_partitions"]


def fine_partitions(ensemble: Ensemble) -> NDArray[np.int64]:
    """Return the partitions with at least the median number of clusters, of those that count."""
    counting = ensemble.partition_weights > 0
    counts = ensemble.cluster_counts
    return np.flatnonzero(counting & (counts >= np.median(counts[counting])))


class Straddling:
    """Measures how far clusters of some partitions lie across the borders of another partition.

    A cluster C of a member and a cluster A of the partition fit if one holds the other, or they
    share nothing. Other overlaps are summed, and divided by their sum if all clusters were
    independent::

        ``sum of |A & C| min(1 - |A & C| / |A|, 1 - |A & C| / |C|)``
        ``/ sum of |A| |C| / n min(1 - |C| / n, 1 - |A| / n)``

    over all A and C, and all members by their weights.

    Parameters
    ----------
    ensemble : Ensemble
        The members.
    partitions : ndarray of int
        Members to examine.

    Notes
    -----
    Clusters that a gap separates are cut apart by every partition that is fine enough; borders drawn
    through the middle of a crowd are elsewhere in each of them.
    """

    def __init__(self, ensemble: Ensemble, partitions: NDArray[np.int64]) -> None:
        partition_of = ensemble.column_partitions
        examined = np.zeros(ensemble.n_partitions, dtype=np.bool_)
        examined[partitions] = True
        columns = np.flatnonzero(examined[partition_of])
        self._ensemble, self._columns = ensemble, columns
        self._partition_of = partition_of[columns]
        self._weights = ensemble.partition_weights[self._partition_of]
        self._present = ensemble.present.astype(np.float64) if ensemble.has_missing else None

    def of(self, labels: NDArray[np.int64]) -> float:
        """Return the straddling of a partition.

        Parameters
        ----------
        labels : ndarray of int64 of shape (n_samples,)
            The partition: 0 to K - 1 for its objects.

        Returns
        -------
        float
            0 where every cluster of the members is within one of the partition, or made of whole ones;
            about 1 where members and partition have nothing to do with each other. 0 for one cluster.
        """
        K = int(labels.max()) + 1
        if K == 1:
            return 0.0
        shared = self._shared(labels, K)
        observed = self._observed(labels, K)
        total = observed.sum(axis=0)
        size = shared.sum(axis=0)
        nonempty = size > 0
        shared, observed, total, size = (
            shared[:, nonempty],
            observed[:, nonempty],
            total[nonempty],
            size[nonempty],
        )
        weight = self._weights[nonempty] / total
        of_own = np.divide(shared, observed, out=np.zeros_like(shared), where=observed > 0)
        straddled = shared * np.minimum(1.0 - of_own, 1.0 - shared / size)
        expected = (
            observed * (size / total) * np.minimum(1.0 - size / total, 1.0 - observed / total)
        )
        chance = float(expected.sum(axis=0) @ weight)
        return max(0.0, float(straddled.sum(axis=0) @ weight)) / chance if chance > 0 else 0.0

    def _shared(self, labels: NDArray[np.int64], K: int) -> NDArray[np.float64]:
        """Return how many objects, or how much membership, each cluster shares with each column (K, n_columns)."""
        ensemble = self._ensemble
        if ensemble.is_soft:
            return np.asarray((_members(labels, K) @ ensemble.indicator).toarray())[
                :, self._columns
            ]
        sums = np.empty((len(ensemble.column_partitions), K))
        cluster_sums(ensemble.label_view, None, labels, sums)
        return np.ascontiguousarray(sums[self._columns].T)

    def _observed(self, labels: NDArray[np.int64], K: int) -> NDArray[Any]:
        """Return how many objects of each cluster the partition of each column has observed."""
        if self._present is None:
            sizes = np.bincount(labels, minlength=K)
            return np.repeat(sizes[:, np.newaxis], len(self._partition_of), axis=1)
        return np.asarray(_members(labels, K) @ self._present)[:, self._partition_of]


def _members(labels: NDArray[np.int64], K: int) -> sp.csr_array:
    """Return which objects each cluster has, (K, n)."""
    n = len(labels)
    return sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(K, n))
