"""What the default members should be: k-means, spectral clustering on landmarks, or both.

python -m experiments.default.members [--quick] [--sets mfeat ...] [--ranges sqrt ...] [--kinds kmeans ...]
    [--draws 3] [--out FOLDER]

Six sets of features, columns scaled to [0, 1], at most 1,500 objects of each (drawn anew with every ensemble).
The numbers of clusters of the members are drawn from a range:

- "sqrt": 2 to min(50, max(10, square root of n)), the default;
- "fine": the upper half of it.

Ensembles have 40 members, of one kind or in shares of several, and all methods combine the same ones: with the
number of clusters given, and with the number found. `AutoConsensus` finds it by itself; the others take what the
lifetime in the tree of EAC shows of the same ensemble. k-means with the true number (best of ten starts) is
beside them. The known classes serve for scoring only.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
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
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from experiments.default.sets import FEATURES, Points, real
from experiments.output import Row, options, show, stopwatch, write

RANGES: dict[str, Callable[[int], range]] = {
    "sqrt": lambda n: range(2, min(50, max(10, isqrt(n))) + 1),
    "fine": lambda n: range(max(2, min(50, isqrt(n)) // 2), min(50, max(10, isqrt(n))) + 1),
}
# Members of each method in an ensemble.
KINDS: dict[str, dict[str, int]] = {
    "kmeans": {"kmeans": 40},
    "spectral": {"spectral": 40},
    "both": {"kmeans": 20, "spectral": 20},
    "both, 3 : 1": {"kmeans": 30, "spectral": 10},
    "both, 1 : 3": {"kmeans": 10, "spectral": 30},
}
SEED_OF = {"kmeans": 0, "spectral": 1}
METHODS: dict[str, Callable[[int], Any]] = {
    "AutoConsensus": lambda k: AutoConsensus(k, random_state=0),
    "EAC": EAC,
    "LWEA normalized": lambda k: LWEA(k, normalized=True),
    "CumulativeVoting": CumulativeVoting,
    "HBGF": lambda k: HBGF(k, random_state=0),
    "PCC l2 matched": lambda k: PCC(
        k, divergence="l2", granularity="matched", random_state=0, n_jobs=1
    ),
}

Scores = tuple[float, float]
Result = tuple[Scores, Scores, int]


def judged(points: Points, labels: NDArray[Any]) -> Scores:
    """Return NMI (geometric) and ARI with the known classes."""
    return (
        normalized_mutual_information(points.y, labels),
        adjusted_rand_index(points.y, labels),
    )


def pools(
    points: Points, range_name: str, kinds: Sequence[str], seed: int
) -> dict[str, NDArray[Any]]:
    """Return the members by each method that the kinds are made of, and tell what they cost."""
    made = {}
    most: dict[str, int] = defaultdict(int)
    for kind in kinds:
        for name, count in KINDS[kind].items():
            most[name] = max(most[name], count)
    for method, count in most.items():
        generator = EnsembleGenerator(
            method,
            count,
            n_clusters=RANGES[range_name](len(points.X)),
            random_state=10 * seed + SEED_OF[method],
            n_jobs=1,
        )
        with stopwatch() as taken:
            made[method] = generator.fit_transform(points.X)
        print(
            f"{points.name}, {range_name}, {method}: {taken.cpu / count:.2f} CPU s a member",
            flush=True,
        )
    return made


def scores(
    points: Points, members: dict[str, NDArray[Any]], kind: str
) -> Iterator[tuple[str, Scores, Scores, int]]:
    """Yield method, scores with the number told and found, and the number found."""
    ensemble = Ensemble(
        np.hstack([members[name][:, :count] for name, count in KINDS[kind].items()])
    )
    shown = int(EAC().fit(ensemble).n_clusters_)
    for name, make in METHODS.items():
        told = judged(points, make(points.k).fit(ensemble).labels_)
        model = AutoConsensus(random_state=0) if name == "AutoConsensus" else make(shown)
        found = judged(points, model.fit(ensemble).labels_)
        yield name, told, found, int(model.n_clusters_)


def row(head: dict[str, Any], values: list[Result], kmeans: bool = False) -> Row:
    """Return the means over draws as a line of a table."""
    told = np.mean([each[0] for each in values], axis=0)
    found = None if kmeans else np.mean([each[1] for each in values], axis=0)
    return {
        **head,
        "NMI told": float(told[0]),
        "ARI told": float(told[1]),
        "NMI found": None if found is None else float(found[0]),
        "ARI found": None if found is None else float(found[1]),
        "K found": None if found is None else float(np.mean([each[2] for each in values])),
    }


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", default=FEATURES)
    parser.add_argument("--ranges", nargs="+", choices=RANGES, default=("sqrt", "fine"))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=tuple(KINDS)[:5])
    parser.add_argument("--draws", type=int, default=3, help="ensembles of each kind")
    parser.add_argument("--name", default="members", help="of the tables")
    arguments: argparse.Namespace = parser.parse_args(argv)
    if arguments.quick:
        arguments.sets, arguments.draws, arguments.ranges = ["iris"], 1, ["sqrt"]
    found: dict[tuple[str, str, str, str], list[Result]] = defaultdict(list)
    sets = list(real(tuple(arguments.sets)))
    for draw in range(arguments.draws):
        seed = arguments.seed + draw
        for whole in sets:
            points = whole.some(seed)
            labels = KMeans(points.k, n_init=10, random_state=seed).fit(points.X).labels_
            reference = judged(points, labels)
            found[points.name, "-", "-", "k-means, true K"].append((reference, reference, points.k))
            for name in arguments.ranges:
                with warnings.catch_warnings():
                    # Members are finer than the classes.
                    warnings.simplefilter("ignore", UserWarning)
                    members = pools(points, name, arguments.kinds, seed)
                    for kind in arguments.kinds:
                        for method, *result in scores(points, members, kind):
                            found[points.name, name, kind, method].append(tuple(result))
        tell(found, arguments, draw + 1)  # so that little is lost if a long run is cut short


def tell(
    found: dict[tuple[str, str, str, str], list[Result]], arguments: argparse.Namespace, draws: int
) -> None:
    """Show and write the means over the draws so far, of each set and of all."""
    of_sets: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
    lines: list[Row] = []
    for (set_name, range_name, kind, method), values in found.items():
        head = {"set": set_name, "K drawn": range_name, "members": kind, "method": method}
        lines.append(row(head, values, range_name == "-"))
        of_sets[range_name, kind, method] += values
    rows = [
        row({"K drawn": key[0], "members": key[1], "method": key[2]}, values, key[0] == "-")
        for key, values in of_sets.items()
    ]
    formats = {"K found": lambda x: "-" if x is None else f"{x:.1f}"}
    told = f"Means over {len(arguments.sets)} sets, draws: {draws}."
    arguments = argparse.Namespace(**{**vars(arguments), "draws": draws})
    show(rows, told, formats)
    write(rows, arguments.name, arguments, formats, told)
    write(lines, f"{arguments.name}_sets", arguments, formats, told)


if __name__ == "__main__":
    main()
