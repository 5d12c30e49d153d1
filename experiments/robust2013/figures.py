"""Figures 2 and 4: twelve sets, k-means and mixed ensembles, clean and with 20 % random partitions.

python -m experiments.robust2013.figures [--quick] [--sets iris ...] [--out FOLDER]

Section 4 of the paper compares H of the consensus without weights and with weights, under two regularisations, in bars
without numbers, and says: weights give the better result on 8 of 12 sets with k-means ensembles and on 5 of 12 with
mixed ones, and comparable ones else; with noise the weighted ones tend to keep their result. Each claim is counted here
over 20 ensembles. What was chosen is in ``settings.py``.

Results are kept in FOLDER/figures.json as they come; a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from conclust import Ensemble, EnsembleGenerator, WeightedPCC, coassociation, corrupt
from conclust.exceptions import EnsembleWarning
from conclust.membership import vat_order
from conclust.metrics import consistency_index
from experiments.drawing import bars, save, scatter
from experiments.kept import Kept, fill, opened
from experiments.output import Row, options, show, write
from experiments.paper_sets import SETS, here, members, originals, points
from experiments.robust2013.settings import ENSEMBLES, LATER, METHODS, NOISE, SAME, TREES, even

__all__ = ["claims", "means"]

KINDS = ("k-means", "mixed")
STATES = ("clean", "noisy")
ALL = {**METHODS, **LATER}
SYNTHETIC = ("spiral", "cigar", "rings", "image-c", "image-1")


def ensemble(kind: str, name: str, X: NDArray[np.float64], seed: int, few: bool) -> NDArray[Any]:
    """Return the labels of an ensemble."""
    if kind == "k-means":
        return members("ensemble 1", name, X, seed, n_partitions=20 if few else 150)
    drawn = SETS[name].drawn
    pairs: list[tuple[str, list[int]]] = [(tree, even(drawn, 9)) for tree in TREES]
    pairs += [(other, even(drawn, 10)) for other in ("dense_spectral", "kmeans")]
    generator = EnsembleGenerator(pairs, init="random", random_state=seed)
    labels: NDArray[Any] = generator.fit_transform(X)
    return labels


def measure(unit: str, names: list[str], few: bool) -> dict[str, Any]:
    """Return H of methods on an ensemble, clean and noisy, and the weight that the random partitions kept."""
    kind, name, number = unit.split("/")
    seed = int(number)
    X, y = points(name)
    labels = ensemble(kind, name, X, seed, few)
    spoilt, where = corrupt(labels, NOISE, random_state=seed, return_indices=True)
    found: dict[str, Any] = {}
    for method in names:
        values = {}
        for state, given in (("clean", labels), ("noisy", spoilt)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", EnsembleWarning)
                model = ALL[method](SETS[name].k, seed).fit(given)
            values[state] = float(consistency_index(y, model.labels_))
        if hasattr(model, "weights_"):
            values["kept"] = float(model.weights_[where].sum())
        found[method] = values
    return found


def values(kept: Kept, kind: str, name: str, method: str, what: str) -> list[float]:
    """Return a method's values over the ensembles of a set."""
    prefix = f"{kind}/{name}/"
    return [
        found[method][what]
        for key, found in kept.found.items()
        if key.startswith(prefix) and what in found.get(method, {})
    ]


def means(kept: Kept, kind: str, state: str, sets: list[str]) -> list[Row]:
    """Return a line for each set: mean H of the methods."""
    rows: list[Row] = []
    for name in sets:
        row: Row = {"set": name, "K": SETS[name].k}
        for method in ALL:
            row[method] = float(np.mean(values(kept, kind, name, method, state)))
        if state == "noisy":
            for method in list(METHODS)[1:]:
                kept_weight = values(kept, kind, name, method, "kept")
                row[f"random weight, {method[9:]}"] = float(np.mean(kept_weight))
        rows.append(row)
    return rows


def claims(kept: Kept, sets: list[str]) -> list[Row]:
    """Count the sets on which weights are better, the same and worse.

    Over the sets that are the paper's own, and over all; the paper counts all.
    """
    plain, *weighted = METHODS
    own = set(originals(sets))
    rows: list[Row] = []
    for kind in KINDS:
        for state in STATES:
            table = {row["set"]: row for row in means(kept, kind, state, sets)}
            for method in (*weighted, "the better of both"):
                by_set = {
                    name: max(row[one] for one in (weighted if method not in METHODS else [method]))
                    - row[plain]
                    for name, row in table.items()
                }
                gains = list(by_set.values())
                of_own = [gain for name, gain in by_set.items() if name in own]
                rows.append(
                    {
                        "ensembles": kind,
                        "partitions": state,
                        "weights": method,
                        "originals: better": sum(gain > SAME for gain in of_own),
                        "originals: same": sum(abs(gain) <= SAME for gain in of_own),
                        "originals: worse": sum(gain < -SAME for gain in of_own),
                        "originals: mean gain": float(np.mean(of_own)) if of_own else None,
                        "better": sum(gain > SAME for gain in gains),
                        "same": sum(abs(gain) <= SAME for gain in gains),
                        "worse": sum(gain < -SAME for gain in gains),
                        "mean gain": float(np.mean(gains)),
                        "paper: better": {"k-means": 8, "mixed": 5}[kind]
                        if state == "clean" and method not in METHODS
                        else None,
                    }
                )
    return rows


