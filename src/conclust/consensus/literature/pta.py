"""PTA: agglomeration by the probability trajectories of random walks."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus.linkage.constrained import TreeClusterer
from conclust.consensus.literature.walks import informative, walks_of
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble
from conclust.trees.agglomeration import dense_tree, expand, merges_of
from conclust.trees.clusterwise import ClusterTree, warn_of_pairs

TrajectoryLinkage: TypeAlias = Literal["average", "complete", "single"]


@dataclass(eq=False, repr=False)
class PTA(TreeClusterer):
    """Probability trajectory accumulation: linkage of objects by the trajectories of random walks from them.

    Objects with the same labels count as one. A walk goes from an object to its elite neighbours, those with which it shares
    clusters most often, and its trajectory is where it is after 1, 2, ... `n_steps` steps.
    The similarity of two objects is the cosine of their trajectories [1]_; linkage works on 1 minus that.
    Weak evidence is left out, and objects that share no cluster are similar if their neighbours are.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, at most the number of objects. None: the one with the longest lifetime
        in the dendrogram, from 2 on; the smallest number if tied. If all partitions (three or
        more) have K clusters, at most K.
    linkage : {"average", "complete", "single"}, default="average"
        Dissimilarity of two clusters.
    n_neighbors : int, default=None
        Elite neighbours of a distinct row of labels. Ties with the last one are kept, and a row is the
        neighbour of its neighbours. None: half the root of the number of distinct rows, from 1 to 20.
    n_steps : int, default=None
        Length of the walks. None: the same number.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    linkage_matrix_ : ndarray of shape (n_observed - 1, 4)
        The dendrogram in SciPy's form.
    lifetimes_ : ndarray of shape (n_observed - 1,)
        Entry k is the lifetime of k + 2 clusters.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If there are more than 10,000 distinct rows of labels.

    Warns
    -----
    EvidenceWarning
        There are fewer than 16 distinct rows, and neither `n_neighbors` nor `n_steps` is given: walks
        over fewer rows carry no information, and the dendrogram is that of EAC.
    EnsembleWarning
        All partitions have the same number of clusters, but a larger number has the longest lifetime.

    See Also
    --------
    PTGP : the same similarities, cut as a graph of objects and clusters; for many objects.
    ECPCS : trajectories of clusters.

    Notes
    -----
    Two objects share clusters as often as c_ij / N_ij, by the weights of the partitions, over those that
    observed both; noise shares none. Partitions with one cluster, of all objects, and those of weight 0 are
    left out. Objects that share no cluster with any other are joined last.

    The elite neighbours are found without comparing all pairs. With q of them for each of n distinct rows, ties
    included, similarities take O(n_steps q n^2) time and two matrices of n^2 doubles. If the graph of neighbours falls into
    components, it is the sum over these.

    References
    ----------
    .. [1] D. Huang, J.-H. Lai and C.-D. Wang, "Robust ensemble clustering using probability trajectories",
       IEEE Transactions on Knowledge and Data Engineering 28(5), 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import PTA
    >>> position = np.arange(40) % 20  # on two lines, which four partitions cut at other places
    >>> labels = [(position + shift) // 5 + 10 * (np.arange(40) // 20) for shift in range(4)]
    >>> PTA(n_clusters=2, n_steps=20).fit(np.column_stack(labels)).labels_
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1,
           1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """

    max_dense: ClassVar[int] = 10000
    method = Method(
        title="Probability trajectory accumulation",
        n_clusters="optional",
        soft_members=False,
        cost="n^2 q per step of q elite neighbours",
        citation="Huang, Lai and Wang 2016, IEEE TKDE 28",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    linkage: TrajectoryLinkage = "average"
    n_neighbors: int | None = None
    n_steps: int | None = None

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        ensemble = informative(ensemble)
        return self._cut_tree(ClusterTree(self._tree(ensemble)), ensemble)

    def _tree(self, ensemble: Ensemble) -> Floats:
        walks = walks_of(
            ensemble,
            n_neighbors=self.n_neighbors,
            n_steps=self.n_steps,
            max_dense=self.max_dense,
            owner="PTA",
            without=f"EAC(linkage={self.linkage!r})",
        )
        if walks is None:
            few = ensemble.n_samples
            tree, unobserved = dense_tree(ensemble, self.linkage, max_dense=few, n_jobs=None)
            warn_of_pairs(unobserved)
            return tree
        with one_library_thread():
            D = walks.similarity()
            np.subtract(1.0, D, out=D)
            return expand(walks.start, merges_of(D, np.ones(len(D)), self.linkage))
