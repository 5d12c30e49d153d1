"""``conclust demo``: consensus clustering of real data with known classes, in a minute.

The known classes are read in `_score`, and for the pictures. The methods receive the number of classes, and in
one table not even that.
"""

from __future__ import annotations

import argparse
import csv
import io
import textwrap
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust import datasets
from conclust._files.storage import atomic_write, write_json
from conclust._random import seed_sequence, spawn_seeds
from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.cli.commands.demo_story import REPORT, SET, story
from conclust.cli.console import Talk
from conclust.cli.record import versions
from conclust.cli.requested import jobs
from conclust.consensus.auto import AutoConsensus
from conclust.consensus.linkage import EAC
from conclust.consensus.probabilistic import PCC
from conclust.ensemble import Ensemble
from conclust.exceptions import EnsembleWarning, InputError, MissingExtraError
from conclust.generation import EnsembleGenerator
from conclust.metrics import adjusted_rand_index, consistency_index
from conclust.results.writing import OutputFolder
from conclust.weighting import certainty_weights

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
_ALONE = "k-means alone"
_MEMBERS = "mean member"
_WEIGHTED = "PCC, weighted"
_TWICE = "PCC l2, twice the clusters"
_WITHOUT_NUMBER = "AutoConsensus, without a number"
# Columns of the two tables: heading and method. All methods are in results.csv.
_COLUMNS = {
    "kmeans": {
        "k-means": _ALONE,
        "members": _MEMBERS,
        "EAC": "EAC average",
        "EAC Ward": "EAC ward",
        "PCC": "PCC",
        "Auto": "AutoConsensus",
    },
    "mixed": {
        "members": _MEMBERS,
        "EAC": "EAC average",
        "EAC Ward": "EAC ward",
        "PCC": "PCC",
        "weighted": _WEIGHTED,
        "Auto": "AutoConsensus",
    },
}
_NEGLIGIBLE = 0.01  # share of the mass below which a cluster is not counted
_EVEN = 0.01  # accuracies this close count as equal
_FAILS = 0.1  # PCC is reported to fail if its accuracy is lower by this much

_BEGIN = """\
Consensus clustering: cluster the same objects many times, then combine the clusterings into one."""

_BEFORE = """\
How good is the result? Each data set is clustered in two ways. "random k-means": 100 times, from random starts, with \
many numbers of clusters. "mixed algorithms": by single, average, ward and centroid linkage, \
k-means and spectral clustering, each with several numbers of clusters. These numbers range from the number \
of known classes to five times as many (at least 20). Columns are scaled to [0, 1] first (min-max)."""

_READ = """\
How to read this. A row is a data set, with its number of known classes. The methods receive that \
number, never the classes themselves, which are used for scoring only.
  acc  accuracy: share of the objects in the cluster matched to their class; 1 is perfect.
  ARI  adjusted Rand index: agreement over pairs; 0 is expected by chance, 1 is perfect.
  k-means  one clustering, given the number of classes: the best of 10 starts.
  members  the average over the clusterings that are combined, with any number of clusters.
  EAC  evidence accumulation: a tree over how often two objects were put together, by average or \
Ward linkage.
  PCC  probabilistic consensus: each object gets a probability of each cluster.
  weighted  PCC, with each clustering weighted by how certain the others are of its clusters.
  Auto  AutoConsensus, the default, which chooses between two kinds of evidence."""

_FOUND = """\
How many clusters? AutoConsensus, without a number, finds "Auto" of them, with accuracy "acc". PCC takes \
a number as its maximum: with twice the number of classes it uses "PCC" clusters (by least squares; \
clusters with more than 1 % of all probability are counted). Clusters need not be the known classes."""


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
    sets = {name: _loaded(name) for name in names}
    pictured = [name for name in _PICTURED if name in names] or names[:1]
    start = time.perf_counter()
    with OutputFolder(arguments.out, force=arguments.force, names=_files()) as folder:
        shown_set = SET if SET in names else names[0]
        talk.result(_wrap(_BEGIN) + "\n")
        talk.result(
            _wrap(story(shown_set, sets[shown_set][0], sets[shown_set][1], arguments, folder))
            + "\n"
        )
        talk.result(_wrap(_BEFORE) + "\n")
        talk.step(f"Working on {count(len(names), 'data set')}:")
        rows: list[_Row] = []
        pictures = True
        for name in names:
            begin = time.perf_counter()
            data, X, classes = sets[name]
            results, models = _measure(name, X, classes, arguments)
            rows.extend(results)
            if pictures and name in pictured:
                pictures = _draw(models, _names_of(data, classes), folder, talk)
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
        raise InputError("--data does not name a data set. An example is --data iris,wine.")
    all_names = datasets.names()
    for name in names:
        if name not in all_names:
            suggestions = get_close_matches(name, all_names) or datasets.available()
            raise InputError(
                f"--data: there is no data set {name!r}. Is it {' or '.join(suggestions)}?"
            )
    return list(dict.fromkeys(names))


