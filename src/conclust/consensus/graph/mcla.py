"""MCLA: meta-clustering algorithm."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._arrays.rows import ratio, shares_of_rows
from conclust._random import RandomStateLike
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import PlacingClusterer
from conclust.consensus.graph.partition import Partitioner, partition_graph
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble, Missing
from conclust.ensemble.labels import indicator_of, missing_code, over_partitions
from conclust.similarity import cluster_jaccard
from conclust.spectra.gram import IndicatorProducts

# Up to this number of clusters times meta-clusters all starts are run. Above it a start is slow, and the cuts of
# starts differ by less than 0.3 %.
_ALL_STARTS = 8_000


@dataclass(eq=False, repr=False)
class MCLA(PlacingClusterer):
    """Meta-clustering: similar clusters are merged, and objects go to their strongest association.

    The clusters of all partitions are vertices; their Jaccard similarities are the weights of the
    edges. The graph is cut into `n_clusters` meta-clusters [1]_. An object's association with a
    meta-cluster is the share of the meta-cluster's clusters that hold it; the object goes to its
    highest association.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of meta-clusters, K. Fewer clusters are found if a meta-cluster is the strongest
        association of no object, or if all partitions together have fewer clusters.
        Required: ``fit`` refuses None.
    partitioner : {"internal", "spectral"}, default="internal"
        "internal": spectral start, capacities, Fiduccia-Mattheyses refinement. "spectral": the
        spectral start alone, without balance.
    n_init : int, default=10
        Number of starts of the partitioner; the lowest cut is kept. It is reduced in proportion, but not below 1,
        if T x K, the clusters of all partitions times `n_clusters`, is more than 8,000.
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
    membership_ : ndarray of shape (n_samples, n_held)
        Associations, scaled to sum to 1; uniform for objects in no cluster. A column for each
        meta-cluster that is not empty; the clusters of ``labels_`` come first.
    n_clusters_ : int
        Number of clusters.
    objective_ : float
        The cut: Jaccard similarity between clusters of different meta-clusters, each pair weighted
        by the product of the weights of its partitions.
    meta_clusters_ : ndarray of int64 of shape (T,)
        Meta-cluster (column of ``membership_``) of every cluster of every partition, in the order of
        :attr:`conclust.Ensemble.indicator`; -1 for clusters of partitions without weight, and where
        a meta-cluster holds nothing.
    n_features_in_ : int
        Number of partitions.

    See Also
    --------
    HBGF : cuts objects and clusters together.

    Notes
    -----
    The internal partitioner allows a meta-cluster 5 % more clusters than the mean. Balance is an assumption of the model: it
    holds for large and small meta-clusters alike if every partition has about one cluster in each. The authors' program
    balances the numbers of objects, which suits only meta-clusters of about equal size.
    Missing labels: the Jaccard similarity of two clusters is taken over the objects that both
    partitions observed, and the association over the partitions that observed the object. Noise is
    observed, and in no cluster: it lowers all associations alike. Ties go to the meta-cluster that
    comes first. A partition of weight 2 counts as two copies whose clusters stay together: the cut, its balance and the
    associations are the same, but the search may end in another cut. Soft members: the similarity is the extended Jaccard x'y / (x'x + y'y - x'y) (sMCLA
    [2]_), which on hard labels is the Jaccard similarity. The mean, not the sum, over the clusters is
    taken, so that large meta-clusters have no advantage. O(n N^2 + T^2 K) time; memory of the labels
    and T^2.

    References
    ----------
    .. [1] A. Strehl and J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions", JMLR 3, 2002.
    .. [2] K. Punera and J. Ghosh, "Soft cluster ensembles", in Advances in Fuzzy Clustering and its
       Applications, 2007.

    Examples
    --------
    >>> from conclust import MCLA
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = MCLA(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.membership_.round(4)
    array([[1.    , 0.    ],
           [1.    , 0.    ],
           [0.3333, 0.6667],
           [0.    , 1.    ]])
    >>> model.predict([[1, 0, 1]])
    array([1])
    """

    meta_clusters_: Ints = field(init=False)

    method = Method(
        title="Meta-clustering algorithm",
        n_clusters="exact",
        fewer=True,
        membership=True,
        soft_members=True,
        cost="n N^2 + T^2 K",
        citation="Strehl and Ghosh 2002, JMLR 3",
        use="clusterings have about the number of clusters that you want",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    partitioner: Partitioner = "internal"
    n_init: int = 10
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        meta = self._group_clusters(ensemble, self.random_state)
        return associations_of(ensemble, meta)

    def _group_clusters(self, ensemble: Ensemble, random_state: RandomStateLike) -> Floats:
        """Partition the clusters; return the weight of each in its meta-cluster (T, k)."""
        of_cluster = ensemble.column_weights
        T = len(of_cluster)
        nonempty = np.flatnonzero(of_cluster > 0)
        self.meta_clusters_ = np.full(T, -1, dtype=np.int64)
        self.objective_ = 0.0
        k = max(1, min(self.n_clusters, len(nonempty)))
        if len(nonempty):
            similarity = cluster_jaccard(ensemble)[nonempty][:, nonempty]
            scale = sp.diags_array(of_cluster[nonempty])
            groups = partition_graph(
                scale @ similarity @ scale,
                k,
                method=self.partitioner,
                vertex_weights=of_cluster[nonempty],
                n_init=_starts(self.n_init, len(nonempty) * k),
                random_state=random_state,
            )
            self.meta_clusters_[nonempty] = groups.labels
            self.objective_ = groups.cut
        meta = np.zeros((T, k))
        meta[nonempty, self.meta_clusters_[nonempty]] = of_cluster[nonempty]
        self._meta, self._offsets = meta, ensemble.offsets
        return meta

    def _keep_clusters(self, clusters: Ints) -> None:
        place = np.full(self._meta.shape[1], -1)
        place[clusters] = np.arange(len(clusters))
        self._meta = self._meta[:, clusters]
        assigned = self.meta_clusters_ >= 0
        self.meta_clusters_[assigned] = place[self.meta_clusters_[assigned]]

    def _fits(self, counts: Ints) -> bool:
        same = np.array_equal(self._offsets, starts_of(counts))
        return same and holds(self._meta, counts.sum(), self.membership_.shape[1])

    def _place(self, codes: NDArray[Any]) -> Floats:
        masses = np.asarray(indicator_of(codes, self._offsets) @ self._meta)
        present = codes != missing_code(codes.dtype)
        return _associations(masses, present, self._meta, self._offsets)


def _starts(n_init: int, size: int) -> int:
    """Return the number of starts; `size` is the number of clusters times meta-clusters."""
    return max(1, math.ceil(n_init * min(1.0, _ALL_STARTS / size)))


def _associations(masses: Floats, present: Bools | None, meta: Floats, offsets: Ints) -> Floats:
    """Return the share of each meta-cluster's clusters that hold each object, scaled to sum to 1.

    Parameters
    ----------
    masses : ndarray of shape (n, k)
        Product of the indicator and `meta`.
    present : ndarray of bool of shape (n, N), default=None
        Objects that each partition observed. None: all.
    meta : ndarray of shape (T, k)
        Weight of each cluster in its meta-cluster.
    offsets : ndarray of shape (N + 1,)
        First cluster of each partition.
    """
    clusters = over_partitions(meta, offsets)
    if present is None:
        could: Floats = clusters.sum(axis=0)[None, :]
    else:
        could = present.astype(np.float64) @ clusters
    return shares_of_rows(ratio(masses, could))


def associations_of(ensemble: Ensemble, meta: Floats) -> Floats:
    """Return the share of each meta-cluster's clusters that hold each object, scaled to sum to 1."""
    present = ensemble.present if ensemble.has_missing else None
    masses = IndicatorProducts.of(ensemble).times(meta)
    return _associations(masses, present, meta, ensemble.offsets)
