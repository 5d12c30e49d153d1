"""``conclust cluster`` and ``conclust combine``: an ensemble, its consensus, a result folder."""

from __future__ import annotations

import argparse
import io
import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust.cli.asked import jobs, scale, scaling
from conclust.cli.choice import Choice, choose
from conclust.cli.fill import Filled, fill
from conclust.cli.inputs import Points, read_ensemble, read_points
from conclust.cli.labeller import Labeller
from conclust.cli.number import selected
from conclust.cli.outputs import (
    LabelTable,
    OutputFolder,
    is_table_name,
    send_labels,
    write_label_file,
    write_labels,
    write_memberships,
    write_partitions,
    write_result,
)
from conclust.cli.points_told import gaps_record, write_features
from conclust.cli.reading import reading
from conclust.cli.record import (
    Clock,
    call_record,
    parameters,
    recorded_warnings,
    selection_record,
    versions,
)
from conclust.cli.summary import confidence_line, number_line, score, sizes_line, sizes_of
from conclust.cli.talk import STREAM, Talk, count, plain, send_table
from conclust.confidence import ChanceConfidence, chance_confidence, confidences
from conclust.ensemble import MISSING, Ensemble
from conclust.exceptions import InputError, OutputExistsError, ScaleWarning

__all__ = ["folder_of", "jobs", "run_cluster", "run_combine", "send", "spread"]


@dataclass(frozen=True)
class _Work:
    """The ensemble to be combined, and its entries in the result."""

    ensemble: Ensemble
    table: LabelTable
    classes: list[str] | None
    source: dict[str, Any]
    settings: dict[str, Any]
    labeller: Labeller | None = None
    points: Points | None = None
    filled: Filled | None = None


def run_cluster(arguments: argparse.Namespace) -> None:
    """Points in, consensus out."""
    choice = choose(arguments)
    talk, clock = Talk(arguments), Clock()
    with folder_of(arguments) as folder:
        points = read_points(arguments.points, reading(arguments))
        n_samples, n_columns = points.X.shape
        kinds = [count(n_samples, "object"), count(n_columns, "column")]
        if points.category_names:
            kinds.append(count(len(points.category_names), "column") + " of categories")
        talk.step(_read_line(arguments.points, kinds, points.notes))
        filled = fill(points.X, arguments.impute, points.names)
        if filled.note:
            talk.step(filled.note[0].upper() + filled.note[1:] + ".")
        talk.step(scaling(arguments).capitalize() + ".")
        clock.lap("read")
        work = _generated(arguments, talk, points, filled)
        clock.lap("generate")
        said = _finish(arguments, talk, clock, folder, choice, work)
    talk.result(said)


def _generated(arguments: argparse.Namespace, talk: Talk, points: Points, filled: Filled) -> _Work:
    """Make the ensemble of the points, with a partition for each column of categories."""
    from conclust.generation import EnsembleGenerator
    from conclust.generation.scaling import warn_of_spread

    kinds = arguments.generator.split("+")
    generator = EnsembleGenerator(
        kinds[0] if len(kinds) == 1 else kinds,
        n_partitions=arguments.partitions,
        sample_fraction=arguments.sample_fraction,
        feature_fraction=arguments.feature_fraction,
        fit_on=arguments.fit_on,
        n_graphs=arguments.graphs,
        scale=scale(arguments),
        random_state=arguments.seed,
        n_jobs=jobs(arguments),
        cache_dir=arguments.cache,
        verbose=talk.verbosity,
    )
    talk.step(f"Clustering many times ({arguments.generator}).")
    with warnings.catch_warnings():
        if generator.scale is None:  # said here, where the columns have names
            warn_of_spread(filled.X, points.names)
            warnings.simplefilter("ignore", ScaleWarning)
        ensemble = Ensemble(spread(generator.fit_transform(filled.X), filled.complete))
    weight = None
    if points.categories is not None:
        categories = points.categories.copy()
        categories[~filled.complete] = None
        more = Ensemble(categories)
        weight = arguments.category_weight
        if weight is None:  # a column of categories counts as much as a column of numbers
            weight = ensemble.n_partitions / points.X.shape[1]
        talk.step(
            f"Each column of categories counts for {weight:g} clusterings (--category-weight)."
        )
        more = more.reweighted(np.full(more.n_partitions, weight))
        ensemble = Ensemble.concat([ensemble, more])
    source = {
        "file": plain(arguments.points),
        "objects": len(points.X),
        "columns": list(points.names),
        "categories": list(points.category_names),
        "filled": filled.cells.sum(axis=0).tolist(),
    }
    labeller = Labeller.of(
        generator,
        points.names,
        points.category_names,
        filled.values,
        gaps=arguments.impute is not None,
    )
    settings = {
        "generator": parameters(generator),
        "impute": arguments.impute,
        "category_weight": weight,
    }
    table = LabelTable(points.ids, points.id_name, None, arguments.raw)
    return _Work(ensemble, table, points.classes, source, settings, labeller, points, filled)


