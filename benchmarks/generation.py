"""A hundred k-means partitions beside a plain loop over scikit-learn's KMeans.

The loop has the same numbers of clusters, random starts, and all of scikit-learn's own threads. Then a
member by spectral clustering on landmarks, of as many points and of ten times as many: the time grows with
the number of points.

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
    print(f"\n{'one landmark-spectral member, K = 40':<44} {'CPU s':>8} {'per point':>10}")
    for n in (N_SAMPLES, 10 * N_SAMPLES):
        data, _ = make_blobs(n, N_FEATURES, centers=20, cluster_std=3.0, random_state=0)
        spectral = EnsembleGenerator("spectral", 1, n_clusters=40, random_state=0)
        found = median(lambda: spectral.fit_transform(data), repeats)  # noqa: B023
        name = f"{n:,} x {N_FEATURES}"
        print(f"{name:<44} {found.cpu:>8.2f} {1e6 * found.cpu / n:>7.1f} us")


if __name__ == "__main__":
    main()
