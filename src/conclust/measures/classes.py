"""How well clusters agree with known classes: by objects, by pairs and by information, from one contingency table."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Floats, Ints
from conclust._validation import check_option
from conclust.measures.comparison import (
    Average,
    entropy_of,
    mean_entropy,
    mutual_information_of,
    pair_confusion,
)
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


def bcubed_f1(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Harmonic mean of the B-cubed precision and recall, object by object.

    The precision of an object is the share of its cluster that belongs to its class, its recall the share of its class that
    is in its cluster; both are averaged over the objects.

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


def _largest_cells(clusters: Ints, table: Contingency) -> int:
    """Return the sum over the clusters of one side of their largest cells."""
    largest = np.zeros(max(table.shape), dtype=np.int64)
    np.maximum.at(largest, clusters, table.counts)
    return int(largest.sum())


def _mean_share(sizes: Ints, table: Contingency) -> float:
    """Return the mean over the objects of their cell's share of a cluster; `sizes`: of that cluster, per cell."""
    shares: Floats = table.counts * (table.counts / sizes)
    return min(1.0, math.fsum(shares.tolist()) / table.n_samples)


def adjusted_mutual_information(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, average: Average = "arithmetic"
) -> float:
    r"""Mutual information corrected for chance: 0 is expected of random partitions of the same sizes.

    .. math::

        \frac{I - \operatorname{E} I}{\operatorname{mean}(H_1, H_2) - \operatorname{E} I}

    with the expectation over all partitions with these cluster sizes. Unlike normalized mutual information it does
    not rise with the number of clusters alone.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.
    average : {"arithmetic", "geometric", "max", "min"}, default="arithmetic"
        The mean of the two entropies. "max" is recommended in [1]_; "arithmetic" is scikit-learn's default.

    Returns
    -------
    float
        At most 1, which equal partitions have; below 0 where they have less in common than random ones. 0 where a
        partition has a single cluster, unless both have: then 1. 0 too where chance alone reaches the mean, as with
        "min" if one partition has one object per cluster.

    Raises
    ------
    InputError
        As for `consistency_index`.
    ParameterError
        If `average` is not one of these.

    Notes
    -----
    Time grows with the number of pairs of different cluster sizes times the smaller size.

    References
    ----------
    .. [1] N. X. Vinh, J. Epps, J. Bailey: Information theoretic measures for clusterings comparison. JMLR 11, 2010.

    Examples
    --------
    >>> from conclust.metrics import adjusted_mutual_information
    >>> round(adjusted_mutual_information([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.298792
    """
    check_option(average, "average", "adjusted_mutual_information", Average)
    table = contingency(labels_true, labels_pred)
    if table.identical:
        return 1.0
    if 1 in table.shape:
        return 0.0
    rows, columns = table.row_sizes, table.column_sizes
    expected = _expected_mutual_information(rows, columns, table.n_samples)
    mean = float(mean_entropy(entropy_of(rows), entropy_of(columns), average))
    above = mutual_information_of(table) - expected
    room = mean - expected
    # With "min" chance alone reaches the mean where one partition has nearly one object per cluster.
    if abs(room) <= 1e-9 * mean:
        return 0.0
    return min(1.0, above / room)


def _expected_mutual_information(rows: Ints, columns: Ints, n: int) -> float:
    """Return the mean mutual information, in nats, of all pairs of partitions with these cluster sizes.

    The objects that two clusters share follow the hypergeometric distribution, by their sizes alone: clusters of
    equal sizes are counted together.
    """
    from scipy.special import gammaln  # late: it takes 0.1 s

    terms = []
    column_sizes, column_counts = np.unique(columns, return_counts=True)
    for a, a_count in zip(*np.unique(rows, return_counts=True), strict=True):
        for b, b_count in zip(column_sizes, column_counts, strict=True):
            shared = np.arange(max(1, a + b - n), min(a, b) + 1, dtype=np.float64)
            log_probability = (
                gammaln([a + 1.0, b + 1.0, n - a + 1.0, n - b + 1.0]).sum()
                - gammaln(n + 1.0)
                - gammaln(shared + 1.0)
                - gammaln(a - shared + 1.0)
                - gammaln(b - shared + 1.0)
                - gammaln(n - a - b + shared + 1.0)
            )
            information = shared * np.log(shared * n / (float(a) * b))
            terms.append(a_count * b_count * float(information @ np.exp(log_probability)))
    return math.fsum(terms) / n
