"""The groups of points that the answer of the default is scored on, by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.datasets import make_circles, make_moons

from experiments.default.members import MOST_OBJECTS, SETS
from experiments.default.sets import Points, blobs, real, shapes, textbook

SMALL = (
    "isolet_1560",
    "mnist_test_10000",
    "iris",
    "wine",
    "seeds",
    "breast_cancer_683",
    "glass",
    "ionosphere",
    "yeast_uci",
)
CLOUD_SIZES = (100, 250, 500, 1_500)
RATIOS = (5, 10, 20, 40)
DIMENSIONS = (2, 5, 10, 50)


def drawn(names: tuple[str, ...], group: str, seed: int) -> Iterator[Points]:
    """Yield real sets, at most 1,500 objects of each drawn at random."""
    for points in real(names):
        chosen = np.random.default_rng(seed).permutation(len(points.X))[:MOST_OBJECTS]
        yield Points(
            group,
            f"{points.name}, {seed}",
            points.X[chosen],
            np.asarray(points.y)[chosen],
            points.k,
        )


def many_clouds(seed: int) -> Iterator[Points]:
    """Yield single clouds of sixteen forms and four sizes: one cluster each."""
    for n in CLOUD_SIZES:
        rng = np.random.default_rng([seed, 23, n])
        angle = rng.uniform(0, 2 * np.pi, n)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        forms: dict[str, NDArray[np.float64]] = {
            f"Gaussian, d = {d}": rng.normal(size=(n, d)) for d in (2, 5, 10, 50)
        }
        forms |= {f"uniform, d = {d}": rng.uniform(size=(n, d)) for d in (2, 5, 10)}
        forms |= {f"exponential, d = {d}": rng.exponential(size=(n, d)) for d in (2, 5)}
        forms |= {f"t of 3 degrees, d = {d}": rng.standard_t(3, size=(n, d)) for d in (2, 5)}
        forms |= {
            "Laplace, d = 3": rng.laplace(size=(n, 3)),
            "strip": rng.uniform(size=(n, 2)) * [8.0, 1.0],
            "one long axis, d = 5": rng.normal(size=(n, 5)) * [3, 1, 1, 1, 1],
            "ring": ring * rng.normal(1.0, 0.1, (n, 1)),
            "ball, d = 3": _in_ball(rng, n, 3),
        }
        for name, X in forms.items():
            yield Points("clouds", f"{name}, n = {n}, {seed}", X, np.zeros(n, dtype=int), 1)


def uneven(seed: int, repeats: int = 5) -> Iterator[Points]:
    """Yield one large cluster beside five small ones, all apart."""
    for ratio in RATIOS:
        for d in DIMENSIONS:
            for repeat in range(repeats):
                rng = np.random.default_rng([seed, 29, ratio, d, repeat])
                small = max(25, 500 // ratio)
                y = np.repeat(np.arange(6), [small * ratio, *[small] * 5])
                X = _far_centers(rng, 6, d, 8.0)[y] + rng.normal(size=(len(y), d))
                yield Points("uneven blobs", f"1 : {ratio}, d = {d}, {seed}.{repeat}", X, y, 6)


def overlapping_pairs(seed: int, n: int = 500) -> Iterator[Points]:
    """Yield two Gaussians whose Bayes rule is right for 85 to 99 % of the points."""
    accuracies = (0.85, 0.9, 0.93, 0.96, 0.99)
    for at, d in enumerate((2, 2, 4, 4, 8, 8, 16, 16, 64, 64)):
        rng = np.random.default_rng([seed, 31, at])
        accuracy = accuracies[at % 5]
        distance = 2 * norm.ppf(accuracy)
        y = np.repeat([0, 1], n // 2)
        X = rng.normal(size=(n, d))
        X += np.where(y == 1, distance, 0.0)[:, None] / sqrt(d)
        yield Points("overlapping pairs", f"{accuracy}, d = {d}, {seed}", X, y, 2)


def noisy(seed: int, n: int = 600) -> Iterator[Points]:
    """Yield blobs under uniform noise, which is a class of its own; and five blobs of different spread."""
    for k in (3, 6):
        for share in (0.05, 0.2):
            rng = np.random.default_rng([seed, 37, k, int(100 * share)])
            noise = int(share * n)
            y = np.concatenate([np.arange(n - noise) % k, np.full(noise, k)])
            X = np.empty((n, 2))
            X[: n - noise] = (_far_centers(rng, k, 2, 7.0))[y[: n - noise]]
            X[: n - noise] += rng.normal(size=(n - noise, 2))
            X[n - noise :] = rng.uniform(X[: n - noise].min(0), X[: n - noise].max(0), (noise, 2))
            yield Points("blobs under noise", f"{k} blobs, {share:.0%} noise, {seed}", X, y, k)


def few_blobs(seed: int) -> Iterator[Points]:
    """Yield blobs of a few numbers in 2, 10 and 50 dimensions."""
    yield from blobs(1, (3, 5, 8, 12), first_seed=1_000 + seed)


def six_blobs(seed: int) -> Iterator[Points]:
    """Yield one set of six blobs in ten dimensions."""
    yield list(textbook(seed + 1))[seed]


def some_shapes(seed: int) -> Iterator[Points]:
    """Yield scikit-learn's six shapes of one seed."""
    yield from list(shapes(seed + 1))[6 * seed :]


