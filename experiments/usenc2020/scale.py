"""Millions of points, from the points to U-SENC's consensus: NMI, CPU seconds, memory.

python -m experiments.usenc2020.scale [--quick] [--shapes TB-1M ...] [--share 0.1] [--out FOLDER]

Huang, Wang, Wu, Lai and Kwoh (IEEE TKDE 32(6), 2020) cluster planar shapes of one to ten million points by 20
members of spectral clustering on landmarks (1,000 landmarks, 5 nearest, 20 to 60 clusters) and the transfer
cut of their graph, told the true number. So here. Their shapes are known from a figure only: ours are like
them, drawn by formulas of `conclust.datasets`, so that the published NMI (over the larger entropy) is beside
ours and no more.

Each shape is clustered in a process of its own, whose largest resident memory is told: points, members and
consensus. CPU seconds are those of all its threads.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from conclust import HBGF, Ensemble, EnsembleGenerator
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from experiments.output import Row, options, show, stopwatch, write
from experiments.usenc2020.members import KINDS, SHAPES

SIZES = {"TB-1M": 1_000_000, "SF-2M": 2_000_000, "CC-5M": 5_000_000, "CG-10M": 10_000_000}
PUBLISHED = {"TB-1M": 0.9748, "SF-2M": 0.7702, "CC-5M": 0.9991, "CG-10M": 0.8957}
SECONDS = ("points", "members", "ensemble", "consensus")


def result(name: str, share: float, seed: int, jobs: int | None) -> Row:
    """Cluster a share of the points of a shape; return a line of the table."""
    n = round(share * SIZES[name])
    taken = {}
    with stopwatch() as taken["points"]:
        data = SHAPES[name[:2]](n, seed)
    generator = EnsembleGenerator(
        fit_on=len(data.X), random_state=seed, n_jobs=jobs, **KINDS["spectral 20-60"]
    )
    with stopwatch() as taken["members"]:
        members = generator.fit_transform(data.X)
    with stopwatch() as taken["ensemble"]:
        ensemble = Ensemble(members)
    del members
    with stopwatch() as taken["consensus"]:
        labels = HBGF(len(data.target_names), joint=False, random_state=seed).fit_predict(ensemble)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return {
        "shape": name,
        "points": n,
        "NMI": normalized_mutual_information(data.y, labels),
        "NMI max": normalized_mutual_information(data.y, labels, average="max"),
        "published": PUBLISHED[name],
        "ARI": adjusted_rand_index(data.y, labels),
        **{f"{part}, CPU s": taken[part].cpu for part in SECONDS},
        "all, CPU s": sum(taken[part].cpu for part in SECONDS[1:]),
        "memory, GB": peak,
    }


def run(arguments: argparse.Namespace) -> None:
    share = 0.002 if arguments.quick else arguments.share
    rows: list[Row] = []
    formats = {"points": ",", "memory, GB": ".2f"}
    formats |= {f"{part}, CPU s": ".1f" for part in (*SECONDS, "all")}
    spawning = multiprocessing.get_context("spawn")
    for name in arguments.shapes:
        with ProcessPoolExecutor(1, spawning) as alone:
            given = (name, share, arguments.seed, arguments.jobs)
            rows.append(alone.submit(result, *given).result())
        show(rows[-1:], name, formats)
        write(rows, "scale", arguments, formats)
    show(rows, "From points to U-SENC's consensus", formats)


def main(given: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--shapes", nargs="+", choices=SIZES, default=tuple(SIZES))
    parser.add_argument("--share", type=float, default=1.0, help="of the points of each shape")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
