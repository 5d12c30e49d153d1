"""Figures 2 to 8: FCA-Consensus on Gaussian clusters, its threshold, and how it compares.

python -m experiments.fca2016.figures [--quick] [--readings 5/variance ...] [--out FOLDER]

Section 4 of the paper: 300 objects of spherical Gaussian clusters, 100 k-means partitions from random centres, the
adjusted Rand index with the clusters that were drawn, over 10 data sets with 10 runs each. Its figures print no
numbers; what it says of them is counted beside the tables. What the paper leaves open, and what was chosen, is in
``settings.py``: four readings of its data.

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

from conclust import Ensemble, EnsembleGenerator, FCAConsensus
from conclust.datasets import gaussian_mixture
from conclust.exceptions import EnsembleWarning
from conclust.metrics import adjusted_rand_index
from experiments.drawing import GREYS, MARKERS, bars, save
from experiments.fca2016.settings import (
    COMPARED,
    MEMBERS,
    METHODS,
    PARTITIONS,
    READINGS,
    RUNS,
    SAID,
    SETS,
    SHARES,
    SIZES,
)
from experiments.kept import Kept, fill, opened
from experiments.output import Row, options, show, write

__all__ = ["NAMES", "by_set", "claims", "draw_points", "means", "rank_of", "whole"]

PAPERS = tuple(METHODS)[:9]
NAMES = tuple(f"{d}/{spread}" for d, spread in READINGS)
_VOTES = tuple(f"share {share:g}" for share in SHARES)


def draw_points(
    n: int, k: int, dimensions: int, spread: str, seed: int
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Draw a data set in random order."""
    rng = np.random.default_rng([seed, n, k])
    square = spread == "deviation"
    widths = rng.uniform(0.1, 0.3, k) ** (2 if square else 1)
    data = gaussian_mixture(
        [n // k + (c < n % k) for c in range(k)],
        means=rng.normal(0, 0.7 if square else np.sqrt(0.7), (k, dimensions)),
        covariances=widths[:, None, None] * np.eye(dimensions),
        random_state=rng,
    )
    order = rng.permutation(n)
    return data.X[order], data.y[order]


def case(n: int, k: int, members: tuple[int, ...]) -> str:
    """Return the name of a case: objects, true clusters, the members' numbers."""
    return f"{n} objects, {k} clusters, k of {','.join(map(str, members))}"


def measure(unit: str, names: list[str], runs: int) -> dict[str, Any]:
    """Return the adjusted Rand index of thresholds and methods in each run on a data set."""
    dimensions, spread, words, number = unit.split("/")
    n, k, members = _read(words)
    X, truth = draw_points(n, k, int(dimensions), spread, int(number))
    found: dict[str, list[float]] = {name: [] for name in names}
    for run in range(runs):
        generator = EnsembleGenerator(
            "kmeans",
            PARTITIONS,
            n_clusters=members,
            init="random",
            random_state=np.random.SeedSequence([int(number), run]),
        )
        ensemble = Ensemble(generator.fit_transform(X))
        for name in names:
            model = (
                FCAConsensus(SHARES[_VOTES.index(name)])
                if name in _VOTES
                else METHODS[name](k, run)
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EnsembleWarning)
                labels = model.fit_predict(ensemble)
            found[name].append(float(adjusted_rand_index(truth, labels)))
    return dict(found)


def _read(words: str) -> tuple[int, int, tuple[int, ...]]:
    n, k, members = (
        part.split()[-1] if "of" in part else part.split()[0] for part in words.split(", ")
    )
    return int(n), int(k), tuple(map(int, members.split(",")))


def cases() -> dict[str, list[str]]:
    """Return all cases, with the names that each is to have a result of."""
    wanted = {case(300, k, members): [*_VOTES, *METHODS] for k, members in COMPARED}
    for members in MEMBERS:
        wanted.setdefault(case(300, 5, members), [*_VOTES])
    for n in SIZES:
        wanted.setdefault(case(n, 3, (2, 3)), [*_VOTES])
    return wanted


def mean(kept: Kept, reading: str, words: str, name: str) -> float:
    """Return the mean over data sets and runs."""
    prefix = f"{reading}/{words}/"
    return float(
        np.mean([found[name] for key, found in kept.found.items() if key.startswith(prefix)])
    )


def means(kept: Kept, reading: str) -> list[Row]:
    """Return a line for each number of clusters: the mean of all methods."""
    rows: list[Row] = []
    for k, members in COMPARED:
        words = case(300, k, members)
        values = {name: mean(kept, reading, words, name) for name in METHODS}
        best = max(mean(kept, reading, words, name) for name in _VOTES)
        rows.append({"clusters": k, "members' k": span(members), **values, "FCA, best share": best})
    return rows


def rank_of(row: Row, name: str) -> int:
    """Return the place of FCA-Consensus among the paper's nine methods: 1 is the best."""
    return 1 + sum(row[other] > row[name] + 0.005 for other in PAPERS[1:])


def claims(kept: Kept, readings: list[str]) -> list[Row]:
    """Return where FCA-Consensus stands among the paper's nine, beside what the paper says."""
    return [
        {
            "reading": reading,
            "clusters": row["clusters"],
            "place, half of the votes": rank_of(row, "FCA-Consensus"),
            "place, best share": rank_of(row, "FCA, best share"),
            "of": len(PAPERS),
            "paper": SAID[row["clusters"]],
        }
        for reading in readings
        for row in means(kept, reading)
    ]


def by_share(kept: Kept, reading: str, words: list[str]) -> list[Row]:
    """Return a line for each case: the mean for every share of the votes that may be asked for."""
    rows: list[Row] = []
    for one in words:
        values = [mean(kept, reading, one, name) for name in _VOTES]
        shares = {f"{share:g}": value for share, value in zip(SHARES, values, strict=True)}
        rows.append({"case": one, **shares, "best share": f"{SHARES[int(np.argmax(values))]:g}"})
    return rows


def of_set(kept: Kept, reading: str, words: str, number: int, name: str) -> list[float]:
    """Return the runs on one data set."""
    return list(kept.found[f"{reading}/{words}/{number}"][name])


def numbers_of(kept: Kept, reading: str, words: str) -> list[int]:
    """Return which data sets of a case there are."""
    prefix = f"{reading}/{words}/"
    return sorted(int(key.removeprefix(prefix)) for key in kept.found if key.startswith(prefix))


def best_share(kept: Kept, reading: str, words: str) -> str:
    """Return the share of the votes with the best mean."""
    return max(_VOTES, key=lambda name: mean(kept, reading, words, name))


def by_set(kept: Kept, reading: str) -> list[Row]:
    """Return a line for each number of clusters and data set: the means over the runs, as Figures 5 to 8 draw them."""
    rows: list[Row] = []
    for k, members in COMPARED:
        words = case(300, k, members)
        best = best_share(kept, reading, words)
        for number in numbers_of(kept, reading, words):
            of = {
                name: float(np.mean(of_set(kept, reading, words, number, name))) for name in PAPERS
            }
            share = float(np.mean(of_set(kept, reading, words, number, best)))
            rows.append({"clusters": k, "data set": number + 1, **of, "FCA, best share": share})
    return rows


def whole(kept: Kept, readings: list[str]) -> list[Row]:
    """Count the data sets whose clusters are found without a fault (ARI 1) in all runs."""
    rows: list[Row] = []
    for reading in readings:
        for k, members in COMPARED:
            words = case(300, k, members)
            sets = numbers_of(kept, reading, words)

            def perfect(name: str, words: str = words, reading: str = reading) -> int:
                return sum(
                    min(of_set(kept, reading, words, number, name)) >= 1.0
                    for number in numbers_of(kept, reading, words)
                )

            rows.append(
                {
                    "reading": reading,
                    "clusters": k,
                    "best share": perfect(best_share(kept, reading, words)),
                    "half of the votes": perfect("FCA-Consensus"),
                    **{name: perfect(name) for name in PAPERS[1:]},
                    "data sets": len(sets),
                }
            )
    return rows


def span(members: tuple[int, ...]) -> str:
    """Return numbers of clusters in words."""
    if len(members) < 3:
        return ", ".join(map(str, members))
    return f"{members[0]} to {members[-1]}"


def curves() -> dict[str, list[str]]:
    """Return the cases of Figures 2, 3 and 4."""
    return {
        "figure_2": [case(300, k, members) for k, members in COMPARED],
        "figure_3": [case(300, 5, members) for members in MEMBERS],
        "figure_4": [case(n, 3, (2, 3)) for n in SIZES],
    }


def draw(kept: Kept, reading: str, arguments: argparse.Namespace) -> None:
    """Draw Figures 2 to 4 as curves, and 5 to 8 as bars."""
    name = reading.replace("/", "_")
    figure, axes = plt.subplots(1, 3, figsize=(15, 5.6), layout="constrained", sharey=True)
    for ax, (number, words) in zip(axes, curves().items(), strict=True):
        for at, one in enumerate(words):
            values = [mean(kept, reading, one, vote) for vote in _VOTES]
            ax.plot(SHARES, values, marker=MARKERS[at], color=str(0.15 * at), label=one, ms=4, lw=1)
        ax.set_title(f"{number.replace('_', ' ').capitalize()}", fontsize=10)
        ax.set_xlabel("share of the votes asked for")
        ax.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    axes[0].set_ylabel("mean adjusted Rand index")
    save(figure, arguments.out, f"figures_2_3_4_{name}")
    rows = means(kept, reading)
    draw_sets(kept, reading, arguments)
    figure, ax = plt.subplots(figsize=(11, 4.6), layout="constrained")
    shown = [*PAPERS, "FCA, best share"]
    bars(
        ax,
        shown,
        {f"{row['clusters']} clusters": [row[method] for method in shown] for row in rows},
    )
    ax.set_ylabel("mean adjusted Rand index")
    ax.set_title(f"Figures 5 to 8: 300 objects, 100 partitions ({reading})", fontsize=11)
    ax.legend(fontsize=8, ncols=len(GREYS))
    ax.set_ylim(0, 1.15)
    save(figure, arguments.out, f"figures_5_to_8_{name}")


def draw_sets(kept: Kept, reading: str, arguments: argparse.Namespace) -> None:
    """Draw Figures 5 to 8 as the paper does: each data set by itself, in order of FCA-Consensus."""
    rows = by_set(kept, reading)
    figure, axes = plt.subplots(2, 2, figsize=(13, 8.4), layout="constrained", sharey=True)
    shown = [name for name in PAPERS if name != "FCA-Consensus"]
    for ax, (number, (k, _)) in zip(axes.flat, enumerate(COMPARED, 5), strict=False):
        of = sorted(
            (row for row in rows if row["clusters"] == k), key=lambda row: -row["FCA, best share"]
        )
        at = np.arange(len(of))
        for method, marker in zip(shown, (*MARKERS, "x", "+", "1"), strict=False):
            ax.plot(at, [row[method] for row in of], marker, ms=5, color="0.55", label=method)
        ax.plot(
            at,
            [row["FCA, best share"] for row in of],
            "o-",
            color="black",
            ms=6,
            label="FCA, best share",
        )
        ax.set_xticks(at, [str(row["data set"]) for row in of])
        ax.set_title(f"Figure {number}: {k} clusters", fontsize=10)
        ax.set_xlabel("data set")
    axes[0, 0].set_ylabel("mean adjusted Rand index of 10 runs")
    axes[1, 0].set_ylabel("mean adjusted Rand index of 10 runs")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=9)
    save(figure, arguments.out, f"figures_5_to_8_{reading.replace('/', '_')}_sets")


