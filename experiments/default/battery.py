"""The default on points: classic, generated and published sets, beside others, and the rent of each part.

python -m experiments.default.battery [--seeds 300 301 302 303 304] [--groups classic shapes ...] [--published COPY ...]
    [--most 11000] [--share .3] [--rent] [--quick] [--jobs 2] [--out FOLDER]

`ConsensusClustering(random_state=seed)` is fitted to each set of `sets.py` by each seed, told nothing and told the number of
classes; generated groups are drawn by the first seed, and so is a share of the sets of each group (--share). A score is the
adjusted Rand index with the classes, of several divisions with the one that suits best, noise left out; of sets with one
class, 1 if one cluster is found, and else 0. "agree" is the mean adjusted Rand index between the answers of two seeds,
"least" its value on the set where seeds agree least. For comparison, once per set and in the scale that the default
chooses: k-means told the number (ten starts), HDBSCAN with scikit-learn's defaults, its noise a cluster or placed in the
cluster of the nearest clustered point, PLSCAN with its noise placed (where the package fast-plscan is installed), Leiden at
resolution 1 on the graph of 15 neighbours, and the Gaussian mixture of the lowest BIC (1 to 10 components, full and tied
covariances, of more than 50 columns in their leading components).

With ``--rent``, the default decides without each of its rules, and with each constant at a value at which it does nothing, or
at other values. Members and trees are made once per set and seed. A run that was stopped goes on where it was (--out).
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from math import ceil
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from conclust import ConsensusClustering, EnsembleGenerator, pipeline
from conclust.generation.scaling import fitted_scaling
from conclust.metrics import adjusted_rand_index
from conclust.neighbours import neighbour_graph
from conclust.neighbours.graph import CommunityGraph
from conclust.number import borders, centers, decision, halves
from experiments.default.sets import (
    FOLDERS,
    GROUPS,
    MOST_OBJECTS,
    Points,
    large,
    missing,
    published,
)
from experiments.kept import fill, opened
from experiments.output import Row, options, show, stopwatch, write

__all__ = ["main"]

# Seeds that nothing was settled on.
CONFIRMING = (300, 301, 302, 303, 304)
OTHERS = ("k-means, told", "HDBSCAN", "HDBSCAN, placed", "PLSCAN, placed", "Leiden", "mixture")
_CHANGE = 0.01
_NEIGHBOURS, _COMPONENTS, _MOST_COLUMNS = 15, 10, 50


def _by_emptier(some: Any, others: Any) -> tuple[float, float, float]:
    near, *in_middles = borders.counts_on_sides(some, others)
    return near, min(in_middles), min(in_middles)


def _of_one_run(
    points: Any, n_clusters: int, seed: int, _: int, run: Any = centers._kmeans_labels
) -> Any:
    return run(points, n_clusters, seed, 1)


# What replaces each part of the default, and each constant of `conclust.number.constants`.
RULES: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "halves": ((decision, "divide_by_halves", lambda *_: (None, {})),),
    "mean of both middles in halves (the emptier)": (
        (halves, "counts_on_sides", _by_emptier),
        (decision.Found, "score_as_of_halves", decision.Found.score),
    ),
    "symmetric columns": ((halves, "made_symmetric", lambda points: points),),
    "best of eight runs of k-means (one)": ((centers, "_kmeans_labels", _of_one_run),),
    "sum over pieces": (
        (decision, "evidence_of_pieces", lambda *given: np.full(len(given[2].joined), -np.inf)),
    ),
    "dividing clusters further": ((decision, "_divided_further", lambda _, answer, *__: answer),),
    "whitening": ((borders, "_whitened", lambda points, pieces: points),),
}
CONSTANTS: dict[str, dict[str, Any]] = {
    "COST": {"0": 0.0, "6": 6.0},
    "CLEAR": {"0": 0.0},
    "WITH_BORDER": {".3": (np.array([0.3]), np.ones(1))},
    "WITHOUT_BORDER": {"1": (np.ones(1), np.ones(1))},
    "BAND": {".25": 0.25, "1": 1.0},
    "ALONG_PATHS": {"no limit": np.inf},
    "NEIGHBOURS": {"5": 5, "20": 20},
    "OBJECTS_A_PLACE": {"1": 1},
    "SMALLEST": {"2": 2},
    "MOST": {"no limit": 10**9},
    "MOST_OBJECTS": {"1,000": 1_000},
    "HALVINGS": {"1": 1, "4": 4},
    "LARGEST_HALVED": {"no limit": 10**9},
    "LESS_TORN": {"1": 1.0},
}
PARTS = (
    {"nothing": ()}
    | RULES
    | {
        f"{name} ({said})": tuple(
            (module, name, value)
            for module in (borders, centers, decision, halves)
            if hasattr(module, name)
        )
        for name, values in CONSTANTS.items()
        for said, value in values.items()
    }
)
# What the answer to a given number depends on most: these are told the number, too.
OF_GIVEN = ("nothing", "LESS_TORN", "NEIGHBOURS", "HALVINGS", "best of eight")


@contextmanager
def without(part: str) -> Iterator[None]:
    """Leave a part of the default out."""
    with ExitStack() as stack:
        for one in PARTS[part]:
            stack.enter_context(patch.object(*one))
        yield


def agreement(answers: Sequence[NDArray[Any]]) -> float:
    """Return the mean adjusted Rand index between two answers."""
    pairs = itertools.combinations(answers, 2)
    return float(np.mean([adjusted_rand_index(*pair) for pair in pairs] or [1.0]))


def model_of(seed: int, folder: str, n_clusters: int | None = None) -> ConsensusClustering:
    """Return the default; members that were made are kept in a folder."""
    generator = EnsembleGenerator(cache_dir=folder)
    return ConsensusClustering(n_clusters=n_clusters, generator=generator, random_state=seed)


def scored(points: Points, seeds: Sequence[int]) -> Row:
    """Return what the default and the others reach on a set."""
    with tempfile.TemporaryDirectory() as folder:
        with stopwatch() as taken:
            found = [model_of(seed, folder).fit_predict(points.X) for seed in seeds]
        told = [
            [model_of(seed, folder, k).fit_predict(points.X) for seed in seeds]
            for k in points.numbers
            if k > 1
        ]
    row: Row = {
        "found": [points.score(labels) for labels in found],
        "agree": agreement(found) if len(seeds) > 1 else None,
        "CPU s": taken.cpu / len(seeds),
    }
    if told:
        by_number = np.array([[points.score(labels) for labels in answers] for answers in told])
        row["told"] = float(by_number.max(axis=0).mean())
        if len(seeds) > 1:
            row["told agree"] = float(np.mean([agreement(answers) for answers in told]))
    return row | beside(points)


def beside(points: Points) -> Row:
    """Return what others reach on a set."""
    scaler = fitted_scaling("auto", [points.X]).scaler
    X = points.X if scaler is None else scaler.transform(points.X)
    row: Row = {}
    if points.numbers[-1] > 1:
        row["k-means, told"] = max(
            points.score(KMeans(k, n_init=10, random_state=0).fit_predict(X))
            for k in points.numbers
        )
    dense = HDBSCAN(copy=True).fit_predict(X)
    row["HDBSCAN"] = points.score(dense + 1)
    row["HDBSCAN, placed"] = points.score(placed(X, dense))
    if find_spec("fast_plscan"):
        from fast_plscan import PLSCAN

        row["PLSCAN, placed"] = points.score(placed(X, PLSCAN().fit(X).labels_))
    graph = neighbour_graph(X, _NEIGHBOURS)
    ties = CommunityGraph.of(
        graph.starts, graph.ends, graph.weights, graph.rows.masses, "modularity"
    )
    row["Leiden"] = points.score(ties.communities(1.0, 0)[0][graph.rows.inverse])
    if X.shape[1] > _MOST_COLUMNS:
        X = PCA(min(_MOST_COLUMNS, len(X) - 1), random_state=0).fit_transform(X)
    X = X / X.std()  # the ridge of scikit-learn is absolute
    mixtures = [
        GaussianMixture(k, covariance_type=shape, random_state=0).fit(X)
        for k in range(1, _COMPONENTS + 1)
        for shape in ("full", "tied")
    ]
    row["mixture"] = points.score(min(mixtures, key=lambda mixture: mixture.bic(X)).predict(X))
    return row


def placed(X: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Return the clusters, noise (-1) in the cluster of the nearest clustered point; one cluster, if all are noise."""
    seen = labels >= 0
    if not seen.any():
        return np.zeros_like(labels)
    return np.asarray(KNeighborsClassifier(1).fit(X[seen], labels[seen]).predict(X))


