"""Sets that stand in for rings and image-1: which come nearest to what the paper prints of methods other than PCC.

python -m experiments.pcc2013.standins [--quick] [--out FOLDER]

The authors' points are not to be had. A candidate is judged by single, average and Ward linkage and CSPA on ensemble 1, whose
H the paper prints: then PCC's beside it says something about the paper. Candidates are the sets by formula of the other
experiments, and sets of other authors of the same kind (rings of Zelnik-Manor and Perona; rings; Complex8), of which at
most the paper's number of points are drawn.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from conclust import Ensemble
from conclust.exceptions import EnsembleWarning
from conclust.metrics import consistency_index
from experiments.output import Row, options, show, write
from experiments.paper_sets import PARTITIONS, SETS, loaded, members
from experiments.pcc2013.printed import AVERAGES, COLUMNS
from experiments.pcc2013.settings import PAPERS

CANDIDATES = {
    "rings": ("rings", "standin_rings_zelnik1", "standin_rings_1000"),
    "image-1": ("image_1", "standin_image_1_complex8"),
}
POINTS = {"rings": 450, "image-1": 1000}
JUDGES = ("EAC-SL", "EAC-AL", "EAC-WL", "CSPA")
SHOWN = ("PCC-KL", "PCC-l2", *JUDGES)
ENSEMBLES = 3


def measured(name: str, candidate: str, n_partitions: int, n_ensembles: int) -> Row:
    """Return the mean H of each method on a candidate, and the mean distance of the judges from print."""
    data = loaded(candidate)
    drawn = np.random.default_rng(0).permutation(len(data.X))[: POINTS[name]]
    X, y = data.X[drawn], data.y[drawn]
    found: dict[str, list[float]] = {method: [] for method in SHOWN}
    for seed in range(n_ensembles):
        ensemble = Ensemble(members("ensemble 1", name, X, seed, n_partitions=n_partitions))
        for method in SHOWN:
            with warnings.catch_warnings():
                # Members finer than the classes are the papers'.
                warnings.simplefilter("ignore", EnsembleWarning)
                labels = PAPERS[method](SETS[name].k, seed).fit_predict(ensemble)
            found[method].append(float(consistency_index(y, labels)))
    means = {method: float(np.mean(values)) for method, values in found.items()}
    theirs = of_print(name)
    away = float(np.mean([abs(means[method] - theirs[method]) for method in JUDGES]))
    return {"for": name, "points": f"{candidate} ({len(X)})", **means, "judges away": away}


def of_print(name: str) -> dict[str, float]:
    """Return what the paper prints."""
    printed = AVERAGES["ensemble 1", "H"]
    return {method: printed[method][COLUMNS.index(name)] for method in SHOWN}


def run(arguments: argparse.Namespace) -> None:
    n_partitions, n_ensembles = (20, 1) if arguments.quick else (PARTITIONS, ENSEMBLES)
    rows: list[Row] = []
    for name, candidates in CANDIDATES.items():
        rows.append({"for": name, "points": "(printed)", **of_print(name), "judges away": None})
        rows += [measured(name, each, n_partitions, n_ensembles) for each in candidates]
    two = {**dict.fromkeys(SHOWN, ".2f"), "judges away": ".3f"}
    title = f"Mean H over {n_ensembles} ensembles 1"
    show(rows, title, two)
    note = f"{title}; judges away: mean distance of single, average and Ward linkage and CSPA from print."
    write(rows, "standins", arguments, two, note)


def main(given: list[str] | None = None) -> None:
    run(options(__doc__).parse_args(given))


if __name__ == "__main__":
    main()
