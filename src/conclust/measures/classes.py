"""How well clusters agree with known classes: by objects, by pairs and by information, from one contingency table."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Floats, Ints
from conclust._validation import check_real
from conclust.measures.comparison import entropy_of, pair_confusion
from conclust.measures.contingency import Contingency, contingency


def purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Share of the objects that are of the most frequent class of their cluster.

    .. math::

        \frac{1}{n} \sum_k \max_l n_{kl}

    over the clusters k of `labels_pred` and the classes l of `labels_true`. It rises with the number of clusters, and is
    1 if each object is a cluster: report it with `inverse_purity`, or use a measure that is corrected for chance.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The classes and the clusters; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        In (0, 1]; 1 if no cluster has objects of two classes.

    Raises
    ------
    InputError
        As for `consistency_index`.

    References
    ----------
    E. Amigo, J. Gonzalo, J. Artiles, F. Verdejo: A comparison of extrinsic clustering evaluation metrics based on formal
    constraints. Information Retrieval 12, 2009.

    Examples
    --------
    >>> from conclust.metrics import purity
    >>> purity([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1])
    0.6666666666666666
    """
    table = contingency(labels_true, labels_pred)
    return _largest_cells(table.columns, table) / table.n_samples


def inverse_purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of the objects that are in the most frequent cluster of their class.

    It is `purity` with the classes and the clusters exchanged, and is 1 if all objects are one cluster.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The classes and the clusters; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        In (0, 1]; 1 if no class is in two clusters.

    Raises
    ------
    InputError
        As for `consistency_index`.

    Examples
    --------
    >>> from conclust.metrics import inverse_purity
    >>> inverse_purity([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1])
    0.8333333333333334
    """
    table = contingency(labels_true, labels_pred)
    return _largest_cells(table.rows, table) / table.n_samples


def fowlkes_mallows_index(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Geometric mean of `pairwise_precision` and `pairwise_recall`.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        In [0, 1]; NaN, with an EvidenceWarning, where no pair is together in either partition (scikit-learn: 0).

    Raises
    ------
    InputError
        As for `consistency_index`.

    References
    ----------
    E. B. Fowlkes, C. L. Mallows: A method for comparing two hierarchical clusterings. JASA 78, 1983.

    Examples
    --------
    >>> from conclust.metrics import fowlkes_mallows_index
    >>> round(fowlkes_mallows_index([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.471405
    """
    pairs = pair_confusion(labels_true, labels_pred)
    return math.sqrt(pairs.precision * pairs.recall)


