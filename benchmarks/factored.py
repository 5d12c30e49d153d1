"""PCC on a million objects: seconds on one core and on all, objective against 200 sweeps, memory.

python -m benchmarks.factored            (--large: ten million objects, minutes)

The labels are a hundred k-means-like partitions (nearest of 2 to 10 centres) of points in six
overlapping Gaussian clusters: synthetic, and no easier than real ones. The long run starts from
the same seed, so from the same start, and makes 200 sweeps over all objects. The peak memory is
that of a process of its own that holds the labels (one byte each), fits, and does nothing else.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.timing import median, memory_of, timed
from conclust import PCC, Ensemble

N, M, K = 1_000_000, 100, 8


def make_labels(n: int = N, m: int = M, seed: int = 1) -> NDArray[np.uint8]:
    """Canonical labels, one byte each, as a generator of conclust writes them."""
    rng = np.random.default_rng(seed)
    means = rng.normal(0, 3, (6, 4))
    X = (means[rng.integers(0, 6, n)] + rng.normal(0, 1, (n, 4))).astype(np.float32)
    labels = np.empty((n, m), dtype=np.uint8)
    for u in range(m):
        centers = X[rng.choice(n, rng.integers(2, 11), replace=False)]
        sample = X[rng.choice(n, 5_000)]
        for _ in range(5):
            nearest = ((sample[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
            for k in np.unique(nearest):
                centers[k] = sample[nearest == k].mean(axis=0)
        labels[:, u] = (-2 * X @ centers.T + (centers**2).sum(axis=1)).argmin(axis=1)
    return Ensemble(labels).codes


def main(repeats: int = 5) -> None:
    labels = make_labels()
    print(f"PCC(n_clusters={K}), l2 over all pairs of {N:,} objects, {M} partitions")
    print(f"{'':<34} {'wall s':>8} {'CPU s':>8} {'sweeps':>7} {'loss / that of 200 sweeps':>26}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        long = PCC(K, divergence="l2", random_state=0, max_iter=200, tol=0.0, tol_kkt=0.0)
        long_seconds = timed(lambda: long.fit(labels))
    for n_jobs in (1, 2):
        model = PCC(K, divergence="l2", random_state=0, n_jobs=n_jobs)
        seconds = median(lambda: model.fit(labels), repeats)  # noqa: B023
        excess = model.objective_ / long.objective_ - 1
        name = f"default, {n_jobs} thread{'s' * (n_jobs > 1)}, median of {repeats}"
        print(
            f"{name:<34} {seconds.wall:>8.2f} {seconds.cpu:>8.2f} {model.n_iter_:>7} {'1 + ':>18}{excess:.1e}"
        )
    print(
        f"{'200 sweeps':<34} {long_seconds.wall:>8.2f} {long_seconds.cpu:>8.2f} {long.n_iter_:>7}"
    )
    # The loss holds a part that no membership changes; against the rest, from sampled pairs:
    share = explained_share(labels)
    print(
        f"excess relative to the paper's objective (the loss less its constant): {excess / share:.1e}"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.npy"
        np.save(path, labels)
        before, peak, _ = memory_of(
            "import numpy as np\nfrom conclust import PCC\nlabels = np.load(sys.argv[1])",
            f"PCC({K}, divergence='l2', random_state=0, n_jobs=1).fit(labels)",
            str(path),
        )
    print(
        f"memory: labels {labels.nbytes / 2**20:.0f} MB; process {before:.0f} MB before fit, peak "
        f"{peak:.0f} MB: {(peak - before) * 2**20 / N / 8:.0f} doubles per object (K = {K})"
    )


def explained_share(labels: NDArray[np.uint8]) -> float:
    """Share of the loss that is the paper's objective, at the optimum of a part of the objects."""
    some = np.random.default_rng(0).choice(len(labels), 5_000, replace=False)
    part = PCC(K, divergence="l2", random_state=0).fit(Ensemble(labels).subset(some))
    constant = part.objective_constant_
    assert constant is not None
    return part.objective_ / (part.objective_ + constant)


def large(n_partitions: int = 50, copies: int = 10) -> None:
    """Ten million objects: copies of the million, a fifth of each with one label changed."""
    base = Ensemble(make_labels(m=n_partitions)).codes
    rng = np.random.default_rng(0)
    labels = np.concatenate([base] * copies)
    for copy in range(1, copies):
        part = labels[copy * N : (copy + 1) * N]
        rows, columns = rng.integers(0, N, N // 5), rng.integers(0, n_partitions, N // 5)
        part[rows, columns] = part[rng.integers(0, N, N // 5), columns]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.npy"
        np.save(path, labels)
        prepare = (
            "import numpy as np\nfrom benchmarks.timing import timed\nfrom conclust import PCC\n"
            "labels = np.load(sys.argv[1])"
        )
        for n_jobs in (1, 2):
            run = (
                f"model = PCC({K}, divergence='l2', random_state=0, n_jobs={n_jobs})\n"
                "seconds = timed(lambda: model.fit(labels))\n"
                "print(seconds.wall, seconds.cpu, model.n_iter_, end=' ')"
            )
            _, peak, (wall, cpu, sweeps) = memory_of(prepare, run, str(path))
            print(
                f"{len(labels):,} x {n_partitions}, K = {K}, {n_jobs} threads: {wall:.1f} s, "
                f"{cpu:.1f} CPU s, {sweeps:.0f} sweeps, peak {peak:.0f} MB of which labels "
                f"{labels.nbytes / 2**20:.0f}"
            )


if __name__ == "__main__":
    large() if "--large" in sys.argv else main()
