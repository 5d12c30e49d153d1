"""The separation of few objects: the silhouette of Ward's clusters.

With few objects a single cloud is cut as stably as two clusters, and valleys of density cannot be counted. What
differs is the distance between the clusters relative to their width.
"""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import ward
from scipy.spatial.distance import pdist, squareform

from conclust._arrays.ratios import ratio
from conclust._types import Floats, Ints
from conclust.trees.dendrogram import cut

SMALLEST = 5
"""Minimum number of objects of a cluster: outliers of a heavy-tailed cloud have the largest silhouettes."""

FEWEST = 2 * SMALLEST
"""Minimum number of objects that can be two clusters."""

_MOST_CLUSTERS = 10
# Statistics that differ by less are equal.
_SAME = 1e-9


def largest_silhouette(
    points: Floats, fewest: int = 2, most: int = _MOST_CLUSTERS
) -> tuple[float, Ints | None]:
    """Return the largest mean silhouette of Ward's partitions, and that partition.

    Partitions with a cluster of fewer than five objects are left out. Sums are BLAS's: call it with one thread of BLAS.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
    fewest, most : int
        The numbers of clusters considered.

    Returns
    -------
    (float, ndarray of int64 of shape (n_samples,) or None)
        -1 and None if each partition has a smaller cluster.
    """
    n = len(points)
    best, partition = -1.0, None
    if n < FEWEST:
        return best, partition
    condensed = pdist(points)
    distances, tree = squareform(condensed), ward(condensed)
    objects = np.arange(n)
    for K in range(fewest, min(most, n // SMALLEST) + 1):
        labels = cut(tree, K)
        sizes = np.bincount(labels, minlength=K)
        if sizes.min() < SMALLEST:
            continue
        sums = distances @ np.eye(K)[labels]
        within = sums[objects, labels] / (sizes[labels] - 1)
        means = sums / sizes
        means[objects, labels] = np.inf
        nearest = means.min(axis=1)
        value = float(ratio(nearest - within, np.maximum(within, nearest)).mean())
        if value > best + _SAME:
            best, partition = value, labels
    return best, partition
