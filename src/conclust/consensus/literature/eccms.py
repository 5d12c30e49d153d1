"""ECCMS: evidence of certain clusters, smoothed along the pairs that nearly all partitions join."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from conclust._parameters import Parameters, Range
from conclust._progress import stage
from conclust._threads import one_library_thread
from conclust._types import Bools, Ints
from conclust._validation import check_dense, count
from conclust.consensus.base import spread
from conclust.consensus.linkage.cutting import TreeClusterer
from conclust.consensus.literature.confident import confident_graph
from conclust.consensus.literature.smoothing import smoothed
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble
from conclust.exceptions import EvidenceWarning, warn
from conclust.similarity import cluster_certainty
from conclust.trees.agglomeration import cluster_dissimilarities, linkage_of
from conclust.trees.clusterwise import ClusterTree, RowLinkage, pairs_of

# C is exact to 1e-8: similarities that are equal on paper are ties after rounding to this grid.
_GRID = 2.0**20


@dataclass(eq=False, repr=False)
class ECCMS(TreeClusterer):
    r"""Ensemble clustering by self-enhancement of the co-association matrix (EC-CMS).

    The pairs that at least `alpha` of the partitions put together are trusted. Objects that are
    trusted to belong together should resemble the same others, so the locally weighted similarity of
    :class:`conclust.LWEA` is smoothed along the graph of trusted pairs [1]_:

    .. math::

        \min_C \operatorname{tr}(C^\top L\, C) + \frac{\text{penalty}}{2} \lVert C - A \rVert^2, \qquad C \text{ symmetric}, \; C_{ij} = A_{ij} \text{ where trusted}

    with A the similarity and L the Laplacian of the trusted pairs' co-association. Linkage works on 1 - C.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, at most the number of objects. None: the one with the longest lifetime
        in the dendrogram, from 2 on; the smallest number if tied. If all partitions (three or
        more) have K clusters, at most K.
    alpha : float, default=0.8
        Share of partitions from which a pair is trusted; positive. If larger than 1, no pair is trusted, and the method is LWEA.
    penalty : float, default=0.4
        The paper's lambda, which keeps C close to A; positive. For large values the method becomes
        LWEA.
    theta : float, default=0.4
        Parameter of the certainty of clusters in A, as in LWEA; positive.
    linkage : {"average", "single", "complete"}, default="average"
        Dissimilarity of two clusters; the paper's is "average".
    max_dense : int, default=10000
        Maximum number of distinct rows of labels. Up to ten matrices of all pairs of them are made at a time, 8
        bytes per entry.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    certainty_ : ndarray of shape (n_clusters_of_all_partitions,)
        Certainty of each cluster, in the order of ``Ensemble.indicator``.
    components_ : ndarray of int64 of shape (n_samples,)
        Connected component of trusted pairs, consecutive from 0; -1: missing in every
        partition.
    linkage_matrix_ : ndarray of shape (n_observed - 1, 4)
        The dendrogram in SciPy's form.
    lifetimes_ : ndarray of shape (n_observed - 1,)
        Entry k is the lifetime of k + 2 clusters; as in LWEA, that of the distinct rows of labels
        begins where all rows are formed.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If there are more than `max_dense` distinct rows of labels.

    Warns
    -----
    EvidenceWarning
        Pairs of objects that no partition observed together have the similarity of the pairs that
        trust connects them with; without any it is 0.
    EnsembleWarning
        All partitions have the same number of clusters, but a larger number has the longest lifetime.

    See Also
    --------
    LWEA : the same without smoothing, for any number of objects.

    Notes
    -----
    The authors iterate (ADMM) and stop early, which leaves errors of .06 in C. Here C is exact. Between
    two connected components of the trusted pairs it is a closed form by the eigenvectors of their
    Laplacians, or for the largest by sparse factors of its own; inside a component conjugate gradients solve a
    sparse system, in a large one preconditioned by sparse factors. C is a weighted mean of
    entries of A, so that the box constraint of the paper is never active, and sums of C over the pairs
    between two components are those of A: average linkage of whole components is LWEA's.

    Objects with the same labels are one row that counts as often as it occurs, with the same C. Missing
    labels: A and co-association are over the partitions that observed both objects; pairs that none did
    are not drawn to A. Weights of the partitions count in A and in the co-association; soft members count by their most probable clusters. O(n^2 N) time for n distinct rows, and O(n^2 c) for components of at most c rows.

    References
    ----------
    .. [1] Y. Jia, S. Tao, R. Wang and Y. Wang, "Ensemble clustering via co-association matrix
       self-enhancement", IEEE Transactions on Neural Networks and Learning Systems, 2023.

    Examples
    --------
    >>> from conclust import ECCMS
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = ECCMS(n_clusters=2, alpha=0.6).fit(labels)
    >>> model.labels_, model.components_
    (array([0, 0, 1, 1]), array([0, 0, 1, 1]))
    >>> model.linkage_matrix_[:, 2].round(4)
    array([0.    , 0.7103, 0.9639])
    """

    components_: Ints = field(init=False)

    method = Method(
        title="Ensemble clustering via co-association matrix self-enhancement",
        n_clusters="optional",
        cost="n^2 N + n N^2 + T N + n^2 c, c objects that trusted pairs connect: n^3 where labels are noisy",
        citation="Jia, Tao, Wang and Wang 2023, IEEE TNNLS",
    )
    parameters: ClassVar[Parameters] = {
        "alpha": Range(above=0),
        "penalty": Range(above=0),
        "theta": Range(above=0),
    }

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    alpha: float = 0.8
    penalty: float = 0.4
    theta: float = 0.4
    linkage: RowLinkage = "average"
    max_dense: int = 10000

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        self.certainty_ = cluster_certainty(ensemble, self.theta)
        pairs = pairs_of(ensemble, sp.csr_array(sp.diags_array(self.certainty_)))
        start = pairs.start
        n = len(start)
        instead = "LWEA, which is ECCMS without smoothing and needs no such matrix"
        check_dense(n, self.max_dense, "ECCMS smooths a matrix of", instead)
        stage("the pairs that are trusted")
        graph = confident_graph(start, self.alpha)
        with one_library_thread():
            D, unobserved = cluster_dissimilarities(ensemble, self.certainty_, None, start)
            if graph.edges.nnz:
                stage("smoothing along trusted pairs")
                np.subtract(1.0, D, out=D)
                given = [D]
                del D  # the matrix is freed while it is smoothed
                D = smoothed(given.pop(), graph, self.penalty)
                np.clip(D, 0.0, 1.0, out=D)
                D *= _GRID
                np.rint(D, out=D)
                D /= _GRID
                np.subtract(1.0, D, out=D)
                np.fill_diagonal(D, 0.0)
        if unobserved:
            warn(
                f"No partition observed both objects of {count(unobserved, 'pair')}: their similarity comes "
                "from the pairs that trusted pairs connect with them, or is 0.",
                EvidenceWarning,
            )
        tree = ClusterTree(linkage_of(D, start, self.linkage), pairs.born(self.linkage), n)
        self.components_ = graph.components[start.inverse]
        return self._cut_tree(tree, ensemble)

    def _finish(self, observed: Bools) -> None:
        self.components_ = spread(self.components_, observed, -1)
