"""Reads points; data that cannot be clustered are refused with advice, and doubtful rows and cells are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from os import PathLike
from typing import Any, Literal, NamedTuple, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from conclust._arrays.containers import column_names, few_values, refuse_gaps, refuse_graph
from conclust._sklearn import check_order, record_features, record_order
from conclust._types import Floats
from conclust._validation import check_column_names, shown
from conclust.exceptions import DistancesWarning, InputError, SparseInputError, warn

_NAMED = 4
# Differences up to this share of the range are rounding errors.
_ROUNDING = 1e-9
_ROWS = 64  # compared with columns at a time
_BEYOND = 100.0  # how far a cell is beyond its column, in distances of the next one from the median
_FEW = 8  # number of values below which one may be the sum of the others by chance
_AT_ONCE = 3  # maximum number of such cells in a column


def read_points(estimator: Any, X: Any, **checks: Any) -> Floats:
    """Return points as a C-ordered float64 matrix, by scikit-learn's checks for `estimator`."""
    least = checks.get("ensure_min_samples", 1)
    refuse_ensemble(X, type(estimator).__name__)
    X = _unmasked(X)
    if checks.get("reset", True) and _is_read(X, least):
        record_features(estimator, X)
        return X
    check_column_names(X)
    owner = type(estimator).__name__
    if sp.issparse(X):
        raise SparseInputError(
            f"Sparse data was passed, but {owner} needs dense points. Reduce them first, "
            "TruncatedSVD(50).fit_transform(X) with scikit-learn's TruncatedSVD, or pass X.toarray() if enough memory "
            "is available."
        )
    if hasattr(X, "obs") and hasattr(X, "obsm"):
        raise InputError(
            f"{owner} needs a matrix of numbers with one row per object. Got an {type(X).__name__}: pass "
            "adata.obsm['X_pca'] or adata.X."
        )
    refuse_views(X)
    points = _converted(
        X, owner, "X", lambda: validate_data(estimator, X, dtype=np.float64, order="C", **checks)
    )
    (record_order if checks.get("reset", True) else check_order)(estimator, X)
    return points


def warn_of_distances(points: Floats) -> None:
    """Warn of points that are a symmetric matrix with one value on its diagonal, as of distances or similarities."""
    n = len(points)
    if points.shape != (n, n) or n < 4:
        return
    with np.errstate(over="ignore"):
        looks = _are_distances(points)
    if looks:
        warn(
            f"X looks like a matrix of distances or similarities between {n} objects: it is symmetric, with one value on its "
            "diagonal. Its rows are clustered as points. To cluster by the distances, make points from them first, "
            "KernelPCA(10, kernel='precomputed').fit_transform(-(X**2) / 2) with scikit-learn's KernelPCA, and for "
            "similarities X in place of -(X**2) / 2.",
            DistancesWarning,
        )


def _are_distances(points: Floats) -> bool:
    """Return whether a square matrix is symmetric, with one value on its diagonal, and several outside of it."""
    n = len(points)
    error = _ROUNDING * points.max() - _ROUNDING * points.min()
    if np.ptp(points.diagonal()) > error:
        return False
    # Most matrices are seen not to be symmetric in the first rows.
    for i in range(0, n, _ROWS):
        if (np.abs(points[i : i + _ROWS] - points[:, i : i + _ROWS].T) > error).any():
            return False
    return bool(np.ptp(points[np.tri(n, k=-1, dtype=np.bool_)]) > error)


def refuse_views(X: Any) -> None:
    """Refuse several matrices of the same objects."""
    refuse_graph(X, "Points must form a matrix (n_samples, n_features).")
    if isinstance(X, str | PathLike):
        read = (
            "read a file of points first, pandas.read_csv(path), or use the shell: conclust cluster"
        )
        raise InputError(f"Points must form a matrix. Got {shown(X)}: {read}.")
    if sp.issparse(X):  # some sparse matrices are dicts
        return
    if isinstance(X, Mapping | Set):
        several = "dict of views" if isinstance(X, Mapping) else None
    elif (
        isinstance(X, list | tuple) and len(X) and all(getattr(item, "ndim", 0) == 2 for item in X)
    ):
        several = "list of views"
    else:
        return
    from sklearn.utils import Bunch

    way = ""
    if isinstance(X, Bunch):
        way = ": the points of a data set of scikit-learn are its attribute 'data'"
    elif several is not None:
        way = f": MultiViewGenerator makes members of a {several}, and AutoConsensus().fit(their labels) combines them"
    raise InputError(
        f"Points must form a matrix (n_samples, n_features). Got {type(X).__name__}{way}."
    )


