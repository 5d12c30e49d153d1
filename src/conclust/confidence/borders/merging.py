"""Border tests over several splits, and the merges of clusters whose borders do not hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from conclust._threads import one_library_thread, side_by_side
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_real
from conclust.confidence.borders.parts import Part, PartTests

# Merging continues down to this level, the smallest that can be requested.
SUREST = 0.001

Tester = Callable[[Ints, Ints], list[PartTests]]


def level_of(alpha: float | None, default: float, owner: str) -> float:
    """Return the level given, or else the default one."""
    return default if alpha is None else check_real(alpha, "alpha", owner, low=SUREST, high=1.0)


@dataclass(frozen=True)
class Merge:
    """A merge of two clusters.

    Attributes
    ----------
    first, second : int
        Their numbers; the first one is the number of both from here on.
    p_value : float
        The p-value of the border between them.
    largest : float
        Largest adjusted p-value of the remaining borders.
    """

    first: int
    second: int
    p_value: float
    largest: float


def gabriel_neighbours(gram: Floats) -> Bools:
    """Return which centres are neighbours: no other centre lies in the ball between them.

    Parameters
    ----------
    gram : ndarray of shape (K, K)
        Inner products of the centres.

    Returns
    -------
    ndarray of bool of shape (K, K)
        False on the diagonal.
    """
    squares = np.diag(gram)[:, None] + np.diag(gram)[None, :] - 2.0 * gram
    neighbours = ~np.eye(len(gram), dtype=np.bool_)
    for c in range(len(gram)):
        around = squares[:, c, None] + squares[None, c, :] < squares
        around[c, :] = around[:, c] = False
        neighbours &= ~around
    return neighbours


def holm(p_values: Floats) -> Floats:
    """Adjust p-values for their number (Holm 1979)."""
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate((m - np.arange(m)) * p_values[order])
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted


def combined(p_values: Floats) -> Floats:
    """Return one p-value for those of several splits (rows): twice their median, at most 1."""
    return np.asarray(np.minimum(1.0, 2.0 * np.median(p_values, axis=0)))


def tester(parts: Sequence[Part], threads: int) -> Tester:
    """Return a function that tests borders in all splits in parallel."""

    def test(pairs: Ints, merged: Ints) -> list[PartTests]:
        with one_library_thread(), side_by_side(threads) as run:
            return list(run(lambda part: part.tested(pairs, merged), parts))

    return test


def merges(test: Tester, pairs: Ints, p_values: Floats, n_clusters: int) -> list[Merge]:
    """Merge the clusters with the largest p-value repeatedly until all borders hold at .001.

    A merged cluster's borders are tested again, with one centre for both; all others keep their p-values.

    Parameters
    ----------
    test : callable
        Tests pairs of clusters in all splits.
    pairs : ndarray of int64 of shape (n_pairs, 2)
        Neighbouring clusters.
    p_values : ndarray of shape (n_pairs,)
        The p-values of their borders.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    list of Merge
        In order.
    """
    merged = np.arange(n_clusters)
    left = {(int(p), int(q)): float(v) for (p, q), v in zip(pairs, p_values, strict=True)}
    steps: list[Merge] = []
    while left:
        largest = float(holm(np.array(list(left.values()))).max())
        if largest <= SUREST:
            break
        (a, b), p = max(left.items(), key=lambda item: (item[1], (-item[0][0], -item[0][1])))
        steps.append(Merge(a, b, p, largest))
        merged[merged == b] = a
        others = {x for pair in left if b in pair or a in pair for x in pair} - {a, b}
        left = {pair: v for pair, v in left.items() if a not in pair and b not in pair}
        if others:
            again = np.array([(min(a, c), max(a, c)) for c in sorted(others)], dtype=np.int64)
            tests = combined(np.array([part.dip for part in test(again, merged)]))
            left |= {(int(p), int(q)): float(v) for (p, q), v in zip(again, tests, strict=True)}
    return steps
