"""CPU seconds of the default members, and of each kind, from 2^13 to 2^20 objects: no step, and no cliff.

python -m benchmarks.members [--largest N] [--features D]

Points of twenty blobs that overlap, one thread: 40 members by k-means, 20 by spectral clustering on landmarks, and the
default from points to labels (`ConsensusClustering`). Beside the seconds stand microseconds an object. From 10,000
objects on members are fitted on samples: what is left grows with the objects.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from benchmarks.timing import timed
from conclust import ConsensusClustering, EnsembleGenerator
from conclust._threads import one_library_thread

SIZES = tuple(1 << power for power in range(13, 21))
LOOKED_AT: dict[str, Callable[[], object]] = {
    "40 k-means": lambda: EnsembleGenerator("kmeans", 40, random_state=0),
    "20 spectral": lambda: EnsembleGenerator("spectral", 20, random_state=0),
    "default, points to labels": lambda: ConsensusClustering(random_state=0),
}


def points(n: int, d: int) -> NDArray[np.float64]:
    """Return n points."""
    X, _ = make_blobs(n, d, centers=20, cluster_std=3.0, random_state=0)
    return np.asarray(X)


def main(largest: int = SIZES[-1], d: int = 16) -> None:
    print(f"CPU seconds (microseconds an object), {d} features, one thread")
    print(f"{'objects':>10}" + "".join(f"{name:>30}" for name in LOOKED_AT))
    before: dict[str, float] = {}
    steps: dict[str, float] = dict.fromkeys(LOOKED_AT, 0.0)
    for n in [size for size in SIZES if size <= largest]:
        X = points(n, d)
        row = f"{n:>10,}"
        for name, make in LOOKED_AT.items():
            model = make()
            run = model.fit if isinstance(model, ConsensusClustering) else model.fit_transform  # type: ignore[attr-defined]
            with one_library_thread():
                cpu = timed(lambda: run(X)).cpu  # noqa: B023
            steps[name] = max(steps[name], cpu / before.get(name, cpu))
            before[name] = cpu
            row += f"{cpu:>19.2f} {f'({1e6 * cpu / n:,.1f})':>10}"
        print(row, flush=True)
    print(f"{'steepest':>10}" + "".join(f"{step:>20.2f} times  " for step in steps.values()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--features", type=int, default=16)
    arguments = parser.parse_args()
    main(arguments.largest, arguments.features)
