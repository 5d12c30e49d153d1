"""WEAC: evidence accumulation in which partitions are weighted by their agreement with the others."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from conclust._types import Bools, Ints
from conclust.consensus.linkage.constrained import TreeClusterer
from conclust.consensus.linkage.lwea import certain_tree
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import within_range
from conclust.trees.agglomeration import Linkage
from conclust.weighting.weights import crowd_weights


@dataclass(eq=False, repr=False)
class WEAC(TreeClusterer):
    r"""Weighted evidence accumulation: partitions are weighted by their agreement with the others.

    :class:`conclust.EAC` on the co-association with weight v_u for partition u [1]_. v_u is the normalized
    crowd agreement of u to the power `beta`: the mean of its mutual information with the others, over
    the larger entropy, relative to the largest such mean:

    .. math::

        p_{ij} = \frac{\sum_{u \text{ with both together}} v_u}{\sum_{u \text{ that observed both}} v_u}

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, at most the number of objects. None: the one with the longest lifetime
        in the dendrogram, from 2 on; the smallest number if tied. If all partitions (three or
        more) have K clusters, at most K.
    beta : float, default=2.0
        Exponent of the agreement, at least 0. 0 is EAC.
    linkage : {"single", "average", "complete", "ward"}, default="average"
        As for EAC.
    max_dense : int, default=20000
        Maximum number of distinct rows of labels for which a matrix of all pairs is made (8 bytes per entry). For more, and if
        it takes less time, single and average linkage compute similarities row by row, in memory of the size of the labels.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    weights_ : ndarray of shape (n_partitions,)
        v_u, times the weights of the ensemble if it has any.
    linkage_matrix_ : ndarray of shape (n_observed - 1, 4)
        The dendrogram in SciPy's form.
    lifetimes_ : ndarray of shape (n_observed - 1,)
        Entry k is the lifetime of k + 2 clusters.
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

    See Also
    --------
    WeightedEAC : weights by validity in the data, or by agreement with the geometric mean of entropies.
    GPMGLA : the same weights, by cutting a graph of objects and clusters.
    LWEA : weights of clusters in place of partitions.

    Notes
    -----
    Weights of the ensemble multiply v_u and do not change it. A partition of weight 2 is therefore not the same as
    two copies, which agree with each other.

    References
    ----------
    .. [1] D. Huang, J.-H. Lai and C.-D. Wang, "Combining multiple clusterings via crowd agreement
       estimation and multi-granularity link analysis", Neurocomputing 170, 2015.

    Examples
    --------
    >>> from conclust import WEAC
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = WEAC(n_clusters=2).fit(labels)
    >>> model.labels_, model.weights_.round(4)
    (array([0, 0, 1, 1]), array([1.    , 1.    , 0.2254]))
    """

    method = Method(
        title="Evidence accumulation weighted by crowd agreement",
        n_clusters="optional",
        soft_members=False,
        cost="n^2 N",
        citation="Huang, Lai and Wang 2015, Neurocomputing 170",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    beta: float = 2.0
    linkage: Linkage = "average"
    max_dense: int = 20000

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        self.weights_ = crowd_weights(ensemble, self.beta)
        # Computed as LWEA with certain clusters, which is faster than EAC if weights are not integers.
        tree = certain_tree(
            ensemble.reweighted(within_range(self.weights_)),
            np.ones(int(ensemble.offsets[-1])),
            normalized=False,
            linkage=self.linkage,
            max_dense=self.max_dense,
            owner="WEAC",
        )
        return self._cut_tree(tree, ensemble)
