"""Members of k-means, of spectral clustering on landmarks, and of both: the NMI of what is made of them.

python -m experiments.usenc2020.members [--quick] [--sets mfeat ...] [--draws 3] [--out FOLDER]

Huang, Wang, Wu, Lai and Kwoh (IEEE TKDE 32(6), 2020) combine 20 members by spectral clustering on landmarks
(U-SPEC), with 20 to 60 clusters, by the transfer cut (U-SENC: `HBGF(joint=False)`), and compare with others'
consensus of k-means members. Here every consensus is tried on members of each kind. "spectral 20-60" has
their range, the others our default. All methods are told the true number of clusters. "NMI max" has the
larger entropy below, as in their tables; PUBLISHED has their means for the real sets. TB, SF, CC and CG are
shapes after theirs, drawn anew by formulas of ours, so that no number of theirs belongs to them.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from conclust import EAC, HBGF, KCC, LWEA, PCC, CumulativeVoting, Ensemble, EnsembleGenerator
from conclust.datasets import Dataset, load, rings
from conclust.exceptions import EnsembleWarning, ScaleWarning
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from experiments.output import Row, options, show, stopwatch, write
from experiments.usenc2020.shapes import circles_and_gaussians, smiling_face, two_bananas

PUBLISHED = {("pendigits", "spectral 20-60", "U-SENC"): 0.8534}
MEMBERS = 20
KINDS: dict[str, dict[str, Any]] = {
    "kmeans": {"method": "kmeans", "n_partitions": MEMBERS, "init": "random"},
    "spectral": {"method": "spectral", "n_partitions": MEMBERS},
    "spectral 20-60": {
        "method": "spectral",
        "n_partitions": MEMBERS,
        "n_clusters": range(20, 61),
    },
    "both": {"method": ["kmeans", "spectral"], "n_partitions": 2 * MEMBERS, "init": "random"},
}
METHODS: dict[str, Callable[[int], Any]] = {
    "EAC": EAC,
    "LWEA": LWEA,
    "U-SENC": lambda k: HBGF(k, joint=False, random_state=0),
    "CumulativeVoting": CumulativeVoting,
    "PCC": lambda k: PCC(k, random_state=0),
    "KCC": lambda k: KCC(k, random_state=0),
}
SHAPES: dict[str, Callable[[int, int], Dataset]] = {
    "TB": lambda n, seed: two_bananas(n, random_state=seed),
    "SF": lambda n, seed: smiling_face(n, random_state=seed),
    "CC": lambda n, seed: rings((n // 6, n // 3, n // 2), noise=0.14, random_state=seed),
    "CG": lambda n, seed: circles_and_gaussians(n, random_state=seed),
}


def read(name: str, n: int, seed: int) -> Dataset:
    return SHAPES[name](n, seed) if name in SHAPES else load(name)


def scores(name: str, kind: str, draws: int, n: int, seed: int, jobs: int | None) -> list[Row]:
    """Return a row for each method: means over draws of the members."""
    found: dict[str, list[tuple[float, float, float]]] = {method: [] for method in METHODS}
    seconds = []
    for draw in range(seed, seed + draws):
        data = read(name, n, draw)
        generator = EnsembleGenerator(random_state=draw, n_jobs=jobs, **KINDS[kind])
        with stopwatch() as taken, warnings.catch_warnings():
            warnings.simplefilter("ignore", ScaleWarning)
            ensemble = Ensemble(generator.fit_transform(data.X))
        seconds.append(taken.cpu)
        for method, make in METHODS.items():
            with warnings.catch_warnings():
                # That members are finer than the classes is the point.
                warnings.simplefilter("ignore", EnsembleWarning)
                labels = make(len(data.target_names)).fit_predict(ensemble)
            found[method].append(
                (
                    normalized_mutual_information(data.y, labels),
                    normalized_mutual_information(data.y, labels, average="max"),
                    adjusted_rand_index(data.y, labels),
                )
            )
    rows: list[Row] = []
    for method, values in found.items():
        nmi, largest, ari = np.mean(values, axis=0)
        rows.append(
            {
                "set": name,
                "members": kind,
                "method": method,
                "NMI": float(nmi),
                "NMI max": float(largest),
                "published": PUBLISHED.get((name, kind, method)),
                "ARI": float(ari),
                "members, CPU s": float(np.mean(seconds)),
            }
        )
    return rows


def run(arguments: argparse.Namespace) -> None:
    sets, draws, n = arguments.sets, arguments.draws, arguments.n_samples
    if arguments.quick:
        sets, draws, n = sets or ["iris", "CC"], 1, 1200
    rows = [
        row
        for name in sets or ["mfeat", "pendigits", *SHAPES]
        for kind in KINDS
        for row in scores(name, kind, draws, n, arguments.seed, arguments.jobs)
    ]
    formats = {"published": lambda x: "" if x is None else f"{x:.3f}", "members, CPU s": ".1f"}
    show(rows, f"Mean over {draws} draws of the members", formats)
    write(rows, "members", arguments, formats)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", help=f"data sets, or shapes of {', '.join(SHAPES)}")
    parser.add_argument("--draws", type=int, default=3, help="ensembles of each kind")
    parser.add_argument("--n-samples", type=int, default=20_000, help="points of a shape")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
