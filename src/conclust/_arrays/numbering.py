"""The numbers of consensus clusters: by the first object of each, the same in memory and in blocks.

An object that belongs to several clusters alike goes to the first of them, so that the numbers are known only after all
objects: first each gets the columns of the membership it belongs to alike, then sets of columns become numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from conclust._arrays.rows import EqualRows
from conclust._kernels import largest_of_rows
from conclust._types import Bools, Floats, Ints

# A cluster is empty if no object belongs to it with a higher probability: iterations that converge
# to zero leave such remainders, and memberships are written with nine decimals.
NOTHING = 1e-9


def is_blocked(labels: Any) -> bool:
    """Return whether labels are read in blocks: a LabelStore, a Zarr array, or any Dask collection."""
    home = type(labels).__module__.split(".")[0]
    return hasattr(labels, "in_blocks") or (
        home in ("zarr", "dask", "dask_expr") and hasattr(labels, "shape")
    )


def in_blocks(estimator: Any) -> dict[str, Any]:
    """Return the attributes with one row per object of a fit in blocks."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if hasattr(value, "rows_in_blocks") or is_blocked(value)
    }


def most_probable(Y: Floats) -> tuple[Ints, Bools, Ints]:
    """Return the set of columns that each object belongs to most, the sets (n_sets, K), and the first object of each.

    First comes each column alone; the first object of a set without objects is n.
    """
    n, k = Y.shape
    numbers, first = np.empty(n, dtype=np.int64), np.empty(k, dtype=np.int64)
    sets = np.eye(k, dtype=np.bool_)
    if largest_of_rows(Y, numbers, first):
        top = Y[np.arange(n), numbers][:, np.newaxis] == Y
        several = np.flatnonzero(top.sum(axis=1) > 1)
        alike = EqualRows.of(top[several])
        sets = np.vstack([sets, top[several[alike.first]]])
        numbers[several] = k + alike.inverse
        first = np.full(len(sets), n)
        first[numbers[::-1]] = np.arange(n)[::-1]  # the last value assigned to an index remains
    return numbers, sets, first


def by_first_object(
    sets: Iterable[Bools], k: int, held: Callable[[], tuple[Floats, Floats]]
) -> tuple[Ints, int]:
    """Return the order of k columns, and the number of columns that are the most probable one of some object.

    Parameters
    ----------
    sets : iterable of ndarray of bool of shape (k,)
        Columns that objects belong to alike, by the first object of each set.
    k : int
        Number of columns.
    held : callable
        Gives the largest probability and the sum of each column; the columns of no object follow by falling sum.
    """
    columns: list[int] = []
    # The next column is one that the first object without a column belongs to.
    for some in sets:
        if not some[columns].any():
            columns.append(int(np.argmax(some)))
    leading = len(columns)
    others = np.setdiff1d(np.arange(k), columns)
    if len(others):
        most, mass = held()
        others = others[most[others] > NOTHING]
        columns += others[np.argsort(-mass[others], kind="stable")].tolist()
    return np.array(columns, dtype=np.int64), leading


def of_columns(Y: Floats, order: Ints) -> Floats:
    """Return some columns of memberships; rows that lose anything are scaled to sum to 1."""
    rows = Y[:, order]
    if len(order) < Y.shape[1]:
        poorer = np.delete(Y, order, axis=1).any(axis=1)
        rows[poorer] /= rows[poorer].sum(axis=1, keepdims=True)
    return rows
