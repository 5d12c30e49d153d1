"""Merging clusters at the least loss of information: the agglomerative information bottleneck."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from conclust._kernels import common_contents

__all__ = ["information_bottleneck"]


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

    O(n_rows k^2) time, with logarithms only where two columns are both above 0: elsewhere merging
    loses nothing but what their masses say.

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
    counts = np.ascontiguousarray(counts, dtype=np.float64)
    clusters = _Clusters.of(np.array(rows.T, dtype=np.float64, order="C"), counts)
    loss = np.full((k, k), np.inf)
    if k > n_clusters:
        for q in range(k - 1):
            loss[q, q + 1 :] = clusters.losses(q, np.arange(q + 1, k))
    group = np.arange(k)
    alive = np.arange(k)
    while len(alive) > n_clusters:
        q, r = divmod(int(np.argmin(loss)), k)
        clusters.merge(q, r)
        loss[r, :] = np.inf
        loss[:, r] = np.inf
        group[group == r] = q
        alive = alive[alive != r]
        others = alive[alive != q]
        values = clusters.losses(q, others)
        before = others < q
        loss[others[before], q] = values[before]
        loss[q, others[~before]] = values[~before]
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True)
class _Clusters:
    """Joint distributions of clusters and rows.

    Attributes
    ----------
    columns : ndarray of shape (n_clusters, n_rows)
        p(x, q) of each cluster q.
    counts : ndarray of shape (n_rows,)
        Weight of each row x.
    masses : ndarray of shape (n_clusters,)
        P_q: the sum of p.
    contents : ndarray of shape (n_clusters,)
        The sum of p log p.
    total : float
        The mass of all.
    """

    columns: NDArray[np.float64]
    counts: NDArray[np.float64]
    masses: NDArray[np.float64]
    contents: NDArray[np.float64]
    total: float

    @classmethod
    def of(cls, columns: NDArray[np.float64], counts: NDArray[np.float64]) -> _Clusters:
        """Sum up the columns, which are kept and changed."""
        masses = columns @ counts
        return cls(columns, counts, masses, _contents(columns, counts), float(masses.sum()))

    def merge(self, q: int, r: int) -> None:
        """Add cluster r to cluster q."""
        self.columns[q] += self.columns[r]
        self.masses[q] += self.masses[r]
        self.contents[q] = _contents(self.columns[q : q + 1], self.counts)[0]

    def losses(self, q: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the loss by merging a cluster with each of some others, as a share of the total."""
        found = np.empty(len(others))
        common_contents(self.columns, self.counts, self.contents, q, others, found)
        own, theirs = self.masses[q], self.masses[others]
        found += xlogy(own + theirs, own + theirs) - xlogy(own, own) - xlogy(theirs, theirs)
        # Rounding would decide between losses that are equal on paper.
        return np.round(np.maximum(found, 0.0) / (self.total if self.total > 0 else 1.0), 12)


def _contents(columns: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of p log p of each row of `columns`."""
    # As xlogy, and several times as fast: 0 times the logarithm of anything is 0.
    logs = np.log(np.maximum(columns, np.finfo(np.float64).tiny))
    logs *= columns
    return np.asarray(logs @ counts)
