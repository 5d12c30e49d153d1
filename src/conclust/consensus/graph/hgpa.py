"""HGPA: hypergraph partitioning algorithm."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from conclust._random import RandomStateLike
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import ConsensusClusterer, Method
from conclust.consensus.graph.partition import Hypergraph, partition_hypergraph
from conclust.consensus.method import NumberOfClusters
from conclust.ensemble import Ensemble, Missing
from conclust.ensemble.equal_rows import EqualRows
from conclust.spectra.bipartite import edges_of
from conclust.trees.agglomeration import starting_clusters

Partitioner: TypeAlias = Literal["internal", "mtkahypar"]

# Number of different levels of membership.
_LEVELS = 10


@dataclass(eq=False, repr=False)
class HGPA(ConsensusClusterer):
    """Hypergraph partitioning: every cluster is a hyperedge, and few of them are cut.

    The objects are cut into `n_clusters` parts of about equal size so that the clusters of the
    partitions meet few parts: the connectivity minus one is minimised [1]_. A soft cluster is a
    hyperedge at every level of membership: the objects with at least this membership.

    .. warning::
       A hyperedge that one stray object leaves costs as much as one cut in half. With noisy labels
       every cluster meets every part, whatever the parts are, and the criterion is uninformative: use
       :class:`HBGF`, :class:`MCLA` or :class:`PCC` except for comparison. A stray object of a
       soft cluster costs its membership only.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of parts, K. Required: ``fit`` refuses None.
    partitioner : {"internal", "mtkahypar"}, default="internal"
        "internal": spectral and random starts, capacities, Fiduccia-Mattheyses refinement. "mtkahypar": the
        deterministic preset of Mt-KaHyPar (extra ``hypergraph``: ``pip install mtkahypar``); its seed and its one
        thread are process-wide.
    balance : float, default=0.05
        Tolerated excess of objects in a part over the mean, as a share of the mean. That clusters are about equally large is
        an assumption of the model: if it is wrong, large clusters are split and small ones joined.
    n_init : int, default=10
        Number of starts; the lowest connectivity is kept.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the starts.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters; fewer than K where there are fewer distinct rows of labels.
    objective_ : float
        Connectivity minus one: sum over the clusters of all partitions of (parts that its objects are
        in - 1), times the weight of its partition. For a soft cluster: the sum over parts of the
        largest membership of an object of the part, minus the largest of all (Notes).
    n_features_in_ : int
        Number of partitions.

    See Also
    --------
    HBGF : the spectral relaxation of the same hypergraph.

    Notes
    -----
    An object missing in a partition, or noise there, is in none of its hyperedges. Objects with the
    same labels are one vertex, weighted by their number: they are never separated, so a part may have to
    be heavier than `balance` allows. O(n N K) time per pass.

    For soft members the literature has forms of CSPA, MCLA and HBGF [2]_, but not of HGPA: this form is new. A
    cluster with memberships p_i is a fuzzy set, and those with p_i >= t, at every level t, are
    a hyperedge. The connectivity minus one of these, where they are any, over all levels is::

        integral over t > 0 of (parts that {i : p_i >= t} meets - 1)+ dt
            = sum over parts of (max of p_i in the part) - max of all p_i,

    on labels the connectivity minus one. Memberships are rounded to tenths of the largest of their
    cluster, so that there are at most ten different hyperedges per cluster; their weights are the
    distances between the levels. Objects with the same rounded memberships are one vertex. Spectral
    starts embed the memberships themselves, as in :class:`HBGF`. O(10 n T K) time per pass.

    References
    ----------
    .. [1] A. Strehl and J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions", JMLR 3, 2002.
    .. [2] K. Punera and J. Ghosh, "Soft cluster ensembles", in Advances in Fuzzy Clustering and its
       Applications, 2007.

    Examples
    --------
    >>> from conclust import HGPA, Ensemble
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = HGPA(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_, model.objective_
    (array([0, 0, 1, 1]), 1.0)

    The third object belongs by 0.3 only to the cluster that is cut:

    >>> soft = [[[1, 0], [1, 0], [0.3, 0.7], [0, 1]], [[1, 0], [1, 0], [0, 1], [0, 1]]]
    >>> model = HGPA(n_clusters=2, random_state=0).fit(Ensemble.from_memberships(soft))
    >>> model.labels_, round(model.objective_, 6)
    (array([0, 0, 1, 1]), 0.3)
    """

    objective_: float = field(init=False)

    method = Method(
        title="Hypergraph partitioning algorithm",
        n_clusters="exact",
        membership=False,
        soft_members=True,
        cost="n N K",
        citation="Strehl and Ghosh 2002, JMLR 3",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    partitioner: Partitioner = "internal"
    balance: float = 0.05
    n_init: int = 10
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        total = float(ensemble.partition_weights.sum())
        ensemble = ensemble.reweighted(ensemble.relative_weights)
        edges = _hyperedges(ensemble)
        same = edges.same
        parts = partition_hypergraph(
            Hypergraph(
                sp.csr_array(edges.members[same.first]),
                edges.weights,
                same.masses,
                edges_of(ensemble).part(same.first).matrix(),
            ),
            min(self.n_clusters, len(same)),
            balance=self.balance,
            method=self.partitioner,
            n_init=self.n_init,
            random_state=self.random_state,
        )
        self.objective_ = parts.cut * (total / float(ensemble.partition_weights.sum()))
        return parts.labels[same.inverse]


@dataclass(frozen=True)
class _Hyperedges:
    """Incidence of objects and hyperedges (n, m), weights of hyperedges, and groups of identical objects."""

    members: sp.csr_array
    weights: Floats
    same: EqualRows


def _hyperedges(ensemble: Ensemble) -> _Hyperedges:
    """Return the clusters of all partitions, or the level sets of soft ones."""
    of_cluster = ensemble.column_weights
    B: sp.csr_array = ensemble.indicator
    if not ensemble.is_soft:
        noisy = ensemble.has_noise
        same = starting_clusters(ensemble, mute=True) if noisy else ensemble.distinct_rows()
        return _Hyperedges(B, of_cluster, same)
    highest = B.max(axis=0).toarray().ravel()  # a matrix of one row before SciPy 1.14
    levels = np.rint(_LEVELS * (B.data / highest[B.indices])).astype(np.uint8)
    rounded = sp.csr_array((levels, B.indices, B.indptr), shape=B.shape)
    members, cluster, share = level_sets(rounded)
    weights = of_cluster[cluster] * highest[cluster] * share
    return _Hyperedges(members, weights, EqualRows.of(rounded.toarray()))


def level_sets(levels: sp.csr_array) -> tuple[sp.csr_array, Ints, Floats]:
    """Return, for each cluster and level, the set of objects with at least this membership.

    `levels` (n, T) are memberships as whole numbers up to _LEVELS. Levels with the same objects make
    one set. Returns the sets as an indicator (n, m), the cluster of each set and its share of the
    levels, (m,).
    """
    n, T = levels.shape
    column, level = levels.indices, levels.data
    used_levels = np.zeros((T, _LEVELS + 1), dtype=np.bool_)
    used_levels[column, level] = True
    used_levels[:, 0] = False
    cluster, top = np.nonzero(used_levels)
    below = np.where(np.diff(cluster, prepend=-1) == 0, np.roll(top, 1), 0)
    first = np.searchsorted(cluster, np.arange(T))
    # An object is in the sets of its cluster from the lowest up to its own level.
    sets = np.cumsum(used_levels, axis=1)[column, level]
    ends = np.concatenate([[0], np.cumsum(sets)])
    indices = np.repeat(first[column] - ends[:-1], sets) + np.arange(ends[-1])
    members = sp.csr_array(
        (np.ones(len(indices)), indices, ends[levels.indptr]), shape=(n, len(cluster))
    )
    return members, cluster, (top - below) / _LEVELS
