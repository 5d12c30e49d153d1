"""Constraints on pairs of objects: read, closed under transitivity, and checked for contradictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from conclust._types import Bools, Floats, Ints
from conclust.ensemble import DistinctRows
from conclust.ensemble.labels import canonical_labels
from conclust.exceptions import InputError

_STARTS = 50
# Choices that are undone, times the number of units with a pair.
_UNDONE = 1_000_000


@dataclass(frozen=True, eq=False)
class Constraints:
    """Objects that must be together, and pairs that must not.

    Attributes
    ----------
    groups : ndarray of int64 of shape (n_samples,)
        Group of each object, numbered by first appearance: objects that must be together, directly or through
        others, share a group.
    apart : ndarray of int64 of shape (n_pairs, 2)
        Pairs of groups that must be in different clusters, the smaller number first, each once.
    """

    groups: Ints
    apart: Ints

    @property
    def n_groups(self) -> int:
        """Number of groups, including single objects."""
        return int(self.groups.max()) + 1

    @property
    def touched(self) -> Bools:
        """Mask of the objects with a constraint, (n_samples,)."""
        large = np.bincount(self.groups) > 1
        large[self.apart.ravel()] = True
        return np.asarray(large[self.groups])

    def least_clusters(self) -> int:
        """Return a number of groups that are pairwise apart: no partition with fewer clusters keeps the constraints.

        Each group in turn is extended by those that are apart from all groups so far, first the one with the most
        pairs; the largest set counts.
        """
        others = _partners(self.apart)
        order = sorted(others, key=lambda group: (-len(others[group]), group))
        largest = 1
        for first in order[:_STARTS]:
            left, size = others[first], 1
            while left:
                left = left & others[max(left, key=lambda group: (len(others[group]), -group))]
                size += 1
            largest = max(largest, size)
        return largest

    def of(self, objects: Ints) -> Constraints:
        """Return the constraints among some objects, which must include all objects with constraints."""
        group_names, groups = np.unique(self.groups[objects], return_inverse=True)
        place = np.full(self.n_groups, -1, dtype=np.int64)
        place[group_names] = np.arange(len(group_names))
        first = np.full(len(group_names), len(objects), dtype=np.int64)
        np.minimum.at(first, groups, np.arange(len(objects)))
        number = np.empty(len(group_names), dtype=np.int64)
        number[np.argsort(first, kind="stable")] = np.arange(len(group_names))
        return Constraints(number[groups], _sorted_pairs(number[place[self.apart]]))

    def alone(self, rows: DistinctRows) -> DistinctRows:
        """Return the rows with each object that has a constraint in a row of its own."""
        touched = np.zeros(len(rows), dtype=np.bool_)
        touched[rows.inverse[self.touched]] = True
        return rows.apart(touched)

    def broken(self, labels: Ints) -> int:
        """Return the number of violations: split groups, plus pairs that must be apart and are together."""
        order = np.argsort(self.groups, kind="stable")
        same = np.diff(self.groups[order]) == 0
        torn = np.count_nonzero(same & (np.diff(labels[order]) != 0))
        first = order[np.searchsorted(self.groups[order], np.arange(self.n_groups))]
        group_labels = labels[first]
        together = np.count_nonzero(
            group_labels[self.apart[:, 0]] == group_labels[self.apart[:, 1]]
        )
        return int(torn + together)


class Bounds(NamedTuple):
    """Smallest and largest number of clusters into which trees can be cut without breaking a constraint."""

    smallest: int
    largest: int

    def nearest(self, n_clusters: int) -> int:
        """Return the nearest number of clusters that keeps the constraints."""
        return max(self.smallest, min(n_clusters, self.largest))

    def check(self, n_clusters: int, owner: str) -> None:
        """Refuse a number of clusters that does not keep the constraints."""
        bound = self.nearest(n_clusters)
        if n_clusters != bound:
            why, side = (
                ("'cannot_link' keeps", "at least")
                if n_clusters < bound
                else ("'must_link' leaves", "at most")
            )
            raise InputError(
                f"{why} {side} {bound} clusters in the trees of {owner}. Got n_clusters={n_clusters}: ask for "
                f"{side} {bound}, or leave out constraints."
            )


def coloured(n: int, apart: Ints, n_colours: int, similarity: Floats | None = None) -> Ints | None:
    """Colour n units so that separated pairs have different colours; None if no colouring is found.

    The unit whose neighbours have the most colours is next, of equals that with the most neighbours (DSATUR). It
    gets the free colour whose units are most similar to it on average, where a new colour counts like the mean of all
    units. Where no colour is free, the last choices are undone, for about a second. Units without a pair get -1.

    Parameters
    ----------
    n : int
        Number of units.
    apart : ndarray of int64 of shape (n_pairs, 2)
        Pairs of units.
    n_colours : int
        Number of colours.
    similarity : ndarray of shape (n, n), default=None
        Similarity of the units. None: all are equally similar, and the first free colour is taken.
    """
    others = _partners(apart)
    colours = np.full(n, -1, dtype=np.int64)
    used: dict[int, Counter[int]] = {unit: Counter() for unit in sorted(others)}
    left = set(others)
    # Units in order, with the colours that have not been tried.
    chosen: list[tuple[int, list[int]]] = []

    def give(unit: int, sign: int) -> None:
        for other in others[unit]:
            used[other][int(colours[unit])] += sign

    def next_unit() -> tuple[int, list[int]]:
        def urgency(one: int) -> tuple[int, int, int]:
            return sum(count > 0 for count in used[one].values()), len(others[one]), -one

        unit = max(left, key=urgency)
        left.remove(unit)
        taken = used[unit]
        # Of the colours that no unit has yet, one is as good as another.
        top = min(n_colours, 1 + max((int(colours[one]) for one, _ in chosen), default=-1) + 1)
        free = [colour for colour in range(top) if taken[colour] <= 0]
        if similarity is not None:
            free.sort(key=likeness(unit, similarity[unit]), reverse=True)
        return unit, free[::-1]

    def likeness(unit: int, row: Floats) -> Callable[[int], float]:
        def of(colour: int) -> float:
            held = colours == colour
            return float(row[held].mean() if held.any() else np.delete(row, unit).mean())

        return of

    undone = 0
    if left:
        chosen.append(next_unit())
    while chosen:
        unit, untried = chosen[-1]
        if untried:
            colours[unit] = untried.pop()
            give(unit, 1)
            if not left:
                return colours
            chosen.append(next_unit())
            continue
        chosen.pop()
        left.add(unit)
        undone += 1
        if not chosen or undone * len(others) > _UNDONE:
            return None
        give(chosen[-1][0], -1)
        colours[chosen[-1][0]] = -1
    return colours


def _partners(pairs: Ints) -> dict[int, set[int]]:
    """Return the units that each unit is paired with."""
    partners: dict[int, set[int]] = {}
    for a, b in pairs.tolist():
        partners.setdefault(a, set()).add(b)
        partners.setdefault(b, set()).add(a)
    return partners


def unlinked(n: int) -> Constraints:
    """Return no constraints on n objects."""
    return Constraints(np.arange(n, dtype=np.int64), np.empty((0, 2), dtype=np.int64))


def read_constraints(must_link: Any, cannot_link: Any, n_samples: int) -> Constraints | None:
    """Read pairs of objects that must and must not be together; None if there are none.

    Parameters
    ----------
    must_link, cannot_link : array-like of int of shape (n_pairs, 2), or None
        Indices of objects, from 0.
    n_samples : int
        Number of objects.

    Returns
    -------
    Constraints or None
        The groups that follow from `must_link`, and which of them must be apart.

    Raises
    ------
    InputError
        If they are not pairs of objects, or contradict each other; the message has the shortest contradicting chain.
    """
    together = _read_pairs(must_link, "must_link", n_samples)
    apart = _read_pairs(cannot_link, "cannot_link", n_samples)
    if not len(together) and not len(apart):
        return None
    edges = sp.coo_array(
        (np.ones(len(together), dtype=np.int8), (together[:, 0], together[:, 1])),
        shape=(n_samples, n_samples),
    ).tocsr()
    _, components = connected_components(edges, directed=False)
    groups = canonical_labels(components)
    ends = groups[apart]
    wrong = apart[ends[:, 0] == ends[:, 1]]
    if len(wrong):
        chain = min((_chain(edges, *pair) for pair in wrong.tolist()), key=len)
        raise InputError(
            f"The constraints contradict each other: 'must_link' puts the objects {' - '.join(map(str, chain))} together, one "
            f"pair after the other, and 'cannot_link' has {chain[0]} and {chain[-1]} apart. Leave one of these pairs out."
        )
    return Constraints(groups, _sorted_pairs(ends))


def _read_pairs(pairs: Any, name: str, n_samples: int) -> Ints:
    if isinstance(pairs, Iterator):  # it could be read only once
        raise InputError(
            f"{name!r} must be a list of pairs. Got {type(pairs).__name__}: give list({name})."
        )
    if isinstance(pairs, Set):
        pairs = list(pairs)
    if pairs is None or (isinstance(pairs, Sequence) and len(pairs) == 0):
        return np.empty((0, 2), dtype=np.int64)
    try:
        array = np.asarray(pairs)
    except ValueError:  # ragged
        array = np.empty(0)
    if array.dtype == object and all(
        type(one) is not bool and isinstance(one, int | np.integer) for one in array.flat
    ):
        with suppress(OverflowError):  # refused below
            array = array.astype(np.int64)  # nullable columns of pandas
    if array.shape in ((0,), (0, 2)) and not isinstance(pairs, Sequence):
        return np.empty((0, 2), dtype=np.int64)
    whole = array.dtype.kind in "iu"
    if not whole or array.ndim != 2 or array.shape[1:] != (2,):
        raise InputError(
            f"{name!r} must be pairs of indices of objects, an array of whole numbers of shape (n_pairs, 2). Got "
            f"shape {array.shape} and dtype {array.dtype} instead."
        )
    if array.min() < 0 or array.max() >= n_samples:
        raise InputError(
            f"{name!r} must be pairs of objects from 0 to {n_samples - 1}. Got {array.min()} to {array.max()}."
        )
    if name == "cannot_link" and (array[:, 0] == array[:, 1]).any():
        one = array[array[:, 0] == array[:, 1]][0, 0]
        raise InputError(f"'cannot_link' has object {one} apart from itself.")
    return array.astype(np.int64)


def _sorted_pairs(pairs: Ints) -> Ints:
    return np.unique(np.sort(pairs.reshape(-1, 2), axis=1), axis=0)


def _chain(edges: sp.csr_array, start: int, end: int) -> list[int]:
    """Return the shortest chain of objects that must be together, from one to another."""
    before = breadth_first_order(edges, start, directed=False)[1]
    chain = [end]
    while chain[-1] != start:
        chain.append(int(before[chain[-1]]))
    return chain[::-1]
