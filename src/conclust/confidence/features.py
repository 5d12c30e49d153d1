"""Features that distinguish clusters: the difference between a cluster and the other objects."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import check_row_names, is_blank, is_missing, moderate
from conclust._arrays.rows import ratio
from conclust._types import Bools, Floats, Ints
from conclust._validation import count
from conclust.confidence.reading import read_features
from conclust.exceptions import InputError
from conclust.measures.contingency import read_labels

# Maximum number of values of the points processed in one pass.
_AT_ONCE = 1 << 22
# A spread below this share of the values is a rounding error of equal values.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class ClusterFeatures:
    """For each cluster and feature, the difference between its values and those of the other objects.

    Attributes
    ----------
    inside : ndarray of shape (n_clusters, n_features)
        Mean of the feature in the cluster.
    outside : ndarray of shape (n_clusters, n_features)
        Mean of the feature over the objects of the other clusters; NaN if there are no others.
    deviation : ndarray of shape (n_clusters, n_features)
        Standard deviation about these two means, pooled.
    difference : ndarray of shape (n_clusters, n_features)
        Standardised mean difference (Cohen's d): ``(inside - outside) / deviation``. It is infinite if the means
        differ and no value deviates from them, 0 if all values are equal, and NaN if there are no other objects or
        too few values for a deviation.
    """

    inside: Floats
    outside: Floats
    deviation: Floats
    difference: Floats

    def __repr__(self) -> str:
        n_clusters, n_features = self.inside.shape
        return f"ClusterFeatures({count(n_clusters, 'cluster')}, {count(n_features, 'feature')})"

    def largest(self, cluster: int, n_features: int = 10) -> Ints:
        """Return the features that distinguish a cluster most from the others.

        Parameters
        ----------
        cluster : int
            Its number.
        n_features : int, default=10
            Maximum number of features.

        Returns
        -------
        ndarray of int64 of shape (at most n_features,)
            Features by decreasing size of the difference; features without one are left out.
        """
        size = np.abs(self.difference[cluster])
        order = np.argsort(-np.nan_to_num(size, nan=-1.0), kind="stable")
        return order[: min(n_features, np.count_nonzero(~np.isnan(size)))].astype(np.int64)


def cluster_features(X: ArrayLike, labels: ArrayLike) -> ClusterFeatures:
    """Measure which features distinguish each cluster from the other objects.

    There is deliberately no p-value. Clusters that were found in these features differ in them by construction, and a
    test that ignores this also rejects on data without clusters [1]_.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points; cells that are NaN are left out.
    labels : array-like of shape (n_samples,)
        Their clusters. Objects with a negative label or NaN are in no cluster, and not among the others.

    Returns
    -------
    ClusterFeatures
        Means and standardised differences, clusters in order of first appearance.

    Raises
    ------
    InputError
        If X is not a row of numbers for each label, or holds infinite ones.

    References
    ----------
    .. [1] L. L. Gao, J. Bien and D. Witten, "Selective inference for hierarchical clustering", JASA 119,
       2024.

    Examples
    --------
    >>> from conclust.confidence import cluster_features
    >>> found = cluster_features([[0, 5], [2, 5], [9, 4], [11, 6]], [0, 0, 1, 1])
    >>> found.difference.round(2)
    array([[-6.36,  0.  ],
           [ 6.36,  0.  ]])
    >>> found.largest(1, 1)
    array([0])
    """
    check_row_names({"X": X, "labels": labels}, named_only=True)
    codes, _ = read_labels(labels, "labels")
    points = read_features(X, len(codes), empty_cells=True)
    clustered = np.flatnonzero(codes >= 0)
    K, d = int(codes.max(initial=-1)) + 1, points.shape[1]
    Z = sp.csr_array(
        (np.ones(len(clustered)), (codes[clustered], clustered)), shape=(K, len(codes))
    )
    values = np.empty((3, K, d))
    step = max(1, _AT_ONCE // max(len(codes), 1))
    for first in range(0, d, step):
        columns = slice(first, first + step)
        part, unit = moderate(np.asarray(points[:, columns], dtype=np.float64))
        values[:, :, columns] = _moments(part, codes, Z)
        values[:, :, columns] *= unit
    inside, outside, deviation = values
    difference = standardised(inside, outside, deviation)
    return ClusterFeatures(inside, outside, deviation, difference)


def standardised(inside: Floats, outside: Floats, deviation: Floats) -> Floats:
    """Return differences of two means in deviations about them: infinite where nothing varies about them."""
    apart = inside - outside
    difference = np.full(apart.shape, np.nan)
    same = np.abs(apart) <= _ROUNDING * np.maximum(np.abs(inside), np.abs(outside))
    difference[same & ~np.isnan(deviation)] = 0.0
    with np.errstate(divide="ignore"):
        np.divide(apart, deviation, out=difference, where=~same & ~np.isnan(deviation))
    return difference


def _moments(points: Floats, codes: Ints, Z: sp.csr_array) -> tuple[Floats, Floats, Floats]:
    """Return the means in each cluster and in the others, and the pooled deviation about them."""
    finite = ~np.isnan(points)
    filled = np.where(finite, points, 0.0)
    count = np.asarray(Z @ finite.astype(np.float64))
    # The mean of the deviations from a mean corrects its rounding errors: no digits are lost if values are large and
    # close together, and the mean of equal values is their value, also beside large values in other clusters.
    mean = _share(np.asarray(Z @ filled), count)
    mean += _share(np.asarray(Z @ _less(filled, mean, codes, finite)), count)
    within = np.asarray(Z @ np.square(_less(filled, mean, codes, finite)))
    outside, pooled = np.empty_like(mean), np.empty_like(mean)
    own = np.nan_to_num(mean)
    for k in range(len(mean)):
        others = np.arange(len(mean)) != k
        held = count[others]
        n_rest = held.sum(axis=0)
        outside[k] = _share((held * own[others]).sum(axis=0), n_rest)
        outside[k] += _share((held * (own[others] - outside[k])).sum(axis=0), n_rest)
        spread = held * np.square(own[others] - outside[k])
        squares = (
            within[k] + within[others].sum(axis=0) + np.where(n_rest > 0, spread.sum(axis=0), 0)
        )
        free = count[k] + n_rest - 2
        pooled[k] = np.sqrt(_share(squares, np.where((count[k] > 0) & (n_rest > 0), free, 0.0)))
    pooled[pooled <= _ROUNDING * np.abs(filled).max(axis=0, initial=0.0)] = 0.0
    return mean, outside, pooled


def _less(points: Floats, means: Floats, codes: Ints, finite: Bools) -> Floats:
    """Return the deviations of points from the means of their clusters, 0 for empty cells."""
    own = np.zeros(points.shape)
    own[codes >= 0] = means[codes[codes >= 0]]
    return np.where(finite, points - own, 0.0)


def _share(sums: Floats, counts: Floats) -> Floats:
    """Return sums over counts; NaN where nothing was counted."""
    return ratio(sums, counts, np.nan)


@dataclass(frozen=True)
class ClusterCategories:
    """For each cluster and category, its share of the cluster and of the other objects.

    Attributes
    ----------
    column : ndarray of int64 of shape (n_categories,)
        The column that each category belongs to; categories of one column follow each other.
    category : tuple of length n_categories
        Its value, in order of first appearance.
    shares : ClusterFeatures
        Features of the indicator of each category, which is 1 for objects in the category. `inside` and `outside` are
        shares, and `difference` is in standard deviations, as for any feature.
    """

    column: Ints
    category: tuple[Hashable, ...]
    shares: ClusterFeatures

    def __repr__(self) -> str:
        n_clusters, n_categories = self.shares.inside.shape
        n_columns = len(np.unique(self.column))
        return (
            f"ClusterCategories({count(n_clusters, 'cluster')}, {count(n_categories, 'category')} of "
            f"{count(n_columns, 'column')})"
        )


def cluster_categories(categories: ArrayLike, labels: ArrayLike) -> ClusterCategories:
    """Return the share of each category in each cluster, and among the other objects.

    The result equals `cluster_features` for the indicators of the categories, but the indicators are not formed.

    Parameters
    ----------
    categories : array-like of shape (n_samples, n_columns)
        Names or numbers. An empty cell (None, NaN) is left out, but only in its column.
    labels : array-like of shape (n_samples,)
        The clusters. Objects with a negative label or NaN are in no cluster, and not among the others.

    Returns
    -------
    ClusterCategories
        Shares and standardised differences, clusters in order of first appearance.

    Raises
    ------
    InputError
        If the number of rows of categories differs from the number of labels.

    Examples
    --------
    >>> from conclust.confidence import cluster_categories
    >>> found = cluster_categories([["a"], ["a"], ["a"], ["b"], ["b"], [None]], [0, 0, 0, 0, 1, 1])
    >>> found.category
    ('a', 'b')
    >>> found.shares.inside
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    check_row_names({"categories": categories, "labels": labels}, named_only=True)
    codes, _ = read_labels(labels, "labels")
    columns = _columns(categories, len(codes))
    in_cluster = codes >= 0
    K = int(codes.max(initial=-1)) + 1
    parts, owner, names = [], [], []
    for j, values in enumerate(columns):
        category_codes, values_of_column = _codes(values)
        observed = in_cluster & (category_codes >= 0)
        cells = np.bincount(
            codes[observed] * len(values_of_column) + category_codes[observed],
            minlength=K * len(values_of_column),
        )
        parts.append(_shares(cells.reshape(K, len(values_of_column)).astype(np.float64)))
        owner += [j] * len(values_of_column)
        names += values_of_column
    inside, outside, deviation = [np.concatenate(of, axis=1) for of in zip(*parts, strict=True)]
    return ClusterCategories(
        np.array(owner, dtype=np.int64),
        tuple(names),
        ClusterFeatures(inside, outside, deviation, standardised(inside, outside, deviation)),
    )


def _columns(categories: ArrayLike, n: int) -> list[NDArray[np.object_]]:
    array = np.asarray(categories, dtype=object)
    if array.ndim != 2 or len(array) != n or not array.shape[1]:
        raise InputError(
            f"'categories' must hold a row for each of the {n} labels and at least one column. Got an array "
            f"of shape {array.shape}."
        )
    return [array[:, j] for j in range(array.shape[1])]


def _codes(values: NDArray[np.object_]) -> tuple[Ints, list[Hashable]]:
    """Number the categories by first appearance, with -1 for empty cells; also return their values."""
    number: dict[Hashable, int] = {}
    codes = np.full(len(values), -1, dtype=np.int64)
    for i, value in enumerate(values.tolist()):
        if is_missing(value) or is_blank(value):
            continue
        try:
            codes[i] = number.setdefault(value, len(number))
        except TypeError as error:
            raise InputError(
                f"'categories' must hold names or numbers. Got {type(value).__name__} in row {i}."
            ) from error
    return codes, list(number)


def _shares(counts: Floats) -> tuple[Floats, ...]:
    """Return shares inside and outside of each cluster, and the deviation about these two."""
    totals = counts.sum(axis=1, keepdims=True)
    others, n_others = counts.sum(axis=0) - counts, totals.sum() - totals
    defined = (totals > 0) & (n_others > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(totals > 0, counts / totals, np.nan)
        outside = np.where(n_others > 0, others / n_others, np.nan)
        squares = totals * inside * (1.0 - inside) + n_others * outside * (1.0 - outside)
        free = totals + n_others - 2.0
        deviation = np.where(defined & (free > 0), np.sqrt(squares / np.maximum(free, 1.0)), np.nan)
    return inside, outside, deviation
