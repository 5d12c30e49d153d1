"""Random partitions: a consensus of an ensemble of which 20 % means nothing.

python -m experiments.robust2013.random_partitions [--quick] [--out FOLDER]

Section 4.2 of the paper: 20 % of the partitions of an ensemble are replaced by random ones. Its
figure 4 compares H of the weighted and of the unweighted consensus, without numbers.

The first table is of planted ensembles, 20 of them: m = 50 partitions of 300 objects in 4 clusters,
in each of which 15 % of the labels are random. It says how much weight the random partitions kept.
The second is of the paper's k-means ensembles (150 partitions, numbers of clusters from the paper's
Table 1) on its sets that are known or have a formula.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from conclust import PCC, EnsembleGenerator, WeightedPCC, corrupt
from conclust.datasets import available, load
from conclust.metrics import consistency_index
from experiments.output import Row, options, show, stopwatch, write

SHARE = 0.2
ALLOWED = {"simplex": 0.01, "l2": 0.05}
# Set -> range of the numbers of clusters, as the paper's Table 1 has it.
SETS = {
    "spirals": (2, 10),
    "cigar": (2, 10),
    "rings": (2, 10),
    "image_c": (7, 40),
    "image_1": (8, 40),
    "iris": (3, 20),
    "wine": (4, 20),
    "house_votes_232": (2, 20),
    "ionosphere": (4, 20),
    "std_yeast_cell": (5, 20),
    "breast_cancer_683": (2, 20),
    "optdigits_1000": (10, 50),
}


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


def known(name: str, n_partitions: int, seed: int, jobs: int | None) -> list[Row]:
    """Compare H with and without weights, before and after the spoiling, on a known set."""
    data = load(name, random_state=seed)
    X = np.where(np.isnan(data.X), np.nanmean(data.X, axis=0), data.X)
    low, high = SETS[name]
    generator = EnsembleGenerator(
        "kmeans",
        n_partitions=n_partitions,
        n_clusters=range(low, high + 1),
        scale="minmax",
        random_state=seed,
        n_jobs=jobs,
    )
    labels = generator.fit_transform(X)
    spoilt, where = corrupt(labels, SHARE, random_state=seed, return_indices=True)
    k = len(data.target_names)
    row: Row = {"set": name, "K": k}
    for kind, given in (("clean", labels), ("noisy", spoilt)):
        plain = PCC(k, divergence="l2", random_state=seed, n_jobs=jobs).fit(given)
        row[f"{kind}: PCC"] = consistency_index(data.y, plain.labels_)
        for regularization in ALLOWED:
            model = WeightedPCC(k, regularization=regularization, random_state=seed, n_jobs=jobs)
            model.fit(given)
            row[f"{kind}: {regularization}"] = consistency_index(data.y, model.labels_)
            if kind == "noisy":
                row[f"random weight, {regularization}"] = float(model.weights_[where].sum())
    return [row]


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
    here = set(available())
    chosen = ["iris", "wine"] if arguments.quick else [name for name in SETS if name in here]
    n_partitions = 30 if arguments.quick else 150
    rows = [
        row for name in chosen for row in known(name, n_partitions, arguments.seed, arguments.jobs)
    ]
    show(rows, "H on k-means ensembles, clean and with 20 % random partitions")
    write(rows, "random_partitions_known", arguments)


def main(given: list[str] | None = None) -> None:
    run(options(__doc__).parse_args(given))


if __name__ == "__main__":
    main()
