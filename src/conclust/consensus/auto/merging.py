"""Merges units of objects to clusters, some of which must be apart: those of the same cluster first, then objects alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from conclust._types import Bools, Floats, Ints
from conclust.consensus.auto.number import SAME_CLUSTER
from conclust.consensus.linkage.constrained import grown
from conclust.consensus.linkage.fewer import coloured_units, dissolved_to, separated, settled
from conclust.trees.dendrogram import cut, from_merges


@dataclass(frozen=True, eq=False)
class Units:
    """Units of objects.

    Attributes
    ----------
    similarity : ndarray of shape (m, m)
        Mean similarity of their objects, in [0, 1].
    shares : ndarray of shape (m, m)
        Share of pairs of objects that are in the same cluster before.
    sizes : ndarray of shape (m,)
        Number of objects.
    alone : ndarray of bool of shape (m,)
        Units without a piece of a cluster: objects with constraints.
    apart : ndarray of int64 of shape (n_pairs, 2)
        Units that must be in different clusters.
    """

    similarity: Floats
    shares: Floats
    sizes: Floats
    alone: Bools
    apart: Ints

    @property
    def closed(self) -> Bools:
        """Which units must not be together (m, m)."""
        return separated(len(self.sizes), self.apart)


@dataclass(frozen=True, eq=False)
class Merges:
    """The m - 1 merges of m units, in order.

    Attributes
    ----------
    left, right : ndarray of int64 of shape (m - 1,)
        A unit of either cluster.
    heights : ndarray of shape (m - 1,)
        Dissimilarity of the two clusters, in [0, 2].
    smallest : int
        Number of clusters where no more merges are allowed; the other merges are not.
    n_clusters : int
        Number of clusters before any are merged that were apart.
    """

    left: Ints
    right: Ints
    heights: Floats
    smallest: int
    n_clusters: int

    @property
    def clusters(self) -> Ints:
        """The clusters of the units after all merges that are allowed, (m,)."""
        return self.clusters_at(self.smallest)

    def clusters_at(self, n_clusters: int) -> Ints:
        """Return the clusters of the units at a number of clusters, (m,), numbered from 0."""
        order = np.arange(len(self.left), dtype=np.float64)
        return cut(from_merges(self.left, self.right, order), n_clusters)


def merged(units: Units) -> Merges:
    """Merge units by average linkage, as long as they may be together.

    Units with pieces of the same cluster are merged first. Then units without a piece join the most similar of these
    clusters, and the clusters are merged.
    """
    m = len(units.sizes)
    dissimilarity = 2.0 - units.similarity - units.shares
    pieces = np.flatnonzero(~units.alone)
    place = np.full(m, -1, dtype=np.int64)
    place[pieces] = np.arange(len(pieces))
    ends = place[units.apart]
    left, right, heights, smallest = _average(
        dissimilarity[np.ix_(pieces, pieces)], units.sizes[pieces], ends[(ends >= 0).all(axis=1)]
    )
    first = np.count_nonzero(heights[: len(pieces) - smallest] <= SAME_CLUSTER)
    steps = list(
        zip(
            pieces[left[:first]].tolist(),
            pieces[right[:first]].tolist(),
            heights[:first].tolist(),
            strict=True,
        )
    )
    clusters = _joined(m, steps)
    steps += _placed(clusters, dissimilarity, units)
    clusters = _joined(m, steps)
    _, head = np.unique(clusters, return_index=True)
    left, right, heights, smallest = _average(
        _between(dissimilarity, units.sizes, clusters),
        np.bincount(clusters, weights=units.sizes).astype(np.float64),
        clusters[units.apart],
    )
    allowed = heights[: len(head) - smallest]
    return Merges(
        np.concatenate([np.array([step[0] for step in steps], dtype=np.int64), head[left]]),
        np.concatenate([np.array([step[1] for step in steps], dtype=np.int64), head[right]]),
        np.concatenate([np.array([step[2] for step in steps], dtype=np.float64), heights]),
        smallest,
        len(head) - int(np.count_nonzero(allowed <= SAME_CLUSTER)),
    )


def merged_to(n_clusters: int, units: Units, merges: Merges) -> Merges:
    """Return merges to fewer clusters, the smallest dissolved (`dissolved_to`); where that fails, the merges as they are."""
    fewer = dissolved_to(n_clusters, merges.clusters, units.similarity, units.sizes, units.apart)
    return merges if fewer is None else _first_within(fewer, units, n_clusters)


def merged_settled(n_clusters: int, units: Units, merges: Merges) -> Merges:
    """Return merges to clusters from which no unit would move to a more similar one.

    They are merges to the number given, or the smallest possible one. Fewer clusters may then be impossible.
    """
    # More clusters than units divide units, so that each unit is alone.
    clusters = merges.clusters_at(min(max(n_clusters, merges.smallest), len(units.sizes)))
    moved = settled(clusters, units.similarity + units.shares, units.sizes, units.apart)
    if np.array_equal(moved, clusters):
        return merges
    after = _first_within(moved, units, merges.smallest)
    return replace(after, n_clusters=merges.n_clusters)


def merged_by_colours(n_clusters: int, units: Units, merges: Merges) -> Merges:
    """Return merges to that many clusters by a colouring of the units that must be apart, whatever their similarity.

    Without such a colouring, the merges stay as they are.
    """
    colours = coloured_units(n_clusters, units.similarity, units.apart)
    return merges if colours is None else _first_within(colours, units, n_clusters)


def _first_within(clusters: Ints, units: Units, n_clusters: int) -> Merges:
    """Return the merges by average linkage, those within clusters first."""
    across = clusters[:, np.newaxis] != clusters
    within = 1.0 - (units.similarity + units.shares) / 2.0
    # With 1, equal units of different clusters would tie with units of one cluster that have nothing in common.
    left, right, heights, smallest = _average(within + 2.0 * across, units.sizes, units.apart)
    heights = np.where(heights > 1.5, heights - 1.0, heights)
    return Merges(left, right, heights, smallest, max(n_clusters, smallest))


def _average(dissimilarity: Floats, sizes: Floats, apart: Ints) -> tuple[Ints, Ints, Floats, int]:
    alone = np.arange(len(sizes), dtype=np.int64)
    if not len(sizes):
        return alone, alone, np.empty(0), 0
    return grown(dissimilarity.copy(), sizes, "average", alone, apart)


def _joined(m: int, steps: list[tuple[int, int, float]]) -> Ints:
    """Return the clusters of m units after some merges, consecutive from 0."""
    clusters = np.arange(m)
    for one, other, _ in steps:
        clusters[clusters == clusters[other]] = clusters[one]
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)


def _between(dissimilarity: Floats, sizes: Floats, clusters: Ints) -> Floats:
    """Return the mean dissimilarity of the objects of clusters of units."""
    held = np.zeros((int(clusters.max()) + 1, len(clusters)))
    held[clusters, np.arange(len(clusters))] = sizes
    held /= held.sum(axis=1, keepdims=True)
    return np.asarray(held @ dissimilarity @ held.T)


def _placed(clusters: Ints, dissimilarity: Floats, units: Units) -> list[tuple[int, int, float]]:
    """Return merges of units without a piece into clusters with one, in order of dissimilarity."""
    alone = np.flatnonzero(units.alone)
    heads = np.unique(clusters[~units.alone], return_index=True)[1]
    heads = np.flatnonzero(~units.alone)[heads]
    if not len(alone) or not len(heads):
        return []
    between = _between(dissimilarity, units.sizes, clusters)
    masses = np.bincount(clusters, weights=units.sizes)[clusters[heads]]
    costs = between[np.ix_(clusters[alone], clusters[heads])]
    closed = units.closed
    held = [np.flatnonzero(clusters == clusters[head]).tolist() for head in heads.tolist()]
    costs[[[closed[unit, inside].any() for inside in held] for unit in alone.tolist()]] = np.inf
    steps: list[tuple[int, int, float]] = []
    while np.isfinite(least := float(costs.min())):
        one, at = (int(each) for each in np.unravel_index(int(costs.argmin()), costs.shape))
        unit, size = int(alone[one]), float(units.sizes[alone[one]])
        steps.append((int(heads[at]), unit, least))
        costs[one] = np.inf
        joined = masses[at] * costs[:, at] + size * dissimilarity[alone, unit]
        costs[:, at] = np.where(closed[alone, unit], np.inf, joined / (masses[at] + size))
        masses[at] += size
    return steps
