"""Which number of clusters serves every day's use: by one ensemble, or by resampling.

python -m experiments.default.number [--quick] [--groups blobs ...] [--out FOLDER]

Three rules on the sets of `suite.py`, all with the consensus of `AutoConsensus` at the number found:

- "ensemble": the number that `AutoConsensus` reads from one ensemble (lifetime less straddling);
- "selection": the number by `conclust.selection.choose` of 2 to 12 clusters, 30 resamples, 19 references: the
  fewest that allow a p-value of .05, so that it costs little more than the ensemble;
- "p, then ensemble": one cluster if the p-value of the selection says so; else the number that the ensemble
  shows, or the selection's number if the ensemble shows one cluster.

A line is the mean over the sets of a group: how often the number is right, the adjusted Rand index with
the known classes, and the CPU seconds that the number costs. Known classes serve for scoring only.
"""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from conclust import AutoConsensus, Ensemble, EnsembleGenerator
from conclust.metrics import adjusted_rand_index
from conclust.selection import choose
from experiments.default.sets import Points
from experiments.default.suite import GROUPS, sets
from experiments.output import Row, options, show, write

RULES = ("ensemble", "selection", "p, then ensemble")


def numbers(points: Points, seed: int) -> tuple[dict[str, int], dict[str, float], Ensemble]:
    """Return the number and its CPU seconds by each rule, and the ensemble."""
    begin = time.process_time()
    made = EnsembleGenerator("kmeans", random_state=seed, n_jobs=1).fit_transform(points.X)
    ensemble = Ensemble(made)
    shown = AutoConsensus(random_state=0, n_jobs=1).fit(ensemble).n_clusters_
    middle = time.process_time()
    found = choose(
        points.X,
        range(2, 13),
        n_resamples=30,
        n_references=19,
        random_state=seed,
        n_jobs=1,
    )
    end = time.process_time()
    both = 1 if found.n_clusters == 1 else shown if shown > 1 else found.n_clusters
    costs = (middle - begin, end - middle, end - begin)
    return (
        dict(zip(RULES, (shown, found.n_clusters, both), strict=True)),
        dict(zip(RULES, costs, strict=True)),
        ensemble,
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS)
    arguments = parser.parse_args(argv)
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    lines: list[Row] = []
    for number, points in sets(arguments.groups, arguments.quick):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            each, seconds, ensemble = numbers(points, arguments.seed + number)
            partitions = {
                k: AutoConsensus(k, random_state=0).fit(ensemble).labels_
                for k in sorted(set(each.values()))
            }
        for rule, k in each.items():
            ari = adjusted_rand_index(points.y, partitions[k])
            found[points.group, rule].append((k == points.k, ari, seconds[rule]))
        lines.append({"set": points.name, "K": points.k, **each})
    rows: list[Row] = []
    for (group, rule), values in found.items():
        right, ari, cost = np.mean(values, axis=0)
        rows.append(
            {
                "group": group,
                "number by": rule,
                "sets": len(values),
                "right": float(right),
                "ARI": float(ari),
                "CPU s": float(cost),
            }
        )
    show(
        rows, "Number found, adjusted Rand index with the known classes, CPU seconds of the number"
    )
    write(rows, "number", arguments)
    write(lines, "numbers", arguments)


if __name__ == "__main__":
    main()
