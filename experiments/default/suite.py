"""What the default method, the number of clusters it finds and the default members are settled by.

python -m experiments.default.suite [--quick] [--groups blobs ...] [--ranges sqrt ...] [--out FOLDER]

Every set is clustered 100 times by k-means, with numbers of clusters drawn from a range:

- "before": 2 to min(50, max(10, cube root of n)), the default until November 2026;
- "sqrt": 2 to min(50, max(10, square root of n)), the default;
- "fine": the upper half of "sqrt".

and the members are combined by several methods, with the number of clusters told and not told. A table
line is the mean over the sets of a group: how often the number is right, the adjusted Rand index with
the known classes, and the same with the number told. k-means with the true number (best of ten
starts) stands beside it. The known classes serve for scoring only.

The constants of `conclust/consensus/auto/number.py` were settled on other seeds: blobs of
scikit-learn's seeds 0 and 1, clouds and shapes of NumPy's RandomState(0) to RandomState(2), and the
real sets. The seeds here had no part in that. The real sets did. The bound of the evenness (`_EVEN`) was settled
later, on spectral and mixed members of three feature sets and on blobs, clouds and shapes that ``sets.py`` makes, of
which no record says whether their seeds are these: to it the clouds and shapes here are not fresh.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import isqrt
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from conclust import (
    EAC,
    HBGF,
    LWEA,
    PCC,
    AutoConsensus,
    CumulativeVoting,
    Ensemble,
    EnsembleGenerator,
)
from conclust.metrics import adjusted_rand_index
from experiments.default.sets import Points, blobs, clouds, real, shapes, textbook
from experiments.output import Row, options, show, write

RANGES: dict[str, Callable[[int], range]] = {
    "before": lambda n: range(2, min(50, max(10, round(n ** (1 / 3)))) + 1),
    "sqrt": lambda n: range(2, min(50, max(10, isqrt(n))) + 1),
    "fine": lambda n: range(max(2, min(50, isqrt(n)) // 2), min(50, max(10, isqrt(n))) + 1),
}
GROUPS = ("textbook", "blobs", "clouds", "shapes", "real")
# Method -> how it is made from a number of clusters (None: not given), and whether it can find one.
METHODS: dict[str, tuple[Callable[[int | None], Any], bool]] = {
    "AutoConsensus": (lambda k: AutoConsensus(k, random_state=0), True),
    "EAC": (EAC, True),
    "EAC Ward": (lambda k: EAC(k, linkage="ward"), True),
    "PCC l2": (lambda k: PCC(k, divergence="l2", random_state=0), True),
    "LWEA": (LWEA, False),
    "HBGF": (lambda k: HBGF(k, random_state=0), False),
    "CumulativeVoting": (CumulativeVoting, False),
}


def sets(groups: Sequence[str], quick: bool) -> Iterator[tuple[int, Points]]:
    """Yield the sets of the groups asked for, each with its number among those of all groups."""
    if quick:
        made: dict[str, Callable[[], Iterator[Points]]] = {
            "textbook": lambda: textbook(1),
            "blobs": lambda: islice(blobs(1, (3,)), 2),
            "clouds": lambda: islice(clouds(1), 2),
            "shapes": lambda: islice(shapes(1), 2),
            "real": lambda: real(("iris",)),
        }
    else:
        made = {
            "textbook": lambda: textbook(20),
            "blobs": lambda: blobs(2, (1, 2, 3, 4, 5, 6, 8, 10, 12)),
            "clouds": lambda: clouds(5),
            "shapes": lambda: shapes(3),
            "real": real,
        }
    number = 0
    for group in GROUPS[: 1 + max(map(GROUPS.index, groups))]:
        for points in made[group]():
            if group in groups:
                yield number, points
            number += 1


def scores(points: Points, range_name: str, seed: int) -> Iterator[tuple[str, bool, float, float]]:
    """Yield method, whether the number was right, ARI, and ARI told; NaN where there is none."""
    generator = EnsembleGenerator(
        "kmeans", n_clusters=RANGES[range_name](len(points.X)), random_state=seed, n_jobs=-1
    )
    ensemble = Ensemble(generator.fit_transform(points.X))
    for name, (make, finds) in METHODS.items():
        told = adjusted_rand_index(points.y, make(points.k).fit(ensemble).labels_)
        if finds:
            model = make(None).fit(ensemble)
            right = model.n_clusters_ == points.k
            yield name, right, adjusted_rand_index(points.y, model.labels_), told
        else:
            yield name, False, float("nan"), told


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS)
    parser.add_argument(
        "--ranges", nargs="+", choices=RANGES, help="all; of the small version sqrt"
    )
    arguments: argparse.Namespace = parser.parse_args(argv)
    ranges = arguments.ranges or (["sqrt"] if arguments.quick else list(RANGES))
    found: dict[tuple[str, str, str], list[tuple[float, float, float]]] = defaultdict(list)
    lines: list[Row] = []
    for number, points in sets(arguments.groups, arguments.quick):
        seed = arguments.seed + number
        kmeans = KMeans(points.k, n_init=10, random_state=seed).fit(points.X)
        reference = adjusted_rand_index(points.y, kmeans.labels_)
        found[points.group, "-", "k-means, true K"].append((np.nan, np.nan, reference))
        for name in ranges:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                for method, right, ari, told in scores(points, name, seed):
                    found[points.group, name, method].append((right, ari, told))
                    if method == "AutoConsensus":
                        lines.append(
                            {
                                "set": points.name,
                                "range": name,
                                "K": points.k,
                                "right": right,
                                "ARI": ari,
                                "told": told,
                                "k-means": reference,
                            }
                        )
    rows: list[Row] = []
    for (group, name, method), values in found.items():
        right, ari, told = np.mean(values, axis=0)
        finds = METHODS.get(method, (None, False))[1]
        rows.append(
            {
                "group": group,
                "members": name,
                "method": method,
                "sets": len(values),
                "right": float(right) if finds else None,
                "ARI": float(ari) if finds else None,
                "ARI told": float(told),
            }
        )
    show(rows, "Number found, and adjusted Rand index with the known classes")
    write(rows, "suite", arguments)
    write(lines, "sets", arguments)


if __name__ == "__main__":
    main()
