"""ECPCS: ensemble clustering by propagating similarities from cluster to cluster."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from conclust._random import RandomStateLike, generator, seed_sequence, spawn_sequences
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus.graph.kmeans import Points, kmeans_labels
from conclust.consensus.graph.mcla import associations_of
from conclust.consensus.linkage.constrained import TreeClusterer
from conclust.consensus.method import Method, NumberNeeded, NumberOfClusters
from conclust.ensemble import Ensemble
from conclust.similarity import trajectory_similarity
from conclust.spectra.transfer_cut import graph_embedding
from conclust.trees.clusterwise import cluster_tree, pairs_of, warn_of_unobserved

Consensus: TypeAlias = Literal["meta", "hierarchical"]

# Number of distinct rows up to which the linkage may use a matrix of all pairs.
_MATRIX_UP_TO = 20_000
# Added to the diagonal of the graph of clusters, and twice to the degrees, as the authors do.
_LOOP = 0.5


@dataclass(eq=False, repr=False)
class ECPCS(TreeClusterer):
    """Enhanced ensemble clustering by propagating cluster-wise similarities.

    Clusters are compared by random walks that start from them and visit the clusters of all partitions
    (:func:`conclust.similarity.trajectory_similarity`): two clusters without a common object are
    similar if they resemble the same other clusters [1]_. These similarities are used in one of two ways:

    - "meta": their normalised cut divides the clusters into meta-clusters, and an object goes to the
      meta-cluster with the largest share of clusters that hold it (ECPCS-MC).
    - "hierarchical": the similarity of two objects is the mean similarity of their clusters over the
      partitions, and average linkage works on 1 minus that (ECPCS-HC).

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K, or of meta-clusters, some of which may be the largest share of no object. None: the
        one with the longest lifetime in the dendrogram, chosen as by LWEA; "meta" requires a number.
    consensus : {"meta", "hierarchical"}, default="meta"
        Consensus step that uses the similarities.
    n_steps : int, default=20
        Length of the walks.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    meta_clusters_ : ndarray of int64 of shape (n_clusters_of_all_partitions,)
        Meta-cluster of every cluster, in the order of ``Ensemble.indicator``, consecutive from 0; -1
        for clusters of partitions without weight. Only with "meta".
    linkage_matrix_ : ndarray of shape (n_observed - 1, 4)
        The dendrogram in SciPy's form. Only with ``consensus="hierarchical"``.
    lifetimes_ : ndarray of shape (n_observed - 1,)
        Entry k is the lifetime of k + 2 clusters. Only with ``consensus="hierarchical"``.
    n_features_in_ : int
        Number of partitions.

    Warns
    -----
    EvidenceWarning
        Pairs of objects that no partition observed together count as dissimilarity 1 in linkage.
    EnsembleWarning
        All partitions have the same number of clusters, but a larger number has the longest lifetime.

    See Also
    --------
    MCLA : the same vote after a balanced cut of the Jaccard similarities themselves.

    Notes
    -----
    Missing labels: clusters are compared over the objects that both partitions observed, and shares
    are over the clusters of partitions that observed the object. Noise is observed, but in no cluster.
    Weights of the partitions multiply walks, cut and shares; soft members count by their most probable clusters. A partition of
    weight 2 counts as two copies in cut and shares, but not in walks, which lead to other partitions: between copies,
    they would go back and forth.
    O(n N^2 + T^3) time for T clusters of all partitions, memory of the labels, T^2 and n K for "meta";
    linkage takes a further O(n^2 N) time, for n distinct rows, and no matrix of them. It weights pairs by the number of
    partitions that observed both.

    References
    ----------
    .. [1] D. Huang, C.-D. Wang, H. Peng, J. Lai and C.-K. Kwoh, "Enhanced ensemble clustering via fast
       propagation of cluster-wise similarities", IEEE TSMC: Systems 51(1), 2021.

    Examples
    --------
    >>> from conclust import ECPCS
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = ECPCS(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> ECPCS(consensus="hierarchical").fit(labels).linkage_matrix_[:, 2].round(4)
    array([0.    , 0.0585, 0.2005])
    """

    meta_clusters_: Ints = field(init=False)

    method = Method(
        title="Ensemble clustering by propagating cluster-wise similarities",
        n_clusters="exact",
        fewer=True,
        cost="n N^2 + T^3",
        citation="Huang, Wang, Peng, Lai and Kwoh 2021, IEEE TSMC 51",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    consensus: Consensus = "meta"
    n_steps: int = 20
    random_state: RandomStateLike = None

    def _number_needed(self) -> NumberNeeded:
        return "optional" if self.consensus == "hierarchical" else "exact"

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        seed = seed_sequence(self.random_state, "ECPCS")
        R = trajectory_similarity(ensemble, n_steps=self.n_steps)
        if self.consensus == "hierarchical":
            warn_of_unobserved(ensemble, _MATRIX_UP_TO)
            pairs = pairs_of(ensemble, R)
            tree = cluster_tree(pairs, "average", max_dense=_MATRIX_UP_TO, owner="ECPCS")
            return self._cut_tree(tree, ensemble)
        meta = self._group_clusters(ensemble, R, seed)
        if meta.shape[1] == 0:
            return np.zeros(ensemble.n_samples, dtype=np.int64)
        shares = associations_of(ensemble, meta)
        return np.asarray(shares.argmax(axis=1))

    def _group_clusters(
        self, ensemble: Ensemble, R: Floats, seed: np.random.SeedSequence
    ) -> Floats:
        """Partition the clusters; return the weight of each in its meta-cluster, (T, n_parts)."""
        weights = ensemble.column_weights
        self.meta_clusters_ = np.full(len(weights), -1, dtype=np.int64)
        weighted = np.flatnonzero(weights > 0)
        if len(weighted) == 0:  # noise only: no two objects share a cluster
            return np.zeros((len(weights), 0))
        parts = _normalized_cut(
            R[np.ix_(weighted, weighted)], weights[weighted], self.n_clusters, seed
        )
        # A part that k-means left empty has no share.
        part_numbers, parts = np.unique(parts, return_inverse=True)
        self.meta_clusters_[weighted] = parts
        meta = np.zeros((len(weights), len(part_numbers)))
        meta[weighted, parts] = weights[weighted]
        return meta


def _normalized_cut(R: Floats, weights: Floats, k: int, seed: np.random.SeedSequence) -> Ints:
    """Partition clusters by their similarities; one of weight 2 counts as two of weight 1."""
    mass = weights / weights.mean()
    embedding, starts = spawn_sequences(seed, 2)
    k = min(k, len(R))
    with one_library_thread():
        graph = R * mass[:, None] * mass
        rows = graph_embedding(graph, k, generator(embedding), loops=_LOOP * mass)
        return kmeans_labels(Points(rows, mass), k, starts)
