"""Reaches fewer clusters where merges are stuck because units must be apart: units of the smallest clusters move to others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from conclust._types import Bools, Floats, Ints
from conclust.consensus.constraints import coloured

_PASSES = 100
# Differences of mean similarities up to this are rounding errors.
_LEAST_GAIN = 1e-9


def separated(n_units: int, apart: Ints) -> Bools:
    """Return which units must not be together, (n_units, n_units), of the pairs that must be apart."""
    matrix = np.zeros((n_units, n_units), dtype=np.bool_)
    matrix[apart[:, 0], apart[:, 1]] = True
    matrix[apart[:, 1], apart[:, 0]] = True
    return matrix


def dissolved_to(
    n_clusters: int, clusters: Ints, similarity: Floats, sizes: Floats, apart: Ints
) -> Ints | None:
    """Return fewer clusters of units: the smallest ones are dissolved until the number is reached.

    The cluster of the fewest objects is dissolved whose units may all be in other clusters; each moves to the most
    similar one, the largest unit first. The result is None if no cluster can be dissolved.

    Parameters
    ----------
    n_clusters : int
        The number to reach.
    clusters : ndarray of int64 of shape (m,)
        Clusters of the units, numbered in any way.
    similarity : ndarray of shape (m, m)
        Mean similarity of the objects of two units.
    sizes : ndarray of shape (m,)
        Number of objects of each unit.
    apart : ndarray of int64 of shape (n_pairs, 2)
        Units that must be in different clusters.
    """
    closed = separated(len(sizes), apart)
    while len(names := np.unique(clusters)) > n_clusters:
        masses = np.array([sizes[clusters == name].sum() for name in names.tolist()])
        for cluster in names[np.argsort(masses, kind="stable")].tolist():
            moved = _dissolved(cluster, clusters, similarity, sizes, closed)
            if moved is not None:
                clusters = moved
                break
        else:
            return None
    return clusters


def settled(clusters: Ints, similarity: Floats, sizes: Floats, apart: Ints) -> Ints:
    """Move units, the largest first, to the most similar cluster where they may be, until none moves.

    Parameters
    ----------
    clusters : ndarray of int64 of shape (m,)
        Clusters of the units, numbered in any way; -1 for a unit that is in none yet. No cluster is left empty.
    similarity : ndarray of shape (m, m)
        Mean similarity of the objects of two units.
    sizes : ndarray of shape (m,)
        Number of objects of each unit.
    apart : ndarray of int64 of shape (n_pairs, 2)
        Units that must be in different clusters.
    """
    names = np.unique(clusters[clusters >= 0])
    K = len(names)
    # The last column stands for no cluster: a unit that may be in another leaves it.
    clusters = np.where(clusters < 0, K, np.searchsorted(names, clusters))
    held = np.zeros((len(sizes), K + 1))
    held[np.arange(len(sizes)), clusters] = 1.0
    closed = separated(len(sizes), apart).astype(np.float64)
    weighted = similarity * sizes
    np.fill_diagonal(weighted, 0.0)  # a unit counts neither where it is nor where it could be
    sums, masses = weighted @ held, sizes @ held
    blocked, n_units = closed @ held, held.sum(axis=0)
    blocked[:, K] = masses[K] = n_units[K] = np.inf
    order = np.argsort(-sizes, kind="stable").tolist()
    for _ in range(_PASSES):
        moved = False
        for unit in order:
            own = int(clusters[unit])
            if n_units[own] == 1:
                continue
            others = masses.copy()
            others[own] -= sizes[unit]
            means = np.where(blocked[unit] > 0, -np.inf, sums[unit] / others)
            best = int(means.argmax())
            if means[best] <= means[own] + _LEAST_GAIN:
                continue
            clusters[unit], moved = best, True
            for state, column in ((sums, weighted[:, unit]), (blocked, closed[:, unit])):
                state[:, own] -= column
                state[:, best] += column
            for totals, amount in ((masses, float(sizes[unit])), (n_units, 1.0)):
                totals[own] -= amount
                totals[best] += amount
        if not moved:
            break
    return np.where(clusters == K, -1, clusters).astype(np.int64)


def rows_in_fewer(
    n_clusters: int,
    clusters: Ints,
    groups: Ints,
    apart: Ints,
    sizes: Floats,
    dissimilarities: Callable[[], Floats],
) -> Ints | None:
    """Return fewer clusters of rows that keep the constraints, or the parts of them that constraints determine.

    The units are the groups with constraints, and the other rows of each cluster. Units of the smallest clusters move
    to others; if that is not enough, a colouring assigns the groups, and the other rows stand alone. None: neither way
    reaches the number.

    Parameters
    ----------
    n_clusters : int
        The number to reach.
    clusters : ndarray of int64 of shape (n_rows,)
        Clusters that keep the constraints.
    groups : ndarray of int64 of shape (n_rows,)
        The group of each row; rows of a group are together.
    apart : ndarray of int64 of shape (n_pairs, 2)
        Groups that must be in different clusters.
    sizes : ndarray of shape (n_rows,)
        Number of objects of each row.
    dissimilarities : callable
        Computes the dissimilarities of the rows, (n_rows, n_rows).
    """
    touched = np.isin(groups, np.unique(apart))
    # The other rows of a cluster are one unit, after all groups.
    of_rows = np.where(touched, groups, int(groups.max()) + 1 + clusters)
    names, first, units = np.unique(of_rows, return_index=True, return_inverse=True)
    pairs = np.searchsorted(names, apart)
    masses = np.bincount(units, weights=sizes).astype(np.float64)
    shares = sizes / masses[units]
    held = sp.csr_array((shares, (units, np.arange(len(units)))), shape=(len(names), len(units)))
    similarity = 1.0 - np.asarray((held @ dissimilarities()) @ held.T)
    fewer = dissolved_to(n_clusters, clusters[first], similarity, masses, pairs)
    if fewer is not None:
        return settled(fewer, similarity, masses, pairs)[units]
    colours = coloured(len(names), pairs, n_clusters, similarity)
    if colours is None:
        return None
    alone = n_clusters + np.unique(groups, return_inverse=True)[1]
    return np.where(touched, colours[units], alone).astype(np.int64)


def _dissolved(
    cluster: int, clusters: Ints, similarity: Floats, sizes: Floats, closed: Bools
) -> Ints | None:
    """Return the clusters without one of them; None if a unit may be in no other."""
    after = clusters.copy()
    inside = np.flatnonzero(clusters == cluster)
    others = np.setdiff1d(clusters, [cluster])
    for unit in inside[np.argsort(-sizes[inside], kind="stable")].tolist():
        best = -1.0
        for other in others.tolist():
            held = after == other
            if not closed[unit, held].any():
                mean = float(np.average(similarity[unit, held], weights=sizes[held]))
                if mean > best:
                    best, after[unit] = mean, other
        if best < 0:
            return None
    return after
