"""The points that the default is tried on: blobs, clouds, shapes, real sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from conclust.datasets import load

REAL = (
    "iris",
    "wine",
    "seeds",
    "breast_cancer_683",
    "glass",
    "ionosphere",
    "house_votes_232",
    "std_yeast_cell",
    "optdigits_1000",
    "zoo",
    "cigar",
    "half_rings",
    "standin_image_c_aggregation",
    "standin_rings_1000",
    "spiral",
    "yeast_uci",
    "steel_plates",
)


class Points(NamedTuple):
    """A set: which group of the tables it is in, its name, points, classes and their number."""

    group: str
    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    k: int


def textbook(seeds: int) -> Iterator[Points]:
    """Six blobs of 600 points in ten dimensions, as a newcomer makes them."""
    for seed in range(seeds):
        X, y = make_blobs(600, centers=6, n_features=10, center_box=(-10, 10), random_state=seed)
        yield Points("six blobs", f"six blobs {seed}", X, y, 6)


def blobs(seeds: int, numbers: tuple[int, ...], first_seed: int = 100) -> Iterator[Points]:
    """Yield blobs of several numbers, dimensions and sizes, in the same box: in two dimensions they overlap."""
    for k in numbers:
        for d in (2, 10, 50):
            for equal in (True, False):
                if k == 1 and not equal:
                    continue
                for seed in range(first_seed, first_seed + seeds):
                    rng = np.random.default_rng([seed, k, d, equal])
                    shares = np.full(k, 1 / k) if equal else rng.dirichlet(np.full(k, 3.0))
                    sizes = np.maximum(20, np.round(600 * shares)).astype(int)
                    centers = rng.uniform(-10, 10, (k, d))
                    y = np.repeat(np.arange(k), sizes)
                    X = centers[y] + rng.normal(size=(len(y), d))
                    group = (
                        "one blob" if k == 1 else f"blobs, {'2' if d == 2 else '10, 50'} dimensions"
                    )
                    words = "equal" if equal else "unequal"
                    yield Points(group, f"{k} blobs, d = {d}, {words}, {seed}", X, y, k)


def clouds(seeds: int, n: int = 500) -> Iterator[Points]:
    """Yield single clouds of points: no clusters."""
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 7])
        for name, X in {
            "uniform, d = 2": rng.uniform(size=(n, 2)),
            "uniform, d = 10": rng.uniform(size=(n, 10)),
            "Gaussian, d = 5": rng.normal(size=(n, 5)),
            "Gaussian, d = 50": rng.normal(size=(n, 50)),
            "one long axis, d = 5": rng.normal(size=(n, 5)) * [3, 1, 1, 1, 1],
            "exponential, d = 5": rng.exponential(size=(n, 5)),
            "t of 3 degrees, d = 5": rng.standard_t(3, size=(n, 5)),
        }.items():
            yield Points("clouds", f"{name}, {seed}", X, np.zeros(n, dtype=int), 1)


def shapes(seeds: int, n: int = 500) -> Iterator[Points]:
    """Yield the sets of scikit-learn's comparison of clusterers."""
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 11])
        flat, flat_y = make_blobs(n, random_state=170 + seed)
        for name, (X, y) in {
            "circles": make_circles(n, factor=0.5, noise=0.05, random_state=seed),
            "moons": make_moons(n, noise=0.05, random_state=seed),
            "blobs": make_blobs(n, random_state=8 + seed),
            "no structure": (rng.uniform(size=(n, 2)), np.zeros(n, dtype=int)),
            "aniso": (flat @ [[0.6, -0.6], [-0.4, 0.8]], flat_y),
            "varied": make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170 + seed),
        }.items():
            scaled = StandardScaler().fit_transform(X)
            yield Points("shapes", f"{name}, {seed}", scaled, y, len(np.unique(y)))


def real(names: tuple[str, ...] = REAL) -> Iterator[Points]:
    """Yield real and published sets, columns scaled to [0, 1]."""
    for name in names:
        data = load(name)
        X = MinMaxScaler().fit_transform(np.asarray(data.X, dtype=np.float64))
        yield Points("real sets", name, X, data.y, len(data.target_names))