def bent_clusters(seed: int) -> Iterator[Points]:
    """Yield single clusters along curves and surfaces, of four sizes."""
    for n in CLOUD_SIZES:
        rng = np.random.default_rng([seed, 41, n])
        t = rng.uniform(size=n)
        turn, angle = 2 * np.pi * t, 3 * np.pi * (t - 0.5)
        roll = 1.5 * np.pi * (1 + 2 * t)
        circle = np.column_stack([np.cos(turn), np.sin(turn)])
        trefoil = [np.sin(turn) + 2 * np.sin(2 * turn), np.cos(turn) - 2 * np.cos(2 * turn)]
        forms: dict[str, NDArray[np.float64]] = {
            "thin ring": circle * rng.normal(1.0, 0.03, (n, 1)),
            "ring, d = 5": np.column_stack([circle, np.zeros((n, 3))]) + _noise(rng, n, 5, 0.1),
            "ellipse": circle * [3.0, 1.0] * rng.normal(1.0, 0.08, (n, 1)),
            "arc": np.column_stack([np.cos(0.8 * turn), np.sin(0.8 * turn)])
            + _noise(rng, n, 2, 0.08),
            "spiral": (roll * [np.cos(roll), np.sin(roll)]).T / 10 + _noise(rng, n, 2, 0.03),
            "rolled sheet": np.column_stack(
                [roll * np.cos(roll), 21 * rng.uniform(size=n), roll * np.sin(roll)]
            ),
            "bent sheet": np.column_stack(
                [np.sin(angle), 2 * rng.uniform(size=n), np.sign(angle) * (np.cos(angle) - 1)]
            ),
            "helix": np.column_stack([np.cos(3 * turn), np.sin(3 * turn), turn])
            + _noise(rng, n, 3, 0.05),
            "trefoil knot": np.column_stack([*trefoil, -np.sin(3 * turn)]) + _noise(rng, n, 3, 0.1),
        }
        for name, X in forms.items():
            yield Points("bent clusters", f"{name}, n = {n}, {seed}", X, np.zeros(n, dtype=int), 1)


def crescents_and_circles(seed: int) -> Iterator[Points]:
    """Yield two crescents and two circles of three widths, from few points on."""
    for n in (100, 200, 300, 500):
        for noise in (0.03, 0.06, 0.1):
            sets = {
                "crescents": make_moons(n, noise=noise, random_state=100 + seed),
                "circles": make_circles(n, noise=noise, factor=0.5, random_state=100 + seed),
            }
            for name, (X, y) in sets.items():
                yield Points("two bent clusters", f"{name}, {noise}, n = {n}, {seed}", X, y, 2)


GROUPS: dict[str, Callable[[int], Iterator[Points]]] = {
    "features": lambda seed: drawn(SETS, "six feature sets", seed),
    "small": lambda seed: drawn(SMALL, "nine further real sets", seed),
    "shapes": some_shapes,
    "clouds": many_clouds,
    "six": six_blobs,
    "blobs": few_blobs,
    "uneven": uneven,
    "pairs": overlapping_pairs,
    "noisy": noisy,
    "bent": bent_clusters,
    "crescents": crescents_and_circles,
}


def _noise(rng: np.random.Generator, n: int, d: int, width: float) -> NDArray[np.float64]:
    return rng.normal(0.0, width, (n, d))


def _in_ball(rng: np.random.Generator, n: int, d: int) -> NDArray[np.float64]:
    direction = rng.normal(size=(n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return np.asarray(direction * rng.uniform(size=(n, 1)) ** (1 / d))


def _far_centers(rng: np.random.Generator, k: int, d: int, least: float) -> NDArray[np.float64]:
    """Draw centres in a box until each two of them are at least so far apart."""
    side = 15.0
    while True:
        for _ in range(200):
            centers = rng.uniform(-side, side, (k, d))
            distances = np.linalg.norm(centers[:, None] - centers, axis=2)
            if distances[np.triu_indices(k, 1)].min() >= least:
                return np.asarray(centers)
        side *= 1.2
