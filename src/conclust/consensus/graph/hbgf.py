"""HBGF: hybrid bipartite graph formulation."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy.sparse as sp

from conclust._random import RandomStateLike, seed_sequence
from conclust._types import Bools, Ints
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.graph.partition import Partitioner, partition_graph
from conclust.consensus.graph.transfer import cut_of, transfer_cut
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble, Missing
from conclust.spectra.bipartite import edges_of


@dataclass(eq=False, repr=False)
class HBGF(ConsensusClusterer):
    """Hybrid bipartite graph formulation: objects and clusters are cut together.

    Objects and the clusters of all partitions are the vertices of a bipartite graph, whose edges join each object to the
    clusters that it is in [1]_. The graph is cut into `n_clusters` parts; the parts of the objects are the consensus. The
    spectral cut embeds both kinds of vertices by the leading
    singular vectors of the degree-normalised indicator, scales the rows to unit length and runs
    k-means on all of them; nothing grows with the square of the number of objects.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of parts, K. Fewer clusters are found if objects cannot be distinguished.
        Required: ``fit`` refuses None.
    partitioner : {"spectral", "internal"}, default="spectral"
        "spectral": eigenvectors of the graph and k-means on them, without balance. "internal": spectral
        start, then parts of equal numbers of objects (up to `balance`) refined by Fiduccia-Mattheyses.
    joint : bool, default=True
        Spectral only. True: k-means on objects and clusters, as published. False: on the objects
        only, scaled as in the transfer cut [2]_: that is the consensus of U-SENC [3]_.
    balance : float, default=0.05
        Tolerated excess of objects in a part over the mean, as a share of the mean; unused by the spectral cut. That
        clusters have about equal sizes is an assumption of the model: if it is wrong, the balanced
        partitioners split large clusters and join small ones.
    n_init : int, default=10
        Restarts of k-means (on 5,000 of the objects; the best is finished on all), or starts of the
        partitioner.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the restarts.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    objective_ : float
        The cut: weight of the edges between an object and a cluster of different parts, every
        cluster being on the side of most of its objects.
    singular_values_ : ndarray of shape (at most n_clusters,)
        Leading singular values of the degree-normalised indicator, falling from 1; a gap after the
        K-th one suggests K clusters. Only after the spectral cut.
    n_features_in_ : int
        Number of partitions.

    See Also
    --------
    MCLA : cuts the graph of clusters only.
    CSPA : cuts the graph of objects only.

    Warns
    -----
    EnsembleWarning
        If the graph falls into more components than `n_clusters`: the smallest are joined.

    Notes
    -----
    Components of the graph (objects that no chain of shared clusters connects) are separated first: each is divided on its own,
    into one part for each of its singular values among the K leading ones overall.

    An object missing in a partition, or noise there, has no edge into it; degrees are normalised, so
    that it counts by the edges it has. An object that is noise everywhere is an isolated vertex,
    embedded at the origin. Weights of the partitions are weights of the edges; soft members count by their most probable
    clusters. O(n N^2 + T^3 + n N K) time, or O(n N) per Lanczos step for more than 4,096 clusters; memory for the labels, T^2
    and n numbers, because objects are embedded in blocks.

    References
    ----------
    .. [1] X. Z. Fern and C. E. Brodley, "Solving cluster ensemble problems by bipartite graph
       partitioning", ICML 2004.
    .. [2] Z. Li, X.-M. Wu and S.-F. Chang, "Segmentation using superpixels: a bipartite graph
       partitioning approach", CVPR 2012.
    .. [3] D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai and C.-K. Kwoh, "Ultra-scalable spectral clustering
       and ensemble clustering", IEEE Transactions on Knowledge and Data Engineering 32(6), 2020.

    Examples
    --------
    >>> from conclust import HBGF
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = HBGF(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_, model.objective_
    (array([0, 0, 1, 1]), 1.0)
    >>> model.singular_values_.round(6)
    array([1.      , 0.905065])
    """

    method = Method(
        title="Hybrid bipartite graph formulation",
        n_clusters="exact",
        fewer=True,
        cost="n N^2 + T^3",
        citation="Fern and Brodley 2004, ICML; Huang, Wang, Wu, Lai and Kwoh 2020, IEEE TKDE 32",
        blocks="conclust.blocks.methods.transfer",
        use="there are millions of objects",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    partitioner: Partitioner = "spectral"
    joint: bool = True
    balance: float = 0.05
    n_init: int = 10
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        edges = edges_of(ensemble)
        if not edges.sums().any():  # noise only: no two objects share a cluster
            labels = np.zeros(ensemble.n_samples, dtype=np.int64)
        elif self.partitioner == "spectral":
            seed = seed_sequence(self.random_state, "HBGF")
            labels, self.singular_values_ = transfer_cut(
                edges, self.n_clusters, seed, n_init=self.n_init, owner="HBGF", joint=self.joint
            )
        else:
            labels = self._balanced(edges.matrix())
        self.objective_ = cut_of(edges, labels)
        return labels

    def _balanced(self, edges: sp.csr_array) -> Ints:
        n, T = edges.shape
        # Clusters go to the part where they are cut least; only objects count towards the balance.
        weights = np.concatenate([np.ones(n), np.zeros(T)])
        cut = partition_graph(
            sp.block_array([[None, edges], [edges.T, None]], format="csr"),
            self.n_clusters,
            balance=self.balance,
            method=self.partitioner,
            vertex_weights=weights,
            n_init=self.n_init,
            random_state=self.random_state,
        )
        return cut.labels[:n]
