"""Empty cells of points: filled by a value of their column, or their objects left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer

from conclust.cli.talk import count
from conclust.exceptions import InputError

__all__ = ["Filled", "fill"]


@dataclass(frozen=True)
class Filled:
    """Points without gaps.

    Attributes
    ----------
    X : ndarray of shape (n_complete, n_columns)
        The points that are clustered.
    complete : ndarray of bool of shape (n_samples,)
        Which objects these are.
    values : ndarray of shape (n_columns,) or None
        What stands in empty cells.
    note : str
        What was done, for people; empty if nothing was.
    """

    X: NDArray[np.float64]
    complete: NDArray[np.bool_]
    values: NDArray[np.float64] | None
    note: str


def fill(X: NDArray[np.float64], how: str | None, names: Sequence[str]) -> Filled:
    """Fill NaN in X as ``--impute`` says.

    Raises
    ------
    InputError
        A column is empty, or fewer than two objects are left.
    """
    every = np.ones(len(X), dtype=np.bool_)
    if how is None:
        return Filled(X, every, None, "")
    empty = np.isnan(X)
    gaps = int(np.count_nonzero(empty))
    bare = np.flatnonzero(empty.all(axis=0))
    if bare.size:
        raise InputError(f"The column {names[bare[0]]!r} is empty in every row. --drop it.")
    if how == "drop":
        complete = np.asarray(~empty.any(axis=1))
        if np.count_nonzero(complete) < 2:
            raise InputError(
                f"--impute drop leaves {count(int(complete.sum()), 'object')} of {len(X):,}. Fill the "
                "empty cells (--impute median), or --drop columns that are mostly empty."
            )
        left_out = count(int(np.count_nonzero(~complete)), "object")
        note = f"{left_out} with empty cells left out (--impute drop)" if gaps else ""
        return Filled(X[complete] if gaps else X, complete, None, note)
    imputer = SimpleImputer(strategy=how).fit(X)
    note = f"{count(gaps, 'empty cell')} filled by the {how.replace('_', ' ')} value of the column"
    if how in ("mean", "median"):
        note = f"{count(gaps, 'empty cell')} filled by the {how} of the column"
    values = np.asarray(imputer.statistics_, dtype=np.float64)
    return Filled(imputer.transform(X) if gaps else X, every, values, note if gaps else "")
