"""Reads points: a matrix of finite numbers, one row per object; errors name the columns with gaps. Spreads rounded columns."""

from __future__ import annotations

from contextlib import suppress
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.containers import plain_array
from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.exceptions import InputError

_NAMED = 4
# Number of points that are examined first, and distance from a line, relative to the spread of a column, that does not count.
_FIRST = 100
_ON_LINE = 1e-10
_EPS = 16 * float(np.finfo(np.float64).eps)
_PLACES = 20


def point_rows(X: Any, n: int, rows: str = "objects", *, also: str = "") -> NDArray[Any]:
    """Read points, one row per object, as numbers of their own type.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points.
    n : int
        Number of objects.
    rows : str, default="objects"
        The word for the n rows.
    also : str, default=""
        Alternatives for the message.

    Returns
    -------
    (n_samples, n_features) array
        No copy where `X` is an array already. NaN and infinity are in it: see `refuse_gaps`.

    Raises
    ------
    InputError
        If X does not hold numbers, or not a row for each object.
    """
    points = plain_array(X, "'X'", of="numbers")
    if points.dtype == object:  # nullable columns of pandas, columns of several types
        with suppress(TypeError, ValueError, OverflowError):  # refused below
            points = points.astype(np.float64)
    if points.ndim != 2 or len(points) != n or points.dtype.kind not in "biuf":
        way = " A single feature is given as X.reshape(-1, 1)." if points.shape == (n,) else ""
        raise InputError(
            f"'X' must hold numbers, with a row for each of the {n} {rows}{also}. Got an array of shape "
            f"{points.shape} and type {points.dtype}.{way}"
        )
    return points


def along_line(points: Floats) -> Floats | None:
    """Return the coordinate of points that lie on one straight line, of shape (n_samples, 1); None if they do not.

    Rounding errors do not count. Points of several columns must have at least 20 places, because any two places are on a line.
    """
    if points.shape[1] == 1:
        return points
    along = None
    for some in (points[:_FIRST], points):
        along = _along(some)
        if along is None:
            return None
    assert along is not None
    return along[:, np.newaxis] if len(np.unique(along)) >= _PLACES else None


def _along(points: Floats) -> Floats | None:
    """Return the coordinate of points along a line; None if they do not lie on one."""
    with np.errstate(over="ignore"):
        spreads, largest = np.ptp(points, axis=0), np.abs(points).max(axis=0)
    widest = int(np.argmax(spreads))
    if not np.isfinite(spreads).all():
        return None
    if spreads[widest] == 0:
        return np.zeros(len(points))
    t = (points[:, widest] - points[0, widest]) / spreads[widest]
    farthest = int(np.argmax(np.abs(t)))
    slopes = (points[farthest] - points[0]) / t[farthest]
    away = np.abs(points - points[0] - t[:, np.newaxis] * slopes)
    rounding = _EPS * (largest + largest[widest] / spreads[widest] * spreads)
    if (away > _ON_LINE * spreads + rounding).any():
        return None
    return np.asarray(t * np.linalg.norm(slopes))


def refuse_gaps(
    points: NDArray[Any], X: Any = None, what: str = "'X'", *, empty_cells: bool = False
) -> None:
    """Refuse points with NaN or infinity; the error names their columns.

    Parameters
    ----------
    points : (n_samples, n_features) array of numbers
        The points read.
    X : object, default=None
        Source of the points, for the names of its columns.
    what : str, default="'X'"
        Name of the points in the message.
    empty_cells : bool, default=False
        Whether a cell may be NaN.

    Raises
    ------
    InputError
        If such a value exists.
    """
    if points.dtype.kind != "f" or np.isfinite(points).all():
        return
    gaps = np.isnan(points).sum(axis=0)
    if not empty_cells and gaps.any():
        raise InputError(
            f"{what} contains NaN in {_places(X, gaps)}: fill them first, e.g. with scikit-learn's "
            "SimpleImputer, or use `conclust cluster --impute median`."
        )
    infinite = np.isinf(points).sum(axis=0)
    if infinite.any():
        raise InputError(
            f"{what} contains infinity in {_places(X, infinite)}: replace such values, or leave out their rows."
        )


def column_names(X: Any) -> list[Any]:
    """Return the names of the columns of a frame; tables of Arrow have an attribute of their own."""
    return list(X.column_names if hasattr(type(X), "column_names") else X.columns)


def _places(X: Any, counts: Ints) -> str:
    """Return the columns with a count above 0, and the number of rows counted."""
    columns = column_names(X) if hasattr(X, "columns") else list(range(len(counts)))
    if not all(isinstance(name, str | int) for name in columns):
        columns = list(range(len(counts)))
    places = np.flatnonzero(counts)
    named = [
        f"{columns[place]!r} ({count(int(counts[place]), 'row')})" for place in places[:_NAMED]
    ]
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return f"column{'s' * (len(places) > 1)} {', '.join(named)}{more}"


def spread_rounded_columns(X: Floats, rng: np.random.Generator) -> Floats:
    """Add uniform noise of the width of the grid to columns with few distinct values.

    A column of whole numbers from 1 to 10 has gaps between its values that are not valleys between clusters.
    A column is taken as rounded if it has at most sqrt(n) distinct values; its grid is the smallest difference
    of two of them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points.
    rng : Generator
        Draws the noise.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        X itself if no column is rounded, otherwise a copy.
    """
    n = len(X)
    result = X
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        if 1 < len(values) <= max(2, isqrt(n)):
            if result is X:
                result = X.copy()
            result[:, j] += rng.uniform(-0.5, 0.5, n) * np.diff(values).min()
    return result
