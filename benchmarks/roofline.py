"""Hot paths beside what the machine can do: multiply-adds and bytes a second, measured in the same run.

python -m benchmarks.roofline [--quick]

One thread, CPU seconds, medians of five. A limit is what one core reaches in the same run: a BLAS product in single or double
precision (billion multiply-adds a second), one pass of reading, a copy, or the first touch of new memory (GB a second). The work
of a path is what cannot be avoided: multiply-adds of the distances that its algorithm computes, or the bytes that it reads or writes once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from benchmarks.timing import median
from conclust import Ensemble, EnsembleGenerator, coassociation
from conclust._arrays.rows import EqualRows
from conclust._kernels import agglomerate_average
from conclust._threads import one_library_thread
from conclust.borders import valley_counts
from conclust.consensus.papers.probabilistic.placements.factored_model import FactoredModel, padded
from conclust.evidence import spanning_tree
from conclust.generation.runs import run_kmeans
from conclust.neighbours import find_neighbours, neighbour_graph

GIGA = 1e9


@dataclass(frozen=True)
class Path:
    """A hot path: what it must do at least, and the limit that it is held against."""

    name: str
    work: float
    limit: str
    run: Callable[[], object]


def limits() -> dict[str, tuple[float, str]]:
    """Return the rates of this core, each with its unit."""
    rng = np.random.default_rng(0)
    product = "billion multiply-adds a second"
    rates: dict[str, tuple[float, str]] = {}
    kinds: dict[str, Any] = {"single": np.float32, "double": np.float64}
    for name, kind in kinds.items():
        A: NDArray[Any] = rng.random((1500, 1500)).astype(kind)
        rates[name] = len(A) ** 3 / GIGA / median(lambda: A @ A, 5).cpu, product  # noqa: B023
    block = np.ones(50_000_000)
    other = np.empty_like(block)
    other.fill(0.0)
    rates["read"] = block.nbytes / GIGA / median(block.max, 5).cpu, "GB a second"
    copied = median(lambda: np.copyto(other, block), 5).cpu
    rates["copy"] = 2 * block.nbytes / GIGA / copied, "GB a second"
    touched = median(lambda: np.empty_like(block).fill(1.0), 5).cpu
    rates["first touch"] = block.nbytes / GIGA / touched, "GB a second"
    return rates


def labels_of(n: int, n_partitions: int, n_clusters: int = 10) -> NDArray[np.int64]:
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(n_clusters, size=(n, 1)), n_partitions, axis=1)
    noise = rng.random(labels.shape) < 0.2
    labels[noise] = rng.integers(n_clusters, size=int(noise.sum()))
    return labels


def of_points(size: int) -> list[Path]:
    """Return the paths from points to labels."""
    X = np.asarray(make_blobs(4 * size, 16, centers=12, cluster_std=4, random_state=0)[0])
    some = np.ascontiguousarray(X[: size // 2])
    few = np.ascontiguousarray(X[: size // 4])
    n, d = X.shape
    K, passes = 30, 20
    rows = np.arange(n, dtype=np.int32)[None]
    seeds = np.zeros(1, dtype=np.uint64)
    generator = EnsembleGenerator(
        "kmeans", 20, n_clusters=K, fit_on=2_000, random_state=0, n_jobs=1
    ).fit(X)
    pieces = run_kmeans(few, 40, rows[:, : len(few)].copy(), seeds).labels.ravel().astype(np.int64)
    graph = neighbour_graph(few, 10, n_jobs=1)
    ends = np.sort(np.column_stack([pieces[graph.sources], pieces[graph.ends]]), axis=1)
    pairs = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    return [
        Path(
            "k-means, 20 passes",
            n * d * K * passes,
            "single",
            lambda: run_kmeans(X, K, rows, seeds, threads=1, max_iter=passes),
        ),
        Path(
            "labels of all objects by 600 centres",
            n * d * K * 20,
            "single",
            lambda: generator.transform(X),
        ),
        Path(
            "15 nearest neighbours, exact",
            len(some) ** 2 * d,
            "single",
            lambda: find_neighbours(some, 15, n_jobs=1),
        ),
        Path(
            "valleys of borders, 8 halvings",
            8 * len(few) * (d * 40 + d * len(pairs)),
            "double",
            lambda: valley_counts(few, pieces, pairs, random_state=0, n_jobs=1),
        ),
    ]


def of_labels(size: int) -> list[Path]:
    """Return the paths from labels to a consensus."""
    n = size // 2
    ensemble = Ensemble(labels_of(n, 100))
    bytes_of_pairs = n * n
    tall = labels_of(10 * size, 50)
    codes = np.ascontiguousarray(tall.astype(np.uint8))
    large = Ensemble(codes)
    matrix = np.random.default_rng(0).random((n // 2, n // 2))
    matrix += matrix.T
    merges = np.empty(len(matrix) - 1, dtype=np.int64), np.empty(len(matrix) - 1, dtype=np.int64)

    def average_tree() -> None:
        heights = np.empty(len(matrix) - 1)
        agglomerate_average(matrix.copy(), np.ones(len(matrix)), *merges, heights)

    solver = FactoredModel.of(large).solver(large.label_view, 8)
    Y = padded(np.random.default_rng(0).dirichlet(np.ones(8), len(codes)))
    solver.rebuild(Y, 1)
    return [
        Path(
            "co-association, a byte a pair",
            bytes_of_pairs,
            "first touch",
            lambda: coassociation(ensemble, dtype="int8", n_jobs=1),
        ),
        Path("labels into an Ensemble", tall.nbytes, "read", lambda: Ensemble(tall)),
        Path("equal rows", codes.nbytes, "read", lambda: EqualRows.of(codes)),
        Path(
            "PCC (l2), a sweep",
            codes.size * 8 * 2,
            "double",
            lambda: solver.sweep(Y, 0.0, 0.0, 1),
        ),
        Path(
            "single linkage from labels",
            n * n * 100 / 8,
            "read",
            lambda: spanning_tree(ensemble),
        ),
        Path("average linkage of a matrix", matrix.nbytes, "copy", average_tree),
    ]


def main(size: int) -> None:
    with one_library_thread():
        rates = limits()
        print("This core: " + ", ".join(f"{k} {v:.1f} {u}" for k, (v, u) in rates.items()))
        print(f"\n{'path':<40}{'CPU s':>8}{'rate':>8}{'limit':>8}  {'of':<12}{'share':>6}")
        for path in [*of_points(size), *of_labels(size)]:
            cpu = median(path.run, 5).cpu
            rate, limit = path.work / GIGA / cpu, rates[path.limit][0]
            print(
                f"{path.name:<40}{cpu:>8.3f}{rate:>8.2f}{limit:>8.1f}  {path.limit:<12}{rate / limit:>6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a tenth of the objects")
    main(2_000 if parser.parse_args().quick else 20_000)
