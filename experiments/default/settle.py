"""What the constants of the number by valleys are settled by: its answers under other constants.

python -m experiments.default.settle [--quick] [--groups shapes ...] [--seeds 0 1 2] [--jobs 2] [--cache FOLDER] [--out FOLDER]

The members and the tree of each set are made once; the number is then chosen under each pair of constants: what a further
cluster costs, and how much more evidence than one cluster several need. A table line is a pair of constants, a column the mean
adjusted Rand index of a group's sets, before the last step (`refine`). Seeds from 3 on take no part (`answer.py`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from conclust import ConsensusClustering, EnsembleGenerator
from conclust.metrics import adjusted_rand_index
from conclust.points import chooser, number
from experiments.default.over_sets import over_sets
from experiments.default.sets import Points
from experiments.output import Row, show, write

# What a cluster costs, and what is clear evidence; the first pair is the one in use.
CONSTANTS = ((1.5, 2.0), (0.5, 2.0), (1.0, 2.0), (2.0, 2.0), (1.5, 0.0), (1.5, 3.0))


def scored(points: Points, seed: int, cache: Path) -> Row:
    """Return the adjusted Rand index of a set under each pair of constants."""
    warnings.simplefilter("ignore")
    row: Row = {"group": points.group}
    choose = number.number_by_borders

    def under_each(X: Any, trees: Any, *given: Any, **options: Any) -> number.BorderDecision:
        for cost, clear in CONSTANTS:
            with (
                mock.patch.object(number, "_COST_OF_A_CLUSTER", cost),
                mock.patch.object(number, "_CLEAR_EVIDENCE", clear),
            ):
                decision = choose(X, trees, *given, **options)
            labels = decision.labels
            if labels is None:
                labels = trees.cut(decision.n_clusters)
            row[f"{cost}, {clear}"] = adjusted_rand_index(points.y[trees.objects], labels)
        return choose(X, trees, *given, **options)

    with mock.patch.object(chooser, "number_by_borders", under_each):
        generator = EnsembleGenerator(cache_dir=cache, n_jobs=1)
        ConsensusClustering(generator=generator, random_state=0).fit(points.X)
    return row


def main(argv: Sequence[str] | None = None) -> None:
    lines, arguments = over_sets(__doc__, "settle", (0, 1, 2), scored, argv)
    table: list[Row] = []
    for cost, clear in CONSTANTS:
        row: Row = {"cost of a cluster": cost, "clear evidence": clear}
        for group in dict.fromkeys(line["group"] for line in lines):
            values = [line[f"{cost}, {clear}"] for line in lines if line["group"] == group]
            row[f"{group} ({len(values)})"] = float(np.mean(values))
        table.append(row)
    show(table, "Adjusted Rand index under other constants")
    write(table, "settle", arguments)


if __name__ == "__main__":
    main()
