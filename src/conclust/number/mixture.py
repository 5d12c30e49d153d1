"""Mixtures of normal distributions: fitted from partitions, compared by BIC, and tested on projections of the points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.generation.runs import run_kmeans

# Shapes of covariance: a common sphere, a common ellipsoid, or one ellipsoid per component.
Shape = Literal["spherical", "tied", "full"]

_MAX_ITER = 200
# A component with fewer points is not a cluster.
_FEWEST_POINTS = 1.5
# Relative to the mean variance; it keeps a covariance regular.
_RIDGE = 1e-6
_KMEANS_STARTS = 5
# Number of points of a segment between two centres at which the density is computed.
_STEPS = 21
# Number of directions in which the fit is tested.
_MAX_AXES, _MAX_PAIRS, _ANGLES = 10, 15, 8
# Number of points drawn from a mixture for the distribution of its density.
_DRAWS = 20_000


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture of normal distributions, fitted to points.

    Attributes
    ----------
    shape : {"spherical", "tied", "full"}
        Form of the covariances.
    weights : ndarray of shape (n_components,)
        Shares of the components; they sum to 1.
    means : ndarray of shape (n_components, n_features)
    covariances : ndarray of shape (1 or n_components, n_features, n_features)
        One for all components, or one for each.
    log_likelihood : float
        Log-likelihood of the points it was fitted to.
    bic : float
        Bayesian information criterion, -2 log-likelihood + parameters x log(points): lower is better.
    """

    shape: Shape
    weights: Floats
    means: Floats
    covariances: Floats
    log_likelihood: float
    bic: float

    def __len__(self) -> int:
        return len(self.weights)

    def discriminants(self) -> tuple[Floats, Floats, Floats]:
        """Return the centres, whitenings and offsets that place points.

        The most probable component has the smallest ``|x @ whitening - centre|^2 + offset``. The whitenings have the
        shape (n_components, n_features, n_features), or (n_features, n_features) if all components share one.
        """
        pairs = [_whitening(covariance) for covariance in self.covariances]
        log_dets = np.array([log_det for _, log_det in pairs])
        offsets = log_dets - 2.0 * np.log(self.weights)
        whitenings = np.stack([whitening for whitening, _ in pairs])
        if len(pairs) == 1:
            return self.means @ whitenings[0], whitenings[0], offsets
        return np.einsum("kd,kde->ke", self.means, whitenings), whitenings, offsets

    def labels(self, points: Floats) -> Ints:
        """Return the most probable component of each point, of shape (n_samples,)."""
        shift = points.mean(axis=0)
        with one_library_thread():
            logs = _log_densities(
                points - shift, self.weights, self.means - shift, self.covariances
            )
        return np.asarray(logs.argmax(axis=0), dtype=np.int64)


def n_parameters(shape: Shape, n_components: int, n_features: int) -> int:
    """Return the number of free parameters of a mixture."""
    covariance = n_features * (n_features + 1) // 2
    spread = {"spherical": 1, "tied": covariance, "full": n_components * covariance}[shape]
    return spread + n_components * n_features + n_components - 1


