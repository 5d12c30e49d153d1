"""A last step with the points: Lloyd's iterations from the consensus, kept where the neighbour graph agrees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conclust.generation.nearest import nearest_center
from conclust.neighbours import NeighbourGraph, neighbour_graph

__all__ = ["Refinement", "objects_to_refine", "refine_by_centers"]

# More objects are judged, and Lloyd's iterations run, on so many of them.
_MAX_OBJECTS = 5_000
_MAX_ITER = 100
# The constants below were settled as experiments/default/README.md says.
_WIDE, _NARROW = 20, 5
_SAME_CUT = 1.01
_ALLOWED_FACTOR, _ALLOWED_SHARE = 1.2, 0.006


@dataclass(frozen=True, eq=False)
class Refinement:
    """Clusters as the points nearest to centres.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        The means of the clusters.
    variance : float
        Mean squared distance of the points to their centre, per feature.
    """

    centers: NDArray[np.float64]
    variance: float

    def labels(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the nearest centre of each point, of shape (n_samples,)."""
        return nearest_center(X, self.centers).astype(np.int64)

    def membership(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each cluster under Gaussians of one variance and equal share.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows sum to 1; the largest entry is that of the nearest centre.
        """
        squares = np.stack([((X - center) ** 2).sum(axis=1) for center in self.centers], axis=1)
        log_density = -squares / (2 * self.variance)
        density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        return np.asarray(density / density.sum(axis=1, keepdims=True))


def objects_to_refine(labels: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return the objects that centres are found by: at most 5,000 of those with a label, in rising order."""
    objects = np.flatnonzero(labels >= 0)
    if len(objects) <= _MAX_OBJECTS:
        return objects
    drawn = np.random.default_rng(seed).choice(len(objects), _MAX_OBJECTS, replace=False)
    return objects[np.sort(drawn)]


def refine_by_centers(
    points: NDArray[np.float64],
    labels: NDArray[np.int64],
    n_clusters: int,
    *,
    n_jobs: int | None = None,
) -> Refinement | None:
    """Run Lloyd's iterations from the means of the clusters, and judge the result by the points.

    Clusters that overlap are better told apart by their centres than by neighbours; clusters of other shapes are
    destroyed by centres. The iterations' partition is kept where it does not cut more ties of the
    neighbour graphs: the mean over clusters of the share of its ties that leave a cluster falls in the graph
    of 20 neighbours, or stays within 1 %; in the graph of 5 neighbours it rises by at most a fifth and .006; and so
    does the share of all ties that are cut, in the graph of 20 neighbours.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        The points, in the scale of the members.
    labels : ndarray of int64 of shape (n_samples,)
        The consensus, 0 to n_clusters - 1.
    n_clusters : int
        Number of clusters of the consensus.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    Refinement or None
        The centres; None where the consensus is kept.
    """
    if n_clusters < 2 or len(np.unique(labels)) < n_clusters:
        return None
    centers, refined = _lloyd(points, labels, n_clusters)
    if refined is None or np.array_equal(refined, labels):
        return None
    if not _better(points, labels, refined, n_jobs):
        return None
    variance = float(((points - centers[refined]) ** 2).mean())
    return Refinement(centers, variance) if variance > 0 else None


def _lloyd(
    points: NDArray[np.float64], labels: NDArray[np.int64], K: int
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Return the centres that the labels lead to, and the labels; None if a cluster becomes empty."""
    centers = _means(points, labels, K)
    for _ in range(_MAX_ITER):
        nearest = nearest_center(points, centers).astype(np.int64)
        if np.bincount(nearest, minlength=K).min() == 0:
            return centers, None
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centers = _means(points, labels, K)
    return centers, nearest_center(points, centers).astype(np.int64)


def _means(points: NDArray[np.float64], labels: NDArray[np.int64], K: int) -> NDArray[np.float64]:
    sums = np.zeros((K, points.shape[1]))
    np.add.at(sums, labels, points)
    return np.asarray(sums / np.bincount(labels, minlength=K)[:, None])


def _better(
    points: NDArray[np.float64],
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    n_jobs: int | None,
) -> bool:
    if len(np.unique(after)) < len(np.unique(before)):
        return False
    wide = neighbour_graph(points, _WIDE, n_jobs=n_jobs)
    mean_before, all_before = _cut_shares(wide, before)
    mean_after, all_after = _cut_shares(wide, after)
    if mean_after > _SAME_CUT * mean_before or not _allowed(all_before, all_after):
        return False
    narrow = neighbour_graph(points, _NARROW, n_jobs=n_jobs)
    return _allowed(_cut_shares(narrow, before)[0], _cut_shares(narrow, after)[0])


def _allowed(before: float, after: float) -> bool:
    return after <= _ALLOWED_FACTOR * before + _ALLOWED_SHARE


def _cut_shares(graph: NeighbourGraph, labels: NDArray[np.int64]) -> tuple[float, float]:
    """Return the share of ties that leave a cluster, as the mean over clusters, and of all ties."""
    of_points = labels[graph.rows.first]
    K = int(labels.max()) + 1
    source = of_points[graph.sources]
    leaves = source != of_points[graph.ends]
    ties = np.bincount(source, minlength=K)
    cut = np.bincount(source, weights=leaves, minlength=K)
    held = ties > 0
    return float((cut[held] / ties[held]).mean()), float(leaves.mean())
