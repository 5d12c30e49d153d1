"""Average and Ward linkage beside SciPy's on the same co-association, and EAC from the labels.

python -m benchmarks.linkage
"""

from __future__ import annotations

import statistics
from functools import partial

import numpy as np
import scipy.cluster.hierarchy as hierarchy
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from benchmarks.timing import timed
from conclust import EAC
from conclust._kernels import agglomerate_average, agglomerate_ward
from conclust.consensus.linkage.dendrogram import from_merges
from conclust.ensemble import Ensemble
from conclust.evidence import coassociation

N_PARTITIONS = 100


def make_labels(n: int, seed: int = 0) -> NDArray[np.int64]:
    """Cells of random directions on three Gaussians: partitions of 20 clusters each."""
    rng = np.random.default_rng(seed)
    points = 3 * rng.integers(3, size=(n, 1)) + rng.normal(size=(n, 4))
    directions = rng.normal(size=(N_PARTITIONS, 4, 20))
    return np.stack([(points @ d).argmax(axis=1) for d in directions], axis=1)


def kernel(matrix: NDArray[np.float64], linkage: str) -> NDArray[np.float64]:
    n = len(matrix)
    merges = np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)
    agglomerate = agglomerate_ward if linkage == "ward" else agglomerate_average
    agglomerate(matrix, np.ones(n), *merges)
    return from_merges(*merges)


def print_row(ensemble: Ensemble, linkage: str, repeats: int) -> None:
    disagreements = N_PARTITIONS - coassociation(ensemble).astype(np.float64)
    np.fill_diagonal(disagreements, 0.0)
    condensed = squareform(disagreements, checks=False)
    if linkage == "ward":
        condensed = np.sqrt(condensed)  # SciPy squares for itself
    ours, theirs, whole = [], [], []
    for _ in range(repeats):
        matrix = disagreements.copy()  # the kernel destroys it
        ours.append(timed(partial(kernel, matrix, linkage)).cpu)
        del matrix
        theirs.append(timed(partial(hierarchy.linkage, condensed, linkage)).cpu)
        whole.append(timed(partial(EAC(3, linkage=linkage, n_jobs=1).fit, ensemble)).cpu)
    a, b, c = map(statistics.median, (ours, theirs, whole))
    print(f"{ensemble.n_samples:>6} {linkage:>8} {a:>11.3f} {b:>8.3f} {b / a:>6.1f} {c:>10.3f}")


def main() -> None:
    print(
        f"{'n':>6} {'linkage':>8} {'conclust s':>11} {'scipy s':>8} {'ratio':>6} {'EAC.fit s':>10}"
    )
    for n, repeats in ((5000, 5), (10_000, 3)):
        ensemble = Ensemble(make_labels(n))
        for linkage in ("average", "ward"):
            print_row(ensemble, linkage, repeats)


if __name__ == "__main__":
    main()
