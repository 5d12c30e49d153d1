"""The number of clusters by the borders that trees show: a long lifetime and few straddled borders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conclust._arrays.ratios import ratio
from conclust._types import Floats, Ints
from conclust.consensus.auto.constants import MOST, SHORTEST
from conclust.consensus.auto.votes import shared_with
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import one_hot
from conclust.trees.dendrogram import clusters_at, lifetimes


def fine_partitions(ensemble: Ensemble) -> Ints:
    """Return the partitions with at least the median number of clusters, of those that count and observed an object."""
    counting = (ensemble.partition_weights > 0) & (ensemble.missing_counts < ensemble.n_samples)
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
        self._members = members = ensemble.subset(partitions=partitions)
        self._partition_of, self._weights = members.column_partitions, members.column_weights
        self._present = members.present.astype(np.float64)

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
        shared = np.ascontiguousarray(shared_with(self._members, labels).T)
        observed = np.asarray(one_hot(labels, K).T.tocsr() @ self._present)[:, self._partition_of]
        held = shared.any(axis=0)
        shared, observed, weight = shared[:, held], observed[:, held], self._weights[held]
        total, size = observed.sum(axis=0), shared.sum(axis=0)
        of_own = ratio(shared, observed)
        straddled = shared * np.minimum(1.0 - of_own, 1.0 - shared / size)
        expected = (
            observed * (size / total) * np.minimum(1.0 - size / total, 1.0 - observed / total)
        )
        weight = weight / total
        chance = float(expected.sum(axis=0) @ weight)
        return max(0.0, float(straddled.sum(axis=0) @ weight)) / chance if chance > 0 else 0.0


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


def supports_of(
    ensemble: Ensemble, trees: list[Floats], straddling: Straddling, most: int | None
) -> list[Support]:
    """Return the supports of numbers of clusters by the borders that trees show.

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
    list of Support
        By decreasing lifetime, down to the last that could have the largest support.
    """
    most = min(most or largest_number(ensemble), ensemble.n_samples)
    lives = np.minimum(lifetimes(trees[0])[: most - 1], 1.0)
    supports: list[Support] = []
    best = SHORTEST
    for at in np.argsort(-lives, kind="stable"):
        life, K = float(lives[at]), int(at) + 2
        if life <= best:  # the support of later numbers is at most their lifetime
            break
        across = min(straddling.of(clusters_at(tree, K)) for tree in trees)
        supports.append(Support(K, life, across, life - across))
        best = max(best, life - across)
    return supports
