"""MultiEAC and WeightedEAC: evidence of stable clusters, and of valid partitions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from conclust._arrays.containers import number_array
from conclust._arrays.rows import ratio
from conclust._parameters import Parameters, Range
from conclust._random import RandomStateLike
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_dense
from conclust.consensus.linkage.constrained import TreeClusterer
from conclust.consensus.linkage.eac import EAC
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.suitability import warn_of_misfit
from conclust.ensemble import DistinctRows, Ensemble, Missing
from conclust.ensemble.derived import within_range
from conclust.ensemble.labels import over_clusters
from conclust.exceptions import InputError
from conclust.similarity.jaccard import jaccard_blocks
from conclust.trees.agglomeration import (
    Linkage,
    cluster_dissimilarities,
    linkage_of,
    starting_clusters,
    unobserved_pairs,
)
from conclust.trees.clusterwise import ClusterTree, ObjectPairs, cluster_tree, warn_of_pairs
from conclust.weighting import agreement_weights, validity_weights

ClusterWeights: TypeAlias = Literal["stable", "jaccard"]

_SILENT = "has {} in clusters of positive weight"


def cluster_stability(ensemble: Ensemble) -> Floats:
    """Measure how well each cluster is recovered in the other partitions.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions, hard or soft.

    Returns
    -------
    ndarray of shape (n_clusters_of_all_partitions,)
        In the order of ``Ensemble.indicator``: the mean, over the other partitions and by their
        weights, of the largest Jaccard index (objects shared / objects in either) with one of
        their clusters, among the objects that both partitions observed. Partitions that observed none of
        the cluster's objects do not count; 1 where none counts.

    Examples
    --------
    >>> from conclust import Ensemble
    >>> from conclust.consensus.linkage import cluster_stability
    >>> cluster_stability(Ensemble([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])).round(3)
    array([0.833, 0.75 , 0.833, 0.75 , 0.667, 0.5  ])
    """
    partition_of = ensemble.column_partitions
    best = np.zeros((len(partition_of), ensemble.n_partitions))
    for _, cluster, other, similarity in jaccard_blocks(ensemble):
        np.maximum.at(best, (cluster, partition_of[other]), similarity)
    weights_given = (ensemble.observed_sizes > 0) * ensemble.partition_weights
    weights_given[np.arange(len(partition_of)), partition_of] = 0.0
    return ratio((best * weights_given).sum(axis=1), weights_given.sum(axis=1), 1.0)


@dataclass(eq=False, repr=False)
class MultiEAC(TreeClusterer):
    r"""Multi-criteria evidence accumulation: clusters are weighted by their stability.

    Like :class:`conclust.EAC`, but each cluster of a partition has its own weight, given by its stability.
    Two objects in one cluster c are together with the weight w_c; two objects in different clusters c
    and d of a partition are apart with the weight sqrt(w_c w_d):

    .. math::

        p_{ij} = \frac{\sum_{\text{clusters } c \text{ of both}} w_c}{\sum_u \sqrt{w_{c_u(i)}\, w_{c_u(j)}}}

    With weights 0 and 1 this is EAC with the labels of unstable clusters missing: a partition counts
    for pairs with both objects in stable clusters.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, at most the number of objects. None: the one with the longest lifetime
        in the dendrogram, from 2 on; the smallest number if tied. If all partitions (three or
        more) have K clusters, at most K.
    cluster_weights : {"jaccard", "stable"} or array-like of shape (n_clusters_of_all_partitions,), default="jaccard"
        "jaccard": how well each cluster is found again in the other partitions, the mean of its best Jaccard index in
        each (:func:`conclust.consensus.linkage.cluster_stability`). "stable": 1 if that exceeds `threshold`, otherwise 0; if
        little is stable, this leaves pairs without evidence. An array: the user's own weights, at least 0, in the
        order of ``Ensemble.indicator`` (cluster after cluster by first appearance, partition after partition).
    threshold : float, default=0.5
        For "stable", in [0, 1].
    linkage : {"single", "average", "complete", "ward"}, default="average"
        Dissimilarity of two clusters, on 1 - p; Ward on sqrt(1 - p).
    max_dense : int, default=20000
        Maximum number of distinct rows of labels for which a matrix of all pairs is made. For more, single linkage
        computes similarities row by row, in memory of the size of the labels.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    cluster_weights_ : ndarray of shape (n_clusters_of_all_partitions,)
        The weights used.
    linkage_matrix_ : ndarray of shape (n_observed - 1, 4)
        The dendrogram in SciPy's form.
    lifetimes_ : ndarray of shape (n_observed - 1,)
        Entry k is the lifetime of k + 2 clusters.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If there are more than `max_dense` distinct rows of labels, except with single linkage.

    Warns
    -----
    EvidenceWarning
        Pairs of objects without evidence count as dissimilarity 1.
    EnsembleWarning
        If many partitions have nearly all objects in one cluster, which is stable and merges everything.
        All partitions have the same number of clusters, but a larger number has the longest lifetime.

    Notes
    -----
    The paper takes stability from clusterings of perturbed data, for each algorithm and number of
    clusters; here the partitions of the ensemble judge each other, which needs no data. Stabilities found in the
    paper's way are given as `cluster_weights`.

    A noise object is in no cluster and observed with full weight: apart from all. Weights of the
    partitions multiply the weights of their clusters. A partition of weight 2 is not the same as two copies: its
    stability is that in the other partitions, and copies recover each other. O(n^2 N) time, 8 n^2 bytes, for n distinct
    rows.

    References
    ----------
    A. L. N. Fred and A. K. Jain, "Learning pairwise similarity for data clustering", ICPR 2006.

    Examples
    --------
    >>> from conclust import MultiEAC
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = MultiEAC(n_clusters=2, cluster_weights="stable").fit(labels)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.cluster_weights_
    array([1., 1., 1., 1., 1., 0.])
    """

    cluster_weights_: Floats = field(init=False)

    method = Method(
        title="Multi-criteria evidence accumulation",
        n_clusters="optional",
        cost="n^2 N",
        citation="Fred and Jain 2006, ICPR",
    )
    parameters: ClassVar[Parameters] = {"threshold": Range(at_most=1)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    cluster_weights: ClusterWeights | ArrayLike = "jaccard"
    threshold: float = 0.5
    linkage: Linkage = "average"
    max_dense: int = 20000
    missing: Missing = "unobserved"
    verbose: int = 0

    def _review(self, ensemble: Ensemble, labels: Ints) -> None:
        warn_of_misfit(ensemble, None, "MultiEAC")

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        self.cluster_weights_ = self._weights(ensemble)
        cluster_weights = _weights_given(ensemble, self.cluster_weights_)
        start = starting_clusters(ensemble)
        if len(start) <= self.max_dense:
            with one_library_thread():
                D, silent = cluster_dissimilarities(
                    ensemble, self.cluster_weights_, cluster_weights, start
                )
            tree = ClusterTree(linkage_of(D, start, self.linkage))
            warn_of_pairs(silent, _SILENT)
        else:
            tree = ClusterTree(self._by_rows(ensemble, cluster_weights, start))
        return self._cut_tree(tree, ensemble)

    def _by_rows(self, ensemble: Ensemble, cluster_weights: Floats, start: DistinctRows) -> Floats:
        """Return the single-linkage tree without a matrix of all pairs.

        p = b_i' W b_j / z_i' z_j with the weights of clusters W and z the roots of those of partitions. A
        mean of such ratios is not a ratio of sums, which is all that average linkage by rows can find.
        """
        if self.linkage != "single":
            needs = f"MultiEAC with linkage={self.linkage!r} needs a matrix of"
            instead = "linkage='single', or LWEA, which weighs clusters by their certainty"
            check_dense(len(start), self.max_dense, needs, instead)
        scale = ensemble.partition_weights / (ensemble.partition_weights.max() or 1.0)
        roots = np.sqrt(cluster_weights * scale)
        W = sp.csr_array(
            sp.diags_array(self.cluster_weights_ * over_clusters(scale, ensemble.offsets))
        )
        rows = sp.csr_array(ensemble.indicator[start.first])
        pairs = ObjectPairs(start, rows, W, roots[start.first], np.ones(len(start)))
        tree = cluster_tree(pairs, "single", max_dense=self.max_dense, owner="MultiEAC").matrix
        present = cluster_weights > 0
        warn_of_pairs(unobserved_pairs(ensemble, max_rows=self.max_dense, present=present), _SILENT)
        return tree

    def _weights(self, ensemble: Ensemble) -> Floats:
        if isinstance(self.cluster_weights, str):
            stability = cluster_stability(ensemble)
            if self.cluster_weights == "jaccard":
                return stability
            return (stability > self.threshold).astype(np.float64)
        total = int(ensemble.offsets[-1])
        weights = number_array(self.cluster_weights, "The cluster_weights of MultiEAC")
        if weights.shape != (total,) or not np.isfinite(weights).all() or (weights < 0).any():
            raise InputError(
                f"The cluster_weights of MultiEAC must be one number at least 0 for each of the {total} "
                f"clusters of all partitions, shape ({total},). Got shape {weights.shape} instead, or "
                "values that are negative or not finite."
            )
        return weights


def _weights_given(ensemble: Ensemble, cluster_weights: Floats) -> Floats:
    """Return the weight of the cluster that each partition has each object in (n, N); 1 for noise."""
    m = ensemble.n_partitions
    T = int(ensemble.offsets[-1])
    columns = (np.arange(T), ensemble.column_partitions)
    blocks = sp.csr_array((cluster_weights, columns), shape=(T, m))
    weights_given = np.asarray((ensemble.indicator @ blocks).toarray())
    if ensemble.has_noise:
        weights_given[ensemble.noise] = 1.0
    return weights_given


@dataclass(eq=False, repr=False)
class WeightedEAC(TreeClusterer):
    r"""Evidence accumulation with partitions weighted by the validity of their clusters.

    :class:`conclust.EAC` on the co-association with weight v_u for partition u (WEACS) [1]_:

    .. math::

        p_{ij} = \frac{\sum_{u \text{ with both together}} v_u}{\sum_{u \text{ that observed both}} v_u}

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, at most the number of objects. None: the one with the longest lifetime,
        chosen as by EAC.
    data : array-like of shape (n_samples, n_features), default=None
        Data of the objects: v_u is the mean of three validity indices (:func:`conclust.weighting.validity_weights`). None:
        v_u is the agreement of u with the others.
    linkage : {"single", "average", "complete", "ward"}, default="average"
        As for EAC.
    max_dense : int, default=20000
        As for EAC.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the objects for the silhouette.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    weights_ : ndarray of shape (n_partitions,)
        v_u, multiplied by the weights of the ensemble if it has any.
    linkage_matrix_ : ndarray of shape (n_observed - 1, 4)
        The dendrogram in SciPy's form.
    lifetimes_ : ndarray of shape (n_observed - 1,)
        Entry k is the lifetime of k + 2 clusters.
    n_features_in_ : int
        Number of partitions.

    Notes
    -----
    With indices of the data, the least valid partition has weight 0. With agreement (the mean normalized mutual information
    with the others, divided by the largest), only a partition that is independent of all others does. If all weights would be
    0, the weights of the ensemble are used.

    References
    ----------
    .. [1] F. J. F. Duarte, A. L. N. Fred, A. Lourenço and M. F. C. Rodrigues, "Weighting cluster
       ensembles in evidence accumulation clustering", EPIA 2005.

    Examples
    --------
    >>> from conclust import WeightedEAC
    >>> labels = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> model = WeightedEAC(n_clusters=2).fit(labels)
    >>> model.weights_
    array([1., 1., 0.])
    >>> WeightedEAC(2, data=[[0.0], [5.0], [0.1], [5.1]]).fit(labels).labels_
    array([0, 1, 0, 1])
    """

    method = Method(
        title="Evidence accumulation weighted by validity (WEACS)",
        n_clusters="optional",
        soft_members=False,
        cost="n^2 N; single linkage in n memory",
        citation="Duarte, Fred, Lourenço and Rodrigues 2005, EPIA",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    data: ArrayLike | None = None
    linkage: Linkage = "average"
    max_dense: int = 20000
    random_state: RandomStateLike = None

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        if self.data is None:
            weights = agreement_weights(ensemble)
        else:
            data = np.asarray(self.data)
            if data.ndim != 2 or len(data) != len(observed):
                raise InputError(
                    f"The data of WeightedEAC must be of shape ({len(observed)}, n_features), a row for "
                    f"each object of the ensemble. Got shape {data.shape} instead."
                )
            weights = validity_weights(ensemble, data[observed], random_state=self.random_state)
        if ensemble.weights is not None:
            weights = weights * ensemble.weights
            if not weights.any():
                weights = ensemble.weights
        self.weights_ = np.array(weights)
        # The number is chosen below, from the original partitions.
        tree = EAC(self.n_clusters or 1, linkage=self.linkage, max_dense=self.max_dense).fit(
            ensemble.reweighted(within_range(weights))
        )
        return self._cut_tree(ClusterTree(tree.linkage_matrix_), ensemble)

    def _warn_of_sets(self, ensemble: Ensemble) -> None:
        """EAC has warned."""