def _loaded(name: str) -> tuple[datasets.Dataset, Floats, NDArray[Any]]:
    data = datasets.load(name)
    return data, *_checked(name, data)


def _checked(name: str, data: Any) -> tuple[Floats, NDArray[Any]]:
    if not isinstance(data.X, np.ndarray) or data.X.ndim != 2 or data.X.dtype.kind not in "biuf":
        raise InputError(f"The data set {name!r} is not a table of numbers; the demo needs one.")
    X = data.X.astype(np.float64)
    if not np.isfinite(X).all():
        raise InputError(f"The data set {name!r} has missing values; the demo needs complete data.")
    return X, np.asarray(data.y)


@dataclass(frozen=True)
class _Shown:
    """The models that are drawn for a data set: its k-means ensemble and two consensuses of it."""

    name: str
    ensemble: Ensemble
    models: dict[str, Any]


def _measure(
    name: str, X: Floats, classes: NDArray[Any], arguments: argparse.Namespace
) -> tuple[list[_Row], _Shown]:
    """Return the rows of one data set, and the models for its pictures."""
    n_classes = len(np.unique(classes))
    about = (name, len(X), X.shape[1], n_classes)
    rows = [_k_means(about, X, classes, arguments.seed)]
    models: list[_Shown] = []
    for kind in _ENSEMBLES:
        begin = time.perf_counter()
        generator = EnsembleGenerator(
            kind,
            n_clusters=_numbers_of_clusters(kind, n_classes, len(X)),
            scale="minmax",
            init="random",
            random_state=arguments.seed,
            n_jobs=jobs(arguments),
            verbose=1 if arguments.verbose else 0,
        )
        ensemble = Ensemble(generator.fit_transform(X))
        seconds = time.perf_counter() - begin
        here = (*about, kind, ensemble.n_partitions)
        members = [_score(classes, labels) for labels in ensemble.labels.T]
        accuracy, ari = np.mean(members, axis=0)
        rows.append(_Row(*here, _MEMBERS, None, None, None, float(accuracy), float(ari), seconds))
        fitted = {}
        for method, (allowed, fit) in _models(arguments, n_classes).items():
            begin = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EnsembleWarning)  # the same as in the output
                model = fitted[method] = fit(ensemble)
            seconds = time.perf_counter() - begin
            counts = (allowed, _clusters_used(model), int(model.n_clusters_))
            rows.append(_Row(*here, method, *counts, *_score(classes, model.labels_), seconds))
        models.append(_Shown(name, ensemble, fitted))
    return rows, models[0]


def _k_means(about: tuple[str, int, int, int], X: Floats, classes: NDArray[Any], seed: int) -> _Row:
    """Return the row of a single k-means with the number of classes: the best of ten starts."""
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import minmax_scale

    k = about[-1]
    begin = time.perf_counter()
    (start,) = spawn_seeds(seed_sequence(seed), 1, bits=32)
    labels = KMeans(k, n_init=10, random_state=start).fit_predict(minmax_scale(X))
    seconds = time.perf_counter() - begin
    scores = _score(classes, labels.astype(np.int64))
    return _Row(*about, "none", 1, _ALONE, k, None, len(np.unique(labels)), *scores, seconds)


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


