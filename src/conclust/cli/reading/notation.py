"""How programs write tables: separators, empty cells, numbers, units and dates, declared once for all readers."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the options of the shell are declared without NumPy
    from conclust._types import Floats

SEPARATORS = {"tab": "\t", "semicolon": ";", "comma": ",", "pipe": "|", "blank": " "}
"""Signs between columns; of those that fit equally well the first is used. "blank": one or more."""
EMPTY = (
    *("", "NA", "na", "N/A", "N/a", "n/a", "NaN", "nan", "NAN", "None", "null", "NULL", "<NA>"),
    *("<na>", "#N/A", "#NULL!", "."),
)
"""Cells that are empty in every column, by R, pandas, databases, SAS and Excel. "None" is Python's; "none" may be an answer."""
EMPTY_NUMBER = ("-", "--", "?", "k.A.", "k. A.", "n.a.", "n. a.", "n.d.", "#NV", "#DIV/0!")
"""Cells that are empty besides numbers or dates only, where they are no answers."""
_UNITS = "%€$£"
_BLANK = " \u00a0\u202f"  # also those that do not break a line
SPACES = " \t\n\r\x0b\x0c" + _BLANK
"""Characters around a cell that are no part of it: not all that str.strip() takes, such as a file separator."""
_NUMBERS = {"point": (r"\.", ",'\u2019" + _BLANK), "comma": (",", ".'\u2019" + _BLANK)}
"""Decimal signs, each with the signs that may stand between thousands."""
_DATES = {
    "YYYY-MM-DD": (r"(\d{4})-(\d\d?)-(\d\d?)", r"\1-0\2-0\3"),
    "YYYY/MM/DD": (r"(\d{4})/(\d\d?)/(\d\d?)", r"\1-0\2-0\3"),
    "DD.MM.YYYY": (r"(\d\d?)\.(\d\d?)\.(\d{4})", r"\3-0\2-0\1"),
    "DD/MM/YYYY": (r"(\d\d?)/(\d\d?)/(\d{4})", r"\3-0\2-0\1"),
    "MM/DD/YYYY": (r"(\d\d?)/(\d\d?)/(\d{4})", r"\3-0\1-0\2"),
}
_TIME = r"(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)Z?)?"
NAMING = frozenset(
    [
        "id",
        "ids",
        "identifier",
        "name",
        "names",
        "object",
        "objects",
        "key",
        "index",
        "idx",
        "uuid",
        "guid",
        "code",
        "barcode",
        "row",
        "rowid",
        "sample",
        "email",
    ]
)
"""Last words of the names of columns that name objects."""
NUMBERING = frozenset(["id", "ids", "identifier", "object", "row", "rowid", "index", "idx", "key"])
"""Those that columns of numbers have only if they name objects: a 'code' or a 'sample' may be a measurement."""


def _number(decimal: str) -> str:
    sign, thousands = _NUMBERS[decimal]
    whole = rf"(?:[0-9]{{1,3}}(?:[{thousands}][0-9]{{3}})+|[0-9]+)"
    return rf"[+-]?(?:{whole}(?:{sign}[0-9]*)?|{sign}[0-9]+)(?:[eE][+-]?[0-9]+)?"


_WRITTEN = {decimal: _number(decimal) for decimal in _NUMBERS}
_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ANY_NUMBER = re.compile("|".join(_WRITTEN.values()) + "|[+-]?(?:inf|infinity)", re.IGNORECASE)


def is_missing(text: str) -> bool:
    """Return whether a cell marks a missing value in every column."""
    return text.strip() in EMPTY


def is_number(text: str, *, plain: bool = False) -> bool:
    """Return whether a cell is a number, in any notation or (`plain`, as labels are) with digits and a point."""
    if plain:
        return _PLAIN.fullmatch(text.strip(SPACES)) is not None
    return _ANY_NUMBER.fullmatch(text.strip(SPACES + _UNITS)) is not None


def last_word(name: str) -> str:
    """Return the last word of a column's name: 'id' of customer_id, CustomerID and 'customer id'."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+", name)
    return words[-1].lower() if words else ""


def readings(cells: Any) -> dict[str, Floats]:
    """Return the values of text in every notation in which all of the cells are written.

    Parameters
    ----------
    cells : ChunkedArray of string
        Cells that are not empty, without blanks around them.

    Returns
    -------
    dict of str to ndarray
        By notation: "point" and "comma", with the unit, such as "comma %"; "YYYY-MM-DD" and the like, in days since 1970.
    """
    from pyarrow import ArrowInvalid, compute

    if not len(cells):
        return {}

    head = cells[:20].to_pylist()

    def fits(pattern: str) -> bool:  # the first cells of most columns show that they do not
        if not all(re.fullmatch(pattern, cell) for cell in head):
            return False
        matches = compute.match_substring_regex(cells, f"^(?:{pattern})$")
        return bool(compute.all(matches).as_py())

    found: dict[str, Floats] = {}
    try:  # far quicker than what follows
        found["point"] = cells.cast("float64").to_numpy()
        if fits("[^.]*"):
            found["comma"] = found["point"]
        elif fits(_WRITTEN["comma"]):
            found["comma"] = _numbers(cells, "comma")
        return found
    except ArrowInvalid:
        pass
    unit = next((sign for sign in _UNITS if head[0].startswith(sign) or head[0].endswith(sign)), "")
    sign, gap = re.escape(unit), f"[{_BLANK}]*" * bool(unit)
    for decimal, pattern in _WRITTEN.items():
        if fits(f"{sign}{gap}(?:{pattern})|(?:{pattern}){gap}{sign}"):
            found[f"{decimal} {unit}".strip()] = _numbers(cells, decimal)
    for name, (pattern, iso) in _DATES.items():
        if fits(pattern + _TIME):
            with suppress(ArrowInvalid):  # such as the 31st of February
                found[name] = _days(cells, pattern, iso)
    return found


def _numbers(cells: Any, decimal: str) -> Floats:
    from pyarrow import compute

    sign, thousands = _NUMBERS[decimal]
    plain = compute.replace_substring_regex(cells, f"[{thousands}{_UNITS}{_BLANK}]", "")
    values: Floats = compute.replace_substring_regex(plain, sign, ".").cast("float64").to_numpy()
    return values


def _days(cells: Any, pattern: str, iso: str) -> Floats:
    from pyarrow import compute

    written = compute.replace_substring_regex(cells, pattern + _TIME, iso + r" \4")
    written = compute.replace_substring_regex(written, r"-0(\d\d)", r"-\1")
    moments = compute.utf8_trim_whitespace(written).cast("timestamp[us]")
    days: Floats = moments.cast("int64").to_numpy() / 86_400e6
    return days


def described(notation: str) -> str:
    """Return what is unusual in a notation, for a line about the columns that have it; empty: nothing."""
    if notation in _DATES:
        return f"dates ({notation}) as days"
    decimal, _, unit = notation.partition(" ")
    units = {"": "", "%": "per cent"}.get(unit, f"amounts in {unit}")
    return ", ".join(filter(None, [units, "decimal commas" * (decimal == "comma")]))
