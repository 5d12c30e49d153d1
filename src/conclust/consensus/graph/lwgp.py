"""LWGP: cuts the bipartite graph of objects and clusters, with clusters weighted by their certainty."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from conclust._parameters import Parameters, Range
from conclust._random import RandomStateLike, seed_sequence
from conclust._types import Bools, Ints
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.graph.transfer import cut_of, transfer_cut
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble, Missing
from conclust.similarity import cluster_certainty
from conclust.spectra.bipartite import edges_of


@dataclass(eq=False, repr=False)
class LWGP(ConsensusClusterer):
    """Locally weighted graph partitioning: edges from objects to certain clusters are stronger.

    Like :class:`conclust.HBGF` with ``joint=False``, but the weight of the edge between an object and a cluster is the
    cluster's certainty [1]_ (:func:`conclust.similarity.cluster_certainty`): 1 if the other partitions keep its objects
    together, and less the more they spread them. Nothing
    grows with the square of the number of objects.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. Fewer are found if objects cannot be distinguished.
        Required: ``fit`` refuses None.
    theta : float, default=None
        Positive. Small values reduce the influence of uncertain clusters; for large values the method becomes HBGF.
        None: 0.4, the paper's; with `normalized` 0.06.
    normalized : bool, default=False
        Whether the uncertainty of a cluster is divided by log2 of the number of clusters of its own
        partition: coarse partitions count less.
    n_init : int, default=10
        Restarts of k-means (on 5,000 of the objects; the best is finished on all).
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
    certainty_ : ndarray of shape (n_clusters_of_all_partitions,)
        Certainty of each cluster, in the order of ``Ensemble.indicator``.
    objective_ : float
        The cut: weight of the edges between an object and a cluster of different parts, every
        cluster being on the side of most of its objects.
    singular_values_ : ndarray of shape (at most n_clusters,)
        Leading singular values of the degree-normalised graph, falling from 1; a gap after the
        K-th one suggests K clusters. Empty if all objects are noise.
    n_features_in_ : int
        Number of partitions.

    See Also
    --------
    LWEA : the same weights, by average linkage.

    Warns
    -----
    EnsembleWarning
        If the graph falls into more components than `n_clusters`: the smallest are joined. See HBGF.

    Notes
    -----
    An object missing in a partition, or noise there, has no edge into it. Weights of the partitions
    are weights of the edges and count in the certainties; soft members count by their most probable clusters. O(n N^2 + T^3 + n N K) time for T clusters of all partitions, memory of the labels,
    of T^2 and of n numbers.

    References
    ----------
    .. [1] D. Huang, C.-D. Wang and J.-H. Lai, "Locally weighted ensemble clustering", IEEE
       Transactions on Cybernetics 48(5), 2018.

    Examples
    --------
    >>> from conclust import LWGP
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = LWGP(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.singular_values_.round(6)
    array([1.      , 0.963955])
    """

    method = Method(
        title="Locally weighted graph partitioning",
        n_clusters="exact",
        cost="n N^2 + T^3",
        citation="Huang, Wang and Lai 2018, IEEE TCYB 48",
        blocks="conclust.blocks.methods.transfer",
    )
    parameters: ClassVar[Parameters] = {"theta": Range(above=0)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    theta: float | None = None
    normalized: bool = False
    n_init: int = 10
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        seed = seed_sequence(self.random_state, "LWGP")
        self.certainty_ = cluster_certainty(ensemble, self.theta, normalized=self.normalized)
        edges = edges_of(ensemble, self.certainty_)
        labels, self.singular_values_ = transfer_cut(
            edges, self.n_clusters, seed, n_init=self.n_init, owner="LWGP"
        )
        self.objective_ = cut_of(edges, labels)
        return labels
