"""Turns a rule that labels a block into results of all objects, numbered as in memory.

Clusters are numbered by the first object of each, of whatever block (``_arrays/numbering.py``): the first
pass keeps for every object its column, or which columns it belongs to alike, and the result is read
through a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.numbering import by_first_object, most_probable, of_columns
from conclust._types import Bools, Floats, Ints
from conclust.blocks.arrays import BlockedArray
from conclust.blocks.facts import Part
from conclust.blocks.labels import LabelBlocks
from conclust.blocks.runners import Job, Kept, Task
from conclust.ensemble.labels import missing_code
from conclust.exceptions import UnsupportedEnsembleError

# Bytes that a column number takes in the first pass.
_COLUMN = 4


@dataclass(frozen=True)
class Answer:
    """A rule for the objects of a block.

    Attributes
    ----------
    rule : callable
        ``rule(part, own, *shared)``: labels (n,) of whole numbers from 0 on, or memberships (n, K).
    shared : tuple
        The same for all blocks.
    kept : Kept or None
        Arrays kept per block.
    step : int
        The last visit.
    """

    rule: Task
    shared: tuple[Any, ...] = ()
    kept: Kept | None = None
    step: int = 0


@dataclass(frozen=True)
class Numbered:
    """Results of all objects.

    Attributes
    ----------
    labels : BlockedArray of shape (n_samples,)
        -1 where no partition observed the object.
    n_clusters : int
        Number of clusters that contain an object.
    columns : ndarray of int64
        Columns (or labels) of the rule, in the order of the new numbers.
    membership : BlockedArray or None
        Memberships, if the rule gives them.
    """

    labels: BlockedArray
    n_clusters: int
    columns: Ints
    membership: BlockedArray | None


def numbered_labels(labels: LabelBlocks, answer: Answer) -> Numbered:
    """Number the clusters of a rule that gives labels."""
    stored_columns, results = _first_pass(labels, answer, _first_labels)
    first: dict[int, int] = {}
    for firsts in results:
        for label, where in zip(*firsts, strict=True):
            first.setdefault(int(label), int(where))
    columns = np.array(sorted(first, key=first.__getitem__), dtype=np.int64)
    table = np.zeros(int(columns.max()) + 1, dtype=np.int64)
    table[columns] = np.arange(len(columns))
    firsts = [block for block in range(labels.n_blocks) if stored_columns.get(block, 0) is not None]
    tables = dict.fromkeys(firsts, table)
    result = _through(labels, stored_columns, tables)
    return Numbered(result, len(columns), columns, None)


def numbered_membership(labels: LabelBlocks, answer: Answer, counted: Bools | None) -> Numbered:
    """Number the clusters of a rule that gives memberships.

    Parameters
    ----------
    labels : LabelBlocks
        The objects.
    answer : Answer
        The rule.
    counted : ndarray of bool of shape (n_partitions,) or None
        Partitions that count; None: all.
    """
    stored_columns, results = _first_pass(labels, answer, _first_memberships, counted)
    most = np.max([one.most for one in results], axis=0)
    mass = np.sum([one.mass for one in results], axis=0)
    first: dict[bytes, int] = {}
    for one in results:
        for columns_alike, where in zip(one.alike, one.first, strict=True):
            if where >= 0:
                key = columns_alike.tobytes()
                first[key] = min(int(where), first.get(key, int(where)))
    alike = [np.frombuffer(key, dtype=np.bool_) for key in sorted(first, key=first.__getitem__)]
    order, leading = by_first_object(alike, len(most), lambda: (most, mass))
    tables = {one.block: one.alike[:, order].argmax(axis=1) for one in results}
    result = _through(labels, stored_columns, tables)

    return Numbered(result, leading, order, _membership(labels, answer, order))


def rows_of(labels: LabelBlocks, answer: Answer, width: int) -> BlockedArray:
    """Return the memberships of a rule unchanged, with `width` columns.

    Objects that no partition observed have uniform ones.
    """
    return _membership(labels, answer, np.arange(width))


def _first_pass(
    labels: LabelBlocks, answer: Answer, task: Any, *more: Any
) -> tuple[Kept, list[Any]]:
    store = labels.keeping(_COLUMN, "columns")
    results = []
    jobs = []
    for block in range(labels.n_blocks):
        stored = None if answer.kept is None else answer.kept.get(block, answer.step)
        shared = (answer.rule, answer.shared, *more)
        place = store.place(block, 0)
        jobs.append(Job(labels.source, labels.facts, block, task, shared, stored, place))
    for block, (column, result) in enumerate(labels.run("labels", jobs)):
        if result is not None:
            store.put(block, 0, column)
            results.append(result)
    return store, results


def _first_labels(
    part: Part, stored: Any, rule: Task, shared: tuple[Any, ...]
) -> tuple[NDArray[Any], Any]:
    columns = np.asarray(rule(part, stored, *shared))
    values, first = np.unique(columns, return_index=True)
    order = np.argsort(first, kind="stable")
    return _spread(columns, part), (values[order], _places(part, first[order]))


@dataclass(frozen=True)
class _FirstMemberships:
    """Facts about the memberships of a block.

    Attributes
    ----------
    block : int
        Number of the block.
    alike : ndarray of bool of shape (n_sets, K)
        Sets of columns that are tied as the most probable ones of some object.
    first : ndarray of int64 of shape (n_sets,)
        First object of each set; -1 if there is none.
    most : ndarray of shape (K,)
        The largest probability of each column.
    mass : ndarray of shape (K,)
        The sums.
    """

    block: int
    alike: Bools
    first: Ints
    most: Floats
    mass: Floats


def _first_memberships(
    part: Part, stored: Any, rule: Task, shared: tuple[Any, ...], counted: Bools | None
) -> tuple[NDArray[Any], _FirstMemberships]:
    Y = np.ascontiguousarray(rule(part, stored, *shared))
    if counted is not None and part.ensemble.has_missing:
        codes = part.ensemble.codes[:, counted]
        if (codes == missing_code(codes.dtype)).all(axis=1).any():
            raise UnsupportedEnsembleError(
                "Labels in blocks hold objects that only partitions of weight 0 observed. Leave these "
                "partitions out: LabelStore(..., columns=)."
            )
    columns, alike, first = most_probable(Y)
    # Empty sets are removed when the blocks are joined.
    places = np.full(len(alike), -1, dtype=np.int64)
    exists = first < len(Y)
    places[exists] = _places(part, first[exists])
    result = _FirstMemberships(part.index, alike, places, Y.max(axis=0), Y.sum(axis=0))
    return _spread(columns, part), result


def _places(part: Part, rows: Ints) -> Ints:
    """Return the numbers among all objects of some observed objects of a block."""
    if part.observed is not None:
        rows = np.flatnonzero(part.observed)[rows]
    return np.asarray(part.begin + rows, dtype=np.int64)


def _spread(columns: Ints, part: Part) -> NDArray[np.int32]:
    """Return the columns of all objects of a block: -1 for those that no partition observed."""
    if part.observed is None:
        return columns.astype(np.int32)
    full = np.full(part.n_objects, -1, dtype=np.int32)
    full[part.observed] = columns
    return full


def _through(labels: LabelBlocks, columns: Kept, tables: dict[int, Ints]) -> BlockedArray:
    """Return labels: the columns of the first pass, read through a table."""
    facts = labels.facts

    def make(block: int) -> Ints:
        begin, end = facts.span(block)
        if block not in tables:  # no partition observed any of it
            return np.full(end - begin, -1, dtype=np.int64)
        # -1 reads the end of the table.
        return np.asarray(np.append(tables[block], -1)[labels.runner.fetch(columns.get(block, 0))])

    def future(block: int) -> Any:
        begin, end = facts.span(block)
        if block not in tables:
            return None
        return labels.runner.numbered(columns.get(block, 0), tables[block], end - begin)

    return BlockedArray((facts.n_samples,), np.int64, facts.block_rows, make, future)


def _membership(labels: LabelBlocks, answer: Answer, order: Ints) -> BlockedArray:
    """Return the memberships in the columns kept; rows that lose mass are scaled to sum to 1."""
    facts = labels.facts

    def make(block: int) -> Floats:
        stored = None if answer.kept is None else answer.kept.get(block, answer.step)
        shared = (answer.rule, answer.shared, order)
        [(_, rows)] = labels.runner.run(
            [Job(labels.source, facts, block, _kept_columns, shared, stored)]
        )
        begin, end = facts.span(block)
        uniform = np.full((end - begin, len(order)), 1.0 / len(order))
        return uniform if rows is None else np.asarray(rows)

    return BlockedArray((facts.n_samples, len(order)), np.float64, facts.block_rows, make)


def _kept_columns(
    part: Part, stored: Any, rule: Task, shared: tuple[Any, ...], order: Ints
) -> tuple[None, Floats]:
    Y = np.asarray(rule(part, stored, *shared))
    rows = of_columns(Y, order)
    if part.observed is not None:
        full = np.full((part.n_objects, len(order)), 1.0 / len(order))
        full[part.observed] = rows
        rows = full
    return None, np.ascontiguousarray(rows)
