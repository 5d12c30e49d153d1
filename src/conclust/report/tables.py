"""Parts of the account as plain data: sections, texts, and tables with an explanation of each column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust.words.page.columns import TITLES, rows_of


def section(name: str, blocks: Sequence[dict[str, Any]], title: str = "") -> dict[str, Any]:
    """Return a section; `title`: the key of its title, if that is not its name."""
    return {"id": name, "title": TITLES[title or name], "blocks": list(blocks)}


def text_block(text: str, title: str = "") -> dict[str, Any]:
    """Return a paragraph, which may begin with a title."""
    return {"kind": "text", "text": text, "title": title}


def column(name: str, title: str, cells: str, how: str, **facts: Any) -> dict[str, Any]:
    """Return a column.

    Parameters
    ----------
    name : str
        Name for programs.
    title : str
        Title for readers.
    cells : str
        Number of decimals shown, empty for all; or another kind of cells: "share", "spread", "heat", "cluster", "name", "text".
    how : str
        Explanation of how its numbers were computed.
    **facts
        Facts in braces of the explanation.
    """
    digits = int(cells) if cells.isdecimal() else None
    kind = "number" if digits is not None else cells or "number"
    return {
        "name": name,
        "title": title,
        "how": how.format(**facts),
        "kind": kind,
        "digits": digits,
    }


def table(
    caption: str,
    columns: str | Sequence[dict[str, Any]],
    cells: Mapping[str, Sequence[Any]],
    *,
    first: int = 25,
    search: str = "",
    **facts: Any,
) -> dict[str, Any]:
    """Return a table, given its columns one by one.

    Parameters
    ----------
    caption : str
        Caption.
    columns : str or sequence of dict
        Rows of `conclust.words.page.columns`, of which those that have cells are taken; or results of `column`.
    cells : mapping of str to sequence
        The cells of each column, by name.
    first : int, default=25
        Number of rows shown before more are requested.
    search : str, default=""
        Placeholder of the search field above the table; empty: no search field.
    **facts
        Facts in braces of their explanations.
    """
    if isinstance(columns, str):
        columns = [column(*row, **facts) for row in rows_of(columns) if row[0] in cells]
    return {
        "kind": "table",
        "caption": caption,
        "columns": list(columns),
        "rows": [list(row) for row in zip(*(cells[c["name"]] for c in columns), strict=True)],
        "first": first,
        "search": search,
    }


def numbers(values: NDArray[Any] | Sequence[Any], digits: int = 6) -> list[Any]:
    """Return numbers for JSON, rounded; null for a missing or infinite one."""
    return [
        None
        if value is None or not math.isfinite(value)
        else int(value)
        if isinstance(value, int | np.integer)
        else round(float(value), digits)
        for value in np.asarray(values).tolist()
    ]
