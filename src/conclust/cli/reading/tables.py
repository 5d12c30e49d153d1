"""Inputs as tables, whatever their format: columns with names, read as numbers, labels or text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.formats import WHOLE
from conclust._files.parquetfile import index_columns
from conclust._types import Floats
from conclust.cli.reading.notation import (
    EMPTY,
    EMPTY_NUMBER,
    SPACES,
    described,
    is_number,
    readings,
)
from conclust.cli.reading.sources import Source
from conclust.cli.reading.textfile import TextFile
from conclust.ensemble.columns import CodedColumn, arrow_labels, is_arrow_text, stay_exact
from conclust.exceptions import InputError


@dataclass(frozen=True)
class Reading:
    """The user's settings for reading a file.

    Parameters
    ----------
    delimiter : str, default=None
        Separator of the columns of text files; None: detected.
    header : bool, default=None
        Whether text files have a header; None: detected.
    decimal : {"point", "comma"}, default=None
        Decimal sign of text files; None: detected for each column.
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
        Further spellings of an empty cell in text files.
    encoding : str, default=None
        Encoding of text files without a byte order mark; None: UTF-8.
    notations : dict of str to str, default={}
        Notations in which an earlier file had its columns of numbers, which `readings` found.
    command : tuple of str, default=("cluster",)
        The words of the command, which a refusal repeats with what is missing; empty: it has no such options.
    """

    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    gaps: bool = False
    key: str | None = None
    na: tuple[str, ...] = ()
    encoding: str | None = None
    notations: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ("cluster",)

    def is_empty(self, text: str) -> bool:
        """Return whether a cell of text marks a missing value."""
        return text.strip() in (*EMPTY, *self.na)


@dataclass
class Numbers:
    """A column of text as numbers: their values by notation, and cells that are empty only among numbers."""

    found: dict[str, Floats]
    empty_words: list[str]
    notation: str = ""

    @property
    def values(self) -> Floats | None:
        """The values; None: the column is text, or its notation is not known."""
        return self.found.get(self.notation)


class Table:
    """Columns of a file, of Arrow or NumPy.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    names : tuple of str
        Names of the columns; "1", "2", ... where they have none.
    named : bool
        Whether the file names its columns.
    notes : tuple of str
        Remarks on the reading of the file.
    index : tuple of int
        Columns that pandas wrote as the index of the rows.
    text : TextFile or None
        The file, if it is one of text.
    """

    def __init__(
        self, name: str, columns: Sequence[Any], names: Sequence[str], how: Reading, **more: Any
    ) -> None:
        self.name, self.columns, self.names, self.how = name, columns, tuple(names), how
        self.text: TextFile | None = more.get("text")
        self.named: bool = more.get("named", True)
        self.notes: tuple[str, ...] = more.get("notes", ())
        self.index: tuple[int, ...] = more.get("index", ())
        self._array: NDArray[Any] | None = more.get("array")
        self._read: dict[int, Numbers] = {}

    def __len__(self) -> int:
        return len(self.columns[0])

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

    def cells(self, j: int) -> Any:
        """Return a column of text without blanks around the cells, null where they are empty."""
        from pyarrow import array, compute

        cells = compute.utf8_trim(self.columns[j].cast("string"), SPACES)
        empty = compute.is_in(cells, value_set=array([*EMPTY, *self.how.na]))
        return compute.if_else(empty, None, cells)

    def is_words(self, j: int) -> bool:
        """Return whether a column is of text, in a file of text also one of numbers."""
        return not isinstance(self.columns[j], np.ndarray) and is_arrow_text(self.columns[j].type)

    def is_text(self, j: int) -> bool:
        """Return whether a column is text, without a number in its first cells."""
        if not self.is_words(j) or self.numbers_of(j).found:
            return False
        return not any(is_number(cell or "") for cell in self.columns[j][:1000].to_pylist())

    def numbers_of(self, j: int) -> Numbers:
        """Return a column as numbers in every notation that fits all of its cells."""
        if j not in self._read:
            self._read[j] = self._numbers(j)
        return self._read[j]

    def _numbers(self, j: int) -> Numbers:
        column = self.columns[j]
        if isinstance(column, np.ndarray):
            return Numbers({"point": column.astype(np.float64)}, [], "point")
        from pyarrow import array, compute, types

        kind = plain_type(column.type)
        if types.is_timestamp(kind) or types.is_date(kind):
            days = column.cast("timestamp[us]").cast("int64").to_numpy() / 86_400e6
            return Numbers({"YYYY-MM-DD": days}, [], "YYYY-MM-DD")
        if not is_arrow_text(kind):
            self._refuse_type(j)
            values = (
                np.array([*column.to_pylist(), None], dtype=np.float64)[:-1]
                if not types.is_floating(kind)
                else np.asarray(column.to_numpy(), dtype=np.float64)
            )
            return Numbers({"point": values}, [], "point")
        found = {}
        if not (self.how.na or column.null_count):
            found = readings(column.cast("string"))
        words: list[str] = []
        if not found:
            cells = self.cells(j)
            found = readings(cells.drop_null())
            if not found:
                no_number = compute.is_in(cells, value_set=array(EMPTY_NUMBER))
                words = cells.filter(no_number).unique().to_pylist()
                cells = compute.if_else(no_number, None, cells)
                found = readings(cells.drop_null()) if words else {}
            full = cells.is_valid().to_numpy()
            for notation, values in found.items():
                found[notation] = np.full(len(full), np.nan)
                found[notation][full] = values
        return Numbers(found, words)

    def values(self, j: int) -> Floats:
        """Return a settled column of numbers."""
        read = self.numbers_of(j)
        return read.found[read.notation]

    def settle(self, columns: Sequence[int]) -> None:
        """Choose the notation of columns where several fit: the given one, or that of the other columns."""
        reads = {j: self.numbers_of(j) for j in columns}
        signs = {next(iter(read.found)) for read in reads.values() if len(read.found) == 1}
        signs = {sign.split()[0] for sign in signs} & {"point", "comma"}
        if self.how.decimal is not None:
            signs = {self.how.decimal}
        for j, read in reads.items():
            if not self.is_words(j):
                continue
            others = {"point", "comma"} - signs
            fit = [one for one in read.found if one.split()[0] not in others]
            if self.how.decimal is None and (not fit or len(signs) != 1):
                fit = list(read.found)
            if (given := self.how.notations.get(self.names[j])) in fit:
                fit = [given]
            if fit[:1] == ["point"] and not self._has(j, ","):
                fit = fit[:1]
            pairs = [(read.found[fit[0]], read.found[one]) for one in fit]
            same = all(np.array_equal(one, other, equal_nan=True) for one, other in pairs)
            whole = same and set(read.found) == {"point", "comma"}
            read.notation = ("point" if whole and len(fit) > 1 else fit[0]) if fit and same else ""

    def _has(self, j: int, sign: str) -> bool:
        from pyarrow import compute

        return bool(compute.any(compute.match_substring(self.columns[j], sign)).as_py())

    def how_written(self, columns: Sequence[int]) -> list[str]:
        """Return what is unusual in the notation of columns, each with their names."""
        said: dict[str, list[str]] = {}
        for j in columns:
            read = self.numbers_of(j)
            words = [f"{word!r} as empty" for word in read.empty_words]
            for what in filter(None, [described(read.notation), *words]):
                said.setdefault(what, []).append(self.names[j])
        return [f"{what} in {listed(names)}" for what, names in said.items()]

    def texts(self, columns: Sequence[int]) -> list[list[str]]:
        """Read columns as text."""
        read = []
        for column in (self.columns[j] for j in columns):
            cells = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
            texts = ["" if cell is None else str(cell) for cell in cells]
            read.append([text.strip(SPACES) for text in texts] if self.text else texts)
        return read

    def labels(self, columns: Sequence[int], *, noise: bool) -> NDArray[Any]:
        """Read columns as labels: -1 missing, -2 noise, also for -1 if `noise`."""
        if self._array is not None:
            whole = list(columns) == list(range(len(self.names)))
            labels = self._array if whole else self._array[:, list(columns)]
            return _with_noise(labels) if noise else labels
        arrays = [self._labels(j, noise) for j in columns]
        if all(column.dtype.kind in "biuf" for column in arrays) and stay_exact(arrays):
            return np.column_stack(arrays)
        labels = np.empty((len(self), len(columns)), dtype=object)
        for u, column in enumerate(arrays):
            labels[:, u] = column
        return labels

    def _labels(self, j: int, noise: bool) -> NDArray[Any]:
        column = self.columns[j]
        self._refuse_type(j)
        if self.text is not None:
            from pyarrow import ArrowInvalid

            for trimmed in (False, True):
                if trimmed or not self.how.na:
                    with suppress(ArrowInvalid):  # names
                        return self._whole(j, self.cells(j) if trimmed else column, noise)
            column = self.cells(j)
        labels = arrow_labels(column)
        labels = labels.objects() if isinstance(labels, CodedColumn) else labels
        return _with_noise(labels) if noise else labels

    def _whole(self, j: int, cells: Any, noise: bool) -> NDArray[Any]:
        """Return the labels of a column of numbers, which must be whole."""
        numbers = cells.cast("float64").to_numpy()  # which does not take hexadecimal ones
        missing = np.isnan(numbers)
        bad = ~missing & ((np.rint(numbers) != numbers) | (numbers < -2) | (numbers >= 2.0**63))
        if (np.abs(numbers) >= 2.0**53).any() and not bad.any():
            exact = cells.cast("int64").fill_null(-1)
            numbers = exact.to_numpy()
        if bad.any():
            row = int(np.argmax(bad))
            text = self.texts([j])[0][row]
            fraction = np.isfinite(float(text)) and float(text) % 1 != 0
            code = (
                "" if fraction else f"If this is a code of missing labels, give --na={text[:60]}. "
            )
            raise InputError(
                f"{self.name}: {self.place(row, j)}: the label {text[:60]!r} {'is not a whole number' if float(text) >= 0 or fraction else 'is negative'}. Labels are whole numbers "
                f"from 0 on or names; -1 is missing, -2 is noise. {code}If these are points, not labels, use: conclust cluster."
            )
        if noise:
            numbers = np.where(numbers == -1, -2, numbers)
        return np.where(missing, -1, numbers).astype(np.int64)

    def place(self, row: int, j: int) -> str:
        """Return the position of a cell: line or row, and column."""
        name = f" ({self.names[j]!r})" if self.named else ""
        where = f"row {row + 1}" if self.text is None else f"line {self.text.line(row)}"
        return f"{where}, column {j + 1}{name}"

    def _refuse_type(self, j: int) -> None:
        from pyarrow import types

        kind = plain_type(self.columns[j].type)
        number = types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)
        if not (number or is_arrow_text(kind)):
            raise InputError(
                f"{self.name}: the column {self.names[j]!r} is of type {kind}; numbers, dates and text are read."
            )


@contextmanager
def table_of(source: Source, how: Reading, *, labels: bool) -> Iterator[Table]:
    """Open a file as a table, in any format except a saved ensemble; `labels`: whether text is data."""
    form = WHOLE[source.kind]
    if form.read is None:
        text = TextFile(
            source, labels=labels, delimiter=how.delimiter, header=how.header, encoding=how.encoding
        )
        named = text.has_header
        yield Table(
            source.name, text.columns, text.names, how, text=text, named=named, notes=text.notes
        )
    elif form.has_columns:
        refuse_options_of_text(source, how)
        yield table_of_frame(form.read(source.path, source.name, False), source.name, how)
    else:
        refuse_columns(source, how)
        usual = ("labels", "L", "members", "X") if labels else ("X", "points", "data", "fea")
        array = read_array(source, how, usual, mmap=labels)
        if labels and array.ndim == 1:
            array = array[:, np.newaxis]
        if array.ndim != 2 or not (labels or array.dtype.kind in "biuf"):
            what = (
                "labels are a two-dimensional array of labels, one clustering per column"
                if labels
                else "points are a two-dimensional array of real numbers, one object per row"
            )
            raise InputError(
                f"{source}: {what}. Got shape {array.shape} and dtype {array.dtype} instead."
            )
        names = tuple(str(j + 1) for j in range(array.shape[1]))
        yield Table(source.name, list(array.T), names, how, named=False, array=array)


def table_of_frame(frame: Any, name: str, how: Reading | None = None) -> Table:
    """Wrap an Arrow table; messages call its file `name`."""
    index = index_columns(frame.schema)
    places = tuple(j for j, name in enumerate(frame.column_names) if name in index)
    return Table(name, frame.columns, frame.column_names, how or Reading(), index=places)


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


def place_of(text: str, n_columns: int) -> int | None:
    """Return the index of a column whose number, counted from 1, is given as text; None if it is not such a number."""
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        return None
    return int(text) - 1 if 1 <= int(text) <= n_columns else None


def refuse_columns(source: Source, how: Reading) -> None:
    """Refuse options for names and classes with an array, which holds numbers only."""
    if how.id_column is not None or how.label_column is not None:
        raise InputError(
            f"{source} is an array without named columns: --id-column and --label-column are for CSV and Parquet."
        )


def refuse_options_of_text(source: Source, how: Reading) -> None:
    """Refuse options for files of text with another one."""
    if how.encoding is not None:
        raise InputError(f"--encoding is for CSV files. Leave it out for {source}.")
    if how.na:
        raise InputError(f"--na is for CSV files. Mark missing values in {source} itself.")


def read_array(
    source: Source, how: Reading, usual: tuple[str, ...], *, mmap: bool = False
) -> NDArray[Any]:
    """Read the array of a file that `how` names, or the one with a usual name."""
    refuse_options_of_text(source, how)
    form = WHOLE[source.kind]
    assert form.read is not None
    arrays: dict[str, NDArray[Any]] = form.read(source.path, source.name, mmap)
    if not arrays:
        raise InputError(f"{source} does not contain an array of numbers.")
    if {"codes", "cluster_counts"} <= arrays.keys():
        raise InputError(
            f"{source} is a saved ensemble, which is read by 'conclust combine'. Here give a table of labels."
        )
    names = listed(tuple(arrays))
    if how.key is not None and form.holds == "arrays":
        if how.key not in arrays:
            raise InputError(f"{source} has no array {how.key!r}. Its arrays are {names}.")
        return arrays[how.key]
    found = next((name for name in usual if name in arrays), next(iter(arrays)))
    if len(arrays) > 1 and found not in usual:
        raise InputError(f"{source} holds {len(arrays)} arrays: {names}. Say which with --key.")
    return arrays[found]


def plain_type(kind: Any) -> Any:
    """Return the type of the values of a column of Arrow, also of a dictionary."""
    return getattr(kind, "value_type", kind)


def listed(names: Sequence[str]) -> str:
    """Return the first names, quoted."""
    quoted = ", ".join(repr(name) for name in names[:12])
    return quoted + (", ..." if len(names) > 12 else "")
