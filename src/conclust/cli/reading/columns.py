"""Roles of the columns of a table: names of the objects, known classes, categories, data."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np

from conclust._types import Floats
from conclust._validation import count
from conclust.cli.console import plain
from conclust.cli.reading.notation import NAMING, NUMBERING, Reading, is_number, last_word
from conclust.cli.reading.tables import FEW, Column, Table, settle
from conclust.exceptions import InputError
from conclust.results.writing import LabelTable

OBJECT = "object"
"""Title of the column of names in result files if the input has none."""

_INDEX = "__index_level_"  # columns of an index without a name
_OURS = re.compile(rf"label|confidence|kept|(cluster_|k)\d+|{_INDEX}.*")  # not names of the objects
_NEARLY = 0.9  # minimum share of different values of labels that are names
_LISTED = 40  # maximum number of columns in a refusal


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
    given = {
        "--id-column": () if how.id_column is None else (how.id_column,),
        "--label-column": () if how.label_column is None else (how.label_column,),
        "--drop": how.drop,
        "--categories": () if every else how.categories,
        "--columns": how.columns or (),
    }
    role_of: dict[Column, str] = {}
    for option, names in given.items():
        for column in [one for name in names for one in table.matching(name, option)]:
            if column in role_of:
                both = f"{role_of[column]} and {option}"
                raise InputError(f"{both} name the same column, {column.name!r}.")
            role_of[column] = option
    found_ids, found_classes, _, categories, data = (
        [column for column, role in role_of.items() if role == option] for option in given
    )
    ids, classes, guessed = (*found_ids, None)[0], (*found_classes, None)[0], how.columns is None
    free = [column for column in table.columns if column not in role_of]
    naming = [column for column in free if column.names_rows]
    if guessed:
        data = [column for column in free if column not in naming]
    # Columns of an index without a name come last.
    for column in sorted(naming, key=lambda column: column.name.startswith(_INDEX)):
        shown = repr(column.name) if column.name and table.named else str(column.place + 1)
        if ids is None and (not column.name or column.differs):
            ids = column
            table.notes.append(f"its column {shown} read as names of the rows")
        elif guessed:
            table.notes.append(f"its column {shown}, which may name the rows, left out")
    if not table.of_labels:
        if every:
            categories = [column for column in data if column.is_text]
            data = [column for column in data if not column.is_text]
        settle(data, how)
        said = {ids: "names of the objects", classes: "known classes"}
        said |= dict.fromkeys(categories, "categories")
        _refuse_undecided(table, data, said, how)
        unusual: dict[str, list[str]] = {}
        for column in data:
            for what in column.how_written:
                unusual.setdefault(what, []).append(repr(column.name))
        table.notes += [f"{what} in {', '.join(names[:12])}" for what, names in unusual.items()]
    if not data:
        way = " Where all columns are categories, use: conclust combine." * bool(categories)
        raise InputError(f"no column of data is left besides the named ones.{way}")
    if classes is not None and not any(classes.words):
        raise InputError(f"--label-column: the column {classes.name!r} has no known classes.")
    name = ids.name if ids and table.named else ""
    objects = {
        "ids": ids and ids.texts,
        "id_name": OBJECT if not name or _OURS.fullmatch(name) else name,
        "classes": classes and [word or "" for word in classes.words],
        "notes": tuple(table.notes),
    }
    return data, categories, objects


def names_objects(n_values: int, n_seen: int) -> bool:
    """Return whether labels look like names: nearly every object has a different one."""
    return n_seen >= FEW and n_values >= _NEARLY * n_seen


def _refuse_undecided(
    table: Table, data: list[Column], said: dict[Column | None, str], how: Reading
) -> None:
    """Refuse points with columns that are not numbers in every cell: all columns, and the command that settles them."""
    lines, more = [], dict[str, list[str]]()
    accounts = {column: _account(column, how) for column in data}
    has_names = any(column and what == "names of the objects" for column, what in said.items())
    for column in table.columns:
        what, option, value = accounts.get(column) or (said.get(column, "left out"), "", "")
        if option == "--id-column" and (option in more or has_names):
            option = "--drop"
        if option:
            more.setdefault(option, []).append(value)
        lines.append((not option, f"\n  {column.name!r:<20}  {what}"))
    if not more or not len(table):
        return
    if "--na" in more and not how.gaps:
        more["--impute"] = ["median"]
    if how.columns is not None and (dropped := more.pop("--drop", [])):
        kept = [_quoted(column.name) for column in data]
        more["--columns"] = [name for name in kept if name not in dropped]
    rest = f"\n  and {len(lines) - _LISTED:,} more columns" * (len(lines) > _LISTED)
    if rest:  # those that are open come first
        lines.sort(key=lambda line: line[0])
    way = "Write them as in the file of the result, or make the result by 'conclust cluster --impute median': empty cells are then filled here as well."
    if how.command:  # not predict, which has no such options
        way = (
            f"This command gives each a meaning:\n\n  {plain(_command(table, how, more))}\n\nText is names of the objects (--id-column), known classes "
            "(--label-column) or categories (--categories), or is left out (--drop); --impute fills empty cells, --na names them."
        )
    listed = "".join(line for _, line in lines[:_LISTED]) + rest
    raise InputError(f"points are numbers in every cell, and some columns are not.{listed}\n{way}")


def _account(column: Column, how: Reading) -> tuple[str, str, str]:
    """Return what a column is, and the option and its value that settles it; empty if nothing is open."""
    name, values, n = _quoted(column.name), column.values, len(column.table)
    if values is not None:
        numbered = not how.columns and NUMBERING.fullmatch(last_word(column.name))
        kinds = len(set(values)) if numbered else n
        if kinds < n and names_objects(kinds, n) and column.is_whole:
            what = f"whole numbers, {kinds:,} different ones for {n:,} objects"
            return f"{what}: names with repeats, and no measurement", "--drop", name
        what, numbers = ", ".join(column.how_written) or "numbers", np.isfinite(values)
        if numbers.all():
            return what, "", ""
        row = int(np.argmax(np.isinf(values) if np.isinf(values).any() else ~numbers))
        cell, where = column.texts[row], column.at(row)
        if np.isinf(values[row]):
            return f"numbers, but {cell!r} in {where}", "--na", cell
        if not numbers.any():
            return "empty", "--drop", name
        cells = f"{count(n - numbers.sum(), 'empty cell')}, the first ({cell!r}) in {where}"
        return f"{what}; {cells}", "--impute" * (not how.gaps), "median"
    texts = [text for text in column.words if text is not None]
    if column.readings:
        what = f"such as {texts[0]!r}, which may be {' or '.join(column.readings)} (--decimal)"
        both = {"point", "comma"} <= column.readings.keys()
        return (what, "--decimal", "comma") if both else (what, "--drop", name)
    kinds = len(set(texts))
    strange = [text for text in texts if not is_number(text)]
    if not strange:
        return f"numbers in several notations, such as {texts[0]!r}", "--drop", name
    if len(set(strange)) <= min(3, kinds / 2):
        cell, where = strange[0], column.at(column.texts.index(strange[0]))
        return f"numbers, but {cell[:60]!r} in {where} is not a number", "--na", _quoted(cell)
    option = "--drop" if kinds > max(20, len(texts) / 4) else "--categories"
    if names_objects(kinds, len(texts)):
        called = NAMING.fullmatch(last_word(column.name)) or column.place == 0
        option = "--id-column" if called else "--drop"
    what = f"text, {kinds:,} values for {len(texts):,} objects (such as {texts[0][:60]!r})"
    return what, option, name


def _quoted(name: str) -> str:
    """Return a name as options that list names take it."""
    return f'"{name}"' if "," in name else name


def _command(table: Table, how: Reading, more: dict[str, list[str]]) -> str:
    """Return the command with further values of its options, as it can be pasted."""
    words, kept = iter([*how.command, *[table.name] * (len(how.command) == 1)]), ["conclust"]
    for word in words:
        option, _, value = word.partition("=")
        if option not in more:
            kept.append(word)
        elif (value := value or next(words)) and option != "--columns":
            more[option].insert(0, value)
    for option, values in more.items():
        value = ",".join(dict.fromkeys(values))
        kept += [f"{option}={value}"] if value.startswith("-") else [option, value]
    return shlex.join(kept)
