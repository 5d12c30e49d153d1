"""Shortest paths through the neighbour graph of points and through parts of it, and ties across borders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from conclust._types import Bools, Floats, Ints
from conclust.neighbours import NeighbourGraph

# Ties added to each number, as points are added to the counts of a valley.
_PRIOR = 3.0


@dataclass(frozen=True, eq=False)
class PathsOfPoints:
    """Points with the lengths of the ties of their neighbour graph.

    Attributes
    ----------
    points : ndarray of float64 of shape (n_samples, n_features)
        The points.
    graph : NeighbourGraph
        The graph of nearest neighbours of the distinct points.
    """

    points: Floats
    graph: NeighbourGraph

    def of_distinct(self, labels: Ints) -> Ints:
        """Return the labels of the distinct points."""
        return labels[self.graph.rows.first]

    def part(self, inside: Bools) -> Part:
        """Return some of the distinct points, with the ties between them."""
        return Part(self, np.flatnonzero(inside))

    @cached_property
    def distinct(self) -> Floats:
        """The distinct points."""
        return self.points[self.graph.rows.first]

    @cached_property
    def lengths(self) -> sp.csr_array:
        """The lengths of the ties of the graph."""
        graph, points = self.graph, self.distinct
        lengths = np.sqrt(((points[graph.sources] - points[graph.ends]) ** 2).sum(axis=1))
        return sp.csr_array((lengths, graph.ends, graph.starts), shape=(graph.n_points,) * 2)

    @cached_property
    def shortest(self) -> Floats:
        """The distance of each distinct point from its nearest neighbour; inf if it has none."""
        shortest = np.full(self.graph.n_points, np.inf)
        np.minimum.at(shortest, self.graph.sources, self.lengths.data)
        return shortest


class Part:
    """Some of the distinct points, and the ties between them.

    Attributes
    ----------
    inside : ndarray of int64 of shape (n_inside,)
        The distinct points in the part.
    masses : ndarray of float64 of shape (n_inside,)
        Number of points equal to each.
    lengths : sparse array of shape (n_inside, n_inside)
        The lengths of the ties.
    """

    def __init__(self, paths: PathsOfPoints, inside: Ints) -> None:
        self.inside = inside
        self.masses = paths.graph.rows.masses[inside]
        ties = paths.lengths[inside][:, inside]
        # SciPy 1.13 finds undirected paths by 32-bit indices only.
        self.lengths = sp.csr_array(
            (ties.data, ties.indices.astype(np.int32), ties.indptr.astype(np.int32)),
            shape=ties.shape,
        )
        self._points = paths.distinct[inside]

    def from_each(self, sources: Ints) -> Floats:
        """Return the length of the shortest path from each source to each point; inf if they are not connected."""
        return np.asarray(dijkstra(self.lengths, directed=False, indices=sources))

    def from_any(self, sources: Ints) -> Floats:
        """Return the distance of each point from its nearest source along the graph; inf if it is not connected to one."""
        paths = dijkstra(self.lengths, directed=False, indices=sources, min_only=True)
        return np.asarray(paths)

    def stretch(self, sources: Ints, ends: Bools) -> float:
        """Return the median length of paths from some points to others, relative to straight lines.

        It is infinite if there are no paths between different points.
        """
        paths = self.from_each(sources)
        lines = np.sqrt(((self._points[sources][:, None] - self._points) ** 2).sum(axis=2))
        seen = np.isfinite(paths) & (lines > 0) & ends
        return float(np.median(paths[seen] / lines[seen])) if seen.any() else np.inf

    @property
    def fewest_ties_across(self) -> float:
        """Minimum number of ties that cross the middle of the part, from one end to the other; 0 if it is not connected."""
        n = len(self.inside)
        end = int(np.argmax(self.from_each(np.zeros(1, dtype=np.int64))[0])) if n else 0
        to_end = self.from_each(np.array([end]))[0] if n else np.zeros(0)
        if n < 4 or not np.isfinite(to_end).all():
            return 0.0
        rank = np.empty(n, dtype=np.int64)
        rank[np.argsort(to_end, kind="stable")] = np.arange(n)
        ties = self.lengths.tocoo()
        first, second = rank[ties.row], rank[ties.col]
        begins = np.bincount(first[first < second], minlength=n)
        ends = np.bincount(second[first < second], minlength=n)
        crossing = np.cumsum(begins - ends)
        return float(crossing[n // 4 : 3 * n // 4].min())


def evenly_spread(places: Ints, n: int) -> Ints:
    """Return at most n of the places, evenly spread."""
    return places[np.linspace(0, len(places) - 1, min(n, len(places))).astype(np.int64)]


def contact_ratio(paths: PathsOfPoints, labels: Ints, pair: Ints) -> float:
    """Return how many ties cross a border, relative to the fewest across the middle of either cluster.

    It needs no axis, so that it holds for clusters of any shape: two crescents, each around the end of the other, have
    few ties between them. Parts of one cloud have about as many as the halves of either part.

    Parameters
    ----------
    paths : PathsOfPoints
        The points and their neighbour graph.
    labels : ndarray of int64 of shape (n_samples,)
        The cluster of each point.
    pair : ndarray of int64 of shape (2,)
        Two clusters.

    Returns
    -------
    float
        Near 0 for a clear border, about 1 or above for none, as where a cluster is not connected. Three ties are
        added to both numbers.
    """
    cluster_of = paths.of_distinct(labels)
    first, second = cluster_of == pair[0], cluster_of == pair[1]
    graph = paths.graph
    across = np.count_nonzero(first[graph.sources] & second[graph.ends])
    least = min(paths.part(side).fewest_ties_across for side in (first, second))
    return float((across + _PRIOR) / (least + _PRIOR))
