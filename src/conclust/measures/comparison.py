"""Measures of agreement between two partitions, and between two memberships.

All measures of hard partitions are read from one contingency table (``contingency.py``): objects
that either side did not observe are left out, and a noise object is a cluster of one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.containers import check_row_names
from conclust._types import Floats, Ints
from conclust._validation import check_option
from conclust.exceptions import EvidenceWarning, InputError, warn
from conclust.measures.contingency import Contingency, contingency
from conclust.membership import check_membership

# Means of two entropies; see mean_entropy.
Average: TypeAlias = Literal["geometric", "arithmetic", "max", "min"]


def consistency_index(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of the objects in matched clusters: the consistency index H, or clustering accuracy.

    Clusters are matched one to one so that matched clusters share the most objects (the assignment
    problem, solved exactly; the numbers of clusters may differ).

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; the order does not matter. Objects missing from either (-1, NaN, None)
        are left out, a noise object (-2) is a cluster of one.

    Returns
    -------
    float
        In (0, 1]; 1 for equal partitions.

    Raises
    ------
    InputError
        If the two differ in length, are not 1-D, have fewer than two objects, hold values that are no
        labels, or share no object.

    References
    ----------
    A. L. N. Fred: Finding consistent clusters in data partitions. MCS 2001.

    Examples
    --------
    >>> from conclust.metrics import consistency_index
    >>> consistency_index([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1])
    0.6666666666666666
    """
    table = contingency(labels_true, labels_pred)
    if table.identical:
        return 1.0
    from conclust.measures.matching import best_matching

    rows, columns = best_matching(table)
    # Cells are in row-major order: a matched pair without a cell shares no object.
    key = rows * table.shape[1] + columns
    cells = table.rows * table.shape[1] + table.columns
    place = np.minimum(np.searchsorted(cells, key), cells.size - 1)
    matched_counts = np.where(cells[place] == key, table.counts[place], 0)
    return int(matched_counts.sum()) / table.n_samples


@dataclass(frozen=True)
class PairConfusion:
    """The unordered pairs of objects, by whether each of two partitions puts them together.

    Attributes
    ----------
    both : int
        Pairs together in both partitions (true positives).
    only_true : int
        Pairs together in `labels_true` alone (false negatives).
    only_pred : int
        Pairs together in `labels_pred` alone (false positives).
    neither : int
        Pairs apart in both (true negatives).
    """

    both: int
    only_true: int
    only_pred: int
    neither: int

    @property
    def n_pairs(self) -> int:
        """All pairs, n (n - 1) / 2."""
        return self.both + self.only_true + self.only_pred + self.neither

    @property
    def precision(self) -> float:
        """Share of the pairs together in `labels_pred` that are together in `labels_true`; 1 if there are none."""
        return self._share(self.both, self.both + self.only_pred)

    @property
    def recall(self) -> float:
        """Share of the pairs together in `labels_true` that are together in `labels_pred`; 1 if there are none."""
        return self._share(self.both, self.both + self.only_true)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; NaN if no pair is together in either."""
        return self._share(2 * self.both, 2 * self.both + self.only_true + self.only_pred)

    def _share(self, part: int, whole: int) -> float:
        """Return a ratio, 1 for 0 / 0; NaN if all objects are alone in both partitions, which then have nothing to compare."""
        if self.neither == self.n_pairs > 0:
            what = "Every object is alone in both partitions: measures of pairs put together are 0 / 0, and NaN."
            warn(what, EvidenceWarning)
            return math.nan
        return _ratio(part, whole)


def pair_confusion(labels_true: ArrayLike, labels_pred: ArrayLike) -> PairConfusion:
    """Count the pairs of objects that two partitions put together and apart.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.

    Returns
    -------
    PairConfusion
        Exact integers, with ``precision``, ``recall`` and ``f1``.

    Raises
    ------
    InputError
        As for `consistency_index`.

    Examples
    --------
    >>> from conclust.metrics import pair_confusion
    >>> pair_confusion([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1])
    PairConfusion(both=2, only_true=1, only_pred=4, neither=8)
    """
    return _pairs(contingency(labels_true, labels_pred))


def rand_index(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of the pairs of objects on which two partitions agree.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        In [0, 1]; 1 where there is no pair.

    Raises
    ------
    InputError
        As for `consistency_index`.

    References
    ----------
    W. M. Rand: Objective criteria for the evaluation of clustering methods. JASA 66, 1971.

    Examples
    --------
    >>> from conclust.metrics import rand_index
    >>> rand_index([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1])
    0.6666666666666666
    """
    pairs = pair_confusion(labels_true, labels_pred)
    return _ratio(pairs.both + pairs.neither, pairs.n_pairs)


