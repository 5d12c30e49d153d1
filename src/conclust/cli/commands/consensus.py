"""``conclust cluster`` and ``conclust combine``: an ensemble, its consensus, a result folder."""

from __future__ import annotations

import argparse
import io
import json
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from conclust._files.spreadsheets import guard_text
from conclust._progress import watching
from conclust._types import Ints
from conclust._validation import count
from conclust.cli.choice import Choice, choose
from conclust.cli.commands import of_points
from conclust.cli.console import STREAM, Talk, plain, send_table
from conclust.cli.options import LEVEL
from conclust.cli.reading import inputs
from conclust.cli.reading.tables import Objects
from conclust.cli.record import (
    Clock,
    given,
    parameters,
    record_of,
    recorded_warnings,
    score,
    sizes_of,
)
from conclust.cli.refusals import check_output_file
from conclust.cli.requested import jobs, reading, scale
from conclust.confidence import confidences
from conclust.confidence.calibration import calibrated, usual_chance
from conclust.ensemble import Ensemble
from conclust.exceptions import SelectionWarning
from conclust.generation.generator import EnsembleGenerator
from conclust.generation.labelling.labelling import scaled
from conclust.generation.points import doubts
from conclust.pipeline import ConsensusClustering
from conclust.results import writing
from conclust.results.folder import write_result
from conclust.results.record import Record, Source, facts_of, figures_of
from conclust.results.result import Reported
from conclust.words import shell
from conclust.words.confidence import kept_sentence
from conclust.words.number import of_bic
from conclust.words.points import of_doubts, of_scaling
from conclust.words.reason import SHELL


@dataclass(frozen=True, kw_only=True)
class _Work:
    """The consensus and its ensemble, and the record of how they were made; of points also what was clustered, and by what."""

    model: Any
    ensemble: Ensemble
    objects: Objects
    record: Record
    points: inputs.Points | None = None
    filled: of_points.Filled | None = None
    pipeline: ConsensusClustering | None = None


def run_cluster(arguments: argparse.Namespace) -> None:
    """Cluster points by `ConsensusClustering`, columns of categories as further partitions, and write the consensus."""
    choice = choose(arguments)
    if arguments.calibrate and not hasattr(choice.estimator(jobs=1, verbose=0), "predict"):
        arguments.usage_error(
            f"--calibrate assigns each half of the points to the clusters of the other, and {choice.method.estimator} "
            "cannot place new points: give a --method that can, such as auto or mcla, or leave --calibrate out."
        )
    if arguments.calibrate and arguments.categories:
        arguments.usage_error(
            "--calibrate clusters halves of the points, without columns of categories: leave --calibrate or --categories out."
        )
    talk, clock = Talk(arguments), Clock()
    with folder_of(arguments) as folder:
        points, filled = of_points.points_read(arguments, talk, clock)
        kinds = arguments.generator.split("+")
        generator = EnsembleGenerator(
            kinds[0] if len(kinds) == 1 else kinds,
            n_partitions=arguments.partitions,
            scale=scale(arguments),
            n_jobs=jobs(arguments),
            cache_dir=arguments.cache,
            verbose=talk.verbosity,
        )
        pipeline = ConsensusClustering(
            choice.estimator(jobs=jobs(arguments), verbose=int(talk.verbosity > 1)),
            generator,
            n_clusters="auto" if choice.auto else None,
            random_state=arguments.seed,
            verbose=int(talk.verbosity > 1),
        )

        @contextmanager
        def watcher(step: str, *subjects: Any) -> Iterator[None]:
            if step == "generate":
                talk.step(shell.STEPS["made"].format(arguments.generator))
                yield
                talk.step(of_scaling(subjects[0]._scale_facts, points.names))
            elif step == "choose":
                talk.step(shell.STEPS["choosing"])
                with talk.during("choosing the number of clusters"):
                    yield
            else:
                weights = subjects[0].weights
                if weights is not None:
                    talk.step(shell.STEPS["weights"].format(weights[-1]))
                with _combining(talk, choice, subjects[0], len(points.category_names)):
                    yield
            clock.lap(step)

        with recorded_warnings() as warned, warnings.catch_warnings(), watching(watcher):
            warnings.simplefilter("ignore", SelectionWarning)  # printed with the result
            pipeline.fit(filled.X, partitions=points.categories)
        made, model = pipeline.generator_, pipeline.consensus_
        weights = pipeline.ensemble_.weights
        settings = read_as(
            arguments, points, made.scale_, of_scaling(made._scale_facts, points.names)
        ) | given(
            method=choice.method.estimator.lower(),
            consensus=parameters(model),
            generator=parameters(made),
            filling=None if filled.values is None else filled.values.tolist(),
            category_weight=None if weights is None else float(weights[-1]),
            around_centers=pipeline.centers_ is not None,
        )
        if pipeline.centers_ is not None:
            model = copy(model)
            model.labels_, model.membership_ = pipeline.labels_, pipeline.membership_
        record = record_of(
            arguments,
            source=source_of(arguments.points, points, filled),
            features=len(points.names),
            settings=settings,
            warnings=(*points.doubts, *warned),
        )
        work = _Work(
            model=model,
            ensemble=pipeline.ensemble_,
            objects=points,
            record=record,
            points=points,
            filled=filled,
            pipeline=pipeline,
        )
        summary = _finish(arguments, talk, clock, folder, choice, work)
    talk.result(summary, summary.splitlines()[0])


