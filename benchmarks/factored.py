"""PCC on a million objects: seconds on one core and on all, objective against 200 sweeps, memory.

python -m benchmarks.factored               (minutes)
python -m benchmarks.factored --incomplete  (half of the labels missing)
python -m benchmarks.factored --growth      (cost of a sweep from ten thousand to ten million objects)
python -m benchmarks.factored --large       (ten million objects)

The labels are a hundred k-means-like partitions (nearest of 2 to 10 centres) of points in six
overlapping Gaussian clusters: synthetic, and no easier than real ones; then of eight planted clusters,
three of ten labels drawn at random, on which plain sweeps creep. The long run starts from the same
seed, so from the same start, and makes 200 sweeps over all objects (60 of planted clusters). The peak
memory is measured in a process of its own that holds the labels (one byte each), fits, and does nothing
else.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from experiments.pcc2013 import kdd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.timing import Seconds, median, memory_of, timed
from conclust import PCC, Ensemble
from conclust.consensus.papers.probabilistic.placements.factored_model import FactoredModel, padded
from conclust.exceptions import DatasetNotFoundError

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


def planted_labels(n: int = N, m: int = M, seed: int = 0) -> NDArray[np.uint8]:
    """Eight clusters of equal size, each label replaced by a random one with a chance of 0.3."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, K, n)
    labels = np.empty((n, m), dtype=np.uint8)
    for u in range(m):
        labels[:, u] = np.where(rng.random(n) < 0.3, rng.integers(0, K, n), truth)
    return Ensemble(labels).codes


def main(repeats: int = 5) -> None:
    labels = make_labels()
    print(f"PCC(n_clusters={K}), l2 over all pairs of {N:,} objects, {M} partitions")
    compare(labels, 200, repeats)
    memory(labels)
    print("\nplanted clusters, three of ten labels random")
    compare(planted_labels(), 60, min(repeats, 3))


def compare(labels: NDArray[np.uint8], sweeps: int, repeats: int) -> None:
    """Fit on one and two threads; the objective beside that of many sweeps."""
    print(f"{'':<34} {'wall s':>8} {'CPU s':>8} {'sweeps':>7} {f'loss / of {sweeps} sweeps':>26}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        long = PCC(K, divergence="l2", random_state=0, max_iter=sweeps, tol=0.0, tol_kkt=0.0)
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
        f"{f'{sweeps} sweeps':<34} {long_seconds.wall:>8.2f} {long_seconds.cpu:>8.2f} {long.n_iter_:>7}"
    )
    # The loss holds a part that no membership changes; against the rest, from sampled pairs:
    share = explained_share(Ensemble(labels))
    print(
        f"excess relative to the paper's objective (the loss less its constant): {excess / share:.1e}"
    )


def memory(labels: NDArray[np.uint8]) -> None:
    """Print the peak memory of a process of its own."""
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


def explained_share(ensemble: Ensemble, k: int = K) -> float:
    """Share of what `objective_` is that is the paper's, at the optimum of a part of the objects."""
    if ensemble.n_samples <= 20_000:
        return 1.0
    some = np.random.default_rng(0).choice(ensemble.n_samples, 5_000, replace=False)
    part = PCC(k, divergence="l2", random_state=0).fit(ensemble.subset(some))
    constant = part.objective_constant_
    assert constant is not None
    return part.objective_ / (part.objective_ + constant)


def incomplete(repeats: int = 3) -> None:
    """Half of the labels missing, one thread: 120,000 objects in 3 and 10 clusters, a million in 8."""
    print(f"half of the labels missing, {M} partitions, one thread, from labels")
    print(
        f"{'labels':<14} {'objects':>10} {'K':>3} {'wall s':>8} {'CPU s':>8} {'sweeps':>7} "
        f"{'f / of 200 sweeps':>24}"
    )
    for name, n, ks in (
        ("KDD Cup 1999", 120_000, (3, 10)),
        ("synthetic", 120_000, (3, 10)),
        ("synthetic", N, (K,)),
    ):
        labels = kdd_labels(n) if name != "synthetic" else half_missing(n)
        if labels is None:
            print(f"{name}: left out, the data are not there")
            continue
        ensemble = Ensemble(labels)
        for k in ks:
            model = PCC(k, divergence="l2", random_state=0, n_jobs=1)
            seconds = median(lambda: model.fit(labels), repeats)  # noqa: B023
            excess = (model.objective_ / long_loss(ensemble, k) - 1) / explained_share(ensemble, k)
            print(
                f"{name:<14} {n:>10,} {k:>3} {seconds.wall:>8.2f} {seconds.cpu:>8.2f} "
                f"{model.n_iter_:>7} {'1 + ':>16}{excess:.1e}"
            )


