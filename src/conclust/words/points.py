"""What is done to points, and what is doubtful about them, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from conclust._validation import brief, count

if TYPE_CHECKING:
    from conclust.generation.points import Doubt

_LISTED = 5  # maximum number of repeats that are named
_COLUMNS = 8  # maximum number of columns that are named
_DOUBTS = {
    "total": "{object} is the sum of all others in {column} ({value}): a total rather than an object?",
    "far": "{object} has {value} in {column}, {times:,.0f} times as far from the median as all others: a total, or a misplaced decimal sign?",
    "counts": "{column} numbers the objects one by one: leave it out, unless it measures something, such as time.",
    "names": "{count} of objects occur{s} more than once: {again}. A join by name multiplies rows.",
    "rows": "{count} repeat{s} all numbers of another: objects {again}.",
}
_SCALED = {
    "standard": "Columns scaled to mean 0 and deviation 1.",
    "minmax": "Columns scaled to [0, 1].",
    "none": "Columns not scaled.",
    "only": "The column is not scaled: it is the only one.",
    "alike": "Columns not scaled: they seem to have the same unit.",
    "tighter unscaled": "Columns not scaled, because clusters are tighter as they are: {}.",
    "tighter": "Columns scaled to mean 0 and deviation 1, because clusters are then tighter: {}.",
    "units": "Columns scaled to mean 0 and deviation 1, because their units seem to differ: {}.",
    "huge": "Columns scaled to [0, 1], because the square of the largest number, {:.3g}, is too large for a computer.",
}


def of_doubts(
    doubts: Iterable[Doubt], names: Sequence[str] | None = None, ids: Sequence[str] | None = None
) -> list[str]:
    """Return a sentence for each doubt, in the user's names of columns and objects; None: they are counted from 0."""
    return [_of_doubt(doubt, names, ids) for doubt in doubts]


def _of_doubt(doubt: Doubt, names: Sequence[str] | None, ids: Sequence[str] | None) -> str:
    first, n = doubt.again[:_LISTED], len(doubt.again)
    if doubt.kind == "names":
        again = ", ".join(f"{name!r} ({times} times)" for name, times in first)
    else:
        again = "; ".join(f"{_named(a, ids)} and {_named(b, ids)}" for a, b in first)
    said = _DOUBTS[doubt.kind].format(
        object=f"Object {_named(doubt.row, ids)}",
        column=f"column {_named(doubt.column, names)}",
        value=brief(doubt.value),
        times=doubt.times,
        count=count(n, doubt.kind[:-1]),
        s="s" * (n == 1),
        again=again,
    )
    return said[0].upper() + said[1:]


def _named(place: int, names: Sequence[str] | None) -> str:
    return str(place) if names is None else repr(names[place])


def of_scaling(facts: tuple[Any, ...], names: Sequence[str] | None = None) -> str:
    """Return how columns were scaled, and why: `facts` as in `Scaling`."""
    why, *numbers = facts
    return _SCALED[why].format(of_extremes(numbers, names) if len(numbers) > 1 else sum(numbers))


def of_extremes(numbers: Sequence[Any], names: Sequence[str] | None) -> str:
    """Return the widest and the narrowest column, with their deviations."""
    a, width, b, least = numbers
    a, b = (f"{j} (from 0)" if names is None else repr(str(names[j])) for j in (a, b))
    return f"column {a} has standard deviation {brief(width)}, column {b} {brief(least)}"


def of_filling(gaps: dict[str, int], what: str) -> str:
    """Return how many empty cells of each column were filled, and by what; only the first columns if there are many."""
    each = [f"{name} {cells:,}" for name, cells in gaps.items()]
    more = f" and {len(gaps) - _COLUMNS:,} more columns" if len(gaps) > _COLUMNS else ""
    cells = count(sum(gaps.values()), "empty cell")
    return f"{cells} filled by the {what} of the column ({', '.join(each[:_COLUMNS])}{more})."
