"""How flat or skewed points are, compared with flat and skewed clouds, by Mardia's measures of kurtosis and skewness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from conclust._types import Floats
from conclust.selection.resampled.null import flat, with_products

Kind = Literal["flat", "skewed"]
"""Kind of a single cloud that is not Gaussian."""

_CLOUDS = 99
# Maximum number of leading components: the number of third moments grows with its cube.
_MOST_LEADING = 10
# A gamma distribution of this shape is half as skewed as the exponential distribution.
_HALF_AS_SKEWED = 4.0


def p_value_of_shape(Z: Floats, kind: Kind, n_leading: int, rng: np.random.Generator) -> float:
    """Return how plausible it is that the points are as flat as boxes, or half as skewed as exponential clouds.

    Kurtosis is compared in the first component, in the first two, and so on up to `n_leading`, and in all: points may be
    flat in the directions of the clusters only. Skewness is compared in the `n_leading` components.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, r)
        Principal scores: orthogonal columns of mean 0, the longest first.
    kind : {"flat", "skewed"}
    n_leading : int
        Number of directions of the clusters: one less than the clusters. More than ten count as ten.
    rng : numpy.random.Generator
        Source of 99 clouds of the same Z'Z.

    Returns
    -------
    float
        Share of the clouds, the points among them, that are at most as flat or as skewed as the points. Of several
        numbers of components the largest share.

    Notes
    -----
    With whitened rows z, kurtosis is the mean of ``|z|^4``, and skewness the mean of ``(z_i'z_j)^3`` over all pairs
    of rows (K. V. Mardia, Biometrika 57, 1970). Neither depends on how the components are rotated.
    """
    n_leading = min(n_leading, _MOST_LEADING, Z.shape[1])
    if kind == "flat":
        numbers = np.array([*range(n_leading), Z.shape[1] - 1])
        values = kurtosis(Z)[numbers]
        clouds = np.array([kurtosis(flat(Z, rng))[numbers] for _ in range(_CLOUDS)])
        beyond = np.count_nonzero(clouds >= values, axis=0)
    else:
        value = skewness(Z[:, :n_leading])
        drawn = (_half_as_skewed(Z, rng) for _ in range(_CLOUDS))
        beyond = np.count_nonzero([skewness(cloud[:, :n_leading]) <= value for cloud in drawn])
    return float((np.max(beyond) + 1) / (_CLOUDS + 1))


def kurtosis(Z: Floats) -> Floats:
    """Return Mardia's kurtosis of the first component, of the first two, and so on, (r,)."""
    squares = np.cumsum(np.square(_whitened(Z)), axis=1)
    return np.asarray(np.square(squares).mean(axis=0))


def skewness(Z: Floats) -> float:
    """Return Mardia's skewness: the sum of the squared third moments of whitened scores."""
    W = _whitened(Z)
    return float(np.square(np.einsum("ia,ib,ic->abc", W, W, W, optimize=True) / len(W)).sum())


def _half_as_skewed(Z: Floats, rng: np.random.Generator) -> Floats:
    signs = rng.choice(np.array([-1.0, 1.0]), Z.shape[1])
    return with_products(rng.gamma(_HALF_AS_SKEWED, size=Z.shape) * signs, Z)


def _whitened(Z: Floats) -> Floats:
    """Return scores whose columns have variance 1."""
    variances = np.square(Z).mean(axis=0)
    return np.asarray(Z / np.sqrt(np.maximum(variances, np.finfo(float).tiny)))


# Components that are less flat or skewed are drawn from the normal distribution.
_NORMAL = 0.02
# Excess kurtosis of the uniform, and squared skewness of the exponential distribution: clouds are at most so flat and skewed.
_UNIFORM, _EXPONENTIAL = -1.2, 4.0
# Maximum number of components that are measured: the number of third moments grows with its cube.
_MEASURED = 10


def is_more_than_gaussian(Z: Floats, kind: Kind, n_leading: int) -> bool:
    """Return whether the leading components are flatter, or more skewed, than normal ones.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, r)
        Principal scores: orthogonal columns of mean 0, the longest first.
    kind : {"flat", "skewed"}
    n_leading : int
        Number of directions of the clusters.
    """
    leading = Z[:, : min(n_leading, _MEASURED)]
    return bool(
        _kurtosis(leading) < -_NORMAL if kind == "flat" else _squared_skewness(leading) > _NORMAL
    )


def matched_cloud(Z: Floats, kind: Kind, n_leading: int, rng: np.random.Generator) -> Floats:
    """Return a single cloud with the Z'Z of the points that is as flat, or as skewed, as these.

    Components are independent: symmetric beta distributions, down to the uniform one, with the mean kurtosis of the
    points; or gamma distributions, up to the exponential one, with their mean skewness, each in a random direction. The
    leading components and the others are measured apart.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, r)
        Principal scores: orthogonal columns of mean 0, the longest first.
    kind : {"flat", "skewed"}
    n_leading : int
        Number of directions of the clusters: one less than the clusters.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ndarray of shape (n_samples, r)

    Notes
    -----
    The mean kurtosis of q components is (b_2 - q (q + 2) (n - 1) / (n + 1)) / q, their mean squared skewness (b_1 - q (q + 1) (q + 2) / n) / q,
    where b_2 and b_1 are the mean of ``|z|^4`` over whitened rows z and of ``(z_i'z_j)^3`` over pairs of rows, less their means
    for normal distributions (K. V. Mardia, Biometrika 57, 1970). Neither depends on how components of equal length are rotated.
    """
    n, r = Z.shape
    n_leading = min(n_leading, r)
    draw = _DRAWS[kind]
    blocks = [
        draw(Z[:, begin : min(end, begin + _MEASURED)], (n, end - begin), rng)
        for begin, end in ((0, n_leading), (n_leading, r))
        if begin < end
    ]
    return with_products(np.hstack(blocks), Z)


def _as_flat(measured: Floats, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Draw symmetric beta components with the kurtosis of some scores."""
    excess = max(_kurtosis(measured), _UNIFORM)
    if excess > -_NORMAL:
        return rng.standard_normal(shape)
    a = -3.0 / excess - 1.5
    return np.asarray((rng.beta(a, a, shape) - 0.5) * np.sqrt(4.0 * (2.0 * a + 1.0)))


def _as_skewed(measured: Floats, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Draw gamma components with the skewness of some scores."""
    squared = min(_squared_skewness(measured), _EXPONENTIAL)
    if squared < _NORMAL:
        return rng.standard_normal(shape)
    a = 4.0 / squared
    signs = rng.choice(np.array([-1.0, 1.0]), shape[1])
    return np.asarray((rng.gamma(a, size=shape) - a) / np.sqrt(a) * signs)


_DRAWS: dict[Kind, Callable[[Floats, tuple[int, int], np.random.Generator], Floats]] = {
    "flat": _as_flat,
    "skewed": _as_skewed,
}


def _kurtosis(Z: Floats) -> float:
    """Return the mean excess kurtosis of components."""
    n, q = Z.shape
    return float((kurtosis(Z)[-1] - q * (q + 2) * (n - 1) / (n + 1)) / q)


def _squared_skewness(Z: Floats) -> float:
    """Return the mean squared skewness of components."""
    n, q = Z.shape
    return float((skewness(Z) - q * (q + 1) * (q + 2) / n) / q)
