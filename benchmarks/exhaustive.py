"""How often the optimum is found, of all partitions of seven objects, and how long a fit takes.

python -m benchmarks.exhaustive [ensembles]

Ensembles of five to nine random partitions with two to four labels each, estimators with default
settings. "found": fits that reach the best value of all 877 partitions; beside it the time of one
pass over all of them (the oracle of the tests, in NumPy).
"""

from __future__ import annotations

import statistics
import sys

from tests.exhaustive import CASES, random_ensembles

from benchmarks.timing import timed


def main(count: int = 100) -> None:
    print(f"{'method':<36} {'found':>9} {'wall ms':>8} {'CPU ms':>8} {'all 877: ms':>12}")
    ensembles = random_ensembles(count, seed=1)
    for name, case in CASES.items():
        case.fit(ensembles[0], 0)  # imports
        found, fits, passes = 0, [], []
        for seed, labels in enumerate(ensembles):
            fits.append(timed(lambda: case.fit(labels, seed)))  # noqa: B023
            model = case.fit(labels, seed)
            passes.append(timed(lambda: case.values(labels, model)).cpu)  # noqa: B023
            found += case.reached(labels, model)[1]
        wall, cpu = (
            statistics.median(getattr(one, what) for one in fits) for what in ("wall", "cpu")
        )
        print(
            f"{name:<36} {found:>4}/{count:<4} {wall * 1e3:>8.2f} {cpu * 1e3:>8.2f} "
            f"{statistics.median(passes) * 1e3:>12.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
