"""The number of components of a mixture of normal distributions of one shape, if such a mixture fits the points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conclust._threads import one_library_thread
from conclust.points.mixture import Mixture, Shape, fit_mixture, kmeans_labels, misfit, n_parameters

__all__ = ["number_of_components"]

_SHAPES: tuple[Shape, ...] = ("spherical", "tied", "full")
_MAX_COMPONENTS = 20
# Maximum number of points to which mixtures are fitted, and minimum number of points per parameter.
_MAX_POINTS = 1_000
_POINTS_A_PARAMETER = 4
# Number of consecutive numbers of components without a lower BIC after which a shape is abandoned.
_WORSE = 3
_TOLERANCE = 1e-4
# The constants below were chosen as described in experiments/default/README.md.
_FITS = 0.75
_CLEARLY_BETTER = 35.0


def number_of_components(
    points: NDArray[np.float64],
    fewest: int,
    most: int,
    seed: int,
) -> int | None:
    """Return the number of components of one shape whose mixture explains the points, or None.

    Mixtures of `fewest` components and more are fitted, from k-means. The number is that
    of the lowest BIC if its components share one covariance, it fits the points (see `misfit`), and mixtures with a
    covariance for each component are clearly worse at any number: clusters of other shapes are better approximated by
    components of several shapes.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
    fewest, most : int
        The numbers considered.
    seed : int
        Draws the points, if there are more than 1,000, and the starts of k-means.

    Returns
    -------
    int or None
        None where no mixture of one shape explains the points.
    """
    if len(points) > _MAX_POINTS:
        drawn = np.random.default_rng(seed).choice(len(points), _MAX_POINTS, replace=False)
        points = points[np.sort(drawn)]
    part = np.ascontiguousarray(points)
    best: dict[Shape, tuple[Mixture, int]] = {}
    with one_library_thread():
        for K in range(fewest, min(most, _MAX_COMPONENTS, 3 * fewest + 6) + 1):
            start = kmeans_labels(part, K, seed)
            for shape in _SHAPES:
                n_needed = _POINTS_A_PARAMETER * n_parameters("full", K, part.shape[1])
                if shape == "full" and n_needed > len(part):
                    continue
                if shape in best and K - best[shape][1] > _WORSE:
                    continue
                mixture = fit_mixture(part, start, K, shape, _TOLERANCE)
                if mixture is None:
                    continue
                if shape not in best or mixture.bic < best[shape][0].bic:
                    best[shape] = mixture, K
            if len(best) < len(_SHAPES):
                return None
            if all(K - best[shape][1] >= _WORSE for shape in ("spherical", "tied")):
                break
    if not best:
        return None
    mixture, number = min(best.values(), key=lambda pair: pair[0].bic)
    if mixture.shape == "full" or best["full"][0].bic < mixture.bic + _CLEARLY_BETTER:
        return None
    return number if misfit(part, mixture) < _FITS else None
