"""The number of clusters of few points: single clouds, two or three blobs apart, and up to eight small ones.

python -m experiments.default.few [--quick] [--seeds 0 100] [--sets 10] [--settle] [--jobs 1] [--out FOLDER]

Clouds (Gaussian, uniform, exponential, t with 3 degrees; 8, 12, 16, 24, 36 and 49 points) and blobs (two and three unit Gaussians of 8, 12, 16,
20 and 25 points, the centres 8 standard deviations apart, on a regular simplex or in one dimension in a row, or drawn in a box at
least 8 apart; and four, six and eight, in a larger box), in 1, 2 and 5 dimensions. A line is a kind of sets and a seed from which the generators start: the share of the sets for which
`ConsensusClustering()` has the right number, in each dimension, the smallest share of a size, the adjusted Rand index; and, on one set of
five, the share for which `n_clusters="auto"` has it, and the ensemble's rule that decided before.

With `--settle` the test alone (`separated_clusters`) is run under other constants: its level, and the minimum number of objects of a cluster. Constants
were settled on seed 0; sets of seed 100 took no part.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from conclust import ConsensusClustering, EnsembleGenerator
from conclust.metrics import adjusted_rand_index
from conclust.selection.resampled import separation
from experiments.kept import fill, opened
from experiments.output import Row, options, show, write

CLOUDS = ("Gaussian", "uniform", "exponential", "t, 3 degrees")
CLOUD_SIZES = (8, 12, 16, 24, 36, 49)
BLOB_SIZES = (8, 12, 16, 20, 25)
DIMENSIONS = (1, 2, 5)
APART = 8.0
# Level and minimum size of a cluster; the first pair is in use.
CONSTANTS = ((0.05, 5), (0.05, 4), (0.025, 4), (0.1, 4), (0.05, 3))


class Small(NamedTuple):
    """A set: its kind, dimensions, objects of the whole, or of a blob, points, classes."""

    kind: str
    d: int
    size: int
    X: NDArray[np.float64]
    y: NDArray[np.int64]


def small_sets(seed: int, repeat: int) -> Iterator[Small]:
    """Yield one set of each kind, size and dimension."""
    for d in DIMENSIONS:
        for n in CLOUD_SIZES:
            rng = np.random.default_rng([seed, repeat, d, n])
            draws = (
                rng.normal(size=(n, d)),
                rng.uniform(size=(n, d)),
                rng.exponential(size=(n, d)),
                rng.standard_t(3, size=(n, d)),
            )
            for kind, X in zip(CLOUDS, draws, strict=True):
                yield Small(kind, d, n, X, np.zeros(n, dtype=np.int64))
        for k in (2, 3):
            for size in BLOB_SIZES:
                rng = np.random.default_rng([seed, repeat, d, size, k])
                y = np.repeat(np.arange(k), size)
                for where, centers in (("equally", _equal(k, d)), ("at least", _drawn(rng, k, d))):
                    X = centers[y] + rng.normal(size=(len(y), d))
                    yield Small(f"{k} blobs, {where} apart", d, size, X, y)
        for k in (4, 6, 8):
            for size in BLOB_SIZES:
                rng = np.random.default_rng([seed, repeat, d, size, k])
                y = np.repeat(np.arange(k), size)
                X = _drawn(rng, k, d, 8.0 * k)[y] + rng.normal(size=(len(y), d))
                yield Small(f"{k} blobs, at least apart", d, size, X, y)


def _equal(k: int, d: int) -> NDArray[np.float64]:
    """Return centres on a regular simplex, in a row where it does not fit."""
    if d < k - 1:
        return np.asarray(APART * np.arange(k, dtype=np.float64)[:, np.newaxis] * np.eye(d)[0])
    centers = np.zeros((k, d))
    centers[1, 0] = 1.0
    if k == 3:
        centers[2, :2] = 0.5, np.sqrt(0.75)
    return centers * APART


def _drawn(rng: np.random.Generator, k: int, d: int, side: float = 20.0) -> NDArray[np.float64]:
    """Draw centres in a box until all are apart."""
    while True:
        centers = rng.uniform(-side, side, (k, d))
        distances = np.linalg.norm(centers[:, np.newaxis] - centers, axis=2)
        if distances[np.triu_indices(k, 1)].min() >= APART:
            return np.asarray(centers)


def answered(unit: str, names: list[str]) -> dict[str, list[Row]]:
    """Return the answers for each set of a repeat, "SEED: REPEAT"."""
    warnings.simplefilter("ignore")
    seed, repeat = map(int, unit.split(": "))
    rows: list[Row] = []
    for number, small in enumerate(small_sets(seed, repeat)):
        row: Row = {"kind": small.kind, "d": small.d, "size": small.size}
        K = int(small.y.max()) + 1
        generator = EnsembleGenerator(n_jobs=1)
        model = ConsensusClustering(generator=generator, random_state=0).fit(small.X)
        row["right"] = float(model.n_clusters_ == K)
        row["ensemble"] = float(model.consensus_.n_clusters_shown_ == K)
        if K > 1:
            row["ARI"] = adjusted_rand_index(small.y, model.labels_)
        if (number + repeat) % 5 == 0:
            auto = ConsensusClustering(generator=generator, n_clusters="auto", random_state=0)
            row["auto"] = float(auto.fit(small.X).n_clusters_ == K)
        rows.append(row)
    return dict.fromkeys(names, rows)


def settled(unit: str, names: list[str]) -> dict[str, list[Row]]:
    """Return for each set of a repeat whether the test alone has the right number, under each pair of constants."""
    seed, repeat = map(int, unit.split(": "))
    rows: list[Row] = []
    for small in small_sets(seed, repeat):
        row: Row = {"kind": small.kind, "d": small.d, "size": small.size}
        for level, smallest in CONSTANTS:
            with (
                mock.patch.object(separation, "_LEVEL", level),
                mock.patch.object(separation, "SMALLEST", smallest),
                mock.patch.object(separation, "FEWEST", 2 * smallest),
            ):
                found = separation.separated_clusters(small.X, 0)
            row[f"{level}, {smallest}"] = float(found.n_clusters == small.y.max() + 1)
        rows.append(row)
    return dict.fromkeys(names, rows)


def _mean(rows: Sequence[Row], key: str) -> float | None:
    values = [row[key] for row in rows if key in row]
    return float(np.mean(values)) if values else None


def _worst(rows: Sequence[Row], key: str) -> float:
    """Return the smallest share of a size and a dimension."""
    cells: dict[tuple[int, int], list[float]] = defaultdict(list)
    for row in rows:
        cells[row["d"], row["size"]].append(row[key])
    return min(float(np.mean(values)) for values in cells.values())


def answer_line(kind: str, seed: str, rows: Sequence[Row]) -> Row:
    """Return the line of a kind."""
    line: Row = {"kind": kind, "seed": seed, "sets": len(rows)}
    for d in DIMENSIONS:
        line[f"d = {d}"] = _mean([row for row in rows if row["d"] == d], "right")
    line |= {"right": _mean(rows, "right"), "worst size": _worst(rows, "right")}
    return line | {name: _mean(rows, name) for name in ("ARI", "auto", "ensemble")}


def settle_line(kind: str, seed: str, rows: Sequence[Row]) -> Row:
    """Return the line of a kind under other constants."""
    line: Row = {"kind": kind, "seed": seed, "sets": len(rows)}
    for level, smallest in CONSTANTS:
        line[f"{level}, {smallest}"] = _mean(rows, f"{level}, {smallest}")
    return line


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 100])
    parser.add_argument("--sets", type=int, default=10, help="sets of a kind, size and dimension")
    parser.add_argument("--settle", action="store_true", help="try other constants")
    arguments: argparse.Namespace = parser.parse_args(argv)
    name = "few_settled" if arguments.settle else "few"
    seeds = arguments.seeds[:1] if arguments.quick else arguments.seeds
    sets = 1 if arguments.quick else arguments.sets
    kept = opened(arguments, f"{name}.kept.json", {})
    wanted = {f"{seed}: {repeat}": [name] for seed in seeds for repeat in range(sets)}
    fill(kept, wanted, settled if arguments.settle else answered, arguments.jobs or 1)
    lines: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for unit in wanted:
        for row in kept.found[unit][name]:
            lines[unit.split(": ")[0], row["kind"]].append(row)
    line_of = settle_line if arguments.settle else answer_line
    table = [line_of(kind, seed, rows) for (seed, kind), rows in lines.items()]
    show(table, "8 to 49 points in a cloud, 8 to 25 in a blob: share with the right number")
    write(table, name, arguments)


if __name__ == "__main__":
    main()
