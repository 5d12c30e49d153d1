"""The bound of an empty margin: answers of the default under other bounds, and margins of two clusters in the tree.

python -m experiments.default.margins [--quick] [--groups clouds ...] [--seeds 20 21] [--jobs 2] [--cache FOLDER] [--out FOLDER]

The members and the tree of each set are made once; the number is then chosen under each bound. A table line is a group: the mean
adjusted Rand index of its sets under each bound, before the last step (`refine`), and the 1 % and 50 % quantiles of the margins of the cut into two
clusters: for groups of two clusters only the cuts that find these (adjusted Rand index above .9). The known classes serve for scoring only.
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
from conclust.neighbours import neighbour_graph
from conclust.points import chooser, number
from conclust.points.margin import margin_ratio
from conclust.points.paths import PathsOfPoints
from experiments.default.over_sets import over_sets
from experiments.default.sets import Points
from experiments.output import Row, show, write

# With a bound of 0 no margin is empty. The bound in use is .12.
BOUNDS = (0.0, 0.08, 0.1, 0.12, 0.15, 0.2)
_NEIGHBOURS = 10
_FOUND = 0.9


def scored(points: Points, seed: int, cache: Path) -> Row:
    """Return the adjusted Rand index of a set under each bound, and the margin of its cut into two clusters."""
    warnings.simplefilter("ignore")
    row: Row = {"group": points.group, "n": len(points.X), "margin": None}
    choose = number.number_by_borders

    def under_each(X: Any, trees: Any, *given: Any, **options: Any) -> number.BorderDecision:
        y = points.y[trees.objects]
        for bound in BOUNDS:
            with mock.patch.object(number, "EMPTY_MARGIN", bound):
                decision = choose(X, trees, *given, **options)
            labels = decision.labels
            if labels is None:
                labels = trees.cut(decision.n_clusters)
            row[f"{bound}"] = adjusted_rand_index(y, labels)
        two = trees.cut(2)
        if points.k == 1 or adjusted_rand_index(y, two) > _FOUND:
            paths = PathsOfPoints(X, neighbour_graph(X, _NEIGHBOURS, n_jobs=1))
            row["margin"] = margin_ratio(paths, two, np.array([0, 1]))
        return choose(X, trees, *given, **options)

    with mock.patch.object(chooser, "number_by_borders", under_each):
        generator = EnsembleGenerator(cache_dir=cache, n_jobs=1)
        ConsensusClustering(generator=generator, random_state=0).fit(points.X)
    return row


def main(argv: Sequence[str] | None = None) -> None:
    lines, arguments = over_sets(__doc__, "margins", (20, 21), scored, argv)
    table: list[Row] = []
    for group in dict.fromkeys(line["group"] for line in lines):
        of_group = [line for line in lines if line["group"] == group]
        row: Row = {"group": group, "sets": len(of_group)}
        for bound in BOUNDS:
            row[f"ARI, {bound:g}"] = float(np.mean([line[f"{bound}"] for line in of_group]))
        margins = [line["margin"] for line in of_group if line["margin"] is not None]
        for share in (0.01, 0.5):
            row[f"margin, {share:.0%} quantile"] = (
                float(np.quantile(margins, share)) if margins else None
            )
        table.append(row)
    show(table, "Adjusted Rand index under other bounds, and margins of two clusters")
    write(table, "margins", arguments)


if __name__ == "__main__":
    main()
