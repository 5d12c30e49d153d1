"""Similarities of two clusters of a partition by the clusters of other partitions that overlap with both.

Three clusters form a connected triple if two of them, its ends, overlap with the third. Two clusters are the more
similar, the more connected triples they are the ends of.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from conclust._arrays.rows import ratio
from conclust._threads import one_library_thread
from conclust._types import Floats
from conclust._validation import check_real
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.derived import check_gram
from conclust.similarity.jaccard import check_square, jaccard_of_others, relative_weights


def connected_triples(ensemble: Ensemble | ArrayLike, *, decay: float = 0.8) -> sp.csr_array:
    r"""Compare the clusters of each partition by weighted connected triples (WCT).

    Two clusters a and b of a partition are similar if both overlap with the same clusters k of the other
    partitions, J being the Jaccard similarity (:func:`cluster_jaccard`):

    .. math::

        WCT_{ab} = \sum_k \min(J_{ak}, J_{bk})

    divided by the largest of all partitions, times `decay` [1]_ [2]_.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions, hard or soft. A partition's weight is the number of times that its clusters count as third.
    decay : float, default=0.8
        Similarity of the most similar different clusters, in [0, 1]; 0.9 in the papers on LCE.

    Returns
    -------
    csr_array of shape (T, T)
        In the order of ``Ensemble.indicator``: 1 on the diagonal, `decay` WCT / max between clusters
        of one partition, nothing between partitions.

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
    O(n N^2) time for n objects and N partitions, and at most T sum K_u^2 for partitions of K_u
    clusters, T altogether.

    References
    ----------
    .. [1] N. Iam-On, T. Boongoen and S. Garrett, "Refining pairwise similarity matrix for cluster
       ensemble problem with cluster relations", Discovery Science 2008.
    .. [2] N. Iam-On and S. Garrett, "LinkCluE: a MATLAB package for link-based cluster ensembles",
       Journal of Statistical Software 36(9), 2010.

    Examples
    --------
    >>> from conclust.similarity import connected_triples
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> connected_triples(labels).toarray()[0].round(4)
    array([1. , 0.4, 0. , 0. , 0. , 0. ])
    """
    check_real(decay, "decay", "connected_triples", high=1.0)
    members = as_ensemble(ensemble)
    J, weights = jaccard_of_others(members), relative_weights(members)

    def shared(rows: sp.csr_array) -> Floats:
        k = rows.shape[0]
        columns = np.ascontiguousarray(rows.toarray().T)  # (T, k)
        overlaps = np.zeros((k, k))
        for a in range(k - 1):
            third = rows.indices[rows.indptr[a] : rows.indptr[a + 1]]
            least = np.minimum(columns[third, a + 1 :], columns[third, a, None])
            overlaps[a, a + 1 :] = weights[third] @ least
        return overlaps + overlaps.T

    return _within_partitions(members, J, shared, decay)


def triple_quality(ensemble: Ensemble | ArrayLike, *, decay: float = 0.8) -> sp.csr_array:
    r"""Compare the clusters of each partition by weighted triple quality (WTQ).

    Like :func:`connected_triples`, but a third cluster k that shares objects with both a and b counts more the fewer other
    clusters it resembles [1]_, J being the Jaccard similarity:

    .. math::

        WTQ_{ab} = \sum_{k:\, J_{ak} J_{bk} > 0} \frac{1}{\sum_l J_{kl}}

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions, hard or soft; their weights count in both sums.
    decay : float, default=0.8
        In [0, 1]: similarity of the most similar different clusters.

    Returns
    -------
    csr_array of shape (T, T)
        In the order of ``Ensemble.indicator``: 1 on the diagonal, `decay` WTQ / max between clusters
        of one partition, nothing between partitions.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If `decay` is out of its range.
    DenseLimitError
        If there would be more than 2^27 similarities.

    References
    ----------
    .. [1] N. Iam-On, T. Boongoen, S. Garrett and C. Price, "A link-based cluster ensemble approach for
       categorical data clustering", IEEE TKDE 24(3), 2012.

    Examples
    --------
    >>> from conclust.similarity import triple_quality
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> triple_quality(labels).toarray()[0].round(4)
    array([1.    , 0.3818, 0.    , 0.    , 0.    , 0.    ])
    """
    check_real(decay, "decay", "triple_quality", high=1.0)
    members = as_ensemble(ensemble)
    J, weights = jaccard_of_others(members), relative_weights(members)
    quality = ratio(weights, np.asarray(J @ weights))

    def shared(rows: sp.csr_array) -> Floats:
        joined = sp.csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)
        weights: Floats = (joined @ sp.diags_array(quality) @ joined.T).toarray()
        np.fill_diagonal(weights, 0.0)
        return weights

    return _within_partitions(members, J, shared, decay)


def common_neighbours(ensemble: Ensemble | ArrayLike) -> Floats:
    r"""Compare all clusters by the clusters with which both overlap (SACT).

    The size-adjusted common neighbours of the clusters of an ensemble [1]_, J being the Jaccard similarity
    (:func:`cluster_jaccard`) with 1 on the diagonal, so that two clusters that overlap are neighbours of both:

    .. math::

        SACT_{ab} = \sum_k w_k \min(J_{ak}, J_{bk})

    divided by the largest value, including those for a = b.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions, hard or soft. A partition's weight w is the number of times that its clusters count.

    Returns
    -------
    ndarray of shape (T, T)
        In the order of ``Ensemble.indicator``: from 0 to 1, with 1 on the diagonal.

    Raises
    ------
    InputError
        If the labels are malformed.
    DenseLimitError
        If there would be more than 2^27 similarities.

    Notes
    -----
    O(n N^2 + T^2 q) time for T clusters that overlap with q others each.

    References
    ----------
    .. [1] D. Huang, J.-H. Lai and C.-D. Wang, "Combining multiple clusterings via crowd agreement
       estimation and multi-granularity link analysis", Neurocomputing 170, 2015.

    Examples
    --------
    >>> from conclust.similarity import common_neighbours
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> common_neighbours(labels)[0].round(4)
    array([1.    , 0.0882, 0.9412, 0.0882, 0.7059, 0.    ])
    """
    members = as_ensemble(ensemble)
    check_square(members, "The common neighbours of all clusters")
    J, weights = jaccard_of_others(members), relative_weights(members)
    T = J.shape[0]
    columns = (J + sp.eye_array(T)).toarray()
    links = sp.csr_array(columns)
    overlaps = np.empty((T, T))
    with one_library_thread():
        for a in range(T):
            third = links.indices[links.indptr[a] : links.indptr[a + 1]]
            # Only later clusters: each pair is counted once.
            least = np.minimum(columns[third, a:], columns[third, a, None])
            overlaps[a, a:] = overlaps[a:, a] = weights[third] @ least
    # Clusters of weight 0 do not count for the scale.
    counting = weights > 0
    largest = float(overlaps[np.ix_(counting, counting)].max(initial=0.0))
    if largest > 0:
        np.minimum(overlaps / largest, 1.0, out=overlaps)
    np.fill_diagonal(overlaps, 1.0)
    return overlaps


def _within_partitions(
    ensemble: Ensemble, J: sp.csr_array, shared: Callable[[sp.csr_array], Floats], decay: float
) -> sp.csr_array:
    """Return I + `decay` * S, with S = `shared` of the rows of J of each partition divided by its maximum."""
    counts = ensemble.cluster_counts
    check_gram(
        int((counts.astype(np.int64) ** 2).sum()),
        "The similarities of the clusters of each partition",
        "Use partitions of fewer clusters, or a method that makes none: HBGF, LWEA, LWGP.",
    )
    blocks, largest = [], 0.0
    with one_library_thread():
        for u, begin in enumerate(ensemble.offsets[:-1]):
            block = shared(sp.csr_array(J[begin : begin + counts[u]]))
            # Clusters of weight 0 do not count for the scale.
            if ensemble.partition_weights[u] > 0:
                largest = max(largest, float(block.max(initial=0.0)))
            blocks.append(block)
    scale = decay / largest if largest > 0 else 0.0
    for block in blocks:
        block *= scale
        np.minimum(block, 1.0, out=block)
        np.fill_diagonal(block, 1.0)
    # A partition of noise only has no cluster.
    filled = [sp.csr_array(block) for block in blocks if len(block)]
    if not filled:
        return sp.csr_array((0, 0))
    return sp.csr_array(sp.block_diag(filled, format="csr"))
