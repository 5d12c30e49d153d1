"""Members that are each fitted on a sample; all objects are then labelled for all members in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from conclust._types import Bools, Floats, Ints
from conclust.generation.labelling.labelling import Labelling, scaled
from conclust.generation.labelling.rows import Rows
from conclust.generation.members import Member, Task, drawn_objects, fitted_objects
from conclust.generation.scaling import Scaler

_AHEAD = 4  # number of samples read at a time per worker
_HEAD = 1024  # number of rows in which nearly all clusters appear


class Shares:
    """The points of each task: its sample of the objects that it observes.

    Parameters
    ----------
    rows : Rows
        The points.
    scaler : MinMaxScaler, StandardScaler or None
        Their scaling.
    n_jobs : int or None
        Number of tasks that run side by side, as for joblib.
    """

    def __init__(self, rows: Rows, scaler: Scaler | None, n_jobs: int | None) -> None:
        self._rows = rows
        self._scaler = scaler
        self._together = _AHEAD * effective_n_jobs(n_jobs)
        self._observed: dict[int, NDArray[np.uint8]] = {}  # by column, one bit per object

    def __call__(self, tasks: Sequence[Task]) -> Iterator[list[tuple[int, Floats]]]:
        """Yield the points of some tasks at a time, with the tasks' indices."""
        for some in self._rows.samples(
            lambda i: self._draw(tasks[i]),
            len(tasks),
            max(task.n_fitted or 0 for task in tasks),
            self._together,
        ):
            yield [(i, scaled(sample, self._scaler)) for i, sample in some]

    def observed(self, column: int, start: int, stop: int) -> Bools | None:
        """Return the objects of a block that a member observes; None: all. Blocks begin at multiples of 8."""
        bits = self._observed.get(column)
        if bits is None:
            return None
        part = np.unpackbits(bits[start // 8 : -(-stop // 8)], count=stop - start)
        return part.astype(np.bool_)

    def _draw(self, task: Task) -> Ints:
        n = self._rows.n
        objects = drawn_objects(n, task.n_objects, task.seed)
        if objects is not None:
            observed = np.zeros(n, dtype=np.bool_)
            observed[objects] = True
            self._observed |= dict.fromkeys(task.columns, np.packbits(observed))
        return fitted_objects(objects, task, n)


def in_order_of_appearance(
    members: Sequence[Member],
    rows: Rows,
    shares: Shares,
    label: Callable[[Sequence[Member], Floats], NDArray[Any]],
) -> list[Member]:
    """Number the clusters of each member by their first appearance among the objects that it observes.

    Only as many rows are read as it takes until all clusters have appeared: few, as a rule.

    Parameters
    ----------
    members : sequence of Member
        Their clusters hold an object each, at least.
    rows : Rows
        The points.
    shares : Shares
        Objects observed by each member.
    label : callable
        Returns the labels of points by some members.
    """
    orders: list[list[int]] = [[] for _ in members]
    start, size = 0, _HEAD
    while start < rows.n:
        pending = [u for u, member in enumerate(members) if len(orders[u]) < member.n_clusters]
        if not pending:
            break
        stop = min(rows.n, start + size)
        labels = label([members[u] for u in pending], rows.block(start, stop))
        for column, u in zip(labels.T, pending, strict=True):
            observed = shares.observed(u, start, stop)
            numbers, first = np.unique(
                column if observed is None else column[observed], return_index=True
            )
            met_before = set(orders[u])
            orders[u] += [k for k in numbers[np.argsort(first)].tolist() if k not in met_before]
        start, size = stop, min(4 * size, rows.step)
    return [
        replace(member, model=None if member.model is None else member.model.reordered(order))
        for member, order in zip(members, map(np.array, orders), strict=True)
    ]


def label_all(
    rows: Rows,
    labelling: Labelling,
    shares: Shares,
    scaler: Scaler | None,
    n_jobs: int | None,
    report: Callable[[str], None],
) -> NDArray[Any]:
    """Return the labels of all objects by all members; -1 where a member does not observe an object.

    Parameters
    ----------
    rows : Rows
        The points.
    labelling : Labelling
        The members.
    shares : Shares
        Objects observed by each member.
    scaler : MinMaxScaler, StandardScaler or None
        The scaling of the points.
    n_jobs : int or None
        Number of threads, as for joblib.
    report : callable
        Function that receives about ten lines of progress.
    """
    n_members = labelling.shape[1]
    matrix = np.empty((rows.n, n_members), dtype=labelling.dtype)
    reported = 0
    for start, block in rows.blocks():
        stop = start + len(block)
        labels = matrix[start:stop]
        labels[:] = labelling.label(scaled(block, scaler), n_jobs)
        for u in range(n_members):
            observed = shares.observed(u, start, stop)
            if observed is not None:
                labels[~observed, u] = -1
        if stop - reported >= rows.n / 10 or stop == rows.n:
            reported = stop
            report(f"{stop:,} of {rows.n:,} objects labelled")
    return matrix
