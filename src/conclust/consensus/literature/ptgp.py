"""PTGP: the graph of objects and clusters, with the probability trajectories of random walks as its edges."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from conclust._arrays.rows import inverse_or_zero
from conclust._random import RandomStateLike, seed_sequence, spawn_sequences
from conclust._threads import one_library_thread
from conclust._types import Bools, Ints
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.graph.transfer import transfer_cut as cut_objects
from conclust.consensus.literature.walks import Walks, informative, walks_of
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble
from conclust.spectra.bipartite import Edges, MatrixEdges, edges_of


@dataclass(eq=False, repr=False)
class PTGP(ConsensusClusterer):
    """Probability trajectory graph partitioning: a graph of objects and clusters, joined by random walks.

    The similarity of objects is that of the trajectories of random walks from them, as in :class:`conclust.PTA`. An
    object and a cluster are joined by the mean similarity of the object to those of the cluster [1]_, and the
    graph of objects and clusters is cut by its leading eigenvectors.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. Fewer are found if objects cannot be distinguished.
        Required: ``fit`` refuses None.
    n_neighbors : int, default=None
        Elite neighbours of a distinct row of labels. Ties with the last one are kept, and a row is the
        neighbour of its neighbours. None: half the root of the number of distinct rows, from 1 to 20.
    n_steps : int, default=None
        Length of the walks. None: the same number.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the restarts.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    singular_values_ : ndarray of shape (at most n_clusters,)
        Leading singular values of the degree-normalised graph, falling from 1. Absent where no two
        objects are together.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If there are more than 10,000 distinct rows of labels.

    Warns
    -----
    EnsembleWarning
        The graph falls into more components than `n_clusters`.
    EvidenceWarning
        There are fewer than 16 distinct rows, and neither `n_neighbors` nor `n_steps` is given: walks
        over fewer rows carry no information, and the result is that of HBGF with ``joint=False``.

    See Also
    --------
    PTA : the same similarities, by linkage.
    LWGP : objects joined to their own clusters only, by the clusters' certainty.

    Notes
    -----
    The graph is R B C with the similarities R of the n distinct rows of labels, their indicator B and one
    divided by the number of rows in each cluster, C; its cut counts each distinct row once. The weights of the partitions count
    in the similarities and in the graph. An object that shares no cluster with any other
    has no edge.

    R takes O(n_steps q n^2) time for q elite neighbours of a row, with ties, and two matrices of n^2 doubles, or the sums
    of these over the components of the graph of neighbours.

    References
    ----------
    .. [1] D. Huang, J.-H. Lai and C.-D. Wang, "Robust ensemble clustering using probability trajectories",
       IEEE Transactions on Knowledge and Data Engineering 28(5), 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import PTGP
    >>> position = np.arange(40) % 20  # on two lines, which four partitions cut at other places
    >>> labels = [(position + shift) // 5 + 10 * (np.arange(40) // 20) for shift in range(4)]
    >>> PTGP(n_clusters=2, random_state=0).fit(np.column_stack(labels)).labels_
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1,
           1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """

    max_dense: ClassVar[int] = 10000
    method = Method(
        title="Probability trajectory graph partitioning",
        n_clusters="exact",
        soft_members=False,
        cost="n^2 q per step of q elite neighbours",
        citation="Huang, Lai and Wang 2016, IEEE TKDE 28",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    n_neighbors: int | None = None
    n_steps: int | None = None
    random_state: RandomStateLike = None

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        starts, _ = spawn_sequences(seed_sequence(self.random_state, "PTGP"), 2)
        ensemble = informative(ensemble)
        walks = walks_of(
            ensemble,
            n_neighbors=self.n_neighbors,
            n_steps=self.n_steps,
            max_dense=self.max_dense,
            owner="PTGP",
            without="HBGF(joint=False)",
        )
        if walks is None:
            return self._cut(edges_of(ensemble), starts)
        labels = self._cut(_mean_similarities(walks), starts)
        return np.asarray(labels[walks.start.inverse])

    def _cut(self, graph: Edges, seed: np.random.SeedSequence) -> Ints:
        labels, self.singular_values_ = cut_objects(graph, self.n_clusters, seed, owner="PTGP")
        return labels


def _means_of_clusters(walks: Walks) -> sp.csr_array:
    """Return B C with the weights of the partitions: a product with it is a mean over each cluster."""
    rows = edges_of(walks.start.ensemble).matrix()
    rows = sp.csr_array(
        rows / rows.data.max(initial=1e-300)
    )  # the unit of the weights does not matter
    held = np.bincount(rows.indices, minlength=rows.shape[1])
    means = sp.csr_array(rows @ sp.diags_array(inverse_or_zero(held)))
    # Isolated rows are similar to no other row.
    return sp.csr_array(sp.diags_array((~walks.isolated).astype(np.float64)) @ means)


def _mean_similarities(walks: Walks) -> Edges:
    """Return R B C, which has few zeros."""
    means = _means_of_clusters(walks)
    with one_library_thread():
        return MatrixEdges(sp.csr_array((means.T @ walks.similarity()).T))
