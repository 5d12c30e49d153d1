"""Single cells of text files: empty ones, numbers, names of columns."""

from __future__ import annotations

import re

# Spellings of an empty cell by R, pandas, databases, SAS and Excel. "None" is Python's, while "none" may be an answer.
EMPTY = frozenset(
    [
        *(
            "",
            "NA",
            "na",
            "N/A",
            "N/a",
            "n/a",
            "NaN",
            "nan",
            "NAN",
            "None",
            "null",
            "NULL",
            "<NA>",
            "<na>",
        ),
        *("#N/A", "#NULL!", "."),
    ]
)

NAMING = {
    *("id", "ids", "identifier", "name", "names", "object", "objects", "key", "index", "idx"),
    *("uuid", "guid", "code", "barcode", "row", "rowid", "sample", "email"),
}
"""Last words of the names of columns that name objects."""


def is_missing(text: str) -> bool:
    """Return whether a cell marks a missing value: empty, NA, NaN, None, null, a single point."""
    return text.strip() in EMPTY


def to_number(text: str) -> float:
    """Read a number with a decimal point; a ValueError if it is not one."""
    # float() also reads 1_000 and digits of other scripts, which other programs do not.
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def from_comma(text: str) -> float:
    """Read a number with a decimal comma; a ValueError if it is not one."""
    if "." in text:  # either sign may be the thousands separator
        raise ValueError(text)
    return to_number(text.replace(",", ".", 1))


def is_number(text: str) -> bool:
    """Return whether a cell is a number with a decimal point."""
    try:
        to_number(text)
    except ValueError:
        return False
    return True


def whole(number: float) -> int | None:
    """Return a float as an int, or None if it is not whole."""
    return int(number) if abs(number) < 2.0**53 and number == int(number) else None


def last_word(name: str) -> str:
    """Return the last word of a column's name: 'id' of customer_id, CustomerID and 'customer id'."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+", name)
    return words[-1].lower() if words else ""
