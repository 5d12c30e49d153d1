"""Points on a line: the number found, and the clusters with the number given.

python -m experiments.default.line [--quick] [--seeds 0 100] [--sets 8] [--out FOLDER]

Clouds of one column (Gaussian, uniform, exponential, t with 3 degrees, Laplace, Gaussian rounded to a sixth of the deviation) and Gaussian clusters in a
row, of 60 to 1,500 objects. Each line is a kind of sets and a seed. It has the share of the sets for which `ConsensusClustering()` finds the right
number, its adjusted Rand index with the number given and not, and the index of k-means, which is given the number. The columns "two columns" repeat this
with a column of zeros added, so that the members and the rule for several columns apply; until November 2026 these also applied to one column. Constants
were settled on seed 0.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from conclust import ConsensusClustering, EnsembleGenerator
from conclust.metrics import adjusted_rand_index
from experiments.output import Row, options, show, write

CLOUDS = ("Gaussian", "uniform", "exponential", "t, 3 degrees", "Laplace", "rounded")
# Centres, and the shares of the clusters.
ROWS: dict[str, tuple[Sequence[float], Sequence[float]]] = {
    "two, 4 apart": ((0, 4), (0.5, 0.5)),
    "two, 5 apart": ((0, 5), (0.5, 0.5)),
    "two, 6 apart, 9 : 1": ((0, 6), (0.9, 0.1)),
    "three, 5 apart": ((0, 5, 10), (1 / 3,) * 3),
    "five, 6 apart": ((0, 6, 12, 18, 24), (0.2,) * 5),
    "eight, 8 apart": (tuple(range(0, 64, 8)), (0.125,) * 8),
}
CLOUD_SIZES = (60, 100, 250, 500, 1500)
ROW_SIZES = (100, 300, 1000)


class OnLine(NamedTuple):
    """Points of one column with their classes."""

    kind: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]


def line_sets(seed: int, repeat: int) -> Iterator[OnLine]:
    """Yield one set of each kind and size."""
    for n in CLOUD_SIZES:
        rng = np.random.default_rng([seed, repeat, n])
        draws = (
            rng.normal(size=n),
            rng.uniform(size=n),
            rng.exponential(size=n),
            rng.standard_t(3, size=n),
            rng.laplace(size=n),
            np.round(6 * rng.normal(size=n)),
        )
        for kind, values in zip(CLOUDS, draws, strict=True):
            yield OnLine(f"cloud: {kind}", values[:, None], np.zeros(n, dtype=np.int64))
    for kind, (centres, shares) in ROWS.items():
        for n in ROW_SIZES:
            rng = np.random.default_rng([seed, repeat, n, len(kind)])
            y = rng.choice(len(centres), n, p=shares)
            yield OnLine(kind, (np.array(centres)[y] + rng.normal(size=n))[:, None], y)


def answered(points: OnLine) -> Row:
    """Return what was found in one column, in two, and by k-means."""
    X, y = points.X, points.y
    K = int(y.max()) + 1
    row: Row = {"kind": points.kind}
    generator = EnsembleGenerator(n_jobs=1)
    for name, columns in (("", X), ("two columns: ", np.column_stack([X, np.zeros(len(X))]))):
        found = ConsensusClustering(generator=generator, random_state=0).fit(columns)
        row[f"{name}right"] = float(found.n_clusters_ == K)
        scores: tuple[float | None, ...] = (None, None)
        if K > 1:
            given = ConsensusClustering(generator=generator, n_clusters=K, random_state=0)
            partitions = (found.labels_, given.fit(columns).labels_)
            scores = tuple(adjusted_rand_index(y, labels) for labels in partitions)
        row[f"{name}ARI"], row[f"{name}ARI, given"] = scores
    kmeans = KMeans(K, n_init=10, random_state=0)
    row["k-means"] = adjusted_rand_index(y, kmeans.fit_predict(X)) if K > 1 else None
    return row


def means(seed: int, rows: list[Row]) -> Iterator[Row]:
    """Yield a line for each kind."""
    for kind in dict.fromkeys(row["kind"] for row in rows):
        of_kind = [row for row in rows if row["kind"] == kind]
        keys = list(of_kind[0])[1:]
        line: Row = {"kind": kind, "seed": seed, "sets": len(of_kind)}
        for key in keys:
            values = [row[key] for row in of_kind]
            line[key] = None if values[0] is None else float(np.mean(values))
        yield line


def run(arguments: argparse.Namespace) -> None:
    warnings.simplefilter("ignore")
    table: list[Row] = []
    for seed in arguments.seeds[:1] if arguments.quick else arguments.seeds:
        repeats = range(1 if arguments.quick else arguments.sets)
        rows = [answered(points) for repeat in repeats for points in line_sets(seed, repeat)]
        table += means(seed, rows)
    show(table, "One column: the number found, and the agreement with the clusters")
    write(table, "line", arguments)


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 100])
    parser.add_argument("--sets", type=int, default=8, help="sets of each kind and size")
    run(parser.parse_args(argv))


if __name__ == "__main__":
    main()
