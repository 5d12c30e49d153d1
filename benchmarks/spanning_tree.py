"""Single linkage from labels at n = 50,000: seconds, memory, and its weight beside SciPy's tree.

python -m benchmarks.spanning_tree
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from benchmarks.timing import median, memory_of
from conclust import Ensemble
from conclust.evidence import coassociation, spanning_tree

REPEATS = 5
N_PARTITIONS = 100


def make_labels(n: int, missing: float = 0.0, seed: int = 0) -> NDArray[np.int64]:
    """Cells of random centres on 15 Gaussians: partitions of 2 to 10 clusters."""
    rng = np.random.default_rng(seed)
    points = 4 * rng.normal(size=(15, 8))[rng.integers(15, size=n)] + rng.normal(size=(n, 8))
    labels = np.empty((n, N_PARTITIONS), dtype=np.int64)
    for u in range(N_PARTITIONS):
        centres = points[rng.choice(n, rng.integers(2, 11), replace=False)]
        labels[:, u] = ((centres**2).sum(axis=1) - 2 * points @ centres.T).argmin(axis=1)
    labels[rng.random(labels.shape) < missing] = -1
    return labels


def measure(name: str, ensemble: Ensemble, repeats: int) -> None:
    trees = []
    seconds = median(lambda: trees.append(spanning_tree(ensemble)), repeats)
    weight = trees[-1].heights.sum()
    print(f"{ensemble.n_samples:>7,} {name:<26} {seconds.cpu:>7.3f} {weight:>10.2f}")


def memory(n: int) -> None:
    before, after, _ = memory_of(
        "from benchmarks.spanning_tree import *\n"
        f"ensemble = Ensemble(Ensemble(make_labels({n})[:, :]).codes.copy())",
        "spanning_tree(ensemble)",
    )
    labels = n * N_PARTITIONS / 2**20
    print(f"memory at n = {n:,}: labels {labels:.1f} MB, peak {before:.0f} -> {after:.0f} MB")


def beside_scipy(n: int) -> None:
    """The same tree by SciPy, on the dense matrix."""
    ensemble = Ensemble(make_labels(n))
    measure("complete", ensemble, REPEATS)
    start = time.process_time()
    distances = 1 - coassociation(ensemble, n_jobs=1) / N_PARTITIONS
    condensed = squareform(distances, checks=False)
    counted = time.process_time()
    heights = linkage(condensed, method="single")[:, 2]
    seconds = time.process_time() - counted
    print(
        f"{n:>7,} {'SciPy, matrix given':<26} {seconds:>7.3f} {heights.sum():>10.2f} "
        f"(the matrix took {counted - start:.3f} s)"
    )


def main() -> None:
    print(f"{'n':>7} {'labels':<26} {'CPU s':>7} {'weight':>10}")
    measure("complete", Ensemble(make_labels(50_000)), REPEATS)
    measure("half missing", Ensemble(make_labels(50_000, missing=0.5)), REPEATS)
    uniform = np.random.default_rng(0).integers(0, 10, (50_000, N_PARTITIONS))
    measure("uniform random, K = 10", Ensemble(uniform), REPEATS)
    beside_scipy(10_000)
    memory(50_000)


if __name__ == "__main__":
    main()
