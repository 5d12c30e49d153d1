"""Straddling: whether the clusters of fine partitions lie across the borders of a partition."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust.ensemble import Ensemble

__all__ = ["fine_partitions", "straddling"]


def fine_partitions(ensemble: Ensemble) -> NDArray[np.int64]:
    """Return the partitions with at least the median number of clusters, of those that count."""
    counting = ensemble.partition_weights > 0
    counts = ensemble.cluster_counts
    return np.flatnonzero(counting & (counts >= np.median(counts[counting])))


def straddling(
    ensemble: Ensemble, labels: NDArray[np.int64], partitions: NDArray[np.int64]
) -> float:
    """Measure how far clusters of the given partitions lie across the borders of a partition.

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
    labels : ndarray of int64 of shape (n_samples,)
        The partition: 0 to K - 1 for its objects.
    partitions : ndarray of int
        Members to examine.

    Returns
    -------
    float
        0 where every cluster of the members is within one of the partition, or made of whole ones;
        about 1 where members and partition have nothing to do with each other. 0 for one cluster.

    Notes
    -----
    Clusters that a gap separates are cut apart by every partition that is fine enough; borders drawn
    through the middle of a crowd are elsewhere in each of them.
    """
    K = int(labels.max()) + 1
    if K == 1:
        return 0.0
    partition_of = ensemble.column_partitions
    n = len(labels)
    member_of = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(K, n))
    looked_at = np.zeros(ensemble.n_partitions, dtype=np.bool_)
    looked_at[partitions] = True
    columns = np.flatnonzero(looked_at[partition_of])
    shared = np.asarray((member_of @ ensemble.indicator).toarray())[:, columns]
    if ensemble.has_missing:
        observed = np.asarray(member_of @ ensemble.present.astype(np.float64))[
            :, partition_of[columns]
        ]
    else:
        observed = np.repeat(np.bincount(labels, minlength=K)[:, None], len(columns), axis=1)
    total = observed.sum(axis=0)
    size = shared.sum(axis=0)
    nonempty = size > 0
    shared, observed, total, size = (
        shared[:, nonempty],
        observed[:, nonempty],
        total[nonempty],
        size[nonempty],
    )
    weight = ensemble.partition_weights[partition_of[columns[nonempty]]] / total
    of_own = np.divide(shared, observed, out=np.zeros_like(shared), where=observed > 0)
    straddled = shared * np.minimum(1.0 - of_own, 1.0 - shared / size)
    expected = observed * (size / total) * np.minimum(1.0 - size / total, 1.0 - observed / total)
    chance = float(expected.sum(axis=0) @ weight)
    return max(0.0, float(straddled.sum(axis=0) @ weight)) / chance if chance > 0 else 0.0