def decision_of(X: NDArray[Any], seed: int) -> Callable[..., NDArray[Any]]:
    """Return what decides the clusters of points, of a number or told nothing, by the trees that the default grows."""
    seen: list[Any] = []
    decide = pipeline.decide_by_points

    def keep(points: Any, trees: Any, *given: Any, **options: Any) -> Any:
        seen[:] = points, trees
        return decide(points, trees, *given, **options)

    with patch.object(pipeline, "decide_by_points", keep):
        ConsensusClustering(random_state=seed).fit(X)
    objects = seen[1].objects  # repeated points are not in the trees
    nearest = (
        NearestNeighbors(n_neighbors=1).fit(X[objects]).kneighbors(X, return_distance=False)[:, 0]
    )

    def labels(n_clusters: int | None = None) -> NDArray[Any]:
        with ExitStack() as stack:
            if n_clusters is None:  # the labels of other numbers are not needed
                stack.enter_context(
                    patch.object(decision, "_cut_into", lambda *given: decision.Shown(given[3]))
                )
            found = decide(*seen, n_clusters).decision.labels
        return np.zeros(len(X), dtype=np.int64) if found is None else found[nearest]

    return labels


def rent_of(points: Points, seeds: Sequence[int]) -> Row:
    """Return for each part what the default reaches without it; the members and trees of a seed are made once."""
    decisions = [decision_of(points.X, seed) for seed in seeds]
    row: Row = {}
    for part in PARTS:
        line: Row = {}
        with without(part):
            for told in ("", "told ") if part.startswith(OF_GIVEN) else ("",):
                numbers = [k for k in points.numbers if k > 1] if told else [None]
                with stopwatch() as taken:
                    answers = [[decide(k) for decide in decisions] for k in numbers]
                if answers:
                    scores = [[points.score(labels) for labels in some] for some in answers]
                    line[f"{told}found"] = np.max(scores, axis=0)
                    line[f"{told}agree"] = np.mean([agreement(some) for some in answers])
                    line[f"{told}CPU s"] = taken.cpu / len(seeds)
        row[part] = line
    return row


