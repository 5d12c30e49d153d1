"""Every method on many objects: its seconds and memory, or what it says when it refuses.

python -m benchmarks.every [method ...] [--objects N] [--partitions N] [--limit SECONDS]

Planted labels of ten clusters, 20 % of them at random, so that most rows differ. A process of its own for each method,
one thread, default parameters; `--limit` are the CPU seconds after which it is ended. The adjusted Rand index is with
the planted clusters.
"""

from __future__ import annotations

import argparse
import inspect
import resource
import subprocess
import sys
import warnings

import numpy as np
from numpy.typing import NDArray

import conclust
from benchmarks.timing import peak_megabytes, timed
from conclust.exceptions import ConclustError
from conclust.metrics import adjusted_rand_index

K = 10


def planted(n: int, n_partitions: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the labels, and the clusters that they were made of."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, K, n)
    wrong = rng.random((n, n_partitions)) < 0.2
    labels = np.where(wrong, rng.integers(0, K, (n, n_partitions)), truth[:, np.newaxis])
    for u in range(n_partitions):
        labels[:, u] = rng.permutation(K)[labels[:, u]]
    return labels, truth


def one(name: str, n: int, n_partitions: int) -> None:
    """Fit one method in this process, and print its line."""
    labels, truth = planted(n, n_partitions)
    kind = getattr(conclust, name)
    given = {"n_clusters": K, "random_state": 0, "n_jobs": 1}
    has = inspect.signature(kind).parameters
    model = kind(**{key: value for key, value in given.items() if key in has})
    said = ""

    def fit() -> None:
        nonlocal said
        try:
            model.fit(labels)
        except ConclustError as error:
            said = f"{type(error).__name__}: {error}"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = timed(fit)
    if not said:
        said = f"{model.n_clusters_} clusters, ARI {adjusted_rand_index(truth, model.labels_):.3f}"
    print(f"{name:<30} {seconds.cpu:>8.2f} {peak_megabytes():>8.0f}  {said}", flush=True)


def main(
    methods: list[str] | None = None, n: int = 100_000, n_partitions: int = 20, limit: int = 60
) -> None:
    print(f"{n:,} objects x {n_partitions}, {K} clusters, {limit} CPU seconds at most")
    print(f"{'':<30} {'CPU s':>8} {'MB':>8}", flush=True)
    for name in methods or [method.estimator for method in conclust.methods()]:
        program = f"from benchmarks.every import one; one({name!r}, {n}, {n_partitions})"
        ended = subprocess.run(
            [sys.executable, "-c", program],
            check=False,
            # A few seconds more, for imports and labels.
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit + 5, limit + 5)),
        )
        if ended.returncode:
            print(f"{name:<30} {'> ' + str(limit):>8}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--partitions", type=int, default=20)
    parser.add_argument("--limit", type=int, default=60)
    asked = parser.parse_args()
    main(asked.methods or None, asked.objects, asked.partitions, asked.limit)
