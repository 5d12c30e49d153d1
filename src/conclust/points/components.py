"""Clusters as the components of a mixture of normal distributions, if such a mixture explains the points."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.sparse.csgraph import connected_components

from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.ensemble.labels import canonical_labels
from conclust.points.mixture import (
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
# The constants below were chosen as described in experiments/default/README.md.
# A mixture fits below this value of `misfit`, of as many points.
_FITS, _JUDGED_AS = 0.75, 1_000
# The same for `density_misfit`: 95 % of the Kolmogorov distribution.
_DENSITY_FITS = 1.36
_CLEARLY_BETTER = 35.0
# Components are one cluster if the density between their centres does not fall below this share of the lower one.
_ONE_MODE = 0.9


@dataclass(frozen=True, eq=False)
class Mixtures:
    """The mixture with the lowest BIC of each shape.

    Attributes
    ----------
    points : ndarray of shape (n_part, n_features)
        The points to which the mixtures were fitted.
    best : dict
        Mixtures by shape; their numbers of components differ.
    seed : int
        Draws points from a mixture.
    """

    points: Floats
    best: dict[Shape, Mixture]
    seed: int

    def number_of_one_shape(self) -> int | None:
        """Return the number of components of one shape whose mixture explains the points, or None.

        It is the number of the lowest BIC if its components share one covariance, it fits the points (see `misfit`),
        and mixtures with a covariance for each component are clearly worse at any number: clusters of
        other shapes are better approximated by components of several shapes. More than 20 count
        only if there is a saddle between any two: such a number approximates any shape.
        """
        mixture = self._lowest()
        if (
            mixture.shape == "full"
            or self.best["full"].bic < mixture.bic + _CLEARLY_BETTER
            or not self._fits(mixture)
        ):
            return None
        number = len(mixture)
        is_plain = number <= _MAX_COMPONENTS or _modes(mixture).max() + 1 == number
        return number if is_plain else None

    def fits_densities(self) -> bool:
        """Return whether the mixture of the lowest BIC also fits the densities at the points (see `density_misfit`)."""
        return density_misfit(self.points, self._lowest(), _JUDGED_AS, self.seed) < _DENSITY_FITS

    def clusters(self, points: Floats) -> Ints | None:
        """Return the clusters of the mixture of the lowest BIC, if it fits and has at most 20 components.

        Components between whose centres the mixture has no saddle are one cluster.

        Parameters
        ----------
        points : ndarray of shape (n_samples, n_features)
            All points, which get labels.
        """
        mixture = self._lowest()
        if len(mixture) > _MAX_COMPONENTS or not self._fits(mixture):
            return None
        labels = _modes(mixture)[mixture.labels(points)]
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)

    def _lowest(self) -> Mixture:
        return min(self.best.values(), key=lambda mixture: mixture.bic)

    def _fits(self, mixture: Mixture) -> bool:
        return misfit(self.points, mixture, _JUDGED_AS) < _FITS


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
    return Mixtures(part, best, seed) if len(lowest) > fewest else None


def _is_same(labels: Ints, others: Ints) -> bool:
    """Return whether two partitions differ in the numbers of their clusters at most."""
    return np.array_equal(canonical_labels(labels), canonical_labels(others))


def _modes(mixture: Mixture) -> Ints:
    """Return the group of each component: components without a saddle between them are in one group."""
    together = saddles(mixture) > _ONE_MODE
    return np.asarray(connected_components(together, directed=False)[1], dtype=np.int64)
