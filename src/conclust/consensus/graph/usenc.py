"""U-SENC: ultra-scalable ensemble clustering, the transfer cut of the graph of objects and clusters."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

import numpy as np

from conclust._random import RandomStateLike, seed_sequence
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import ConsensusClusterer, Method
from conclust.consensus.graph.transfer import cut_of, transfer_cut
from conclust.consensus.method import NumberOfClusters
from conclust.ensemble import Ensemble
from conclust.spectra.bipartite import edges_of


@dataclass(eq=False, repr=False)
class USENC(ConsensusClusterer):
    """Ultra-scalable ensemble clustering: the transfer cut of the graph of objects and clusters.

    The consensus of U-SENC [1]_: objects are embedded by the leading eigenvectors of their graph with the
    clusters of all partitions, found on the side of the clusters [2]_, and divided by k-means. It is
    :class:`conclust.HBGF` with ``joint=False``. The paper's members come from spectral clustering on
    landmarks, 20 of 20 to 60 clusters: ``EnsembleGenerator("spectral", 20, n_clusters=range(20, 61))``.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. Fewer are found if objects cannot be distinguished.
        Required: ``fit`` refuses None.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the restarts.

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
        Leading singular values of the degree-normalised graph, falling from 1. Absent where all objects are
        noise.
    n_features_in_ : int
        Number of partitions.

    Warns
    -----
    EnsembleWarning
        If the graph falls into more components than `n_clusters`: the smallest are joined. See HBGF.

    See Also
    --------
    HBGF : the same, with the clusters among the points of k-means.
    LWGP : the same, with clusters weighed by their certainty.

    Notes
    -----
    Missing labels, noise, weights and soft members are read as by HBGF. O(n N^2 + T^3 + n N K) time for T
    clusters of all partitions; memory of the labels, of T^2 and of n numbers.

    References
    ----------
    .. [1] D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai and C.-K. Kwoh, "Ultra-scalable spectral clustering
       and ensemble clustering", IEEE Transactions on Knowledge and Data Engineering 32(6), 2020.
    .. [2] Z. Li, X.-M. Wu and S.-F. Chang, "Segmentation using superpixels: a bipartite graph
       partitioning approach", CVPR 2012.

    Examples
    --------
    >>> from conclust import USENC
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> USENC(n_clusters=2, random_state=0).fit(labels).labels_
    array([0, 0, 1, 1])
    """

    objective_: float = field(init=False)
    singular_values_: Floats = field(init=False)

    method = Method(
        title="Ultra-scalable ensemble clustering",
        n_clusters="exact",
        membership=False,
        soft_members="labels",
        cost="n N^2 + T^3",
        citation="Huang, Wang, Wu, Lai and Kwoh 2020, IEEE TKDE 32",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    random_state: RandomStateLike = None

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        seed = seed_sequence(self.random_state, "USENC")
        edges = edges_of(ensemble)
        labels = np.zeros(ensemble.n_samples, dtype=np.int64)
        if edges.sums().any():  # otherwise noise only: no two objects share a cluster
            labels, self.singular_values_ = transfer_cut(
                edges, self.n_clusters, seed, owner="USENC"
            )
        self.objective_ = cut_of(edges, labels)
        return labels