def read_as(
    arguments: argparse.Namespace, points: inputs.Points, scale: Any, reason: str
) -> dict[str, Any]:
    """Return the settings by which points were read and scaled."""
    return {
        "scale": scale,
        "impute": arguments.impute,
        **given(
            scale_reason=reason,
            na=arguments.na,
            notations=points.notations or None,
        ),
    }


def source_of(path: Path, points: inputs.Points, filled: of_points.Filled) -> Source:
    """Describe the points that were read, for the record."""
    cells = tuple(filled.cells.sum(axis=0).tolist())
    names = tuple(points.names), tuple(points.category_names)
    hashes = tuple(sha256_of(np.where(np.isnan(each), np.nan, each))[:16] for each in points.X.T)
    if points.categories is not None:
        hashes += tuple(sha256_of(each.tolist())[:16] for each in points.categories.T)
    return Source(plain(path), len(points.X), *names, cells, points.id_name, hashes)


def rows_of(points: inputs.Points) -> Ints:
    """Return a checksum of the cells of each object."""
    cells = np.ascontiguousarray(np.where(np.isnan(points.X), np.nan, points.X))
    texts = [()] * len(cells) if points.categories is None else points.categories.tolist()
    rows = (crc32(row, crc32(repr(text).encode())) for row, text in zip(cells, texts, strict=True))
    return np.fromiter(rows, np.int64, len(cells))


def sha256_of(values: Any) -> str:
    """Return the SHA-256 of an array, or of a list of text and None."""
    content = values.tobytes() if isinstance(values, np.ndarray) else json.dumps(values).encode()
    return sha256(content).hexdigest()


@contextmanager
def _combining(talk: Talk, choice: Choice, ensemble: Ensemble, n_categories: int) -> Iterator[None]:
    """Print what is combined, and periodically the progress."""
    name = choice.method.estimator
    made = shell.members(ensemble.n_partitions, n_categories)
    talk.step(shell.STEPS["combining"].format(made, name))
    talk.detail(f"  time of {name}: {choice.method.cost}")
    with talk.during(f"combining ({name})"):
        yield


