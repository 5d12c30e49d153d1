"""How many graphs of landmarks members share: the NMI of what is made of them, and what they cost.

python -m experiments.usenc2020.graphs [--quick] [--sets mfeat ...] [--draws 6] [--out FOLDER]

Zhang, Hang, Sun, Nie, Wang and Li (Information Fusion 113, 2025) embed one graph of landmarks and take all members
from its leading columns (FSEC); in U-SENC (IEEE TKDE 32(6), 2020) each member has a graph of its own. Here 20
members share 1, 2 or 4 graphs or none, with our default range of numbers of clusters and with 20 to 60; the
methods are told the true number. "alike" is the mean NMI between two members. Columns are scaled to [0, 1].
The blobs are for the seconds: 16 features, 40 clusters that overlap.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.datasets import make_blobs

from conclust import HBGF, AutoConsensus, Ensemble, EnsembleGenerator
from conclust.datasets import load
from conclust.exceptions import EnsembleWarning
from conclust.generation import plan
from conclust.metrics import normalized_mutual_information, partition_similarities
from experiments.output import Row, options, show, stopwatch, write
from experiments.usenc2020.members import MEMBERS

SETS = ("mfeat", "pendigits", "optdigits_5620")
RANGES = {"default": None, "20-60": range(20, 61)}
GRAPHS = (None, 4, 2, 1)


def made(n_graphs: int | None, chosen: str, seed: int, jobs: int | None) -> EnsembleGenerator:
    plan.SHARED_GRAPHS = n_graphs or MEMBERS  # a constant of the library, not a parameter
    return EnsembleGenerator(
        "spectral",
        MEMBERS,
        n_clusters=RANGES[chosen],
        scale="minmax",
        random_state=seed,
        n_jobs=jobs,
    )


def scores(name: str, chosen: str, n_graphs: int | None, given: argparse.Namespace) -> Row:
    """Return means over draws of the members."""
    data = load(name)
    k = len(data.target_names)
    found, seconds = [], []
    for seed in range(given.seed, given.seed + given.draws):
        generator = made(n_graphs, chosen, seed, given.jobs)
        with stopwatch() as taken:
            ensemble = Ensemble(generator.fit_transform(data.X))
        seconds.append(taken.cpu)
        with warnings.catch_warnings():
            # That members are finer than the classes is the point.
            warnings.simplefilter("ignore", EnsembleWarning)
            labels = [
                AutoConsensus(k, random_state=seed).fit_predict(ensemble),
                HBGF(k, joint=False, random_state=seed).fit_predict(ensemble),
            ]
        of_each = [*labels, *ensemble.labels.T]
        nmi = [normalized_mutual_information(data.y, each) for each in of_each]
        alike = partition_similarities(ensemble)[np.triu_indices(MEMBERS, 1)].mean()
        found.append((*nmi[:2], np.mean(nmi[2:]), alike))
    means = np.mean(found, axis=0).tolist()
    columns = ("AutoConsensus", "USENC", "mean member", "alike")
    return {
        "set": name,
        "clusters": chosen,
        "graphs": n_graphs or MEMBERS,
        **dict(zip(columns, means, strict=True)),
        "members, CPU s": float(np.mean(seconds)),
    }


def cost(n: int, n_graphs: int | None, given: argparse.Namespace) -> Row:
    """Return the seconds that members of many points take, and that labelling the points again takes."""
    X, _ = make_blobs(n, 16, centers=40, cluster_std=3.0, random_state=given.seed)
    generator = made(n_graphs, "20-60", given.seed, given.jobs)
    with stopwatch() as fitted:
        generator.fit_transform(X)
    with stopwatch() as labelled:
        generator.transform(X)
    return {
        "points": n,
        "graphs": n_graphs or MEMBERS,
        "members, CPU s": fitted.cpu,
        "transform, CPU s": labelled.cpu,
    }


def run(arguments: argparse.Namespace) -> None:
    n = 100_000
    if arguments.quick:
        arguments.sets, arguments.draws, n = ["iris"], 1, 2_000
    seconds = [cost(n, n_graphs, arguments) for n_graphs in GRAPHS]
    show(seconds, "Seconds of 20 members of 20 to 60 clusters", {"points": ","})
    write(seconds, "graphs_seconds", arguments, {"points": ","})
    rows = [
        scores(name, chosen, n_graphs, arguments)
        for name in arguments.sets
        for chosen in (RANGES if not arguments.quick else ["default"])
        for n_graphs in GRAPHS
    ]
    formats = {"members, CPU s": ".2f"}
    show(rows, f"Mean NMI over {arguments.draws} draws of the members", formats)
    write(rows, "graphs", arguments, formats)
    for n_graphs in dict.fromkeys(row["graphs"] for row in rows):
        same = [row for row in rows if row["graphs"] == n_graphs]
        means = {m: np.mean([row[m] for row in same]) for m in ("AutoConsensus", "USENC")}
        print(f"{n_graphs} graphs: " + ", ".join(f"{m} {v:.3f}" for m, v in means.items()))


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, help="data sets")
    parser.add_argument("--draws", type=int, default=6, help="ensembles of each kind")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
