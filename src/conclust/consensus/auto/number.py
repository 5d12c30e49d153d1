"""The number of clusters by the borders that trees show: a long lifetime and few straddled borders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.ratios import ratio
from conclust._kernels import cluster_sums
from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import one_hot
from conclust.trees.dendrogram import clusters_at, lifetimes

# The constants of the default on labels: experiments/labels/README.md says what they were settled on.
# Jeffreys' prior of a distribution of labels.
PRIOR = 0.5
# Members among the starts of EM; cuts into more clusters than given, from which EM begins, too.
MEMBERS, FINER = 20, 2
# Stages of the search: how many of the most probable partitions begin EM, and its rounds. After each, the gate is looked at.
STAGES = ((0, 0), (1, 1), (10, 2), (1, 8))
# Support of a number in the trees from which it is clear; .08 to .15 give nearly the same.
CLEAR = 0.1
# Largest number of clusters that is considered if none is given, and the shortest lifetime in the trees: 0 gives the same.
MOST, SHORTEST = 60, 0.005
# Partitions are weighted by this power of their certainty (experiments/default/weights.py).
STEEPNESS = 2
# All objects enter the trees if they have few distinct rows of labels, up to this multiple of max_samples.
EQUAL_ROWS = 10
# Pieces of the clusters that constraints move, and the rank from which an object is typical of its piece (experiments/answers).
PIECES, TYPICAL = 30, 0.7
# Dissimilarities of units are in [0, 2], and up to this value most pairs of objects are in the same cluster.
SAME_CLUSTER = 1.5


def fine_partitions(ensemble: Ensemble) -> Ints:
    """Return the partitions with at least the median number of clusters, of those that count."""
    counting = ensemble.partition_weights > 0
    counts = ensemble.cluster_counts
    return np.flatnonzero(counting & (counts >= np.median(counts[counting])))


class Straddling:
    """Measures how far clusters of some partitions lie across the borders of another partition.

    A cluster C of a member and a cluster A of the partition fit if one holds the other, or they
    share nothing. Other overlaps are summed, and divided by their sum if all clusters were
    independent::

        ``sum of |A & C| min(1 - |A & C| / |A|, 1 - |A & C| / |C|)``
        ``/ sum of |A| |C| / n min(1 - |C| / n, 1 - |A| / n)``

    over all A and C, and all members by their weights.

    Parameters
    ----------
    ensemble : Ensemble
        The members.
    partitions : ndarray of int
        Members to examine.

    Notes
    -----
    Clusters that a gap separates are cut apart by every partition that is fine enough; borders drawn
    through the middle of a crowd are elsewhere in each of them.
    """

    def __init__(self, ensemble: Ensemble, partitions: Ints) -> None:
        fine = ensemble.subset(partitions=partitions)
        self._ensemble, self._partition_of = fine, fine.column_partitions
        self._weights = fine.partition_weights[self._partition_of]
        self._present = fine.present.astype(np.float64) if fine.has_missing else None

    def of(self, labels: Ints) -> float:
        """Return the straddling of a partition.

        Parameters
        ----------
        labels : ndarray of int64 of shape (n_samples,)
            The partition: 0 to K - 1 for its objects.

        Returns
        -------
        float
            0 where every cluster of the members is within one of the partition, or made of whole ones;
            about 1 where members and partition have nothing to do with each other. 0 for one cluster.
        """
        K = int(labels.max()) + 1
        if K == 1:
            return 0.0
        shared = self._shared(labels, K)
        observed = self._observed(labels, K)
        total = observed.sum(axis=0)
        size = shared.sum(axis=0)
        nonempty = size > 0
        shared, observed, total, size = (
            shared[:, nonempty],
            observed[:, nonempty],
            total[nonempty],
            size[nonempty],
        )
        weight = self._weights[nonempty] / total
        of_own = ratio(shared, observed)
        straddled = shared * np.minimum(1.0 - of_own, 1.0 - shared / size)
        expected = (
            observed * (size / total) * np.minimum(1.0 - size / total, 1.0 - observed / total)
        )
        chance = float(expected.sum(axis=0) @ weight)
        return max(0.0, float(straddled.sum(axis=0) @ weight)) / chance if chance > 0 else 0.0

    def _shared(self, labels: Ints, K: int) -> Floats:
        """Return how many objects, or how much membership, each cluster shares with each column (K, n_columns)."""
        ensemble = self._ensemble
        if ensemble.is_soft:
            return np.asarray((one_hot(labels, K).T.tocsr() @ ensemble.indicator).toarray())
        sums = np.empty((len(self._partition_of), K))
        cluster_sums(ensemble.label_view, None, labels, sums)
        return np.ascontiguousarray(sums.T)

    def _observed(self, labels: Ints, K: int) -> NDArray[Any]:
        """Return how many objects of each cluster the partition of each column has observed."""
        if self._present is None:
            sizes = np.bincount(labels, minlength=K)
            return np.repeat(sizes[:, np.newaxis], len(self._partition_of), axis=1)
        return np.asarray(one_hot(labels, K).T.tocsr() @ self._present)[:, self._partition_of]


@dataclass(frozen=True)
class Support:
    """The support of a number of clusters.

    Attributes
    ----------
    n_clusters : int
        The number.
    lifetime : float
        Its lifetime in the tree of evidence accumulation, from 0 to 1.
    straddling : float
        Extent to which fine partitions straddle the borders, relative to chance; the minimum over the trees.
    support : float
        The lifetime, less the straddling.
    """

    n_clusters: int
    lifetime: float
    straddling: float
    support: float


def largest_number(ensemble: Ensemble) -> int:
    """Return the largest number of clusters of a member, at most 60; n only if all members have n clusters of n objects."""
    counts = ensemble.cluster_counts[ensemble.partition_weights > 0]
    fewer = counts[counts < ensemble.n_samples]
    return min(MOST, int((fewer if len(fewer) else counts).max()))


def best_number(
    ensemble: Ensemble, trees: list[Floats], straddling: Straddling, most: int | None
) -> tuple[int, list[Support]]:
    """Choose the number of clusters by the borders that trees show.

    Parameters
    ----------
    ensemble : Ensemble
        The members.
    trees : list of ndarray of shape (n_samples - 1, 4)
        Dendrograms of its objects, with heights from 0 to 1. The first one gives the lifetimes.
    straddling : Straddling
        Straddling of the partitions that should respect the borders.
    most : int or None
        Maximum number considered. None: the largest of a member (`largest_number`).

    Returns
    -------
    n_clusters : int
        Number chosen; 1 without support.
    supports : list of Support
        Supports of the numbers considered, by decreasing lifetime, down to the last that could win.
    """
    most = min(most or largest_number(ensemble), ensemble.n_samples)
    lives = np.minimum(lifetimes(trees[0])[: most - 1], 1.0)
    supports: list[Support] = []
    best, number = 0.0, 1
    for at in np.argsort(-lives, kind="stable"):
        life, K = float(lives[at]), int(at) + 2
        if life <= max(best, SHORTEST):  # the support of later numbers is at most their lifetime
            break
        across = min(straddling.of(clusters_at(tree, K)) for tree in trees)
        supports.append(Support(K, life, across, life - across))
        if supports[-1].support > best:
            best, number = supports[-1].support, K
    return number, supports


def alternatives_of(indicated: int, supports: list[Support]) -> tuple[int, ...]:
    """Return the other numbers of clusters with support, the best supported first."""
    ordered = sorted(supports, key=lambda support: -support.support)
    return tuple(
        support.n_clusters
        for support in ordered
        if support.support > 0 and support.n_clusters != indicated
    )