def run_combine(arguments: argparse.Namespace) -> None:
    """Combine a label matrix and write the consensus."""
    choice = choose(arguments)
    talk, clock = Talk(arguments), Clock()
    with folder_of(arguments) as folder:
        first = arguments.labels
        if arguments.memberships is not None:
            first = arguments.memberships[0]
            labels = inputs.read_memberships(arguments.memberships, reading(arguments))
        else:
            read = {
                "draws": inputs.read_draws,
                "answers": inputs.read_answers,
                "objects": inputs.read_ensemble,
            }
            labels = read[arguments.rows](first, reading(arguments))
        ensemble = labels.ensemble
        kinds = [count(ensemble.n_samples, "object"), count(ensemble.n_partitions, "clustering")]
        talk.step(shell.read_line(first, kinds, labels.notes))
        repeats = of_doubts(doubts(np.empty((ensemble.n_samples, 0)), labels.ids))
        for repeat in repeats:
            talk.step(repeat)
        clock.lap("read")
        model = choice.estimator(
            seed=arguments.seed, jobs=jobs(arguments), verbose=int(talk.verbosity > 1)
        )
        with recorded_warnings() as warned, _combining(talk, choice, ensemble, 0):
            model = _lowest_bic(model, choice, ensemble, talk)
        clock.lap("combine")
        source = Source(
            plain(first), ensemble.n_samples, tuple(labels.names), id_name=labels.id_name
        )
        settings = given(
            method=choice.method.estimator.lower(),
            consensus=parameters(model),
            missing=arguments.missing,
            weights=None if arguments.weights is None else plain(arguments.weights),
            rows=None if arguments.rows == "objects" else arguments.rows,
            na=arguments.na,
        )
        record = record_of(
            arguments, source=source, settings=settings, warnings=(*repeats, *warned)
        )
        work = _Work(model=model, ensemble=ensemble, objects=labels, record=record)
        summary = _finish(arguments, talk, clock, folder, choice, work)
    talk.result(summary, summary.splitlines()[0])


def _lowest_bic(model: Any, choice: Choice, ensemble: Ensemble, talk: Talk) -> Any:
    """Fit the model; if several numbers of latent classes are given, fit each and return the one with the lowest BIC."""
    fits, most = [], int(ensemble.present.any(axis=1).sum())
    for k in choice.classes[:most]:
        fits.append(copy(model).set_params(n_clusters=k).fit(ensemble))
        talk.step(f"  {count(k, 'class')}: {shell.fit_of_classes(fits[-1])}")
    return min(fits, key=lambda one: float(one.bic_)) if fits else model.fit(ensemble)


def _profiles(model: Any, work: _Work) -> dict[str, Any]:
    """Return the most probable answer to each question in each class, and its probability, as columns."""
    columns: dict[str, Any] = {"column": [*map(guard_text, work.record.source.columns)]}
    questions = [*zip(work.ensemble.names, model.label_probabilities_, strict=True)]
    for k in range(len(model.mixing_)):
        columns[f"cluster_{k}"] = [guard_text(str(of[p[k].argmax()])) for of, p in questions]
        columns[f"probability_{k}"] = np.round([p[k].max() for _, p in questions], 6)
    return columns


def folder_of(
    arguments: argparse.Namespace, **names: Any
) -> AbstractContextManager[writing.OutputFolder | None]:
    """Return the folder of ``--out``; None if only the labels are written: see `send`.

    Raises
    ------
    OutputExistsError
        The output file exists, and ``--force`` was not given.
    InputError
        Its folder does not exist.
    """
    path = arguments.out
    if path == STREAM:
        return nullcontext(None)
    if not writing.is_table_name(path):
        return writing.OutputFolder(path, force=arguments.force, **names)
    check_output_file(path, force=arguments.force)
    return nullcontext(None)


