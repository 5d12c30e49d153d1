"""Roles of the columns of a table: names of the objects, known classes, categories, data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from conclust.cli.reading.cells import NAMING, is_missing, last_word
from conclust.cli.reading.tables import Reading, Table, listed
from conclust.exceptions import InputError

OBJECT = "object"
"""Title of the column of names in result files if the input has none."""

_OURS = re.compile(r"label|confidence|cluster_\d+")  # columns that conclust writes next to it
_INDEX = "__index_level_"  # columns of an index without a name
# Only unmistakable words for columns of numbers: a 'code' or a 'sample' may be a measurement.
_NUMBERING = {"id", "ids", "identifier", "object", "row", "rowid", "index", "idx", "key"}
_WHOLE = re.compile(r"[+-]?\d+(\.0+)?", re.ASCII)
_FEW = 10  # number of objects below which all labels of a column may differ by chance
_NEARLY = 0.9  # minimum share of different values of labels that are names


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
    id_texts : list of str or None
        The names, where they have been read.
    notes : list of str
        Guesses made while reading.
    """

    ids: int | None
    classes: int | None
    data: list[int]
    categories: list[int]
    chosen: bool
    id_texts: list[str] | None = None
    notes: list[str] = field(default_factory=list)


def roles_of(table: Table, how: Reading, *, labels: bool) -> Roles:
    """Determine the role of each column by the user's options, by names and by content.

    Raises
    ------
    InputError
        A column does not exist, has two roles, or holds text although points are numbers; or no column is left.
    """
    roles = _requested(table, how)
    dropped = {table.column(name, "--drop") for name in how.drop}
    _take_unnamed(table, dropped, roles)
    nameless = any(table.names[j].startswith(_INDEX) for j in table.index)
    if not nameless:
        _take_index(table, dropped, roles)
    _find_names(table, dropped, roles, labels=labels)
    if nameless:  # a column that is called like names comes first
        _take_index(table, dropped, roles)
    if not labels:
        words = [j for j in roles.data if table.is_text(j)]
        if how.categories == ("all",):
            roles.categories = words
            roles.data = [j for j in roles.data if j not in words]
        elif words:
            _refuse_words(table, words)
    if not roles.data:
        if len(table.names) == 1 and roles.id_texts is not None:
            raise InputError(
                f"{table.name} has one column of text. Are its columns separated by something else than a comma, a semicolon or a tab? "
                "Give it with one of these between the columns."
            )
        raise InputError(
            f"{table.name}: no column of data is left besides the named ones"
            + (
                ". Where all columns are categories, use: conclust combine."
                if roles.categories
                else "."
            )
        )
    return roles


def _requested(table: Table, how: Reading) -> Roles:
    ids = None if how.id_column is None else table.column(how.id_column, "--id-column")
    classes = None if how.label_column is None else table.column(how.label_column, "--label-column")
    every = range(len(table.names))
    chosen = how.columns is not None
    data = [table.column(name, "--columns") for name in how.columns or ()] if chosen else [*every]
    drop = {table.column(name, "--drop") for name in how.drop}
    categories = [
        table.column(name, "--categories") for name in how.categories if how.categories != ("all",)
    ]
    role_of: dict[int, str] = {}
    for option, columns in (
        ("--id-column", [ids]),
        ("--label-column", [classes]),
        ("--drop", [*drop]),
        ("--categories", categories),
        ("--columns", data if chosen else []),
    ):
        for j in columns:
            if j in role_of:
                if option == role_of[j]:
                    raise InputError(f"{option} names the column {table.names[j]!r} twice.")
                raise InputError(f"{role_of[j]} and {option} name the same column.")
            if j is not None:
                role_of[j] = option
    if not chosen:
        data = [j for j in data if j not in role_of]
    return Roles(ids, classes, data, categories, chosen)


def _take_unnamed(table: Table, dropped: set[int], roles: Roles) -> None:
    """Take a first column without a name, the index of a data frame, as names of the objects; it is never data by itself."""
    chosen = roles.data if roles.chosen else ()
    if table.names[0] or 0 in (roles.ids, roles.classes, *dropped, *chosen):
        return
    if roles.ids is None:
        roles.ids = 0
        roles.notes.append("its first column, which has no name, read as names of the rows")
    elif 0 in roles.data:
        roles.notes.append("its first column, which has no name, left out")
    roles.data = [j for j in roles.data if j != 0]