def bcubed_precision(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Mean over the objects of the share of their cluster that is of their class.

    .. math::

        \frac{1}{n} \sum_{k,l} \frac{n_{kl}^2}{n_k}

    over the clusters k of `labels_pred` and the classes l of `labels_true`. An object counts in its own cluster.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The classes and the clusters; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        In (0, 1]; 1 if no cluster has objects of two classes.

    Raises
    ------
    InputError
        As for `consistency_index`.

    References
    ----------
    A. Bagga, B. Baldwin: Entity-based cross-document coreferencing using the vector space model. COLING-ACL 1998.

    E. Amigo, J. Gonzalo, J. Artiles, F. Verdejo: A comparison of extrinsic clustering evaluation metrics based on formal
    constraints. Information Retrieval 12, 2009.

    Examples
    --------
    >>> from conclust.metrics import bcubed_precision
    >>> round(bcubed_precision([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.555556
    """
    table = contingency(labels_true, labels_pred)
    return _mean_share(table.column_sizes[table.columns], table)


def bcubed_recall(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Mean over the objects of the share of their class that is in their cluster.

    It is `bcubed_precision` with the classes and the clusters exchanged.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The classes and the clusters; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        In (0, 1]; 1 if no class is in two clusters.

    Raises
    ------
    InputError
        As for `consistency_index`.

    Examples
    --------
    >>> from conclust.metrics import bcubed_recall
    >>> round(bcubed_recall([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.833333
    """
    table = contingency(labels_true, labels_pred)
    return _mean_share(table.row_sizes[table.rows], table)


def bcubed_f1(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Harmonic mean of `bcubed_precision` and `bcubed_recall`.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        In (0, 1]; 1 for equal partitions.

    Raises
    ------
    InputError
        As for `consistency_index`.

    Examples
    --------
    >>> from conclust.metrics import bcubed_f1
    >>> round(bcubed_f1([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.666667
    """
    table = contingency(labels_true, labels_pred)
    precision = _mean_share(table.column_sizes[table.columns], table)
    recall = _mean_share(table.row_sizes[table.rows], table)
    return 2 * precision * recall / (precision + recall)


def homogeneity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of the entropy of the classes that the clusters explain.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The classes and the clusters; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        1 - H(classes | clusters) / H(classes), in [0, 1]: 1 if no cluster has objects of two classes, as where there is a
        single class.

    Raises
    ------
    InputError
        As for `consistency_index`.

    References
    ----------
    A. Rosenberg, J. Hirschberg: V-measure: a conditional entropy-based external cluster evaluation measure. EMNLP-CoNLL
    2007.

    Examples
    --------
    >>> from conclust.metrics import homogeneity
    >>> round(homogeneity([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.42062
    """
    table = contingency(labels_true, labels_pred)
    return _explained(table.row_sizes, table.column_sizes[table.columns], table)


def completeness(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of the entropy of the clusters that the classes explain.

    It is `homogeneity` with the classes and the clusters exchanged.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The classes and the clusters; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        1 - H(clusters | classes) / H(clusters), in [0, 1]: 1 if no class is in two clusters, as where there is a single
        cluster.

    Raises
    ------
    InputError
        As for `consistency_index`.

    Examples
    --------
    >>> from conclust.metrics import completeness
    >>> round(completeness([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.666667
    """
    table = contingency(labels_true, labels_pred)
    return _explained(table.column_sizes, table.row_sizes[table.rows], table)


def v_measure(labels_true: ArrayLike, labels_pred: ArrayLike, *, beta: float = 1.0) -> float:
    """Weighted harmonic mean of `homogeneity` and `completeness`.

    With `beta` 1 it is the normalized mutual information over the arithmetic mean of the entropies.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The classes and the clusters; missing objects and noise as for `consistency_index`.
    beta : float, default=1.0
        Weight of completeness relative to homogeneity, 0 or more. 0: homogeneity.

    Returns
    -------
    float
        (1 + beta) h c / (beta h + c), in [0, 1]; 0 where h and c are 0.

    Raises
    ------
    InputError
        As for `consistency_index`.
    ParameterError
        If `beta` is negative or not a finite number.

    Examples
    --------
    >>> from conclust.metrics import v_measure
    >>> round(v_measure([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.515804
    """
    beta = check_real(beta, "beta", "v_measure")
    table = contingency(labels_true, labels_pred)
    homogeneous = _explained(table.row_sizes, table.column_sizes[table.columns], table)
    complete = _explained(table.column_sizes, table.row_sizes[table.rows], table)
    weighted = beta * homogeneous + complete
    return (1 + beta) * homogeneous * complete / weighted if weighted else 0.0


def _largest_cells(clusters: Ints, table: Contingency) -> int:
    """Return the sum over the clusters of one side of their largest cells."""
    largest = np.zeros(max(table.shape), dtype=np.int64)
    np.maximum.at(largest, clusters, table.counts)
    return int(largest.sum())


def _mean_share(sizes: Ints, table: Contingency) -> float:
    """Return the mean over the objects of their cell's share of a cluster; `sizes`: of that cluster, per cell."""
    shares: Floats = table.counts * (table.counts / sizes)
    return min(1.0, math.fsum(shares.tolist()) / table.n_samples)


def _explained(sizes: Ints, given: Ints, table: Contingency) -> float:
    """Return the share of a partition's entropy that the other explains.

    `sizes`: the cluster sizes of the partition. `given`: for each cell, the size of the other partition's cluster.
    """
    if sizes.size == 1:
        return 1.0
    # Logarithms of ratios of counts: exactly 0 where the other partition explains everything.
    inside = table.counts * np.log(table.counts / given)
    left = -math.fsum(inside.tolist()) / table.n_samples
    return min(1.0, max(0.0, 1.0 - left / entropy_of(sizes)))