def _finish(
    arguments: argparse.Namespace,
    talk: Talk,
    clock: Clock,
    folder: writing.OutputFolder | None,
    choice: Choice,
    work: _Work,
) -> str:
    """Write all files, and return the summary.

    Parameters
    ----------
    arguments : Namespace
        The command line.
    talk, clock : Talk and Clock
        For progress and timings.
    folder : OutputFolder or None
        Folder for the files; None: no files are written.
    choice : Choice
        The method and its parameters.
    work : _Work
        The consensus and its ensemble.
    """
    model, ensemble, points, pipeline = work.model, work.ensemble, work.points, work.pipeline
    labels, K = model.labels_, int(model.n_clusters_)
    selection, kept, parts = getattr(pipeline, "selection_", None), None, dict[str, Any]()
    reason = (pipeline or model).reason_parts
    if len(choice.classes) > 1:
        reason = of_bic(K, choice.classes[-1])
    asked = getattr(model, "n_clusters", None) is not None
    reason = replace(reason, testable=points is not None and selection is None and not asked)
    if work.filled is not None and pipeline is not None:
        parts = of_points.tested_borders(
            arguments, talk, clock, work.filled.X, pipeline, LEVEL, None
        )
        if arguments.calibrate:
            talk.step(shell.STEPS["halves"])
            with talk.during("calibrating"):
                kept = calibrated(pipeline, work.filled.X, random_state=arguments.seed).kept
            clock.lap("calibrate")
    sure = usual_chance(model, ensemble)
    scores = score(work.objects.classes, labels)
    sizes = sizes_of(labels, K)
    unplaced = int(np.count_nonzero(labels < 0))
    clusters, each = getattr(model, "classes_", None), confidences(model, ensemble)
    table = replace(work.objects, confidence=each, kept=kept, clusters=clusters)
    if folder is None:
        send(labels, table, arguments)
    else:
        talk.step(f"Writing {arguments.out}.")
        writing.write_labels(folder.file("labels.csv"), labels, table)
        membership = getattr(model, "membership_", None)
        if membership is not None:
            writing.write_memberships(folder.file("memberships.csv"), membership, table)
        ensemble.save(folder.file("ensemble.npz"))
        (pipeline or model).save(folder.file("model.npz"))
        if selection is not None:
            writing.write_partitions(folder.file("partitions.csv"), selection.labels, table)
        if choice.classes:
            writing.write_numbers(folder.file("profiles.csv"), _profiles(model, work))
        if points is not None and work.filled is not None and pipeline is not None:
            X = scaled(work.filled.X, pipeline.generator_.scaler_)
            parts |= of_points.described(folder, points, work.filled, X, labels)
            others = getattr(pipeline, "evidence_", {})
            if others:
                alternatives = {k: pipeline.labels_at(k) for k in others}
                writing.write_partitions(folder.file("alternatives.csv"), alternatives, table)
            of_points.write_borders(folder, parts)
        clock.lap("write")
        requested = work.record.settings["consensus"].get("n_clusters")
        given_number = selection is None and len(choice.classes) < 2 and isinstance(requested, int)
        record = replace(
            work.record,
            method=choice.method,
            seed=arguments.seed,
            asked_for=requested if given_number else None,
            ensemble=facts_of(ensemble),
            n_clusters=K,
            cluster_sizes=tuple(sizes.tolist()),
            labels_hash=sha256_of(labels.astype("<i8")),
            n_unplaced=unplaced,
            mean_confidence=None if sure is None else sure.mean,
            by_chance=None if sure is None else float(sure.by_chance.mean()),
            scores=scores,
            seconds=clock.seconds(),
            **figures_of(model, reason, SHELL),
        )
        if table.clusters is not None:
            parts["cluster_names"] = tuple(map(str, table.clusters[:K]))
        if points is not None:
            parts["rows"] = rows_of(points)
        ids = work.objects.ids
        reported = Reported(labels, record, selection=selection, names=ids, kept=kept, **parts)
        write_result(folder, reported, membership if choice.method.membership else None)
    n_categories = 0 if points is None else len(points.category_names)
    made = shell.members(ensemble.n_partitions, n_categories)
    lines = [f"{shell.clusters_line(K, ensemble.n_samples, made)} {shell.sizes_line(sizes)}"]
    lines.append(reason.text(SHELL))
    if selection is not None and selection.n_clusters == K:
        lines += selection.doubts
    several = selection is not None and selection.n_clusters > 1
    lines += of_points.border_lines(parts, more_than_gaussian=several)
    if kept is not None:
        lines.append(kept_sentence(kept, work.objects.ids))
    if choice.classes:
        lines.append(shell.classes_line(model))
    if unplaced:
        lines.append(shell.unplaced_line(unplaced, "a clustering"))
    if sure is not None:
        lines.append(shell.confidence_line(sure))
    return "\n".join(lines + shell.last_lines(scores, arguments.out))


def send(labels: Ints, table: writing.LabelTable, arguments: argparse.Namespace) -> None:
    """Write labels.csv on standard output, or to the file that ``--out`` names."""
    path = arguments.out
    if path != STREAM:
        check_output_file(
            path, force=arguments.force
        )  # another process may have written it meanwhile
        writing.write_labels(path, labels, table)
        return
    content = io.BytesIO()
    writing.send_labels(content, labels, table)
    send_table(content.getvalue())
