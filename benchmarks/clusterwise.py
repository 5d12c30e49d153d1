"""Methods that compare objects by a similarity of their clusters, at sizes where a matrix of all pairs hurts.

LWEA on 20,000 objects in 20 partitions beside the same in dense NumPy and SciPy: certainties, S by one
product of matrices, SciPy's average linkage. Then the methods of which time and memory grow with the number
of objects, at 1,000,000. Every run is a process of its own, so that its peak of memory is its own.

python -m benchmarks.clusterwise [--quick]
"""

from __future__ import annotations

import sys

import numpy as np
import scipy.cluster.hierarchy as hierarchy
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from benchmarks.timing import memory_of
from conclust.metrics import adjusted_rand_index

N_PARTITIONS = 20
K = 12


def make_labels(n: int, most: int, seed: int = 0) -> NDArray[np.int64]:
    """Cells around objects drawn at random, of twelve Gaussians: 2 to `most` cells a partition."""
    rng = np.random.default_rng(seed)
    points = 4 * rng.normal(size=(K, 6))[rng.integers(K, size=n)] + rng.normal(size=(n, 6))
    columns = []
    for k in rng.integers(2, most + 1, size=N_PARTITIONS):
        centers = points[rng.choice(n, k, replace=False)]
        column = np.empty(n, dtype=np.int64)
        for begin in range(0, n, 1 << 15):
            some = points[begin : begin + (1 << 15)]
            column[begin : begin + len(some)] = (
                (centers**2).sum(axis=1) - 2 * some @ centers.T
            ).argmin(axis=1)
        columns.append(column)
    return np.column_stack(columns)


def dense_lwea(labels: NDArray[np.int64], k: int, theta: float = 0.4) -> NDArray[np.int64]:
    """LWEA as NumPy and SciPy have it, with as few matrices of all pairs as they allow."""
    n, m = labels.shape
    columns = [np.unique(column, return_inverse=True)[1] for column in labels.T]
    offsets = np.cumsum([0] + [column.max() + 1 for column in columns])
    B = np.zeros((n, offsets[-1]))
    for column, offset in zip(columns, offsets, strict=False):
        B[np.arange(n), offset + column] = 1.0
    shared = B.T @ B
    share = shared / np.diag(shared)[:, None]
    H = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1)
    S = (B * np.exp(-H / (theta * m))) @ B.T
    S /= -m
    S += 1.0
    np.fill_diagonal(S, 0.0)
    condensed = squareform(S, checks=False)
    del S, B
    return hierarchy.fcluster(hierarchy.linkage(condensed, "average"), k, "maxclust")


# In a process of its own: the labels, then what is timed. The last numbers are CPU seconds.
PREPARE = """
import time
import numpy as np
labels = np.load(sys.argv[1])
from benchmarks import clusterwise
import conclust
conclust.EAC(2).fit(labels[:50])  # what is loaded at first use
"""
RUN = """
begin = time.process_time()
found = {call}
print(time.process_time() - begin)
np.save(sys.argv[2], found)
"""


def measure(call: str, labels: str, found: str) -> tuple[float, float, NDArray[np.int64]]:
    """Return the CPU seconds, how much higher the peak of memory got in MB, and the labels found."""
    before, after, (seconds,) = memory_of(PREPARE, RUN.format(call=call), labels, found)
    return seconds, after - before, np.load(found)


def main(arguments: list[str] | None = None) -> None:
    import tempfile
    from pathlib import Path

    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    with tempfile.TemporaryDirectory() as folder:
        labels, found = str(Path(folder) / "labels.npy"), str(Path(folder) / "found.npy")
        n = 4_000 if quick else 20_000
        np.save(labels, make_labels(n, int(n**0.5)))
        print(f"{n:,} objects x {N_PARTITIONS}, K = {K}\n{'':>28} {'CPU s':>8} {'MB':>8}")
        runs = {
            "NumPy and SciPy, dense": f"clusterwise.dense_lwea(labels, {K})",
            "LWEA": f"conclust.LWEA({K}).fit(labels).labels_",
            "LWEA single": f"conclust.LWEA({K}, linkage='single').fit(labels).labels_",
            "LCE average": f"conclust.LCE({K}, consensus='hierarchical').fit(labels).labels_",
        }
        results = {name: measure(call, labels, found) for name, call in runs.items()}
        for name, (seconds, megabytes, _) in results.items():
            print(f"{name:>28} {seconds:>8.2f} {megabytes:>8.0f}")
        dense, ours = results["NumPy and SciPy, dense"], results["LWEA"]
        print(
            f"LWEA: 1/{dense[0] / ours[0]:.0f} of the CPU seconds, 1/{dense[1] / ours[1]:.0f} of the memory, "
            f"adjusted Rand index of both {adjusted_rand_index(dense[2], ours[2]):.4f}"
        )
        n = 100_000 if quick else 1_000_000
        np.save(labels, make_labels(n, 60, seed=1))
        print(f"\n{n:,} objects x {N_PARTITIONS}, K = {K}\n{'':>28} {'CPU s':>8} {'MB':>8}")
        for name in ("HBGF", "LWGP", "LCE", "ECPCS"):
            call = f"conclust.{name}({K}, random_state=0).fit(labels).labels_"
            seconds, megabytes, _ = measure(call, labels, found)
            print(f"{name:>28} {seconds:>8.2f} {megabytes:>8.0f}")


if __name__ == "__main__":
    main()
