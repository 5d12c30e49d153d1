"""Inputs as tables, whatever their format: columns with names, read as numbers, labels or text, and their roles."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.opening import Source
from conclust._files.parquetfile import index_columns
from conclust._types import Floats
from conclust._validation import count, shown
from conclust.cli.console import plain
from conclust.cli.reading import notation
from conclust.cli.reading.notation import Reading, is_number, last_word
from conclust.cli.reading.textfile import TextFile
from conclust.ensemble.columns import CodedColumn, arrow_labels, is_arrow_text, stay_exact
from conclust.exceptions import InputError, warn
from conclust.results.writing import LabelTable

OBJECT = "object"
"""Title of the column of names in result files if the input has none."""

_ROLES = {
    "--id-column": "names of the objects",
    "--label-column": "known classes",
    "--columns": "data",
    "--categories": "categories",
    "--drop": "left out",
}
"""Roles of columns by the options that give them."""
# Columns that are not named in results as the input names them.
_OURS = re.compile(r"label|confidence|kept|(cluster_|k)\d+|__index_level_.*")
_NEARLY = 0.9  # minimum share of different values of labels that are names
_LISTED = 40  # maximum number of columns in a refusal
FEW = 10  # number of objects below which all labels of a column may differ by chance
_USUAL = {
    "points": ("X", "points", "data", "fea"),
    "labels": ("labels", "L", "members", "X"),
    "labelling": ("labels", "label", "y", "gt"),
    "weights": ("weights",),
    "draws": ("draws", "labels", "cls", "z"),
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
        self.values: Any = None
        self.notation, self.empty_words = "", list[str]()
        self._empty = {*notation.EMPTY, *table.how.na}

    @cached_property
    def texts(self) -> list[str]:
        """The cells as text."""
        cells = self.data.tolist() if isinstance(self.data, np.ndarray) else self.data.to_pylist()
        return ["" if cell is None else str(cell).strip(notation.SPACES) for cell in cells]

    @cached_property
    def words(self) -> list[str | None]:
        """The cells as text, None where they are empty."""
        return [None if text in self._empty else text for text in self.texts]

    @cached_property
    def cells(self) -> Any:
        """The same in Arrow, of a column of text; None: it has another type."""
        from pyarrow import array, compute

        if isinstance(self.data, np.ndarray) or not is_arrow_text(self.data.type):
            return None
        cells = compute.utf8_trim(self.data.cast("string"), notation.SPACES)
        return compute.if_else(compute.is_in(cells, value_set=array([*self._empty])), None, cells)

    @cached_property
    def readings(self) -> dict[str, Floats]:
        """The values in every notation that fits all cells."""
        if str(getattr(self.data, "type", "")).startswith(("timestamp", "date")):
            days = self.data.cast("timestamp[us]").cast("int64").to_numpy() / 86_400e6
            return {"YYYY-MM-DD": days}
        if self.cells is None:
            return {"number": np.array(self.labels(), dtype=np.float64)}
        from pyarrow import array, compute

        if not (found := notation.readings(self.cells)):
            is_word = compute.is_in(self.cells, value_set=array(notation.EMPTY_NUMBER))
            self.empty_words = self.cells.filter(is_word).unique().to_pylist()
            found = notation.readings(compute.if_else(is_word, None, self.cells))
        return {name: values.to_numpy() for name, values in found.items()}

    @cached_property
    def is_text(self) -> bool:
        """Whether it is text, without a number in its first cells."""
        words = self.cells is not None and not self.readings
        return words and not any(map(is_number, self.texts[:1000]))

    @cached_property
    def is_whole(self) -> bool:
        """Whether all of its cells are whole numbers."""
        return any(np.array_equal(values, np.rint(values)) for values in self.readings.values())

    @cached_property
    def differs(self) -> bool:
        """Whether every cell has another value, and none is empty."""
        return len({*self.words}) == len(self.words) and None not in self.words

    def names_rows(self) -> bool:
        """Return whether it is an index, or may name the objects: a different value in every row, in a place for names."""
        table, labels = self.table, self.table.of_labels
        if not self.name or self.name in table.index:
            return True
        words = notation.NAMING if labels or self.is_text else notation.NUMBERING
        called = table.named and words.fullmatch(last_word(self.name)) is not None
        kind = self.is_text or self.is_whole or (labels and called)
        placed = kind and (called or self.place == 0) and len(table) > 2 and len(table.columns) > 1
        if not placed or not self.differs:
            return False
        alone = self.is_text and not any(c.differs for c in table.columns if c is not self)
        return called or (alone or len(table) >= FEW if labels else self.is_text)

    def labels(self) -> NDArray[Any]:
        """Return it as labels: NaN, None or -1 missing, -2 noise."""
        if isinstance(self.data, np.ndarray):
            return np.asarray(self.data)
        if re.search("date|time|duration|list|struct|map|binary", kind := str(self.data.type)):
            raise InputError(f"the column {self.name!r} is of type {kind}, which is not read.")
        found = arrow_labels(self.data if self.table.text is None else self._names_or_numbers())
        return found.objects() if isinstance(found, CodedColumn) else found

    def _names_or_numbers(self) -> Any:
        """Return labels that a file of text holds: names, or whole numbers."""
        kinds = self.cells.drop_null().unique().to_pylist()
        words = [word for word in kinds if not is_number(word, plain=True)]
        if len(words) == 1 and len(kinds) > 2:  # such as the name of a total
            what = f"{self.at(words[0])}: {words[0]!r} is read as a label, all others are numbers"
            warn(f"{what}. If it means a missing label, give --na={words[0]}.", UserWarning)
        if words:
            return self.cells
        for word in kinds:
            if not float(word).is_integer() or not -2 <= float(word) < 2**63:
                way = f"Labels are whole numbers from 0 to 2**63 - 1 or names; -1: missing, -2: noise. If these are points, use: conclust cluster; if memberships: conclust combine --memberships FILES; if {word!r} is a code of missing labels, give --na={word}"
                raise InputError(f"{self.at(word)}: {word!r} is not a label. {way}.")
        large = any(abs(float(word)) >= 2**53 for word in kinds)
        return (self.cells if large else self.cells.cast("float64")).cast("int64")

    def at(self, cell: str) -> str:
        """Return the position of the first such cell: line or row, and column."""
        row, text = self.texts.index(cell), self.table.text
        where = f"row {row + 1}" if text is None else f"line {text.line(row)}"
        return f"{where}, column {self.place + 1}" + f" ({self.name!r})" * self.table.named


class Table:
    """The columns of a file, of any format except a saved ensemble; `roles_of` finds their roles.

    Parameters
    ----------
    source : Source
        The file.
    how : Reading
        The user's settings.
    what : {"points", "labels", "labelling", "weights"}
        Content of the file.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    columns : list of Column
        Its columns.
    names : tuple of str
        Their names; "1", "2", ... where they have none.
    named : bool
        Whether the file names its columns.
    of_labels : bool
        Whether it holds labels, which may be text, or points.
    index : set of str
        Columns that pandas wrote as the index of the rows.
    notes : list of str
        Remarks on the reading of the file, and guesses.
    text : TextFile or None
        The file, if it is one of text.
    """

    def __init__(self, source: Source, how: Reading, what: str) -> None:
        self.name, self.how, self.of_labels = source.name, how, what.startswith("label")
        self.index, self.text, form = set[str](), None, source.form
        self.named, self.notes = form.has_columns, list[str]()
        if form.read is None:
            self.text = text = TextFile(source, how, labels=self.of_labels)
            names, data = text.names, text.columns
            self.named, self.notes = text.has_header, text.notes
        elif form.has_columns:
            frame = _whole(source, how)
            names, data, self.index = frame.column_names, frame.columns, index_columns(frame.schema)
        else:
            array = read_array(source, how, what)
            array = array[:, np.newaxis] if what != "points" and array.ndim == 1 else array
            kinds = "biufUS" if self.of_labels else "biuf"
            if array.ndim != 2 or array.dtype.kind not in kinds:
                got = f"Got shape {array.shape} and dtype {array.dtype} instead"
                raise InputError(f"{what} are arrays of numbers with a row per object. {got}.")
            names, data = [str(j + 1) for j in range(array.shape[1])], [*array.T]
        cells = zip(names, data, strict=True)
        self.columns = [Column(self, j, name, one) for j, (name, one) in enumerate(cells)]
        self.names = tuple(names)

    def __len__(self) -> int:
        return len(self.columns[0].data) if self.columns else 0

    def matching(self, wanted: str, option: str) -> list[Column]:
        """Return the column `wanted`, by its name or counted from 1, or those that match it, such as "leiden_*"."""
        pattern = wanted.replace("[", "[[]") if "*" in wanted else ""
        named = [one for one in self.columns if one.name == wanted]
        shaped = [one for one in self.columns if fnmatchcase(one.name, pattern)]
        placed = [one for one in self.columns if str(one.place + 1) == wanted]
        if not (found := named or shaped or placed):
            known = f"Its columns are {shown([*self.names])}"
            raise InputError(f"{option}: there is no column {wanted!r}. {known}.")
        return found


def read_array(source: Source, how: Reading, what: str) -> NDArray[Any]:
    """Read the only array of a file, or the one with a usual name."""
    arrays: dict[str, NDArray[Any]] = _whole(source, how, mmap=what != "points")
    if {"codes", "cluster_counts"} <= arrays.keys():
        raise InputError("it is a saved ensemble, which is read by 'conclust combine'.")
    usual = _USUAL[what]
    found = [name for name in usual if name in arrays][:1] or [*arrays]
    if len(found) != 1:
        way = f"Save one alone, by numpy.save, or by one of the names {', '.join(usual)}"
        raise InputError(f"it holds {len(arrays)} arrays: {shown([*arrays])}. {way}.")
    return arrays[found[0]]


def _whole(source: Source, how: Reading, *, mmap: bool = False) -> Any:
    """Return the content of a file that is not text."""
    if how.encoding is not None or how.na:
        raise InputError("--encoding and --na are for CSV files. Mark missing values in the file.")
    read: Any = source.form.read
    return read(source.path, source.name, mmap)


def settle(columns: Sequence[Column], how: Reading) -> None:
    """Settle how each column is written: as in an earlier file, by the decimal sign given, or as the other columns are."""
    signs, both = {how.decimal}, {"point", "comma"}
    if how.decimal is None:
        signs = {next(iter(one.readings)).split()[0] for one in columns if len(one.readings) == 1}
    for column in columns:
        fit = list(column.readings)
        if len(signs & both) == 1:
            same = [one for one in fit if one.split()[0] not in both - signs]
            fit = same if same or how.decimal else fit
        if column.name in how.notations and how.notations[column.name] in fit:
            fit = [how.notations[column.name]]
        column.notation = fit[0] if len(fit) == 1 or fit[:1] == ["point"] else ""
        column.values = column.readings.get(column.notation)


def label_matrix(columns: Sequence[Column]) -> NDArray[Any]:
    """Return columns as labels: NaN, None or -1 missing, -2 noise."""
    arrays = [column.labels() for column in columns]
    exact = stay_exact(arrays)
    return np.column_stack(arrays if exact else [array.astype(object) for array in arrays])


@dataclass(frozen=True, kw_only=True)
class Objects:
    """What a file says of its objects besides the data.

    Attributes
    ----------
    ids, classes : list of str or None
        Names and known classes of the objects.
    id_name : str
        Name of the column of object names.
    notes : tuple of str
        Remarks on how the file was read.
    """

    ids: list[str] | None = None
    id_name: str = OBJECT
    classes: list[str] | None = None
    notes: tuple[str, ...] = ()

    def table(
        self, model: Any = None, confidence: Floats | None = None, kept: Floats | None = None
    ) -> LabelTable:
        """Return their names and those of a model's clusters for the tables of a result, with the confidence of their labels."""
        clusters = getattr(model, "classes_", None)
        return LabelTable(self.ids, self.id_name, confidence, kept, clusters)


