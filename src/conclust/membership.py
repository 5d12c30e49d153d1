"""Quantities of soft memberships: certainty of objects, overlaps of clusters, order of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import number_array, plain_array, point_rows, refuse_gaps
from conclust._arrays.rows import ratio
from conclust._types import Floats, Ints
from conclust.exceptions import InputError

__all__ = [
    "bridgeness",
    "cluster_similarity",
    "entropy",
    "soft_centroids",
    "vat_order",
]

ROW_BLOCK = 1024


def check_membership(membership: Any, name: str = "membership") -> Floats:
    """Return a membership as a float64 array (n_samples, n_clusters) with rows that sum to 1.

    Sums of rows may be off by 1e-6 (the rounding of float32); rows are returned as they came.
    """
    array = number_array(membership, repr(name))
    if array.ndim != 2 or array.size == 0:
        raise InputError(
            f"{name!r} must be a 2-D array with one row per object and one column per cluster. Got an array "
            f"of shape {array.shape}."
        )
    # Written so that NaN also fails.
    wrong = ~((array >= 0).all(axis=1) & (np.abs(array.sum(axis=1) - 1.0) <= 1e-6))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InputError(
            f"The rows of {name!r} must be probabilities: not negative, with sum 1. Got row {i} with "
            f"smallest value {array[i].min():g} and sum {array[i].sum():g}."
        )
    return array


def entropy(membership: ArrayLike) -> Floats:
    """Measure how undecided each object is between the clusters.

    Parameters
    ----------
    membership : (n_samples, n_clusters) array-like of float
        Probabilities of the clusters for every object; rows sum to 1.

    Returns
    -------
    (n_samples,) float64
        Entropy of each row divided by log(n_clusters): 0 for an object that is certain of its
        cluster, 1 for one that is spread evenly over all of them. 0 where there is one cluster.

    Raises
    ------
    InputError
        If the rows are not probabilities.

    Examples
    --------
    >>> from conclust.membership import entropy
    >>> entropy([[1.0, 0.0], [0.5, 0.5]])
    array([0., 1.])
    """
    rows = check_membership(membership)
    n_clusters = rows.shape[1]
    if n_clusters == 1:
        return np.zeros(rows.shape[0])
    logs = np.log(rows, out=np.zeros_like(rows), where=rows > 0)
    spread = 0.0 - (rows * logs).sum(axis=1) / np.log(n_clusters)
    return np.asarray(np.clip(spread, 0.0, 1.0))


def bridgeness(membership: ArrayLike) -> Floats:
    """Measure to what extent each object is a bridge between clusters.

    Parameters
    ----------
    membership : (n_samples, n_clusters) array-like of float
        Probabilities of the clusters for every object; rows sum to 1.

    Returns
    -------
    (n_samples,) float64
        1 - sqrt(K / (K - 1) sum_k (y_ik - 1/K)^2): 0 for an object of one cluster, 1 for one that
        all K clusters share evenly. 0 where there is one cluster.

    Raises
    ------
    InputError
        If the rows are not probabilities.

    Notes
    -----
    An outlier that belongs to no cluster also has a high bridgeness: the measure cannot distinguish the two. Unlike
    `entropy` it falls linearly on the way from the even row to a certain one.

    References
    ----------
    T. Nepusz, A. Petróczi, L. Négyessy, F. Bazsó: Fuzzy communities and the concept of bridgeness
    in complex networks. Physical Review E 77, 2008.

    Examples
    --------
    >>> from conclust.membership import bridgeness
    >>> bridgeness([[1.0, 0.0], [0.75, 0.25], [0.5, 0.5]])
    array([0. , 0.5, 1. ])
    """
    rows = check_membership(membership)
    k = rows.shape[1]
    if k == 1:
        return np.zeros(rows.shape[0])
    spread = np.sqrt(k / (k - 1) * ((rows - 1.0 / k) ** 2).sum(axis=1))
    return np.asarray(np.clip(1.0 - spread, 0.0, 1.0))


def cluster_similarity(membership: ArrayLike) -> Floats:
    """Measure the overlap of each cluster with every other.

    Parameters
    ----------
    membership : (n_samples, n_clusters) array-like of float
        Probabilities of the clusters for every object; rows sum to 1.

    Returns
    -------
    (n_clusters, n_clusters) float64
        m_kl = sum_i y_ik y_il / sum_i y_ik: the probability that an object drawn from cluster k
        falls into cluster l when it is drawn again. Rows sum to 1; not symmetric: a small cluster
        can lie within a large one. The diagonal is the probability of staying in the cluster. Rows of
        clusters without mass are NaN.

    Raises
    ------
    InputError
        If the rows are not probabilities.

    Notes
    -----
    The edges of the graph of clusters of A. Lourenço et al., Probabilistic consensus clustering
    using evidence accumulation, Machine Learning 98, 2015, sections 7 and 7.4.

    Examples
    --------
    >>> from conclust.membership import cluster_similarity
    >>> cluster_similarity([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    array([[0.9, 0.1],
           [0.5, 0.5]])
    """
    rows = check_membership(membership)
    mass = rows.sum(axis=0)[:, np.newaxis]
    return ratio(rows.T @ rows, mass, np.nan)


def soft_centroids(membership: ArrayLike, X: ArrayLike) -> Floats:
    """Average points weighted by their membership in each cluster.

    Parameters
    ----------
    membership : (n_samples, n_clusters) array-like of float
        Probabilities of the clusters for every object; rows sum to 1.
    X : (n_samples, n_features) array-like of float
        The points.

    Returns
    -------
    (n_clusters, n_features) float64
        mu_k = sum_i y_ik x_i / sum_i y_ik; NaN for clusters without mass.

    Raises
    ------
    InputError
        If the rows are not probabilities, or X is not a row of finite numbers per object.

    Notes
    -----
    The centroids of A. Lourenço et al., Probabilistic consensus clustering using evidence
    accumulation, Machine Learning 98, 2015, sections 7 and 7.4.

    Examples
    --------
    >>> from conclust.membership import soft_centroids
    >>> soft_centroids([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], [[0.0], [3.0], [6.0]])
    array([[1.],
           [5.]])
    """
    rows = check_membership(membership)
    points = point_rows(X, len(rows)).astype(np.float64)
    refuse_gaps(points, X)
    return np.asarray(ratio(rows, rows.sum(axis=0), np.nan).T @ points)


def vat_order(D: ArrayLike) -> Ints:
    """Order objects so that the groups of a dissimilarity matrix stand as blocks on its diagonal.

    The order of "visual assessment of tendency": begin with an object of the largest
    dissimilarity, then always append the object that is nearest to the ones already placed (the
    order in which Prim's algorithm visits the minimum spanning tree). Clusters of single linkage
    are contiguous in it.

    Parameters
    ----------
    D : (n_samples, n_samples) array-like of float
        Symmetric dissimilarities; for a co-association use 1 - c_ij / N_ij. The diagonal is not
        read.

    Returns
    -------
    (n_samples,) int64
        The objects in their order: ``D[np.ix_(order, order)]`` is the picture. Ties go to the
        object of the lowest index.

    Raises
    ------
    InputError
        If D is not square, not symmetric, or holds NaN (a pair never seen together: give it the
        largest dissimilarity).

    Notes
    -----
    O(n^2) time, O(n) memory in addition to D.

    References
    ----------
    J. C. Bezdek, R. J. Hathaway: VAT: a tool for visual assessment of (cluster) tendency. IJCNN
    2002.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.membership import vat_order
    >>> D = np.array([[0, 9, 1, 9], [9, 0, 9, 2], [1, 9, 0, 9], [9, 2, 9, 0]])
    >>> vat_order(D)
    array([0, 2, 1, 3])
    """
    array = _check_dissimilarity(D)
    n = array.shape[0]
    order = np.zeros(n, dtype=np.int64)
    if n == 1:
        return order
    order[0] = _farthest(array)
    # Distance of every object to the nearest placed one; infinite for placed objects, which is why
    # infinite dissimilarities are refused.
    nearest = array[order[0]].astype(np.float64)
    placed = np.zeros(n, dtype=bool)
    for t in range(1, n):
        placed[order[t - 1]] = True
        nearest[order[t - 1]] = np.inf
        order[t] = np.argmin(nearest)
        np.minimum(nearest, array[order[t]], out=nearest, where=~placed)
    return order


def _farthest(array: NDArray[Any]) -> int:
    """Return the first object with the largest dissimilarity off the diagonal."""
    best, where = -np.inf, 0
    n = array.shape[0]
    for begin in range(0, n, ROW_BLOCK):
        block = np.array(array[begin : begin + ROW_BLOCK], dtype=np.float64)
        rows = np.arange(block.shape[0])
        block[rows, begin + rows] = -np.inf
        highest = block.max(axis=1)
        row = int(np.argmax(highest))
        if highest[row] > best:
            best, where = float(highest[row]), begin + row
    return where


def _check_dissimilarity(D: ArrayLike) -> NDArray[Any]:
    array = plain_array(D, "'D'", of="numbers")
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise InputError(
            f"'D' must be a square matrix of dissimilarities. Got an array of shape {array.shape}."
        )
    if array.dtype.kind not in "biuf":
        raise InputError(f"'D' must hold real numbers. Got an array of {array.dtype}.")
    for begin in range(0, array.shape[0], ROW_BLOCK):
        end = begin + ROW_BLOCK
        # The block right of the diagonal, and its transpose below it.
        right = np.array(array[begin:end, begin:], dtype=np.float64)
        below = np.array(array[begin:, begin:end].T, dtype=np.float64)
        np.fill_diagonal(right, 0.0)
        np.fill_diagonal(below, 0.0)
        if not (np.isfinite(right).all() and np.isfinite(below).all()):
            raise InputError(
                "'D' must hold finite numbers. Got NaN or infinity: give pairs that were never seen "
                "together the largest dissimilarity."
            )
        if (np.abs(right - below) > 1e-6 * np.abs(right) + 1e-12).any():
            raise InputError("'D' must be symmetric. Got D[i, j] != D[j, i] for some pair.")
    return array


def __dir__() -> list[str]:
    return __all__
