"""CPU seconds of every method at powers of two, beside the growth that its documented cost allows.

python -m benchmarks.cliffs [method ...] [--smallest N] [--largest N] [--limit SECONDS]

Planted labels of ten clusters, 20 % of them at random, so that most rows differ; for ConsensusClustering points of ten
clusters in 16 dimensions, members and choice of the number included. The first n objects of the same ones each time; default parameters, one thread, the faster of two fits. A method ends where it refuses, or after a
fit of more than `--limit` CPU seconds. The power of n is read from ``Method.cost``: doubling n may cost
2 ** power times as much, times a slack for iterations and noise. The exit status is 1 if a method exceeds that, or is
several times faster on twice as many objects (a cliff). Fits of less than a tenth of a second are not judged.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

import conclust
from benchmarks.every import K, planted
from benchmarks.timing import timed
from conclust.exceptions import ConclustError

SLACK = 1.8  # beside the documented growth
FALL = 2.0  # times faster on twice as many objects
JUDGED = 0.1  # seconds
FROM_POINTS = "ConsensusClustering"
# Products such as "n^2 N", "n N K_ref"; of these the objects, and numbers that may be as large: distinct rows, a sample,
# connected objects.
_PRODUCT = re.compile(r"\b(?:[A-Za-z](?:_\w+)?(?:\^\d)?(?: |\b(?!\w)))+")
_SIZE = re.compile(r"\b[nmsc](?:\^(\d))?(?!\w)")


def documented_power(cost: str) -> int:
    """Return the highest power of the number of objects in a ``Method.cost``."""
    return max(
        sum(int(power or 1) for power in _SIZE.findall(product))
        for product in _PRODUCT.findall(cost)
    )


def faults(seconds: dict[int, float], power: int) -> list[str]:
    """Say where doubling the number of objects costs more than documented, or much less than before."""
    found = []
    for n, before in seconds.items():
        after = seconds.get(2 * n)
        if after is None or max(before, after) < JUDGED:
            continue
        growth = after / max(before, JUDGED)
        if growth > SLACK * 2**power:
            found.append(f"{2 * n:,} cost {growth:.1f} times {n:,}; documented: {2**power}")
        elif before > JUDGED and before > FALL * after:
            found.append(f"{2 * n:,} cost {after / before:.2f} times {n:,}: a cliff")
    return found


def points(n: int) -> NDArray[np.float64]:
    """Return points of ten clusters that touch."""
    X, _ = make_blobs(n, 16, centers=K, cluster_std=3.0, random_state=0)
    return np.asarray(X)


def walk(name: str, sizes: list[int], limit: float) -> dict[int, float]:
    """Return the CPU seconds of a method at each size it does."""
    objects = points(sizes[-1]) if name == FROM_POINTS else planted(sizes[-1], 20)[0]
    kind = getattr(conclust, name)
    has = inspect.signature(kind).parameters
    given = {"random_state": 0, "n_jobs": 1}
    if name != FROM_POINTS:
        given["n_clusters"] = K
    chosen = {key: value for key, value in given.items() if key in has}
    seconds: dict[int, float] = {}
    for n in sizes:
        try:
            runs = [timed(lambda: kind(**chosen).fit(objects[:n])).cpu for _ in range(2)]  # noqa: B023
        except ConclustError:
            break
        seconds[n] = min(runs)
        if seconds[n] > limit:
            break
    return seconds


def main(
    methods: list[str] | None = None, smallest: int = 512, largest: int = 8192, limit: float = 10.0
) -> int:
    sizes = [1 << k for k in range(smallest.bit_length() - 1, largest.bit_length())]
    costs = {method.estimator: method.cost for method in conclust.methods()}
    costs[FROM_POINTS] = "n d"
    print(f"{'':<30}{'power':>6}" + "".join(f"{n:>9,}" for n in sizes))
    status = 0
    for name in methods or list(costs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds = walk(name, sizes, limit)
        power = documented_power(costs[name])
        wrong = faults(seconds, power)
        status |= bool(wrong)
        row = "".join(f"{seconds[n]:>9.2f}" if n in seconds else f"{'-':>9}" for n in sizes)
        print(f"{name:<30}{power:>6}{row}" + "".join(f"  {what}" for what in wrong), flush=True)
    return status


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--smallest", type=int, default=512)
    parser.add_argument("--largest", type=int, default=8192)
    parser.add_argument("--limit", type=float, default=10.0)
    asked = parser.parse_args()
    sys.exit(main(asked.methods or None, asked.smallest, asked.largest, asked.limit))
