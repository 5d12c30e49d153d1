"""LCE: the link-based cluster ensemble."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._random import RandomStateLike, seed_sequence
from conclust._validation import check_int, check_option, check_real
from conclust.consensus.base import ConsensusClusterer, Method
from conclust.consensus.graph.hbgf import edge_weights
from conclust.consensus.graph.transfer import transfer_cut
from conclust.ensemble import Ensemble, Missing
from conclust.similarity import connected_triples, triple_quality

__all__ = ["LCE"]

Similarity: TypeAlias = Literal["cts", "wtq"]

_SIMILARITIES = {"cts": connected_triples, "wtq": triple_quality}


class LCE(ConsensusClusterer):
    """Link-based cluster ensemble: an object belongs a little to the clusters that its own resemble.

    A partition puts an object into one of its clusters and in none of the others. Here the object
    belongs to the others too, as much as they resemble its own cluster by their overlaps with the
    clusters of other partitions, W (:func:`conclust.similarity.connected_triples`)::

        RM = B W

    with B the indicator. The graph of objects and clusters with these weights is cut by its leading
    eigenvectors [1]_ [2]_, without making RM.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. The result has fewer where objects have the same row of RM.
        To be given: ``fit`` refuses None.
    similarity : {"cts", "wtq"}, default="cts"
        How clusters of a partition are compared: "cts" by weighted connected triples, "wtq" by
        weighted triple quality (:func:`conclust.similarity.triple_quality`).
    decay : float, default=0.8
        In [0, 1]: how much an object belongs to the most similar cluster that it is not in; 0 is HBGF
        with ``joint=False``. The papers on LCE have 0.9, their program 0.8.
    n_init : int, default=10
        Starts of k-means on the embedding.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 means in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    singular_values_ : ndarray of shape (at most n_clusters,)
        Leading singular values of the degree-normalised RM, falling from 1. Absent where all
        objects are noise.
    n_features_in_ : int
        Number of partitions.

    See Also
    --------
    HBGF : the same cut with W = I.
    LWGP : with a diagonal W, the certainty of clusters.

    Notes
    -----
    An object that a partition did not observe, or took for noise, has no edge into it; clusters are
    compared over the objects that both partitions observed. Weights of the partitions weigh edges and triples;
    soft members spread an object over clusters by its memberships. O(n N^2 + T^3) time for T clusters
    of all partitions; memory of the labels, T^2 and n K.

    References
    ----------
    .. [1] N. Iam-On, T. Boongoen and S. Garrett, "LCE: a link-based cluster ensemble method for improved
       gene expression data analysis", Bioinformatics 26(12), 2010.
    .. [2] N. Iam-On, T. Boongoen, S. Garrett and C. Price, "A link-based approach to the cluster ensemble
       problem", IEEE TPAMI 33(12), 2011.

    Examples
    --------
    >>> from conclust import LCE
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = LCE(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> (model.singular_values_**2).round(6)
    array([1.      , 0.113039])
    """

    singular_values_: NDArray[np.float64]

    method = Method(
        title="Link-based cluster ensemble",
        n_clusters="exact",
        membership=False,
        missing=True,
        weights=True,
        soft_members=True,
        cost="n N^2 + T^3",
        citation="Iam-On, Boongoen and Garrett 2010, Bioinformatics 26",
    )

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        similarity: Similarity = "cts",
        decay: float = 0.8,
        n_init: int = 10,
        missing: Missing = "unobserved",
        random_state: RandomStateLike = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.similarity = similarity
        self.decay = decay
        self.n_init = n_init
        self.missing = missing
        self.random_state = random_state

    def _check_parameters(self, ensemble: Ensemble) -> None:
        check_option(self.similarity, "similarity", "LCE", Similarity)
        check_real(self.decay, "decay", "LCE", high=1.0)
        check_int(self.n_init, "n_init", "LCE")

    def _fit(self, ensemble: Ensemble, observed: NDArray[np.bool_]) -> NDArray[np.int64]:
        if hasattr(self, "singular_values_"):
            del self.singular_values_
        seed = seed_sequence(self.random_state, "LCE")
        W: sp.csr_array = _SIMILARITIES[self.similarity](ensemble, decay=self.decay)
        edges = edge_weights(ensemble)
        if not edges.data.any():  # noise only: no two objects are together
            return np.zeros(ensemble.n_samples, dtype=np.int64)
        labels, self.singular_values_ = transfer_cut(
            edges, self.n_clusters, seed, n_init=self.n_init, mixing=W
        )
        return labels