def _models(
    arguments: argparse.Namespace, k: int
) -> dict[str, tuple[int | None, Callable[[Ensemble], Any]]]:
    """Return, for each method, the number of clusters that it receives, and its fit."""
    running: dict[str, Any] = {"random_state": arguments.seed, "n_jobs": jobs(arguments)}

    def weighted(ensemble: Ensemble) -> Any:
        weights = certainty_weights(ensemble)
        return PCC(k, **running).fit(Ensemble(ensemble.labels, weights=weights))

    return {
        "EAC single": (k, lambda E: EAC(k, linkage="single", **running).fit(E)),
        "EAC average": (k, lambda E: EAC(k, linkage="average", **running).fit(E)),
        "EAC ward": (k, lambda E: EAC(k, linkage="ward", **running).fit(E)),
        "PCC": (k, lambda E: PCC(k, **running).fit(E)),
        "PCC l2": (k, lambda E: PCC(k, divergence="l2", **running).fit(E)),
        _WEIGHTED: (k, weighted),
        "AutoConsensus": (k, lambda E: AutoConsensus(k, **running).fit(E)),
        _TWICE: (2 * k, lambda E: PCC(2 * k, divergence="l2", **running).fit(E)),
        _WITHOUT_NUMBER: (None, lambda E: AutoConsensus(**running).fit(E)),
    }


def _clusters_used(model: Any) -> int | None:
    membership = getattr(model, "membership_", None)
    if membership is None:
        return None
    return int(np.count_nonzero(membership.mean(axis=0) > _NEGLIGIBLE))


def _score(classes: NDArray[Any], labels: Ints) -> tuple[float, float]:
    return consistency_index(classes, labels), adjusted_rand_index(classes, labels)