def checked_points(
    X: Any, owner: str, *, name: str = "X", least: int = 1, gaps: bool = False
) -> Floats:
    """Return rows of points as a C-ordered float64 matrix, without columns' names to be compared."""
    refuse_ensemble(X, owner)
    X = _unmasked(X)
    if _is_read(X, least):
        return X
    options: dict[str, Any] = {"dtype": np.float64, "order": "C", "ensure_min_samples": least}
    options["ensure_all_finite"] = "allow-nan" if gaps else True
    return _converted(
        X, owner, name, lambda: check_array(X, estimator=owner, input_name=name, **options)
    )


def _converted(X: Any, owner: str, name: str, convert: Callable[[], Floats]) -> Floats:
    """Return what scikit-learn's checks return, with the errors of this library in place of theirs."""
    _refuse_dates(X)
    try:
        return convert()
    except OverflowError as error:
        raise InputError(
            "X contains an integer that is too large for a float64, 1.8e308 at most."
        ) from error
    except (TypeError, ValueError) as error:
        _refuse_shape(X, error, name)
        _refuse_texts(X, error, owner)
        _refuse_gaps(X, error, name)
        _refuse_values(X, error)
        if np.iscomplexobj(X):
            way = "pass their parts as columns, numpy.column_stack([X.real, X.imag])"
            raise InputError(
                f"Complex data not supported: points are real numbers. To cluster complex ones, {way}."
            ) from error
        raise


def refuse_ensemble(X: Any, owner: str) -> None:
    """Refuse labels, graphs and estimators in place of points."""
    needed = f"{owner} needs points, a matrix of numbers with one row per object."
    refuse_graph(X, needed, of="numbers")


def _unmasked(X: Any) -> Any:
    """Return a masked array as one with NaN, which are refused; anything else unchanged."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    values: Any = X
    return values.astype(np.float64).filled(np.nan) if np.ma.is_masked(X) else np.asarray(X)


def _is_read(X: Any, least: int) -> TypeGuard[Floats]:
    """Return whether scikit-learn's checks, whose first call imports narwhals, would return X itself."""
    if not (
        type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64 and X.flags.c_contiguous
    ):
        return False
    if len(X) < max(least, 1) or not X.shape[1]:
        return False
    # An infinite sum of finite numbers is left to scikit-learn.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def _refuse_shape(X: Any, error: Exception, name: str = "X") -> None:
    """Refuse arrays that do not have two dimensions; `error` was raised by scikit-learn."""
    try:
        shape = tuple(np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ()))
    except ValueError:  # ragged
        return
    if len(shape) in (0, 2):
        return
    if shape == (0,):
        raise InputError(
            "Expected 2D array of points (n_samples, n_features), got no object."
        ) from error
    if len(shape) > 2:
        way = "X.reshape(len(X), -1) if the first axis holds the objects"
    else:
        column = "np.reshape(X, (-1, 1))" if isinstance(X, list | tuple) else "X.reshape(-1, 1)"
        column = "X.to_frame()" if hasattr(X, "to_frame") else column
        way = f"{column} if it is a single feature; a single object is a matrix of one row"
    view = "" if name == "X" else f" in {name!r}"
    raise InputError(
        f"Expected 2D array of points (n_samples, n_features){view}, got {len(shape)}D array instead: shape {shape}. "
        f"Reshape your data using {way}."
    ) from error


