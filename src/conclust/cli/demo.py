"""``conclust demo``: consensus clustering of known real data, in a minute.

The known classes are read in `_score` only. What the methods are told is the number of classes.
"""

from __future__ import annotations

import argparse
import csv
import io
import textwrap
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust import datasets
from conclust._storage import atomic_write, write_json
from conclust.cli.consensus import jobs
from conclust.cli.outputs import OutputFolder
from conclust.cli.record import versions
from conclust.cli.talk import Talk, count
from conclust.consensus.linkage import EAC
from conclust.consensus.probabilistic import PCC
from conclust.ensemble import Ensemble
from conclust.exceptions import InputError, MissingExtraError
from conclust.generation import EnsembleGenerator
from conclust.metrics import adjusted_rand_index, consistency_index

__all__ = ["run"]

_SETS = (
    "iris",
    "wine",
    "breast_cancer",
    "digits",
    "house_votes_232",
    "ionosphere",
    "std_yeast_cell",
    "breast_cancer_683",
    "optdigits_1000",
)
_PICTURED = ("iris", "digits")
_ENSEMBLES = {"kmeans": "random k-means", "mixed": "mixed algorithms"}
_METHODS = ("mean member", "EAC single", "EAC average", "EAC ward", "PCC", "PCC l2")
# The same, as narrow as a column of the table.
_HEADS = ("members", "EAC SL", "EAC AL", "EAC WL", "PCC", "PCC l2")
_TWICE = "PCC, twice the clusters"
_NEGLIGIBLE = 0.01  # share of the mass below which a cluster is not counted

_BEFORE = """\
Consensus clustering: cluster the same objects many times, then combine the clusterings into one.

Each data set is clustered in two ways. "random k-means": 100 times, from random starts, with \
random numbers of clusters. "mixed algorithms": by single, average, ward and centroid linkage, \
k-means and spectral clustering, each with several numbers of clusters. These go from the number \
of known classes up to five times it (20 at least). Columns are scaled to [0, 1] first (min-max)."""

_READ = """\
How to read this. A row is a data set, with its number of known classes. The methods are told that \
number, never the classes themselves: these serve for scoring only.
  H    share of the objects that are in the cluster matched to their class; 1 is perfect.
  ARI  agreement over pairs of objects; 0 is what chance gives, 1 is perfect.
  members  the average over the single clusterings, of whatever number of clusters.
  EAC  evidence accumulation: a tree over how often two objects were put together, by single (SL), \
average (AL) or Ward (WL) linkage.
  PCC  probabilistic consensus: each object gets a probability of each cluster, by likelihood \
(Kullback-Leibler divergence); PCC l2: by least squares.
A consensus is no better than what it combines: single and centroid linkage may put nearly all \
objects into one cluster, and where many members do that, EAC average and PCC follow them."""

_FOUND = """\
How many clusters? PCC takes the number as an upper bound. Here it is allowed twice as many as \
there are classes: "used" counts clusters with more than 1 % of all probability, "labels" those \
that are the most probable one of some object. Ensembles of small clusters use up what they are \
given: then choose the bound with care."""


@dataclass(frozen=True)
class _Row:
    """One line of results.csv."""

    dataset: str
    objects: int
    columns: int
    classes: int
    ensemble: str
    partitions: int
    method: str
    clusters_allowed: int | None
    clusters_used: int | None
    labels: int | None
    consistency_index: float
    adjusted_rand_index: float
    seconds: float | None


def run(arguments: argparse.Namespace) -> None:
    """Measure, print the tables, write the folder."""
    talk = Talk(arguments)
    names = _chosen(arguments.data)
    pictured = [name for name in _PICTURED if name in names] or names[:1]
    start = time.perf_counter()
    with OutputFolder(arguments.out, force=arguments.force, names=_files()) as folder:
        talk.result(_wrap(_BEFORE) + "\n")
        talk.step(f"Working on {count(len(names), 'data set')}:")
        rows: list[_Row] = []
        pictures = True
        for name in names:
            begin = time.perf_counter()
            data = datasets.load(name)
            X, classes = _checked(name, data)
            found, ensemble, model = _measure(name, X, classes, arguments, talk)
            rows.extend(found)
            if pictures and name in pictured:
                pictures = _draw(name, ensemble, model, folder, talk)
            talk.step(
                f"  {name}: {len(X):,} objects, {X.shape[1]} columns, "
                f"{len(np.unique(classes))} classes  ({time.perf_counter() - begin:.1f} s)"
            )
        talk.step("")
        _write(folder, rows, arguments)
    talk.result(_report(rows, arguments.out, time.perf_counter() - start, pictures))


def _chosen(data: str | None) -> list[str]:
    if data is None:
        here = set(datasets.available())
        return [name for name in _SETS if name in here]
    names = [name.strip() for name in data.split(",") if name.strip()]
    if not names:
        raise InputError("--data names no data set. Give for example: --data iris,wine")
    return list(dict.fromkeys(names))


