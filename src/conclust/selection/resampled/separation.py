"""The separation of few objects: the silhouette of Ward's clusters, compared with that of single clouds.

With few objects a single cloud is cut as stably as two clusters, and valleys of density cannot be counted. What
differs is the distance between the clusters relative to their width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import ward
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from conclust._arrays.ratios import ratio
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.selection.resampled.null import flat, rotation, skewed
from conclust.selection.resampled.points import scores_of
from conclust.trees.dendrogram import cut

SMALLEST = 5
"""Minimum number of objects of a cluster: outliers of a heavy-tailed cloud have the largest silhouettes."""

FEWEST = 2 * SMALLEST
"""Minimum number of objects that can be two clusters."""

_MOST_CLUSTERS = 10
# The level and the minimum number of objects were settled by experiments/default/few.py.
_LEVEL = 0.05
_REFERENCES = 99
# Statistics that differ by less are equal.
_SAME = 1e-9
# The kind of cloud with the largest silhouettes comes first, so that few references are drawn of a cloud.
_CLOUDS: tuple[tuple[str, Callable[[Floats, np.random.Generator], Floats]], ...] = (
    ("flat", flat),
    ("skewed", skewed),
    ("Gaussian", rotation),
)


def vary(points: Floats) -> bool:
    """Return whether the points differ by more than rounding errors."""
    return bool(np.ptp(points, axis=0).max() > 1e-12 * np.abs(points).max())


@dataclass(frozen=True, eq=False)
class Separation:
    """Clusters of few objects, and how far they are apart.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_samples,)
        The clusters, 0 to K - 1; all 0 if they are not farther apart than the parts of a cloud.
    silhouette : float
        Largest mean silhouette of a partition into clusters of at least five objects; -1 if there is none.
    p_value : float
        Share of the clouds of one kind, the points among them, whose silhouette is at least as large: the first above
        the level, or the largest of three kinds.
    n_references : int
        Number of clouds of that kind that were drawn.
    cloud : str
        That kind: "flat", "skewed" or "Gaussian".
    """

    labels: Ints
    silhouette: float
    p_value: float
    n_references: int
    cloud: str

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1


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


def separated_clusters(points: Floats, seed: int) -> Separation:
    """Return the clusters of few objects that are farther apart than the parts of any single cloud.

    The largest silhouette of the points is compared with those of 99 flat, 99 skewed and 99 Gaussian clouds of the same
    covariance. If fewer than 5 % of each kind reach it, the points are divided; each cluster is then tested as the
    whole was, at a level in proportion to its objects.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        At least two points that are not all equal.
    seed : int
        Draws the clouds.

    Returns
    -------
    Separation
        The clusters, and the result of the first test.
    """
    with one_library_thread():
        return _divided(points, np.random.default_rng([seed, len(points)]), _LEVEL)


def neighbours_are_separated(points: Floats, labels: Ints, seed: int) -> bool:
    """Return whether clusters that are neighbours are farther apart than the parts of any single cloud.

    The borders of the minimum spanning tree of the centres are tested, each by the points of its two clusters.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        The points.
    labels : ndarray of int64 of shape (n_samples,)
        The clusters, 0 to K - 1, each with at least five points.
    seed : int
        Draws the clouds.
    """
    centres = np.stack([points[labels == cluster].mean(axis=0) for cluster in np.unique(labels)])
    tree = minimum_spanning_tree(squareform(pdist(centres))).tocoo()
    if tree.nnz < len(centres) - 1:  # two centres are one point
        return False
    rng = np.random.default_rng([seed, len(points)])
    with one_library_thread():
        return all(
            _compared(points[(labels == a) | (labels == b)], rng, _LEVEL).n_clusters > 1
            for a, b in zip(tree.row, tree.col, strict=True)
        )


def _divided(points: Floats, rng: np.random.Generator, level: float) -> Separation:
    n = len(points)
    first = _compared(points, rng, level)
    if first.n_clusters == 1:
        return first
    labels, found = np.zeros(n, dtype=np.int64), 0
    for cluster in range(first.n_clusters):
        inside = first.labels == cluster
        part = points[inside]
        if len(part) >= FEWEST and vary(part):
            within = _divided(part, rng, level * len(part) / n)
            labels[inside] = found + within.labels
            found += within.n_clusters
        else:
            labels[inside] = found
            found += 1
    return Separation(labels, first.silhouette, first.p_value, first.n_references, first.cloud)


def _compared(points: Floats, rng: np.random.Generator, level: float) -> Separation:
    """Compare the largest silhouette with those of clouds; several clusters only if it is larger than those of all kinds."""
    together = np.zeros(len(points), dtype=np.int64)
    scores = scores_of(points, None)
    silhouette, partition = largest_silhouette(scores)
    weakest = Separation(together, silhouette, 0.0, 0, "")
    if partition is None:
        return Separation(together, silhouette, 1.0, 0, "")
    for name, draw in _CLOUDS:
        reached, drawn = 0, 0
        for drawn in range(1, _REFERENCES + 1):
            reached += largest_silhouette(draw(scores, rng))[0] >= silhouette - _SAME
            # The share cannot fall to the level any more.
            if reached + 1 > level * (_REFERENCES + 1) + _SAME:
                return Separation(together, silhouette, (reached + 1) / (drawn + 1), drawn, name)
        p_value = (reached + 1) / (drawn + 1)
        if p_value > weakest.p_value:
            weakest = Separation(partition, silhouette, p_value, drawn, name)
    return weakest
