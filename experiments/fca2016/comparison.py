"""FCA-Consensus on Gaussian clusters: its threshold, and how it compares.

python -m experiments.fca2016.comparison [--quick] [--dimensions 3] [--out FOLDER]

Section 4 of the paper: 300 points of spherical Gaussian clusters, the variance of each between 0.1
and 0.3, the coordinates of the centres from N(0, 0.7); 100 k-means partitions from random centres; the
adjusted Rand index with the clusters that were drawn, over 10 data sets with 10 runs each. The
paper's figures print no numbers; its statements about them are beside the tables.

What the paper leaves open, and what was chosen: "five-dimensional" and p = 3 contradict each other
(--dimensions, 5); 0.7 is read as a variance; clusters are of equal size, up to one point; each
k-means draws its k uniformly from the set given; objects are in random order, on which the method
depends. PCC and EAC are told the number of clusters (PCC as an upper bound), FCA-Consensus and
"EAC, lifetime" are not. More methods of the paper's comparison join METHODS as conclust has them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust import EAC, PCC, Ensemble, EnsembleGenerator, FCAConsensus
from conclust.datasets import gaussian_mixture
from conclust.metrics import adjusted_rand_index
from experiments.output import Row, options, show, stopwatch, write

Labels = NDArray[Any]

# true clusters, k of the members, what the paper concludes from its Figures 5 to 8
SETTINGS: tuple[tuple[int, Sequence[int], str], ...] = (
    (2, range(2, 6), "beats all"),
    (3, (2, 3), "beats almost all"),
    (5, (2, 5), "median"),
    (9, range(2, 10), "median"),
)
MEMBERS: tuple[Sequence[int], ...] = ((2,), range(2, 6), (5,), range(5, 10), (9,))
SIZES = (100, 300, 500, 1000)
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

METHODS: dict[str, Callable[[int, int], Any]] = {
    "FCA": lambda k, seed: FCAConsensus(0.5),
    "FCA, auto": lambda k, seed: FCAConsensus(),
    "FCA, by size": lambda k, seed: FCAConsensus(0.5, order="size"),
    "PCC": lambda k, seed: PCC(k, random_state=seed),
    "EAC": lambda k, seed: EAC(k),
    "EAC, lifetime": lambda k, seed: EAC(),
}


def draw(n: int, k: int, dimensions: int, seed: int) -> tuple[Labels, Labels]:
    """Draw a data set in random order."""
    rng = np.random.default_rng([seed, n, k])
    variances = rng.uniform(0.1, 0.3, k)
    data = gaussian_mixture(
        [n // k + (c < n % k) for c in range(k)],
        means=rng.normal(0, np.sqrt(0.7), (k, dimensions)),
        covariances=variances[:, None, None] * np.eye(dimensions),
        random_state=rng,
    )
    order = rng.permutation(n)
    return data.X[order], data.y[order]


@cache
def made(
    n: int,
    k: int,
    members: tuple[int, ...],
    dimensions: int,
    seed: int,
    jobs: int | None,
    few: bool,
) -> list[tuple[Ensemble, Labels]]:
    """Make the ensembles of all data sets and runs, each with the clusters that were drawn."""
    n_sets, n_runs = (1, 1) if few else (10, 10)
    found = []
    for s in range(n_sets):
        X, truth = draw(n, k, dimensions, seed + s)
        for run in range(n_runs):
            generator = EnsembleGenerator(
                "kmeans",
                100,
                n_clusters=members,
                random_state=np.random.SeedSequence([seed, s, run]),
                n_jobs=jobs,
            )
            found.append((Ensemble(generator.fit_transform(X)), truth))
    return found


def ensembles(
    n: int, k: int, members: Sequence[int], arguments: argparse.Namespace
) -> list[tuple[Ensemble, Labels]]:
    a = arguments
    return made(n, k, tuple(members), a.dimensions, a.seed, a.jobs, a.quick)


def compare(arguments: argparse.Namespace) -> None:
    """Print the adjusted Rand index of all methods, and how many clusters FCA-Consensus found."""
    rows: list[Row] = []
    for k, members, words in SETTINGS:
        scores: dict[str, list[float]] = {name: [] for name in ("mean member", *METHODS)}
        found, seconds = [], 0.0
        for run, (ensemble, truth) in enumerate(ensembles(300, k, members, arguments)):
            each = [adjusted_rand_index(truth, column) for column in ensemble.labels.T]
            scores["mean member"].append(float(np.mean(each)))
            for name, make in METHODS.items():
                model = make(k, run)
                with stopwatch() as taken:
                    model.fit(ensemble)
                scores[name].append(adjusted_rand_index(truth, model.labels_))
                if name == "FCA":
                    found.append(model.n_clusters_)
                    seconds += taken.cpu
        rows.append(
            {"clusters": k, "members' k": span(members)}
            | {name: float(np.mean(values)) for name, values in scores.items()}
            | {"FCA clusters": float(np.mean(found)), "FCA ms": 1e3 * seconds / len(found)}
            | {"the paper's FCA": words}
        )
    formats = {"FCA clusters": ".1f", "FCA ms": ".2f"}
    show(rows, "Figures 5 to 8: mean adjusted Rand index, 300 objects, 100 partitions", formats)
    write(rows, "comparison", arguments)


def by_threshold(
    what: str, cases: Sequence[tuple[int, int, Sequence[int]]], arguments: argparse.Namespace
) -> None:
    """Print the adjusted Rand index for every share of the votes that may be asked for."""
    rows: list[Row] = []
    for n, k, members in cases:
        table = [
            [
                adjusted_rand_index(truth, FCAConsensus(share).fit_predict(ensemble))
                for share in SHARES
            ]
            for ensemble, truth in ensembles(n, k, members, arguments)
        ]
        means = np.mean(table, axis=0)
        rows.append(
            {"objects": n, "clusters": k, "members' k": span(members)}
            | {f"{share:g}": float(mean) for share, mean in zip(SHARES, means, strict=True)}
            | {"best share": f"{SHARES[int(means.argmax())]:g}"}
        )
    show(rows, what)
    write(rows, what.split(":")[0].lower().replace(" ", "_"), arguments)


def span(members: Sequence[int]) -> str:
    if len(members) < 3:
        return ", ".join(map(str, members))
    return f"{members[0]} to {members[-1]}"


def run(arguments: argparse.Namespace) -> None:
    compare(arguments)
    by_threshold(
        "Figure 2: ARI by share of votes (paper: the best is not constant, and usually no majority)",
        [(300, k, members) for k, members, _ in SETTINGS],
        arguments,
    )
    by_threshold(
        "Figure 3: ARI by share of votes (paper: best where members have the true number of clusters)",
        [(300, 5, members) for members in MEMBERS],
        arguments,
    )
    by_threshold(
        "Figure 4: ARI by share of votes (paper: the more objects, the lower)",
        [(n, 3, (2, 3)) for n in (SIZES[:2] if arguments.quick else SIZES)],
        arguments,
    )


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--dimensions", type=int, default=5, help="of the points: 5 or 3")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
