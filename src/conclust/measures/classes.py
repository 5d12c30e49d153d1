"""How well clusters agree with known classes: by objects, by pairs and by information, from one contingency table."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Floats, Ints
from conclust.measures.comparison import pair_confusion
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

    Precision is the mean over the objects of the share of their cluster that is of their class, recall that of the share
    of their class that is in their cluster.

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
