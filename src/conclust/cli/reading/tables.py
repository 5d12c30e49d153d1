"""Inputs as tables, whatever their format: columns with names, read as numbers, labels or text."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.formats import WHOLE
from conclust._files.parquetfile import index_columns
from conclust._types import Floats
from conclust.cli.reading.cells import is_missing
from conclust.cli.reading.csvfile import (
    FILLING,
    CsvRows,
    read_label_columns,
    read_number_columns,
    read_text_columns,
)
from conclust.cli.reading.sources import Source
from conclust.ensemble.columns import CodedColumn, arrow_labels, is_arrow_text, stay_exact
from conclust.exceptions import InputError


@dataclass(frozen=True)
class Reading:
    """The user's settings for reading a file.

    Parameters
    ----------
    delimiter : str, default=None
        Delimiter of CSV files; None: detected.
    header : bool, default=None
        Whether CSV files have a header; None: detected.
    decimal : {"point", "comma"}, default="point"
        Decimal separator of CSV files.
    id_column, label_column : str, default=None
        Columns of object names and of known classes, which are not data.
    columns : tuple of str, default=None
        Columns of data. None: all columns without another role.
    drop : tuple of str, default=()
        Columns to leave out.
    categories : tuple of str, default=()
        Columns of categories among points; ("all",): every column of text.
    gaps : bool, default=False
        Whether cells of points may be empty.
    key : str, default=None
        Name of the array of an NPZ or MAT file.
    na : tuple of str, default=()
        Further spellings of an empty cell in CSV files.
    encoding : str, default=None
        Encoding of CSV files without a byte order mark; None: UTF-8.
    """

    delimiter: str | None = None
    header: bool | None = None
    decimal: str = "point"
    id_column: str | None = None
    label_column: str | None = None
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    gaps: bool = False
    key: str | None = None
    na: tuple[str, ...] = ()
    encoding: str | None = None

    def is_empty(self, text: str) -> bool:
        """Return whether a cell of text marks a missing value."""
        return is_missing(text) or text.strip() in self.na


# Cells meant as numbers: with thousands separators, hexadecimal, or several in one cell.
_NEARLY_NUMBER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|[\d.,;_'\s]+)")


class Table(ABC):
    """Columns of a file.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    names : tuple of str
        Names of the columns; "1", "2", ... where they have none.
    named : bool
        Whether the file names its columns.
    notes : tuple of str
        Remarks on how the file was read.
    index : tuple of int
        Columns that pandas wrote as the index of the rows.
    """

    name: str
    names: tuple[str, ...]
    named: bool
    notes: tuple[str, ...] = ()
    index: tuple[int, ...] = ()

    def column(self, wanted: str, option: str) -> int:
        """Return the index of the column `wanted`, given by its name or counted from 1."""
        if wanted in self.names:
            return self.names.index(wanted)
        place = place_of(wanted, len(self.names))
        if place is not None:
            return place
        raise InputError(
            f"{option}: {self.name} has no column {wanted!r}. Its columns are {listed(self.names)}."
        )

    @abstractmethod
    def head(self, column: int) -> list[str]:
        """Return the first cells of a column as text."""

    @abstractmethod
    def is_text(self, column: int) -> bool:
        """Return whether a column holds words: none of its first cells is a number."""

    @abstractmethod
    def numbers(
        self, columns: Sequence[int], texts: Sequence[int], *, gaps: bool
    ) -> tuple[Floats, list[list[str]]]:
        """Read columns as finite numbers (NaN where `gaps` may be), and others as text."""

    @abstractmethod
    def labels(
        self, columns: Sequence[int], texts: Sequence[int], *, noise: bool
    ) -> tuple[NDArray[Any], list[list[str]]]:
        """Read columns as labels (-1 missing, -2 noise, also for -1 if `noise`), others as text."""

    @abstractmethod
    def texts(self, columns: Sequence[int]) -> list[list[str]]:
        """Read columns as text."""


@contextmanager
def table_of(source: Source, how: Reading, *, labels: bool) -> Iterator[Table]:
    """Open a file as a table, in any format except a saved ensemble.

    Parameters
    ----------
    source : Source
        The file.
    how : Reading
        Options for reading.
    labels : bool
        Whether text is data.
    """
    form = WHOLE[source.kind]
    if form.read is None:
        with CsvRows(
            source,
            labels=labels,
            delimiter=how.delimiter,
            header=how.header,
            decimal=how.decimal,
            na=how.na,
            encoding=how.encoding,
        ) as rows:
            yield _CsvTable(rows, source.name)
    elif form.has_columns:
        _refuse_options_of_csv(source, how)
        yield _FrameTable(form.read(source.path, source.name, False), source.name)
    else:
        refuse_columns(source, how)
        usual = ("labels", "L", "members", "X") if labels else ("X", "points", "data", "fea")
        yield _ArrayTable(source, read_array(source, how, usual, mmap=labels), labels)


def table_of_frame(frame: Any, name: str) -> Table:
    """Wrap an Arrow table; messages call its file `name`."""
    return _FrameTable(frame, name)


class _CsvTable(Table):
    def __init__(self, rows: CsvRows, name: str) -> None:
        self._rows = rows
        self._fresh = True
        self.name = name
        self.names = rows.names
        self.named = rows.has_header
        self.notes = ("its first line read as the header" if rows.has_header else "no header",)

    def head(self, column: int) -> list[str]:
        return self._rows.head(column)

    def is_text(self, column: int) -> bool:
        present = [cell for cell in self.head(column) if not self._rows.is_empty(cell)]
        return not any(map(self._rows.is_number, present)) and not all(
            map(_NEARLY_NUMBER.fullmatch, present)
        )

    def numbers(
        self, columns: Sequence[int], texts: Sequence[int], *, gaps: bool
    ) -> tuple[Floats, list[list[str]]]:
        return read_number_columns(self._again(), columns, texts, gaps=gaps)

    def labels(
        self, columns: Sequence[int], texts: Sequence[int], *, noise: bool
    ) -> tuple[NDArray[Any], list[list[str]]]:
        return read_label_columns(self._again(), columns, texts, noise=noise)

    def texts(self, columns: Sequence[int]) -> list[list[str]]:
        return read_text_columns(self._again(), columns)

    def _again(self) -> CsvRows:
        """Return the rows, from the first one on."""
        if not self._fresh:
            self._rows.rewind()
        self._fresh = False
        return self._rows


class _FrameTable(Table):
    """A table of Arrow."""

    named = True

    def __init__(self, table: Any, name: str) -> None:
        self.name = name
        self._table = table
        self.names = tuple(self._table.column_names)
        index = index_columns(self._table.schema)
        self.index = tuple(j for j, name in enumerate(self.names) if name in index)

    def head(self, column: int) -> list[str]:
        return ["" if v is None else str(v) for v in self._table.column(column)[:1000].to_pylist()]

    def is_text(self, column: int) -> bool:
        return is_arrow_text(self._table.column(column).type)

    def numbers(
        self, columns: Sequence[int], texts: Sequence[int], *, gaps: bool
    ) -> tuple[Floats, list[list[str]]]:
        X = np.empty((len(self._table), len(columns)))
        for u, j in enumerate(columns):
            column = self._array(j)
            try:
                X[:, u] = column.astype(np.float64)  # None is NaN
            except (TypeError, ValueError) as error:
                raise InputError(
                    f"{self.name}: the column {self.names[j]!r} holds text instead of numbers."
                ) from error
        _check_finite(self.name, X, self.names, columns, gaps)
        return X, self.texts(texts)

    def labels(
        self, columns: Sequence[int], texts: Sequence[int], *, noise: bool
    ) -> tuple[NDArray[Any], list[list[str]]]:
        arrays = [self._labels(j) for j in columns]
        if all(column.dtype.kind in "biuf" for column in arrays) and stay_exact(arrays):
            labels: NDArray[Any] = np.column_stack(arrays)
        else:
            labels = np.empty((len(self._table), len(columns)), dtype=object)
            for u, column in enumerate(arrays):
                labels[:, u] = column
        return _with_noise(labels) if noise else labels, self.texts(texts)

    def texts(self, columns: Sequence[int]) -> list[list[str]]:
        return [
            ["" if v is None else str(v) for v in self._table.column(j).to_pylist()]
            for j in columns
        ]

    def _labels(self, j: int) -> NDArray[Any]:
        self._refuse_type(j)
        column = arrow_labels(self._table.column(j))
        return column.objects() if isinstance(column, CodedColumn) else column

    def _array(self, j: int) -> NDArray[Any]:
        self._refuse_type(j)
        import pyarrow

        column, types = self._table.column(j), pyarrow.types
        kind = _plain_type(column.type)
        is_whole = types.is_boolean(kind) or types.is_integer(kind)
        if types.is_floating(kind) or (is_whole and column.null_count == 0):
            return np.asarray(column.to_numpy())
        return np.array([*column.to_pylist(), None], dtype=object)[:-1]

    def _refuse_type(self, j: int) -> None:
        from pyarrow import types

        kind = _plain_type(self._table.column(j).type)
        is_number = types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)
        if not (is_number or is_arrow_text(kind)):
            raise InputError(
                f"{self.name}: the column {self.names[j]!r} is of type {kind}; numbers and text are "
                "read."
            )


class _ArrayTable(Table):
    """An array of two dimensions; its columns are counted from 1."""

    named = False

    def __init__(self, source: Source, array: NDArray[Any], labels: bool) -> None:
        self.name = source.name
        if labels and array.ndim == 1:
            array = array[:, np.newaxis]
        if array.ndim != 2 or not (labels or array.dtype.kind in "biuf"):
            what = "labels are" if labels else "points are"
            of = (
                "labels, one clustering per column"
                if labels
                else "real numbers, one object per row"
            )
            raise InputError(
                f"{source}: {what} a two-dimensional array of {of}. Got shape {array.shape} and dtype "
                f"{array.dtype} instead."
            )
        self._array = array
        self.names = tuple(str(j + 1) for j in range(array.shape[1]))

    def head(self, column: int) -> list[str]:
        return [str(value) for value in self._array[:1000, column].tolist()]

    def is_text(self, column: int) -> bool:
        return False

    def numbers(
        self, columns: Sequence[int], texts: Sequence[int], *, gaps: bool
    ) -> tuple[Floats, list[list[str]]]:
        X = self._chosen(columns).astype(np.float64, copy=False)
        _check_finite(self.name, X, self.names, columns, gaps)
        return X, self.texts(texts)

    def labels(
        self, columns: Sequence[int], texts: Sequence[int], *, noise: bool
    ) -> tuple[NDArray[Any], list[list[str]]]:
        labels = self._chosen(columns)
        return _with_noise(labels) if noise else labels, self.texts(texts)

    def texts(self, columns: Sequence[int]) -> list[list[str]]:
        return [[str(value) for value in self._array[:, j].tolist()] for j in columns]

    def _chosen(self, columns: Sequence[int]) -> NDArray[Any]:
        whole = list(columns) == list(range(self._array.shape[1]))
        return self._array if whole else self._array[:, list(columns)]


def _with_noise(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels with -2 (noise) for -1, also for -1 as text."""
    if labels.dtype.kind in "OUT":
        labels = labels.astype(object)
        is_noise = np.frompyfunc(_is_minus_one, 1, 1)(labels).astype(bool)
    else:
        is_noise = labels == -1
    return np.where(is_noise, -2, labels) if is_noise.any() else labels


