"""How programs write tables: separators, empty cells, numbers, units and dates, declared once for all readers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

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


_PLAIN = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+|(?i:inf|infinity))(?:[eE][+-]?[0-9]+)?"
_NUMBERS = {
    decimal: rf"[+{_MINUS}-]?(?:(?:[1-9][0-9]{{0,2}}(?:[{gaps}][0-9]{{3}})+|[0-9]+)(?:{sign}[0-9]*)?|{sign}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    for decimal, sign, gaps in _SIGNS
}


def _notations() -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield notations: name, pattern of a cell, and what is replaced to get a number as Python writes it, or a date as ISO 8601."""
    yield "point", _PLAIN, []
    yield "comma", _PLAIN.replace(r"\.", ","), [(".", ";"), (",", ".")]
    for unit, (decimal, _, gaps) in product(("", *_UNITS), _SIGNS):
        number, sign, gap = _NUMBERS[decimal], re.escape(unit), f"[{_BLANK}]*" * bool(unit)
        steps = [(f"[{gaps}{_UNITS}]", ""), (",", "."), (_MINUS, "-")]
        yield f"{decimal} {unit}".strip(), f"{sign}{gap}(?:{number})|(?:{number}){gap}{sign}", steps
    for name in _DATES.split():
        order = re.findall("YYYY|MM|DD", name)
        days = re.sub("MM|DD", r"(\\d\\d?)", re.escape(name))
        pattern = re.sub("YYYY", r"(\\d{4})", days) + _TIME
        iso = "-0".join(rf"\{order.index(part) + 1}" for part in ("YYYY", "MM", "DD"))
        yield name, pattern, [(pattern, iso + r" \4"), (r"-0(\d\d)", r"-\1"), (" $", "")]


_NOTATIONS = [*_notations()]


def is_number(text: str, *, plain: bool = False) -> bool:
    """Return whether a cell is a number, in any notation or (`plain`, as labels are) with digits and a point."""
    pattern = _PLAIN if plain else "|".join((_PLAIN, *_NUMBERS.values()))
    return bool(re.fullmatch(pattern, text.strip(SPACES + _UNITS * (not plain))))


def last_word(name: str) -> str:
    """Return the last word of a column's name: 'id' of customer_id, CustomerID and 'customer id'."""
    words: list[str] = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+", name)
    return words[-1].lower() if words else ""


def readings(cells: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the values of text in every notation in which all of the cells are written.

    Parameters
    ----------
    cells : ChunkedArray of string
        Cells without blanks around them; null where they are empty.

    Returns
    -------
    found : dict of str to ChunkedArray of float64
        Null where a cell is empty. By notation: "number" (of digits alone), "code" (of one length above 2, some with a leading zero, as postal codes are), "point" and "comma", with the unit, such as
        "comma %"; "YYYY-MM-DD" and the like, in days since 1970.
    empty_words : list of str
        Those of ``EMPTY_NUMBER`` without which no notation fits.
    """
    from pyarrow import ArrowInvalid, array, compute

    found: dict[str, Any] = {}
    head = cells[:1000].drop_null()[:20].to_pylist()
    for k, (name, pattern, steps) in enumerate(_NOTATIONS):
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
    is_word = compute.is_in(cells, value_set=array(EMPTY_NUMBER))
    if not found and compute.any(is_word).as_py():
        words = cells.filter(is_word).unique().to_pylist()
        return readings(compute.if_else(is_word, None, cells))[0], words
    first, last = next(iter(found), ""), next(reversed(found), "")
    if first != last and found[first].equals(found[last]):
        found = {last.replace("comma", "number"): found[last]}
    if "number" in found and len(compute.utf8_length(cells).drop_null().unique()) == 1:
        code = compute.any(compute.match_substring_regex(cells, "^0[0-9]{2}")).as_py()
        found = {"code": found["number"]} if code else found
    return found, []


def described(notation: str, empty_words: Sequence[str]) -> list[str]:
    """Return what is unusual in a notation, for a line about the columns that have it."""
    decimal, _, unit = notation.partition(" ")
    what = [f"amounts in {unit}" if unit != "%" else "per cent"] * bool(unit)
    what += ["decimal commas"] * (decimal == "comma")
    what += [f"dates ({notation}) as days"] * ("YYYY" in notation)
    return [", ".join(what)] * bool(what) + [f"{word!r} as empty" for word in empty_words]