def _checked(name: str, data: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
    if not isinstance(data.X, np.ndarray) or data.X.ndim != 2 or data.X.dtype.kind not in "biuf":
        raise InputError(f"The data set {name!r} is no table of numbers; the demo needs one.")
    X = data.X.astype(np.float64)
    if not np.isfinite(X).all():
        raise InputError(f"The data set {name!r} has missing values; the demo needs complete data.")
    return X, np.asarray(data.y)


def _measure(
    name: str,
    X: NDArray[np.float64],
    classes: NDArray[Any],
    arguments: argparse.Namespace,
    talk: Talk,
) -> tuple[list[_Row], Ensemble, Any]:
    """Return the rows of one data set, and its k-means ensemble with the PCC fitted to it."""
    rows: list[_Row] = []
    n_classes = len(np.unique(classes))
    kept: list[tuple[Ensemble, Any]] = []
    for kind in _ENSEMBLES:
        begin = time.perf_counter()
        generator = EnsembleGenerator(
            kind,
            n_clusters=_numbers_of_clusters(kind, n_classes, len(X)),
            scale="minmax",
            random_state=arguments.seed,
            n_jobs=jobs(arguments),
            verbose=1 if arguments.verbose else 0,
        )
        ensemble = Ensemble(generator.fit_transform(X))
        seconds = time.perf_counter() - begin
        about = (name, len(X), X.shape[1], n_classes, kind, ensemble.n_partitions)
        members = [_score(classes, labels) for labels in ensemble.labels.T]
        h, ari = np.mean(members, axis=0)
        rows.append(_Row(*about, _METHODS[0], None, None, None, float(h), float(ari), seconds))
        for method, make in _models(arguments, n_classes).items():
            begin = time.perf_counter()
            model = make().fit(ensemble)
            seconds = time.perf_counter() - begin
            allowed = 2 * n_classes if method == _TWICE else n_classes
            rows.append(
                _Row(
                    *about,
                    method,
                    allowed,
                    _clusters_used(model),
                    int(model.n_clusters_),
                    *_score(classes, model.labels_),
                    seconds,
                )
            )
            if method == "PCC":
                kept.append((ensemble, model))
    return rows, *kept[0]


def _numbers_of_clusters(kind: str, k: int, n_samples: int) -> list[int]:
    """Return the numbers of clusters of the members: the papers' ranges, as a rule in k.

    Random k-means: Lourenço et al., EMMCVPR 2013, Table 1. Mixed: Lourenço et al., Machine
    Learning 98 (2015), Table 3.
    """
    most = min(max(20, 5 * k), n_samples - 1)
    if kind == "kmeans":
        numbers = [*range(max(2, k), most + 1)]
    elif k < 10:
        numbers = [*range(max(3, k), 11), 15, 20]
    else:
        numbers = [round(k * share) for share in (1, 1.2, 1.5, 2, 3.5, 5)]
    return [number for number in numbers if number <= most]


def _models(arguments: argparse.Namespace, k: int) -> dict[str, Callable[[], Any]]:
    running: dict[str, Any] = {"random_state": arguments.seed, "n_jobs": jobs(arguments)}
    return {
        "EAC single": lambda: EAC(k, linkage="single", **running),
        "EAC average": lambda: EAC(k, linkage="average", **running),
        "EAC ward": lambda: EAC(k, linkage="ward", **running),
        "PCC": lambda: PCC(k, **running),
        "PCC l2": lambda: PCC(k, divergence="l2", **running),
        _TWICE: lambda: PCC(2 * k, **running),
    }


def _clusters_used(model: Any) -> int | None:
    membership = getattr(model, "membership_", None)
    if membership is None:
        return None
    return int(np.count_nonzero(membership.mean(axis=0) > _NEGLIGIBLE))


def _score(classes: NDArray[Any], labels: NDArray[np.int64]) -> tuple[float, float]:
    return consistency_index(classes, labels), adjusted_rand_index(classes, labels)


def _draw(name: str, ensemble: Ensemble, model: Any, folder: OutputFolder, talk: Talk) -> bool:
    """Write the two pictures of a data set; return whether matplotlib is there."""
    from conclust.plotting import coassociation_heatmap, membership_heatmap

    shown = f"{name}, {ensemble.n_partitions} k-means clusterings"
    try:
        pair = coassociation_heatmap(ensemble)
    except MissingExtraError as error:
        talk.step(f"No pictures: {error}")
        return False
    _save(pair, f"How often pairs are together: {shown}", folder.file(f"{name}_coassociation.png"))
    soft = membership_heatmap(model.membership_)
    _save(soft, f"PCC on {name}", folder.file(f"{name}_membership.png"))
    return True


def _save(ax: Any, title: str, path: Path) -> None:
    ax.set_title(title, pad=10)
    ax.figure.savefig(path, format="png")


def _files() -> list[str]:
    pictures = [
        f"{name}_{what}.png"
        for name in datasets.names()
        for what in ("coassociation", "membership")
    ]
    return [*pictures, "results.csv", "results.json"]


def _write(folder: OutputFolder, rows: list[_Row], arguments: argparse.Namespace) -> None:
    lines = [asdict(row) for row in rows]

    def write(file: Any) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
        text.flush()
        text.detach()

    atomic_write(folder.file("results.csv"), write)
    content = {"seed": arguments.seed, "scale": "minmax", "rows": lines, "versions": versions()}
    write_json(folder.file("results.json"), content)


# ------------------------------------------------------------------------------------ the page


def _report(rows: list[_Row], out: Path, seconds: float, pictures: bool) -> str:
    parts = [_scores(rows, kind) for kind in _ENSEMBLES]
    parts += [_wrap(_READ), _counts(rows), _wrap(_FOUND), _times(rows)]
    written = f"results.csv and results.json are in {out}"
    if pictures:
        shown = ", ".join(name for name in _PICTURED if any(row.dataset == name for row in rows))
        shown = shown or rows[0].dataset
        written += (
            f", with pictures of {shown}: how often each pair was put together, and each object's "
            "probability of each cluster"
        )
    parts.append(
        _wrap(
            f"Done in {seconds:.0f} s. {written}.\n"
            "Your own data: conclust cluster points.csv --max-clusters 10 --out result"
        )
    )
    return "\n\n".join(parts)


def _scores(rows: list[_Row], kind: str) -> str:
    here = [row for row in rows if row.ensemble == kind]
    lines = [
        f"Ensemble: {_ENSEMBLES[kind]}",
        " " * 20 + "".join(f"{head:>10}" for head in _HEADS),
        " " * 20 + "    H  ARI" * len(_METHODS),
    ]
    for name, group in _by_dataset(here):
        cells = {row.method: row for row in group}
        lines.append(f"{name:<17}{group[0].classes:>3}" + _pairs(cells))
    cells = {method: _mean(here, method) for method in _METHODS}
    lines.append(f"{'average':<20}" + _pairs(cells))
    return "\n".join(line.rstrip() for line in lines)


def _pairs(cells: dict[str, _Row]) -> str:
    values = [
        (cells[method].consistency_index, cells[method].adjusted_rand_index) for method in _METHODS
    ]
    return "".join(f"{_short(h):>5}{_short(ari):>5}" for h, ari in values)


def _short(value: float) -> str:
    """Two decimals without the leading zero: .87, 1.0, -.04."""
    text = f"{round(value, 2) + 0.0:.2f}"  # no -0.00
    return text[:3] if value >= 0.995 else text.replace("0.", ".", 1)


def _mean(rows: list[_Row], method: str) -> _Row:
    group = [row for row in rows if row.method == method]
    return replace(
        group[0],
        consistency_index=float(np.mean([row.consistency_index for row in group])),
        adjusted_rand_index=float(np.mean([row.adjusted_rand_index for row in group])),
    )


def _counts(rows: list[_Row]) -> str:
    lines = [
        " " * 29 + "".join(f"{title:^24}" for title in _ENSEMBLES.values()).rstrip(),
        f"{'allowed':>29}" + f"{'used':>8}{'labels':>8}{'H':>7} " * 2,
    ]
    for name, group in _by_dataset(row for row in rows if row.method == _TWICE):
        cells = {row.ensemble: row for row in group}
        first = group[0]
        lines.append(
            f"{name:<17}{first.classes:>3}{first.clusters_allowed:>9}"
            + "".join(
                f"{cells[kind].clusters_used:>8}{cells[kind].labels:>8}"
                f"{cells[kind].consistency_index:>7.2f} "
                for kind in _ENSEMBLES
            )
        )
    return "\n".join(line.rstrip() for line in lines)


def _times(rows: list[_Row]) -> str:
    def total(method: str) -> float:
        return sum(row.seconds or 0.0 for row in rows if row.method == method)

    return _wrap(
        f"Seconds, all data sets together: making the clusterings {total('mean member'):.1f}; "
        f"combining them by EAC single {total('EAC single'):.2f}, average "
        f"{total('EAC average'):.2f}, ward {total('EAC ward'):.2f}, by PCC {total('PCC'):.2f}."
    )


def _by_dataset(rows: Iterable[_Row]) -> list[tuple[str, list[_Row]]]:
    groups: dict[str, list[_Row]] = {}
    for row in rows:
        groups.setdefault(row.dataset, []).append(row)
    return list(groups.items())


def _wrap(text: str) -> str:
    return "\n".join(
        textwrap.fill(
            line,
            width=80,
            subsequent_indent=" " * (7 if line.startswith("  ") else 0),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.splitlines()
    )
