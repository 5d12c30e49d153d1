"""Inputs as tables, whatever their format: columns with names, read as numbers, labels or text, and their roles."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import numpy as np

from conclust._files.opening import Source
from conclust._validation import count, shown
from conclust.cli.console import plain
from conclust.cli.reading import notation
from conclust.cli.reading.textfile import TextFile
from conclust.cli.requested import Reading
from conclust.ensemble.columns import is_arrow_text, label_array, stacked
from conclust.exceptions import InputError, warn
from conclust.results.writing import LabelTable

_ROLES = {
    "--id-column": "names of the objects",
    "--label-column": "known classes",
    "--columns": "data",
    "--categories": "categories",
    "--drop": "left out",
}
"""Roles of columns by the options that give them."""
_OVER = {("--columns", "--categories"), ("--columns", "--drop"), ("--categories", "--drop")}
"""Roles that give way to another one."""
# Columns that are not named in results as the input names them.
_OURS = re.compile(r"label|confidence|kept|(cluster_|k)\d+|__index_level_.*")
_LISTED = 40  # maximum number of columns in a refusal
FEW = 10  # number of objects below which all labels of a column may differ by chance


class Column:
    """A column of a file, as text, numbers and labels.

    Attributes
    ----------
    name : str
        Its name; its number from 1 where it has none.
    data : ndarray or ChunkedArray
        Its cells as the file has them.
    values : ndarray or None
        Its numbers, NaN where a cell is empty, once `settle` has found how they are written.
    unusual : list of str
        Their notation in words, where it is an unusual one.
    notation : str
        The one of `readings` that is used; empty: none, or none yet.
    empty_words : list of str
        Cells that are empty only among numbers.
    """

    def __init__(self, table: Table, place: int, name: str, data: Any) -> None:
        self.table, self.place, self.name, self.data = table, place, name, data
        self.notation, self.empty_words, self.unusual = "", list[str](), list[str]()
        self.values: Any = None

    @cached_property
    def texts(self) -> list[str]:
        """The cells as text."""
        cells = self.data.tolist() if isinstance(self.data, np.ndarray) else self.data.to_pylist()
        return ["" if cell is None else str(cell).strip(notation.SPACES) for cell in cells]

    @property
    def words(self) -> list[str | None]:
        """The cells as text, None where they are empty."""
        return [None if text in self.table.empty else text for text in self.texts]

    @cached_property
    def cells(self) -> Any:
        """The same in Arrow, of a column of text; None: it has another type."""
        from pyarrow import array, compute

        if isinstance(self.data, np.ndarray) or not is_arrow_text(self.data.type):
            return None
        cells = compute.utf8_trim(self.data.cast("string"), notation.SPACES)
        return compute.if_else(compute.is_in(cells, array([*self.table.empty])), None, cells)

    @cached_property
    def readings(self) -> dict[str, Any]:
        """The values in every notation that fits all cells."""
        if str(getattr(self.data, "type", "")).startswith(("timestamp", "date")):
            days = self.data.cast("timestamp[us]").cast("int64").to_numpy() / 86_400e6
            return {"YYYY-MM-DD": days}
        if self.cells is None:
            return {"number": np.array(self.labels(), dtype=np.float64)}
        found, self.empty_words = notation.readings(self.cells)
        return {name: values.to_numpy() for name, values in found.items()}

    @cached_property
    def kind(self) -> str:
        """What its cells are: "whole" or other "numbers" or dates, "text" without a number in the first cells, or "mixed"."""
        if self.readings:
            values = self.readings.values()
            return "whole" if any(np.array_equal(x, np.rint(x)) for x in values) else "numbers"
        words = self.cells is not None and not any(map(notation.is_number, self.texts[:1000]))
        return "text" if words else "mixed"

    @property
    def differs(self) -> bool:
        """Whether every cell has another value, and none is empty."""
        return len(kinds := {*self.texts}) == len(self.texts) and not kinds & self.table.empty

    def names_rows(self) -> bool:
        """Return whether it is an index or a code, or may name the objects: a different value in every row, in a place for names."""
        table, labels, text = self.table, self.table.of_labels, self.kind == "text"
        if not self.name or self.name in table.index or (not labels and "code" in self.readings):
            return True
        words = notation.NAMING if labels or text else notation.NUMBERING
        called = table.named and words.fullmatch(notation.last_word(self.name)) is not None
        first = self.place == 0 and (text or (labels and self.kind == "whole"))
        fits = first or (called and (labels or self.kind in ("text", "whole")))
        if not fits or table.n < 3 or len(table.columns) == 1 or not self.differs:
            return False
        alone = text and not any(one.differs for one in table.columns if one is not self)
        return called or not labels or alone or table.n >= FEW

    def labels(self) -> Any:
        """Return it as labels: NaN, None or -1 missing, -2 noise."""
        whole = self.data if self.table.text is None else self._names_or_numbers()
        return label_array(whole, self.name)

    def _names_or_numbers(self) -> Any:
        """Return labels that a file of text holds: names, or whole numbers."""
        kinds = self.cells.drop_null().unique().to_pylist()
        words = [word for word in kinds if not notation.is_number(word, plain=True)]
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
    empty : set of str
        Cells that are empty in every column.
    n : int
        Number of rows.
    index : set of str
        Columns that pandas wrote as the index of the rows.
    notes : list of str
        Remarks on the reading of the file, and guesses.
    text : TextFile or None
        The file, if it is one of text.
    """

    def __init__(self, source: Source, how: Reading, what: str) -> None:
        self.name, self.of_labels, self.index = source.name, what.startswith("label"), set[str]()
        self.named, self.notes, self.text = source.form.has_columns, list[str](), None
        self.empty = {*notation.EMPTY, *how.na}
        if source.form.read is None:
            self.text = text = TextFile(source, how, labels=self.of_labels)
            names, data, self.named, self.notes = text.names, text.columns, text.headed, text.notes
        else:
            how.refuse_text_options()
            names, data, self.index = source.columns(what)
        self.names, self.n = tuple(names), len(data[0]) if data else 0
        self.columns = [Column(self, j, name, data[j]) for j, name in enumerate(names)]

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


