"""The Jaccard similarity of clusters, the graph from which other similarities of clusters are computed.

Similarities of all clusters by SimRank: clusters are similar if their objects are, and vice versa.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from conclust._arrays.rows import inverse_or_zero
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust._validation import check_int, check_real
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.derived import Derived, check_gram
from conclust.spectra.gram import averaging_indicator, gram_blocks, quadratic_forms

_INSTEAD = (
    "Use fewer partitions, or a method that makes none: HBGF, CSPA, EAC, PCC(divergence='l2')."
)


def cluster_jaccard(ensemble: Derived | ArrayLike) -> sp.csr_array:
    """Return the Jaccard similarities of the clusters of all partitions.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions, hard or soft.

    Returns
    -------
    csr_array of shape (T, T)
        In the order of ``Ensemble.indicator``: objects that two clusters share / objects in either,
        of those that both partitions observed; 0 on the diagonal. For soft clusters, the extended Jaccard similarity x'y / (x'x
        + y'y - x'y), which is the same for hard ones.

    Raises
    ------
    InputError
        If the labels are malformed.
    DenseLimitError
        If there would be more than 2^27 similarities.

    Examples
    --------
    >>> from conclust.similarity import cluster_jaccard
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> cluster_jaccard(labels).toarray()[0].round(4)
    array([0.    , 0.    , 1.    , 0.    , 0.6667, 0.    ])
    """
    members = as_ensemble(ensemble)
    check_gram(members.gram_entries, "The Jaccard similarities of all clusters", _INSTEAD)
    parts = [
        sp.csr_array(
            (values, (i - rows.start, j)),
            shape=(rows.stop - rows.start, len(members.column_partitions)),
        )
        for rows, i, j, values in jaccard_blocks(members)
    ]
    return sp.csr_array(parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr"))


def jaccard_blocks(ensemble: Ensemble) -> Iterator[tuple[slice, Ints, Ints, Floats]]:
    """Yield blocks of clusters, and the pairs of these with other clusters that share objects, with their similarities."""
    partition_of = ensemble.column_partitions
    # The squared length of each cluster over the objects that each partition observed.
    norms = ensemble.observed_sizes
    for block in gram_blocks(ensemble):
        gram = sp.coo_array(block.gram)
        i, j = gram.coords
        i = i + block.rows.start
        union = norms[i, partition_of[j]] + norms[j, partition_of[i]] - gram.data
        off = (i != j) & (gram.data > 0)
        yield block.rows, i[off], j[off], gram.data[off] / union[off]


def jaccard_of_others(ensemble: Ensemble) -> sp.csr_array:
    """Return `cluster_jaccard` without the similarities within a partition, which soft ones have."""
    J = cluster_jaccard(ensemble)
    if not ensemble.is_soft:
        return J
    partition_of = ensemble.column_partitions
    row = np.repeat(np.arange(J.shape[0]), np.diff(J.indptr))
    J.data[partition_of[row] == partition_of[J.indices]] = 0.0
    J.eliminate_zeros()
    return J


def relative_weights(ensemble: Ensemble) -> Floats:
    """Return the weight of the partition of each cluster, relative to the largest (T,)."""
    weights = ensemble.column_weights
    largest = float(weights.max(initial=0.0))
    return weights / largest if largest > 0 else np.array(weights)


def check_square(ensemble: Ensemble, what: str) -> None:
    """Refuse a dense matrix (T, T) of `what` if it would be too large."""
    check_gram(int(ensemble.offsets[-1]) ** 2, what, _INSTEAD)


# Number of entries of objects times clusters in memory at once.
_BLOCK_ENTRIES = 1 << 22
# Number of multiplications of a product at once, some .1 s.
_BLOCK_PRODUCTS = 1 << 27


def simrank(ensemble: Ensemble | ArrayLike, *, decay: float = 0.8, n_iter: int = 5) -> Floats:
    r"""Compare the clusters of all partitions by SimRank on objects and clusters (SRS).

    The similarity of two objects is the mean similarity of their clusters, the similarity of two
    clusters the mean similarity of their objects, each times `decay` [1]_:

    .. math::

        S_{ij} &= \text{decay} \cdot \operatorname{mean}_{k \ni i,\, l \ni j} C_{kl}, & S_{ii} &= 1 \\
        C_{kl} &= \text{decay} \cdot \operatorname{mean}_{i \in k,\, j \in l} S_{ij}, & C_{kk} &= 1

    Each side is computed from the other side's last values, beginning with S = C = I.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions, hard or soft. Means over clusters are by the weights of the partitions.
    decay : float, default=0.8
        In [0, 1].
    n_iter : int, default=5
        Number of the returned S, at least 2; the first is I. C is the one that this S is
        computed from: S_ij = decay * b_i' C b_j, where b_i are the shares of the clusters of i in the
        weight of the partitions that observed it. With 2 this is evidence accumulation.

    Returns
    -------
    ndarray of shape (T, T)
        C, in the order of ``Ensemble.indicator``, in [0, 1], 1 on the diagonal.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If a parameter is out of its range.
    DenseLimitError
        If there would be more than 2^27 similarities.

    Notes
    -----
    S, which is n x n, is never made: with V the matrix of the b_i, and two steps taken at once,
    C becomes decay D^-1 [decay (V'B)' C (V'B) + B' diag(1 - s) B] D^-1, where D holds the sizes of the
    clusters and s_i = decay b_i' C b_i stands for S_ii. O(n N^2 + T^3) time for two iterations.

    Missing labels: means are over the partitions that observed the object.

    References
    ----------
    .. [1] N. Iam-On, T. Boongoen and S. Garrett, "Refining pairwise similarity matrix for cluster
       ensemble problem with cluster relations", Discovery Science 2008.

    Examples
    --------
    >>> from conclust.similarity import simrank
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> simrank(labels, n_iter=3)[0].round(4)
    array([1.    , 0.    , 0.4   , 0.    , 0.2667, 0.    ])
    """
    check_real(decay, "decay", "simrank", high=1.0)
    check_int(n_iter, "n_iter", "simrank", low=2)
    members = as_ensemble(ensemble)
    check_square(members, "The SimRank of all clusters")
    rows = members.distinct_rows()
    B, V = rows.ensemble.indicator, averaging_indicator(rows.ensemble)
    mass = rows.counts.astype(np.float64)
    weighed = sp.csr_array(sp.diags_array(mass) @ B)
    across = sp.csr_array(sp.csr_array(V.T @ weighed).T)  # (T, T)
    inverse = inverse_or_zero(members.cluster_sizes)
    C = np.eye(len(inverse))
    if n_iter % 2:  # from S = I
        C = _mean_of_objects(members.gram.toarray(), decay, inverse)
    with one_library_thread():
        for _ in range((n_iter - 2) // 2):
            diagonal = decay * quadratic_forms(V, C)
            inner = decay * _product(across, _product(across, C).T).T
            inner += (sp.diags_array(mass * (1.0 - diagonal)) @ B).T @ B
            C = _mean_of_objects(inner, decay, inverse)
    return C


def _product(A: sp.csr_array, C: Floats) -> Floats:
    """Return A @ C. Ctrl-C has no effect within a product of SciPy, which takes seconds where A is nearly full."""
    out, C = np.empty((A.shape[0], C.shape[1])), np.ascontiguousarray(C)
    step = max(1, len(out) * _BLOCK_PRODUCTS // max(1, A.nnz * C.shape[1]))
    for begin in range(0, len(out), step):
        rows = slice(begin, begin + step)
        out[rows] = A[rows] @ C
    return out


def _mean_of_objects(sums: Floats, decay: float, inverse: Floats) -> Floats:
    """Return C from the sums of S over the objects of two clusters and the inverse sizes of these."""
    return _similarity(decay * sums * inverse[:, None] * inverse)


def _similarity(W: Floats) -> Floats:
    """Return W symmetric to the bit, in [0, 1], 1 on the diagonal."""
    W = np.clip(0.5 * (W + W.T), 0.0, 1.0)
    np.fill_diagonal(W, 1.0)
    return W


def approximate_simrank(ensemble: Ensemble | ArrayLike, *, decay: float = 0.8) -> Floats:
    r"""Compare the clusters of all partitions by their common similar clusters, in one step (ASRS).

    Two clusters are similar if they resemble the same clusters, J being the Jaccard similarity
    (:func:`cluster_jaccard`) and d the number of clusters that share an object with a cluster [1]_:

    .. math::

        CS_{kl} = \frac{\sum_m J_{km} J_{lm}}{d_k\, d_l}

    divided by the largest, times `decay`; 1 for a cluster and itself.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions, hard or soft; their weights count in the sum and in d.
    decay : float, default=0.8
        Similarity of the most similar different clusters, in [0, 1].

    Returns
    -------
    ndarray of shape (T, T)
        In the order of ``Ensemble.indicator``, in [0, 1], 1 on the diagonal.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If `decay` is out of its range.
    DenseLimitError
        If there would be more than 2^27 similarities.

    Notes
    -----
    The authors' program identifies a cluster by a similarity of 1, and so takes the two most similar
    different clusters for one; here clusters are identified by their index. O(T^3) time.

    References
    ----------
    .. [1] N. Iam-On and S. Garrett, "LinkCluE: a MATLAB package for link-based cluster ensembles",
       Journal of Statistical Software 36(9), 2010.

    Examples
    --------
    >>> from conclust.similarity import approximate_simrank
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> approximate_simrank(labels)[0].round(4)
    array([1. , 0.2, 0.8, 0.2, 0.6, 0. ])
    """
    check_real(decay, "decay", "approximate_simrank", high=1.0)
    members = as_ensemble(ensemble)
    check_square(members, "The approximate SimRank of all clusters")
    J, weights = jaccard_of_others(members), relative_weights(members)
    joined = sp.csr_array((np.ones(J.nnz), J.indices, J.indptr), shape=J.shape)
    inverse = inverse_or_zero(np.asarray(joined @ weights))
    CS = (J @ sp.diags_array(weights) @ J.T).toarray() * inverse[:, None] * inverse
    np.fill_diagonal(CS, 0.0)
    counted = weights > 0
    largest = float(CS[np.ix_(counted, counted)].max(initial=0.0))
    CS *= decay / largest if largest > 0 else 0.0
    return _similarity(CS)
