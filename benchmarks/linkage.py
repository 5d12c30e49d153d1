"""Average and Ward linkage beside SciPy's on the same co-association, and EAC from the labels.

Then the dissimilarities by clusters that weigh differently (LWEA, MultiEAC), beside products of
matrices, and beside what bounds them: writing n^2 doubles into new memory, and counting pairs.

python -m benchmarks.linkage
"""

from __future__ import annotations

import statistics
from functools import partial

import numpy as np
import scipy.cluster.hierarchy as hierarchy
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from benchmarks.timing import timed
from conclust import EAC
from conclust._kernels import agglomerate_average, agglomerate_ward
from conclust._threads import one_library_thread
from conclust.ensemble import Ensemble
from conclust.evidence import coassociation
from conclust.trees.agglomeration import cluster_dissimilarities, from_merges, starting_clusters

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


def products(ensemble: Ensemble, cluster_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - c / N of complete labels, blocks of sparse times dense matrices."""
    scaled = sp.csr_array(ensemble.indicator @ sp.diags_array(np.sqrt(cluster_weights)))
    n, m = ensemble.shape
    D = np.empty((n, n))
    step = max(1, (1 << 22) // n)
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        c = (scaled @ np.ascontiguousarray(scaled[rows].toarray().T)).T
        np.subtract(1.0, np.clip(c / m, 0.0, 1.0), out=D[rows])
    np.fill_diagonal(D, 0.0)
    return D


def print_clusterwise(n: int, m: int, clusters: int, repeats: int) -> None:
    rng = np.random.default_rng(0)
    ensemble = Ensemble(rng.integers(clusters, size=(n, m)))
    weights = rng.random(int(ensemble.offsets[-1]))
    start = starting_clusters(ensemble)
    weighted = np.ones((n, m))
    runs = {
        "products": partial(products, ensemble, weights),
        "kernel": partial(cluster_dissimilarities, ensemble, weights, None, start, n_jobs=1),
        "weighted": partial(cluster_dissimilarities, ensemble, weights, weighted, start, n_jobs=1),
        "new n^2": partial(np.ones, (n, n)),
        "counts": partial(coassociation, ensemble, n_jobs=1),
    }
    if len(start) == n:
        np.testing.assert_allclose(runs["kernel"]()[0], runs["products"](), atol=1e-12)
    with one_library_thread():
        best = {name: min(timed(run).cpu for _ in range(repeats)) for name, run in runs.items()}
    columns = " ".join(f"{seconds:>9.3f}" for seconds in best.values())
    print(f"{n:>6} {m:>4} {clusters:>4} {columns} {best['products'] / best['kernel']:>6.1f}")


def main() -> None:
    names = " ".join(
        f"{name:>9}" for name in ("products", "kernel", "weighted", "new n^2", "counts")
    )
    print(f"CPU seconds, one thread\n{'n':>6} {'N':>4} {'K':>4} {names} {'ratio':>6}")
    for n in (2000, 5000, 10_000):
        for m in (10, 100):
            for clusters in (5, 50):
                print_clusterwise(n, m, clusters, 3 if n < 10_000 else 2)
    print()
    print(
        f"{'n':>6} {'linkage':>8} {'conclust s':>11} {'scipy s':>8} {'ratio':>6} {'EAC.fit s':>10}"
    )
    for n, repeats in ((5000, 5), (10_000, 3)):
        ensemble = Ensemble(make_labels(n))
        for linkage in ("average", "ward"):
            print_row(ensemble, linkage, repeats)


if __name__ == "__main__":
    main()
