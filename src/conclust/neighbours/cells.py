"""Points in cells: a query is compared only with points of nearby cells if there are many points."""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import label_block, nearest_points
from conclust._random import generator
from conclust._types import Floats, Ints

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
