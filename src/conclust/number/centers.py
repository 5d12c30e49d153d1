"""Clusters around centres: those of a common covariance, and what places other points in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from conclust._arrays.containers import holds, moderate
from conclust._arrays.rows import shares_of_rows
from conclust._types import Floats, Ints
from conclust.consensus.auto.votes import certain_clusters, votes_for
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import one_hot
from conclust.generation.labelling.labelling import scaled_blocks
from conclust.generation.labelling.models import nearest_center
from conclust.generation.runs import run_kmeans

# The smallest share of the sphere: where points vary in some directions only, the covariance must still have an inverse.
_LEAST_SHARE = 1e-6


class Discriminants(NamedTuple):
    """A point is in the cluster of the centre that ``point @ whitening`` is nearest to."""

    centers: Floats
    whitening: Floats

    def nearest(self, generator: Any, X: Any) -> Ints:
        """Return the nearest centre of each point of X, (n_samples,), in the scale of a fitted generator."""
        blocks = scaled_blocks(generator, X)
        nearest = [nearest_center(block @ self.whitening, self.centers) for block in blocks]
        return np.concatenate(nearest).astype(np.int64)


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


@dataclass(frozen=True, eq=False)
class ClusterCenters:
    """Clusters as the points nearest to centres, with the evidence of the members for them.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_axes)
        Means of the clusters, in the coordinates after `whitening`.
    whitening : ndarray of shape (n_features, n_axes)
        Points times this matrix have about the same spread within clusters in all directions.
    votes : ndarray of shape (n_ensemble_clusters, n_clusters)
        Votes of each cluster of the ensemble for each of the clusters.
    """

    centers: Floats
    whitening: Floats
    votes: Floats

    @classmethod
    def of(
        cls, found: Discriminants, points: Floats, objects: Ints, ensemble: Ensemble
    ) -> ClusterCenters:
        """Return the centres of clusters that the points of some objects show."""
        centers, whitening = found
        labels = nearest_center(points @ whitening, centers).astype(np.int64)
        weighted, certainty = certain_clusters(ensemble, objects)
        counting = weighted.column_weights * certainty
        return cls(centers, whitening, votes_for(weighted, labels, counting))

    def fits(self, d: int, n_columns: int, K: int) -> bool:
        """Return whether these are K centres of points with d features, with the votes of `n_columns` clusters."""
        axes = self.centers.shape[-1]
        return (
            holds(self.centers, K, axes)
            and holds(self.whitening, d, axes)
            and holds(self.votes, n_columns, K)
            and bool((self.votes >= 0).all())
        )

    def nearest(self, generator: Any, X: Any) -> Ints:
        """Return the nearest centre of each point of X, (n_samples,), in the scale of a fitted generator."""
        return Discriminants(self.centers, self.whitening).nearest(generator, X)

    def membership(self, labels: Ints, indicator: sp.csr_array) -> Floats:
        """Return the share of the members' evidence for each cluster.

        If the members favour other clusters than that of the nearest centre, these and it get the same share: they are
        equally likely.

        Parameters
        ----------
        labels : ndarray of int64 of shape (n_samples,)
            The nearest centre of each point.
        indicator : sparse array of shape (n_samples, n_ensemble_clusters)
            The clusters of the ensemble that each point is in.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows sum to 1; the largest entry is that of the nearest centre.
        """
        shares = shares_of_rows(indicator @ self.votes)
        rows = np.arange(len(shares))
        favoured = shares > shares[rows, labels, np.newaxis]
        favoured[rows, labels] = True
        means = (shares * favoured).sum(axis=1) / favoured.sum(axis=1)
        shares = np.where(favoured, means[:, np.newaxis], shares)
        # The label is the largest entry, the first one if tied.
        first = np.flatnonzero(shares.argmax(axis=1) != labels)
        shares[first, labels[first]] = np.nextafter(shares[first, labels[first]], 2.0)
        return shares

    def renumbered(self, order: Ints) -> ClusterCenters:
        """Return the same with the clusters in another order."""
        return ClusterCenters(self.centers[order], self.whitening, self.votes[:, order])


def means_and_covariance(
    points: Floats, labels: Ints, n_clusters: int
) -> tuple[Floats, Floats | None]:
    """Return the means of clusters that are not empty, and the covariance that they share; None if points are equal within them.

    The covariance is shrunk towards a sphere, as far as the points tell nothing of it (Ledoit and Wolf 2004).
    """
    n, d = points.shape
    means = (one_hot(labels, n_clusters).T @ points) / np.bincount(labels)[:, np.newaxis]
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
