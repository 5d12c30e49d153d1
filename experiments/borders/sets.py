"""Clouds of one cluster, and sets with borders: each a function of a generator, points and classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["BORDERS", "CLOUDS", "gaussians"]

Points = NDArray[np.float64]
Classes = NDArray[np.int64]

# One cluster each: log-concave densities but for t, which has one mode along every line.
CLOUDS: dict[str, Callable[[np.random.Generator, int], Points]] = {
    "Gaussian, 2 features": lambda rng, n: rng.normal(size=(n, 2)),
    "Gaussian, 10 features": lambda rng, n: rng.normal(size=(n, 10)),
    "long Gaussian, 5 : 1": lambda rng, n: rng.normal(size=(n, 2)) * [5, 1],
    "square": lambda rng, n: rng.uniform(size=(n, 2)),
    "strip, 6 : 1": lambda rng, n: rng.uniform(size=(n, 2)) * [6, 1],
    "cube, 10 features": lambda rng, n: rng.uniform(size=(n, 10)),
    "exponential": lambda rng, n: rng.exponential(size=(n, 2)),
    "t, 3 degrees": lambda rng, n: rng.normal(size=(n, 2)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3),
    "Laplace": lambda rng, n: rng.laplace(size=(n, 2)),
}


def gaussians(
    rng: np.random.Generator,
    n: int,
    distance: float,
    d: int = 2,
    *,
    shares: tuple[float, ...] = (1.0, 1.0, 1.0),
) -> tuple[Points, Classes]:
    """Draw unit Gaussians at the corners of a regular simplex."""
    K = len(shares)
    sizes = np.round(n * np.array(shares) / sum(shares)).astype(int)
    y = np.repeat(np.arange(K), sizes)
    corners = np.zeros((K, max(d, K)))
    corners[np.arange(K), np.arange(K)] = distance / np.sqrt(2)
    corners -= corners.mean(axis=0)
    # The simplex lies in K - 1 dimensions.
    axes = np.linalg.svd(corners)[2][: min(d, K - 1)]
    centres = np.zeros((K, d))
    centres[:, : len(axes)] = corners @ axes.T
    return rng.normal(size=(len(y), d)) + centres[y], y


def _stretched(rng: np.random.Generator, n: int) -> tuple[Points, Classes]:
    X, y = gaussians(rng, n, 5.0, shares=(1.0, 1.0))
    return X * [1.0, 4.0], y


def _heavy(rng: np.random.Generator, n: int) -> tuple[Points, Classes]:
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 2)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3)
    return X + 6.0 * np.array([[0, 0], [1, 0], [0.5, 0.866]])[y], y


def _moons(rng: np.random.Generator, n: int) -> tuple[Points, Classes]:
    y = np.arange(n) % 2
    a = np.pi * rng.random(n)
    X = np.column_stack([np.cos(a), np.sin(a)])
    X[y == 1] = [1.0, 0.5] - X[y == 1]
    return X + rng.normal(scale=0.08, size=(n, 2)), y


def _rings(rng: np.random.Generator, n: int) -> tuple[Points, Classes]:
    y = np.arange(n) % 2
    a = 2 * np.pi * rng.random(n)
    X = np.column_stack([np.cos(a), np.sin(a)]) * np.where(y == 0, 1.0, 0.4)[:, None]
    return X + rng.normal(scale=0.06, size=(n, 2)), y


def _ring_around(rng: np.random.Generator, n: int) -> tuple[Points, Classes]:
    y = np.arange(n) % 2
    a = 2 * np.pi * rng.random(n)
    ring = 5.0 * np.column_stack([np.cos(a), np.sin(a)])
    return np.where(y[:, None] == 0, 0.0, ring) + 0.5 * rng.normal(size=(n, 2)), y


# Sets of 600 points other than three equal Gaussians.
BORDERS: dict[str, Callable[[np.random.Generator, int], tuple[Points, Classes]]] = {
    "two Gaussians, 4 sd, 9 : 1": lambda rng, n: gaussians(rng, n, 4.0, shares=(9.0, 1.0)),
    "two Gaussians, 5 sd, 9 : 1": lambda rng, n: gaussians(rng, n, 5.0, shares=(9.0, 1.0)),
    "two Gaussians, 6 sd, 19 : 1": lambda rng, n: gaussians(rng, n, 6.0, shares=(19.0, 1.0)),
    "eight Gaussians, 5 sd, 10 features": lambda rng, n: gaussians(
        rng, n, 5.0, 10, shares=(1.0,) * 8
    ),
    "two long Gaussians side by side": _stretched,
    "three t with 3 degrees, 6 apart": _heavy,
    "two moons": _moons,
    "a ring in a ring": _rings,
    "a ring around a Gaussian": _ring_around,
}
