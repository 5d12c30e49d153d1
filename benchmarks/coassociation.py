"""Co-association beside NumPy's one-hot product, and beside the first touch of its own output.

python -m benchmarks.coassociation

Everything runs with one thread per processor; every matrix is newly allocated, as for a user. The
competitors take turns within a repeat, so that a busy machine is busy for all.
Wall seconds are medians of 5; a ratio is the median of the ratios within a repeat.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.timing import Seconds, timed
from conclust import Ensemble, coassociation
from conclust._kernels import BitSlices, bitslice_forms
from conclust._threads import thread_count
from conclust.ensemble.labels import label_view
from conclust.evidence import evidence, pair_counts, sample_pairs

REPEATS = 5
N_PARTITIONS = 100
N_CLUSTERS = 10


def make_labels(n: int, missing: float = 0.0, seed: int = 0) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, N_CLUSTERS, (n, N_PARTITIONS))
    labels[rng.random(labels.shape) < missing] = -1
    return labels


def one_hot_product(ensemble: Ensemble, threads: int) -> NDArray[np.float32]:
    """B B' with a dense float32 indicator: exact, and what one would write with NumPy."""
    columns = ensemble.codes + ensemble.offsets[:-1]
    B = np.zeros((ensemble.n_samples, int(ensemble.offsets[-1])), dtype=np.float32)
    B[np.arange(ensemble.n_samples)[:, None], columns] = 1
    with threadpool_limits(threads):
        return B @ B.T


def first_touch(n: int) -> NDArray[np.uint8]:
    """Write the output and do nothing else, on one thread."""
    out = np.empty((n, n), dtype=np.uint8)
    out.fill(1)
    return out


def compare(title: str, baseline: str, runs: dict[str, Callable[[], object]]) -> None:
    """Print a row for each run, with how many times faster than the baseline it is."""
    times: dict[str, list[Seconds]] = {name: [] for name in runs}
    for repeat in range(REPEATS + 1):
        for name, run in runs.items():
            measured = timed(run)
            if repeat:  # the first is a warm-up
                times[name].append(measured)
    print(f"\n{title}\n{'':<34} {'wall s':>9} {'CPU s':>9} {'baseline / this':>16}")
    for name, measured in times.items():
        wall = statistics.median(one.wall for one in measured)
        cpu = statistics.median(one.cpu for one in measured)
        ratio = statistics.median(
            b.wall / t.wall for b, t in zip(times[baseline], measured, strict=True)
        )
        print(f"{name:<34} {wall:>9.4f} {cpu:>9.4f} {ratio:>15.2f}x")


def dense(n: int, threads: int, *, product: bool) -> None:
    ensemble = Ensemble(make_labels(n))
    halves = Ensemble(make_labels(n, missing=0.5))
    touch, multiply = "first touch (np.empty, fill)", "NumPy one-hot float32 product"
    runs: dict[str, Callable[[], object]] = {touch: lambda: first_touch(n)}
    if product:
        expected = one_hot_product(ensemble, threads)
        np.testing.assert_array_equal(coassociation(ensemble), expected)
        runs[multiply] = lambda: one_hot_product(ensemble, threads)
    runs["coassociation, a byte a count"] = lambda: coassociation(ensemble, dtype=np.int8)
    runs["coassociation"] = lambda: coassociation(ensemble)
    runs["evidence (c and N), half missing"] = lambda: evidence(halves)
    size = f"n = {n:,}, {N_PARTITIONS} partitions of {N_CLUSTERS} clusters, {threads} threads"
    compare(size, multiply if product else touch, runs)


def forms(n: int) -> None:
    codes = Ensemble(make_labels(n)).codes
    out = np.zeros((n, n), dtype=np.uint8)

    def run(form: str) -> Callable[[], object]:
        return lambda: BitSlices(label_view(codes), 1).coassociation(0, n, out, None, 1, form)

    runs = {form: run(form) for form in bitslice_forms()}
    compare(f"n = {n:,}, forms of the kernel, 1 thread, output already touched", "portable", runs)


def pairs(n: int, per_object: int) -> None:
    ensemble = Ensemble(make_labels(n, missing=0.5))
    labels = ensemble.labels
    rng = np.random.default_rng(1)
    i, j = np.sort(rng.integers(0, n, n * per_object)), rng.integers(0, n, n * per_object)

    def by_numpy() -> None:
        for begin in range(0, len(i), 1 << 17):
            a, b = labels[i[begin : begin + (1 << 17)]], labels[j[begin : begin + (1 << 17)]]
            ((a == b) & (a >= 0)).sum(axis=1)
            ((a >= 0) & (b >= 0)).sum(axis=1)

    runs: dict[str, Callable[[], object]] = {
        "NumPy comparison, by blocks": by_numpy,
        "pair_counts": lambda: pair_counts(ensemble, i, j, n_jobs=1),
        "sample_pairs and their counts": lambda: sample_pairs(
            ensemble, per_object, random_state=0, n_jobs=1
        ),
    }
    compare(f"n = {n:,}, {len(i):,} pairs, 1 thread", "NumPy comparison, by blocks", runs)


def main() -> None:
    threads = thread_count(None)
    dense(10_000, threads, product=True)
    dense(20_000, threads, product=False)
    forms(10_000)
    pairs(120_000, 15)


if __name__ == "__main__":
    main()
