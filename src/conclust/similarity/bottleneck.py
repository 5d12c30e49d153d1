"""Merging clusters with minimum loss of information: the agglomerative information bottleneck."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from conclust._arrays.containers import number_array
from conclust._kernels import common_contents
from conclust._types import Floats, Ints
from conclust._validation import check_int
from conclust.exceptions import InputError


def information_bottleneck(rows: Floats, counts: Floats, n_clusters: int) -> Ints:
    """Merge columns until `n_clusters` are left, each time with the minimum loss of information.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, k)
        Non-negative; times `counts`, the joint distribution of rows and clusters up to a factor:
        memberships of objects, or overlaps of clusters with clusters of other partitions.
    counts : ndarray of shape (n_rows,)
        Weight of each row, for instance the number of equal objects.
    n_clusters : int
        Number of columns to keep; nothing is merged if there are no more.

    Returns
    -------
    ndarray of int64 of shape (k,)
        The new number of each column, by the first of the columns merged.

    Raises
    ------
    InputError
        If there is not a count for each row, or no column.

    Notes
    -----
    Merging q and r lowers the mutual information of clusters and rows by (P_q + P_r) times the
    Jensen-Shannon divergence of p(x | q) and p(x | r), weighted by the clusters' masses P_q and P_r
    [1]_. Losses that differ by less than 1e-12 of the total information are equal; among equal ones the
    first columns are merged.

    O(n_rows k^2) time, with logarithms only where both columns are above 0: elsewhere the loss depends only on their masses.

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
    rows, counts = _numbers(rows, 2), np.ascontiguousarray(_numbers(counts, 1))
    check_int(n_clusters, "n_clusters", "information_bottleneck")
    if counts.shape != (len(rows),) or not rows.size:
        raise InputError(
            f"information_bottleneck needs a count for each of {len(rows)} rows, and at least one column. Got "
            f"rows of shape {rows.shape} and counts of shape {counts.shape}."
        )
    columns = np.array(rows.T, order="C")
    contents = _contents(columns, counts)

    def common(group: Ints, q: int, r: int) -> Floats:
        columns[q] += columns[r]
        contents[q] = _contents(columns[q : q + 1], counts)[0]
        others = np.setdiff1d(group, [q])
        information = np.zeros(len(group))
        information[others] = _common(columns, counts, contents, q, others)
        return information

    merging = Merging.begin(columns @ counts, n_clusters, lambda: common_of_pairs(columns, counts))
    while merging.left > n_clusters:
        merging = merging.merged(common)
    return merging.numbers


def _numbers(values: Any, ndim: int) -> Floats:
    """Return non-negative finite numbers as an array."""
    array = number_array(values, "The arrays of information_bottleneck")
    if array.ndim != ndim or not (np.isfinite(array).all() and (array >= 0).all()):
        raise InputError(
            f"information_bottleneck needs an array of {ndim} dimensions of finite numbers from 0 on. Got "
            f"shape {array.shape}."
        )
    return array


@dataclass(frozen=True)
class Merging:
    """Columns merged so far, and the loss of each next merge. Stores sums over rows instead of rows.

    Attributes
    ----------
    group : ndarray of int64 of shape (k,)
        The first of the columns that each column was merged with.
    masses : ndarray of shape (k,)
        The mass of each group, at its first column.
    total : float
        The mass of all.
    loss : ndarray of shape (k, k)
        Loss of merging two groups, as a share of the total; infinite where there are no two.
    """

    group: Ints
    masses: Floats
    total: float
    loss: Floats

    @classmethod
    def begin(cls, masses: Floats, n_clusters: int, common: Callable[[], Floats]) -> Merging:
        """Merge nothing yet.

        Parameters
        ----------
        masses : ndarray of shape (k,)
            Masses of the columns.
        n_clusters : int
            Number of clusters to leave.
        common : callable
            Gives `common_of_pairs`; called only if there is anything to merge.
        """
        k = len(masses)
        merging = cls(np.arange(k), masses, float(masses.sum()), np.full((k, k), np.inf))
        if k > n_clusters:
            information = common()
            for q in range(k - 1):
                others = np.arange(q + 1, k)
                merging.loss[q, others] = merging._losses(information[q, others], q, others)
        return merging

    @property
    def left(self) -> int:
        """Number of groups."""
        return len(np.unique(self.group))

    @property
    def numbers(self) -> Ints:
        """The number of each column's group, by their first columns."""
        return np.unique(self.group, return_inverse=True)[1].astype(np.int64)

    def merged(self, common: Callable[[Ints, int, int], Floats]) -> Merging:
        """Merge the two groups with the smallest loss.

        Parameters
        ----------
        common : callable
            ``common(group, q, r)``: what the group of column q, to which that of r was added, has in
            common with each other group, (k,): see `common_of_pairs`.
        """
        k = len(self.group)
        q, r = divmod(int(np.argmin(self.loss)), k)
        group, masses, loss = self.group.copy(), self.masses.copy(), self.loss.copy()
        group[group == r] = q
        masses[q] += masses[r]
        loss[r, :] = np.inf
        loss[:, r] = np.inf
        after = Merging(group, masses, self.total, loss)
        others = np.setdiff1d(group, [q])
        values = after._losses(common(group, q, r)[others], q, others)
        before = others < q
        loss[others[before], q] = values[before]
        loss[q, others[~before]] = values[~before]
        return after

    def _losses(self, common: Floats, q: int, others: Ints) -> Floats:
        """Return the loss by merging a group with each of some others, as a share of the total."""
        from scipy.special import xlogy

        mass, masses = self.masses[q], self.masses[others]
        losses = common + (
            xlogy(mass + masses, mass + masses) - xlogy(mass, mass) - xlogy(masses, masses)
        )
        # Otherwise rounding errors would decide between losses that are equal on paper.
        share = np.maximum(losses, 0.0) / (self.total if self.total > 0 else 1.0)
        return np.asarray(np.round(share, 12))


def common_of_pairs(columns: Floats, counts: Floats) -> Floats:
    """Return the common information of all pairs of columns, (k, k), above the diagonal.

    That is the sum over rows, times their counts, of p log p + q log q - (p + q) log(p + q).

    Parameters
    ----------
    columns : ndarray of shape (k, n_rows)
        The columns, one a row.
    counts : ndarray of shape (n_rows,)
        Weight of each row.
    """
    k = len(columns)
    contents = _contents(columns, counts)
    information = np.zeros((k, k))
    for q in range(k - 1):
        others = np.arange(q + 1, k)
        information[q, others] = _common(columns, counts, contents, q, others)
    return information


def common_of_one(columns: Floats, counts: Floats, q: int, others: Ints) -> Floats:
    """Return the common information of a column with each of some others: see `common_of_pairs`."""
    contents = np.zeros(len(columns))
    contents[others] = _contents(columns[others], counts)
    return _common(columns, counts, contents, q, others)


def _common(columns: Floats, counts: Floats, contents: Floats, q: int, others: Ints) -> Floats:
    information = np.empty(len(others))
    common_contents(columns, counts, contents, q, others, information)
    return information


def _contents(columns: Floats, counts: Floats) -> Floats:
    """Return the sum of p log p of each row of `columns`."""
    # Same as xlogy but several times as fast; 0 times the logarithm of any number is 0.
    logs = np.log(np.maximum(columns, np.finfo(np.float64).tiny))
    logs *= columns
    return np.asarray(logs @ counts)
