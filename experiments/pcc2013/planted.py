"""Planted recovery: a soft truth is to be found again from 1,000 partitions drawn from it.

python -m experiments.pcc2013.planted [--divergence kl l2] [--quick] [--out FOLDER]

Section 7.1 of the paper: 4 isotropic Gaussians in the plane, 200 points each; the true membership
is the posterior of the components; 1,000 hard partitions are drawn from it, every object on its
own; PCC may use up to 8 clusters and must find that there are 4. The paper prints no scale of the
Gaussians: here the variance is chosen so that the largest true probability is on average a number
drawn between 0.75 and 0.9. The paper's result, for both divergences: J = 0.0012 +- 0.00005 over 10 data sets.
"""

from __future__ import annotations

import argparse

import numpy as np

from conclust import PCC
from conclust.datasets import Dataset, gaussian_mixture, planted_ensemble
from conclust.metrics import js_divergence
from experiments.output import Row, options, show, stopwatch, write

PAPER_J = 0.0012
OVERLAP = (0.75, 0.9)
MASS = 0.01  # a cluster counts if it holds more of all probability


def overlapping(seed: int, size: int) -> Dataset:
    """Draw a data set; its variance is chosen to give an overlap drawn from the range."""
    wanted = np.random.default_rng(seed).uniform(*OVERLAP)
    low, high = np.log(0.05), np.log(50.0)
    for _ in range(40):
        middle = (low + high) / 2
        data = gaussian_mixture((size,) * 4, covariances=float(np.exp(middle)), random_state=seed)
        assert data.membership is not None
        if data.membership.max(axis=1).mean() > wanted:
            low = middle  # too little overlap
        else:
            high = middle
    return data


def one(seed: int, data: Dataset, divergence: str, n_partitions: int, jobs: int | None) -> Row:
    truth = data.membership
    assert truth is not None
    ensemble = planted_ensemble(truth, n_partitions, random_state=seed)
    model = PCC(8, divergence=divergence, random_state=seed, n_jobs=jobs)
    with stopwatch() as taken:
        model.fit(ensemble)
    mass = model.membership_.mean(axis=0)
    J = js_divergence(truth, model.membership_)
    clusters, others = int(np.count_nonzero(mass > MASS)), float(mass[mass <= MASS].sum())
    return {
        "divergence": divergence,
        "data set": seed,
        "mean largest truth": float(truth.max(axis=1).mean()),
        "clusters over 1 %": clusters,
        "mass of the others": others,
        "J": J,
        "as in the paper": "yes" if clusters == 4 and others < 0.005 and J <= PAPER_J else "no",
        "CPU s": taken.cpu,
    }


def run(arguments: argparse.Namespace) -> None:
    size, n_sets, n_partitions = (50, 2, 1000) if arguments.quick else (200, 10, 1000)
    seeds = range(arguments.seed, arguments.seed + n_sets)
    sets = [(seed, overlapping(seed, size)) for seed in seeds]
    rows = [
        one(seed, data, divergence, n_partitions, arguments.jobs)
        for divergence in arguments.divergence
        for seed, data in sets
    ]
    formats = {"mass of the others": ".1e", "J": ".5f", "CPU s": ".2f"}
    show(rows, f"Planted recovery, 4 x {size} objects, {n_partitions} partitions, K = 8", formats)
    summary: list[Row] = []
    for divergence in arguments.divergence:
        J = np.array([row["J"] for row in rows if row["divergence"] == divergence])
        good = sum(
            row["as in the paper"] == "yes" for row in rows if row["divergence"] == divergence
        )
        summary.append(
            {
                "divergence": divergence,
                "J": float(J.mean()),
                "sd": float(J.std()),
                "paper's J": PAPER_J,
                "four clusters, J as good": f"{good} of {len(J)}",
            }
        )
    show(summary, "Over the data sets", {"J": ".5f", "sd": ".5f", "paper's J": ".4f"})
    write(rows, "planted", arguments, formats)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--divergence", nargs="+", default=["kl", "l2"], help="divergences of PCC")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