def sets_of(
    group: str,
    seed: int,
    copies: Sequence[str],
    name: str | None = None,
    most: int = MOST_OBJECTS,
) -> Iterator[Points]:
    """Yield the sets of a group, or one of them."""
    if group in GROUPS:
        yield from (each for each in GROUPS[group](seed) if name in (None, each.name))
    else:
        yield from published(copies, group, name, most)


def _measured(
    settings: dict[str, Any], copies: Sequence[str], unit: str, names: list[str]
) -> dict[str, Row]:
    """Return the line of a set, "GROUP: SET"."""
    seeds, (group, name) = settings["seeds"], unit.split(": ", 1)
    points = next(sets_of(group, seeds[0], copies, name, settings["most"]))
    of = rent_of if settings["rent"] else scored
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {each: of(points, seeds) for each in names}


def by_group(lines: dict[str, Row]) -> dict[str, list[Row]]:
    """Return the lines of the sets of each group, and of all."""
    groups: dict[str, list[Row]] = {}
    for unit, line in lines.items():
        groups.setdefault(unit.split(": ", 1)[0], []).append(line)
    return groups | {"all": list(lines.values())}


def _mean(lines: Sequence[Row], key: str) -> float | None:
    values = [line[key] for line in lines if line.get(key) is not None]
    return float(np.mean(values)) if values else None


def table_of(lines: dict[str, Row]) -> Iterator[Row]:
    """Yield the means over the sets of each group, and of all."""
    for group, some in by_group(lines).items():
        by_seed = np.mean([line["found"] for line in some], axis=0)
        agreements = [line["agree"] for line in some if line["agree"] is not None]
        yield {
            "sets": group,
            "number": len(some),
            "found": float(by_seed.mean()),
            "range": f"{by_seed.min():.3f} to {by_seed.max():.3f}",
            "agree": _mean(some, "agree"),
            "least": min(agreements, default=None),
            "told": _mean(some, "told"),
            "told agree": _mean(some, "told agree"),
            **{name: _mean(some, name) for name in OTHERS},
            "CPU s": _mean(some, "CPU s"),
        }