def settle(columns: list[Column], how: Reading) -> None:
    """Settle how each column is written: as in an earlier file, by the decimal sign given, or as the other columns are."""
    both, sure = {"point", "comma"}, [one.readings for one in columns if len(one.readings) == 1]
    signs = {how.decimal} if how.decimal else {next(iter(one)).split()[0] for one in sure}
    against = both - signs if both & signs else set()
    for column in columns:
        fit = [one for one in column.readings if one.split()[0] not in against]
        fit = fit if fit or how.decimal else [*column.readings]
        fit = [earlier] if (earlier := how.notations.get(column.name, "")) in fit else fit
        column.notation = fit[0] if len(fit) == 1 or fit[:1] == ["point"] else ""
        column.values = column.readings.get(column.notation)
        doubt = ["points as decimal signs, not between thousands (else: --decimal comma)"]
        column.unusual = notation.described(column.notation, column.empty_words)
        column.unusual += doubt * (column.notation == "point" and len(fit) > 1)


@dataclass(frozen=True, kw_only=True)
class Objects(LabelTable):
    """What a file says of its objects besides the data, for the tables of a result.

    Attributes
    ----------
    classes : list of str or None
        Known classes of the objects.
    notes : tuple of str
        Remarks on how the file was read.
    """

    classes: list[str] | None = None
    notes: tuple[str, ...] = ()


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
    kinds_of = () if every else how.categories
    wanted = (how.id_column,), (how.label_column,), how.columns or (), kinds_of, how.drop
    role_of: dict[Column, str] = {}
    for option, names in zip(_ROLES, wanted, strict=True):
        for column in [one for name in names if name for one in table.matching(name, option)]:
            before = role_of.get(column, "")
            if before and (before, option) not in _OVER:
                raise InputError(f"{before} and {option} name the same column, {column.name!r}.")
            role_of[column] = option
    free = [column for column in table.columns if column not in role_of]
    # Columns of an index without a name come last.
    for column in sorted(filter(Column.names_rows, free), key=lambda c: c.name[:8] == "__index_"):
        named = "--id-column" in role_of.values() or bool(column.name and not column.differs)
        role_of[column] = "--drop" if named else "--id-column"
        shown = repr(column.name) if column.name and table.named else column.place + 1
        if not named or how.columns is None:
            what = ", which may name the rows, left out" if named else " read as names of the rows"
            table.notes.append(f"its column {shown}{what}")
    for column in free:
        role = "--categories" if every and column.kind == "text" else "--columns"
        role_of.setdefault(column, role if how.columns is None else "--drop")
    ids, classes, data, kinds, _ = ([c for c in role_of if role_of[c] == one] for one in _ROLES)
    if not table.of_labels:
        settle(data, how)
        _refuse_undecided(table, role_of, how)
        for what in dict.fromkeys(what for column in data for what in column.unusual):
            those = [repr(column.name) for column in data if what in column.unusual]
            table.notes.append(f"{what} in {', '.join(those[:12])}")
    if not data:
        way = " Where all columns are categories, use: conclust combine." * bool(kinds)
        raise InputError(f"no column of data is left besides the named ones (see --columns).{way}")
    if classes and not any(classes[0].words):
        raise InputError(f"--label-column: the column {classes[0].name!r} has no known classes.")
    title = ids[0].name if ids and table.named and not _OURS.fullmatch(ids[0].name) else ""
    objects = {
        "ids": ids[0].texts if ids else None,
        "id_name": title or Objects.id_name,
        "classes": [word or "" for word in classes[0].words] if classes else None,
        "notes": tuple(table.notes),
    }
    return data, kinds, objects