def adjusted_rand_index(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Rand index corrected for chance: 0 is expected of random partitions of the same sizes.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        At most 1, and negative if the agreement is below chance. 1 for two partitions into one cluster; NaN, with an
        EvidenceWarning, for two partitions into single objects.

    Raises
    ------
    InputError
        As for `consistency_index`.

    References
    ----------
    L. Hubert, P. Arabie: Comparing partitions. Journal of Classification 2, 1985.

    Examples
    --------
    >>> from conclust.metrics import adjusted_rand_index
    >>> round(adjusted_rand_index([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.242424
    """
    pairs = pair_confusion(labels_true, labels_pred)
    # (both - ab/n) / ((a + b)/2 - ab/n), times 2n: Python integers, of any size.
    a, b = pairs.both + pairs.only_true, pairs.both + pairs.only_pred
    expected = 2 * a * b
    excess = 2 * pairs.both * pairs.n_pairs - expected
    return pairs._share(excess, (a + b) * pairs.n_pairs - expected)


def pairwise_f1(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """F1 measure over pairs of objects: harmonic mean of pairwise precision and recall.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        In [0, 1]; NaN, with an EvidenceWarning, where no pair is together in either partition.

    Raises
    ------
    InputError
        As for `consistency_index`.

    Examples
    --------
    >>> from conclust.metrics import pairwise_f1
    >>> round(pairwise_f1([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.444444
    """
    return pair_confusion(labels_true, labels_pred).f1


def pairwise_precision(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of the pairs together in `labels_pred` that are together in `labels_true`.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        In [0, 1]; 1 where no pair is together in `labels_pred`.

    Raises
    ------
    InputError
        As for `consistency_index`.

    Examples
    --------
    >>> from conclust.metrics import pairwise_precision
    >>> round(pairwise_precision([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.333333
    """
    return pair_confusion(labels_true, labels_pred).precision


def pairwise_recall(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of the pairs together in `labels_true` that are together in `labels_pred`.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        In [0, 1]; 1 where no pair is together in `labels_true`.

    Raises
    ------
    InputError
        As for `consistency_index`.

    Examples
    --------
    >>> from conclust.metrics import pairwise_recall
    >>> round(pairwise_recall([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.666667
    """
    return pair_confusion(labels_true, labels_pred).recall


def class_f1(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""F measure over classes: each class is compared with the cluster that fits it best.

    .. math::

        \sum_l \frac{n_l}{n} \max_k \frac{2\, n_{kl}}{n_k + n_l}

    over the classes l of `labels_true`; several classes may choose the same cluster k, so the measure
    is not symmetric.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The classes and the clusters; missing objects and noise as for `consistency_index`.

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
    >>> from conclust.metrics import class_f1
    >>> round(class_f1([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.666667
    """
    table = contingency(labels_true, labels_pred)
    sizes = table.row_sizes[table.rows] + table.column_sizes[table.columns]
    best = np.zeros(table.shape[0])
    np.maximum.at(best, table.rows, 2.0 * table.counts / sizes)
    return min(1.0, math.fsum((table.row_sizes * best).tolist()) / table.n_samples)


def mirkin_distance(labels_true: ArrayLike, labels_pred: ArrayLike) -> int:
    """Count the pairs of objects that one partition puts together and the other apart.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.

    Returns
    -------
    int
        Unordered pairs, from 0 to n (n - 1) / 2: the number of pairs times one minus the Rand
        index. Mirkin's own distance counts ordered pairs, which is twice this.

    Raises
    ------
    InputError
        As for `consistency_index`.

    Examples
    --------
    >>> from conclust.metrics import mirkin_distance
    >>> mirkin_distance([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1])
    5
    """
    pairs = pair_confusion(labels_true, labels_pred)
    return pairs.only_true + pairs.only_pred


def variation_of_information(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Information, in bits, lost and gained between two partitions (variation of information).

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.

    Returns
    -------
    float
        H(A|B) + H(B|A) in bits (logarithms to base 2): a metric, 0 for equal partitions and at
        most log2(n).

    Raises
    ------
    InputError
        As for `consistency_index`.

    References
    ----------
    M. Meila: Comparing clusterings: an information based distance. Journal of Multivariate
    Analysis 98, 2007.

    Examples
    --------
    >>> from conclust.metrics import variation_of_information
    >>> variation_of_information([0, 0, 1, 1], [0, 1, 0, 1])
    2.0
    """
    table = contingency(labels_true, labels_pred)
    # Logarithms of ratios of counts: exactly 0 for equal partitions.
    inside = np.log2(table.counts / table.row_sizes[table.rows])
    inside += np.log2(table.counts / table.column_sizes[table.columns])
    return max(0.0, -math.fsum((table.counts * inside).tolist()) / table.n_samples)


def element_centric_similarity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Mean over the objects of the similarity of their clusters in two partitions.

    For an object whose clusters have a and b objects, m of them in both, it is m / max(a, b): the element-centric
    similarity of two hard partitions, whatever its parameter alpha.

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

    References
    ----------
    A. J. Gates, I. B. Wood, W. P. Hetrick and Y.-Y. Ahn: Element-centric clustering comparison unifies overlaps and
    hierarchy. Scientific Reports 9, 2019.

    Examples
    --------
    >>> from conclust.metrics import element_centric_similarity
    >>> round(element_centric_similarity([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.555556
    """
    table = contingency(labels_true, labels_pred)
    larger = np.maximum(table.row_sizes[table.rows], table.column_sizes[table.columns])
    return float((table.counts.astype(np.float64) ** 2 / larger).sum()) / table.n_samples


def normalized_mutual_information(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, average: Average = "geometric"
) -> float:
    """Mutual information of two partitions over a mean of their entropies.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int or str
        The two partitions; missing objects and noise as for `consistency_index`.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        The mean of the two entropies. "geometric": as in Strehl and Ghosh. "arithmetic": the default
        of scikit-learn's ``normalized_mutual_info_score``.

    Returns
    -------
    float
        In [0, 1]. 0 if exactly one partition has a single cluster, 1 if both have.

    Raises
    ------
    InputError
        As for `consistency_index`.
    ParameterError
        If `average` is not one of these.

    References
    ----------
    A. Strehl, J. Ghosh: Cluster ensembles. JMLR 3, 2002.

    Examples
    --------
    >>> from conclust.metrics import normalized_mutual_information
    >>> round(normalized_mutual_information([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]), 6)
    0.529541
    """
    check_option(average, "average", "normalized_mutual_information", Average)
    return nmi_of(contingency(labels_true, labels_pred), average)


def js_divergence(Z: ArrayLike, Y: ArrayLike) -> float:
    r"""Mean Jensen-Shannon divergence, in bits, of two soft memberships: the criterion J.

    .. math::

        J = \frac{1}{n} \min_P \sum_i \operatorname{JS}(z_i \,\|\, P y_i)

    over all matchings P of the clusters. The divergence is a sum over clusters, so the best matching is
    an assignment problem, and is found exactly.

    Parameters
    ----------
    Z : (n_samples, n_clusters) array-like of float
        Probabilities of the clusters for every object; rows sum to 1.
    Y : (n_samples, n_clusters_y) array-like of float
        The same of another solution. The numbers of clusters may differ: the smaller is filled up
        with clusters of probability 0.

    Returns
    -------
    float
        In [0, 1]: 0 for memberships that are equal up to the order of the clusters.

    Raises
    ------
    InputError
        If the numbers of objects differ or the rows are not probabilities.

    References
    ----------
    A. Lourenco et al.: Probabilistic consensus clustering using evidence accumulation. Machine
    Learning 98, 2015, section 7. The logarithm must be to base 2 for the bound of 1 given there.

    Examples
    --------
    >>> from conclust.metrics import js_divergence
    >>> js_divergence([[1.0, 0.0]], [[0.0, 1.0]])
    0.0
    >>> round(js_divergence([[1.0, 0.0]], [[0.5, 0.5]]), 6)
    0.311278
    """
    check_row_names({"Z": Z, "Y": Y}, named_only=True)
    z, y = check_membership(Z, "Z"), check_membership(Y, "Y")
    if z.shape[0] != y.shape[0]:
        raise InputError(
            "Two memberships are compared object by object and must have as many rows. Got "
            f"{z.shape[0]} in 'Z' and {y.shape[0]} in 'Y'."
        )
    from scipy.special import xlogy

    from conclust.measures.matching import assign

    bits = math.log2(math.e)
    columns_z, columns_y = np.ascontiguousarray(z.T), np.ascontiguousarray(y.T)
    # JS of a and b in one cluster: (a log a + b log b) / 2 - m log m with m = (a + b) / 2; where
    # the other side has no such cluster, m = a / 2 leaves a / 2 bits.
    size = max(columns_z.shape[0], columns_y.shape[0])
    cost = np.zeros((size, size))
    cost[: columns_z.shape[0]] += columns_z.sum(axis=1)[:, np.newaxis] / 2
    cost[:, : columns_y.shape[0]] += columns_y.sum(axis=1) / 2
    own_z, own_y = xlogy(columns_z, columns_z), xlogy(columns_y, columns_y)
    for k, a in enumerate(columns_z):
        for j, b in enumerate(columns_y):
            middle = (a + b) / 2
            apart = (own_z[k] + own_y[j]) / 2 - xlogy(middle, middle)
            cost[k, j] = bits * max(0.0, float(apart.sum()))
    return min(1.0, math.fsum(cost[np.arange(size), assign(-cost)].tolist()) / len(z))


def _pairs(table: Contingency) -> PairConfusion:
    both, together_true, together_pred = (
        # Below n^2, which fits int64 up to n = 3e9. Later products use Python ints.
        int((sizes * (sizes - 1) // 2).sum())
        for sizes in (table.counts, table.row_sizes, table.column_sizes)
    )
    n_pairs = table.n_samples * (table.n_samples - 1) // 2
    return PairConfusion(
        both=both,
        only_true=together_true - both,
        only_pred=together_pred - both,
        neither=n_pairs - together_true - together_pred + both,
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def nmi_of(table: Contingency, average: Average) -> float:
    """Return the normalized mutual information of the two partitions of a table."""
    if table.identical:
        return 1.0
    if 1 in table.shape:
        return 0.0
    entropies = [entropy_of(sizes) for sizes in (table.row_sizes, table.column_sizes)]
    mean = float(mean_entropy(entropies[0], entropies[1], average))
    return min(1.0, max(0.0, mutual_information_of(table) / mean))


def mutual_information_of(table: Contingency) -> float:
    """Return the mutual information of the two partitions of a table, in nats."""
    n = table.n_samples
    expected = table.row_sizes[table.rows].astype(np.float64)
    expected *= table.column_sizes[table.columns]
    return math.fsum((table.counts * np.log(table.counts * float(n) / expected)).tolist()) / n


def entropy_of(sizes: Ints) -> float:
    """Return the entropy of a partition with these cluster sizes, in nats."""
    n = int(sizes.sum())
    return -math.fsum((sizes * np.log(sizes / n)).tolist()) / n


def mean_entropy(a: Any, b: Any, average: Average) -> Any:
    """Return the mean that normalizes the mutual information."""
    if average == "geometric":
        return np.sqrt(a * b)
    if average == "arithmetic":
        return (a + b) / 2
    return np.maximum(a, b) if average == "max" else np.minimum(a, b)


def purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Share of the objects that belong to the most frequent class of their cluster.

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
    largest = np.zeros(table.shape[1], dtype=np.int64)
    np.maximum.at(largest, table.columns, table.counts)
    return int(largest.sum()) / table.n_samples


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
        At most 1, the value for equal partitions; below 0 if they have less in common than random ones. 0 if exactly one
        partition has a single cluster, 1 if both have. Also 0 if chance alone reaches the mean, as with "min" if one partition
        has one object per cluster.

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
