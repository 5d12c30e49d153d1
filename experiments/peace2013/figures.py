"""Figure 3: nine sets, two kinds of ensembles, consistency index and F1 of PEACE, Baum-Eagon, single and average linkage.

python -m experiments.peace2013.figures [--quick] [--sets iris ...] [--out FOLDER]

Section 5.1 of the paper. Its bars have no numbers; it says that on the synthetic sets PEACE and Baum-Eagon are below
evidence accumulation, that PEACE has better performance than the others on 3 of 9 sets with ensemble 1, and better or
equal performance on 6 of 9 with ensemble 2. Figure 2, co-association matrices of both ensembles of image-c, is drawn too.

Results are kept in FOLDER/figures.json as they come; a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from conclust import Ensemble, coassociation
from conclust.exceptions import EnsembleWarning, EvidenceWarning
from conclust.membership import vat_order
from conclust.metrics import class_f1, consistency_index, pairwise_f1
from experiments.drawing import bars, save
from experiments.kept import Kept, fill, opened
from experiments.output import Row, options, show, write
from experiments.paper_sets import KINDS, PARTITIONS, SETS, here, members, originals, points
from experiments.peace2013.settings import ENSEMBLES, METHODS, SHARE

__all__ = ["claims", "means"]

NINE = (
    "spiral",
    "image-c",
    "iris",
    "wine",
    "house-votes",
    "ionosphere",
    "std-yeast-cell",
    "breast-cancer",
    "optdigits",
)
SYNTHETIC = NINE[:2]
SCORES = {"CI": consistency_index, "pair F1": pairwise_f1, "class F1": class_f1}
PAPER = tuple(METHODS)[:4]
# Of nine sets, on how many PEACE is best, as the paper says.
SAID = {"ensemble 1": 3, "ensemble 2": 6}
_SAME = 0.005


def labels_of(kind: str, name: str, seed: int, few: bool) -> Any:
    """Return the labels of an ensemble, and the classes."""
    X, y = points(name)
    share = SHARE if kind == "ensemble 2" else 1.0
    made = members(
        kind, name, X, seed, n_partitions=20 if few else PARTITIONS, sample_fraction=share
    )
    return made, y


def measure(unit: str, names: list[str], few: bool) -> dict[str, Any]:
    """Return the scores of methods on an ensemble."""
    kind, name, seed = unit.split("/")
    labels, y = labels_of(kind, name, int(seed), few)
    ensemble = Ensemble(labels)
    found = {}
    for method in names:
        with warnings.catch_warnings():
            for kind_of in (ConvergenceWarning, EnsembleWarning, EvidenceWarning):
                warnings.simplefilter("ignore", kind_of)
            got = METHODS[method](SETS[name].k, int(seed)).fit_predict(ensemble)
        found[method] = {key: float(score(y, got)) for key, score in SCORES.items()}
    return found


def values(kept: Kept, kind: str, name: str, method: str, score: str) -> list[float]:
    """Return a method's values over the ensembles of a set."""
    prefix = f"{kind}/{name}/"
    return [found[method][score] for key, found in kept.found.items() if key.startswith(prefix)]


def means(kept: Kept, kind: str, score: str, sets: list[str]) -> list[Row]:
    """Return a line for each set: the mean score of each method."""
    return [
        {"set": name, "K": SETS[name].k}
        | {method: float(np.mean(values(kept, kind, name, method, score))) for method in METHODS}
        for name in sets
    ]


def claims(kept: Kept, sets: list[str]) -> list[Row]:
    """Count the sets on which PEACE is the best of the paper's four, or as good as the best.

    Over the sets that are the papers' own, and over all.
    """
    rows: list[Row] = []
    own = originals(sets)
    for kind in KINDS:
        for score in SCORES:
            table = means(kept, kind, score, sets)
            lead = {
                row["set"]: row["PEACE"] - max(row[name] for name in PAPER[1:]) for row in table
            }
            of_own = [lead[name] for name in own]
            below = [
                max(row["PEACE"], row["BE"]) < max(row["EAC-SL"], row["EAC-AL"]) - _SAME
                for row in table
                if row["set"] in SYNTHETIC
            ]
            rows.append(
                {
                    "ensemble": kind,
                    "score": score,
                    "originals: PEACE best": sum(gain > _SAME for gain in of_own),
                    "originals: as good as the best": sum(abs(gain) <= _SAME for gain in of_own),
                    "originals": len(own),
                    "PEACE best": sum(gain > _SAME for gain in lead.values()),
                    "as good as the best": sum(abs(gain) <= _SAME for gain in lead.values()),
                    "sets": len(sets),
                    "paper": SAID[kind],
                    "synthetic: PEACE, BE below EAC": f"{sum(below)} of {len(below)}",
                }
            )
    return rows


def draw(kept: Kept, sets: list[str], arguments: argparse.Namespace) -> None:
    """Draw Figure 3."""
    figure, axes = plt.subplots(
        3, 2, figsize=(13, 9), layout="constrained", sharex=True, sharey=True
    )
    for across, kind in enumerate(KINDS):
        for down, score in enumerate(SCORES):
            ax = axes[down, across]
            found = {m: [values(kept, kind, name, m, score) for name in sets] for m in PAPER}
            bars(
                ax,
                sets,
                {m: [float(np.mean(each)) for each in of] for m, of in found.items()},
                {m: [float(np.std(each)) for each in of] for m, of in found.items()},
            )
            ax.set_ylim(0, 1.05)
            ax.set_title(f"{score}, {kind}", fontsize=10)
            ax.set_ylabel("mean, whiskers: one sd")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    save(figure, arguments.out, "figure_3")


def draw_matrices(name: str, arguments: argparse.Namespace) -> None:
    """Draw Figure 2: the co-association of an ensemble of each kind, in VAT order."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    for ax, kind in zip(axes, KINDS, strict=True):
        ensemble = Ensemble(labels_of(kind, name, arguments.seed, arguments.quick)[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvidenceWarning)
            shares = np.nan_to_num(coassociation(ensemble, normalize=True))
        order = vat_order(1.0 - shares)
        image = ax.imshow(shares[np.ix_(order, order)], cmap="gray", vmin=0, vmax=1)
        ax.set_title(f"{name}, {kind}", fontsize=10)
        ax.set_xlabel("objects, in VAT order")
    figure.colorbar(image, ax=axes, label="share of the partitions that join a pair", shrink=0.8)
    save(figure, arguments.out, "figure_2")


def run(arguments: argparse.Namespace) -> None:
    few = arguments.quick
    sets = here(arguments.sets or (["iris", "wine"] if few else list(NINE)))
    seeds = 2 if few else ENSEMBLES
    kept = opened(arguments, "figures.json", {"few": few})
    wanted = {
        f"{kind}/{name}/{seed}": [*METHODS]
        for seed in range(seeds)
        for kind in KINDS
        for name in sets
    }
    fill(kept, wanted, partial(measure, few=few), arguments.jobs)
    for kind in KINDS:
        for score in SCORES:
            rows = means(kept, kind, score, sets)
            show(rows, f"Mean {score} over {seeds} ensembles, {kind}")
            name = f"{kind}_{score}".lower().replace(" ", "_")
            write(rows, name, arguments, note=f"Mean {score} over {seeds} ensembles.")
    rows = claims(kept, sets)
    show(rows, "On how many sets PEACE is the best of the paper's four")
    write(rows, "claims", arguments)
    draw(kept, sets, arguments)
    draw_matrices("iris" if few or "image-c" not in sets else "image-c", arguments)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", choices=NINE, metavar="SET", help="all nine")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
