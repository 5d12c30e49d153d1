"""Features that distinguish clusters: the difference between a cluster and the other objects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from conclust._arrays.containers import check_row_names
from conclust._arrays.ratios import ratio
from conclust._arrays.scale import moderate
from conclust._types import Bools, Floats, Ints
from conclust._validation import count
from conclust.confidence.reading import read_features
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