def _refuse_gaps(X: Any, error: Exception, name: str = "X") -> None:
    """Raise the error of conclust about NaN or infinite values if `error` is that of scikit-learn."""
    if not str(error).startswith((f"Input {name} contains NaN", f"Input {name} contains infinity")):
        return
    points = check_array(
        X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0, ensure_min_features=0
    )
    try:
        refuse_gaps(points, X, f"Input {name}")
    except InputError as own:
        raise own from error


_CONVERTED = "Convert such a column to numbers, for instance dates to days, or leave it out."
_DATES = ("date", "time", "duration", "period")


def _refuse_dates(X: Any) -> None:
    """Refuse dates and durations, which NumPy converts to counts of their units, and missing ones to a large number."""
    columns: Iterable[tuple[Any, Any]] = [(0, getattr(X, "dtype", None))]
    if hasattr(X, "columns"):
        is_arrow = hasattr(type(X), "column_names")
        types = (
            X.schema.types if is_arrow else getattr(X, "dtypes", ())
        )  # frames of narwhals have none
        columns = zip(column_names(X), types, strict=False)
    for name, kind in columns:
        if str(kind).lower().startswith(_DATES):
            raise InputError(
                f"Points must be real numbers. Got values of type {kind} in column {name!r} instead. {_CONVERTED}"
            )


def _refuse_values(X: Any, error: Exception) -> None:
    """Refuse a frame with other values than real numbers, and pandas.NA in an array; scikit-learn names the type alone."""
    in_frame = hasattr(X, "columns")
    for name, column in _columns(X):
        for row, value in enumerate(column):
            usual = value is None or isinstance(value, str | complex)  # with errors of their own
            looked_at = in_frame or type(value).__name__ == "NAType"
            if looked_at and not usual and not _is_number(value):
                raise InputError(
                    f"Points must be real numbers. Got {shown(value)} in column {name!r} at row {row} instead. {_CONVERTED}"
                ) from error


def _columns(X: Any) -> list[tuple[Any, NDArray[Any]]]:
    """Return the columns of a frame or matrix with their names or numbers; none of anything else."""
    if hasattr(X, "columns"):
        return [(name, np.asarray(X[name], dtype=object)) for name in column_names(X)]
    try:
        array = np.asarray(X, dtype=object)
    except ValueError:  # rows of different lengths
        return []
    return list(enumerate(array.T)) if array.ndim == 2 else []


def _refuse_texts(X: Any, error: Exception, owner: str) -> None:
    """Refuse columns of text: names of the objects, categories, or labels in place of points."""
    texts = []
    for name, column in _columns(X):
        is_text = (isinstance(value, str) and not _is_number(value) for value in column)
        row = next((row for row, text in enumerate(is_text) if text), None)
        if row is not None:
            texts.append((name, row, str(column[row])))
    if not texts:
        return
    names = ", ".join(repr(name) for name, _, _ in texts[:_NAMED])
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    _, row, value = texts[0]
    if len(texts) == np.shape(X)[1]:
        raise InputError(
            f"{owner} makes partitions from numbers, and all columns of X hold text ({value!r} at row {row}). If "
            "each column is a clustering or a category, X is an ensemble already: AutoConsensus().fit(X) combines it."
        ) from error
    raise InputError(
        f"{owner} makes partitions of numbers, and X holds text in column{'s' * (len(texts) > 1)} "
        f"{names}{more} "
        f"({value!r} at row {row}). Leave out what names the objects. A column of categories is "
        "a partition already, and joins those made of the numbers: ConsensusClustering().fit(X[numbers], "
        "partitions=X[categories])."
    ) from error


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


class Doubt(NamedTuple):
    """A row or cell of points that is probably no object or no measurement, or what is repeated.

    Attributes
    ----------
    kind : {"total", "far", "counts", "names", "rows"}
        The cell is the sum of all others in its column; it is far beyond them; the column numbers the objects; names, or rows, are
        repeated.
    row, column : int
        The place of the cell.
    value : float
        The number in it.
    times : float
        Ratio of its distance from the median to that of the next cell.
    again : tuple
        Repeated names, each with the number of times; or pairs of equal rows, the later one first.
    """

    kind: Literal["total", "far", "counts", "names", "rows"]
    row: int = 0
    column: int = 0
    value: float = np.nan
    times: float = np.nan
    again: tuple[tuple[Any, Any], ...] = ()


