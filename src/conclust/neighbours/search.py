"""The nearest neighbours of points: if there are many, a query is compared only with the points of nearby cells."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import number_array, refuse_gaps
from conclust._arrays.rows import EqualRows
from conclust._kernels import label_block, nearest_points
from conclust._random import generator
from conclust._threads import thread_count
from conclust._types import Floats, Ints
from conclust._validation import check_int, check_option
from conclust.exceptions import InputError

Metric: TypeAlias = Literal["euclidean", "cosine"]

_MOST_EXACT = 50_000
# Squares of larger and smaller coordinates leave the range of double precision.
_LARGEST, _SMALLEST = 2.0**300, 2.0**-300
# Number of cells per square root of the points, number of points per cell on which centres are computed, rounds of k-means.
_PER_ROOT = 4
_PER_CELL = 24
_ROUNDS = 5
# The share of neighbours to find, and the number of points on which it is measured.
_RECALL = 0.985
_TRIED = 512
# Multiplications of one call of the kernel: an interrupt takes effect between two calls.
_CALL = 2e10


class Cells:
    """Points, cell by cell: each cell has the points that are nearer to its centre than to all others.

    The cells, and their lists of cells to compare, depend on the points only.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        C-ordered and finite.
    most : int
        Number of points up to which there is one cell, and every search is exact.
    """

    def __init__(self, points: Floats, most: int) -> None:
        n = len(points)
        self.points = points
        self.numbers = np.arange(n, dtype=np.int32)
        self.starts = np.array([0, n], dtype=np.int64)
        self._centers: Floats | None = None
        self._lists: dict[int, tuple[Ints, NDArray[np.int32]]] = {}
        if n <= most:
            return
        centers = _centers_of(points, _PER_ROOT * isqrt(n))
        filled, cell = np.unique(_nearest_center(points, centers, 1), return_inverse=True)
        self._centers = np.ascontiguousarray(centers[filled])
        self.numbers = np.argsort(cell, kind="stable").astype(np.int32)
        self.points = np.ascontiguousarray(points[self.numbers])
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(cell))]).astype(np.int64)

    def grouped(self, queries: Floats, threads: int) -> tuple[Ints | None, Ints]:
        """Return the order of the queries by cell (None: unchanged), and the start of each cell."""
        if self._centers is None:
            return None, np.array([0, len(queries)], dtype=np.int64)
        cell = _nearest_center(queries, self._centers, threads)
        counts = np.bincount(cell, minlength=len(self._centers))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return np.argsort(cell, kind="stable"), starts

    def lists(self, k: int) -> tuple[Ints, NDArray[np.int32]]:
        """Return the cells that the queries of each cell are compared with: the start of each list, and all lists.

        k: the number of points found for each query, itself included.
        """
        if self._centers is None:
            return np.array([0, 1], dtype=np.int64), np.zeros(1, dtype=np.int32)
        if k in self._lists:
            return self._lists[k]
        count = len(self._centers)
        around = self._enough_cells(k)
        sizes = np.diff(self.starts)
        while True:
            listed = _nearest(self._centers, self._centers, around)
            if around == count or sizes[listed].sum(axis=1).min() >= k:
                starts = np.arange(0, listed.size + 1, around, dtype=np.int64)
                self._lists[k] = starts, listed.ravel()
                return self._lists[k]
            around = min(count, 2 * around)

    def _enough_cells(self, k: int) -> int:
        """Return the number of nearby cells that a query searches to find most of its neighbours."""
        assert self._centers is not None
        n, count = len(self.points), len(self._centers)
        tried = np.linspace(0, n - 1, min(n, _TRIED)).astype(np.int64)
        cell = np.repeat(np.arange(count), np.diff(self.starts))
        # Excludes the point itself, which is always found.
        near = cell[_nearest(self.points, self.points[tried], min(k + 1, n))[:, 1:]]
        order = _nearest(self._centers, np.ascontiguousarray(self._centers[cell[tried]]), count)
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(count, dtype=np.int32)[np.newaxis], axis=1)
        ranks = np.sort(np.take_along_axis(rank, near, axis=1), axis=None)
        return int(ranks[min(ranks.size - 1, int(_RECALL * ranks.size))]) + 1


def _nearest(points: Floats, queries: Floats, k: int) -> NDArray[np.int32]:
    """Return the k points nearest to each query among all points."""
    indices = np.empty((len(queries), k), dtype=np.int32)
    n, q = len(points), len(queries)
    every, alone = np.array([0, 1], dtype=np.int64), np.zeros(1, dtype=np.int32)
    nearest_points(
        points,
        np.arange(n, dtype=np.int32),
        np.array([0, n], dtype=np.int64),
        queries,
        np.full(q, -1, dtype=np.int32),
        np.array([0, q], dtype=np.int64),
        every,
        alone,
        indices,
        np.empty((q, k)),
        1,
    )
    return indices


def _centers_of(points: Floats, count: int) -> Floats:
    """Return the centres of a few rounds of k-means on some of the points, drawn by a fixed seed."""
    n, d = points.shape
    drawn = generator(0).permutation(n)[: min(n, _PER_CELL * count)]
    centers = np.ascontiguousarray(points[drawn[:count]])
    sample = np.ascontiguousarray(points[np.sort(drawn)])
    for _ in range(_ROUNDS):
        labels = _nearest_center(sample, centers, 1)
        sizes = np.bincount(labels, minlength=count)
        sums = [np.bincount(labels, sample[:, j], count) for j in range(d)]
        means = np.stack(sums, axis=1) / np.maximum(sizes, 1)[:, None]
        centers = np.where(sizes[:, None] > 0, means, centers)
    return centers


def _nearest_center(points: Floats, centers: Floats, threads: int) -> NDArray[np.int32]:
    count, d = centers.shape
    labels = np.empty((len(points), 1), dtype=np.int32)
    step = max(1024, int(_CALL / centers.size) * threads)
    for start in range(0, len(points), step):
        block = slice(start, start + step)
        label_block(
            points[block],
            centers.ravel(),
            np.array([0, count], dtype=np.int64),
            np.arange(d, dtype=np.int32),
            np.array([0, d], dtype=np.int64),
            np.zeros(1, dtype=np.int32),
            labels[block],
            threads,
        )
    return labels[:, 0]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest neighbours of each distinct point, never itself.

    Attributes
    ----------
    rows : EqualRows
        Groups of objects that are the same point. Points are numbered by first appearance.
    found : ndarray of int32 of shape (n_points, k)
        The neighbours of each point, nearest first; of equally near ones the lower number first.
    squares : ndarray of float64 of shape (n_points, k)
        The squared distances. By cosine, a squared distance is 2 - 2 cos.
    """

    rows: EqualRows
    found: NDArray[np.int32]
    squares: Floats

    @property
    def n_points(self) -> int:
        """Number of distinct points."""
        return len(self.found)

    @property
    def k(self) -> int:
        """Number of known neighbours of each point."""
        return int(self.found.shape[1])