def fit_mixture(
    points: Floats, labels: Ints, n_components: int, shape: Shape, tolerance: float = 1e-5
) -> Mixture | None:
    """Fit a mixture by expectation-maximisation, from a partition.

    Covariances of the "full" shape are shrunk towards the pooled one, as by ``n_features + 1`` further points.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
    labels : ndarray of int64 of shape (n_samples,)
        The start, 0 to n_components - 1.
    n_components : int
    shape : {"spherical", "tied", "full"}
    tolerance : float, default=1e-5
        It ends when the log-likelihood rises by less than this for each point.

    Returns
    -------
    Mixture or None
        None where a component loses its points, a covariance is singular, or all points lie in the centres.
    """
    n, d = points.shape
    # Shares and densities have a row for each component, so that sums over components run along the points.
    shares = np.zeros((n_components, n))
    shares[labels, np.arange(n)] = 1.0
    shift = points.mean(axis=0)
    centred = points - shift
    second = centred.T @ centred / n
    products = _products(centred) if shape == "full" else None
    log_likelihood = -np.inf
    for _ in range(_MAX_ITER):
        counts = shares.sum(axis=1)
        if counts.min() < _FEWEST_POINTS:
            return None
        weights, means = counts / n, shares @ centred / counts[:, np.newaxis]
        pooled = _pooled(shares, means, second)
        if np.trace(pooled) <= np.finfo(float).eps * np.trace(second):
            return None
        covariances = _covariances(shares, means, pooled, shape, products)
        try:
            if products is None:
                logs = _log_densities(centred, weights, means, covariances)
            else:
                logs = _log_densities_by_products(products, weights, means, covariances)
        except np.linalg.LinAlgError:
            return None
        highest = logs.max(axis=0)
        shares = np.exp(logs - highest)
        sums = shares.sum(axis=0)
        shares /= sums
        before = log_likelihood
        log_likelihood = float((highest + np.log(sums)).sum())
        if log_likelihood - before < tolerance * n:
            break
    if np.bincount(logs.argmax(axis=0), minlength=n_components).min() == 0:
        return None
    bic = n_parameters(shape, n_components, d) * np.log(n) - 2.0 * log_likelihood
    return Mixture(shape, weights, means + shift, covariances, log_likelihood, float(bic))


def best_mixture(points: Floats, starts: Iterable[Ints], n_components: int) -> Mixture | None:
    """Return the mixture with the lowest BIC over the shapes and the starts; None if none can be fitted."""
    with one_library_thread():
        fitted = [
            fit_mixture(points, labels, n_components, shape)
            for labels in starts
            for shape in get_args(Shape)
        ]
    return min((each for each in fitted if each is not None), key=lambda m: m.bic, default=None)


def misfit(points: Floats, mixture: Mixture, most_points: int) -> float:
    """Return how badly a mixture fits: the largest Kolmogorov-Smirnov statistic over projections, times sqrt(n).

    The directions are the axes of the points, their principal axes, those that separate neighbouring components,
    the one in which these are thinnest and, in the plane, eight angles. In each of them the mixture is a mixture of
    normal distributions on a line, whose distribution function is known.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
    mixture : Mixture
    most_points : int
        Largest n in the product. No cluster of real points is exactly normal: of very many points the test would reject all.

    Returns
    -------
    float
        About .5 to 1 for points in the plane that were drawn from such a mixture, if no more than `most_points`.
    """
    from scipy.special import ndtr

    n = len(points)
    largest = 0.0
    ranks = np.arange(n)
    with one_library_thread():
        for direction in _directions(points, mixture):
            along = np.sort(points @ direction)
            centers = mixture.means @ direction
            spreads = np.sqrt(np.einsum("i,kij,j->k", direction, mixture.covariances, direction))
            expected = ndtr((along[:, np.newaxis] - centers) / spreads) @ mixture.weights
            deviation = max((expected - ranks / n).max(), ((ranks + 1) / n - expected).max())
            largest = max(largest, float(deviation))
    return float(largest * np.sqrt(min(n, most_points)))


