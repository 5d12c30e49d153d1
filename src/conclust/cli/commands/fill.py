"""Fills empty cells of points by a value of their column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conclust._types import Bools, Floats
from conclust._validation import count
from conclust.exceptions import InputError
from conclust.results.record import IMPUTED

_LISTED = 8  # maximum number of columns named


@dataclass(frozen=True)
class Filled:
    """Points without gaps.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_columns)
        The points that are clustered.
    values : ndarray of shape (n_columns,) or None
        Values that fill empty cells.
    cells : ndarray of bool of shape (n_samples, n_columns)
        Mask of the cells of `X` that were filled.
    note : str
        Description of the filling, for the terminal; empty if nothing was filled.
    """

    X: Floats
    values: Floats | None
    cells: Bools
    note: str

    @property
    def observed(self) -> Floats:
        """The points with NaN in the cells that were filled."""
        return np.where(self.cells, np.nan, self.X) if self.cells.any() else self.X


def fill(X: Floats, how: str | None, names: Sequence[str]) -> Filled:
    """Fill NaN in X by the rule of ``--impute``.

    Raises
    ------
    InputError
        A column is empty.
    """
    if how is None:
        return Filled(X, None, np.zeros(X.shape, dtype=np.bool_), "")
    empty = np.isnan(X)
    gaps = int(np.count_nonzero(empty))
    bare = np.flatnonzero(empty.all(axis=0))
    if bare.size:
        raise InputError(f"The column {names[bare[0]]!r} is empty in every row. --drop it.")
    from sklearn.impute import SimpleImputer

    imputer = SimpleImputer(strategy=how).fit(X)
    note = f"{count(gaps, 'empty cell')} filled by the {IMPUTED[how]} of the column ({_by_column(empty, names)})"
    values = np.asarray(imputer.statistics_, dtype=np.float64)
    return Filled(imputer.transform(X) if gaps else X, values, empty, note if gaps else "")


def _by_column(empty: Bools, names: Sequence[str]) -> str:
    """Return the columns with empty cells and their counts; only the first ones if there are many."""
    cells = empty.sum(axis=0)
    gaps = [f"{names[j]} {cells[j]:,}" for j in np.flatnonzero(cells).tolist()]
    more = f" and {len(gaps) - _LISTED:,} more columns" if len(gaps) > _LISTED else ""
    return ", ".join(gaps[:_LISTED]) + more
