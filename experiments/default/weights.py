"""Whether partitions should weigh by how certain their clusters are, and how steeply.

python -m experiments.default.weights [--quick] [--pools mfeat ...] [--draws 10] [--out FOLDER]

Ten partitions at a time are drawn of the ten published pools of the leaderboard, as there, and combined
into the true number of clusters by methods that take weights. Weights are powers of
`conclust.weighting.certainty_weights`: 0 (as given), 1, 2, 3. A table line is a method; for each power it
has the mean NMI (geometric) and the mean adjusted Rand index with the known classes, which serve for
scoring only.

The power of AutoConsensus, 2, was settled on five of the pools (steel_plates, caltech20, mnist, optdigits,
pendigits), beside powers 1, 1.5, 3 and 4 and thetas .25, .4, .6 and 1. The other five had no part in that.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from conclust import (
    EAC,
    ECPCS,
    HBGF,
    LWEA,
    LWGP,
    QMI,
    AutoConsensus,
    CumulativeVoting,
)
from conclust.datasets import available, load
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from conclust.weighting import certainty_weights
from experiments.leaderboard.pools import POOLS, PREFIX, SETTLED, draws, read
from experiments.output import Row, options, show, write

POWERS = (0, 1, 2, 3)
METHODS: dict[str, Callable[[int, int], Any]] = {
    "LWEA": lambda k, seed: LWEA(k),
    "LWEA (normalized)": lambda k, seed: LWEA(k, normalized=True),
    "EAC": lambda k, seed: EAC(k),
    "LWGP": lambda k, seed: LWGP(k, random_state=seed),
    "HBGF": lambda k, seed: HBGF(k, random_state=seed),
    "ECPCS": lambda k, seed: ECPCS(k, random_state=seed),
    "CumulativeVoting": lambda k, seed: CumulativeVoting(k),
    "QMI": lambda k, seed: QMI(k, random_state=seed),
}


def run(arguments: argparse.Namespace) -> None:
    here = [name for name in arguments.pools if PREFIX + name in available()]
    if not here:
        load(PREFIX + arguments.pools[0])  # says where it is published
    if arguments.quick:
        here, arguments.draws = here[:1], 1
    scores: dict[tuple[str, int | None, str], list[tuple[float, float]]] = {}
    for name in here:
        pool = read(name)
        for at, ensemble in enumerate(draws(pool, arguments.draws, arguments.seed)):
            certain = certainty_weights(ensemble)
            runs = [
                (method, power, make(pool.k, at), ensemble.reweighted(certain**power))
                for method, make in METHODS.items()
                for power in POWERS
            ]
            default = AutoConsensus(pool.k, random_state=at)
            for method, power, model, weighted in [
                *runs,
                ("AutoConsensus", None, default, ensemble),
            ]:
                labels = model.fit(weighted).labels_
                scores.setdefault((method, power, name), []).append(
                    (
                        normalized_mutual_information(pool.classes, labels),
                        adjusted_rand_index(pool.classes, labels),
                    )
                )
    rows: list[Row] = []
    for method in [*METHODS, "AutoConsensus"]:
        for power in POWERS if method in METHODS else (None,):
            row: Row = {"method": method, "power": "inside" if power is None else str(power)}
            for title, part in (
                ("all", here),
                ("settled on", [name for name in here if name in SETTLED]),
                ("the others", [name for name in here if name not in SETTLED]),
            ):
                of_each = [np.mean(scores[method, power, name], axis=0) for name in part]
                nmi, ari = np.mean(of_each, axis=0).tolist() if of_each else (None, None)
                row |= {f"NMI, {title}": nmi, f"ARI, {title}": ari}
            rows.append(row)
    show(rows, "Partitions weighted by powers of their certainty: means over the pools")
    write(rows, "weights", arguments)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--pools", nargs="+", choices=POOLS, default=list(POOLS), metavar="POOL")
    parser.add_argument("--draws", type=int, default=10, help="ensembles drawn from each pool")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