def run(arguments: argparse.Namespace) -> None:
    n_sets, runs = (1, 1) if arguments.quick else (arguments.sets, RUNS)
    readings = arguments.readings or ([NAMES[0]] if arguments.quick else list(NAMES))
    kept = opened(arguments, "figures.json", {"runs": runs})
    wanted = {
        f"{reading}/{words}/{number}": names
        for reading in readings
        for number in range(n_sets)
        for words, names in cases().items()
    }
    fill(kept, wanted, partial(measure, runs=runs), arguments.jobs)
    for reading in readings:
        name = reading.replace("/", "_")
        rows = means(kept, reading)
        show(rows, f"Figures 5 to 8: mean adjusted Rand index, {reading}")
        write(rows, f"figures_5_to_8_{name}", arguments)
        write(by_set(kept, reading), f"figures_5_to_8_{name}_sets", arguments)
        for number, words in curves().items():
            rows = by_share(kept, reading, words)
            show(rows, f"{number}: mean adjusted Rand index by share of the votes, {reading}")
            write(rows, f"{number}_{name}", arguments)
        draw(kept, reading, arguments)
    rows = claims(kept, readings)
    show(rows, "The place of FCA-Consensus among the paper's nine methods")
    write(rows, "claims", arguments)
    rows = whole(kept, readings)
    show(rows, "Data sets whose clusters are found without a fault in all runs")
    write(rows, "whole", arguments)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument(
        "--readings", nargs="+", choices=NAMES, metavar="FEATURES/SPREAD", help="all four"
    )
    parser.add_argument("--sets", type=int, default=SETS, help="data sets of each case")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
