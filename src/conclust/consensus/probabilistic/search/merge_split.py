"""Escapes from local minima: merge two clusters, split a third, and descend again.

Descents end in local minima that differ by which true groups share a cluster. A merge and a split
repair that, at the price of one more descent; another random start would have to hit it by luck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from conclust._types import Floats

_POWER_STEPS = 8
# Number of splits tried with each merge.
_SPLITS = 3

T = TypeVar("T")


def escape(
    best: T,
    ways: Callable[[T], Iterator[Floats]],
    descend: Callable[[Floats, T], T],
    better: Callable[[T, T], bool],
    patience: int,
) -> T:
    """Descend from the escapes until `patience` in a row have not helped; return the best solution.

    ``descend(membership, best)`` may stop early if its end will not be better than the best.
    """
    tries = ways(best)
    failures = 0
    while failures < patience:
        membership = next(tries, None)
        if membership is None:
            break
        other = descend(membership, best)
        if better(other, best):
            best, tries, failures = other, ways(other), 0
        else:
            failures += 1
    return best


def ways_out(
    Y: Floats,
    cost: Floats,
    inside: Floats,
    counted: Callable[[Floats], Floats],
    generator: np.random.Generator,
) -> Iterator[Floats]:
    """Yield memberships with two clusters merged and a third split, the most promising first.

    If a cluster is empty, also those with another split into it.

    Parameters
    ----------
    Y : ndarray of shape (n, K)
        Membership to escape from.
    cost : ndarray of shape (K, K)
        The cost of a merge of two clusters.
    inside : ndarray of shape (K,)
        Share of the evidence within each cluster that contradicts it.
    counted : callable
        Multiplies vectors of length n by the matrix of counts c_ij.
    generator : Generator
        Draws the starting points of splits.
    """
    k = Y.shape[1]
    nonempty = np.flatnonzero(Y.any(axis=0)).tolist()
    pairs = [(a, b) for a in nonempty for b in nonempty if a < b]
    pairs.sort(key=lambda pair: (cost[pair], pair))
    # If a cluster is empty, no merge is needed.
    empty = [c for c in range(k) if c not in nonempty][:1]
    pairs = [(c, c) for c in empty] + pairs[:k]
    splits = sorted(nonempty, key=lambda c: (-inside[c], c))
    options = [
        (i + j, pair, c)
        for i, pair in enumerate(pairs)
        for j, c in enumerate([c for c in splits if c not in pair][:_SPLITS])
    ]
    options.sort()
    sides: dict[int, Floats] = {}
    for _, (a, b), c in options:
        merged = Y.copy()
        if a != b:
            merged[:, a] += merged[:, b]
        if c not in sides:
            sides[c] = _two_sides(Y[:, c], counted, generator)
        merged[:, b] = merged[:, c] * sides[c]
        merged[:, c] -= merged[:, b]
        yield merged


def _two_sides(
    mass: Floats, counted: Callable[[Floats], Floats], generator: np.random.Generator
) -> Floats:
    """Share of each object's mass that goes to the new cluster: along the largest disagreement."""
    total = max(mass.sum(), 1e-300)
    direction = generator.standard_normal(len(mass))
    for _ in range(_POWER_STEPS):
        direction -= (mass * direction).sum() / total
        direction = counted(mass * direction)
        length = np.sqrt((mass * direction**2).sum())
        if not length > 0:
            return generator.random(len(mass))
        direction /= length
    direction -= (mass * direction).sum() / total
    return np.where(direction > 0, 0.9, 0.1)