def roles_of(table: Table, how: Reading) -> tuple[list[Column], list[Column], dict[str, Any]]:
    """Determine the role of each column by the user's options, by names and by content.

    Returns
    -------
    data, categories : list of Column
        Columns of numbers or labels; of categories.
    objects : dict
        The fields of `Objects`.

    Raises
    ------
    InputError
        A column does not exist, has two roles, or is not what it is used for; or no column is left.
    """
    every = how.categories == ("all",)
    categories = () if every else how.categories
    wanted = (how.id_column,), (how.label_column,), how.columns or (), categories, how.drop
    role_of: dict[Column, str] = {}
    for option, names in zip(_ROLES, wanted, strict=True):
        for column in [one for name in names if name for one in table.matching(name, option)]:
            before = role_of.get(column, "")
            if before and (before != "--columns" or option not in ("--categories", "--drop")):
                raise InputError(f"{before} and {option} name the same column, {column.name!r}.")
            role_of[column] = option
    free = [column for column in table.columns if column not in role_of]
    naming = [column for column in free if column.names_rows()]
    # Columns of an index without a name come last.
    for column in sorted(naming, key=lambda column: column.name.startswith("__index_level_")):
        named = "--id-column" in role_of.values() or not (not column.name or column.differs)
        role_of[column] = "--drop" if named else "--id-column"
        shown = repr(column.name) if column.name and table.named else column.place + 1
        if not named or how.columns is None:
            what = ", which may name the rows, left out" if named else " read as names of the rows"
            table.notes.append(f"its column {shown}{what}")
    for column in free:
        role = "--categories" if every and column.is_text else "--columns"
        role_of.setdefault(column, role if how.columns is None else "--drop")
    ids, classes, data, kinds, _ = (
        [column for column, role in role_of.items() if role == one] for one in _ROLES
    )
    if not table.of_labels:
        settle(data, how)
        _refuse_undecided(table, role_of, how)
        written = {
            column: notation.described(column.notation, column.empty_words) for column in data
        }
        for what in dict.fromkeys(chain(*written.values())):
            those = [repr(column.name) for column, words in written.items() if what in words]
            table.notes.append(f"{what} in {', '.join(those[:12])}")
    if not data:
        way = " Where all columns are categories, use: conclust combine." * bool(kinds)
        raise InputError(f"no column of data is left besides the named ones.{way}")
    if classes and not any(classes[0].words):
        raise InputError(f"--label-column: the column {classes[0].name!r} has no known classes.")
    name = ids[0].name if ids and table.named else ""
    objects = {
        "ids": ids[0].texts if ids else None,
        "id_name": OBJECT if not name or _OURS.fullmatch(name) else name,
        "classes": [word or "" for word in classes[0].words] if classes else None,
        "notes": tuple(table.notes),
    }
    return data, kinds, objects


