"""CPU seconds against the number of objects, across the sizes where a method changes how it works.

python -m benchmarks.cliffs [method ...] [--largest N]

Nothing should be several times faster on slightly more objects. 100 partitions by k-means of eight
blobs in six dimensions that overlap, and of handwritten digits with noise added; the first n objects
of the same ensemble each time, one thread. "per object" is in microseconds: it may rise with n, and a
fall to a fraction is a cliff.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits, make_blobs

from benchmarks.timing import timed
from conclust import PCC, PEACE, BaumEagon, EnsembleGenerator, WeightedPCC

SIZES = (60, 250, 500, 520, 700, 1000, 1020, 1400, 1500, 1900, 2100, 2900, 4000, 5600, 7900, 8100)
LARGER = (11_000, 16_000, 20_000, 20_100)
METHODS: dict[str, Callable[[], object]] = {
    "PCC kl": lambda: PCC(random_state=0, n_jobs=1),
    "PCC l2": lambda: PCC(divergence="l2", random_state=0, n_jobs=1),
    "PEACE": lambda: PEACE(random_state=0, n_jobs=1),
    "WeightedPCC": lambda: WeightedPCC(random_state=0, n_jobs=1),
    "BaumEagon": lambda: BaumEagon(random_state=0, n_jobs=1),
}


def points(name: str, n: int) -> NDArray[np.float64]:
    """Return n points."""
    if name == "blobs":
        X = make_blobs(
            n, centers=8, n_features=6, center_box=(-6, 6), cluster_std=2, random_state=0
        )
        return np.asarray(X[0])
    rng = np.random.default_rng(0)
    digits = load_digits().data
    drawn = digits[rng.integers(0, len(digits), n)]
    return np.asarray(drawn + rng.normal(0, 2, drawn.shape))


def ensemble_of(name: str, n: int) -> NDArray[np.int64]:
    """Return 100 partitions of n objects."""
    generator = EnsembleGenerator("kmeans", n_partitions=100, scale="minmax", random_state=0)
    return np.asarray(generator.fit_transform(points(name, n)))


def main(methods: list[str] | None = None, largest: int = SIZES[-1]) -> None:
    sizes = [n for n in SIZES + LARGER if n <= largest]
    for name in ("blobs", "digits"):
        labels = ensemble_of(name, sizes[-1])
        chosen = methods or list(METHODS)
        print(f"\n{name}, 100 partitions: CPU seconds (microseconds an object)")
        print(f"{'objects':>8}" + "".join(f"{method:>22}" for method in chosen))
        for n in sizes:
            row = f"{n:>8,}"
            for method in chosen:
                model = METHODS[method]()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    cpu = timed(lambda: model.fit(labels[:n])).cpu  # type: ignore[attr-defined] # noqa: B023
                row += f"{cpu:>12.2f} {f'({1e6 * cpu / n:,.0f})':>9}"
            print(row, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    asked = parser.parse_args()
    main(asked.methods or None, asked.largest)
