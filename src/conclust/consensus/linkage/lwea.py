"""LWEA: evidence accumulation in which clusters are weighted by their certainty."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import scipy.sparse as sp

from conclust._parameters import Parameters, Range
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus.linkage.constrained import TreeClusterer, constrained_tree
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble, Missing
from conclust.similarity import cluster_certainty
from conclust.trees.agglomeration import Linkage, cluster_dissimilarities, linkage_of
from conclust.trees.clusterwise import (
    ClusterTree,
    by_rows,
    cluster_tree,
    pairs_of,
    warn_of_pairs,
    warn_of_unobserved,
)


@dataclass(eq=False, repr=False)
class LWEA(TreeClusterer):
    r"""Locally weighted evidence accumulation: certain clusters count more.

    Like :class:`conclust.EAC`, but a partition that puts two objects together is weighted by the certainty of their cluster
    [1]_: 1 if the other partitions keep its objects together, and less the more they spread them
    (:func:`conclust.similarity.cluster_certainty`):

    .. math::

        S_{ij} = \frac{1}{N_{ij}} \sum_{\text{clusters } c \text{ of both}} \operatorname{certainty}(c)

    Linkage works on 1 - S. With a known number of clusters and much finer partitions it is the best
    method of evidence accumulation.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, at most the number of objects. None: the one with the longest lifetime
        in the dendrogram, from 2 on; the smallest number if tied. If all partitions (three or
        more) have K clusters, at most K.
    theta : float, default=None
        Above 0. Small values reduce the weight of uncertain clusters; for large values the
        method becomes EAC. None: 0.4, the paper's; with `normalized` 0.06, which was chosen on eight of the ten
        published pools of the leaderboard (its paper tunes it for each data set).
    normalized : bool, default=False
        Whether the uncertainty of a cluster is divided by log2 of the number of clusters of its own
        partition, and S by its largest entry (NWCA [2]_): coarse partitions count less.
    linkage : {"single", "average", "complete", "ward"}, default="average"
        Dissimilarity of two clusters, on 1 - S; Ward on sqrt(1 - S). The papers' is "average".
    max_dense : int, default=20000
        Maximum number of distinct rows of labels for which a matrix of all pairs is made (8 bytes per entry). For
        more, and where that takes less time, single and average linkage compute similarities row by row, in memory of the
        size of the labels.
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
    certainty_ : ndarray of shape (n_clusters_of_all_partitions,)
        Certainty of each cluster, in the order of ``Ensemble.indicator``.
    linkage_matrix_ : ndarray of shape (n_observed - 1, 4)
        The dendrogram in SciPy's form.
    lifetimes_ : ndarray of shape (n_observed - 1,)
        Entry k is the lifetime of k + 2 clusters. That of the distinct rows of labels begins where
        all rows are formed, see Notes.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If there are more than `max_dense` distinct rows of labels, for complete and Ward linkage.

    Warns
    -----
    EvidenceWarning
        Pairs of objects that no partition observed together count as dissimilarity 1.
    EnsembleWarning
        All partitions have the same number of clusters, but a larger number has the longest lifetime.

    Notes
    -----
    Objects with the same labels start merged at height 0, as in EAC, although their S_ii is below 1 if their clusters are
    uncertain; no other object is more similar. For lifetimes they begin at 1 - S_ii (the largest of these), not at 0: otherwise
    a small `theta`, which makes all S small, would always give the distinct rows the longest lifetime. Choosing the number by
    lifetime needs a `theta` of 0.4 or more: if S is near 0 for all but a few pairs, the tree has one long branch near its
    leaves, and `normalized` with n_clusters=None may find hundreds of clusters if the partitions have different numbers.

    With missing labels, S_ij is computed over the partitions that observed both objects, and certainties over the observed
    objects. A noise object is observed and in no cluster. Weights of the partitions count in S and in the certainties. O(n^2 N)
    time for n distinct rows.

    Single and average linkage need no matrix: S = B W B' / N with the indicator B and the certainties W, and its sums follow
    from sums of rows of B. This is done if clusters are small compared with the number of objects; it takes less time, and
    memory of the size of the labels instead of 8 n^2 bytes. With missing labels and
    more than `max_dense` rows, average linkage weights pairs by the number of partitions that observed both.

    References
    ----------
    .. [1] D. Huang, C.-D. Wang and J.-H. Lai, "Locally weighted ensemble clustering", IEEE
       Transactions on Cybernetics 48(5), 2018.
    .. [2] X. Zhang, Y. Jia, M. Song and R. Wang, "Similarity and dissimilarity guided co-association
       matrix construction for ensemble clustering", IEEE TKDE, 2025.

    Examples
    --------
    >>> from conclust import LWEA
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = LWEA(n_clusters=2).fit(labels)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.certainty_.round(4)
    array([1.    , 0.4346, 1.    , 0.4346, 0.2164, 1.    ])
    """

    method = Method(
        title="Locally weighted evidence accumulation",
        n_clusters="optional",
        cost="n^2 N + n N^2 + T N",
        citation="Huang, Wang and Lai 2018, IEEE TCYB 48",
        use="you want a tree, and many clusterings are poor",
    )
    parameters: ClassVar[Parameters] = {"theta": Range(above=0)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    theta: float | None = None
    normalized: bool = False
    linkage: Linkage = "average"
    max_dense: int = 20000
    missing: Missing = "unobserved"
    verbose: int = 0

    def _takes_constraints(self) -> bool:
        return self.linkage != "ward"

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        self.certainty_ = cluster_certainty(ensemble, self.theta, normalized=self.normalized)
        if self._constraints is not None:
            constrained = constrained_tree(
                ensemble,
                self.certainty_,
                self._constraints,
                linkage=self.linkage,
                n_clusters=self.n_clusters,
                max_dense=self.max_dense,
                owner="LWEA",
                normalized=self.normalized,
            )
            return self._cut_tree(constrained, ensemble)
        tree = certain_tree(
            ensemble,
            self.certainty_,
            normalized=self.normalized,
            linkage=self.linkage,
            max_dense=self.max_dense,
            owner="LWEA",
        )
        return self._cut_tree(tree, ensemble)


def certain_tree(
    ensemble: Ensemble,
    certainty: Floats,
    *,
    normalized: bool,
    linkage: Linkage = "average",
    max_dense: int = 20000,
    owner: str | None = None,
    n_jobs: int | None = None,
) -> ClusterTree:
    """Agglomerate on 1 - S, with clusters weighted by their certainty.

    Parameters
    ----------
    ensemble : Ensemble
        The observed objects.
    certainty : ndarray of shape (T,)
        Certainty of each cluster of the ensemble.
    normalized : bool
        Whether S is divided by its largest entry.
    linkage : {"single", "average", "complete", "ward"}, default="average"
        Linkage of the tree.
    max_dense : int, default=20000
        Maximum number of distinct rows for which a matrix of all pairs is made.
    owner : str, default=None
        Name of the estimator in errors and in the warning of unobserved pairs. None: no warning.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    ClusterTree
        The dendrogram.

    Raises
    ------
    DenseLimitError
        If complete or Ward linkage is requested and needs a larger matrix.
    """
    pairs = pairs_of(ensemble, sp.csr_array(sp.diags_array(certainty)))
    # Only NWCA divides by the largest entry of S, which is on the diagonal.
    if normalized and pairs.own.max() > 0:
        pairs = pairs.scaled(1.0 / float(pairs.own.max()))
    if by_rows(pairs, linkage, max_dense):
        if owner is not None:
            warn_of_unobserved(ensemble, max_dense)
        return cluster_tree(pairs, linkage, max_dense=max_dense, owner=owner or "linkage")
    pairs.check_dense(linkage, max_dense, owner or "linkage")
    with one_library_thread():
        D, unobserved = cluster_dissimilarities(
            ensemble, pairs.scale * certainty, None, pairs.start, n_jobs=n_jobs
        )
    if owner is not None:
        warn_of_pairs(unobserved)
    return ClusterTree(linkage_of(D, pairs.start, linkage), pairs.born(linkage), len(pairs.start))
