"""Random partitions: how much weight they keep where 20 % of an ensemble means nothing.

python -m experiments.robust2013.random_partitions [--quick] [--out FOLDER]

Section 4.2 of the paper replaces 20 % of the partitions of an ensemble by random ones and shows H (``figures.py``). Here
it is known what is random and what is planted: 20 ensembles of m = 50 partitions of 300 objects in 4 clusters,
in each of which 15 % of the labels are random.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from conclust import WeightedPCC, corrupt
from conclust.metrics import consistency_index
from experiments.output import Row, options, show, stopwatch, write

SHARE = 0.2
ALLOWED = {"simplex": 0.01, "l2": 0.05}


def planted(seed: int) -> tuple[Any, Any]:
    """Return partitions of 4 planted clusters with 15 % of the labels random, and the clusters."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 300)
    columns = [np.where(rng.random(300) < 0.15, rng.integers(0, 4, 300), truth) for _ in range(50)]
    return np.column_stack(columns), truth


def weighing(seed: int, jobs: int | None) -> list[Row]:
    labels, truth = planted(seed)
    spoilt, where = corrupt(labels, SHARE, random_state=seed, return_indices=True)
    rows: list[Row] = []
    for regularization, allowed in ALLOWED.items():
        model = WeightedPCC(4, regularization=regularization, random_state=seed, n_jobs=jobs)
        with stopwatch() as taken:
            model.fit(spoilt)
        kept = float(model.weights_[where].sum())
        rows.append(
            {
                "regularization": regularization,
                "ensemble": seed,
                "weight of the random ones": kept,
                "at most": allowed,
                "held": "yes" if kept <= allowed else "no",
                "effective partitions": model.effective_n_partitions_,
                "H": consistency_index(truth, model.labels_),
                "rounds": model.n_iter_,
                "CPU s": taken.cpu,
            }
        )
    return rows


def run(arguments: argparse.Namespace) -> None:
    seeds = range(arguments.seed, arguments.seed + (3 if arguments.quick else 20))
    rows = [row for seed in seeds for row in weighing(seed, arguments.jobs)]
    rows.sort(key=lambda row: row["regularization"], reverse=True)
    formats = {"weight of the random ones": ".1e", "at most": ".2f", "CPU s": ".2f"}
    show(rows, "Weight of 20 % random partitions, planted ensembles", formats)
    for regularization in ALLOWED:
        found = [row for row in rows if row["regularization"] == regularization]
        held = sum(row["held"] == "yes" for row in found)
        print(f"  {regularization}: at most {ALLOWED[regularization]} in {held} of {len(found)}")
    write(rows, "random_partitions_planted", arguments)


def main(given: list[str] | None = None) -> None:
    run(options(__doc__).parse_args(given))


if __name__ == "__main__":
    main()
