"""How often one cluster is taken for several, clusters are seen, and their number is right.

python -m experiments.selection.number [--quick] [--parts size power ...] [--out FOLDER]

- "size": 100 single Gaussians of 150 objects over four covariances; the p-value should be uniform.
- "power": three Gaussians in 10 dimensions, centres pairwise 2.5 and 3 deviations apart.
- "number": 2 to 6 Gaussians, centres drawn at random in 5 dimensions, the nearest two 8 apart.
- "other": single clouds that are no Gaussian. A rejection says "more stable than one Gaussian"; the second question,
  of borders and of single clouds of the same shape, then says whether they are one cluster.
- "real": the number by each criterion, beside the known classes, which nothing but this table reads.

The first four try K = 2 to 6 (2 to 8 in "number") with 30 resamples and 39 references, the last one
2 to 10 with 50 and 99.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from scipy.stats import kstest

from conclust.datasets import available, load
from conclust.exceptions import ScaleWarning, SelectionWarning
from conclust.metrics import adjusted_rand_index
from conclust.selection import Selection, choose
from experiments.output import Row, options, show, write

Points = NDArray[np.float64]

PARTS = ("size", "power", "number", "other", "real")
REAL = (
    "iris",
    "wine",
    "seeds",
    "khan_srbct",
    "golub_leukemia",
    "hgsc_tcga",
    "su_multitissue",
    "sc_yan",
    "sc_treutlein",
)
N = 150


def gaussians(rng: np.random.Generator) -> dict[str, Callable[[], Points]]:
    """Return ways to draw one Gaussian."""
    Q, _ = np.linalg.qr(rng.standard_normal((10, 10)))
    falling = np.sqrt(np.geomspace(1.0, 0.1, 10))
    long = np.ones(10)
    long[0] = 3.0
    wide = np.arange(1, 401) ** -0.35  # eigenvalues j^-0.7
    return {
        "spherical, 10 features": lambda: rng.standard_normal((N, 10)),
        "eigenvalues 1 to 0.1, turned": lambda: (rng.standard_normal((N, 10)) * falling) @ Q,
        "one axis three times as long": lambda: rng.standard_normal((N, 10)) * long,
        "400 features, eigenvalues j^-0.7": lambda: rng.standard_normal((N, 400)) * wide,
    }


def clouds(rng: np.random.Generator) -> dict[str, Callable[[], Points]]:
    """Return ways to draw one cloud that is no Gaussian."""
    return {
        "uniform square, 2 features": lambda: rng.random((N, 2)),
        "uniform cube, 10 features": lambda: rng.random((N, 10)),
        "exponential, 5 features": lambda: rng.exponential(size=(N, 5)),
        "t with 3 degrees, 5 features": lambda: rng.standard_t(3, size=(N, 5)),
        "uniform strip, 6 : 1": lambda: rng.random((N, 2)) * [6, 1],
        "exponential, 2 features": lambda: rng.exponential(size=(N, 2)),
        "Laplace, 2 features": lambda: rng.laplace(size=(N, 2)),
        "Laplace, 5 features": lambda: rng.laplace(size=(N, 5)),
    }


def three(apart: float, rng: np.random.Generator) -> Points:
    """Draw three unit Gaussians in 10 dimensions, their centres pairwise so far apart."""
    centers = np.zeros((3, 10))
    np.fill_diagonal(centers, apart / np.sqrt(2.0))
    return rng.standard_normal((N, 10)) + centers[np.arange(N) % 3]


def scattered(k: int, rng: np.random.Generator) -> Points:
    """Draw k unit Gaussians in 5 dimensions, centres at random, the nearest two 8 apart."""
    centers = rng.standard_normal((k, 5))
    centers *= 8.0 / pdist(centers).min()
    return rng.standard_normal((N, 5)) + centers[np.arange(N) % k]


def chosen(X: Points, ks: Sequence[int], seed: int, jobs: int | None, **changes: Any) -> Selection:
    """Choose quietly: what a table of counts says needs no doubts."""
    given: dict[str, Any] = {"n_resamples": 30, "n_references": 39} | changes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        warnings.simplefilter("ignore", ScaleWarning)
        return choose(X, ks, random_state=seed, n_jobs=jobs, **given)


def size(arguments: argparse.Namespace) -> Iterator[Row]:
    sets = 3 if arguments.quick else 25
    every: list[float] = []
    for at, (name, draw) in enumerate(gaussians(np.random.default_rng(arguments.seed)).items()):
        # Other draws and references for each set: p-values that share them would not be independent.
        seeds = range(1000 * at, 1000 * at + sets)
        p = [chosen(draw(), range(2, 7), seed, arguments.jobs).p_value for seed in seeds]
        every += p
        yield _calibration(name, p)
    yield _calibration("all", every)


def _calibration(name: str, p_values: Sequence[float]) -> Row:
    p = np.array(p_values)
    # The p-values are multiples of 1 / 40: uniform ones, less half a step at random, have no steps.
    return {
        "one Gaussian": name,
        "sets": len(p),
        "p <= 0.05": int(np.count_nonzero(p <= 0.05)),
        "p <= 0.1": int(np.count_nonzero(p <= 0.1)),
        "mean p": float(p.mean()),
        "distance from uniform": float(kstest(p - 0.5 / 40, "uniform").statistic),
    }


def power(arguments: argparse.Namespace) -> Iterator[Row]:
    sets = 3 if arguments.quick else 20
    for apart in (2.5, 3.0):
        rng = np.random.default_rng([arguments.seed, int(10 * apart)])
        found = [
            chosen(three(apart, rng), range(2, 7), seed, arguments.jobs) for seed in range(sets)
        ]
        yield _counts(f"three, {apart:g} apart", found, 3)


def number(arguments: argparse.Namespace) -> Iterator[Row]:
    sets = 1 if arguments.quick else 4
    for k in range(2, 7):
        rng = np.random.default_rng([arguments.seed, k])
        found = [
            chosen(scattered(k, rng), range(2, 9), seed, arguments.jobs) for seed in range(sets)
        ]
        yield _counts(f"{k}, 8 apart", found, k)


def _counts(name: str, found: Sequence[Selection], k: int) -> Row:
    def by(criterion: str, sign: float = 1.0) -> int:
        return sum(_best(one, criterion, sign) == k for one in found)

    return {
        "clusters": name,
        "sets": len(found),
        "p <= 0.05": sum(one.p_value <= 0.05 for one in found),
        "number right": sum(one.n_clusters == k for one in found),
        "RCSI": by("rcsi"),
        "sharp": by("sharp"),
        "mean ARI": by("mean_ari"),
        "least PAC": by("pac", -1.0),
        "silhouette": by("silhouette_points"),
    }


def other(arguments: argparse.Namespace) -> Iterator[Row]:
    sets = 2 if arguments.quick else 20
    for name, draw in clouds(np.random.default_rng(arguments.seed)).items():
        found = [chosen(draw(), range(2, 7), seed, arguments.jobs) for seed in range(sets)]
        p = np.array([one.p_value for one in found])
        yield {
            "one cloud": name,
            "sets": sets,
            "p <= 0.05": int(np.count_nonzero(p <= 0.05)),
            "mean p": float(p.mean()),
            "one cluster": sum(one.n_clusters == 1 for one in found),
        }


def real(arguments: argparse.Namespace) -> Iterator[Row]:
    names = [name for name in REAL if name in available()]
    for name in names[:2] if arguments.quick else names:
        data = load(name)
        found = chosen(
            _prepared(name, data.X),
            range(2, 11),
            arguments.seed,
            arguments.jobs,
            n_resamples=20 if arguments.quick else 50,
            n_references=19 if arguments.quick else 99,
        )
        table, k = found.table, found.k
        classes = len(np.unique(data.y))
        grown = k[table["delta"] > 0.1]
        best = partial(_best, found)
        at = classes if classes in found.labels else int(k[-1])
        yield {
            "set": name,
            "objects": len(data.X),
            "features": data.X.shape[1],
            "classes": classes,
            "chosen": found.n_clusters,
            "p": found.p_value,
            "RCSI": best("rcsi"),
            "sharp": best("sharp"),
            "mean ARI": best("mean_ari"),
            "least PAC": best("pac", -1.0),
            "silhouette X": best("silhouette_points"),
            "delta > 0.1": int(grown[-1]) if len(grown) else 1,
            "ARI chosen": adjusted_rand_index(data.y, found.labels_),
            "ARI at classes": adjusted_rand_index(data.y, found.labels[at]),
        }


def _best(found: Selection, criterion: str, sign: float = 1.0) -> int:
    """Return the number of clusters at which a criterion is largest, or with -1 smallest."""
    return int(found.k[np.nanargmax(sign * found.table[criterion])])


def _prepared(name: str, X: Points) -> Points:
    """Return points as is usual for them: logarithms of counts and intensities, columns to one scale."""
    if name.startswith("sc_"):
        return np.log2(1.0 + X)
    if name == "golub_leukemia":  # as Dudoit, Fridlyand and Speed (2002) have it
        return np.log2(np.clip(X, 100.0, 16000.0))
    if name in ("iris", "wine", "seeds"):
        return (X - X.mean(axis=0)) / X.std(axis=0)
    return X


def main(given: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="which tables")
    arguments = parser.parse_args(given)
    tables = {"size": size, "power": power, "number": number, "other": other, "real": real}
    for part in arguments.parts:
        rows = list(tables[part](arguments))
        if rows:
            show(rows, part)
            write(rows, part, arguments)


if __name__ == "__main__":
    main()
