"""How much the answer of the default depends on the seed, by number of members.

python -m experiments.default.repeats [--quick] [--members 40 80 120] [--seeds 6] [--out FOLDER]

`ConsensusClustering(random_state=seed)` without a number, of sets of 50 to 1,000 points: the mean adjusted Rand index between the
answers of two seeds, the share of pairs of seeds with the same number of clusters, the adjusted Rand index with the classes, and
CPU seconds, relative to those of the first number of members. The first two read no classes.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from conclust import ConsensusClustering, EnsembleGenerator
from conclust.datasets import available
from conclust.metrics import adjusted_rand_index
from experiments.default.answer_sets import (
    crescents_and_circles,
    many_clouds,
    overlapping_pairs,
    some_shapes,
)
from experiments.default.sets import Points, blobs, real
from experiments.output import Row, options, show, stopwatch, write

MOST = 1_000
FIRST = 50
REAL = ("wine", "seeds", "iris", "glass", "ionosphere", "breast_cancer_683")


def sets_of(seed: int) -> Iterator[Points]:
    """Yield real sets, and others drawn with a seed."""
    there = available()
    yield from real(tuple(name for name in REAL if name in there))
    yield from some_shapes(seed)
    yield from blobs(1, (3, 5, 8, 12), first_seed=1_000 + seed)
    yield from overlapping_pairs(seed)
    yield from crescents_and_circles(seed)
    yield from many_clouds(seed)


def repeated(points: Points, members: int, seeds: int, jobs: int | None) -> dict[str, float]:
    """Fit once a seed, and compare the answers."""
    answers = []
    with warnings.catch_warnings(), stopwatch() as taken:
        warnings.simplefilter("ignore")
        for seed in range(seeds):
            generator = EnsembleGenerator(n_partitions=members, n_jobs=jobs)
            model = ConsensusClustering(generator=generator, random_state=seed)
            answers.append(model.fit(points.X).labels_)
    pairs = list(itertools.combinations(answers, 2))
    return {
        "between seeds": float(np.mean([adjusted_rand_index(*pair) for pair in pairs])),
        "same number": float(np.mean([one.max() == other.max() for one, other in pairs])),
        "right": float(np.mean([labels.max() + 1 == points.k for labels in answers])),
        "ARI": float(np.mean([adjusted_rand_index(points.y, labels) for labels in answers])),
        "CPU s": taken.cpu / seeds,
    }


def rows_of(arguments: argparse.Namespace) -> Iterator[Row]:
    """Yield a row for each group of sets and number of members."""
    groups: dict[str, list[list[dict[str, float]]]] = {}
    for points in sets_of(arguments.seed + FIRST):
        if not 50 <= len(points.X) <= MOST or (arguments.quick and len(points.X) > 150):
            continue
        found = [
            repeated(points, members, arguments.seeds, arguments.jobs)
            for members in arguments.members
        ]
        groups.setdefault(points.group, []).append(found)
    for group, found in groups.items():
        for at, members in enumerate(arguments.members):
            each = [one[at] for one in found]
            mean = {key: float(np.mean([one[key] for one in each])) for key in each[0]}
            seconds = mean.pop("CPU s") / float(np.mean([one[0]["CPU s"] for one in found]))
            row: dict[str, Any] = {"group": group, "number of sets": len(each)}
            yield row | {"members": members} | mean | {"CPU": seconds}


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--members", nargs="+", type=int, default=[40, 80, 120])
    parser.add_argument("--seeds", type=int, default=6, help="fits of each set")
    arguments = parser.parse_args(given)
    if arguments.quick:
        arguments.seeds = 2
    rows = list(rows_of(arguments))
    formats = {"CPU": ".2f"}
    show(rows, f"Answers of {arguments.seeds} seeds", formats)
    write(rows, "repeats", arguments, formats)


if __name__ == "__main__":
    main()