def rent_table_of(lines: dict[str, Row], large: Row | None = None) -> Iterator[Row]:
    """Yield for each part what changes without it, in the mean of the groups and of the sets, and the groups that it changes.

    The range is from the seed with the lowest mean to the one with the highest; "CPU" is the time of a decision on the large set, with all parts 1.
    """
    groups = by_group(lines)
    every = groups.pop("all")

    def change(some: Sequence[Row], part: str, key: str) -> NDArray[Any]:
        """Return the mean over the sets that have a value."""
        pairs = [(each[part][key], each["nothing"][key]) for each in some if key in each[part]]
        without_it, with_it = np.mean(pairs, axis=0) if pairs else (np.nan, np.nan)
        return np.asarray(with_it if part == "nothing" else np.subtract(without_it, with_it))

    for part in PARTS:
        changes = {group: change(some, part, "found").mean() for group, some in groups.items()}
        by_seed = change(every, part, "found")
        told = {key: float(change(every, part, f"told {key}").mean()) for key in ("found", "agree")}
        yield {
            "without": part,
            "groups": float(np.mean(list(changes.values()))),
            "sets": float(by_seed.mean()),
            "range": f"{by_seed.min():.3f} to {by_seed.max():.3f}",
            "agree": float(change(every, part, "agree")),
            **{
                f"told {key}".removesuffix(" found"): None if np.isnan(value) else value
                for key, value in told.items()
            },
            "CPU": large and large[part]["CPU s"] / large["nothing"]["CPU s"],
            "groups changed": ", ".join(
                f"{group} {value:+.3f}"
                for group, value in changes.items()
                if abs(value) > _CHANGE and part != "nothing"
            ),
        }


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", help=f"of the fits; {CONFIRMING}")
    parser.add_argument("--groups", nargs="+", choices=(*GROUPS, *FOLDERS), help="all")
    parser.add_argument("--published", nargs="+", default=[], metavar="COPY", help="collections")
    parser.add_argument("--most", type=int, default=MOST_OBJECTS, help="points of a published set")
    parser.add_argument("--share", type=float, default=1.0, help="of each group, drawn at random")
    parser.add_argument("--rent", action="store_true", help="the default without each of its parts")
    run(parser.parse_args(argv))


def run(arguments: argparse.Namespace) -> None:
    seeds = arguments.seeds or list(CONFIRMING[: 2 if arguments.quick else None])
    groups = arguments.groups or [*GROUPS, *FOLDERS * bool(arguments.published)]
    if absent := missing(groups):
        print(f"Left out, as CONCLUST_DATA names no folder with them: {', '.join(absent)}")
    copies, most, quick = arguments.published, arguments.most, arguments.quick
    units = []
    for group in groups:
        names = [points.name for points in sets_of(group, seeds[0], copies, most=most)]
        drawn = np.random.default_rng(seeds[0]).permutation(len(names))
        few = (
            range(len(names))[:2] if quick else sorted(drawn[: ceil(arguments.share * len(names))])
        )
        units += [f"{group}: {names[at]}" for at in few]
    name = "rent" if arguments.rent else "battery"
    settings = {"seeds": seeds, "rent": arguments.rent, "most": most}
    kept = opened(arguments, f"{name}.kept.json", settings)
    fill(
        kept,
        {unit: ["line"] for unit in units},
        partial(_measured, settings, copies),
        arguments.jobs,
    )
    lines = {unit: kept.found[unit]["line"] for unit in units}
    if arguments.rent:
        rows = list(rent_table_of(lines, None if quick else rent_of(large(), seeds)))
    else:
        rows = list(table_of(lines))
    title = "Without each part" if arguments.rent else "Adjusted Rand index"
    show(rows, f"{title}, seeds {', '.join(map(str, seeds))}")
    write(rows, name, arguments)


if __name__ == "__main__":
    main()
