"""CPU seconds of points with more features than objects, with and without the rotation into as many coordinates as objects.

python -m benchmarks.wide [--quick]

Six blobs in twenty directions of all features, as expression data have them; one thread, the two ways in turn. Labels of
both ways are compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import timed
from conclust import ConsensusClustering, EnsembleGenerator
from conclust._threads import one_library_thread
from conclust.generation import generator

SHAPES = ((80, 20_000), (500, 20_000), (1_000, 10_000), (3_000, 5_000))
QUICK = SHAPES[:1]
WAYS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.int64]]] = {
    "default, points to labels": lambda X: ConsensusClustering(random_state=0).fit(X).labels_,
    "100 k-means": lambda X: np.asarray(
        EnsembleGenerator("kmeans", 100, random_state=0).fit_transform(X)
    ),
}


def points(n: int, d: int) -> NDArray[np.float64]:
    """Return n points in d features."""
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(20, d))
    inside = 2.0 * rng.normal(size=(6, 20))[rng.integers(0, 6, n)] + rng.normal(size=(n, 20))
    return np.asarray(inside @ directions + 5.0 * rng.normal(size=(n, d)))


def main(*, quick: bool = False) -> None:
    print("CPU seconds, one thread")
    print(f"{'objects x features':>20}  {'':28}{'unrotated':>10}{'rotated':>10}  equal")
    for n, d in QUICK if quick else SHAPES:
        X = points(n, d)
        for name, run in WAYS.items():
            answers: dict[bool, NDArray[np.int64]] = {}

            def keep(rotated: bool, run: Callable[..., NDArray[np.int64]] = run) -> None:
                answers[rotated] = run(X)  # noqa: B023

            with one_library_thread():
                with mock.patch.object(generator, "see_distances_only", return_value=False):
                    before = timed(lambda: keep(False)).cpu
                after = timed(lambda: keep(True)).cpu
            same = "yes" if np.array_equal(answers[False], answers[True]) else "no"
            print(
                f"{f'{n:,} x {d:,}':>20}  {name:28}{before:>10.2f}{after:>10.2f}  {same}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    main(quick=parser.parse_args().quick)