def labels_of(table: Table, how: Reading, *, alone: bool = False) -> tuple[Any, list[str], Any]:
    """Return labels (NaN, None or -1: missing, -2: noise), the names of their columns, and the fields of `Objects`; `alone`: of one column."""
    data, _, objects = roles_of(table, how)
    names = [column.name for column in data]
    if alone and len(names) != 1:
        raise InputError(f"any of {shown(names)} may be the labels. Say which with --column.")
    return stacked([column.labels() for column in data]), names, objects


def names_objects(n_values: int, n_seen: int) -> bool:
    """Return whether labels look like names: nearly every object has a different one."""
    return n_seen >= FEW and n_values >= 0.9 * n_seen


def _refuse_undecided(table: Table, role_of: dict[Column, str], how: Reading) -> None:
    """Refuse points with columns that are not numbers in every cell: all columns, and the command that settles them."""
    lines, more = list[tuple[bool, str]](), dict[str, list[str]]()
    for column in table.columns:
        what, option, value = _account(column, role_of[column], how)
        if option == "--id-column" and (how.columns or option in {*more, *role_of.values()}):
            option = "--drop"
        if option:
            more.setdefault(option, []).append(f'"{value}"' if "," in value else value)
        lines.append((not option, f"\n  {column.name!r:<20}  {what}"))
    more |= {"--impute": ["median"]} if "--na" in more and not how.gaps else {}
    listed = [line for _, line in sorted(lines, key=lambda line: line[0])][:_LISTED]
    listed += [f"\n  and {len(lines) - _LISTED:,} more columns"] * (len(lines) > _LISTED)
    way = "Write them as in the file of the result, or make the result by 'conclust cluster --impute median': empty cells are then filled here as well."
    taken = sum(len(more.get(option, ())) for option in ("--drop", "--categories", "--id-column"))
    if taken == [*role_of.values()].count("--columns"):
        way = "None has numbers in every cell. Where all columns are categories or labels, use: conclust combine."
    elif how.command:  # not predict, which has no such options
        settled = [f"{option}={','.join(dict.fromkeys(values))}" for option, values in more.items()]
        command = plain(shlex.join(["conclust", *how.command, *settled]))
        way = f"This command gives each a meaning:\n\n  {command}\n\nText is names of the objects (--id-column), known classes (--label-column) or categories (--categories), or is left out (--drop); --impute fills empty cells, --na names them."
    what = "points are numbers in every cell, and some columns are not."
    if more:
        raise InputError(f"{what}{''.join(listed)}\n{way}")


def _account(column: Column, role: str, how: Reading) -> tuple[str, str, str]:
    """Return what a column is, and the option and its value that settles it; empty if nothing is open."""
    name, values, called = column.name, column.values, notation.last_word(column.name)
    if role not in ("--columns", "--categories"):
        return _ROLES[role], "", ""
    numbered = values is not None and not how.columns and bool(notation.NUMBERING.fullmatch(called))
    numbered = numbered and column.kind == "whole" and names_objects(len({*values}), len(values))
    if values is not None and not numbered:
        what = ", ".join(column.unusual) or "numbers"
        infinite = np.isinf(values)
        odd = infinite if infinite.any() else np.isnan(values)
        if not odd.any():
            return what, "", ""
        cell = column.texts[int(odd.argmax())]
        if infinite.any():
            return f"numbers, but {cell!r} in {column.at(cell)}", "--na", cell
        if odd.all():
            return "empty", "--drop", name
        what += f"; {count(odd.sum(), 'empty cell')}, the first ({cell!r}) in {column.at(cell)}"
        return what, "--impute" * (not how.gaps), "median"
    texts = [text for text in column.words if text is not None]
    kinds, strange = len({*texts}), [text for text in texts if not notation.is_number(text)]
    names = names_objects(kinds, len(texts))
    if role == "--categories":
        what = f"names, {kinds:,} values for {len(texts):,} objects"
        return (what, "--drop", name) if names else (_ROLES[role], "", "")
    if (column.readings or not strange) and not numbered:
        both = {"point", "comma"} <= column.readings.keys()
        may = " or ".join(column.readings) or "written in several ways"
        what = f"such as {texts[0]!r}, which may be {may} (--decimal)"
        return what, *(("--decimal", "comma") if both else ("--drop", name))
    if 0 < len({*strange}) <= min(3, kinds / 2):
        what = f"numbers, but {strange[0][:60]!r} in {column.at(strange[0])} is not a number"
        return what, "--na", strange[0]
    option = "--drop" if names or kinds > max(20, len(texts) / 4) else "--categories"
    if names and (column.place == 0 or notation.NAMING.fullmatch(called)):
        option = "--id-column"
    what = f"{'whole numbers' if numbered else 'text'}, {kinds:,} values for {len(texts):,} objects (such as {texts[0][:60]!r})"
    return what, option, name
