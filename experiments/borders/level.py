"""How often one cloud that was cut in pieces is said to have a border.

python -m experiments.borders.level [--quick] [--seed 0] [--p-values 2000] [--jobs 1] [--out FOLDER]

Nine clouds of one cluster, of 300 and of 1,200 points: 18 settings. Each set is cut in two and in four by k-means.
A row is a setting: the share of all p-values up to .05 and .01 (dip test; valley test), the share of sets with a
border that holds at .05 after Holm's adjustment (the family-wise error), and of sets that `merged()` leaves in
more than one cluster, for either cut. Standard errors are over sets. Beside them, on the first five sets: the share
of sets with a pair of clusters that `cluster_gaps` sees a gap between (neighbours or not), and
with a pair of neighbours that SigClust takes for two Gaussians, at .05.

Each setting gets batches of 20 sets until it has the number of p-values. What is done stands in level.kept.json; a
larger `--p-values` adds to it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from conclust.confidence import border_tests, cluster_gaps
from experiments.borders.sets import CLOUDS
from experiments.borders.sigclust import sigclust
from experiments.kept import Kept, fill
from experiments.output import Row, options, show, write

SIZES = (300, 1200)
CUTS = (2, 4)
BATCH = 20
BESIDE = 5
LEVEL = 0.05


def one_set(cloud: str, n: int, number: int, seed: int) -> dict[str, Any]:
    """Return what is said of a set, by cut."""
    rng = np.random.default_rng([seed, list(CLOUDS).index(cloud), n, number])
    X = CLOUDS[cloud](rng, n)
    said: dict[str, Any] = {}
    for cut in CUTS:
        labels = KMeans(cut, n_init=3, random_state=number).fit_predict(X)
        tests = border_tests(X, labels, random_state=number, n_jobs=1)
        above = np.triu(tests.neighbours)
        said[str(cut)] = {
            "p": tests.p_value[above],
            "valley": tests.valley_p_value[above],
            "adjusted": tests.adjusted[above].min(),
            "clusters": tests.merged().max() + 1,
        }
        if number < BESIDE:
            pairs = np.argwhere(above)
            both = [np.isin(labels, pair) for pair in pairs]
            said[str(cut)]["gaps"] = cluster_gaps(X, labels, random_state=0, n_jobs=1).p_value.min()
            said[str(cut)]["sigclust"] = min(
                sigclust(X[some], (labels[some] == pair[1]).astype(int), rng)
                for some, pair in zip(both, pairs, strict=True)
            )
    return said


def batch(unit: str, names: list[str]) -> dict[str, Any]:
    """Measure some sets of a setting."""
    cloud, n, seed = unit.rsplit(" | ", 2)
    return {
        name: [
            one_set(cloud, int(n), number, int(seed))
            for number in range(BATCH * int(name), BATCH * (int(name) + 1))
        ]
        for name in names
    }


def number_of_p_values(kept: Kept, unit: str) -> int:
    """Return how many p-values of a setting are kept."""
    parts = kept.found.get(unit, {}).values()
    return sum(len(said[str(cut)]["p"]) for part in parts for said in part for cut in CUTS)


def row_of(cloud: str, n: int, sets: list[dict[str, Any]]) -> Row:
    """Return the line of a setting."""
    row: Row = {"cloud": cloud, "n": n, "sets": len(sets)}
    tests = [[p for cut in said.values() for p in cut["p"]] for said in sets]
    valleys = [[p for cut in said.values() for p in cut["valley"]] for said in sets]
    row["p-values"] = sum(map(len, tests))
    shares = np.array([np.mean(np.array(p) <= LEVEL) for p in tests])
    row["p <= .05"] = float(np.mean(np.concatenate(tests) <= LEVEL))
    row["se"] = float(shares.std(ddof=1) / np.sqrt(len(shares)))
    row["p <= .01"] = float(np.mean(np.concatenate(tests) <= 0.01))
    row["valley"] = float(np.mean(np.concatenate(valleys) <= LEVEL))
    for cut in CUTS:
        found = [said[str(cut)] for said in sets]
        row[f"any of {cut}"] = float(np.mean([s["adjusted"] <= LEVEL for s in found]))
        row[f"kept of {cut}"] = float(np.mean([s["clusters"] > 1 for s in found]))
        beside = [s for s in found if "gaps" in s]
        row[f"gaps, {cut}"] = float(np.mean([s["gaps"] <= LEVEL for s in beside]))
        row[f"SigClust, {cut}"] = float(np.mean([s["sigclust"] <= LEVEL for s in beside]))
    return row


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument(
        "--p-values", type=int, default=2000, help="minimum number of p-values of each setting"
    )
    arguments: argparse.Namespace = parser.parse_args(argv)
    clouds = list(CLOUDS)[:1] if arguments.quick else list(CLOUDS)
    sizes = SIZES[:1] if arguments.quick else SIZES
    wanted = 1 if arguments.quick else arguments.p_values
    path = arguments.out / "level.kept.json" if arguments.out is not None else None
    kept = Kept(path, {"seed": arguments.seed, "batch": BATCH, "beside": BESIDE})
    settings = {(cloud, n): f"{cloud} | {n} | {arguments.seed}" for cloud in clouds for n in sizes}
    while short := [unit for unit in settings.values() if number_of_p_values(kept, unit) < wanted]:
        lacking = {unit: [str(len(kept.found.get(unit, {})))] for unit in short}
        fill(kept, lacking, batch, arguments.jobs or 1)
    rows = [
        row_of(cloud, n, [said for part in kept.found[unit].values() for said in part])
        for (cloud, n), unit in settings.items()
    ]
    show(
        rows, "One cloud, cut in pieces: share of p-values, and of sets, that say there is a border"
    )
    write(rows, "level", arguments)


if __name__ == "__main__":
    main()
