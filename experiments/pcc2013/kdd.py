"""KDD Cup 1999, Figures 5 and 6: 120,000 connections, 100 k-means partitions of random halves of them.

python -m experiments.pcc2013.kdd [--quick] [--out FOLDER]

Section 7.3 of the paper. It tells of 120,000 points of 3 classes with numerical features
standardised and categorical ones made numbers, 39 features in all, and of 100 k-means partitions
with 2 to 10 clusters, each on a random half of the points; it does not tell which points and
columns. Here: 40,000 at random of each of the three largest classes (smurf, neptune, normal); the
three text columns as whole numbers; the two columns that are constant in the whole file
(num_outbound_cmds, is_host_login) left out; all standardised.

The paper drew 0.25 per mille of the pairs and stopped after nK steps of its algorithm from a random membership; it took
13.8 s (l2) and 16.7 s (KL) on one core of a 2.8 GHz Pentium, in C. Its members' accuracy is .79; its consensus, ahead
of CSPA, is best at K = 3 and about as good for K above (Figure 5), and as good with fewer pairs, down to 0.08 per
mille (Figure 6). Here: as the paper ran it; the same pairs to convergence; all pairs (l2) and landmarks (KL), which is what
PCC does when nothing is said. H counts, for each member, the objects that it observed.

Results are kept in FOLDER/kdd.json as they come; a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import warnings
from functools import cache, partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from conclust import (
    CSPA,
    HBGF,
    LWGP,
    PCC,
    AutoConsensus,
    CumulativeVoting,
    Ensemble,
    EnsembleGenerator,
)
from conclust.datasets import load
from conclust.exceptions import EnsembleWarning
from conclust.metrics import adjusted_rand_index, consistency_index
from experiments.drawing import MARKERS, save
from experiments.kept import Kept, fill, opened
from experiments.output import Row, options, show, stopwatch, write

PAPER_SECONDS = {"l2": 13.8, "kl": 16.7}
PAPER_MEMBERS = 0.79
PAIRS = 15  # drawn by each object, 30 with those that draw it: 0.25 per mille of all
DRAWN = (1, 2, 3, 5, 8, 15, 30)  # Figure 6
BOUNDS = tuple(range(3, 11))
METHODS = {
    "PCC-l2, nK steps": {"divergence": "l2", "solver": "greedy", "pairs": PAIRS},
    "PCC-KL, nK steps": {"divergence": "kl", "solver": "greedy", "pairs": PAIRS},
    "PCC-l2, the same pairs": {"divergence": "l2", "pairs": PAIRS},
    "PCC-KL, the same pairs": {"divergence": "kl", "pairs": PAIRS},
    "PCC-l2, all pairs": {"divergence": "l2"},
    "PCC-KL, landmarks": {"divergence": "kl"},
    "CSPA": {},
    "HBGF": {},
    "LWGP": {},
    "lwcv": {},
    "AutoConsensus": {},
}
# Not the paper's: in the table alone.
LATER = ("HBGF", "LWGP", "lwcv", "AutoConsensus")
CLASSES = ("smurf", "neptune", "normal")
CONSTANT = ("num_outbound_cmds", "is_host_login")


def connections(per_class: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return the standardised features and the classes of a sample."""
    data = load("kdd99_10percent")
    rows = np.concatenate(
        [
            rng.choice(
                np.flatnonzero(data.y == data.target_names.index(name)), per_class, replace=False
            )
            for name in CLASSES
        ]
    )
    columns = [k for k, name in enumerate(data.feature_names) if name not in CONSTANT]
    X = data.X[np.ix_(rows, columns)]
    spread = X.std(axis=0)
    # A column that does not vary in the sample stays, as zeros.
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.repeat([0, 1, 2], per_class)


def partitions(X: Any, n_partitions: int, seed: int, jobs: int | None) -> Any:
    """Return the labels of k-means with 2 to 10 clusters on random halves of the points."""
    generator = EnsembleGenerator(
        "kmeans",
        n_partitions=n_partitions,
        n_clusters=range(2, 11),
        sample_fraction=0.5,
        init="random",
        random_state=seed,
        n_jobs=jobs,
    )
    return generator.fit_transform(X)


@cache
def made(per_class: int, n_partitions: int, seed: int, jobs: int | None) -> tuple[Ensemble, Any]:
    """Return the ensemble and the classes."""
    X, y = connections(per_class, np.random.default_rng(seed))
    return Ensemble(partitions(X, n_partitions, seed, jobs)), y


def model_of(method: str, k: int, pairs: int, seed: int, jobs: int | None) -> Any:
    """Return a method; `pairs`: how many each object draws where it draws some."""
    if method == "CSPA":
        return CSPA(k, pairs=pairs, random_state=seed, n_jobs=jobs)
    if method == "lwcv":
        return CumulativeVoting(k, scheme="lwcv")
    if method in LATER:
        return {"HBGF": HBGF, "LWGP": LWGP, "AutoConsensus": AutoConsensus}[method](
            k, random_state=seed
        )
    how: dict[str, Any] = dict(METHODS[method])
    if "pairs" in how:
        how["pairs"] = pairs
    if how.get("solver") == "greedy":
        # max_iter counts n steps.
        how |= {"init": "random", "n_init": 1, "max_iter": k}
    return PCC(k, random_state=seed, n_jobs=jobs, **how)