def spread(labels: NDArray[Any], complete: NDArray[np.bool_]) -> NDArray[Any]:
    """Put labels of the complete objects in their places; the others are missing."""
    if complete.all():
        return labels
    full = np.full((len(complete), *labels.shape[1:]), MISSING, dtype=np.int32)
    full[complete] = labels
    return full


def run_combine(arguments: argparse.Namespace) -> None:
    """Label matrix in, consensus out."""
    choice = choose(arguments)
    talk, clock = Talk(arguments), Clock()
    with folder_of(arguments) as folder:
        labels = read_ensemble(
            arguments.labels,
            reading(arguments),
            missing=arguments.missing,
            weights=arguments.weights,
        )
        ensemble = labels.ensemble
        kinds = [count(ensemble.n_samples, "object"), count(ensemble.n_partitions, "clustering")]
        talk.step(_read_line(arguments.labels, kinds, labels.notes))
        clock.lap("read")
        work = _Work(
            ensemble,
            LabelTable(labels.ids, labels.id_name, None, arguments.raw),
            labels.classes,
            {
                "file": plain(arguments.labels),
                "objects": ensemble.n_samples,
                "columns": list(labels.names),
            },
            {
                "missing": arguments.missing,
                "weights": None if arguments.weights is None else plain(arguments.weights),
            },
        )
        said = _finish(arguments, talk, clock, folder, choice, work)
    talk.result(said)


def folder_of(
    arguments: argparse.Namespace, **names: Any
) -> AbstractContextManager[OutputFolder | None]:
    """Return the folder of ``--out``; None where only the labels go out: see `send`.

    Raises
    ------
    OutputExistsError
        The file that the labels would go to is there, and ``--force`` was not given.
    InputError
        There is no folder for it.
    """
    path = arguments.out
    if path == STREAM:
        return nullcontext(None)
    if not is_table_name(path):
        return OutputFolder(path, force=arguments.force, **names)
    if path.exists() and not arguments.force:
        raise OutputExistsError(
            f"{path} is there already. Give --force to replace it, or another name with --out."
        )
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} for {path.name}. Make it first.")
    return nullcontext(None)


def _read_line(path: Path, kinds: list[str], notes: tuple[str, ...]) -> str:
    name = "standard input" if path == STREAM else path
    return f"Read {name}: {', '.join(kinds)}" + "".join(f"; {note}" for note in notes) + "."


def _finish(
    arguments: argparse.Namespace,
    talk: Talk,
    clock: Clock,
    folder: OutputFolder | None,
    choice: Choice,
    work: _Work,
) -> str:
    """Fit, write all files, and return the summary.

    Parameters
    ----------
    arguments : Namespace
        The command line.
    talk, clock : Talk and Clock
        For progress and timings.
    folder : OutputFolder or None
        Where files go; None: nowhere.
    choice : Choice
        The method and its parameters.
    work : _Work
        What was read.
    """
    name = choice.method.estimator
    ensemble = work.ensemble
    n_categories = 0 if work.points is None else len(work.points.category_names)
    found = None
    if choice.auto and work.points is not None and work.filled is not None:
        X, categories = work.filled.X, work.points.complete_categories(work.filled.complete)
        relative = 1.0
        if categories is not None:  # in columns of numbers, as a number of clusterings is given
            made = ensemble.n_partitions - n_categories
            relative = work.settings["category_weight"] * X.shape[1] / made
        found = selected(arguments, talk, X, categories, relative)
        choice = choice.with_clusters(found.n_clusters)
        clock.lap("choose")
    model = choice.estimator(
        seed=arguments.seed, jobs=jobs(arguments), verbose=int(talk.verbosity > 1)
    )
    talk.step(f"Combining {_members(ensemble, n_categories)} ({name}).")
    talk.detail(f"  time of {name}: {choice.method.cost}")
    with recorded_warnings() as told, talk.during(f"combining ({name})"):
        model.fit(ensemble)
    clock.lap("combine")
    labels = model.labels_
    membership = getattr(model, "membership_", None)
    # Objects in no clustering belong to no cluster more than to another.
    confidence = np.nan_to_num(confidences(model, ensemble), nan=1.0 / model.n_clusters_)
    sure = None
    if model.n_clusters_ > 1 and not ensemble.is_soft:
        sure = chance_confidence(
            model, ensemble, n_draws=1, max_samples=1000, random_state=arguments.seed
        )
    scores = None if work.classes is None else score(work.classes, labels)
    sizes = sizes_of(labels, model.n_clusters_)
    table = LabelTable(work.table.ids, work.table.id_name, confidence, work.table.raw)
    if folder is not None:
        talk.step(f"Writing {arguments.out}.")
        write_labels(folder.file("labels.csv"), labels, table)
        if membership is not None:
            write_memberships(folder.file("memberships.csv"), membership, table)
        ensemble.save(folder.file("ensemble.npz"))
        if found is not None and work.filled is not None:
            complete = work.filled.complete
            tried = {k: spread(column, complete) for k, column in found.labels.items()}
            write_partitions(folder.file("partitions.csv"), tried, table)
        if work.labeller is not None:
            work.labeller.save(folder.file("generator.npz"))
        gaps = None
        if work.points is not None and work.filled is not None and model.n_clusters_ > 1:
            X, held = work.filled.X, labels[work.filled.complete]
            path = folder.file("features.csv")
            write_features(path, work.points, work.filled, held, raw=arguments.raw)
            gaps = gaps_record(X, held, scale(arguments), arguments.seed)
        clock.lap("write")
        content = {
            **call_record(arguments),
            "input": work.source,
            "settings": {**work.settings, "method": name.lower(), "consensus": parameters(model)},
            "seed": arguments.seed,
            "ensemble": _facts(ensemble),
            "clusters": int(model.n_clusters_),
            "cluster_sizes": sizes,
            "objects_without_evidence": int(np.count_nonzero(labels < 0)),
            "mean_confidence": None if sure is None else sure.mean,
            "mean_confidence_by_chance": None if sure is None else float(sure.by_chance.mean()),
            "supports": [asdict(support) for support in getattr(model, "supports_", [])],
            **_figures(model),
            "selection": None if found is None else selection_record(found),
            "gaps": gaps,
            "agreement_with_known_classes": scores,
            "warnings": told,
            "seconds": clock.seconds(),
            "versions": versions(),
        }
        write_result(folder.file("result.json"), content)
    else:
        send(labels, table, arguments.out)
    chosen = [] if found is None else [found.reason, *found.doubts]
    summary = _summary(arguments, choice, model, ensemble, sizes, sure, scores, n_categories)
    return "\n".join([*chosen, summary])


