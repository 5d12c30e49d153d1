"""Clusters around centres, which share a covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from conclust._arrays.containers import moderate
from conclust._types import Floats, Ints
from conclust.ensemble.labels import one_hot_rows
from conclust.generation.runs import run_kmeans

# The smallest share of the sphere: where points vary in some directions only, the covariance must still have an inverse.
_LEAST_SHARE = 1e-6


class Discriminants(NamedTuple):
    """A point is in the cluster of the centre that ``point @ whitening`` is nearest to."""

    centers: Floats
    whitening: Floats


@dataclass(frozen=True, eq=False)
class Ellipsoids:
    """Means of clusters, and the inverse of the covariance that they share."""

    means: Floats
    precision: Floats

    @classmethod
    def fit(
        cls,
        points: Floats,
        n_clusters: int,
        seed: int,
        measured: Floats | None = None,
        n_runs: int = 1,
    ) -> Ellipsoids | None:
        """Return those of the clusters of k-means; None if a cluster is lost, or points are equal within all.

        They are those of the same points as `measured`, where these differ.
        """
        labels = _kmeans_labels(points, n_clusters, seed, n_runs)
        if np.bincount(labels, minlength=n_clusters).min() < 2:
            return None
        measured = points if measured is None else measured
        means, covariance = means_and_covariance(measured, labels, n_clusters)
        if covariance is None:
            return None
        return cls(means, np.asarray(np.linalg.inv(covariance), dtype=np.float64))

    def scores(self, points: Floats) -> Floats:
        """Return for each point and cluster what is largest for the nearest mean."""
        axes = self.means @ self.precision
        return np.asarray(points @ axes.T - 0.5 * (axes * self.means).sum(axis=1))

    def labels(self, points: Floats) -> Ints:
        """Return the cluster of each point."""
        return np.asarray(self.scores(points).argmax(axis=1), dtype=np.int64)

    def of_points(self, points: Floats, compared: Floats) -> Discriminants:
        """Return what places the points themselves in the same clusters, which were found in their leading components."""
        mean = points.mean(axis=0)
        whitening = np.asarray(np.linalg.cholesky(self.precision), dtype=np.float64)
        means = self.means @ whitening
        if compared.shape[1] < points.shape[1]:
            # The axes of the components, which are uncorrelated.
            axes = (points - mean).T @ compared / (compared * compared).sum(axis=0)
            whitening = axes @ whitening
        return Discriminants(np.asarray(means + mean @ whitening), whitening)


def means_and_covariance(
    points: Floats, labels: Ints, n_clusters: int
) -> tuple[Floats, Floats | None]:
    """Return the means of clusters that are not empty, and the covariance that they share; None if points are equal within them.

    The covariance is shrunk towards a sphere, as far as the points tell nothing of it (Ledoit and Wolf 2004).
    """
    n, d = points.shape
    means = (one_hot_rows(labels, n_clusters).T @ points) / np.bincount(labels)[:, np.newaxis]
    within, unit = moderate(points - means[labels])
    covariance = within.T @ within / n
    sphere = float(np.trace(covariance)) / d
    if sphere <= 0:
        return means, None
    squares = float((covariance * covariance).sum())
    unlike, error = squares - d * sphere**2, float(np.mean((within * within).sum(axis=1) ** 2))
    share = min(1.0, (error - squares) / (n * unlike)) if unlike > 0 else 1.0
    share = max(share, _LEAST_SHARE)
    return means, ((1.0 - share) * covariance + share * sphere * np.eye(d)) * unit * unit


def _kmeans_labels(points: Floats, n_clusters: int, seed: int, n_runs: int) -> Ints:
    """Return the clusters of the best run of k-means."""
    seeds = np.random.default_rng(seed).integers(2**63, size=n_runs).astype(np.uint64)
    every = np.tile(np.arange(len(points), dtype=np.int32), (n_runs, 1))
    points = np.ascontiguousarray(points)
    return run_kmeans(points, n_clusters, every, seeds, max_iter=300, refills=True).best_labels
