"""Members fitted on a part of the objects: what the consensus loses.

python -m experiments.scale.fitted_on [--quick] [--sets mfeat ...] [--shares 0.05 0.2 1] [--draws 5]
    [--members 40] [--out FOLDER]

The members of an ensemble are fitted on 5, 20 or 100 % of the objects each (`EnsembleGenerator("kmeans", fit_on=...)`), on
a sample of their own, and label all objects. Numbers of clusters, seeds and starts are drawn alike. The consensus
is told the number of classes: `AutoConsensus`, and `PCC` (squared l2). Sets of at least 1,000 objects with columns
of numbers, columns scaled to [0, 1]. The known classes serve for scoring only.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust import PCC, AutoConsensus, Ensemble, EnsembleGenerator
from conclust.exceptions import EnsembleWarning
from conclust.metrics import normalized_mutual_information
from experiments.default.sets import Points, real
from experiments.output import Row, options, show, stopwatch, write

SETS = (
    "optdigits_1000",
    "standin_rings_1000",
    "yeast_uci",
    "isolet_1560",
    "steel_plates",
    "mfeat",
    "standin_image_1_complex8",
    "texture",
    "optdigits_5620",
    "pendigits",
    "usps_11000",
)
SHARES = (0.05, 0.2, 1.0)


def scores(points: Points, share: float, members: int, seed: int) -> tuple[dict[str, float], float]:
    """Return the NMI of each consensus, and the CPU seconds of the members."""
    generator = EnsembleGenerator(
        "kmeans",
        n_partitions=members,
        fit_on=round(share * len(points.X)),
        random_state=seed,
        n_jobs=1,
    )
    with stopwatch() as taken:
        ensemble = Ensemble(generator.fit_transform(points.X))
    found: dict[str, NDArray[Any]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnsembleWarning)  # members finer than the classes
        found["AutoConsensus"] = AutoConsensus(points.k, random_state=0).fit_predict(ensemble)
        pcc = PCC(points.k, divergence="l2", random_state=0, n_jobs=1)
        found["PCC"] = pcc.fit_predict(ensemble)
    return {
        name: normalized_mutual_information(points.y, labels) for name, labels in found.items()
    }, taken.cpu


def told(share: float) -> str:
    return f"{100 * share:g} %"


def rows_of(
    points: Points, shares: Sequence[float], draws: int, members: int, seed: int
) -> list[Row]:
    """Return a row a method: means over draws, and the standard error of what the least share loses."""
    results = {
        share: [scores(points, share, members, seed + draw) for draw in range(draws)]
        for share in shares
    }
    rows: list[Row] = []
    for method in ("AutoConsensus", "PCC"):
        nmi = {share: np.array([nmi[method] for nmi, _ in results[share]]) for share in shares}
        row: Row = {"set": points.name, "objects": len(points.X), "method": method}
        row |= {told(share): float(nmi[share].mean()) for share in shares}
        lost = nmi[shares[-1]] - nmi[shares[0]]
        row[f"{told(shares[0])} loses"] = float(lost.mean())
        row["+-"] = float(lost.std(ddof=1) / np.sqrt(draws)) if draws > 1 else None
        row |= {
            f"members {told(share)}, CPU s": float(np.mean([cpu for _, cpu in results[share]]))
            for share in shares
        }
        rows.append(row)
    return rows


def means(rows: list[Row], shares: Sequence[float]) -> list[Row]:
    """Return the mean over the sets, a row a method."""
    found: list[Row] = []
    for method in ("AutoConsensus", "PCC"):
        own = [row for row in rows if row["method"] == method]
        mean: Row = dict.fromkeys(rows[0])
        mean |= {"set": "mean of the sets", "objects": None, "method": method}
        for name in (*map(told, shares), f"{told(shares[0])} loses"):
            mean[name] = float(np.mean([row[name] for row in own]))
        found.append(mean)
    return found


def run(arguments: argparse.Namespace) -> None:
    names = tuple(arguments.sets or SETS)
    draws, members, shares = arguments.draws, arguments.members, arguments.shares
    if arguments.quick:
        names, draws, members = ("standin_rings_1000",), 2, 10
    formats = {
        f"members {told(share)}, CPU s": lambda x: "" if x is None else f"{x:.1f}"
        for share in shares
    }
    formats |= {name: lambda x: "" if x is None else f"{x:.3f}" for name in ("+-",)}
    formats |= {"objects": lambda x: "" if x is None else f"{x:,}"}
    rows: list[Row] = []
    for points in real(names):
        own = rows_of(points, shares, draws, members, arguments.seed)
        show(own, points.name, formats)
        rows += own
    rows += means(rows, shares)
    title = f"NMI, mean over {draws} draws of {members} members"
    show(rows, title, formats)
    write(
        rows,
        "fitted_on",
        arguments,
        formats,
        note=f"{title}; geometric mean of the entropies below.",
    )


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", help="data sets")
    parser.add_argument("--draws", type=int, default=5, help="ensembles of each share")
    parser.add_argument("--members", type=int, default=40, help="members of an ensemble")
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES, help="rising, up to 1")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
