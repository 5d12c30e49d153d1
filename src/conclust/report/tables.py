"""Parts of the account as plain data: sections, texts, and tables with an explanation of each column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kind: TypeAlias = Literal["number", "share", "spread", "heat", "cluster", "name", "text"]


def section(name: str, title: str, blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a section."""
    return {"id": name, "title": title, "blocks": list(blocks)}


def text_block(text: str, title: str = "") -> dict[str, Any]:
    """Return a paragraph, which may begin with a title."""
    return {"kind": "text", "text": text, "title": title}


def column(
    name: str, title: str, how: str, *, kind: Kind = "number", digits: int | None = None
) -> dict[str, Any]:
    """Return a column.

    Parameters
    ----------
    name : str
        Name for programs.
    title : str
        Title for readers.
    how : str
        Explanation of how its numbers were computed.
    kind : {"number", "share", "spread", "heat", "cluster", "name", "text"}
        Kind of its cells.
    digits : int, default=None
        Number of decimals shown. None: all.
    """
    return {"name": name, "title": title, "how": how, "kind": kind, "digits": digits}


def table(
    caption: str,
    columns: Sequence[dict[str, Any]],
    cells: Iterable[Sequence[Any]],
    *,
    first: int = 25,
    search: str = "",
) -> dict[str, Any]:
    """Return a table, given its columns one by one.

    Parameters
    ----------
    caption : str
        Caption.
    columns : sequence of dict
        Results of `column`.
    cells : iterable of sequences
        The cells of each column.
    first : int, default=25
        Number of rows shown before more are requested.
    search : str, default=""
        Placeholder of the search field above the table; empty: no search field.
    """
    return {
        "kind": "table",
        "caption": caption,
        "columns": list(columns),
        "rows": [list(row) for row in zip(*cells, strict=True)],
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
