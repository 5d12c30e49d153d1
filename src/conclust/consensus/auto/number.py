"""The number of clusters that an ensemble supports: a long lifetime in the tree, few straddled borders, even clusters.

Where all partitions have the same number of clusters, none is finer than the clusters to be found, so borders that
the partitions straddle are no evidence for one cluster: the number is then at most theirs, and it is theirs where no
other has support.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.ratios import ratio
from conclust._kernels import cluster_sums
from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import one_hot
from conclust.trees.dendrogram import clusters_at, common_number, lifetimes


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
        partition_of = ensemble.column_partitions
        examined = np.zeros(ensemble.n_partitions, dtype=np.bool_)
        examined[partitions] = True
        columns = np.flatnonzero(examined[partition_of])
        self._ensemble, self._columns = ensemble, columns
        self._partition_of = partition_of[columns]
        self._weights = ensemble.partition_weights[self._partition_of]
        self._present = ensemble.present.astype(np.float64) if ensemble.has_missing else None

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
            shared = (one_hot(labels, K).T.tocsr() @ ensemble.indicator).toarray()
            return np.asarray(shared)[:, self._columns]
        sums = np.empty((len(ensemble.column_partitions), K))
        cluster_sums(ensemble.label_view, None, labels, sums)
        return np.ascontiguousarray(sums[self._columns].T)

    def _observed(self, labels: Ints, K: int) -> NDArray[Any]:
        """Return how many objects of each cluster the partition of each column has observed."""
        if self._present is None:
            sizes = np.bincount(labels, minlength=K)
            return np.repeat(sizes[:, np.newaxis], len(self._partition_of), axis=1)
        return np.asarray(one_hot(labels, K).T.tocsr() @ self._present)[:, self._partition_of]


# Settled by experiments/default/suite.py, on sets of the seeds named there.
# Borders with a straddling above this, relative to chance, do not count: clouds of points without clusters
# have .09 to .9 at their best number.
NO_BORDER = 0.15
# Only the part of a lifetime above this counts, even if all partitions err at the borders.
_PLAIN = 0.25
# Lifetime less straddling up to which there is one cluster.
_NOTHING = 0.02
# A border that cuts off a few objects carries little information about the number of clusters among the others: below this
# evenness, support falls in proportion. Settled by experiments/default/members.py too, on three of its sets.
_EVEN = 0.75
_MOST = 60


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
    evenness : float
        Evenness of the sizes of the clusters: (exp(entropy) - 1) / (n_clusters - 1), 1 for equal sizes and
        about 0 where one cluster has nearly all objects.
    support : float
        The lifetime less the straddling; less in proportion where the evenness is below 3/4.
    """

    n_clusters: int
    lifetime: float
    straddling: float
    evenness: float
    support: float


def most_considered(ensemble: Ensemble) -> int:
    """Return the maximum number of clusters that is considered: twice the maximum over the partitions, from 10 to 60."""
    return min(_MOST, max(10, 2 * int(ensemble.cluster_counts.max())))


def best_number(
    ensemble: Ensemble, trees: list[Floats], straddling: Straddling, most: int | None
) -> tuple[int, list[Support]]:
    """Choose the number of clusters.

    Parameters
    ----------
    ensemble : Ensemble
        The members.
    trees : list of ndarray of shape (n_samples - 1, 4)
        Dendrograms of its objects, with heights from 0 to 1. The first one gives the lifetimes.
    straddling : Straddling
        Straddling of the partitions that should respect the borders.
    most : int or None
        Maximum number considered. None: twice the maximum over the partitions, from 10 to 60. At most the number that
        all partitions have, if they have the same (see `common_number`).

    Returns
    -------
    n_clusters : int
        Number chosen; without support, the number that all partitions have, or else 1.
    supports : list of Support
        Supports of the numbers considered, by decreasing lifetime, down to the last that could win.
    """
    if most is None:
        most = most_considered(ensemble)
    common = common_number(ensemble)
    if common is None or common > most:  # no such number, or one above the maximum
        without_support = 1
    else:
        without_support = most = common
    most = min(most, ensemble.n_samples)
    lives = np.minimum(lifetimes(trees[0])[: most - 1], 1.0)
    supports: list[Support] = []
    best, number = 0.0, 1
    for at in np.argsort(-lives, kind="stable"):
        life, K = float(lives[at]), int(at) + 2
        if life <= max(best, _NOTHING):  # the support of later numbers is at most their lifetime
            break
        cuts = [clusters_at(tree, K) for tree in trees]
        straddled = [straddling.of(labels) for labels in cuts]
        across = min(straddled)
        even = _evenness(cuts[straddled.index(across)])
        support = _plain(life, across) * min(1.0, even / _EVEN)
        supports.append(Support(K, life, across, even, support))
        if supports[-1].support > best:
            best, number = supports[-1].support, K
    return number if are_supported(supports) else without_support, supports


def _plain(life: float, across: float) -> float:
    """Return the support before evenness."""
    return max(life * max(0.0, 1.0 - across / NO_BORDER), life - _PLAIN)


def are_supported(supports: list[Support]) -> bool:
    """Return whether any number has support."""
    return any(_plain(one.lifetime, one.straddling) > _NOTHING for one in supports)


def _evenness(labels: Ints) -> float:
    """Return (exp(entropy of the sizes) - 1) / (K - 1)."""
    shares = np.bincount(labels) / len(labels)
    shares = shares[shares > 0]
    if len(shares) < 2:
        return 0.0
    entropy = -float(shares @ np.log(shares))
    return float(np.expm1(entropy)) / (len(shares) - 1)


def alternatives_of(indicated: int, supports: list[Support]) -> tuple[int, ...]:
    """Return the other numbers of clusters with support, the best supported first."""
    ordered = sorted(supports, key=lambda support: -support.support)
    return tuple(
        support.n_clusters
        for support in ordered
        if support.support > 0 and support.n_clusters != indicated
    )


def reason_of(requested: int | None, indicated: int, supports: list[Support]) -> str:
    """Return a sentence with the reason for the number of clusters.

    `requested`: the number given by the user; `indicated`: the number that the ensemble indicates.
    """
    common = indicated > 1 and not are_supported(supports)  # as `best_number` chooses it
    if requested is not None and common:
        return f"The number, {requested}, was given; all partitions have {count(indicated, 'cluster')}, so they cannot show another number."
    if requested is not None:
        same = "the same number" if indicated == requested else count(indicated, "cluster")
        return f"The number, {requested}, was given; the partitions by themselves show {same}."
    if indicated == 1:
        return "One cluster: no number of clusters has support, as finer partitions cut through every border."
    if common:
        return (
            f"All partitions have {count(indicated, 'cluster')}, so they cannot show another number: pass "
            "n_clusters to choose another."
        )
    best, *others = sorted(supports, key=lambda support: -support.support)
    second = (
        f"; next {count(others[0].n_clusters, 'cluster')}, {others[0].support:.2f}"
        if others
        else ""
    )
    return (
        f"{count(best.n_clusters, 'cluster')} have the largest support, {best.support:.2f} (lifetime {best.lifetime:.2f}, "
        f"borders straddled {best.straddling:.2f} of chance, evenness {best.evenness:.2f}{second})."
    )
