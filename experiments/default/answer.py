"""What the default answers: the number not given, and given, beside k-means and HDBSCAN.

python -m experiments.default.answer [--quick] [--groups features ...] [--seeds 0 3] [--jobs 2] [--cache FOLDER] [--out FOLDER]

Every set is clustered by `ConsensusClustering()` with the number not given and given, each with and without the last
step (`refine`); by k-means with the true number (20 starts of k-means++); and by HDBSCAN with scikit-learn's defaults, its noise a cluster. A table line is the
mean over the sets of a group and a seed: how often the number is right, the adjusted Rand index (ARI) and normalized mutual
information (NMI, geometric) with the known classes. The known classes serve for scoring only.

The constants were settled on seeds 0 to 2; seeds from 3 on serve for confirmation. A run that was stopped goes on where it
was (--out).
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans

from conclust import ConsensusClustering, EnsembleGenerator
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from experiments.default.over_sets import over_sets
from experiments.default.sets import Points
from experiments.output import Row, show, stopwatch, write

_WAYS = ("found", "found, not refined", "told", "told, not refined", "k-means", "HDBSCAN")


def scored(points: Points, seed: int, cache: Path) -> Row:
    """Return a line of what each way of clustering reached on a set; members are made once, and kept in `cache`."""
    warnings.simplefilter("ignore")
    row: Row = {"group": points.group, "seed": seed, "set": points.name, "n": len(points.X)}
    row["K"] = points.k

    def judge(name: str, labels: NDArray[Any]) -> None:
        row[f"{name} ARI"] = adjusted_rand_index(points.y, labels)
        row[f"{name} NMI"] = normalized_mutual_information(points.y, labels)

    def model_of(n_clusters: int | None) -> ConsensusClustering:
        generator = EnsembleGenerator(cache_dir=cache, n_jobs=1)
        model = ConsensusClustering(generator=generator, n_clusters=n_clusters, random_state=0)
        return model.fit(points.X)

    with stopwatch() as taken:
        model = model_of(None)
    row["found K"] = model.n_clusters_
    row["CPU s"] = taken.cpu
    row["reason"] = model.reason_
    judge("found", model.labels_)
    judge("found, not refined", model.consensus_.labels_)
    if points.k > 1:
        told = model_of(points.k)
        judge("told", told.labels_)
        judge("told, not refined", told.consensus_.labels_)
        judge("k-means", KMeans(points.k, n_init=20, random_state=0).fit_predict(points.X))
    # Its noise, -1, is scored as a cluster.
    judge("HDBSCAN", HDBSCAN(copy=True).fit_predict(points.X) + 1)
    return row


def summary(rows: Sequence[Row]) -> list[Row]:
    """Return the means over the sets of each group and seed."""
    groups: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["group"], row["seed"]].append(row)

    def mean(lines: Sequence[Row], key: str) -> float | None:
        values = [line[key] for line in lines if key in line]
        return float(np.mean(values)) if values else None

    table: list[Row] = []
    for (group, seed), lines in groups.items():
        line: Row = {
            "group": group,
            "seed": seed,
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
    rows, arguments = over_sets(__doc__, "answer", (0, 3), scored, argv)
    show(summary(rows), "Number of clusters, and agreement with the known classes")
    write(summary(rows), "answer", arguments)
    keys = dict.fromkeys(key for row in rows for key in row)
    write([{key: row.get(key) for key in keys} for row in rows], "answer_sets", arguments)


if __name__ == "__main__":
    main()
