"""Inputs as tables, whatever their format: columns with names, read as numbers, labels or text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conclust._files.formats import WHOLE
from conclust._files.parquetfile import index_columns
from conclust._types import Floats
from conclust.cli.reading import notation
from conclust.cli.reading.notation import Reading, is_number, last_word, plain_numbers
from conclust.cli.reading.sources import Source
from conclust.cli.reading.textfile import TextFile
from conclust.ensemble.columns import CodedColumn, arrow_labels, is_arrow_text, stay_exact
from conclust.exceptions import InputError, warn

FEW = 10  # number of objects below which all labels of a column may differ by chance
_USUAL = {
    "points": ("X", "points", "data", "fea"),
    "labels": ("labels", "L", "members", "X"),
    "labelling": ("labels", "label", "y", "gt"),
    "weights": ("weights",),
}
"""Usual names of arrays in an NPZ file."""


class Column:
    """A column of a file, as text, numbers and labels.

    Attributes
    ----------
    name : str
        Its name; its number from 1 where it has none.
    data : ndarray or ChunkedArray
        Its cells as the file has them.
    notation : str
        The one of `readings` that is used; empty: none, or none yet.
    empty_words : list of str
        Cells that are empty only among numbers.
    """

    def __init__(self, table: Table, place: int, name: str, data: Any) -> None:
        self.table, self.place, self.name, self.data = table, place, name, data
        self._is_array = isinstance(data, np.ndarray)
        self._has_words = not self._is_array and is_arrow_text(data.type)
        self._empty = {*notation.EMPTY, *table.how.na}
        self.notation = ""
        self.empty_words: list[str] = []

    @cached_property
    def _cells(self) -> tuple[Any, tuple[str, Any]]:
        """The text without blanks around the cells, null where they are empty; the cells as numbers, by `plain_numbers`."""
        from pyarrow import array, compute

        if str(self.data.type) == "string" and not self.table.how.na:
            # Most columns have a number in each cell, and need no further look.
            sign, numbers = plain = plain_numbers(self.data)
            if sign and compute.all(compute.is_finite(numbers), skip_nulls=False).as_py():
                return self.data, plain
        cells = compute.utf8_trim(self.data.cast("string"), notation.SPACES)
        cells = compute.if_else(compute.is_in(cells, value_set=array([*self._empty])), None, cells)
        return cells, plain_numbers(cells)

    @cached_property
    def texts(self) -> list[str]:
        """The cells as text."""
        cells = self.data.tolist() if self._is_array else self.data.to_pylist()
        return ["" if cell is None else str(cell).strip(notation.SPACES) for cell in cells]

    @cached_property
    def words(self) -> list[str | None]:
        """The cells as text, None where they are empty."""
        return [None if text.strip() in self._empty else text for text in self.texts]

    @cached_property
    def readings(self) -> dict[str, Floats]:
        """The values in every notation that fits all cells."""
        if str(getattr(self.data, "type", "")).startswith(("timestamp", "date")):
            days = self.data.cast("timestamp[us]").cast("int64").to_numpy() / 86_400e6
            return {"YYYY-MM-DD": days}
        if not self._has_words:
            return {"number": np.array(self.labels(), dtype=np.float64)}
        from pyarrow import array, compute

        cells, plain = self._cells
        found = notation.readings(cells, plain)
        if not found:
            is_word = compute.is_in(cells, value_set=array(notation.EMPTY_NUMBER))
            self.empty_words = cells.filter(is_word).unique().to_pylist()
            cells = compute.if_else(is_word, None, cells)
            found = notation.readings(cells, plain_numbers(cells)) if self.empty_words else found
        return found

    @property
    def values(self) -> Floats | None:
        """The numbers; None: the column is text, or its notation is not known."""
        return self.readings.get(self.notation)

    @property
    def is_text(self) -> bool:
        """Whether it is text, without a number in its first cells."""
        words = self._has_words and not self.readings
        return words and not any(map(is_number, self.texts[:1000]))

    @property
    def names_rows(self) -> bool:
        """Whether it is an index, or may name the objects: a different value in every row, in a place for names."""
        table = self.table
        if not self.name or self.name in table.index:
            return True
        word, labels = last_word(self.name) if table.named else "", table.of_labels
        words = notation.NAMING if labels or self.is_text else notation.NUMBERING
        called = words.fullmatch(word) is not None
        alone = self.is_text and not any(c.differs for c in table.columns if c is not self)
        likely = alone or len(table) >= FEW if labels else self.is_text
        placed = called or (self.place == 0 and likely)
        kind = placed and (self.is_text or self.is_whole or (labels and called))
        return kind and len(table) > 2 and len(table.columns) > 1 and self.differs

    @property
    def differs(self) -> bool:
        """Whether every cell has another value, and none is empty."""
        return len(set(self.words)) == len(self.words) and None not in self.words

    @property
    def is_whole(self) -> bool:
        """Whether all of its cells are whole numbers."""
        return any(np.array_equal(values, np.rint(values)) for values in self.readings.values())

    @property
    def how_written(self) -> list[str]:
        """What is unusual in its notation."""
        words = [f"{word!r} as empty" for word in self.empty_words]
        return [*filter(None, [notation.described(self.notation)]), *words]

    def labels(self) -> NDArray[Any]:
        """Return it as labels: NaN, None or -1 missing, -2 noise."""
        if self._is_array:
            return np.asarray(self.data)
        from pyarrow import types

        kind = self.data.type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        number = types.is_primitive(kind) and not types.is_temporal(kind)
        if not number and not is_arrow_text(kind):
            what = f"{self.name!r} is of type {self.data.type}; numbers, text and dates of points are read"
            raise InputError(f"the column {what}.")
        found = arrow_labels(self.data if self.table.text is None else self._names_or_numbers())
        return found.objects() if isinstance(found, CodedColumn) else found

    def _names_or_numbers(self) -> Any:
        """Return labels that a file of text holds: names, or whole numbers."""
        cells, (sign, numbers) = self._cells
        if sign in ("", "comma"):  # hexadecimal ones are names
            kinds = cells.drop_null().unique().to_pylist()
            words = [word for word in kinds if not is_number(word, plain=True)]
            if len(words) == 1 and len(kinds) > 2:  # such as the name of a total
                what = f"{self.at(self.texts.index(words[0]))}: {words[0]!r} is read as a label, and all others are numbers"
                warn(f"{what}. If it means a missing label, give --na={words[0]}.", UserWarning)
            return cells
        values = numbers.to_numpy()
        bad = ((np.rint(values) != values) & ~np.isnan(values)) | (values < -2) | (values >= 2**63)
        if bad.any():
            text = self.texts[row := int(np.argmax(bad))][:60]
            way = f"Labels are whole numbers from 0 to 2**63 - 1 or names; -1: missing, -2: noise. If these are points, use: conclust cluster; if memberships: conclust combine --memberships FILES; if {text!r} is a code of missing labels, give --na={text}"
            raise InputError(f"{self.at(row)}: {text!r} is not a label. {way}.")
        return (cells if (np.abs(values) >= 2.0**53).any() else numbers).cast("int64")

    def at(self, row: int) -> str:
        """Return the position of a cell: line or row, and column."""
        name, text = f" ({self.name!r})" if self.table.named else "", self.table.text
        where = f"row {row + 1}" if text is None else f"line {text.line(row)}"
        return f"{where}, column {self.place + 1}{name}"


@dataclass
class Table:
    """The columns of a file, and their roles, which `conclust.cli.reading.columns` finds.

    Parameters
    ----------
    name : str
        Name of the file in messages.
    data : sequence of ChunkedArray or ndarray
        The cells of its columns.
    names : sequence of str
        Their names; "1", "2", ... where they have none.
    how : Reading
        The user's settings.
    of_labels : bool, default=True
        Whether it holds labels, which may be text, or points.
    named : bool, default=True
        Whether the file names its columns.
    notes : list of str
        Remarks on the reading of the file, and guesses.
    index : set of str, default=set()
        Columns that pandas wrote as the index of the rows.
    text : TextFile, default=None
        The file, if it is one of text.

    Attributes
    ----------
    columns : list of Column
        Its columns.
    """

    name: str
    data: InitVar[Sequence[Any]]
    names: tuple[str, ...]
    how: Reading
    of_labels: bool = True
    named: bool = True
    notes: list[str] = field(default_factory=list)
    index: set[str] = field(default_factory=set)
    text: TextFile | None = None

    def __post_init__(self, data: Sequence[Any]) -> None:
        cells = zip(self.names, data, strict=True)
        self.columns = [Column(self, j, name, one) for j, (name, one) in enumerate(cells)]

    def __len__(self) -> int:
        return len(self.columns[0].data) if self.columns else 0

    def column(self, wanted: str, option: str) -> Column:
        """Return the column `wanted`, given by its name or counted from 1."""
        for names in (self.names, tuple(str(j + 1) for j in range(len(self.columns)))):
            if wanted in names:
                return self.columns[names.index(wanted)]
        known = f"Its columns are {listed(self.names)}"
        raise InputError(f"{option}: there is no column {wanted!r}. {known}.")

    def matching(self, wanted: str, option: str) -> list[Column]:
        """Return the columns that match `wanted`, such as "leiden_*", or the one column with this name."""
        pattern = wanted.replace("[", "[[]")
        shaped = [one for one in self.columns if "*" in wanted and fnmatchcase(one.name, pattern)]
        return shaped if shaped and wanted not in self.names else [self.column(wanted, option)]


def settle(columns: Sequence[Column], how: Reading) -> None:
    """Settle how each column is written: as in an earlier file, by the decimal sign given, or as the other columns are."""
    only = [next(iter(column.readings)) for column in columns if len(column.readings) == 1]
    both = {"point", "comma"}
    signs = {how.decimal} if how.decimal else {one.split()[0] for one in only} & both
    for column in columns:
        given, fit = how.notations.get(column.name), list(column.readings)
        if len(signs) == 1:
            same = [one for one in fit if one.split()[0] not in both - signs]
            fit = same if same or how.decimal else fit
        if given in fit:
            fit = [given]
        elif fit[1:] and fit[0] == "point" and not any("," in text for text in column.texts):
            fit = fit[:1]
        column.notation = fit[0] if len(fit) == 1 else ""


def label_matrix(columns: Sequence[Column]) -> NDArray[Any]:
    """Return columns as labels: NaN, None or -1 missing, -2 noise."""
    arrays = [column.labels() for column in columns]
    exact = stay_exact(arrays)
    return np.column_stack(arrays if exact else [array.astype(object) for array in arrays])


def table_of(
    source: Source, how: Reading, what: Literal["points", "labels", "labelling", "weights"]
) -> Table:
    """Read a file as a table, in any format except a saved ensemble; in labels, text is data."""
    labels, form = what in ("labels", "labelling"), WHOLE[source.kind]
    if form.read is None:
        text = TextFile(source, how, labels=labels)
        more: dict[str, Any] = {"named": text.has_header, "notes": text.notes, "text": text}
        return Table(source.name, text.columns, text.names, how, labels, **more)
    if form.has_columns:
        frame = _whole(source, how)
        names, index = tuple(frame.column_names), index_columns(frame.schema)
        return Table(source.name, frame.columns, names, how, labels, index=index)
    if how.id_column is not None or how.label_column is not None:
        way = "--id-column and --label-column are for CSV and Parquet"
        raise InputError(f"an array has no named columns: {way}.")
    array = read_array(source, how, _USUAL[what], mmap=labels)
    if what != "points" and array.ndim == 1:
        array = array[:, np.newaxis]
    if what == "labelling" and len(array) == 1:  # a row, as a vector of MATLAB is
        array = array.T
    if array.ndim != 2 or array.dtype.kind not in ("biufUS" if labels else "biuf"):
        kinds = "numbers or names, an object per row" if labels else "real numbers"
        got = f"Got shape {array.shape} and dtype {array.dtype} instead"
        raise InputError(f"{what} are two-dimensional arrays of {kinds}. {got}.")
    names = tuple(str(j + 1) for j in range(array.shape[1]))
    return Table(source.name, list(array.T), names, how, labels, named=False)


def _whole(source: Source, how: Reading, *, mmap: bool = False) -> Any:
    """Return the content of a file that is not text."""
    if how.encoding is not None or how.na:
        way = "Leave them out, and mark missing values in the file itself"
        raise InputError(f"--encoding and --na are for CSV files. {way}.")
    read = WHOLE[source.kind].read
    assert read is not None
    return read(source.path, source.name, mmap)


def read_array(
    source: Source, how: Reading, usual: tuple[str, ...], *, mmap: bool = False
) -> NDArray[Any]:
    """Read the only array of a file, or the one with a usual name."""
    arrays: dict[str, NDArray[Any]] = _whole(source, how, mmap=mmap)
    if {"codes", "cluster_counts"} <= arrays.keys():
        way = "which is read by 'conclust combine'. Here give a table of labels"
        raise InputError(f"it is a saved ensemble, {way}.")
    found = [name for name in usual if name in arrays] or [*arrays]
    if found and (len(arrays) == 1 or found[0] in usual):
        return arrays[found[0]]
    way = f"Save the one to be read alone, by numpy.save, or by one of the names {', '.join(usual)}"
    raise InputError(f"it holds {len(arrays)} arrays: {listed(tuple(arrays))}. {way}.")


def names_of(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the names of columns."""
    return tuple(column.name for column in columns)


def listed(names: Sequence[str]) -> str:
    """Return the first names, quoted."""
    quoted = ", ".join(repr(name) for name in names[:12])
    return quoted + (", ..." if len(names) > 12 else "")