def moved(kept: Kept, sets: list[str]) -> list[Row]:
    """Return how far 20 % random partitions move H of each method, in the mean over the sets."""
    rows: list[Row] = []
    for kind in KINDS:
        tables = [{row["set"]: row for row in means(kept, kind, state, sets)} for state in STATES]
        for method in ALL:
            changes = [tables[1][name][method] - tables[0][name][method] for name in sets]
            rows.append(
                {
                    "ensembles": kind,
                    "method": method,
                    "mean change": float(np.mean(changes)),
                    "mean distance": float(np.mean(np.abs(changes))),
                    "sets moved by more than .01": sum(abs(change) > 0.01 for change in changes),
                }
            )
    return rows


def draw(kept: Kept, sets: list[str], arguments: argparse.Namespace) -> None:
    """Draw the figures."""
    for state, number in (("clean", 2), ("noisy", 4)):
        figure, axes = plt.subplots(2, 1, figsize=(9, 7), layout="constrained", sharex=True)
        for ax, kind in zip(axes, KINDS, strict=True):
            found = {m: [values(kept, kind, name, m, state) for name in sets] for m in METHODS}
            bars(
                ax,
                sets,
                {m: [float(np.mean(each)) for each in of] for m, of in found.items()},
                {m: [float(np.std(each)) for each in of] for m, of in found.items()},
            )
            ax.set_ylabel("mean H, whiskers: one sd")
            ax.set_ylim(0, 1.05)
            ax.set_title(f"{kind} ensembles, {state}", fontsize=11)
        handles = axes[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper center", ncols=3, fontsize=9)
        save(figure, arguments.out, f"figure_{number}")


def draw_sets(sets: list[str], arguments: argparse.Namespace) -> None:
    """Draw Figure 1: the sets in the plane."""
    shown = [name for name in SYNTHETIC if name in sets]
    if not shown:
        return
    figure, axes = plt.subplots(
        1, len(shown), figsize=(2.6 * len(shown), 2.9), layout="constrained", squeeze=False
    )
    for ax, name in zip(axes[0], shown, strict=True):
        scatter(ax, *points(name), name)
    save(figure, arguments.out, "figure_1")


def draw_weights(name: str, arguments: argparse.Namespace) -> None:
    """Draw Figure 3: the co-association before and after the weighting of a noisy mixed ensemble, and the weights."""
    X, _ = points(name)
    labels = ensemble("mixed", name, X, arguments.seed, arguments.quick)
    spoilt, where = corrupt(labels, NOISE, random_state=arguments.seed, return_indices=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnsembleWarning)
        model = WeightedPCC(SETS[name].k, random_state=arguments.seed).fit(spoilt)
    m = spoilt.shape[1]
    plain, weighted = Ensemble(spoilt), Ensemble(spoilt, weights=m * model.weights_)
    order = vat_order(1.0 - coassociation(plain, normalize=True))
    figure, axes = plt.subplots(
        1, 3, figsize=(12, 4), width_ratios=(1, 1, 1.3), layout="constrained"
    )
    for ax, one, title in (
        (axes[0], plain, "without weights"),
        (axes[1], weighted, "with weights"),
    ):
        shares = np.asarray(coassociation(one), dtype=np.float64) / m
        image = ax.imshow(shares[np.ix_(order, order)], cmap="gray", vmin=0, vmax=1)
        ax.set_title(f"{name}, mixed, 20 % random: {title}", fontsize=9)
        ax.set_xlabel("objects, in VAT order")
    figure.colorbar(
        image, ax=axes[:2], label="share of the partitions that join a pair", shrink=0.8
    )
    random_ones = np.isin(np.arange(m), where)
    axes[2].bar(
        np.arange(m), model.weights_, color=["#E69F00" if r else "#1A1A1A" for r in random_ones]
    )
    low = -0.03 * model.weights_.max()
    axes[2].scatter(
        where, np.full(len(where), low), marker="^", color="#E69F00", s=18, label="random"
    )
    axes[2].axhline(1 / m, color="#666666", linestyle="--", linewidth=1, label="equal weights")
    axes[2].set_xlabel("partition")
    axes[2].set_ylabel("weight (WEIGHTED+rho)")
    axes[2].legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 1.13), ncols=2)
    save(figure, arguments.out, "figure_3")


def run(arguments: argparse.Namespace) -> None:
    few = arguments.quick
    sets = here(arguments.sets or (["iris", "wine"] if few else list(SETS)))
    seeds = 2 if few else ENSEMBLES
    kept = opened(arguments, "figures.json", {"few": few})
    wanted = {f"{kind}/{name}/{s}": [*ALL] for s in range(seeds) for kind in KINDS for name in sets}
    fill(kept, wanted, partial(measure, few=few), arguments.jobs)
    for kind in KINDS:
        for state in STATES:
            rows = means(kept, kind, state, sets)
            show(rows, f"Mean H over {seeds} {kind} ensembles, {state}")
            name = f"{kind.replace('-', '')}_{state}"
            write(rows, name, arguments, note=f"Mean H over {seeds} ensembles.")
    for rows, name, title in (
        (claims(kept, sets), "claims", "On how many sets weights are better (mean H)"),
        (moved(kept, sets), "moved", "How far 20 % random partitions move H"),
    ):
        show(rows, title)
        write(rows, name, arguments)
    draw(kept, sets, arguments)
    draw_sets(sets, arguments)
    draw_weights("iris" if few or "optdigits" not in sets else "optdigits", arguments)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, metavar="SET", help="all twelve")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
