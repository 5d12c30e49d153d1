"""Converts users' input to arrays, nested containers refused before NumPy traverses them, and reads points, with the columns that have gaps in errors."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from math import isqrt
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats, Ints
from conclust._validation import count, shown
from conclust.exceptions import InputError, SparseInputError

_FLOATS, _TIMES = (float, np.floating), (np.datetime64, np.timedelta64)
Of = Literal["labels", "numbers"]
_WAYS: dict[Of, str] = {
    "labels": "pass a column of its labels, adata.obs[key]; conclust.sc.tl.consensus(adata, columns) combines "
    "columns, and conclust.sc.get.ensemble(adata) returns the ensemble of a consensus.",
    "numbers": "pass a matrix, adata.obsm['X_pca'] or adata.X.",
}

_SMALL, _LARGE = 1e-70, 1e70  # fourth powers must neither overflow nor vanish
_LARGEST = 1e300


def number_array(values: Any, what: str) -> Floats:
    """Return `values` as an array of floats; `what` is their name in errors."""
    refuse_container(values, what, of="numbers")
    _refuse_mask(values, what, "numpy.nan")
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} must be numbers. Got {shown(values)} instead.") from error


def identifiers(values: Any, name: str) -> list[Any]:
    """Return identifiers of objects as a list; `name` is the parameter in errors."""
    # A zero-dimensional array has `__iter__`, which raises.
    iterable = isinstance(values, Iterable) and getattr(values, "ndim", 1) > 0
    if not iterable or isinstance(values, str | bytes):
        raise InputError(f"{name!r} must be a list of identifiers. Got {shown(values)} instead.")
    names = values.tolist() if hasattr(values, "tolist") else list(values)
    if not all(isinstance(one, Hashable) for one in names):
        raise InputError(
            f"{name!r} must be a list of identifiers. Got a list that holds a collection."
        )
    return names


def plain_array(values: Any, what: str, *, of: Of = "labels") -> NDArray[Any]:
    """Return `values` as an array of any type; `what` is their name in the error for rows of different lengths."""
    refuse_container(values, what, of=of)
    _refuse_mask(values, what, "-1" if of == "labels" else "numpy.nan")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(f"{what} must form an array. Got {shown(values)} instead.") from error


def _refuse_mask(values: Any, what: str, filling: str) -> None:
    """Refuse a masked array with masked cells, which NumPy would read as if they were not masked."""
    if np.ma.is_masked(values):
        raise InputError(
            f"{what} must have a value in each cell. Got a masked array: fill its cells, as by .filled({filling})."
        )


def refuse_container(given: Any, name: str, *, of: Of = "labels") -> None:
    """Refuse a container whose items are such containers again, which NumPy would traverse endlessly.

    NumPy reads whatever has ``__len__`` and ``__getitem__`` item by item. An item of an AnnData is an AnnData
    again, with a copy of its parts.

    Parameters
    ----------
    given : object
        Value given by the user.
    name : str
        The parameter, or what is expected, for the message.
    of : {"labels", "numbers"}, default="labels"
        Expected content of the array.

    Raises
    ------
    InputError
        If the object is not an array or a sequence.
    """
    kind = type(given).__name__
    if hasattr(given, "toarray") and hasattr(given, "nnz"):
        raise SparseInputError(
            f"{name} must be a dense array of {of}. Got a sparse one, {kind}: pass its toarray()."
        )
    refuse_graph(given, f"{name} must be an array of {of}.", of=of)
    if hasattr(given, "obs") and hasattr(given, "obsm"):
        raise InputError(f"{name} must be an array of {of}. Got an {kind}: {_WAYS[of]}")
    if hasattr(given, "block_rows") and callable(getattr(given, "ensemble", None)):
        raise InputError(
            f"{name} must be an array of {of} in memory. Got {shown(given)}: pass its ensemble()."
        )
    if not _walked(given):
        return
    try:
        if not len(given):
            return
        first = given[0]
    except Exception as error:  # a user's class may raise any error
        raise InputError(f"{name} must be an array of {of}. Got {shown(given)}.") from error
    if type(first) is type(given) or _walked(first):
        raise InputError(
            f"{name} must be an array of {of}. Got {shown(given)}, whose items are {type(first).__name__}: pass "
            f"numpy.asarray of the {of} that it holds."
        )


def refuse_graph(given: Any, needed: str, *, of: Of = "labels") -> None:
    """Refuse a graph of networkx or igraph, an estimator, and an Ensemble for numbers; `needed` says what is expected."""
    kind: Any = type(given)  # a frame has its columns as attributes
    if callable(getattr(kind, "is_directed", None)) and hasattr(kind, "to_directed"):
        raise InputError(
            f"{needed} Got a graph, {kind.__name__}: conclust.GraphConsensus finds its communities."
        )
    if hasattr(kind, "fit") and hasattr(kind, "get_params"):
        way = " Pass its labels_." if of == "labels" else ""
        raise InputError(f"{needed} Got an estimator, {kind.__name__}.{way}")
    if of == "numbers" and hasattr(kind, "partition_weights"):
        raise InputError(
            f"{needed} Got an Ensemble, whose numbers are names of clusters: AutoConsensus().fit(ensemble) combines its partitions."
        )


def is_missing(value: Any) -> bool:
    """Return whether a cell is missing: None, NaN, NaT or pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, _FLOATS):
        return bool(value != value)
    return isinstance(value, _TIMES) and bool(np.isnat(value))


