"""DREC: rows of labels represented by each other, cut by their representations."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from conclust._arrays.symmetric import symmetrise
from conclust._parameters import Parameters, Range
from conclust._progress import stage
from conclust._random import RandomStateLike, generator, seed_sequence, spawn_sequences
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_dense
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.graph.kmeans import Points, kmeans_labels
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble, with_weight
from conclust.ensemble.labels import over_clusters
from conclust.spectra.bipartite import unit_rows
from conclust.spectra.transfer_cut import graph_embedding

_STEPS = 5
# Directions of the labels with a smaller share of the largest eigenvalue are rounding errors.
_RANK = 1e-12
# Minimum singular value of the representation, as a share of the largest.
_KEPT = 1e-4
# Minimum residual: its inverse weights the next step.
_RESIDUAL = 1e-12


@dataclass(eq=False, repr=False)
class DREC(ConsensusClusterer):
    r"""Dense representation ensemble clustering.

    The distinct rows of labels, as rows X of cluster indicators, are each represented by a combination of
    all of them [1]_:

    .. math::

        \min_Z \sum_j \lVert x_j - X z_j \rVert + \text{penalty}\, \lVert Z \rVert^2

    The similarity of rows is the fourth power of the cosine of their coordinates in the leading directions of Z, and a spectral
    cut divides them.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. Required: ``fit`` refuses None.
    penalty : float, default=100.0
        The paper's lambda, positive. From about 10 on, a row's residual is nearly its length, the
        weights of the iteration are all but equal, and the method is spectral clustering with the
        kernel of a ridge regression.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters; fewer than K where there are fewer distinct rows of labels.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If there are more than 10,000 distinct rows of labels.

    See Also
    --------
    LWGP : cuts the graph of objects and clusters, without a matrix of all pairs.

    Notes
    -----
    The authors solve n equations with n unknowns in each of five steps, for n distinct rows. Here everything is done in the
    directions spanned by the T clusters: with the eigenvectors V and values e of X'X, and
    ``U = X V e^-1/2``, the column j of Z is ``U (f_j o u_j)``, ``f_j = e / (e + 2 penalty r_j)``, where r_j is the
    residual of the step before. O(n T^2) time per step and O(n^2 T) for the affinity.

    A cluster of a partition that did not observe an object, or took it for noise, does not hold the
    object; noise is also a cluster of one. Weights of the partitions multiply the columns of X, relative to their mean; soft
    members count by their most probable clusters.

    References
    ----------
    .. [1] J. Zhou, H. Zheng and L. Pan, "Ensemble clustering based on dense representation",
       Neurocomputing 357, 2019.

    Examples
    --------
    >>> from conclust import DREC
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> DREC(n_clusters=2, random_state=0).fit(labels).labels_
    array([0, 0, 1, 1])
    """

    max_dense: ClassVar[int] = 10000
    method = Method(
        title="Dense representation ensemble clustering",
        n_clusters="exact",
        cost="n T^2 + n^2 T",
        citation="Zhou, Zheng and Pan 2019, Neurocomputing 357",
    )
    parameters: ClassVar[Parameters] = {"penalty": Range(above=0)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    penalty: float = 100.0
    random_state: RandomStateLike = None

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        embedding, starts = spawn_sequences(seed_sequence(self.random_state, "DREC"), 2)
        ensemble = with_weight(ensemble)
        start = ensemble.distinct_rows(noise="apart")
        n, k = len(start), int(self.n_clusters)
        if n <= k:
            return start.inverse
        instead = "LWGP or HBGF, which need no such matrix"
        check_dense(n, self.max_dense, "DREC cuts a matrix of", instead, fixed=True)
        with one_library_thread():
            stage("rows represented by each other")
            graph = representation_affinity(_features(start.ensemble), self.penalty)
            if not graph.any():  # objects that no partition of positive weight observed
                return np.zeros(ensemble.n_samples, dtype=np.int64)
            stage("embedding of the graph")
            rows = graph_embedding(graph, k, generator(embedding))
            stage("k-means on the embedding")
            return kmeans_labels(Points(rows, np.ones(n)), k, starts)[start.inverse]


def _features(rows: Ensemble) -> sp.csr_array:
    """Return X: the weighted indicator, and a column for each row that is noise in some partition."""
    weights = rows.partition_weights / rows.partition_weights.mean()
    X = sp.csr_array(rows.indicator @ sp.diags_array(np.sqrt(over_clusters(weights, rows.offsets))))
    if not rows.has_noise:
        return X
    # Clusters of one object in several partitions are one column of the same product X X'.
    alone = np.sqrt(rows.noise @ weights)
    noisy = np.flatnonzero(alone)
    noise_columns = sp.csr_array(
        (alone[noisy], (noisy, np.arange(len(noisy)))), shape=(rows.n_samples, len(noisy))
    )
    return sp.csr_array(sp.hstack([X, noise_columns]))


def representation_affinity(X: sp.csr_array, penalty: float) -> Floats:
    """Return the similarity of rows by their representations: cosines to the fourth power.

    Parameters
    ----------
    X : csr_array of shape (n, T)
        The rows to represent.
    penalty : float
        lambda.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, in [0, 1]; 0 for rows of zeros.
    """
    e, U = _directions(X)
    if len(e) == 0:
        return np.zeros((X.shape[0], X.shape[0]))
    weights = np.full(X.shape[0], penalty)  # penalty / d of each column; d is 1 at first
    for _ in range(_STEPS):
        lost = weights[:, None] / (e + weights[:, None])  # 1 - f
        residuals = np.sqrt(((U * lost) ** 2) @ e)
        weights = 2.0 * penalty * np.maximum(residuals, _RESIDUAL)
    Z = U * (1.0 - lost)  # its transpose, in the directions U
    squares, P = scipy.linalg.eigh(Z.T @ Z)
    s = np.sqrt(np.maximum(squares, 0.0))
    above_noise = s > _KEPT * s[-1]
    rows = unit_rows((U @ P[:, above_noise]) * np.sqrt(s[above_noise]))
    affinity = rows @ rows.T
    symmetrise(affinity)
    np.square(affinity, out=affinity)
    np.square(affinity, out=affinity)
    return np.minimum(affinity, 1.0, out=affinity)


def _directions(X: sp.csr_array) -> tuple[Floats, Floats]:
    """Return the positive eigenvalues of X X' and its eigenvectors, by the smaller of X'X and X X'."""
    n, T = X.shape
    if n >= T:
        e, V = scipy.linalg.eigh((X.T @ X).toarray())
        above_rank = e > _RANK * e.max(initial=0.0)
        return e[above_rank], np.asarray(X @ (V[:, above_rank] / np.sqrt(e[above_rank])))
    e, U = scipy.linalg.eigh((X @ X.T).toarray())
    above_rank = e > _RANK * e.max(initial=0.0)
    return e[above_rank], U[:, above_rank]
