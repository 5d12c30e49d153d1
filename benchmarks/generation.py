"""A hundred k-means partitions beside a plain loop over scikit-learn's KMeans.

The loop has the same numbers of clusters, random starts, and all of scikit-learn's own threads.

python -m benchmarks.generation
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from benchmarks.timing import median
from conclust import EnsembleGenerator

N_SAMPLES, N_FEATURES, N_PARTITIONS = 100_000, 10, 100


def plain_loop(X: NDArray[np.float64], sizes: list[int]) -> NDArray[np.int32]:
    columns = [
        KMeans(k, init="random", n_init=1, random_state=seed).fit_predict(X)
        for seed, k in enumerate(sizes)
    ]
    return np.column_stack(columns)


def main(n_partitions: int = N_PARTITIONS, repeats: int = 1) -> None:
    X, _ = make_blobs(N_SAMPLES, N_FEATURES, centers=20, cluster_std=3.0, random_state=0)
    generator = EnsembleGenerator(n_partitions=n_partitions, random_state=0).fit(X)
    sizes = [member.n_clusters for member in generator.members_]
    print(f"{n_partitions} k-means partitions of {N_SAMPLES:,} x {N_FEATURES}, K in 2..46")
    print(f"{'':<28} {'wall s':>8} {'CPU s':>8} {'ratio':>6}")
    loop = median(lambda: plain_loop(X, sizes), repeats)
    print(f"{'loop over KMeans':<28} {loop.wall:>8.2f} {loop.cpu:>8.2f} {1:>6.2f}")
    for n_jobs in (1, -1):
        generator.set_params(n_jobs=n_jobs)
        found = median(lambda: generator.fit_transform(X), repeats)
        name = f"EnsembleGenerator n_jobs={n_jobs}"
        print(f"{name:<28} {found.wall:>8.2f} {found.cpu:>8.2f} {found.wall / loop.wall:>6.2f}")
    found = median(lambda: generator.transform(X), repeats)
    print(
        f"{'transform of the same points':<28} {found.wall:>8.2f} {found.cpu:>8.2f} {found.wall / loop.wall:>6.2f}"
    )


if __name__ == "__main__":
    main()
