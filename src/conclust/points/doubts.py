"""Doubts about points as they were read: totals among the rows, cells far beyond their column, repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from conclust._types import Floats
from conclust._validation import count
from conclust.generation.generator import EnsembleGenerator
from conclust.generation.labelling.labelling import is_in_blocks
from conclust.generation.points import read_points

_BEYOND = 100.0  # how far a cell is beyond its column, in distances of the next one from the median
_FEW = 8  # number of values below which one may be the sum of the others by chance
_AT_ONCE = 3  # maximum number of such cells in a column
_COARSE = 0.1  # share of repeated rows above which the columns take few values
_LISTED = 5


def doubts(
    X: Floats, names: Sequence[str] | None = None, ids: Sequence[str] | None = None
) -> list[str]:
    """Return sentences about rows and cells of points that are probably no objects or no measurements.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points; NaN where a value is missing.
    names : sequence of str, default=None
        Names of the columns. None: they are counted from 0.
    ids : sequence of str, default=None
        Names of the objects. None: they are counted from 0.

    Returns
    -------
    list of str
        A row that is the sum of the others in a column; cells a hundred times as far from the median of their column as
        any other; rows and names that are repeated.
    """
    said = []
    for j, column in enumerate(np.asarray(X, dtype=np.float64).T):
        name = f"column {j}" if names is None else f"column {names[j]!r}"
        held = np.flatnonzero(np.isfinite(column))
        if held.size < _FEW:
            continue
        total = _total(column[held])
        far = [] if total is not None else _far(column[held])
        if total is not None:
            row = int(held[total])
            said.append(
                f"{_object(row, ids)} is the sum of all others in {name} ({column[row]:g}): a total, and no object?"
            )
        for at, times in far:
            row = int(held[at])
            said.append(
                f"{_object(row, ids)} has {column[row]:g} in {name}, {times:,.0f} times as far from the median as all others: "
                "a total, or a slip of the decimal sign?"
            )
    if ids is not None:
        said += _repeated_names(ids)
    return said + _repeated_rows(np.asarray(X, dtype=np.float64), ids)


def doubts_of_fit(generator: Any, X: Any) -> list[str]:
    """Return the doubts about the points of a fitted generator; none where these are not in memory as numbers."""
    on_disk = isinstance(X, np.memmap) or (is_in_blocks(X) and not isinstance(X, np.ndarray))
    if not isinstance(generator, EnsembleGenerator) or on_disk:
        return []
    names = getattr(generator, "feature_names_in_", None)
    return doubts(read_points(generator, X, reset=False), names)


def _object(row: int, ids: Sequence[str] | None) -> str:
    return f"Object {row}" if ids is None else f"Object {ids[row]!r}"


def _total(values: Floats) -> int | None:
    """Return the place of a value that is the sum of all others, which have its sign; None if there is none."""
    if np.count_nonzero(values) < _FEW or (values.min() < 0 < values.max()):
        return None
    largest = int(np.argmax(np.abs(values)))
    rest = float(values.sum() - values[largest])
    return largest if abs(values[largest] - rest) <= 1e-4 * abs(rest) else None


def _far(values: Floats) -> list[tuple[int, float]]:
    """Return the places of values that are far beyond all others, and how many times as far from the median."""
    distance = np.abs(values - np.median(values))
    order = np.argpartition(-distance, _AT_ONCE)[: _AT_ONCE + 1]
    order = order[np.argsort(-distance[order])]
    for k in range(len(order) - 1, 0, -1):
        inner = distance[order[k]]
        if inner > 0 and distance[order[k - 1]] >= _BEYOND * inner:
            return [(int(at), float(distance[at] / inner)) for at in order[:k]]
    return []


def _repeated_names(ids: Sequence[str]) -> list[str]:
    again = [(name, times) for name, times in Counter(ids).items() if times > 1]
    if not again:
        return []
    shown = ", ".join(f"{name!r} ({times} times)" for name, times in again[:_LISTED])
    occur = f"{count(len(again), 'name')} of objects occur{'s' * (len(again) == 1)}"
    return [f"{occur} more than once: {shown}. A join by name multiplies rows."]


def _repeated_rows(X: Floats, ids: Sequence[str] | None) -> list[str]:
    if not X.shape[1]:
        return []
    bits = np.ascontiguousarray(X + 0.0).view(np.uint64)  # -0.0 is 0.0
    keys = np.zeros(len(X), dtype=np.uint64)
    for column in bits.T:  # equal rows have equal keys
        keys = keys * np.uint64(0x9E3779B97F4A7C15) ^ (column ^ (keys >> np.uint64(29)))
    order = np.argsort(keys, kind="stable")
    alike = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    again = [
        (order[a + 1], order[a]) for a in alike if (bits[order[a + 1]] == bits[order[a]]).all()
    ]
    if not again or len(again) > _COARSE * len(X):
        return []
    pairs = [f"{_object(i, ids)} and {_object(one, ids)[7:]}" for i, one in sorted(again)[:_LISTED]]
    what = f"{count(len(again), 'row')} repeat{'s' * (len(again) == 1)}"
    return [f"{what} another one in all numbers: {'; '.join(pairs)}."]