def _names_of(data: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the name of each object's class."""
    names = getattr(data, "target_names", None)
    return np.array(names, dtype=object)[classes] if names else classes


def _draw(shown: _Shown, classes: NDArray[Any], folder: OutputFolder, talk: Talk) -> bool:
    """Write the two pictures of a data set; return whether matplotlib is installed."""
    from conclust.plotting import coassociation_heatmap, membership_bars

    name, auto, soft = shown.name, shown.models["AutoConsensus"], shown.models["PCC"]
    strips = {"Auto": auto, "class": classes}
    try:
        pair = coassociation_heatmap(shown.ensemble, labels=strips)
    except MissingExtraError as error:
        talk.step(f"No pictures: {error}")
        return False
    title = (
        f"How often pairs are together: {name}, {shown.ensemble.n_partitions} k-means clusterings"
    )
    _save(pair, title, folder.file(f"{name}_coassociation.png"))
    rows = membership_bars(soft)
    _save(rows, f"PCC on {name}", folder.file(f"{name}_membership.png"))
    return True


def _save(ax: Any, title: str, path: Path) -> None:
    ax.title.set_text(title)
    from conclust.plotting.canvas.figures import save

    save(ax.figure, path, "png")


def _files() -> list[str]:
    pictures = [
        f"{name}_{what}.png"
        for name in datasets.names()
        for what in ("coassociation", "membership")
    ]
    return [*pictures, REPORT, "results.csv", "results.json"]


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
    parts = [_scores(rows, "kmeans"), _gain(rows), _scores(rows, "mixed"), *_failures(rows)]
    parts += [_wrap(_READ), _counts(rows), _wrap(_FOUND), _times(rows)]
    written = f"All methods are in results.csv and results.json in {out}"
    if pictures:
        pictured = ", ".join(name for name in _PICTURED if any(row.dataset == name for row in rows))
        pictured = pictured or rows[0].dataset
        written += (
            f", with pictures of {pictured}: how often each pair was put together, and each object's "
            "probability of each cluster, beside the known classes"
        )
    parts.append(_wrap(f"Done in {seconds:.0f} s. {written}; the report is {out / REPORT}."))
    return "\n\n".join(parts)


def _scores(rows: list[_Row], kind: str) -> str:
    columns = _COLUMNS[kind]
    here = [row for row in rows if row.ensemble == kind or row.method == _ALONE]
    lines = [
        f"Ensemble: {_ENSEMBLES[kind]}",
        " " * 20 + "".join(f"{head:>10}" for head in columns),
        " " * 20 + "  acc  ARI" * len(columns),
    ]
    for name, group in _by_dataset(here):
        cells = {row.method: row for row in group}
        lines.append(f"{name:<17}{group[0].classes:>3}" + _pairs(cells, columns.values()))
    cells = {method: _mean(here, method) for method in columns.values()}
    lines.append(f"{'average':<20}" + _pairs(cells, columns.values()))
    return "\n".join(lines)


def _pairs(cells: dict[str, _Row], methods: Iterable[str]) -> str:
    cells_found = [cells[method] for method in methods]
    return "".join(
        f"{_rounded(row.consistency_index):>5}{_rounded(row.adjusted_rand_index):>5}"
        for row in cells_found
    )


def _rounded(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # no -0.00


def _mean(rows: list[_Row], method: str) -> _Row:
    group = [row for row in rows if row.method == method]
    return replace(
        group[0],
        consistency_index=float(np.mean([row.consistency_index for row in group])),
        adjusted_rand_index=float(np.mean([row.adjusted_rand_index for row in group])),
    )


def _gain(rows: list[_Row]) -> str:
    """Return one sentence on what the consensus of the k-means clusterings gains."""
    ours = _accuracies(rows, "kmeans", "AutoConsensus")
    alone, members = _accuracies(rows, "none", _ALONE), _accuracies(rows, "kmeans", _MEMBERS)
    apart = np.array([ours[name] - alone[name] for name in ours])
    better, worse = int((apart > _EVEN).sum()), int((apart < -_EVEN).sum())
    mean = {
        key: np.mean(list(scores.values())) for key, scores in enumerate((ours, alone, members))
    }
    return _wrap(
        f"What consensus gains: AutoConsensus has accuracy {mean[0]:.2f} on average, one k-means "
        f"{mean[1]:.2f}, the clusterings that it combines {mean[2]:.2f}; it is better than k-means on "
        f"{better} of {len(apart)} data sets, within {_EVEN:g} of it on {len(apart) - better - worse} "
        f"and worse on {worse}. It also gives what one k-means does not: how often each pair was put "
        "together, a number of clusters, and which objects lie between two clusters."
    )


def _failures(rows: list[_Row]) -> list[str]:
    """Describe where PCC of the mixed clusterings fails, and suggest a remedy."""
    plain, weighted, auto = (
        _accuracies(rows, "mixed", method) for method in ("PCC", _WEIGHTED, "AutoConsensus")
    )
    far = {name: max(weighted[name], auto[name]) - plain[name] for name in plain}
    name = max(far, key=lambda key: far[key])
    if far[name] <= _FAILS:
        return []
    k = next(row.classes for row in rows if row.dataset == name)
    return [
        _wrap(
            f"Where PCC fails: {name}, mixed algorithms, accuracy {plain[name]:.2f}. Single and centroid "
            "linkage put nearly all objects into one cluster there, and PCC counts each clustering "
            "equally. There are two remedies: weight the clusterings by how certain the others are of their clusters "
            f"(accuracy {weighted[name]:.2f}), or leave the choice to AutoConsensus ({auto[name]:.2f})."
        )
        + "\n\n    weights = conclust.weighting.certainty_weights(labels)\n"
        f"    conclust.PCC({k}).fit(conclust.Ensemble(labels, weights=weights))"
    ]


def _accuracies(rows: list[_Row], ensemble: str, method: str) -> dict[str, float]:
    return {
        row.dataset: row.consistency_index
        for row in rows
        if (row.ensemble, row.method) == (ensemble, method)
    }


def _counts(rows: list[_Row]) -> str:
    lines = [
        " " * 20 + "".join(f"{title:^26}" for title in _ENSEMBLES.values()).rstrip(),
        f"{'':<20}" + f"{'Auto':>8}{'acc':>7}{'PCC':>9}  " * 2,
    ]
    for name, group in _by_dataset(row for row in rows if row.method in (_TWICE, _WITHOUT_NUMBER)):
        cells = {(row.ensemble, row.method): row for row in group}
        line = f"{name:<17}{group[0].classes:>3}"
        for kind in _ENSEMBLES:
            auto, twice = cells[kind, _WITHOUT_NUMBER], cells[kind, _TWICE]
            used = f"{twice.clusters_used}/{twice.clusters_allowed}"
            line += f"{auto.labels:>8}{_rounded(auto.consistency_index):>7}{used:>9}  "
        lines.append(line)
    return "\n".join(line.rstrip() for line in lines)


def _times(rows: list[_Row]) -> str:
    def total(method: str) -> float:
        return sum(row.seconds or 0.0 for row in rows if row.method == method)

    return _wrap(
        f"Seconds, all data sets together: making the clusterings {total(_MEMBERS):.1f}; combining "
        f"them by EAC {total('EAC average'):.2f}, Ward {total('EAC ward'):.2f}, PCC "
        f"{total('PCC'):.1f}, AutoConsensus {total('AutoConsensus'):.1f}; one k-means "
        f"{total(_ALONE):.1f}."
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