def send(labels: NDArray[np.int64], table: LabelTable, path: Path) -> None:
    """Write labels.csv on standard output, or to the file that ``--out`` names."""
    if path != STREAM:
        write_label_file(path, labels, table)
        return
    content = io.BytesIO()
    send_labels(content, labels, table)
    send_table(content.getvalue())


def _members(ensemble: Ensemble, n_categories: int) -> str:
    """Return how many clusterings there are, and how many columns of categories among the partitions."""
    made = count(ensemble.n_partitions - n_categories, "clustering")
    return f"{made} and {count(n_categories, 'column')} of categories" if n_categories else made


def _facts(ensemble: Ensemble) -> dict[str, Any]:
    return {
        "objects": ensemble.n_samples,
        "partitions": ensemble.n_partitions,
        "clusters": {
            "smallest": int(ensemble.cluster_counts.min()),
            "largest": int(ensemble.cluster_counts.max()),
        },
        "fingerprint": ensemble.fingerprint,
    }


def _figures(model: Any) -> dict[str, Any]:
    """Return the method's figures on its own work, where it has any."""
    names = ("objective", "kkt_residual", "n_iter", "converged", "solver")
    found = {name: getattr(model, f"{name}_", None) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _summary(
    arguments: argparse.Namespace,
    choice: Choice,
    model: Any,
    ensemble: Ensemble,
    sizes: NDArray[np.int64],
    sure: ChanceConfidence | None,
    scores: dict[str, float] | None,
    n_categories: int,
) -> str:
    """Return the lines that the command prints about a result.

    Parameters
    ----------
    arguments : Namespace
        The command line.
    choice : Choice
        The method and its parameters.
    model : estimator
        It, fitted.
    ensemble : Ensemble
        What it was fitted to.
    sizes : ndarray of shape (n_clusters,)
        Objects of each cluster.
    sure : ChanceConfidence or None
        Confidence beside chance, of methods with memberships.
    scores : dict or None
        Agreement with known classes, if they were given.
    n_categories : int
        Columns of categories among the partitions.
    """
    lines = [
        f"{count(len(sizes), 'cluster')} of {count(ensemble.n_samples, 'object')}, from "
        f"{_members(ensemble, n_categories)}. {sizes_line(sizes)}"
    ]
    bound = choice.parameters.get("n_clusters")
    if choice.method.n_clusters == "upper bound" and bound is not None and len(sizes) < bound:
        lines.append(
            f"{bound} clusters were allowed; {choice.method.estimator} takes that as a bound, and "
            f"{count(len(sizes), 'cluster')} sufficed. For exactly {bound}, choose a method that takes an "
            "exact number: 'conclust methods'."
        )
    reason = number_line(model)
    if reason:
        lines.append(reason)
        if arguments.command == "cluster" and model.n_clusters is None:
            lines.append("No p-value: these are the clusterings' own words. -k auto asks for one.")
    unplaced = int(np.count_nonzero(model.labels_ < 0))
    if unplaced:
        lines.append(f"{count(unplaced, 'object')} in no clustering at all: label -1.")
    if sure is not None:
        lines.append(confidence_line(sure))
    if scores is not None:
        lines.append(
            f"Against the known classes: H = {scores['consistency_index']:.3f} (share of objects "
            f"matched), ARI = {scores['adjusted_rand_index']:.3f}."
        )
    if arguments.out != STREAM:
        lines.append(f"Results are in {arguments.out}.")
    return "\n".join(lines)
