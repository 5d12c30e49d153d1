"""A hundred k-means partitions beside a plain loop over scikit-learn's KMeans.

The loop has the same numbers of clusters, random starts, and all of scikit-learn's own threads. Then a
member by spectral clustering on landmarks, of as many points and of ten times as many: the time grows with
the number of points.

With --large a million points of 39 features: members fitted on 50,000 objects each, which then label all, beside
scikit-learn's KMeans on all objects with the numbers of clusters of some of the members (one thread; their mean
stands for all). And the pass in which all are labelled, beside a BLAS product with all centres and an argmax a
member.

python -m benchmarks.generation
python -m benchmarks.generation --large
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from benchmarks.timing import median, timed
from conclust import EnsembleGenerator
from conclust._threads import one_library_thread

N_SAMPLES, N_FEATURES, N_PARTITIONS = 100_000, 10, 100


def plain_loop(X: NDArray[np.float64], sizes: list[int]) -> NDArray[np.int32]:
    columns = [
        KMeans(k, init="random", n_init=1, random_state=seed).fit_predict(X)
        for seed, k in enumerate(sizes)
    ]
    return np.column_stack(columns)


def by_products(
    X: NDArray[np.float64], centers: list[NDArray[np.float64]], labels: NDArray[np.uint8]
) -> None:
    together = np.concatenate(centers)
    half = 0.5 * (together**2).sum(axis=1)
    bounds = np.cumsum([0, *map(len, centers)])
    for start in range(0, len(X), 4096):
        scores = X[start : start + 4096] @ together.T - half
        for u in range(len(centers)):
            own = scores[:, bounds[u] : bounds[u + 1]]
            labels[start : start + 4096, u] = own.argmax(axis=1)


def large(
    n: int = 1_000_000, d: int = 39, n_partitions: int = N_PARTITIONS, some: int = 10
) -> None:
    X, _ = make_blobs(n, d, centers=20, cluster_std=6.0, random_state=0)
    generator = EnsembleGenerator(
        "kmeans", n_partitions=n_partitions, fit_on=n // 20, random_state=0
    )
    kept: list[NDArray[np.uint8]] = []
    with one_library_thread():
        whole = timed(lambda: kept.append(generator.fit_transform(X))).cpu
        centers = [member.centers for member in generator.members_]
        labelled = timed(lambda: generator.transform(X)).cpu
        found = np.empty_like(kept[0])
        product = timed(lambda: by_products(X, centers, found)).cpu
        sizes = sorted(len(own) for own in centers)
        chosen = [sizes[int((i + 0.5) * len(sizes) / some)] for i in range(some)]
        theirs = timed(lambda: plain_loop(X, chosen)).cpu * n_partitions / some
    T = sum(sizes)
    print(f"\n{n_partitions} k-means partitions of {n:,} x {d}, {T} centres, one thread")
    print(f"{'':<58} {'CPU s':>8} {'ratio':>8}")
    rows = [
        (f"KMeans on all objects ({some} members, times {n_partitions / some:g})", theirs),
        (f"members fitted on {n // 20:,} objects, labels of all", whole),
        ("of these, the labels of all objects", labelled),
    ]
    for name, seconds in rows:
        print(f"{name:<58} {seconds:>8.1f} {theirs / seconds:>8.1f}")
    print(f"{'the labels by a product and an argmax a member':<58} {product:>8.1f}")
    print(f"multiply-adds a second, labels: {n * T * d / labelled / 1e9:.0f} billion")
    print(f"labels that differ from the product's: {np.mean(found != kept[0]):.1e}")


def main(n_partitions: int = N_PARTITIONS, repeats: int = 1) -> None:
    X, _ = make_blobs(N_SAMPLES, N_FEATURES, centers=20, cluster_std=3.0, random_state=0)
    generator = EnsembleGenerator("kmeans", n_partitions=n_partitions, random_state=0).fit(X)
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
        spectral = EnsembleGenerator("spectral", 1, n_clusters=40, fit_on=n, random_state=0)
        found = median(lambda: spectral.fit_transform(data), repeats)  # noqa: B023
        name = f"{n:,} x {N_FEATURES}"
        print(f"{name:<44} {found.cpu:>8.2f} {1e6 * found.cpu / n:>7.1f} us")


if __name__ == "__main__":
    large() if "--large" in sys.argv[1:] else main()
