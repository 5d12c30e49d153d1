"""Small fits: 2,000 objects x 20 by every method whose documented cost is linear in the number of objects.

python -m benchmarks.small [method ...] [--objects N] [--repeats N]

Planted labels of ten clusters, 20 % of them at random; default parameters, one thread, all in one process. The median CPU
milliseconds of the second and later fits, so that imports are not counted.
"""

from __future__ import annotations

import argparse
import inspect
import warnings

from threadpoolctl import threadpool_limits

import conclust
from benchmarks.cliffs import documented_power
from benchmarks.every import K, planted
from benchmarks.timing import median
from conclust.metrics import adjusted_rand_index

GOAL = 30  # milliseconds


def main(methods: list[str] | None = None, n: int = 2_000, repeats: int = 9) -> None:
    labels, truth = planted(n, 20)
    names = methods or [
        method.estimator for method in conclust.methods() if documented_power(method.cost) == 1
    ]
    fast = 0
    for name in names:
        kind = getattr(conclust, name)
        given = {"n_clusters": K, "random_state": 0, "n_jobs": 1}
        has = inspect.signature(kind).parameters
        model = kind(**{key: value for key, value in given.items() if key in has})
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            model.fit(labels)
            milliseconds = 1e3 * median(lambda: model.fit(labels), repeats).cpu  # noqa: B023
        fast += milliseconds <= GOAL
        right = adjusted_rand_index(truth, model.labels_)
        print(f"{name:<30} {milliseconds:>7.1f} ms   ARI {right:.3f}", flush=True)
    print(f"{fast} of {len(names)} within {GOAL} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--objects", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=9)
    asked = parser.parse_args()
    main(asked.methods or None, asked.objects, asked.repeats)
