"""How often borders that are there hold.

python -m experiments.borders.power [--quick] [--seed 0] [--sets 40] [--jobs 1] [--out FOLDER]

Three unit Gaussians by distance, number of features and of points, clusters by k-means told three; then sets that
are no three equal Gaussians, of 600 points, their classes as labels, clustered by k-means told the number and by
`ConsensusClustering` of 30 spectral members told the number. A row has the share of the
borders with p <= .05 (dip test; valley test), of those that hold at .05 after Holm's adjustment, and of sets that
`merged()` leaves with the right number of clusters from k-means pieces, three times as many as there are clusters.
Beside them, on the first five sets, the share of these pairs that `cluster_gaps` sees a gap between, and
that SigClust takes for two Gaussians, at .05. Pairs are neighbours; classes are read as labels and for scoring.

What is done stands in power.kept.json; a larger `--sets` adds to it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from conclust import AutoConsensus, ConsensusClustering, EnsembleGenerator
from conclust.confidence import border_tests, cluster_gaps
from experiments.borders.sets import BORDERS, gaussians
from experiments.borders.sigclust import sigclust
from experiments.kept import Kept, fill
from experiments.output import Row, options, show, write

DISTANCES = (3.0, 3.5, 4.0, 5.0)
FEATURES = (2, 10)
SIZES = (150, 300, 600, 1200)
BATCH = 10
BESIDE = 5
LEVEL = 0.05
SPECTRAL = 5  # splits and sets of the consensus of spectral members


def measured(
    X: NDArray[np.float64], labels: NDArray[np.int64], number: int, *, by_consensus: bool
) -> dict[str, Any]:
    """Return what is said of the borders of a set."""
    K = int(labels.max()) + 1
    tests = border_tests(X, labels, random_state=number, n_jobs=1)
    above = np.triu(tests.neighbours)
    pieces = KMeans(3 * K, n_init=3, random_state=number).fit_predict(X)
    merged = border_tests(X, pieces, random_state=number, n_jobs=1).merged()
    said: dict[str, Any] = {
        "p": tests.p_value[above],
        "valley": tests.valley_p_value[above],
        "adjusted": tests.adjusted[above],
        "right": int(merged.max() + 1 == K),
    }
    if number < BESIDE:
        rng = np.random.default_rng(number)
        gaps = cluster_gaps(X, labels, random_state=0, n_jobs=1)
        said["gaps"] = gaps.p_value[above]
        said["sigclust"] = [
            sigclust(X[some], (labels[some] == q).astype(int), rng)
            for p, q in np.argwhere(above)
            for some in [np.isin(labels, (p, q))]
        ]
        if by_consensus:
            model = ConsensusClustering(
                AutoConsensus(), EnsembleGenerator("spectral", n_partitions=30), random_state=0
            )
            by_model = border_tests(
                X, labels, clusterer=model, n_splits=SPECTRAL, random_state=number, n_jobs=1
            )
            said["by consensus"] = by_model.p_value[above]
    return said


def batch(unit: str, names: list[str]) -> dict[str, Any]:
    """Measure some sets of a setting."""
    *setting, seed = unit.split(" | ")
    found: dict[str, Any] = {}
    for name in names:
        found[name] = []
        for number in range(BATCH * int(name), BATCH * (int(name) + 1)):
            rng = np.random.default_rng([int(seed), number, len(unit), *map(ord, setting[0])])
            if len(setting) == 3:
                distance, d, n = float(setting[0]), int(setting[1]), int(setting[2])
                X, y = gaussians(rng, n, distance, d)
                y = KMeans(3, n_init=3, random_state=number).fit_predict(X)
                found[name].append(measured(X, y, number, by_consensus=False))
            else:
                X, y = BORDERS[setting[0]](rng, 600)
                found[name].append(measured(X, y, number, by_consensus=True))
    return found


def row_of(head: Row, sets: list[dict[str, Any]]) -> Row:
    """Return the line of a setting."""

    def share(name: str) -> float | None:
        values = [p for said in sets for p in said.get(name, ())]
        return float(np.mean(np.array(values) <= LEVEL)) if values else None

    row = head | {"sets": len(sets), "dip": share("p"), "valley": share("valley")}
    row |= {"Holm": share("adjusted"), "merged": float(np.mean([said["right"] for said in sets]))}
    row |= {"gaps": share("gaps"), "SigClust": share("sigclust")}
    if any("by consensus" in said for said in sets):
        row["by consensus"] = share("by consensus")
    return row


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", type=int, default=40, help="sets of each setting")
    arguments: argparse.Namespace = parser.parse_args(argv)
    quick = arguments.quick
    batches = 1 if quick else -(-arguments.sets // BATCH)
    path = arguments.out / "power.kept.json" if arguments.out is not None else None
    kept = Kept(path, {"seed": arguments.seed, "batch": BATCH, "beside": BESIDE})
    equal = {
        (distance, d, n): f"{distance} | {d} | {n} | {arguments.seed}"
        for distance in (DISTANCES[-1:] if quick else DISTANCES)
        for d in (FEATURES[:1] if quick else FEATURES)
        for n in (SIZES[1:2] if quick else SIZES)
    }
    others = {name: f"{name} | {arguments.seed}" for name in list(BORDERS)[: 1 if quick else None]}
    for b in range(batches):
        wanted = {unit: [str(b)] for unit in (*equal.values(), *others.values())}
        fill(kept, wanted, batch, arguments.jobs or 1)

    def sets(unit: str) -> list[dict[str, Any]]:
        return [said for part in kept.found[unit].values() for said in part]

    rows = [
        row_of({"distance": distance, "features": d, "n": n}, sets(unit))
        for (distance, d, n), unit in equal.items()
    ]
    show(rows, "Three unit Gaussians: share of borders that are seen")
    write(rows, "power", arguments)
    other_rows = [row_of({"set": name}, sets(unit)) for name, unit in others.items()]
    show(other_rows, "Other borders, 600 points: share that is seen")
    write(other_rows, "others", arguments)


if __name__ == "__main__":
    main()