def names_objects(n_values: int, n_seen: int) -> bool:
    """Return whether labels look like names: nearly every object has a different one."""
    return n_seen >= FEW and n_values >= _NEARLY * n_seen


def _refuse_undecided(table: Table, role_of: dict[Column, str], how: Reading) -> None:
    """Refuse points with columns that are not numbers in every cell: all columns, and the command that settles them."""
    lines, more = [], dict[str, list[str]]()
    for column in table.columns:
        what, option, value = _ROLES[role_of[column]], "", ""
        if role_of[column] == "--columns":
            what, option, value = _account(column, how)
        if option == "--id-column" and (how.columns or option in {*more, *role_of.values()}):
            option = "--drop"
        if option:
            more.setdefault(option, []).append(f'"{value}"' if "," in value else value)
        lines.append((not option, f"\n  {column.name!r:<20}  {what}"))
    if not more or not len(table):
        return
    if "--na" in more and not how.gaps:
        more["--impute"] = ["median"]
    rest = f"\n  and {len(lines) - _LISTED:,} more columns" * (len(lines) > _LISTED)
    listed = "".join(line for _, line in sorted(lines, key=lambda line: line[0])[:_LISTED]) + rest
    way = "Write them as in the file of the result, or make the result by 'conclust cluster --impute median': empty cells are then filled here as well."
    taken = [
        value
        for option in ("--drop", "--categories", "--id-column")
        for value in more.get(option, ())
    ]
    if len(taken) == [*role_of.values()].count("--columns"):
        way = "None has numbers in every cell. Where all columns are categories or labels, use: conclust combine."
    elif how.command:  # not predict, which has no such options
        settled = [f"{option}={','.join(dict.fromkeys(values))}" for option, values in more.items()]
        command = plain(shlex.join(["conclust", *how.command, *settled]))
        way = f"This command gives each a meaning:\n\n  {command}\n\nText is names of the objects (--id-column), known classes (--label-column) or categories (--categories), or is left out (--drop); --impute fills empty cells, --na names them."
    raise InputError(f"points are numbers in every cell, and some columns are not.{listed}\n{way}")