def doubts(X: Floats, ids: Sequence[str] | None = None) -> list[Doubt]:
    """Return the rows and cells of points that are probably no objects or no measurements.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points; NaN where a value is missing.
    ids : sequence of str, default=None
        Names of the objects.

    Returns
    -------
    list of Doubt
        A row that is the sum of the others in a column; cells a hundred times as far from the median of their column as
        any other (ten times, if it is about the sum of the others); a column that numbers the objects; rows and names that are
        repeated.
    """
    found = []
    for j, column in enumerate(np.asarray(X, dtype=np.float64).T):
        finite = np.isfinite(column)
        values = column[finite]
        if values.size < _FEW:
            continue
        if X.shape[1] > 1 and (np.diff(column) == 1).all():
            found.append(Doubt("counts", column=j, value=float(column[0])))
            continue
        total = _total(values, 1e-4)
        about = _BEYOND if _total(values, 0.1) is None else _BEYOND // 10
        if total is not None:
            found.append(
                Doubt("total", int(np.flatnonzero(finite)[total]), j, float(values[total]))
            )
            continue
        for at, times in _far(values, about):
            found.append(Doubt("far", int(np.flatnonzero(finite)[at]), j, float(values[at]), times))
    names = tuple((name, times) for name, times in Counter(ids or ()).items() if times > 1)
    rows = _repeated_rows(np.asarray(X, dtype=np.float64))
    return [
        *found,
        *(Doubt("names", again=names),) * bool(names),
        *(Doubt("rows", again=rows),) * bool(rows),
    ]


def _total(values: Floats, off: float) -> int | None:
    """Return the place of a value that is the sum of all others, but for a share; all have one sign. None if there is none."""
    if np.count_nonzero(values) < _FEW or (values.min() < 0 < values.max()):
        return None
    largest = int(np.argmax(np.abs(values)))
    rest = float(values.sum() - values[largest])
    return largest if abs(values[largest] - rest) <= off * abs(rest) else None


def _far(values: Floats, beyond: float) -> list[tuple[int, float]]:
    """Return the places of values that are far beyond all others, and how many times as far from the median."""
    distance = np.abs(values - np.median(values))
    order = np.argpartition(-distance, _AT_ONCE)[: _AT_ONCE + 1]
    order = order[np.argsort(-distance[order])]
    for k in range(len(order) - 1, 0, -1):
        inner = distance[order[k]]
        if inner > 0 and distance[order[k - 1]] >= beyond * inner:
            return [(int(at), float(distance[at] / inner)) for at in order[:k]]
    return []


def keys_of_rows(X: Floats) -> NDArray[np.uint64]:
    """Return a number for each row, equal for equal rows."""
    keys = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        bits = (column + 0.0).view(np.uint64)  # -0.0 is 0.0
        keys = keys * np.uint64(0x9E3779B97F4A7C15) ^ (bits ^ (keys >> np.uint64(29)))
    return keys


def are_repeated(keys: NDArray[np.uint64]) -> bool:
    """Return whether a number occurs twice, in less memory than it takes to find where."""
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def _repeated_rows(X: Floats) -> tuple[tuple[int, int], ...]:
    """Return the rows that repeat another one, with that one; none if the columns are coarse."""
    if X.shape[1] < 2:
        return ()
    keys = keys_of_rows(X)
    if not are_repeated(keys):
        return ()
    order = np.argsort(keys, kind="stable")
    alike = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    later, before = order[alike + 1], order[alike]
    same = ((X[later] + 0.0).view(np.uint64) == (X[before] + 0.0).view(np.uint64)).all(axis=1)
    again = sorted(zip(later[same].tolist(), before[same].tolist(), strict=True))
    coarse = max(len(np.unique(column)) for column in X.T) <= few_values(len(X)) if again else True
    return () if coarse else tuple(again)
