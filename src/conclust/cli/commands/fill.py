"""Fills empty cells of points by a value of their column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conclust._types import Bools, Floats
from conclust.exceptions import InputError
from conclust.results.record import IMPUTED
from conclust.words.points import of_filling


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
    cells = empty.sum(axis=0)
    filled = {names[j]: int(cells[j]) for j in np.flatnonzero(cells).tolist()}
    note = of_filling(filled, IMPUTED[how])
    values = np.asarray(imputer.statistics_, dtype=np.float64)
    return Filled(imputer.transform(X) if gaps else X, values, empty, note if gaps else "")
