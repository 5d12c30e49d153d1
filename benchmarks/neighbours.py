"""Neighbours of points and members made of them, in CPU seconds of one thread.

python -m benchmarks.neighbours [--largest N]

The search of the 15 nearest points beside scikit-learn's brute force (Gaussian points, and twelve blobs that
overlap), with the share of the neighbours that is found, which is 1 up to 50,000 points; then 40 "graph" and
6 "density" members of the blobs, alone and with all objects labelled.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors

from benchmarks.timing import timed
from conclust import EnsembleGenerator
from conclust.neighbours import find_neighbours

SIZES = ((1500, 16), (10_000, 16), (10_000, 64), (100_000, 16))
MEMBERS = {"40 graph": ("graph", 40), "6 density": ("density", 6)}
K = 15
_TRIED = 500


def blobs(n: int, d: int) -> NDArray[np.float64]:
    """Return n points around twelve centres."""
    return np.asarray(make_blobs(n, d, centers=12, cluster_std=4, random_state=0)[0])


def recall(points: NDArray[np.float64], found: NDArray[np.int32]) -> float:
    """Return the share of the neighbours of some points that were found."""
    some = np.random.default_rng(0).permutation(len(points))[:_TRIED]
    brute = NearestNeighbors(n_neighbors=K + 1, algorithm="brute").fit(points)
    exact = brute.kneighbors(points[some], return_distance=False)
    hits = [
        len({*found[i].tolist()} & ({*row.tolist()} - {i}))
        for i, row in zip(some, exact, strict=True)
    ]
    return float(np.mean(hits)) / K


def main(largest: int = SIZES[-1][0]) -> None:
    """Print both tables."""
    sizes = [size for size in SIZES if size[0] <= largest]
    print(f"the {K} nearest points")
    print(
        f"{'objects':>8}{'features':>9}  {'points':8}{'ours':>9}{'scikit-learn':>14}{'recall':>8}"
    )
    for n, d in sizes:
        for name in ("normal", "blobs"):
            points = (
                blobs(n, d) if name == "blobs" else np.random.default_rng(0).normal(size=(n, d))
            )
            ours = timed(lambda: find_neighbours(points, K, n_jobs=1))  # noqa: B023
            brute = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=1).fit(points)
            # A part of the queries where all would take minutes.
            part = min(1.0, 10_000 / n)
            theirs = timed(lambda: brute.kneighbors(points[: int(part * n)]))  # noqa: B023
            found = find_neighbours(points, K, n_jobs=1).found
            print(
                f"{n:>8,}{d:>9}  {name:8}{ours.cpu:>9.3f}{theirs.cpu / part:>14.3f}{recall(points, found):>8.3f}",
                flush=True,
            )
    print("\nmembers of blobs, 16 features")
    print(f"{'objects':>8}" + "".join(f"{name:>12}" for name in MEMBERS) + f"{'both':>12}")
    for n in sorted({n for n, _ in sizes}):
        points = blobs(n, 16)
        row = f"{n:>8,}"
        for method, count in MEMBERS.values():
            generator = EnsembleGenerator(method, count, random_state=0, n_jobs=1)
            row += f"{timed(lambda: generator.fit_transform(points)).cpu:>12.2f}"  # noqa: B023
        mixed = ["graph"] * 20 + ["density"] * 3
        both = EnsembleGenerator(mixed, 46, random_state=0, n_jobs=1)
        row += f"{timed(lambda: both.fit_transform(points)).cpu:>12.2f}"  # noqa: B023
        print(row, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=int, default=SIZES[-1][0])
    main(parser.parse_args().largest)