def _account(column: Column, how: Reading) -> tuple[str, str, str]:
    """Return what a column is, and the option and its value that settles it; empty if nothing is open."""
    name, values, n = column.name, column.values, len(column.table)
    if values is not None:
        numbered = (
            not how.columns and notation.NUMBERING.fullmatch(last_word(name)) and column.is_whole
        )
        if numbered and (kinds := len({*values})) < n and names_objects(kinds, n):
            return f"whole numbers, {kinds:,} for {n:,} objects: names with repeats", "--drop", name
        what = ", ".join(notation.described(column.notation, column.empty_words)) or "numbers"
        gaps, infinite = ~np.isfinite(values), np.isinf(values)
        if not gaps.any():
            return what, "", ""
        cell = column.texts[int(np.argmax(infinite if infinite.any() else gaps))]
        if infinite.any():
            return f"numbers, but {cell!r} in {column.at(cell)}", "--na", cell
        if gaps.all():
            return "empty", "--drop", name
        what += f"; {count(gaps.sum(), 'empty cell')}, the first ({cell!r}) in {column.at(cell)}"
        return what, "--impute" * (not how.gaps), "median"
    texts = [text for text in column.words if text is not None]
    if column.readings:
        both = {"point", "comma"} <= column.readings.keys()
        what = f"such as {texts[0]!r}, which may be {' or '.join(column.readings)} (--decimal)"
        return what, "--decimal" if both else "--drop", "comma" if both else name
    kinds, strange = len({*texts}), [text for text in texts if not is_number(text)]
    if not strange:
        return f"numbers in several notations, such as {texts[0]!r}", "--drop", name
    if len({*strange}) <= min(3, kinds / 2):
        cell = strange[0]
        what = f"numbers, but {cell[:60]!r} in {column.at(cell)} is not a number"
        return what, "--na", cell
    option = "--drop" if kinds > max(20, len(texts) / 4) else "--categories"
    if names_objects(kinds, len(texts)):
        called = column.place == 0 or notation.NAMING.fullmatch(last_word(name))
        option = "--id-column" if called else "--drop"
    what = f"text, {kinds:,} values for {len(texts):,} objects (such as {texts[0][:60]!r})"
    return what, option, name
