"""Points in cells: a query is compared with those of the cells around it, where all would be too many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cells", "cells_of"]


@dataclass(frozen=True, eq=False)
class Cells:
    """Points, cell by cell.

    Attributes
    ----------
    points : ndarray of shape (n_points, n_features)
        C-ordered and finite.
    names : ndarray of int32 of shape (n_points,)
        The number of each point before.
    starts : ndarray of int64 of shape (n_cells + 1,)
        Where each cell begins.
    """

    points: NDArray[np.float64]
    names: NDArray[np.int32]
    starts: NDArray[np.int64]

    def lists(self, k: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the cells that the queries of each cell are compared with: where each list begins, and all."""
        return np.array([0, 1], dtype=np.int64), np.zeros(1, dtype=np.int32)

    def grouped(
        self, queries: NDArray[np.float64], threads: int
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
        """Return an order of the queries, cell by cell (None: as they are), and where each cell begins."""
        return None, np.array([0, len(queries)], dtype=np.int64)


def cells_of(points: NDArray[np.float64]) -> Cells:
    """Return points in one cell."""
    n = len(points)
    return Cells(points, np.arange(n, dtype=np.int32), np.array([0, n], dtype=np.int64))
