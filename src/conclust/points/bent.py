"""Borders of bent clusters, where points are counted along the neighbour graph and not along a straight axis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from conclust._types import Bools, Ints
from conclust.borders import valley_ratios
from conclust.points.margin import margin_ratio
from conclust.points.paths import Part, PathsOfPoints, contact_ratio, evenly_spread

# The constants below were chosen as described in experiments/default/README.md.
# Shortest paths within pieces are longer than straight lines by at most this factor where the graph
# measures distances; in many dimensions they zigzag.
_LONGEST_WITHIN = 1.1
# A border is bent where paths across it are longer by at least this factor, relative to straight lines, than paths within clusters.
_BENT = 1.2
# Number of points from which paths are followed.
_SOURCES = 8


@dataclass(frozen=True, eq=False)
class BentBorders:
    """Finds borders whose valley disappears if points are counted along the neighbour graph.

    The straight line between two halves of a ring runs through its hole: few points lie in the middle, although the
    ring is equally dense everywhere. Where the shortest paths of the neighbour graph between two clusters are
    much longer than straight lines, points are counted by the length of the shortest path to the other cluster, unless
    few ties of the graph connect the two. Straight borders are counted in the same way if as many ties cross them as
    cross the middle of either cluster, and their margin has points (`margin_ratio`).

    Attributes
    ----------
    paths : PathsOfPoints
        The points and their neighbour graph.
    pieces : ndarray of int64 of shape (n_samples,)
        A partition into small pieces, 0 to K - 1, within which no cluster is bent.
    """

    paths: PathsOfPoints
    pieces: Ints

    def without_valley(self, labels: Ints, pairs: Ints, most: float) -> Bools:
        """Mark the borders that have no valley along the graph, and are bent or have full contact and points in the margin.

        Parameters
        ----------
        labels : ndarray of int64 of shape (n_samples,)
            The cluster of each point.
        pairs : ndarray of int64 of shape (n_pairs, 2)
            The borders, as two clusters each.
        most : float
            A border has a valley if the density there is at most this share of the lower peak's. A border that this
            share of the ties within clusters crosses, or less, is not marked either.

        Returns
        -------
        ndarray of bool of shape (n_pairs,)
            All False where paths zigzag, so that their lengths are no distances.
        """
        marked = np.zeros(len(pairs), dtype=np.bool_)
        if not len(pairs) or not self._measures_distances:
            return marked
        cluster_of = self.paths.of_distinct(labels)
        for at, (p, q) in enumerate(pairs):
            first, second = cluster_of == p, cluster_of == q
            if first.any() and second.any():
                both = first | second
                pair = _Pair(self.paths.part(both), first[both])
                # Where few ties cross the border, all paths lead to these, and along the border.
                contact = contact_ratio(self.paths, labels, pairs[at])
                if contact > most and pair.ratio() > most:
                    marked[at] = pair.is_bent() or (
                        contact >= 1.0 and margin_ratio(self.paths, labels, pairs[at]) > most
                    )
        return marked

    @cached_property
    def _measures_distances(self) -> bool:
        """Whether paths within pieces are about as long as straight lines."""
        piece_of = self.paths.of_distinct(self.pieces)
        stretches = []
        for piece in np.unique(piece_of):
            part = self.paths.part(piece_of == piece)
            everywhere = np.ones(len(part.inside), dtype=np.bool_)
            stretches.append(part.stretch(evenly_spread(np.flatnonzero(everywhere), 2), everywhere))
        return bool(np.median(stretches) <= _LONGEST_WITHIN)


class _Pair:
    """Two clusters that touch, `first` and the remaining points of a part."""

    def __init__(self, part: Part, first: Bools) -> None:
        self._part = part
        self._sides = (first, ~first)
        to_other = np.zeros(len(first))
        for side in self._sides:
            to_other[side] = part.from_any(np.flatnonzero(~side))[side]
        # The first tie of a path crosses the border, so that half of its length lies on either side.
        ties = part.lengths.tocoo()
        shortest = np.full(len(first), np.inf)
        np.minimum.at(shortest, ties.row, ties.data)
        self._to_other = np.maximum(0.0, to_other - np.median(shortest))

    def ratio(self) -> float:
        """Return the density at the border relative to the lower peak, by distances along the graph."""
        masses, to_other = self._part.masses, self._to_other
        reached = np.isfinite(to_other)
        if not reached.any():
            return 0.0
        middles = [float(np.median(to_other[side & reached])) for side in self._sides]
        width = min(middles) / 2
        if width == 0:
            return 1.0

        def count(side: Bools, start: float, end: float) -> float:
            return float(masses[side & (to_other >= start) & (to_other < end)].sum())

        valley = sum(count(side, 0.0, width) for side in self._sides)
        peaks = [
            count(side, middle - width, middle + width)
            for side, middle in zip(self._sides, middles, strict=True)
        ]
        return float(valley_ratios([peaks[0], valley, peaks[1]]))

    def is_bent(self) -> bool:
        """Return whether paths across the border are much longer, relative to lines, than those within."""
        part, to_other = self._part, self._to_other
        far = [side & (to_other >= np.median(to_other[side])) for side in self._sides]
        across = part.stretch(evenly_spread(np.flatnonzero(far[0]), _SOURCES), far[1])
        within = max(
            part.stretch(evenly_spread(np.flatnonzero(side), _SOURCES // 2), side)
            for side in self._sides
        )
        return bool(np.isfinite(across) and across >= _BENT * within)


def joined(labels: Ints, pairs: Ints) -> Ints:
    """Return the clusters after the two of each pair are joined, numbered from 0."""
    n_clusters = int(labels.max()) + 1
    ties = sp.coo_array((np.ones(len(pairs)), pairs.T), shape=(n_clusters, n_clusters))
    return np.asarray(connected_components(ties, directed=False)[1], dtype=np.int64)[labels]
