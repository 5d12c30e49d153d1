"""HGPA: hypergraph partitioning algorithm."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._random import RandomStateLike
from conclust._validation import check_int, check_option, check_real
from conclust.consensus.base import ConsensusClusterer, Method
from conclust.consensus.graph.hbgf import edge_weights
from conclust.consensus.graph.partition import partition_hypergraph
from conclust.consensus.linkage.agglomeration import starting_clusters
from conclust.ensemble import Ensemble

__all__ = ["HGPA"]


class HGPA(ConsensusClusterer):
    """Hypergraph partitioning: every cluster is a hyperedge, and few of them are cut.

    The objects are cut into `n_clusters` parts of about equal size so that the clusters of the
    partitions meet few parts: the connectivity minus one is made small [1]_.

    .. warning::
       A hyperedge that one stray object leaves costs as much as one cut in half. Under label noise
       every cluster meets every part whatever the parts are, and the criterion says nothing: use
       :class:`HBGF`, :class:`MCLA` or :class:`PCC` for anything but comparison.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of parts, K.
    partitioner : {"internal", "mtkahypar"}, default="internal"
        "internal": spectral and random starts, capacities, Fiduccia-Mattheyses refinement.
        "mtkahypar": the deterministic preset of Mt-KaHyPar (extra ``hypergraph``:
        ``pip install 'conclust[hypergraph]'``); its seed and its one thread are process-wide.
    balance : float, default=0.05
        How many more objects than the mean a part may have. That clusters are about equally large is
        an assumption of the model: where it is wrong, large clusters are split and small ones joined.
    n_init : int, default=10
        Starts; the lowest connectivity is kept.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 means in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters; fewer than K where there are fewer distinct rows of labels.
    objective_ : float
        Connectivity minus one: sum over the clusters of all partitions of (parts that its objects are
        in - 1), times the weight of its partition.
    n_features_in_ : int
        Number of partitions.

    See Also
    --------
    HBGF : the spectral relaxation of the same hypergraph.

    Notes
    -----
    An object missing in a partition, or noise there, is in none of its hyperedges. Objects with the
    same labels are one vertex, of their number's weight: they are never separated, and a part may be
    heavier than `balance` says by what that makes unavoidable. Soft members are refused: a
    hyperedge holds an object or does not. O(n N K) time a pass.

    References
    ----------
    .. [1] A. Strehl and J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions", JMLR 3, 2002.

    Examples
    --------
    >>> from conclust import HGPA
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = HGPA(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_, model.objective_
    (array([0, 0, 1, 1]), 1.0)
    """

    objective_: float

    method = Method(
        title="Hypergraph partitioning algorithm",
        n_clusters="exact",
        membership=False,
        missing=True,
        weights=True,
        soft_members=False,
        cost="n N K",
        citation="Strehl and Ghosh 2002, JMLR 3",
    )

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        partitioner: str = "internal",
        balance: float = 0.05,
        n_init: int = 10,
        missing: str = "unobserved",
        random_state: RandomStateLike = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.balance = balance
        self.n_init = n_init
        self.missing = missing
        self.random_state = random_state

    def _check_parameters(self, ensemble: Ensemble) -> None:
        check_int(self.n_clusters, "n_clusters", "HGPA", high=ensemble.n_samples)
        check_option(self.partitioner, "partitioner", "HGPA", ("internal", "mtkahypar"))
        check_real(self.balance, "balance", "HGPA")
        check_int(self.n_init, "n_init", "HGPA")

    def _fit(self, ensemble: Ensemble) -> NDArray[np.int64]:
        same = starting_clusters(ensemble)
        H = edge_weights(ensemble)[same.representatives]
        weights = ensemble.weights
        if weights is None:
            weights = np.ones(ensemble.n_partitions)
        of_cluster = np.repeat(weights, ensemble.cluster_counts)
        found = partition_hypergraph(
            sp.csr_array(H),
            min(self.n_clusters, len(same)),
            edge_weights=of_cluster,
            vertex_weights=same.counts.astype(np.float64),
            balance=self.balance,
            method=self.partitioner,
            n_init=self.n_init,
            random_state=self.random_state,
        )
        self.objective_ = found.cut
        return found.labels[same.inverse]
