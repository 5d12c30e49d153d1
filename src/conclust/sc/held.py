"""Memberships that a consensus has left in ``adata.obsm``, matched with the categories of its column."""

from __future__ import annotations

from typing import Any

import numpy as np

from conclust._types import Floats, Ints

__all__ = ["category_of_columns", "held_membership"]


def held_membership(adata: Any, key: str) -> Floats | None:
    """Return the memberships of a consensus with rows that sum to 1, or None if it has none."""
    held = f"{key}_membership"
    if held not in adata.obsm:
        return None
    rows: Floats = np.asarray(adata.obsm[held], dtype=np.float64)
    normalised: Floats = rows / rows.sum(
        axis=1, keepdims=True
    )  # float32 values, whose sums are 1 only nearly
    return normalised


def category_of_columns(rows: Floats, column: Any) -> Ints:
    """Return the category of each column of the memberships, -1 for a column that is largest for no cell.

    Categories may have been renamed, reordered or merged since the consensus was found, so that their order is not
    that of the columns. A column belongs to the category of most of the cells for which it is largest.

    Parameters
    ----------
    rows : ndarray of shape (n_cells, n_held)
        The memberships.
    column : pandas.Categorical
        The clusters of the cells.
    """
    largest, K = rows.argmax(axis=1), max(1, len(column.categories))
    placed = column.codes >= 0
    cells = largest[placed] * K + column.codes[placed].astype(np.int64)
    table = np.bincount(cells, minlength=rows.shape[1] * K).reshape(-1, K)
    return np.where(table.any(axis=1), table.argmax(axis=1), -1)
