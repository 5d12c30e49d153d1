"""The points of a report: columns of numbers, columns of categories, and columns that name the objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import is_missing
from conclust._arrays.points import column_names
from conclust._types import Floats
from conclust._validation import shown
from conclust.confidence.reading import read_features
from conclust.exceptions import InputError

_NAMING = 0.9  # share of different values from which a column of text names the objects


@dataclass(frozen=True)
class ReportedPoints:
    """Points, with text columns separate.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The numbers, NaN for empty cells.
    names : tuple of str
        Names of the features.
    categories : ndarray of object of shape (n_samples, n_categories) or None
        None: there is no such column.
    category_names : tuple of str
        Names of these columns.
    """

    X: Floats
    names: tuple[str, ...]
    categories: NDArray[np.object_] | None = None
    category_names: tuple[str, ...] = ()


def read_points(X: ArrayLike, n: int, feature_names: Sequence[Any] | None) -> ReportedPoints:
    """Read points; in a frame, text columns are categories unless they name the objects.

    Raises
    ------
    InputError
        If they are not numbers, not for n objects, or the names do not fit.
    """
    if hasattr(X, "columns") and getattr(X, "ndim", 2) == 2:
        return _of_frame(X, n, feature_names)
    points = np.asarray(read_features(X, n, rows="objects", empty_cells=True), dtype=np.float64)
    names = _named(points.shape[1], range(points.shape[1]), feature_names)
    return ReportedPoints(points, names)


def _of_frame(X: Any, n: int, feature_names: Sequence[Any] | None) -> ReportedPoints:
    columns = [_column(X, j) for j in range(len(X.columns))]
    numeric = [j for j, values in enumerate(columns) if values.dtype.kind in "biuf"]
    if not numeric:
        raise InputError(
            f"'X' must have a column of numbers. Got a frame of {len(columns)} columns without one."
        )
    words = [j for j, v in enumerate(columns) if v.dtype.kind == "O" and not _names_objects(v)]
    points = np.column_stack([columns[j].astype(np.float64) for j in numeric])
    points = np.asarray(read_features(points, n, rows="objects", empty_cells=True))
    titles = list(map(str, column_names(X)))
    return ReportedPoints(
        points,
        _named(len(numeric), [titles[j] for j in numeric], feature_names),
        np.column_stack([columns[j] for j in words]) if words else None,
        tuple(titles[j] for j in words),
    )


def _column(X: Any, j: int) -> NDArray[Any]:
    """Return a column as numbers (NaN if empty), as objects, or unchanged (times)."""
    of_arrow = hasattr(type(X), "column_names")
    column = X.iloc[:, j] if hasattr(X, "iloc") else X.column(j) if of_arrow else X[:, j]
    values: NDArray[Any] = np.asarray(column)
    if values.dtype.kind in "SUT":
        values = values.astype(object)
    if values.dtype.kind != "O":
        return values
    empty = np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    if not empty.all() and all(isinstance(v, Real) for v in values[~empty].tolist()):
        # Nullable numbers: their empty cells are objects.
        return np.where(empty, np.nan, values).astype(np.float64)
    return values


def _names_objects(values: NDArray[np.object_]) -> bool:
    """Return whether nearly every object has a different value, or all are empty."""
    texts = [str(value) for value in values.tolist() if not is_missing(value)]
    return not texts or len(set(texts)) >= _NAMING * len(texts)


def _named(d: int, default: Any, feature_names: Sequence[Any] | None) -> tuple[str, ...]:
    titles = default if feature_names is None else feature_names
    if (
        isinstance(titles, str)
        or not isinstance(titles, Iterable)
        or getattr(titles, "ndim", 1) == 0
    ):
        raise InputError(
            f"'feature_names' must be a name for each of the {d} features. Got {shown(titles)} instead."
        )
    names = tuple(map(str, titles))
    if len(names) != d:
        raise InputError(
            f"'feature_names' must be a name for each of the {d} features. Got {len(names)}."
        )
    return names
