"""Points, label matrices and single labellings from CSV, NPY, NPZ and Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._storage import open_regular, read_npy, read_npz, reading_limit
from conclust._validation import missing_extra
from conclust.cli.csvfile import CsvRows, read_label_columns, read_number_columns
from conclust.ensemble import Ensemble
from conclust.exceptions import FileFormatError, InputError

__all__ = [
    "Labels",
    "Points",
    "Reading",
    "read_ensemble",
    "read_labelling",
    "read_points",
    "read_weights",
]

_OBJECT = "object"  # the column of object names in the files that conclust writes


@dataclass(frozen=True)
class Reading:
    """What the user said about how to read a file.

    Parameters
    ----------
    delimiter : str, default=None
        Of CSV; None looks.
    header : bool, default=None
        Of CSV; None looks.
    id_column, label_column : str, default=None
        Columns that name the objects and their known classes: no part of the data.
    key : str, default=None
        Which array of an NPZ file.
    """

    delimiter: str | None = None
    header: bool | None = None
    id_column: str | None = None
    label_column: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class Points:
    """Objects described by numbers."""

    X: NDArray[np.float64]
    names: tuple[str, ...]
    ids: list[str] | None
    classes: list[str] | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Labels:
    """Objects described by an ensemble of partitions."""

    ensemble: Ensemble
    ids: list[str] | None
    classes: list[str] | None
    notes: tuple[str, ...]


def read_points(path: Path, how: Reading) -> Points:
    """Read points, one object a row.

    Raises
    ------
    OSError
        The file is missing or cannot be read.
    FileFormatError, InputError
        Its form or its content is not what points are.
    """
    points = _read_points(path, how)
    if len(points.X) < 2:
        raise InputError(f"{path} holds {len(points.X)} object; a clustering needs two at least.")
    if not points.X.shape[1]:
        raise InputError(f"{path} has no column: an object is described by one number at least.")
    return points


def _read_points(path: Path, how: Reading) -> Points:
    kind = _kind(path)
    if kind == "csv":
        with CsvRows(path, labels=False, delimiter=how.delimiter, header=how.header) as rows:
            ids, classes, columns = _roles(rows.names, rows.column, how)
            texts = [column for column in (ids, classes) if column is not None]
            notes = _describe_csv(rows, ids, how)
            names = tuple(rows.names[j] for j in columns)
            X, kept = read_number_columns(rows, columns, texts)
        return Points(X, names, *_text_columns(kept, ids, classes), notes)
    if kind == "parquet":
        frame, ids_, classes_ = _read_parquet(path, how)
        for name, column in frame.items():
            if column.dtype.kind not in "biuf":
                raise InputError(
                    f"{path}: the column {name!r} holds text where numbers belong. If it names the "
                    "objects or their known classes, give it as --id-column or --label-column."
                )
        X = np.column_stack([column.astype(np.float64) for column in frame.values()])
        _check_finite(path, X)
        return Points(X, tuple(frame), ids_, classes_, ())
    _no_columns(path, how)
    array = _read_array(path, kind, how, ("X", "points", "data"))
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InputError(
            f"{path}: points are a two-dimensional array of real numbers, one object a row. Got "
            f"shape {array.shape} and dtype {array.dtype} instead."
        )
    X = array.astype(np.float64, copy=False)
    _check_finite(path, X)
    return Points(X, tuple(str(j + 1) for j in range(X.shape[1])), None, None, ())


def read_ensemble(
    path: Path, how: Reading, *, missing: str = "unobserved", weights: Path | None = None
) -> Labels:
    """Read a label matrix (one partition a column) or a saved ensemble.

    Parameters
    ----------
    path : Path
        CSV, NPY, NPZ, Parquet, or what `Ensemble.save` wrote.
    how : Reading
        How to read it.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 means.
    weights : Path, default=None
        A file of one weight per partition.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    FileFormatError, InputError
        Its form or its content is not what labels are.
    """
    kind = _kind(path)
    ids = classes = None
    notes: tuple[str, ...] = ()
    labels: Any
    if kind == "csv":
        labels, ids, classes, notes = _csv_labels(path, how, missing)
        missing = "unobserved"  # -1 has been read, and empty cells are now -1 too
    elif kind == "parquet":
        frame, ids, classes = _read_parquet(path, how)
        labels = np.empty((len(next(iter(frame.values()))), len(frame)), dtype=object)
        for u, column in enumerate(frame.values()):
            labels[:, u] = column
        if all(column.dtype.kind in "iu" for column in frame.values()):
            labels = labels.astype(np.int64)
        if missing == "noise":
            labels[labels == -1] = -2
        missing = "unobserved"  # so that an empty cell is not taken for a -1
    else:
        _no_columns(path, how)
        saved = _saved_ensemble(path, kind)
        if saved is not None:
            if missing != "unobserved":
                raise InputError(
                    f"{path} is a saved ensemble, which knows its missing labels from noise. Leave "
                    "--missing out."
                )
            if weights is not None:
                saved = saved.reweighted(read_weights(weights, saved.n_partitions))
            return Labels(saved, None, None, ("a saved ensemble",))
        labels = _read_array(path, kind, how, ("labels", "L", "X"), mmap=True)
    n_partitions = labels.shape[1] if labels.ndim == 2 else 1
    try:
        ensemble = Ensemble(
            labels,
            weights=None if weights is None else read_weights(weights, n_partitions),
            missing=missing,
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return Labels(ensemble, ids, classes, notes)


def read_labelling(
    path: Path, how: Reading, column: str | None
) -> tuple[NDArray[Any], list[str] | None]:
    """Read one labelling of objects: the column `column`, or "label", or the only one.

    Returns
    -------
    labels : ndarray of shape (n_objects,)
        Whole numbers or names; -1 missing, -2 noise.
    ids : list of str or None
        Names of the objects, where the file has them.
    """
    kind = _kind(path)
    if kind == "csv":
        return _csv_labelling(path, how, column)
    if kind == "parquet":
        frame, ids_, _ = _read_parquet(path, how)
        wanted = column or ("label" if "label" in frame else None)
        if wanted is None and len(frame) == 1:
            wanted = next(iter(frame))
        if wanted not in frame:
            raise InputError(
                f"{path}: cannot tell the labels to compare among the columns {_list(tuple(frame))}. "
                "Say which with --column."
            )
        return frame[wanted], ids_
    _no_columns(path, how)
    array = _read_array(path, kind, how, ("labels", "label", "y"))
    if array.ndim == 2:
        position = int(column) - 1 if column and column.isdigit() else 0
        if (column is None and array.shape[1] != 1) or not 0 <= position < array.shape[1]:
            raise InputError(
                f"{path} holds {array.shape[1]} columns of labels. Say which to compare with "
                f"--column, a number from 1 to {array.shape[1]}."
            )
        array = array[:, position]
    if array.ndim != 1 or array.dtype.kind not in "biufUS":
        raise InputError(
            f"{path}: labels to compare are one column of whole numbers or names. Got shape "
            f"{array.shape} and dtype {array.dtype} instead."
        )
    return array, None


def read_weights(path: Path, n_partitions: int) -> NDArray[np.float64]:
    """Read one non-negative weight per partition: a column, a row, or an NPY or NPZ file."""
    kind = _kind(path)
    if kind == "csv":
        with CsvRows(path, labels=False) as rows:
            weights, _ = read_number_columns(rows, range(len(rows.names)), [])
    elif kind == "parquet":
        raise InputError(f"{path}: weights are read from CSV, NPY or NPZ, not from Parquet.")
    else:
        weights = _read_array(path, kind, Reading(), ("weights",))
    if weights.dtype.kind not in "biuf" or weights.size != n_partitions or 1 < weights.ndim != 2:
        raise InputError(
            f"{path}: expected one number per partition, {n_partitions} in all. Got shape "
            f"{weights.shape} and dtype {weights.dtype} instead."
        )
    return weights.reshape(-1).astype(np.float64)


def _csv_labelling(
    path: Path, how: Reading, column: str | None
) -> tuple[NDArray[Any], list[str] | None]:
    with CsvRows(path, labels=True, delimiter=how.delimiter, header=how.header) as rows:
        wanted = column or ("label" if rows.has_header and "label" in rows.names else None)
        ids, _, columns = _roles(rows.names, rows.column, how)
        if wanted is not None:
            columns = [rows.column(wanted, "--column")]
            if ids is None and rows.has_header and rows.names[0] == _OBJECT:
                ids = 0
        if len(columns) != 1:
            raise InputError(
                f"{path} has {len(columns)} columns that may be the labels to compare: "
                f"{_list(rows.names)}. Say which with --column."
            )
        texts = [] if ids is None else [ids]
        labels, kept = read_label_columns(rows, columns, texts, noise=False)
        return labels[:, 0], None if ids is None else kept[0]


def _csv_labels(
    path: Path, how: Reading, missing: str
) -> tuple[NDArray[Any], list[str] | None, list[str] | None, tuple[str, ...]]:
    with CsvRows(path, labels=True, delimiter=how.delimiter, header=how.header) as rows:
        ids, classes, columns = _roles(rows.names, rows.column, how)
        texts = [column for column in (ids, classes) if column is not None]
        notes = _describe_csv(rows, ids, how)
        labels, kept = read_label_columns(rows, columns, texts, noise=missing == "noise")
    return labels, *_text_columns(kept, ids, classes), notes


def _kind(path: Path) -> str:
    kinds = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".npy": "npy", ".npz": "npz"}
    kinds |= {".parquet": "parquet", ".pq": "parquet"}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        known = ", ".join(sorted(kinds))
        found = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
        raise InputError(f"{path}: cannot tell its format from {found}. Known are {known}.")
    return kind


def _roles(
    names: Sequence[str], column: Any, how: Reading
) -> tuple[int | None, int | None, list[int]]:
    """Return the column of object names, that of known classes, and the rest."""
    ids = None if how.id_column is None else column(how.id_column, "--id-column")
    classes = None if how.label_column is None else column(how.label_column, "--label-column")
    if ids is not None and ids == classes:
        raise InputError("--id-column and --label-column name the same column.")
    if ids is None and not names[0] and classes != 0:
        ids = 0  # the index column of a data frame, written without a name
    rest = [j for j in range(len(names)) if j not in (ids, classes)]
    if not rest:
        raise InputError("No column of data is left beside the named ones.")
    return ids, classes, rest


def _text_columns(
    kept: list[list[str]], ids: int | None, classes: int | None
) -> tuple[list[str] | None, list[str] | None]:
    texts = iter(kept)
    return (
        None if ids is None else next(texts),
        None if classes is None else [text.strip() for text in next(texts)],
    )


def _describe_csv(rows: CsvRows, ids: int | None, how: Reading) -> tuple[str, ...]:
    notes = ["its first line read as the header" if rows.has_header else "no header"]
    if ids is not None and how.id_column is None:
        notes.append("its first column, which has no name, read as names of the objects")
    return tuple(notes)


def _no_columns(path: Path, how: Reading) -> None:
    if how.id_column is not None or how.label_column is not None:
        raise InputError(
            f"{path} is an array without named columns: --id-column and --label-column are for CSV "
            "and Parquet."
        )


def _read_array(
    path: Path, kind: str, how: Reading, usual: tuple[str, ...], *, mmap: bool = False
) -> NDArray[Any]:
    if kind == "npy":
        return read_npy(path, mmap=mmap)
    arrays, _ = read_npz(path)
    if how.key is not None:
        if how.key not in arrays:
            raise InputError(
                f"{path} has no array {how.key!r}. Its arrays are {_list(tuple(arrays))}."
            )
        return arrays[how.key]
    found = [name for name in usual if name in arrays] or list(arrays)
    if len(found) != 1 and not any(name in arrays for name in usual):
        raise InputError(
            f"{path} holds {len(arrays)} arrays: {_list(tuple(arrays))}. Say which with --key."
        )
    return arrays[found[0]]


def _saved_ensemble(path: Path, kind: str) -> Ensemble | None:
    if kind != "npz":
        return None
    _, meta = read_npz(path)
    return Ensemble.load(path) if "ensemble" in str(meta.get("format", "")) else None


def _read_parquet(
    path: Path, how: Reading
) -> tuple[dict[str, NDArray[Any]], list[str] | None, list[str] | None]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        missing_extra("pyarrow", "parquet", "Reading Parquet files")
    try:
        with open_regular(path) as source, pyarrow.parquet.ParquetFile(source) as file:
            # Equal values are stored once, so that a small file can be a giant table.
            cells = file.metadata.num_rows * file.metadata.num_columns
            if cells * 8 > reading_limit():
                raise FileFormatError(
                    f"{path} unpacks to {cells} cells, too many for this machine."
                )
            table = file.read()
    except pyarrow.ArrowException as error:
        raise FileFormatError(f"{path} is no sound Parquet file ({error}).") from error
    names = table.column_names
    if not names or not len(table):
        raise InputError(f"{path} is empty.")
    if len(set(names)) < len(names):
        raise InputError(f"{path} has a column name more than once.")

    def column(wanted: str, option: str) -> int:
        if wanted not in names:
            raise InputError(
                f"{option}: {path} has no column {wanted!r}. Its columns are {_list(names)}."
            )
        return int(names.index(wanted))

    ids, classes, rest = _roles(names, column, how)

    def text(position: int | None) -> list[str] | None:
        if position is None:
            return None
        return ["" if value is None else str(value) for value in table.column(position).to_pylist()]

    return {names[j]: _from_arrow(path, table, j) for j in rest}, text(ids), text(classes)


def _from_arrow(path: Path, table: Any, j: int) -> NDArray[Any]:
    import pyarrow

    column = table.column(j)
    kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
    types = pyarrow.types
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        if types.is_floating(kind) or column.null_count == 0:
            return np.asarray(column.to_numpy())
    elif not (types.is_string(kind) or types.is_large_string(kind)):
        raise InputError(
            f"{path}: the column {table.column_names[j]!r} is of type {kind}; numbers and text are "
            "read."
        )
    return np.array([*column.to_pylist(), None], dtype=object)[:-1]


def _check_finite(path: Path, X: NDArray[np.float64]) -> None:
    bad = ~np.isfinite(X)
    if bad.any():
        row, column = (int(k) for k in np.argwhere(bad)[0])
        raise InputError(
            f"{path}: row {row + 1}, column {column + 1} holds {X[row, column]}, and points need a "
            "finite number in every place. Fill it, or leave the object out."
        )


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:12])
    return shown + (", ..." if len(names) > 12 else "")
