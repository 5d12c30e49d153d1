"""GP-MGLA: a graph of objects and clusters in which clusters are also tied to each other."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from conclust._arrays.rows import inverse_or_zero
from conclust._parameters import Parameters, Range
from conclust._progress import stage
from conclust._random import RandomStateLike, seed_sequence
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.graph.transfer import cut_of, part_objects
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import within_range
from conclust.similarity import common_neighbours
from conclust.similarity.jaccard import check_square
from conclust.spectra.bipartite import Edges, edges_of
from conclust.spectra.transfer_cut import ClusterSide, numbered_components, transfer_cut_of_products
from conclust.weighting.weights import crowd_weights


@dataclass(eq=False, repr=False)
class GPMGLA(ConsensusClusterer):
    """Graph partitioning with multi-granularity link analysis: clusters are linked by common neighbours.

    A graph with three kinds of edges is cut [1]_. Each object is linked to its clusters, with `alpha` times the weight of the
    partition: its crowd agreement to the power `beta`, as in :class:`conclust.WEAC`. Each cluster is linked to itself and to
    other clusters by their overlap with the same clusters
    (:func:`conclust.similarity.common_neighbours`), so that clusters of different partitions, and objects that no
    partition puts together, are connected through others.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. Fewer are found if objects cannot be distinguished.
        Required: ``fit`` refuses None.
    alpha : float, default=0.5
        Weight of the edges of objects relative to those of clusters; positive.
    beta : float, default=2.0
        Exponent of the agreement of partitions; at least 0.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the restarts.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    weights_ : ndarray of shape (n_partitions,)
        Weight of each partition, multiplied by those of the ensemble if it has any.
    objective_ : float
        The cut: weight of the edges between an object and a cluster of different parts, every
        cluster being on the side of most of its objects.
    singular_values_ : ndarray of shape (at most n_clusters,)
        Leading singular values of the degree-normalised graph, falling from 1. Absent where all
        objects are noise.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If a matrix of all pairs of the clusters of all partitions is too large.

    Warns
    -----
    EnsembleWarning
        If the graph has more components than `n_clusters`; the smallest are then joined. See HBGF.

    See Also
    --------
    HBGF : without ties between clusters.
    LWGP : clusters weighed by their certainty.

    Notes
    -----
    An object missing in a partition, or noise there, has no edge into it. Clusters are part of the graph, but not of the
    k-means on its embedding. O(n N^2 + T^3) time for T clusters of all partitions, memory of
    n N and T^2 numbers.

    References
    ----------
    .. [1] D. Huang, J.-H. Lai and C.-D. Wang, "Combining multiple clusterings via crowd agreement
       estimation and multi-granularity link analysis", Neurocomputing 170, 2015.

    Examples
    --------
    >>> from conclust import GPMGLA
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = GPMGLA(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_
    array([0, 0, 1, 1])
    """

    method = Method(
        title="Graph partitioning with multi-granularity link analysis",
        n_clusters="exact",
        soft_members=False,
        cost="n N^2 + T^3",
        citation="Huang, Lai and Wang 2015, Neurocomputing 170",
    )
    parameters: ClassVar[Parameters] = {"alpha": Range(above=0)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    alpha: float = 0.5
    beta: float = 2.0
    random_state: RandomStateLike = None

    def _check_parameters(self, ensemble: Ensemble) -> None:
        check_square(ensemble, "The ties of GPMGLA")

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        seed = seed_sequence(self.random_state, "GPMGLA")
        self.weights_ = crowd_weights(ensemble, self.beta)
        weighed = ensemble.reweighted(within_range(self.weights_ / self.weights_.max()))
        edges = edges_of(weighed, np.full(len(ensemble.column_weights), self.alpha))
        labels = np.zeros(ensemble.n_samples, dtype=np.int64)
        if edges.sums().any():  # otherwise all objects are noise: no two share a cluster
            with one_library_thread():
                side = _cut(edges, _ties(weighed), self.n_clusters)
                labels = part_objects(edges, side, self.n_clusters, seed, owner="GPMGLA")
            self.singular_values_ = side.values
        self.objective_ = cut_of(edges, labels)
        return labels


def _ties(ensemble: Ensemble) -> Floats:
    """Return the ties between clusters (T, T); those of partitions without weight have none."""
    stage("ties between clusters")
    ties = common_neighbours(ensemble)
    absent = ensemble.column_weights == 0
    ties[absent] = 0.0
    ties[:, absent] = 0.0
    return ties


def _cut(edges: Edges, ties: Floats, k: int) -> ClusterSide:
    """Return the clusters' side of the graph whose rows are the objects, then the clusters."""
    stage("embedding of the graph")
    inner = edges.inner(inverse_or_zero(edges.times(np.ones(edges.shape[1]))))
    inner += ties.T @ (ties * inverse_or_zero(ties.sum(axis=1))[:, None])
    degrees = edges.sums() + ties.sum(axis=0)
    return transfer_cut_of_products(
        inner, degrees, k, lambda: numbered_components(sp.csr_array(ties), degrees)
    )