def measure(
    unit: str, names: list[str], per_class: int, n_partitions: int, seed: int, jobs: int | None
) -> dict[str, Any]:
    """Return the scores of methods with a bound and a number of pairs; "members": of the partitions."""
    ensemble, y = made(per_class, n_partitions, seed, jobs)
    found: dict[str, Any] = {}
    if unit == "members":
        return {
            name: [consistency_index(y, column) for column in ensemble.labels.T] for name in names
        }
    k, pairs = (int(word.split("=")[1]) for word in unit.split(", "))
    for method in names:
        model = model_of(method, k, pairs, seed, jobs)
        with warnings.catch_warnings(), stopwatch() as taken:
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", EnsembleWarning)
            labels = model.fit_predict(ensemble)
        found[method] = {
            "H": float(consistency_index(y, labels)),
            "ARI": float(adjusted_rand_index(y, labels)),
            "clusters": len(np.unique(labels)),
            "s": taken.wall,
            "CPU s": taken.cpu,
        }
    return found


def unit_of(k: int, pairs: int = PAIRS) -> str:
    """Return the key of a bound and a number of pairs."""
    return f"K={k}, pairs={pairs}"


def of_bounds(kept: Kept, bounds: list[int]) -> list[Row]:
    """Return a line for each method and bound."""
    return [
        {"method": method, "K": k, **kept.found[unit_of(k)][method]}
        | {"paper's s": PAPER_SECONDS["kl" if "KL" in method else "l2"] if "nK" in method else None}
        for method in METHODS
        for k in bounds
    ]


def of_pairs(kept: Kept, drawn: list[int], n: int) -> list[Row]:
    """Return a line for each share of the pairs: H of the methods that draw some, K = 3."""
    some = [method for method, how in METHODS.items() if "pairs" in how]
    return [
        {"pairs an object": pairs, "per mille": 2000.0 * pairs / (n - 1)}
        | {method: kept.found[unit_of(3, pairs)][method]["H"] for method in some}
        for pairs in drawn
    ]


def draw(kept: Kept, bounds: list[int], shares: list[Row], arguments: argparse.Namespace) -> None:
    """Draw Figures 5 and 6."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained", sharey=True)
    for at, method in enumerate(method for method in METHODS if method not in LATER):
        shade = str(0.6 * (at % 2))
        left.plot(
            bounds, [kept.found[unit_of(k)][method]["H"] for k in bounds], marker=MARKERS[at], color=shade,
            linestyle="-" if at < 2 else "--" if at < 4 else ":", label=method,
        )  # fmt: skip
        if "pairs" in METHODS[method]:
            right.plot(
                [row["per mille"] for row in shares], [row[method] for row in shares], marker=MARKERS[at],
                color=shade, linestyle="-" if at < 2 else "--", label=method,
            )  # fmt: skip
    members = float(np.mean(kept.found["members"]["H"]))
    for ax in (left, right):
        ax.axhline(members, color="#888888", linewidth=0.8, label="mean member")
        ax.set_ylim(0, 1.03)
        ax.legend(fontsize=8, loc="lower left")
    left.set_xlabel("K, at most so many clusters")
    left.set_ylabel("H")
    left.set_title("Figure 5", fontsize=11)
    right.set_xscale("log")
    right.set_xticks([row["per mille"] for row in shares])
    right.set_xticklabels([f"{row['per mille']:.2g}" for row in shares])
    right.minorticks_off()
    right.set_xlabel("share of the pairs, per mille (paper: as good down to 0.08)")
    right.set_title("Figure 6, K = 3", fontsize=11)
    save(figure, arguments.out, "figures_5_6")


def run(arguments: argparse.Namespace) -> None:
    per_class, n_partitions = (1_000, 20) if arguments.quick else (40_000, 100)
    bounds, drawn = ([3, 10], [2, 15]) if arguments.quick else (arguments.bounds, list(DRAWN))
    kept = opened(
        arguments,
        "kdd.json",
        {"per class": per_class, "partitions": n_partitions, "seed": arguments.seed},
    )
    some = [method for method, how in METHODS.items() if "pairs" in how]
    wanted = {"members": ["H"]} | {unit_of(k): [*METHODS] for k in bounds}
    for pairs in drawn:
        wanted.setdefault(unit_of(3, pairs), some)
    of_unit = partial(
        measure,
        per_class=per_class,
        n_partitions=n_partitions,
        seed=arguments.seed,
        jobs=arguments.jobs,
    )
    # One process: the methods have threads of their own, and all of them need the one ensemble.
    fill(kept, wanted, of_unit, 1)
    members = float(np.mean(kept.found["members"]["H"]))
    print(f"H of a member {members:.3f} on average (paper: {PAPER_MEMBERS})")
    rows = of_bounds(kept, bounds)
    formats = {"s": ".2f", "CPU s": ".2f", "paper's s": ".1f"}
    show(rows, "Figure 5: PCC on KDD Cup 1999", formats)
    write(
        rows,
        "figure_5",
        arguments,
        formats,
        f"Mean H of a member: {members:.3f} (paper: {PAPER_MEMBERS}).",
    )
    shares = of_pairs(kept, drawn, 3 * per_class)
    show(shares, "Figure 6: H by the share of the pairs, K = 3", {"per mille": ".3f"})
    write(shares, "figure_6", arguments, {"per mille": ".3f"})
    draw(kept, bounds, shares, arguments)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--bounds", type=int, nargs="+", default=list(BOUNDS), help="values of K")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
