"""Merging clusters at the least loss of information: the agglomerative information bottleneck."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

__all__ = ["information_bottleneck"]

# Entries of the columns that are compared at once: they fit in a processor's own cache.
_BLOCK_ENTRIES = 1 << 15


def information_bottleneck(
    rows: NDArray[np.float64], counts: NDArray[np.float64], n_clusters: int
) -> NDArray[np.int64]:
    """Merge columns until `n_clusters` are left, each time at the least loss of information.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, k)
        Non-negative; times `counts` the joint distribution of rows and clusters, but for a factor:
        memberships of objects, or overlaps of clusters with clusters of other partitions.
    counts : ndarray of shape (n_rows,)
        Weight of each row: objects alike, for instance.
    n_clusters : int
        Columns to keep; nothing is merged where there are no more.

    Returns
    -------
    ndarray of int64 of shape (k,)
        The new number of each column, by the first of the columns merged.

    Notes
    -----
    Merging q and r lowers the mutual information of clusters and rows by (P_q + P_r) times the
    Jensen-Shannon divergence of p(x | q) and p(x | r), weighted by the clusters' masses P_q and P_r
    [1]_. Losses that differ by less than 1e-12 of the total information are equal; of equal ones the
    first columns are merged.

    O(n_rows k^2) time.

    References
    ----------
    .. [1] N. Slonim and N. Tishby, "Agglomerative information bottleneck", NIPS 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.similarity import information_bottleneck
    >>> information_bottleneck(np.array([[4.0, 3.0, 0.0], [0.0, 1.0, 5.0]]), np.ones(2), 2)
    array([0, 0, 1])
    """
    k = rows.shape[1]
    columns = np.ascontiguousarray(rows.T, dtype=np.float64)
    content = _contents(columns, counts)
    total = float((columns @ counts).sum())
    loss = np.full((k, k), np.inf)
    if k > n_clusters:
        for q in range(k - 1):
            loss[q, q + 1 :] = _losses(columns, content, counts, q, np.arange(q + 1, k), total)
    group = np.arange(k)
    alive = np.arange(k)
    while len(alive) > n_clusters:
        q, r = divmod(int(np.argmin(loss)), k)
        columns[q] += columns[r]
        content[q] = _contents(columns[q : q + 1], counts)[0]
        loss[r, :] = np.inf
        loss[:, r] = np.inf
        group[group == r] = q
        alive = alive[alive != r]
        others = alive[alive != q]
        values = _losses(columns, content, counts, q, others, total)
        before = others < q
        loss[others[before], q] = values[before]
        loss[q, others[~before]] = values[~before]
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def _contents(columns: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sum_x p log p - P log P of the p(x, q) of clusters: -P times the entropy of p(x|q)."""
    totals = columns @ counts
    # As xlogy, and several times as fast: 0 times the logarithm of anything is 0.
    logs = np.log(np.maximum(columns, np.finfo(np.float64).tiny))
    logs *= columns
    return np.asarray(logs @ counts - xlogy(totals, totals))


def _losses(
    columns: NDArray[np.float64],
    content: NDArray[np.float64],
    counts: NDArray[np.float64],
    q: int,
    others: NDArray[np.int64],
    total: float,
) -> NDArray[np.float64]:
    """Return the loss by merging a column with each of some others, as a share of the total.

    Parameters
    ----------
    columns : ndarray of shape (n_clusters, n_rows)
        p(x, q) of each cluster q.
    content : ndarray of shape (n_clusters,)
        `_contents` of each.
    counts : ndarray of shape (n_rows,)
        Weight of each row x.
    q : int
        The cluster.
    others : ndarray of int64
        Those that it may merge with.
    total : float
        All the information there is.
    """
    step = max(1, _BLOCK_ENTRIES // max(1, columns.shape[1]))
    found = np.empty(len(others))
    for start in range(0, len(others), step):
        some = others[start : start + step]
        together = _contents(columns[some] + columns[q], counts)
        found[start : start + step] = content[q] + content[some] - together
    # Rounding would decide between losses that are equal on paper.
    return np.round(np.maximum(found, 0.0) / (total if total > 0 else 1.0), 12)
