"""Roles of the columns of a table: names of the objects, known classes, categories, data."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from conclust._validation import count
from conclust.cli.console import plain
from conclust.cli.reading.notation import NAMING, NUMBERING, is_number, last_word
from conclust.cli.reading.tables import Reading, Table
from conclust.exceptions import InputError

OBJECT = "object"
"""Title of the column of names in result files if the input has none."""

_OURS = re.compile(r"label|confidence|cluster_\d+")  # columns that conclust writes next to it
_INDEX = "__index_level_"  # columns of an index without a name
_FEW = 10  # number of objects below which all labels of a column may differ by chance
_NEARLY = 0.9  # minimum share of different values of labels that are names
_LISTED = 40  # maximum number of columns in a refusal
# Those that a refusal adds.
_OPTIONS = ("--id-column", "--categories", "--drop", "--na", "--impute", "--decimal", "--columns")


@dataclass
class Roles:
    """The kind of each column of a table.

    Attributes
    ----------
    ids, classes : int or None
        The columns of names and of known classes.
    data, categories : list of int
        Columns of numbers or labels; of categories.
    chosen : bool
        Whether the user named the columns of data.
    notes : list of str
        Guesses made while reading.
    """

    ids: int | None
    classes: int | None
    data: list[int]
    categories: list[int]
    chosen: bool
    notes: list[str] = field(default_factory=list)


def roles_of(table: Table, how: Reading, *, labels: bool) -> Roles:
    """Determine the role of each column by the user's options, by names and by content.

    Raises
    ------
    InputError
        A column does not exist, has two roles, or is not what it is used for; or no column is left.
    """
    _refuse_undivided(table)
    roles = _requested(table, how)
    free = [] if roles.chosen else roles.data
    guesses = [
        j
        for j in range(len(table.names))
        if j in free or (roles.chosen and j not in _said(table, roles, how))
    ]
    if guesses[:1] == [0] and not table.names[0]:
        _name(table, roles, 0, "first column, which has no name,")
    index = [j for j in table.index if j in guesses]
    alone = len(index) == len(table.index) == 1 and _differ(table, index[0])
    if alone and not table.names[index[0]].startswith(_INDEX):
        _name(table, roles, index[0], "index")
    given = roles.ids is not None
    for j in guesses:
        known = j in index or j == roles.ids or (given and table.is_text(j))
        if not known and _may_name(table, j, labels=labels):
            _name(
                table, roles, j, f"column {table.names[j]!r}" if table.named else f"column {j + 1}"
            )
    if alone and roles.ids is None:
        _name(table, roles, index[0], "index")
    if set(index) & set(roles.data):
        roles.notes.append("its index left out")
        roles.data = [j for j in roles.data if j not in index]
    if not labels:
        if how.categories == ("all",):
            roles.categories = [j for j in roles.data if table.is_text(j)]
            roles.data = [j for j in roles.data if j not in roles.categories]
        table.settle(roles.data)
        _refuse_undecided(table, roles, how)
        roles.notes += table.how_written(roles.data)
    if not roles.data:
        way = " Where all columns are categories, use: conclust combine." * bool(roles.categories)
        raise InputError(f"{table.name}: no column of data is left besides the named ones.{way}")
    return roles


def _requested(table: Table, how: Reading) -> Roles:
    def found(option: str, names: Sequence[str | None]) -> list[int]:
        return [table.column(name, option) for name in names if name is not None]

    chosen = how.columns is not None
    given = {
        "--id-column": [how.id_column],
        "--label-column": [how.label_column],
        "--drop": how.drop,
        "--categories": () if how.categories == ("all",) else how.categories,
        "--columns": how.columns or (),
    }
    places = {option: found(option, names) for option, names in given.items()}
    role_of: dict[int, str] = {}
    for option, columns in places.items():
        for j in columns:
            if role_of.get(j) == option:
                raise InputError(f"{option} names the column {table.names[j]!r} twice.")
            if j in role_of:
                raise InputError(f"{role_of[j]} and {option} name the same column.")
            role_of[j] = option
    data = (
        places["--columns"] if chosen else [j for j in range(len(table.names)) if j not in role_of]
    )
    ids, classes = ((*places[option], None)[0] for option in ("--id-column", "--label-column"))
    return Roles(ids, classes, data, places["--categories"], chosen)


def _said(table: Table, roles: Roles, how: Reading) -> set[int | None]:
    dropped = [table.column(name, "--drop") for name in how.drop]
    return {roles.ids, roles.classes, *roles.categories, *roles.data, *dropped}


def _name(table: Table, roles: Roles, j: int, shown: str) -> None:
    """Take a column that may name the objects for their names, or leave it out; it is never data by itself."""
    if roles.ids is None:
        roles.ids = j
        roles.notes.append(f"its {shown} read as names of the rows")
    elif j in roles.data:
        why = "" if shown.endswith(",") else ", which has a different value in every row,"
        roles.notes.append(f"its {shown}{why} left out")
    roles.data = [k for k in roles.data if k != j]


def naming_columns(table: Table) -> list[int]:
    """Return the columns of a table of labels that name the objects."""
    return [j for j in range(len(table.names)) if _may_name(table, j, labels=True)]


def _may_name(table: Table, j: int, *, labels: bool) -> bool:
    """Return whether a column may name the objects: a different value in every row, in a place for names."""
    word = last_word(table.names[j]) if table.named else ""
    if len(table) < 3 or not (j == 0 or word in NAMING):
        return False
    if not table.is_text(j):
        called = word in (NAMING if labels else NUMBERING)
        first = labels and j == 0 and len(table) >= _FEW
        return (
            (called or (first and _whole(table, j)))
            and (labels or _whole(table, j))
            and _differ(table, j)
        )
    return (word in NAMING or not labels or len(table) >= _FEW) and _differ(table, j)


def _whole(table: Table, j: int) -> bool:
    values = table.numbers_of(j).found.get("point")
    return values is not None and np.array_equal(values, np.rint(values))


def _differ(table: Table, j: int) -> bool:
    """Return whether every cell of a column has another value, and none is empty."""
    texts = table.texts([j])[0]
    return len(set(texts)) == len(texts) and not any(map(table.how.is_empty, texts))


def names_objects(n_values: int, n_seen: int) -> bool:
    """Return whether labels look like names: nearly every object has a different one."""
    return n_seen >= _FEW and n_values >= _NEARLY * n_seen


def id_name(table: Table, ids: int | None) -> str:
    """Return the title of the column of names in the results."""
    name = table.names[ids] if ids is not None and table.named else ""
    return OBJECT if not name or _OURS.fullmatch(name) or name.startswith(_INDEX) else name


def _refuse_undivided(table: Table) -> None:
    """Refuse a single column of text whose cells seem to be whole rows."""
    if table.text is None or not table.text.undivided or len(table.names) > 1:
        return
    texts = [text for text in table.texts([0])[0] if not table.how.is_empty(text)]
    if len(set(texts)) > len(texts) / 2 and all(re.search(r"[\s|:/,;]", text) for text in texts):
        raise InputError(
            f"{table.name} is one column of text (such as {texts[0][:60]!r}), nearly all different: are its columns separated by "
            "something that was not found? Lines have different numbers of fields, or the separator is not one of those of "
            "--delimiter. If each line is one label, give --delimiter comma."
        )


def _refuse_undecided(table: Table, roles: Roles, how: Reading) -> None:
    """Refuse points with columns that are not numbers in every cell: all columns, and the command that settles them."""
    lines = []
    more: dict[str, list[str]] = {option: [] for option in _OPTIONS}
    for j, name in enumerate(table.names):
        if j in roles.data:
            what, option, value = _account(table, j, how, free=not roles.chosen)
            if option:
                more[option] += [value] if value not in more[option] else []
                lines.append((name, what))
            elif len(table.names) <= _LISTED:
                lines.append((name, what))
        elif len(table.names) <= _LISTED:
            said = {roles.ids: "names of the objects", roles.classes: "known classes"}
            what = "categories" if j in roles.categories else said.get(j, "left out")
            lines.append((name, what))
    if not any(more.values()) or not len(table):
        return
    if roles.ids is not None or len(more["--id-column"]) > 1:
        more["--drop"] += more["--id-column"][roles.ids is None :]
        more["--id-column"] = more["--id-column"][: roles.ids is None]
    if more["--na"] and not how.gaps:
        more["--impute"] = ["median"]
    if roles.chosen and more["--drop"]:
        data = [_quoted(table.names[j]) for j in roles.data]
        more["--columns"] = [name for name in data if name not in more["--drop"]]
        more["--drop"] = []
    shown = lines[:_LISTED]
    rest = f"\n  and {len(lines) - len(shown):,} more columns" * (len(lines) > len(shown))
    width = min(30, max(len(repr(name)) for name, _ in shown))
    listing = "".join(f"\n  {name!r:<{width}}  {what}" for name, what in shown)
    way = (
        f"This command gives each a meaning:\n\n  {plain(_command(table, how, more))}\n\nText is names of the objects (--id-column), known classes "
        "(--label-column) or categories (--categories), or is left out (--drop); --impute fills empty cells, --na names them."
    )
    if not how.command:  # predict, which has no such options
        way = "Write them as in the file of the result, or make the result by 'conclust cluster --impute median': empty cells are then filled here as well."
    raise InputError(
        f"{table.name}: points are numbers in every cell, and some columns are not.{listing}{rest}\n"
        f"{way}"
    )


def _account(table: Table, j: int, how: Reading, *, free: bool) -> tuple[str, str, str]:
    """Return what a column is, and the option and its value that settles it; empty if nothing is open."""
    name = _quoted(table.names[j])
    read = table.numbers_of(j)
    values = read.values
    if values is not None:
        called = free and table.named and last_word(table.names[j]) in NUMBERING
        n_values, n = len(np.unique(values)) if called else 0, len(values)
        if called and n_values < n and names_objects(n_values, n) and _whole(table, j):
            return (
                f"whole numbers, {n_values:,} different ones for {n:,} objects: names with repeats, and no measurement",
                "--drop",
                name,
            )
        if (infinite := np.flatnonzero(np.isinf(values))).size:
            cell = table.texts([j])[0][infinite[0]]
            return f"numbers, but {cell!r} in {table.place(int(infinite[0]), j)}", "--na", cell
        written = ", ".join(table.how_written([j])).partition(" in ")[0] or "numbers"
        empty = np.flatnonzero(np.isnan(values))
        if empty.size == n:
            return "empty", "--drop", name
        if empty.size and not how.gaps:
            cell = table.texts([j])[0][empty[0]]
            first = f" ({cell!r})" if cell else ""
            return (
                f"{written}; {count(empty.size, 'empty cell')}, the first{first} in {table.place(int(empty[0]), j)}",
                "--impute",
                "median",
            )
        return written, "", ""
    texts = [text for text in table.texts([j])[0] if not how.is_empty(text)]
    if read.found:
        signs = {"point", "comma"} & set(read.found)
        if len(signs) == 2 and how.decimal is None:
            what = (
                f"numbers such as {texts[0]!r}, in which the comma may be the decimal sign or not"
            )
            return what, "--decimal", "comma"
        way = " (--decimal)" * bool(signs)
        return (
            f"text such as {texts[0]!r}, which may be {' or '.join(read.found)}{way}",
            "--drop",
            name,
        )
    if not texts:
        return "empty", "--drop", name
    kinds = dict.fromkeys(texts)
    strange = [text for text in kinds if not is_number(text)]
    if len(strange) <= min(3, len(kinds) / 2):
        all_texts = table.texts([j])[0]
        if not strange:
            return f"numbers in several notations, such as {texts[0]!r}", "--drop", name
        row = all_texts.index(strange[0])
        return (
            f"numbers, but {strange[0][:60]!r} in {table.place(row, j)} is not a number",
            "--na",
            strange[0],
        )
    example = f"(such as {texts[0][:60]!r})"
    if names_objects(len(kinds), len(texts)):
        word = last_word(table.names[j]) in NAMING or j == 0
        twice = f", {count(len(texts) - len(kinds), 'repeat')}" * (len(kinds) < len(texts))
        return (
            f"text, {len(kinds):,} values for {len(texts):,} objects{twice} {example}",
            "--id-column" if word else "--drop",
            name,
        )
    if len(kinds) > max(20, len(texts) / 4):
        return f"text, {count(len(kinds), 'different value')} {example}", "--drop", name
    return f"text, {count(len(kinds), 'value')} {example}", "--categories", name


def _quoted(name: str) -> str:
    """Return a name as options that list names take it."""
    return f'"{name}"' if "," in name else name


def _command(table: Table, how: Reading, more: dict[str, list[str]]) -> str:
    """Return the command with further values of its options, as it can be pasted."""
    words, kept = [*how.command, *[table.name] * (len(how.command) == 1)], []
    while words:
        word = words.pop(0)
        option, _, value = word.partition("=")
        if more.get(option):
            value = value or words.pop(0)
            if option != "--columns":
                more[option].insert(0, value)
        else:
            kept.append(word)
    for option, values in more.items():
        if values:
            kept += (
                [f"{option}={','.join(values)}"]
                if option == "--na"
                else [option, ",".join(dict.fromkeys(values))]
            )
    return shlex.join(["conclust", *kept])