def half_missing(n: int) -> NDArray[np.int8]:
    """Return labels of which half are missing."""
    labels = make_labels(n).astype(np.int8)
    labels[np.random.default_rng(0).random(labels.shape) < 0.5] = -1
    return labels


def kdd_labels(n: int) -> NDArray[np.int8] | None:
    """Return k-means labels of random halves of the papers' connections, where the data are."""
    try:
        points, _ = kdd.connections(n // 3, np.random.default_rng(0))
    except DatasetNotFoundError:
        return None
    labels: NDArray[np.int8] = kdd.partitions(points, M, 0, None)
    return labels


def growth(repeats: int = 3) -> None:
    """Nanoseconds per object and sweep on one thread, at sizes from ten thousand to ten million."""
    print(f"{M // 2} partitions, K = {K}, one thread: the third to sixth sweep from a random start")
    print(
        f"{'objects':>11} {'ns per object and sweep':>24} {'sweeps':>7} {'f / of 200 sweeps':>24}"
    )
    base = make_labels(N, M // 2)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for n in (10_000, 100_000, N, 10 * N):
            ensemble = Ensemble(base[:n] if n <= N else many_copies(base, n // N))
            start = rng.dirichlet(np.ones(K), n)
            cpu = statistics.median(one_sweep(ensemble, start).cpu for _ in range(repeats))
            del start
            model = PCC(K, divergence="l2", random_state=0, n_jobs=1).fit(ensemble)
            excess = (model.objective_ / long_loss(ensemble, K) - 1) / explained_share(ensemble, K)
            print(
                f"{n:>11,} {cpu / n * 1e9:>24.0f} {model.n_iter_:>7} {'1 + ':>16}{excess:.1e}",
                flush=True,
            )


def one_sweep(ensemble: Ensemble, start: NDArray[np.float64]) -> Seconds:
    """Time a sweep, by four far from the end, where most objects are left as they are."""
    solver = FactoredModel.of(ensemble).solver(ensemble.label_view, K)
    Y = padded(start)
    solver.rebuild(Y, 1)

    def few(count: int) -> None:
        for _ in range(count):
            solver.sweep(Y, 0.0, 0.0, 1)

    few(2)
    seconds = timed(lambda: few(4))
    return Seconds(seconds.wall / 4, seconds.cpu / 4)


def long_loss(ensemble: Ensemble, k: int) -> float:
    """Return the loss (with its constant, if it was left in) after 200 sweeps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PCC(k, divergence="l2", random_state=0, max_iter=200, tol=0.0, tol_kkt=0.0)
        return model.fit(ensemble).objective_


def large(n_partitions: int = 50, copies: int = 10) -> None:
    """Ten million objects: copies of the million, a fifth of each with one label changed."""
    labels = many_copies(make_labels(m=n_partitions), copies)
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


def many_copies(base: NDArray[np.uint8], copies: int) -> NDArray[np.uint8]:
    """Return the labels again and again, a fifth of the objects of each copy with one label changed."""
    n, m = base.shape
    rng = np.random.default_rng(0)
    labels = np.concatenate([base] * copies)
    for copy in range(1, copies):
        part = labels[copy * n : (copy + 1) * n]
        rows, columns = rng.integers(0, n, n // 5), rng.integers(0, m, n // 5)
        part[rows, columns] = part[rng.integers(0, n, n // 5), columns]
    return labels


PARTS = {"--incomplete": incomplete, "--growth": growth, "--large": large}

if __name__ == "__main__":
    PARTS.get(sys.argv[-1], main)()