def _take_index(table: Table, dropped: set[int], roles: Roles) -> None:
    """Take the index of a data frame as names of the objects if each has another value; it is never data by itself."""
    said = {roles.ids, roles.classes, *roles.categories, *(roles.data if roles.chosen else ())}
    index = [j for j in table.index if j not in said | dropped]
    if roles.ids is None and len(index) == len(table.index) == 1:
        (texts,) = table.texts(index)
        if len(set(texts)) == len(texts):
            roles.ids, roles.id_texts = index[0], texts
            roles.notes.append("its index read as names of the rows")
            index = []
    if set(index) & set(roles.data):
        roles.notes.append("its index left out")
    roles.data = [j for j in roles.data if j not in (*index, roles.ids)]


def _find_names(table: Table, dropped: set[int], roles: Roles, *, labels: bool) -> None:
    """Use a column as names of the objects only if nothing else is possible.

    If the names are known, columns of numbers that may be names are left out; text is refused where it does not belong.
    """
    left = {roles.ids, roles.classes, *roles.categories, *(roles.data if roles.chosen else ())}
    left |= dropped | set(table.index)
    guesses = [
        j
        for j in range(len(table.names))
        if j not in left
        and (roles.ids is None or not table.is_text(j))
        and (
            _may_name(table, j, labels=labels, head=table.head(j))
            or (not labels and _is_called_number(table, j))
        )
    ]
    if not guesses:
        return
    for j, text in zip(guesses, table.texts(guesses), strict=True):
        if not _may_name(table, j, labels=labels, head=text):
            if not labels:
                _refuse_repeated_names(table, j, text)
            continue
        shown = f"column {table.names[j]!r}" if table.named else f"column {j + 1}"
        if roles.ids is None:
            roles.ids, roles.id_texts = j, text
            roles.notes.append(f"its {shown} read as names of the rows")
        elif j in roles.data:
            roles.notes.append(f"its {shown}, which has a different value in every row, left out")
        roles.data = [k for k in roles.data if k != j]


def naming_columns(table: Table) -> list[int]:
    """Return the columns of a table of labels that name the objects, judged by its first rows."""
    heads = [(j, table.head(j)) for j in range(len(table.names))]
    return [j for j, head in heads if _may_name(table, j, labels=True, head=head)]


def _refuse_repeated_names(table: Table, j: int, texts: Sequence[str]) -> None:
    """Refuse a column of numbers that is called "id" and repeats few of its values, so it is not a measurement."""
    n_values = len(set(texts))
    whole = all(_WHOLE.fullmatch(text) for text in texts)
    if _is_called_number(table, j) and whole and names_objects(n_values, len(texts)):
        raise InputError(
            f"{table.name}: the column {table.names[j]!r} has {n_values:,} different values for {len(texts):,} objects. "
            "It does not name them, as values are repeated, and it is not a measurement: leave it out with --drop, or give it as one of --columns."
        )


def _may_name(table: Table, j: int, *, labels: bool, head: Sequence[str]) -> bool:
    """Return whether a column may name the objects: a different value in every row, in a place for names."""
    if len(set(head)) < len(head) or any(map(is_missing, head)):
        return False
    word = last_word(table.names[j]) if table.named else ""
    if table.is_text(j):
        return len(head) >= 3 and (word in NAMING or (j == 0 and (not labels or len(head) >= _FEW)))
    whole = all(_WHOLE.fullmatch(text) for text in head)
    if labels:
        return (len(head) >= 3 and word in NAMING) or (j == 0 and len(head) >= _FEW and whole)
    return len(head) >= 3 and word in _NUMBERING and whole


def _is_called_number(table: Table, j: int) -> bool:
    """Return whether a column of numbers is called "id" or the like."""
    return table.named and not table.is_text(j) and last_word(table.names[j]) in _NUMBERING


def _refuse_words(table: Table, words: list[int]) -> None:
    names = [table.names[j] for j in words]
    example = next(cell for cell in table.head(words[0]) if not is_missing(cell))[:60]
    many = len(names) > 1
    raise InputError(
        f"{table.name}: the column{'s' * many} {listed(names)} hold{'s' * (not many)} text (such as "
        f"{example!r}), but points must be numbers. If it names the objects or their known classes, give "
        "it as --id-column or --label-column; if it holds categories, as --categories "
        f"{','.join(map(_argument, names[:12]))}; otherwise leave it out with --drop."
    )


def _argument(name: str) -> str:
    return f'"{name}"' if "," in name else name


def names_objects(n_values: int, n_seen: int) -> bool:
    """Return whether labels look like names: nearly every object has a different one."""
    return n_seen >= _FEW and n_values >= _NEARLY * n_seen


def id_name(table: Table, ids: int | None) -> str:
    """Return the title of the column of names in the results."""
    name = table.names[ids] if ids is not None and table.named else ""
    return OBJECT if not name or _OURS.fullmatch(name) or name.startswith(_INDEX) else name
