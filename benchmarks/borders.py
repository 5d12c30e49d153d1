"""CPU seconds of `confidence.border_tests`: points of ten clusters that touch, in 16 dimensions, one thread.

python -m benchmarks.borders [N ...]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sklearn.datasets import make_blobs

from benchmarks.timing import median
from conclust import confidence


def main(sizes: Sequence[int] = (1_000, 10_000, 100_000)) -> None:
    for n in sizes:
        X, labels = make_blobs(n, 16, centers=10, cluster_std=3.0, random_state=0)
        seconds = median(lambda: confidence.border_tests(X, labels, random_state=0), 3)  # noqa: B023
        print(f"{n:>9,}{seconds.cpu:>8.2f} CPU s", flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or (1_000, 10_000, 100_000))
