"""Clusters as the components of a mixture of normal distributions, if such a mixture explains the points."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.ensemble.labels import canonical_labels
from conclust.number.constants import CLEAR_SHAPE, DENSITY_FITS, FITS, JUDGED_AS, ONE_MODE
from conclust.number.mixture import (
    Mixture,
    Shape,
    density_misfit,
    fit_mixture,
    kmeans_labels,
    misfit,
    n_parameters,
    saddles,
)

_SHAPES: tuple[Shape, ...] = ("spherical", "tied", "full")
# Maximum number of components. Of one shape and with saddles between all of them: three for each of the fewest and
# six more, up to 60.
_MAX_COMPONENTS, _MOST_COMPONENTS = 20, 60
# Maximum number of points to which mixtures are fitted: 2,000, or 60 for each of the fewest components.
_MAX_POINTS, _POINTS_A_COMPONENT = 2_000, 60
# Minimum number of points per parameter.
_POINTS_A_PARAMETER = 4
# Number of consecutive numbers of components without a lower BIC of any shape after which the search ends.
_WORSE = 3
_TOLERANCE = 1e-4


def clusters_of_one_shape(points: Floats, labels: Ints, most: int, seed: int) -> Ints | None:
    """Return clusters that overlap: the modes of a mixture of more normal distributions of one shape.

    The mixture of the lowest BIC counts if its components share one covariance, mixtures with a covariance for each
    component are clearly worse at any number (clusters of other shapes are better approximated by components of several
    shapes), and it fits the projections of the points and their densities. Components without a saddle between their centres are one cluster.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        The points.
    labels : ndarray of int64 of shape (n_samples,)
        The fewest clusters considered, 0 to K - 1.
    most : int
        The largest number considered.
    seed : int
        Draws the points that mixtures are fitted to, the starts of k-means and points from the mixture.

    Returns
    -------
    ndarray of int64 of shape (n_samples,) or None
        More clusters than those given; None if no mixture explains more.
    """
    mixtures = fit_mixtures(points, labels, most, seed)
    if mixtures is None:
        return None
    lowest = min(mixtures.best.values(), key=lambda mixture: mixture.bic)
    if (
        lowest.shape == "full"
        or mixtures.best["full"].bic <= lowest.bic + CLEAR_SHAPE
        or misfit(mixtures.points, lowest, JUDGED_AS) >= FITS
        or density_misfit(mixtures.points, lowest, JUDGED_AS, seed) >= DENSITY_FITS
    ):
        return None
    together = saddles(lowest) > ONE_MODE
    modes = np.asarray(connected_components(together, directed=False)[1], dtype=np.int64)
    clusters = np.unique(modes[lowest.labels(points)], return_inverse=True)[1].astype(np.int64)
    return clusters if clusters.max() > labels.max() else None


class Mixtures(NamedTuple):
    """The mixture with the lowest BIC of each shape.

    Attributes
    ----------
    points : ndarray of shape (n_part, n_features)
        The points to which the mixtures were fitted.
    best : dict
        Mixtures by shape; their numbers of components differ.
    """

    points: Floats
    best: dict[Shape, Mixture]


def fit_mixtures(points: Floats, labels: Ints, most: int, seed: int) -> Mixtures | None:
    """Fit mixtures of as many components as clusters, from these, and of more, from k-means.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
    labels : ndarray of int64 of shape (n_samples,)
        The fewest clusters considered, 0 to K - 1. Their mixture is also fitted from k-means.
    most : int
        The largest number considered; of many, 20, or 6 more than three times the fewest.
    seed : int
        Draws the points, if there are more than 2,000, and the starts of k-means.

    Returns
    -------
    Mixtures or None
        None where a shape cannot be fitted to so few points, or no larger number has a lower BIC than the fewest.
    """
    fewest = int(labels.max()) + 1
    if fewest >= most:
        return None
    most_points = max(_MAX_POINTS, _POINTS_A_COMPONENT * fewest)
    if len(points) > most_points:
        drawn = np.random.default_rng(seed).choice(len(points), most_points, replace=False)
        points, labels = points[np.sort(drawn)], labels[np.sort(drawn)]
    part = np.ascontiguousarray(points)
    if _POINTS_A_PARAMETER * n_parameters("full", fewest, part.shape[1]) > len(part):
        return None  # before matrices of all pairs of features are made
    best: dict[Shape, Mixture] = {}
    most = min(most, max(_MAX_COMPONENTS, min(_MOST_COMPONENTS, 3 * fewest + 6)))
    with one_library_thread():
        for K in range(fewest, most + 1):
            starts = [kmeans_labels(part, K, seed)]
            if 1 < K == fewest and not _is_same(starts[0], labels):
                starts.append(labels)
            for start, shape in product(starts, _SHAPES):
                n_needed = _POINTS_A_PARAMETER * n_parameters("full", K, part.shape[1])
                if shape == "full" and n_needed > len(part):
                    continue
                mixture = fit_mixture(part, start, K, shape, _TOLERANCE)
                if mixture is not None and (shape not in best or mixture.bic < best[shape].bic):
                    best[shape] = mixture
            if len(best) < len(_SHAPES):
                return None
            if all(K - len(best[shape]) >= _WORSE for shape in _SHAPES):
                break
    lowest = min(best.values(), key=lambda mixture: mixture.bic)
    return Mixtures(part, best) if len(lowest) > fewest else None


def _is_same(labels: Ints, others: Ints) -> bool:
    """Return whether two partitions differ in the numbers of their clusters at most."""
    return np.array_equal(canonical_labels(labels), canonical_labels(others))