def density_misfit(points: Floats, mixture: Mixture, most_points: int, seed: int) -> float:
    """Return how badly the density of a mixture at the points fits: a Kolmogorov-Smirnov statistic, times sqrt(n).

    The densities at the points are compared with those at points drawn from the mixture. It finds clusters
    that end at an edge: components that cover a uniform cluster fit its projections, but they expect points
    beyond the edge, where their density is low.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
    mixture : Mixture
    most_points : int
        Largest n in the product, as in `misfit`.
    seed : int
        Draws the points from the mixture.

    Returns
    -------
    float
        Below 1.36 for 95 % of samples of a given mixture, and smaller where the mixture was fitted to the sample.
    """
    rng = np.random.default_rng(seed)
    shift = mixture.means.mean(axis=0)
    means, d = mixture.means - shift, points.shape[1]
    with one_library_thread():
        roots = np.linalg.cholesky(mixture.covariances)
        of_component = rng.multinomial(_DRAWS, mixture.weights / mixture.weights.sum())
        drawn = np.concatenate(
            [
                mean + rng.standard_normal((n_drawn, d)) @ root.T
                for mean, root, n_drawn in zip(
                    means, np.broadcast_to(roots, (len(means), d, d)), of_component, strict=True
                )
            ]
        )
        expected, observed = (
            np.sort(
                np.logaddexp.reduce(
                    _log_densities(x, mixture.weights, means, mixture.covariances), axis=0
                )
            )
            for x in (drawn, points - shift)
        )
    n = len(points)
    below = np.searchsorted(expected, observed) / _DRAWS
    ranks = np.arange(n)
    deviation = max((below - ranks / n).max(), ((ranks + 1) / n - below).max())
    return float(deviation * np.sqrt(min(n, most_points)))


def saddles(mixture: Mixture) -> Floats:
    """Return the lowest density of a mixture between two centres, as a share of the lower of the densities there.

    Parameters
    ----------
    mixture : Mixture

    Returns
    -------
    ndarray of shape (n_components, n_components)
        Symmetric; 1 where the density does not fall on the segment between the centres, and on the diagonal.
    """
    K = len(mixture)
    shift = mixture.means.mean(axis=0)
    means = mixture.means - shift
    lowest = np.ones((K, K))
    along = np.linspace(0.0, 1.0, _STEPS)[:, np.newaxis]
    with one_library_thread():
        for a, b in zip(*np.triu_indices(K, 1), strict=True):
            segment = (1.0 - along) * means[a] + along * means[b]
            logs = _log_densities(segment, mixture.weights, means, mixture.covariances)
            densities = np.logaddexp.reduce(logs, axis=0)
            share = np.exp(densities.min() - min(densities[0], densities[-1]))
            lowest[a, b] = lowest[b, a] = share
    return lowest


def kmeans_labels(
    points: Floats, n_clusters: int, seed: int, n_starts: int = _KMEANS_STARTS
) -> Ints:
    """Return the clusters of the best of some runs of k-means."""
    seeds = np.random.default_rng(seed).integers(2**63, size=n_starts).astype(np.uint64)
    every = np.tile(np.arange(len(points), dtype=np.int32), (n_starts, 1))
    runs = run_kmeans(
        np.ascontiguousarray(points), n_clusters, every, seeds, max_iter=300, refills=True
    )
    return runs.best_labels


def _pooled(shares: Floats, means: Floats, second: Floats) -> Floats:
    """Return the covariance within components, pooled over all of them."""
    weights = shares.sum(axis=1) / shares.shape[1]
    pooled = second - (means * weights[:, np.newaxis]).T @ means
    return np.asarray((pooled + pooled.T) / 2)


def _covariances(
    shares: Floats, means: Floats, pooled: Floats, shape: Shape, products: Floats | None
) -> Floats:
    d, counts = means.shape[1], shares.sum(axis=1)
    spread = float(np.trace(pooled)) / d
    identity = np.eye(d)
    if shape == "spherical":
        covariances = spread * identity[np.newaxis]
    elif shape == "tied":
        covariances = pooled[np.newaxis]
    else:
        assert products is not None
        a, b = np.triu_indices(d)
        scatter = np.empty((len(means), d, d))
        scatter[:, a, b] = scatter[:, b, a] = shares @ products[: len(a)].T
        scatter -= (
            counts[:, np.newaxis, np.newaxis] * means[:, :, np.newaxis] * means[:, np.newaxis]
        )
        further = d + 1.0
        covariances = (scatter + further * pooled) / (counts + further)[:, np.newaxis, np.newaxis]
    ridge = _RIDGE * max(spread, np.finfo(float).tiny)
    return np.asarray(covariances + ridge * identity)