def find_neighbours(
    X: ArrayLike, k: int, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Neighbours:
    """Find the k nearest neighbours of each distinct point.

    Equal rows are one point: copies would fill the lists of each other. The search is exact up to 50,000
    points, and finds at least 97 % of the neighbours beyond that, as a rule 99 %.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite coordinates.
    k : int
        Number of neighbours; all other points if there are fewer.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The distance. By "cosine", rows of the same direction are one point.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Returns
    -------
    Neighbours
        The points, their neighbours and the squared distances.

    Raises
    ------
    InputError
        If X is not a matrix of finite numbers, or has a row of zeros with ``metric="cosine"``.
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from conclust.neighbours import find_neighbours
    >>> neighbours = find_neighbours([[0.0], [1.0], [1.0], [3.0]], k=2)
    >>> neighbours.found
    array([[1, 2],
           [0, 2],
           [1, 0]], dtype=int32)
    >>> neighbours.rows.counts
    array([1, 2, 1])
    """
    owner = "find_neighbours"
    k = check_int(k, "k", owner) or 1
    threads = thread_count(n_jobs, owner)
    return neighbours_of(comparable(X, metric, owner), k, threads)[0]


def neighbours_of(points: Floats, k: int, threads: int = 1) -> tuple[Neighbours, Floats]:
    """Return the k nearest neighbours of each distinct point, and the distinct points."""
    rows = EqualRows.of(points)
    distinct = np.ascontiguousarray(points[rows.first])
    indices, squares = PointIndex(distinct).neighbours(k, threads)
    return Neighbours(rows, indices, squares), distinct


def comparable(X: ArrayLike, metric: Metric, owner: str) -> Floats:
    """Return points whose Euclidean distances are ordered as in the metric."""
    check_option(metric, "metric", owner, Metric)
    points = np.ascontiguousarray(number_array(X, f"The points of {owner}"))
    if points.ndim != 2 or points.shape[1] == 0:
        raise InputError(
            f"{owner} needs a matrix of finite numbers with one row per object. Got an array of the shape "
            f"{points.shape} instead."
        )
    refuse_gaps(points, X, f"The matrix of points of {owner}")
    if metric == "cosine":
        return unit_rows(points, owner)
    return points + 0.0  # -0.0 becomes 0.0, the same coordinate


def unit_rows(points: Floats, owner: str) -> Floats:
    """Return the rows scaled to length 1; those of zeros are refused."""
    largest = np.abs(points).max(axis=1, initial=0.0, keepdims=True)
    without = int(np.count_nonzero(largest == 0))
    if without:
        raise InputError(
            f"{owner} compares directions (metric='cosine'), and {without} of {len(points)} points have none: all "
            "their features are 0. Leave these points out, or use metric='euclidean'."
        )
    # The largest coordinate first: the squares of tiny ones would be 0.
    units = points / largest
    lengths = np.sqrt(np.einsum("ij,ij->i", units, units))[:, None]
    return np.ascontiguousarray(units / lengths) + 0.0


class PointIndex:
    """Points arranged for fast searches of neighbours.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        C-ordered and finite.
    most_exact : int, default=50,000
        Number of points up to which every search is exact. Beyond, 98 % of the neighbours are found, about.
    """

    def __init__(self, points: Floats, most_exact: int = _MOST_EXACT) -> None:
        self.points, self._most_exact = points, most_exact
        largest = float(np.abs(points).max(initial=0.0))
        # Scaling by a power of two is exact. For the smallest numbers, the power would be infinite.
        self._scale = 1.0
        if largest > 0 and not _SMALLEST < largest < _LARGEST:
            self._scale = float(np.ldexp(1.0, -max(int(np.frexp(largest)[1]), -1000)))
        scaled = points if self._scale == 1.0 else points * self._scale
        self._cells = Cells(scaled, most_exact)

    def same_as(self, other: PointIndex) -> bool:
        """Return whether the other index has the same points, by identity or content, and finds as many."""
        alike = self.points is other.points or np.array_equal(self.points, other.points)
        return alike and self._most_exact == other._most_exact

    def packed(self) -> dict[str, Any]:
        """Return what a file has of the index, from which `unpacked` arranges the points again."""
        return {"points": self.points, "most_exact": self._most_exact}

    @staticmethod
    def unpacked(parts: dict[str, Any]) -> PointIndex | None:
        """Undo `packed`; None if the points are no points."""
        points = np.ascontiguousarray(parts["points"], dtype=np.float64)
        sound = points.ndim == 2 and points.size > 0 and bool(np.isfinite(points).all())
        return PointIndex(points, int(parts["most_exact"])) if sound else None

    def neighbours(
        self, k: int, threads: int = 1, form: str = "auto"
    ) -> tuple[NDArray[np.int32], Floats]:
        """Return the k points nearest to each one, never itself, and their squared distances."""
        k = min(k, len(self.points) - 1)
        if k < 1:
            n = len(self.points)
            return np.empty((n, 0), dtype=np.int32), np.empty((n, 0))
        cells = self._cells
        indices, squares = self._find(
            cells.points, cells.numbers, cells.starts, cells.lists(k + 1), k, threads, form
        )
        place = np.empty_like(cells.numbers)
        place[cells.numbers] = np.arange(len(place), dtype=np.int32)
        return indices[place], squares[place]

    def nearest(
        self, queries: Floats, k: int, threads: int = 1, form: str = "auto"
    ) -> tuple[NDArray[np.int32], Floats]:
        """Return the k points nearest to each query, and their squared distances."""
        k = min(k, len(self.points))
        scaled = queries if self._scale == 1.0 else queries * self._scale
        order, starts = self._cells.grouped(scaled, threads)
        none_excluded = np.full(len(queries), -1, dtype=np.int32)
        lists = self._cells.lists(k)
        if order is None:
            return self._find(scaled, none_excluded, starts, lists, k, threads, form)
        ordered = np.ascontiguousarray(scaled[order])
        indices, squares = self._find(ordered, none_excluded, starts, lists, k, threads, form)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return indices[place], squares[place]

    def _find(
        self,
        queries: Floats,
        excluded: NDArray[np.int32],
        groups: Ints,
        lists: tuple[Ints, NDArray[np.int32]],
        k: int,
        threads: int,
        form: str,
    ) -> tuple[NDArray[np.int32], Floats]:
        """Return the k points nearest to each query, and their squared distances.

        Parameters
        ----------
        queries : ndarray of shape (q, n_features)
            The queries, cell by cell, scaled as the points.
        excluded : ndarray of int32 of shape (q,)
            Point excluded from the neighbours of each query; -1: none.
        groups : ndarray of int64
            Start of the queries of each cell.
        lists : tuple of ndarray
            The cells that the queries of each cell are compared with (`Cells.lists`).
        k : int
            Number of neighbours.
        threads : int
            Number of threads.
        form : str
            The form of the kernel.
        """
        indices = np.empty((len(queries), k), dtype=np.int32)
        squares = np.empty((len(queries), k))
        cells = self._cells
        nearest_points(
            cells.points,
            cells.numbers,
            cells.starts,
            queries,
            excluded,
            groups,
            *lists,
            indices,
            squares,
            threads,
            form,
        )
        if self._scale != 1.0:
            with np.errstate(over="ignore", under="ignore"):
                squares /= self._scale
                squares /= self._scale
        return indices, squares