def is_blank(value: Any) -> bool:
    """Return whether a cell is text without a character: an empty cell of a table that was read as text."""
    return isinstance(value, str) and not value.strip()


def check_row_names(frames: Mapping[str, Any], *, named_only: bool = False) -> None:
    """Refuse frames of pandas whose rows have the same names in different orders, or partly different text as names.

    Parameters
    ----------
    frames : dict of str to object
        Name in the message to the frame or series; anything else than those of pandas is not looked at.
    named_only : bool, default=False
        Whether rows with the default index 0, 1, ... are without names.
    """
    first_name = ""
    first: Any = None
    for name, frame in frames.items():
        index: Any = getattr(frame, "index", None)
        if not hasattr(index, "equals") or (named_only and _is_default(index)):
            continue
        if first is None:
            first_name, first = name, index
        # Indices of different types are not equal to pandas, even if their names are.
        elif len(index) == len(first) and not index.equals(first) and list(index) != list(first):
            names, first_names = set(index), set(first)
            if names == first_names and (len(names) == len(index) or not _are_numbers(names)):
                raise InputError(
                    f"The rows of {name!r} have the names of those of {first_name!r}, in another order. Put them in the same "
                    f"order: {name}.loc[{first_name}.index], or reset_index(drop=True) of both if the rows are in the same order."
                )
            # Numbers may be those of rows that were filtered; text names objects.
            shared = names & first_names
            is_text = all(isinstance(one, str) for one in shared)
            if shared and is_text and len(names) == len(first_names) == len(index):
                other = next(one for one in index if one not in first_names)
                raise InputError(
                    f"The rows of {name!r} and {first_name!r} are different objects: they share {len(shared)} of {len(index)} "
                    f"names, and {first_name!r} has no {other!r}. Choose the same rows of both, or reset_index(drop=True) of both "
                    "if they are in one order."
                )


def _are_numbers(names: set[Any]) -> bool:
    """Return whether all names are numbers: repeated ones are the rows of pieces that were concatenated."""
    return all(isinstance(one, Real) for one in names)


def _is_default(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def refuse_corrupt(matrix: Any, what: str) -> None:
    """Refuse a sparse matrix with indices outside of its shape: SciPy itself would read and write any memory."""
    if matrix.format in ("csr", "csc", "bsr"):
        try:
            # A new object, because the check may replace the arrays of the one that it checks.
            parts = (matrix.data, matrix.indices, matrix.indptr)
            type(matrix)(parts, shape=matrix.shape).check_format(full_check=True)
        except ValueError as error:
            raise InputError(f"{what} is not a valid sparse matrix: {error}.") from error


_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__", "__buffer__")


def _walked(value: Any) -> bool:
    """Return whether NumPy would take an object of an unknown class for a sequence."""
    if isinstance(value, Sequence | Mapping | Set | memoryview | np.generic):
        return False
    kind = type(value)
    if any(hasattr(kind, name) for name in _PROTOCOLS) or kind.__module__ == "array":
        return False
    return hasattr(kind, "__len__") and hasattr(kind, "__getitem__")


def refuse_communities(labels: Any) -> None:
    """Refuse runs of sets of nodes: these are communities of a graph, not a matrix of labels."""
    if not isinstance(labels, list | tuple) or not labels:
        return
    run = labels[0]
    one = isinstance(run, Set)
    sets = isinstance(run, list | tuple) and len(run) > 0 and isinstance(run[0], Set)
    if one or sets or isinstance(run, Mapping) or hasattr(run, "communities"):
        way = (
            "Ensemble.from_communities([communities])" if one else "Ensemble.from_communities(runs)"
        )
        what = (
            "a list of sets" if one else f"runs that are {type(run).__name__}s" + " of sets" * sets
        )
        raise InputError(
            f"Labels must form a matrix of shape (n_samples, n_partitions). Got {what}: if these are communities "
            f"of nodes, {way} makes an ensemble of them."
        )


def holds(array: NDArray[Any], *shape: int) -> bool:
    """Return whether an array has this shape, and numbers that are finite only."""
    return array.shape == shape and bool(np.isfinite(array).all())


def starts_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first column of each partition and the end, from the numbers of their clusters."""
    return np.concatenate([[0], np.cumsum(counts)])


def collected(labels: Any) -> Any:
    """Return the rows of a lazy frame of polars; anything else as it is."""
    lazy = type(labels).__name__ == "LazyFrame" and hasattr(labels, "collect")
    return labels.collect() if lazy else labels


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


def few_values(n: int) -> int:
    """Return the number of distinct values up to which a column of n numbers is taken as rounded."""
    return max(2, isqrt(n))


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
        if 1 < len(values) <= few_values(n):
            if result is X:
                result = X.copy()
            result[:, j] += rng.uniform(-0.5, 0.5, n) * np.diff(values).min()
    return result


def moderate(points: Floats) -> tuple[Floats, float]:
    """Return points scaled so that squares of their squares neither overflow nor vanish, and the power of two that divides them.

    Points of ordinary size are returned as they are, with 1. The division changes no digit.

    Raises
    ------
    InputError
        If a number is beyond 1e300, where sums of points overflow.
    """
    largest = float(np.fmax.reduce(np.abs(points), axis=None, initial=0.0))  # NaN do not count
    if largest > _LARGEST:
        raise InputError(
            f"X must hold numbers up to {_LARGEST:g} in absolute value. Got {largest:g}: divide the columns by "
            "a common unit."
        )
    if largest == 0 or _SMALL <= largest <= _LARGE:
        return points, 1.0
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1)
    return points / unit, unit
