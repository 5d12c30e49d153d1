"""What the default answers: the number not given, and given, beside k-means and HDBSCAN.

python -m experiments.default.answer [--quick] [--groups features ...] [--seeds 1 2] [--processes 2] [--out FOLDER]

Every set is clustered by `ConsensusClustering()` with the number not given and given, both with and without the last
step (`refine`); by k-means with the true number (20 starts of k-means++); and by HDBSCAN with scikit-learn's defaults. A table line is the
mean over the sets of a group: how often the number is right, the adjusted Rand index (ARI) and normalized mutual
information (NMI, geometric) with the known classes. The known classes serve for scoring only.

Seeds 0 are those on which the constants were settled; seeds from 1 on serve for confirmation.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans

from conclust import ConsensusClustering
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from experiments.default.answer_sets import GROUPS
from experiments.default.sets import Points
from experiments.output import Row, options, show, stopwatch, write

_WAYS = ("found", "found, not refined", "told", "told, not refined", "k-means", "HDBSCAN")


def points_of(groups: Sequence[str], seeds: Sequence[int], quick: bool) -> Iterator[Points]:
    """Yield the sets of the groups, for every seed; of the quick version two of each group."""
    for group in groups:
        for seed in seeds:
            yield from islice(GROUPS[group](seed), 2 if quick else None)


def scored(points: Points, seed: int = 0) -> Row:
    """Return a line of what each way of clustering reached on a set."""
    warnings.simplefilter("ignore")
    row: Row = {"group": points.group, "set": points.name, "n": len(points.X), "K": points.k}

    def judge(name: str, labels: NDArray[Any]) -> None:
        row[f"{name} ARI"] = adjusted_rand_index(points.y, labels)
        row[f"{name} NMI"] = normalized_mutual_information(points.y, labels)

    with stopwatch() as taken:
        model = ConsensusClustering(random_state=seed).fit(points.X)
    row["found K"] = model.n_clusters_
    row["CPU s"] = taken.cpu
    row["reason"] = model.reason_
    judge("found", model.labels_)
    judge("found, not refined", model.consensus_.labels_)
    if points.k > 1:
        told = ConsensusClustering(n_clusters=points.k, random_state=seed).fit(points.X)
        judge("told", told.labels_)
        judge("told, not refined", told.consensus_.labels_)
        judge("k-means", KMeans(points.k, n_init=20, random_state=seed).fit_predict(points.X))
    judge("HDBSCAN", HDBSCAN(copy=True).fit_predict(points.X))
    return row


def summary(rows: Sequence[Row]) -> list[Row]:
    """Return the means over the sets of each group."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["group"]].append(row)

    def mean(lines: Sequence[Row], key: str) -> float | None:
        values = [line[key] for line in lines if key in line]
        return float(np.mean(values)) if values else None

    table: list[Row] = []
    for group, lines in groups.items():
        line: Row = {
            "group": group,
            "sets": len(lines),
            "right": float(np.mean([row["found K"] == row["K"] for row in lines])),
        }
        for name in _WAYS:
            line[f"{name} ARI"] = mean(lines, f"{name} ARI")
        for name in ("found", "told"):
            line[f"{name} NMI"] = mean(lines, f"{name} NMI")
        line["CPU s"] = mean(lines, "CPU s")
        table.append(line)
    return table


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--processes", type=int, default=1, help="sets that are clustered at once")
    arguments: argparse.Namespace = parser.parse_args(argv)
    seeds = arguments.seeds[:1] if arguments.quick else arguments.seeds
    sets = list(points_of(arguments.groups, seeds, arguments.quick))
    if arguments.processes > 1:
        with ProcessPoolExecutor(arguments.processes) as pool:
            rows = list(pool.map(scored, sets))
    else:
        rows = [scored(points) for points in sets]
    show(summary(rows), "Number of clusters, and agreement with the known classes")
    write(summary(rows), "answer", arguments)
    keys = dict.fromkeys(key for row in rows for key in row)
    write([{key: row.get(key) for key in keys} for row in rows], "answer_sets", arguments)


if __name__ == "__main__":
    main()
