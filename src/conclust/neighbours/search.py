"""The nearest neighbours of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import number_array
from conclust._arrays.points import refuse_gaps
from conclust._kernels import nearest_points
from conclust._threads import thread_count
from conclust._types import Floats, Ints
from conclust._validation import check_int, check_option
from conclust.ensemble.equal_rows import EqualRows
from conclust.exceptions import InputError
from conclust.neighbours.cells import Cells

Metric: TypeAlias = Literal["euclidean", "cosine"]

_MOST_EXACT = 50_000
# Squares of larger and smaller coordinates leave the range of double precision.
_LARGEST, _SMALLEST = 2.0**300, 2.0**-300


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
        self.points = points
        largest = float(np.abs(points).max(initial=0.0))
        # A power of two, so that scaling is exact; that of the smallest numbers would be infinite.
        self._scale = 1.0
        if largest > 0 and not _SMALLEST < largest < _LARGEST:
            self._scale = float(np.ldexp(1.0, -max(int(np.frexp(largest)[1]), -1000)))
        scaled = points if self._scale == 1.0 else points * self._scale
        self._cells = Cells(scaled, most_exact)

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
