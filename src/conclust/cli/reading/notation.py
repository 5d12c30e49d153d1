"""How programs write tables: separators, empty cells, numbers, units and dates, declared once for all readers; what a user may say of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the options of the shell are declared without NumPy
    from pathlib import Path

    from conclust.ensemble import Missing

SEPARATORS = {"tab": "\t", "semicolon": ";", "comma": ",", "pipe": "|", "blank": " "}
"""Signs between columns; of those that fit equally well the first is used. "blank": one or more."""
_MISSING = "NA na N/A N/a n/a NaN nan NAN None null NULL <NA> <na> #N/A #NULL! ."
EMPTY = ("", *_MISSING.split())
"""Cells that are empty in every column, by R, pandas, databases, SAS and Excel. "None" is Python's; "none" may be an answer."""
EMPTY_NUMBER = ("-", "--", "?", "k.A.", "k. A.", "n.a.", "n. a.", "n.d.", "#NV", "#DIV/0!")
"""Cells that are empty besides numbers or dates only, where they are no answers."""
_UNITS = "%€$£"
_BLANK = " \u00a0\u202f"  # also those that do not break a line
_MINUS = "\u2212"  # as typesetters write it
SPACES = " \t\n\r\x0b\x0c" + _BLANK
"""Characters around a cell that are no part of it: not all that str.strip() takes, such as a file separator."""
_GAPS = "'\u2019" + _BLANK
_SIGNS = (("point", r"\.", "," + _GAPS), ("comma", ",", "." + _GAPS))
"""Decimal signs, each with the signs that may stand between thousands."""
_DATES = "YYYY-MM-DD YYYY/MM/DD DD.MM.YYYY DD-MM-YYYY MM-DD-YYYY DD/MM/YYYY MM/DD/YYYY"
_TIME = r"(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)Z?)?"
NUMBERING = re.compile(r"ids?|identifier|object|row|rowid|index|idx|key")
"""Last words of the names of columns of numbers that name objects: a 'code' or a 'sample' may be a measurement."""
NAMING = re.compile(NUMBERING.pattern + r"|objects|names?|uuid|guid|(bar)?code|sample|email")
"""Those of other columns that name objects."""


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
    na : tuple of str, default=()
        Further spellings of an empty cell in text files.
    encoding : str, default=None
        Encoding of text files without a byte order mark; None: UTF-8.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of the label -1.
    weights : Path, default=None
        A file of one weight per partition.
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
    na: tuple[str, ...] = ()
    encoding: str | None = None
    missing: Missing = "unobserved"
    weights: Path | None = None
    notations: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ("cluster",)


_PLAIN = {
    decimal: rf"[+-]?(?:[0-9]+{sign}?[0-9]*|{sign}[0-9]+|(?i:inf|infinity))(?:[eE][+-]?[0-9]+)?"
    for decimal, sign, _ in _SIGNS
}
_NUMBERS = {
    decimal: rf"[+{_MINUS}-]?(?:(?:[0-9]{{1,3}}(?:[{gaps}][0-9]{{3}})+|[0-9]+)(?:{sign}[0-9]*)?|{sign}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    for decimal, sign, gaps in _SIGNS
}


def _notations() -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield notations: name, pattern of a cell, and what is replaced to get a number as Python writes it, or a date as ISO 8601."""
    yield "point", _PLAIN["point"], []
    yield "comma", _PLAIN["comma"], [(".", ";"), (",", ".")]
    for unit, (decimal, _, gaps) in product(("", *_UNITS), _SIGNS):
        number, sign, gap = _NUMBERS[decimal], re.escape(unit), f"[{_BLANK}]*" * bool(unit)
        steps = [(f"[{gaps}{_UNITS}]", ""), (",", "."), (_MINUS, "-")]
        yield f"{decimal} {unit}".strip(), f"{sign}{gap}(?:{number})|(?:{number}){gap}{sign}", steps
    for name in _DATES.split():
        order = re.findall("YYYY|MM|DD", name)
        pattern = (
            re.sub("YYYY", r"(\\d{4})", re.sub("MM|DD", r"(\\d\\d?)", re.escape(name))) + _TIME
        )
        iso = "-0".join(rf"\{order.index(part) + 1}" for part in ("YYYY", "MM", "DD"))
        yield name, pattern, [(pattern, iso + r" \4"), (r"-0(\d\d)", r"-\1"), (" $", "")]


_NOTATIONS = [*_notations()]


def is_number(text: str, *, plain: bool = False) -> bool:
    """Return whether a cell is a number, in any notation or (`plain`, as labels are) with digits and a point."""
    patterns = [_PLAIN["point"]] if plain else [_PLAIN["point"], *_NUMBERS.values()]
    text = text.strip(SPACES + _UNITS * (not plain))
    return any(re.fullmatch(pattern, text) for pattern in patterns)


def last_word(name: str) -> str:
    """Return the last word of a column's name: 'id' of customer_id, CustomerID and 'customer id'."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+", name)
    return words[-1].lower() if words else ""


def readings(cells: Any) -> dict[str, Any]:
    """Return the values of text in every notation in which all of the cells are written.

    Parameters
    ----------
    cells : ChunkedArray of string
        Cells without blanks around them; null where they are empty.

    Returns
    -------
    dict of str to ChunkedArray of float64
        Null where a cell is empty. By notation: "number" (of digits alone), "point" and "comma", with the unit, such as
        "comma %"; "YYYY-MM-DD" and the like, in days since 1970.
    """
    from pyarrow import ArrowInvalid, compute

    found: dict[str, Any] = {}
    head = cells[:1000].drop_null()[:20].to_pylist()
    for k, (name, pattern, steps) in enumerate(_NOTATIONS):
        if k == 1 and found and not compute.any(compute.match_substring(cells, ".")).as_py():
            return {"number": found["point"]}
        plain, values = k < 2, cells  # far quicker: Arrow refuses all but plain numbers
        # The first cells of most columns show that they do not fit.
        if name in found or not all(re.fullmatch(pattern, cell) for cell in head):
            continue
        if plain or compute.all(compute.match_substring_regex(cells, f"^(?:{pattern})$")).as_py():
            replace = compute.replace_substring if plain else compute.replace_substring_regex
            for written, read in steps:
                values = replace(values, written, read)
            with suppress(ArrowInvalid):  # such as the 31st of February
                if "YYYY" in name:
                    moments = values.cast("timestamp[us]").cast("int64").cast("float64")
                    values = compute.divide(moments, 86_400e6)
                found[name] = values.cast("float64")
    first, last = next(iter(found), ""), next(reversed(found), "")
    if first != last and found[first].equals(found[last]):
        found = {last.replace("comma", "number"): found[last]}
    return found


def described(notation: str, empty_words: Sequence[str]) -> list[str]:
    """Return what is unusual in a notation, for a line about the columns that have it."""
    decimal, _, unit = notation.partition(" ")
    units = {"": "", "%": "per cent"}.get(unit, f"amounts in {unit}")
    whole = ", ".join(filter(None, [units, "decimal commas" * (decimal == "comma")]))
    dates = f"dates ({notation}) as days" * ("YYYY" in notation)
    return [*filter(None, [whole, dates]), *(f"{word!r} as empty" for word in empty_words)]
