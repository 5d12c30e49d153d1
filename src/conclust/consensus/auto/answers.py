"""What known answers about pairs of objects say of the objects beside them, and of the number of clusters."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import log

import numpy as np
from numpy.typing import NDArray

from conclust.consensus.constraints import Constraints
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import canonical_labels
from conclust.trees.dendrogram import cut

__all__ = ["contradictions", "followed", "least_contradicted"]

# Smallest share of the partitions of an object that have it together with one it follows.
_FOLLOWS = 0.5
# Contradictions that weigh as much as a number of clusters e times as large or as small as the evidence has it.
_DEPARTURE = 2.0


def followed(ensemble: Ensemble, constraints: Constraints) -> Constraints:
    """Extend constraints to the objects that are nearly always with one of those that they are about.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    constraints : Constraints
        Constraints on the objects.

    Returns
    -------
    Constraints
        With the same groups and more objects in them: each object that no constraint is about joins the group of the
        constrained object with which most of its partitions put it, if these are at least half.
    """
    touched = np.flatnonzero(constraints.touched)
    rows = ensemble.indicator
    weighted = rows[touched].multiply(ensemble.column_weights).tocsr()
    shared = np.asarray((rows @ weighted.T).toarray())
    most = shared.argmax(axis=1)
    own = np.asarray(rows.multiply(rows) @ ensemble.column_weights).ravel()
    near = shared[np.arange(len(most)), most]
    follows = (near > 0) & (near >= _FOLLOWS * own - 1e-12)
    follows[touched] = False
    groups = constraints.groups.copy()
    groups[follows] = constraints.groups[touched[most[follows]]]
    number = np.full(len(groups), -1, dtype=np.int64)
    labels = canonical_labels(groups)
    number[groups] = labels
    return Constraints(labels, np.unique(np.sort(number[constraints.apart], axis=1), axis=0))


def contradictions(tree: NDArray[np.float64], constraints: Constraints) -> Callable[[int], int]:
    """Return the function that counts the constraints which a cut of a tree breaks.

    Parameters
    ----------
    tree : ndarray of shape (n_objects - 1, 4)
        A dendrogram that was grown without the constraints.
    constraints : Constraints
        Constraints on the objects.

    Returns
    -------
    callable
        Takes a number of clusters.
    """
    return cache(lambda n_clusters: constraints.broken(cut(tree, n_clusters)))


def least_contradicted(
    broken: Callable[[int], int], expected: int, smallest: int, largest: int
) -> int:
    """Return the number of clusters with the fewest contradictions, less certain the farther it is from the expected one.

    Parameters
    ----------
    broken : callable
        Number of constraints that a cut into a number of clusters breaks.
    expected : int
        Number of clusters by the evidence.
    smallest, largest : int
        Numbers of clusters that are possible.

    Returns
    -------
    int
        The number of clusters. The cost of a number is its contradictions plus twice the logarithm of its ratio to the
        expected one; the smaller number if tied.
    """
    best = max(smallest, min(expected, largest))
    least = _cost(broken, best, expected)
    for number in range(smallest, largest + 1):
        departure = _DEPARTURE * abs(log(number / expected))
        if departure >= least:
            if number > expected:
                break
            continue
        cost = _cost(broken, number, expected)
        if cost < least or (cost == least and number < best):
            best, least = number, cost
    return best


def _cost(broken: Callable[[int], int], number: int, expected: int) -> float:
    return broken(number) + _DEPARTURE * abs(log(number / expected))