def _is_minus_one(cell: Any) -> bool:
    return cell.strip() == "-1" if isinstance(cell, str) else bool(cell == -1)


# --------------------------------------------------------------------------------------- formats


def place_of(text: str, n_columns: int) -> int | None:
    """Return the index of a column whose number, counted from 1, is given as text; None if it is not such a number."""
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        return None
    return int(text) - 1 if 1 <= int(text) <= n_columns else None


def refuse_columns(source: Source, how: Reading) -> None:
    """Refuse options for names and classes with an array, which holds numbers only."""
    if how.id_column is not None or how.label_column is not None:
        raise InputError(
            f"{source} is an array without named columns: --id-column and --label-column are for CSV "
            "and Parquet."
        )


def _refuse_options_of_csv(source: Source, how: Reading) -> None:
    if how.encoding is not None:
        raise InputError(f"--encoding is for CSV files. Leave it out for {source}.")
    if how.na:
        raise InputError(f"--na is for CSV files. Mark missing values in {source} itself.")


def read_array(
    source: Source, how: Reading, usual: tuple[str, ...], *, mmap: bool = False
) -> NDArray[Any]:
    """Read the array of a file that `how` names, or the one with a usual name."""
    _refuse_options_of_csv(source, how)
    form = WHOLE[source.kind]
    assert form.read is not None
    arrays: dict[str, NDArray[Any]] = form.read(source.path, source.name, mmap)
    if not arrays:
        raise InputError(f"{source} does not contain an array of numbers.")
    if {"codes", "cluster_counts"} <= arrays.keys():
        raise InputError(
            f"{source} is a saved ensemble, which is read by 'conclust combine'. Here give a table of labels."
        )
    if how.key is not None and form.holds == "arrays":
        if how.key not in arrays:
            raise InputError(
                f"{source} has no array {how.key!r}. Its arrays are {listed(tuple(arrays))}."
            )
        return arrays[how.key]
    candidates = [name for name in usual if name in arrays] or list(arrays)
    if len(candidates) != 1 and not any(name in arrays for name in usual):
        raise InputError(
            f"{source} holds {len(arrays)} arrays: {listed(tuple(arrays))}. Say which with --key."
        )
    return arrays[candidates[0]]


def _plain_type(kind: Any) -> Any:
    import pyarrow

    return kind.value_type if pyarrow.types.is_dictionary(kind) else kind


def _check_finite(
    name: str, X: Floats, names: Sequence[str], columns: Sequence[int], gaps: bool
) -> None:
    bad = np.isinf(X) if gaps else ~np.isfinite(X)
    if bad.any():
        row, column = (int(k) for k in np.argwhere(bad)[0])
        way = FILLING if np.isnan(X[row, column]) else "Correct it, or leave the object out."
        raise InputError(
            f"{name}: row {row + 1}, column {names[columns[column]]} holds {X[row, column]}, but "
            f"points need a finite number in every cell. {way}"
        )


def listed(names: Sequence[str]) -> str:
    """Return the first names, quoted."""
    quoted = ", ".join(repr(name) for name in names[:12])
    return quoted + (", ..." if len(names) > 12 else "")
