"""How programs write tables: separators, empty cells, numbers, units and dates, declared once for all readers."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
_ANY_NUMBER = re.compile("|".join(_WRITTEN.values()) + "|[+-]?(?:inf|infinity)", re.IGNORECASE)


def is_missing(text: str) -> bool:
    """Return whether a cell marks a missing value in every column."""
    return text.strip() in EMPTY


def is_number(text: str) -> bool:
    """Return whether a cell is a number in any notation."""
    return _ANY_NUMBER.fullmatch(text.strip().strip(_UNITS).strip()) is not None


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
    import numpy as np
    import pyarrow

    if not len(cells):
        return {}
    found = {}
    try:
        values = cells.cast("int64").to_numpy().astype(np.float64)
        return dict.fromkeys(_NUMBERS, values)
    except pyarrow.ArrowInvalid:
        pass
    for notation, values in _candidates(cells, cells[0].as_py()):
        try:
            found[notation] = np.asarray(values(), dtype=np.float64)
        except pyarrow.ArrowInvalid:  # such as the 31st of February
            continue
    return found


def _candidates(cells: Any, first: str) -> Iterator[tuple[str, Any]]:
    """Yield the notations whose signs all of the cells have, with a function that returns their values."""
    from pyarrow import ArrowInvalid, compute, float64, timestamp

    def fits(texts: Any, pattern: str) -> bool:
        whole = f"^(?:{pattern})$"
        return all(
            compute.all(compute.match_substring_regex(part, whole)).as_py()
            for part in (texts[:100], texts)
        )

    try:  # far quicker than what follows
        plain = cells.cast("float64")
        yield "point", plain.to_numpy
    except ArrowInvalid:
        plain = None
    unit = next((sign for sign in _UNITS if first.startswith(sign) or first.endswith(sign)), "")
    bare = cells
    if unit:
        at = rf"^{re.escape(unit)}\s*|\s*{re.escape(unit)}$"
        if not compute.all(compute.match_substring(cells, unit)).as_py():
            return
        bare = compute.replace_substring_regex(cells, f"[{_BLANK}]*{re.escape(unit)}|{at}", "")
        bare = compute.utf8_trim_whitespace(bare)
    for decimal, pattern in _WRITTEN.items():
        if not (plain is not None and decimal == "point") and fits(bare, pattern):
            sign, thousands = _NUMBERS[decimal]

            def numbers(sign: str = sign, thousands: str = thousands) -> Any:
                plain = compute.replace_substring_regex(bare, f"[{thousands}]", "")
                return compute.replace_substring_regex(plain, sign, ".").cast(float64())

            yield f"{decimal} {unit}".strip(), numbers
    for name, (pattern, iso) in _DATES.items():
        if fits(cells, pattern + _TIME):

            def days(pattern: str = pattern, iso: str = iso) -> Any:
                written = compute.replace_substring_regex(cells, pattern + _TIME, iso + r" \4")
                written = compute.replace_substring_regex(written, r"-0(\d\d)", r"-\1")
                seconds = compute.utf8_trim_whitespace(written).cast(timestamp("us"))
                return seconds.cast("int64").to_numpy() / 86_400e6

            yield name, days


def described(notation: str) -> str:
    """Return what is unusual in a notation, for a line about the columns that have it; empty: nothing."""
    if notation in _DATES:
        return f"dates ({notation}) as days"
    decimal, _, unit = notation.partition(" ")
    units = {"": "", "%": "per cent"}.get(unit, f"amounts in {unit}")
    return ", ".join(filter(None, [units, "decimal commas" * (decimal == "comma")]))
