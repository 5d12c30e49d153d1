"""Finds the nearest centre of each point, for one set of centres or for those of many members in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import label_block
from conclust._types import Floats, Ints

# Multiplications of one call of the kernel: an interrupt takes effect between two calls.
_CALL = 2e10


class CenterSets:
    """The centres of several members, each with its columns of the points, as the kernel reads them.

    A label is the centre with the smallest sum of squared differences, added up feature by feature in double
    precision, the first one of a tie: it does not depend on the other points, the number of threads or the
    instruction set (`_kernels/kmeans/labelling.h`).

    Parameters
    ----------
    centers : sequence of ndarray of shape (K_u, f_u)
        The centres of each member.
    columns : sequence of ndarray of int of shape (f_u,)
        The features that each member reads.
    places : sequence of int
        The column of the labels that each member writes.
    """

    def __init__(
        self, centers: Sequence[Floats], columns: Sequence[Ints], places: Sequence[int]
    ) -> None:
        flat = [np.asarray(member_centers, dtype=np.float64).ravel() for member_centers in centers]
        self._centers = np.concatenate(flat)
        self._starts = _bounds([len(member_centers) for member_centers in centers])
        self._columns = np.concatenate(columns).astype(np.int32)
        self._n_columns = int(self._columns.max(initial=-1)) + 1
        self._column_starts = _bounds([len(member_centers) for member_centers in columns])
        self._places = np.asarray(places, dtype=np.int32)

    def label(self, points: NDArray[Any], labels: NDArray[Any], threads: int = 1) -> None:
        """Write the labels of a block of points into the columns of the members.

        Parameters
        ----------
        points : ndarray of shape (n, d)
            C-ordered and finite, float32 or float64.
        labels : ndarray of shape (n, n_columns)
            C-ordered integers that can distinguish all clusters, of at most four bytes.
        threads : int, default=1
            Number of threads.
        """
        assert points.shape[1] >= self._n_columns  # the kernel reads them unchecked
        written = labels.view(f"{'u' if labels.itemsize < 4 else 'i'}{labels.itemsize}")
        step = max(1024, int(_CALL / len(self._centers)) * threads)
        for start in range(0, len(points), step):
            block = slice(start, start + step)
            label_block(
                points[block],
                self._centers,
                self._starts,
                self._columns,
                self._column_starts,
                self._places,
                written[block],
                threads,
            )


def nearest_center(points: Floats, centers: Floats) -> Ints:
    """Return the nearest centre of each point, the first one if tied (`CenterSets`)."""
    labels = np.empty((len(points), 1), dtype=np.int32)
    every = np.arange(points.shape[1])
    CenterSets([centers], [every], [0]).label(np.ascontiguousarray(points), labels)
    return labels[:, 0].astype(np.int64)


def _bounds(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
