"""The trees of an ensemble, cut at any number of clusters.

The borders that trees show decide the number of clusters: a long lifetime and few straddled borders.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from conclust._progress import stage
from conclust._random import RandomStateLike, generator
from conclust._types import Floats, Ints
from conclust.consensus.auto.votes import (
    ENTRIES,
    EQUAL_ROWS,
    certain_clusters,
    clusters_with_most_votes,
    part_of,
    shared_with,
    votes_for,
)
from conclust.consensus.constraints import Bounds, Constraints
from conclust.consensus.linkage.lwea import certain_tree
from conclust.consensus.suitability import warn_of_few_objects
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import noise_code, one_hot
from conclust.exceptions import InputError
from conclust.trees.agglomeration import clusters_at, dense_tree, lifetimes, starting_clusters
from conclust.trees.clusterwise import warn_of_pairs


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
        size, observed = shared.sum(axis=0), np.bincount(labels)[:, np.newaxis].astype(np.float64)
        held = slice(None) if size.all() else np.flatnonzero(size)
        shared, size, weight = shared[:, held], size[held], self._weights[held]
        if not self._present.all():
            present = np.asarray(one_hot(labels, K).T.tocsr() @ self._present)
            observed = present[:, self._partition_of[held]]
        total = observed.sum(axis=0)
        share, weight = size / total, weight / total
        smaller = np.minimum(np.maximum(observed, 1.0), size)
        straddled = size - np.einsum("ij,ij->j", shared, shared / smaller)
        by_chance = total - np.einsum("ij,ij->j", observed, np.maximum(size, observed)) / total
        own, chance = float(straddled @ weight), float((share * by_chance) @ weight)
        return max(0.0, own) / chance if chance > 0 else 0.0


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
        The lifetime minus the straddling.
    """

    n_clusters: int
    lifetime: float
    straddling: float
    support: float


