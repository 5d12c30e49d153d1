"""How programs write tables: separators, empty cells, numbers, units and dates, declared once for all readers; what a user may say of it."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the options of the shell are declared without NumPy
    from pathlib import Path

    from conclust._types import Floats
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
_THOUSANDS = {"point": ",'\u2019" + _BLANK, "comma": ".'\u2019" + _BLANK}
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


def _number(decimal: str) -> str:
    whole = rf"(?:[0-9]{{1,3}}(?:[{_THOUSANDS[decimal]}][0-9]{{3}})+|[0-9]+)"
    sign = {"point": r"\.", "comma": ","}[decimal]
    return rf"[+{_MINUS}-]?(?:{whole}(?:{sign}[0-9]*)?|{sign}[0-9]+)(?:[eE][+-]?[0-9]+)?"


_NUMBERS = {decimal: _number(decimal) for decimal in _THOUSANDS}
_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ANY_NUMBER = re.compile("|".join(_NUMBERS.values()) + "|[+-]?(?:inf|infinity)", re.IGNORECASE)


def is_number(text: str, *, plain: bool = False) -> bool:
    """Return whether a cell is a number, in any notation or (`plain`, as labels are) with digits and a point."""
    if plain:
        return _PLAIN.fullmatch(text.strip(SPACES)) is not None
    return _ANY_NUMBER.fullmatch(text.strip(SPACES + _UNITS)) is not None


def last_word(name: str) -> str:
    """Return the last word of a column's name: 'id' of customer_id, CustomerID and 'customer id'."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+", name)
    return words[-1].lower() if words else ""


def plain_numbers(cells: Any) -> tuple[str, Any]:
    """Return cells of digits and one decimal sign as numbers: "number" if none has the sign, "point" or "comma"; ("", None) if not all are."""
    from pyarrow import ArrowInvalid, compute

    def has(some: Any, sign: str) -> bool:
        return bool(compute.any(compute.match_substring(some, sign)).as_py())

    comma, point = (has(cells[:20], sign) for sign in ",.")
    with suppress(ArrowInvalid):
        for some in (cells[:20], cells):  # Arrow writes a message of each cell at fault
            numbers = (compute.replace_substring(some, ",", ".") if comma else some).cast("float64")
        point = point or has(cells, ".")
        if not (comma and point):
            return "comma" if comma else "point" if point else "number", numbers
    return "", None


def readings(cells: Any, plain: tuple[str, Any]) -> dict[str, Floats]:
    """Return the values of text in every notation in which all of the cells are written.

    Parameters
    ----------
    cells : ChunkedArray of string
        Cells without blanks around them; null where they are empty.
    plain : str, ChunkedArray of float64 or None
        The cells as numbers, by `plain_numbers`.

    Returns
    -------
    dict of str to ndarray
        NaN where a cell is empty. By notation: "number" (of digits alone), "point" and "comma", with the unit, such as
        "comma %"; "YYYY-MM-DD" and the like, in days since 1970.
    """
    from pyarrow import ArrowInvalid, compute

    found: dict[str, Any] = {}
    if plain[0] == "number":
        return {"number": plain[1].to_numpy()}
    head = cells[:1000].drop_null()[:20].to_pylist()

    def fits(pattern: str) -> bool:  # the first cells of most columns show that they do not
        whole = f"^(?:{pattern})$"
        return all(re.fullmatch(pattern, cell) for cell in head) and bool(
            compute.all(compute.match_substring_regex(cells, whole)).as_py()
        )

    unit = next((sign for sign in _UNITS if head and sign in head[0]), "")
    sign, gap = re.escape(unit), f"[{_BLANK}]*" * bool(unit)
    for decimal, pattern in _NUMBERS.items():
        if decimal == plain[0]:  # far quicker than patterns
            found[decimal] = plain[1]
        elif fits(f"{sign}{gap}(?:{pattern})|(?:{pattern}){gap}{sign}"):
            others = f"[{_THOUSANDS[decimal]}{_UNITS}{_BLANK}]"
            digits = compute.replace_substring_regex(cells, others, "")
            for written, read in ((",", "."), (_MINUS, "-")):
                digits = compute.replace_substring(digits, written, read)
            found[f"{decimal} {unit}".strip()] = digits.cast("float64")
    for name in _DATES.split():
        order = re.findall("YYYY|MM|DD", name)
        digits = re.sub("YYYY", r"(\\d{4})", re.sub("MM|DD", r"(\\d\\d?)", re.escape(name)))
        if fits(pattern := digits + _TIME):
            iso = "-0".join(rf"\{order.index(part) + 1}" for part in ("YYYY", "MM", "DD"))
            written = compute.replace_substring_regex(cells, pattern, iso + r" \4")
            written = compute.replace_substring_regex(written, r"-0(\d\d)", r"-\1")
            with suppress(ArrowInvalid):  # such as the 31st of February
                moments = compute.utf8_trim_whitespace(written).cast("timestamp[us]")
                found[name] = compute.divide(moments.cast("int64").cast("float64"), 86_400e6)
    first, last = next(iter(found), ""), next(reversed(found), "")
    if first != last and found[first].equals(found[last]):
        found = {last.replace("comma", "number"): found[last]}
    return {notation: values.to_numpy() for notation, values in found.items()}


def described(notation: str) -> str:
    """Return what is unusual in a notation, for a line about the columns that have it; empty: nothing."""
    if notation in _DATES.split():
        return f"dates ({notation}) as days"
    decimal, _, unit = notation.partition(" ")
    units = {"": "", "%": "per cent"}.get(unit, f"amounts in {unit}")
    return ", ".join(filter(None, [units, "decimal commas" * (decimal == "comma")]))
