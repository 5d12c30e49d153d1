"""The evidence for valleys between pieces of points, and for the cuts of a tree that respect them and keep islands whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import log

import numpy as np
import scipy.sparse as sp

from conclust._types import Bools, Floats, Ints
from conclust.borders import valley_counts, valley_ratios
from conclust.neighbours import NeighbourGraph

# The density of a valley relative to the lower peak, under the hypothesis of a border; without a
# valley it is 1. The evidence is the logarithm of the likelihood ratio of the two. Chosen as
# described in experiments/default/README.md.
_DEPTH = 0.4
_IN_VALLEY = log(2 * _DEPTH / (1 + _DEPTH))
_ON_PEAK = log(2 / (1 + _DEPTH))
_SPLITS = 8
# Depths of equal probability, for clusters whose valleys are expected to be of one depth that is not known.
_DEPTHS = np.array([0.4, 0.55, 0.7, 0.85])
# A cut with separate islands replaces the horizontal one if its evidence is larger by more than this.
ISLAND_EVIDENCE = 2.0


@dataclass(frozen=True, eq=False)
class Island:
    """An island that lies in one cluster with a larger one.

    Attributes
    ----------
    members : ndarray of bool of shape (n_samples,)
        Its points in that cluster.
    evidence : float
        Minimum growth of the evidence of the partitions if they become a cluster of their own.
    """

    members: Bools
    evidence: float


@dataclass(frozen=True, eq=False)
class Borders:
    """The borders between pieces that touch, and the islands that the pieces form.

    Attributes
    ----------
    pieces : ndarray of int64 of shape (n_samples,)
        The piece of each point, 0 to K - 1.
    pairs : ndarray of int64 of shape (n_borders, 2)
        Pieces with a tie of the neighbour graph between them, the lower number first.
    valley, peak : ndarray of shape (n_borders,)
        Mean number of points in the valley, and at the lower of the two peaks.
    """

    pieces: Ints
    pairs: Ints
    valley: Floats
    peak: Floats

    @property
    def n_pieces(self) -> int:
        """Number of pieces."""
        return int(self.pieces.max()) + 1

    @property
    def ratios(self) -> Floats:
        """Density of each valley relative to the lower peak, with 3 points added to both."""
        return valley_ratios(np.column_stack([self.peak, self.valley, self.peak]))

    def pooled_ratios(self, groups: Ints) -> tuple[Ints, Floats]:
        """Return the pairs of groups of pieces that touch, and the ratios of their summed counts.

        `groups` (n_pieces,) holds the group of each piece.
        """
        ends = np.sort(groups[self.pairs], axis=1)
        apart = ends[:, 0] != ends[:, 1]
        pairs, inverse = np.unique(ends[apart], axis=0, return_inverse=True)
        which = inverse.reshape(-1)  # NumPy 2.0 returns a column
        counts = np.zeros((len(pairs), 3))
        np.add.at(counts[:, 0], which, self.peak[apart])
        np.add.at(counts[:, 1], which, self.valley[apart])
        counts[:, 2] = counts[:, 0]
        return pairs, valley_ratios(counts)

    def merged(self, most: float) -> Ints:
        """Merge groups of pieces by the largest pooled ratio, until it is below `most`; return the groups."""
        groups = np.arange(self.n_pieces)
        while True:
            pairs, ratios = self.pooled_ratios(groups)
            if not len(pairs) or ratios.max() < most:
                return groups
            remaining, joined = pairs[int(np.argmax(ratios))]
            groups[groups == joined] = remaining

    def evidence(self, labels: Ints) -> float:
        """Return the evidence for valleys at all borders of a partition of the points.

        Each piece counts to the cluster that most of its points are in. Islands (groups of pieces without a tie
        between them, or with ties across valleys of less than .4 of the lower peak only) that are joined count as a
        border that was missed: half of the points of the smaller one at a peak, and none in the valley.
        """
        cluster_of = self.clusters_of_pieces(labels)
        apart = cluster_of[self.pairs[:, 0]] != cluster_of[self.pairs[:, 1]]
        total = float(self._of_borders[apart].sum())
        for cluster in np.unique(cluster_of):
            masses = np.sort(self._masses(cluster_of == cluster))
            total -= float(masses[masses > 0][:-1].sum()) / 2 * _ON_PEAK
        return total

    def within(self, labels: Ints) -> Borders:
        """Return the borders between pieces of the same cluster of a partition of the points."""
        cluster_of = self.clusters_of_pieces(labels)
        inside = cluster_of[self.pairs[:, 0]] == cluster_of[self.pairs[:, 1]]
        return replace(
            self, pairs=self.pairs[inside], valley=self.valley[inside], peak=self.peak[inside]
        )

    def evidence_of_one_depth(self) -> float:
        """Return the evidence for valleys of the same depth at all borders, with four equally probable depths.

        It also finds many valleys that are too shallow to be seen one by one.
        """
        in_valley = np.log(2.0 * _DEPTHS / (1.0 + _DEPTHS))
        on_peak = np.log(2.0 / (1.0 + _DEPTHS))
        logs = self.valley.sum() * in_valley + self.peak.sum() * on_peak
        return float(np.logaddexp.reduce(logs)) - log(len(_DEPTHS))

    def joined_islands(self, labels: Ints) -> list[Island]:
        """Return the islands that lie in a cluster with a larger one, the largest first."""
        cluster_of = self.clusters_of_pieces(labels)
        joined: list[Island] = []
        for cluster in np.unique(cluster_of):
            masses = self._masses(cluster_of == cluster)
            smaller = np.argsort(-masses, kind="stable")[1:]
            for island in smaller[masses[smaller] > 0]:
                members = (labels == cluster) & (self._islands[self.pieces] == island)
                if members.any():
                    joined.append(Island(members, float(masses[island]) / 2 * _ON_PEAK))
        return sorted(joined, key=lambda island: -island.evidence)

    def _masses(self, inside: Bools) -> Floats:
        """Return the number of points of each island in some of the pieces, of shape (n_islands,)."""
        sizes = np.bincount(self.pieces, minlength=self.n_pieces)
        masses = np.bincount(self._islands[inside], weights=sizes[inside], minlength=self.n_islands)
        return masses.astype(np.float64)

    def clusters_of_pieces(self, labels: Ints) -> Ints:
        """Return the cluster with most points of each piece, of shape (n_pieces,)."""
        table = np.zeros((self.n_pieces, int(labels.max()) + 1), dtype=np.int64)
        np.add.at(table, (self.pieces, labels), 1)
        return np.asarray(table.argmax(axis=1))

    @property
    def _of_borders(self) -> Floats:
        return self.valley * _IN_VALLEY + self.peak * _ON_PEAK

    @property
    def n_islands(self) -> int:
        """Number of groups of pieces that are connected only across deep valleys."""
        return int(self._islands.max()) + 1

    @cached_property
    def _islands(self) -> Ints:
        # Small clusters connected by a single tie across an empty valley are also islands.
        joining = self.pairs[self.ratios >= _DEPTH]
        ties = sp.coo_array(
            (np.ones(len(joining)), (joining[:, 0], joining[:, 1])),
            shape=(self.n_pieces, self.n_pieces),
        )
        return np.asarray(sp.csgraph.connected_components(ties, directed=False)[1], dtype=np.int64)


def touching_pairs(labels: Ints, graph: NeighbourGraph) -> Ints:
    """Return the pairs of clusters with a tie between them, of shape (n_pairs, 2), the lower number first."""
    cluster_of = labels[graph.rows.first]
    first, second = cluster_of[graph.sources], cluster_of[graph.ends]
    # Each tie is stored in both directions.
    rising = first < second
    n_clusters = int(labels.max()) + 1
    codes = np.unique(first[rising] * n_clusters + second[rising])
    return np.column_stack(np.divmod(codes, n_clusters)).astype(np.int64)


def find_borders(
    X: Floats, pieces: Ints, graph: NeighbourGraph, seed: int, n_jobs: int | None = None
) -> Borders:
    """Count the points in the valleys between pieces that touch in the neighbour graph.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points.
    pieces : ndarray of int64 of shape (n_samples,)
        The piece of each point, 0 to K - 1 without a gap.
    graph : NeighbourGraph
        The graph of nearest neighbours of the points.
    seed : int
        Draws the eight halvings of the points.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    Borders
        The borders between the pieces.
    """
    ends = touching_pairs(pieces, graph)
    if not len(ends):
        return Borders(pieces, ends, np.zeros(0), np.zeros(0))
    means = valley_counts(X, pieces, ends, n_splits=_SPLITS, random_state=seed, n_jobs=n_jobs).means
    return Borders(pieces, ends, means[:, 1], np.minimum(means[:, 0], means[:, 2]))


def cuts_with_islands(borders: Borders, cuts: Mapping[int, Ints]) -> dict[int, tuple[Ints, float]]:
    """Return for each number of clusters the cut with the largest evidence, with islands kept separate.

    A tree joins by mean similarity, so that two small islands may be joined before the halves of a large cluster
    are. Beside the cut into K clusters, cuts into fewer are examined, whose largest joined islands are
    taken out as clusters until there are K. One of them is chosen where its evidence is clearly larger.

    Parameters
    ----------
    borders : Borders
        The borders between the pieces of the points.
    cuts : dict of int to ndarray of int64 of shape (n_samples,)
        Number of clusters to the clusters of the points.

    Returns
    -------
    dict of int to (ndarray of int64 of shape (n_samples,), float)
        Number of clusters to clusters and their evidence.
    """
    best = {K: (labels, borders.evidence(labels)) for K, labels in cuts.items()}
    if borders.n_islands < 2:
        return best
    joined = {K: borders.joined_islands(labels) for K, labels in cuts.items()}
    chosen = dict(best)
    for K, (_, plain) in best.items():
        most = plain + ISLAND_EVIDENCE
        for fewer, islands in joined.items():
            missing = K - fewer
            if not 1 <= missing <= len(islands):
                continue
            labels, evidence = best[fewer]
            gained = evidence + sum(island.evidence for island in islands[:missing])
            if gained > most:
                most = gained
                apart = labels.copy()
                for number, island in enumerate(islands[:missing]):
                    apart[island.members] = int(labels.max()) + 1 + number
                chosen[K] = apart, gained
    return chosen