def _products(centred: Floats) -> Floats:
    """Return the products of two features, the features and ones, a row each: a quadratic form is linear in them."""
    a, b = np.triu_indices(centred.shape[1])
    columns = centred.T
    return np.ascontiguousarray(
        np.concatenate([columns[a] * columns[b], columns, np.ones((1, len(centred)))])
    )


def _log_densities_by_products(
    products: Floats, weights: Floats, means: Floats, covariances: Floats
) -> Floats:
    """Return the same as `_log_densities` for covariances of each component, by one product of matrices."""
    d = means.shape[1]
    roots = np.linalg.inv(np.linalg.cholesky(covariances))
    precisions = np.swapaxes(roots, 1, 2) @ roots
    half_log_dets = -np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    a, b = np.triu_indices(d)
    twice = np.where(a == b, 1.0, 2.0)
    linear = np.einsum("kij,kj->ki", precisions, means)
    constant = -0.5 * np.einsum("ki,ki->k", linear, means) - half_log_dets + np.log(weights)
    constant -= 0.5 * d * np.log(2.0 * np.pi)
    coefficients = np.column_stack([-0.5 * precisions[:, a, b] * twice, linear, constant])
    return np.asarray(coefficients @ products)


def _whitening(covariance: Floats) -> tuple[Floats, float]:
    """Return W with W W' the inverse of the covariance, and the logarithm of its determinant."""
    root = np.linalg.cholesky(covariance)
    return np.linalg.inv(root).T, 2.0 * float(np.log(np.diag(root)).sum())


def _log_densities(points: Floats, weights: Floats, means: Floats, covariances: Floats) -> Floats:
    """Return the logarithm of each weighted density at each point, of shape (n_components, n_samples)."""
    d = points.shape[1]
    logs = np.empty((len(means), len(points)))
    pairs = [_whitening(covariance) for covariance in covariances]
    if len(pairs) == 1:
        whitening, log_det = pairs[0]
        white, centers = points @ whitening, means @ whitening
        # -|w - c|^2 / 2; the points are centred, so that little is lost by rounding.
        np.matmul(centers, white.T, out=logs)
        logs -= 0.5 * np.einsum("ij,ij->i", white, white)
        logs -= 0.5 * (np.einsum("ij,ij->i", centers, centers) + log_det)[:, np.newaxis]
    else:
        for k, (whitening, log_det) in enumerate(pairs):
            white = (points - means[k]) @ whitening
            logs[k] = -0.5 * (np.einsum("ij,ij->i", white, white) + log_det)
    logs += (np.log(weights) - 0.5 * d * np.log(2.0 * np.pi))[:, np.newaxis]
    return logs


def _directions(points: Floats, mixture: Mixture) -> list[Floats]:
    d = points.shape[1]
    directions = list(np.eye(d)[:_MAX_AXES])
    if d == 1:
        return directions
    principal = np.linalg.eigh(np.cov(points.T))[1]
    directions += list(principal.T[::-1][:_MAX_AXES])
    within = np.einsum(
        "k,kij->ij", mixture.weights, np.broadcast_to(mixture.covariances, (len(mixture), d, d))
    )
    inverse = np.linalg.inv(within)
    a, b = np.triu_indices(len(mixture), 1)
    between = mixture.means[a] - mixture.means[b]
    apart = np.einsum("pi,ij,pj->p", between, inverse, between)
    directions += list(between[np.argsort(apart, kind="stable")[:_MAX_PAIRS]] @ inverse)
    directions.append(np.linalg.eigh(within)[1][:, 0])
    if d == 2:
        angles = np.arange(_ANGLES) * np.pi / _ANGLES
        directions += list(np.column_stack([np.cos(angles), np.sin(angles)]))
    return directions