def largest_number(ensemble: Ensemble) -> int:
    """Return the largest number of clusters of a member; n only if all members with a cluster have n of n objects.

    It is less if a table of the clusters of all members by as many would be too large.
    """
    counts = ensemble.cluster_counts[ensemble.partition_weights > 0]
    fewer = counts[(counts > 0) & (counts < ensemble.n_samples)]
    most = int((fewer if len(fewer) else counts).max())
    return max(1, min(most, ENTRIES // int(ensemble.offsets[-1])))


ALIKE, CERTAIN = "all alike", "certain"


@dataclass(frozen=True, eq=False)
class CutOfTree:
    """Clusters of the objects of the trees, which place the others.

    Attributes
    ----------
    straddling : float
        Extent to which fine partitions straddle the borders.
    votes : ndarray of shape (n_columns, n_clusters)
        Amount that membership in each cluster of the ensemble adds to the similarity with each consensus cluster.
    labels : ndarray of int64 of shape (n_objects,)
        The clusters of the objects of the trees.
    """

    straddling: float
    votes: Floats
    labels: Ints


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees over some objects of an ensemble.

    Attributes
    ----------
    whole : Ensemble
        The members, for all objects that a partition observed.
    objects : ndarray of int64 of shape (n_objects,)
        The objects of the trees, in rising order.
    ensemble : Ensemble
        The members, for these objects.
    matrices : dict of str to ndarray of shape (n_objects - 1, 4)
        A dendrogram for each form of the evidence. The first one gives the lifetimes. Without objects, there is none.
    counting : ndarray of shape (n_columns,)
        Weight of co-clustering in each cluster of the ensemble.
    max_clusters : int or None
        Maximum number that the ensemble is asked for.
    constraints : Constraints or None
        Constraints on all objects.
    """

    whole: Ensemble
    objects: Ints
    ensemble: Ensemble = field(repr=False)
    matrices: dict[str, Floats] = field(repr=False)
    counting: Floats = field(repr=False)
    max_clusters: int | None = None
    constraints: Constraints | None = None

    @property
    def n_objects(self) -> int:
        """Number of objects in the trees."""
        return len(self.objects)

    @property
    def n_numbers(self) -> int:
        """Largest number of clusters that a tree can be cut into without separating objects with equal labels."""
        return 1 + int(np.count_nonzero(self.matrices[ALIKE][:, 2] > 0))

    @cached_property
    def bounds(self) -> Bounds:
        """Numbers of clusters that keep the constraints."""
        if self.constraints is None:
            return Bounds(1, self.n_objects)
        return Bounds(self.constraints.least_clusters(), self.constraints.n_groups)

    @cached_property
    def supports(self) -> list[Support]:
        """Supports of the numbers of clusters, by decreasing lifetime, down to the last that could have the largest support."""
        stage("number of clusters")
        supports: list[Support] = []
        if not self.n_objects:
            return supports
        most = min(self.max_clusters or largest_number(self.ensemble), self.n_objects)
        lives = np.minimum(lifetimes(self.matrices[ALIKE])[: most - 1], 1.0)
        best = 0.0
        for at in np.argsort(-lives, kind="stable"):
            life, K = float(lives[at]), int(at) + 2
            if life <= best:  # the support of later numbers is at most their lifetime
                break
            cuts = (clusters_at(tree, K) for tree in self.matrices.values())
            across = min(map(self._straddling.of, cuts))
            supports.append(Support(K, life, across, life - across))
            best = max(best, life - across)
        return supports

    @property
    def n_clusters_shown(self) -> int:
        """Number of clusters with the largest support; 1 if none is above 0."""
        best = max(self.supports, key=lambda one: one.support, default=None)
        return best.n_clusters if best is not None and best.support > 0 else 1

    @cached_property
    def _straddling(self) -> Straddling:
        return Straddling(self.ensemble, fine_partitions(self.ensemble))

    def at(self, n_clusters: int) -> Ints:
        """Cut the second tree into a number of clusters."""
        return clusters_at(self.matrices[CERTAIN], min(n_clusters, self.n_objects))

    def cut_along(self, labels: Ints) -> CutOfTree:
        """Use given clusters of the objects, of shape (n_objects,), instead of a cut."""
        votes = votes_for(self.ensemble, labels, self.counting)
        across = self._straddling.of(clusters_with_most_votes(self.ensemble, votes))
        return CutOfTree(across, votes, labels)


def grow(
    ensemble: Ensemble,
    *,
    n_clusters: int | None = None,
    max_clusters: int | None = None,
    max_samples: int = 3000,
    constraints: Constraints | None = None,
    among: Ints | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> Trees:
    """Grow the trees of an ensemble, on at most `max_samples` of its objects.

    Parameters
    ----------
    ensemble : Ensemble
        The members, for objects that a partition observed; weights are relative (`with_relative_weights`).
    n_clusters : int, default=None
        The number that will be asked for: the warning of few objects depends on it.
    max_clusters : int, default=None
        Maximum number that the ensemble is asked for.
    max_samples : int, default=3000
        Maximum number of objects in the trees, unless they have few distinct rows of labels.
    constraints : Constraints, default=None
        Constraints on the objects; those with constraints are in the trees.
    among : ndarray of int64, default=None
        The objects that the others are taken from. None: all.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the objects.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    """
    objects = _objects(ensemble, constraints, max_samples, among, random_state)
    if not len(objects):  # all objects are noise: no two share a cluster
        return Trees(ensemble, objects, ensemble, {}, np.ones(len(ensemble.column_partitions)))
    if len(objects) == max_samples < ensemble.n_samples:
        warn_of_few_objects(ensemble, objects, n_clusters)
    part = part_of(ensemble, objects)
    weighted, certainty = certain_clusters(ensemble, objects)
    seen = (part.n_samples - part.missing_counts.astype(np.float64)) ** 2
    mean = float(part.column_weights @ part.cluster_sizes**2 / (part.partition_weights @ seen))
    alike, pairs = dense_tree(part, "average", max_dense=part.n_samples, n_jobs=n_jobs, mean=mean)
    warn_of_pairs(pairs)
    certain = certain_tree(weighted, certainty, normalized=False, n_jobs=n_jobs).matrix
    counting = weighted.column_weights * certainty
    matrices = {ALIKE: alike, CERTAIN: certain}
    return Trees(ensemble, objects, part, matrices, counting, max_clusters, constraints)


def _objects(
    ensemble: Ensemble,
    constraints: Constraints | None,
    max_samples: int,
    among: Ints | None,
    random_state: RandomStateLike,
) -> Ints:
    """Return the objects of the trees: some of those that are in a cluster of any partition."""
    if ensemble.is_soft:
        held = np.diff(ensemble.indicator.indptr) > 0
    else:
        held = ensemble.codes.min(axis=1) < noise_code(ensemble.codes.dtype)
    clustered = np.flatnonzero(held)
    if among is not None:
        clustered = np.intersect1d(clustered, among)
    touched = np.empty(0, dtype=np.int64)
    if constraints is not None:
        touched = np.flatnonzero(constraints.touched)
        if len(touched) > max_samples:
            raise InputError(
                f"Constraints are about {len(touched)} objects, and the trees have max_samples={max_samples}. "
                "Raise max_samples."
            )
        clustered = np.union1d(clustered, touched)
    few = len(clustered) <= max_samples
    if few or (
        # So few distinct rows of labels that trees of all objects cost no more.
        ensemble.n_samples <= EQUAL_ROWS * max_samples
        and len(starting_clusters(ensemble)) <= max_samples
    ):
        return clustered
    rng = generator(random_state, "AutoConsensus")
    others = np.setdiff1d(clustered, touched) if len(touched) else clustered
    drawn = rng.permutation(others)[: max_samples - len(touched)]
    return np.sort(np.concatenate([touched, drawn]))
