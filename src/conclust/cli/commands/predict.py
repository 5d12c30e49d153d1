"""``conclust predict``: assigns new objects to the clusters of an earlier result, by the model in its folder."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.opening import opened
from conclust._files.saving import fits, load
from conclust._files.storage import write_json
from conclust._types import Floats, Ints
from conclust._validation import count, shown
from conclust.cli.commands.consensus import folder_of, send
from conclust.cli.console import STREAM, Talk, plain
from conclust.cli.reading.inputs import points_of
from conclust.cli.reading.tables import Objects, Table, labels_of
from conclust.cli.record import Clock, record_of, score, sizes_of
from conclust.cli.requested import Reading, jobs, reading
from conclust.confidence import ChanceConfidence
from conclust.confidence.objects import company_of_new
from conclust.consensus.base import ConsensusClusterer
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import read_new_labels, unseen_values
from conclust.exceptions import FileFormatError, InputError, OutputExistsError, UnseenLabelWarning
from conclust.pipeline import ConsensusClustering, members_and_centers
from conclust.placing import labels_by_shares
from conclust.results.folder import load_alone
from conclust.results.record import Record, Source, entries
from conclust.results.writing import write_labels, write_memberships
from conclust.words import shell

_FILES = ("labels.csv", "memberships.csv", "result.json")


@dataclass(frozen=True)
class _Result:
    """An earlier result, read from its folder."""

    folder: Path
    record: Record
    model: Any

    @property
    def of_labels(self) -> bool:
        """Whether it was made from labels instead of points."""
        return self.record.command == "combine"

    @property
    def consensus(self) -> Any:
        """The fitted method."""
        return self.model if self.of_labels else self.model.consensus_

    @property
    def names(self) -> tuple[tuple[Any, ...], ...]:
        """Names of the clusters of each partition."""
        names: tuple[tuple[Any, ...], ...] = self.consensus._names
        return names


@dataclass(frozen=True, kw_only=True)
class _New(Objects):
    """New objects: their labels in each partition, or their points and labels by category."""

    labels: NDArray[Any] | None
    X: Floats


@dataclass(frozen=True)
class _Placed:
    """Clusters of the new objects."""

    labels: Ints
    membership: Floats | None
    confidence: Floats
    way: str


def run(arguments: argparse.Namespace) -> None:
    """Read a result and new objects, assign these to clusters, and write the labels."""
    talk, clock = Talk(arguments), Clock()
    if arguments.out != STREAM and arguments.out.resolve() == arguments.result.resolve():
        raise OutputExistsError(f"--out: {arguments.out} holds the result that is read.")
    with folder_of(arguments, names=_FILES) as folder:
        result = _read_result(arguments.result)
        with opened(arguments.points) as source:
            # The spellings of empty cells, which only files of text have, and the notations of numbers, as in the result.
            how, settings = reading(arguments), result.record.settings
            na = (*how.na, *(settings.get("na", ()) if source.form.kind == "csv" else ()))
            how = replace(how, na=na, notations=settings.get("notations", {}), command=())
            table = Table(source, how, "labels" if result.of_labels else "points")
            new = _read_new(arguments, how, result, table)
        n_new = len(new.X)
        talk.step(shell.read_line(table.name, [count(n_new, "new object")]))
        if strangers := _strangers(result, new.labels):
            talk.step(strangers)
        clock.lap("read")
        for part in (result.consensus, getattr(result.model, "generator_", result.consensus)):
            if "n_jobs" in part.get_params(deep=False):
                part.set_params(n_jobs=jobs(arguments))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenLabelWarning)  # named with their columns before
            placed = _place(result, new)
        clock.lap("place")
        labels, membership = placed.labels, placed.membership
        has_cluster = labels >= 0
        n_unplaced = int(np.count_nonzero(~has_cluster))
        confidence = np.where(has_cluster, placed.confidence, np.nan)
        n_clusters = int(result.consensus.n_clusters_)
        sizes = sizes_of(labels, n_clusters)
        by_chance = result.record.by_chance
        mean = float(confidence[has_cluster].mean()) if has_cluster.any() else None
        scores = score(new.classes, labels)
        calibration = getattr(result.model, "calibration_", None)
        kept = None if calibration is None else calibration.of(confidence)
        clusters = getattr(result.consensus, "classes_", None)
        label_table = replace(new, confidence=confidence, kept=kept, clusters=clusters)
        if folder is None:
            send(labels, label_table, arguments)
        else:
            write_labels(folder.file("labels.csv"), labels, label_table)
            if membership is not None:
                write_memberships(folder.file("memberships.csv"), membership, label_table)
            clock.lap("write")
            record = record_of(
                arguments,
                source=Source(plain(arguments.points), n_new),
                settings={"method": result.record.settings["method"]},
                n_clusters=n_clusters,
                cluster_sizes=tuple(sizes.tolist()),
                n_unplaced=n_unplaced,
                mean_confidence=mean,
                by_chance=by_chance,
                scores=scores,
                seconds=clock.seconds(),
            )
            placing = {"result": plain(arguments.result), "placed_by": placed.way}
            write_json(folder.file("result.json"), entries(record) | record.settings | placing)
    lines = [f"{shell.placed_line(n_new, n_clusters, placed.way)} {shell.sizes_line(sizes)}"]
    if n_unplaced:
        lines.append(shell.unplaced_line(n_unplaced, "any known label"))
    if by_chance is not None and mean is not None:
        lines.append(shell.confidence_line(ChanceConfidence(mean, np.array([by_chance]))))
    talk.result("\n".join(lines + shell.last_lines(scores, arguments.out)), lines[0])


def _read_result(folder: Path) -> _Result:
    record, path = load_alone(folder).record, folder / "model.npz"
    if record.command == "select":
        raise InputError(f"{folder} is a result of 'conclust select': see --help.")
    if not path.exists():
        raise InputError(
            f"{folder} has no model.npz, which places new objects: it is incomplete, or of an earlier version of conclust. "
            f"Make the result again: {record.call}"
        )
    model = load(path)
    kind = ConsensusClusterer if record.command == "combine" else ConsensusClustering
    if not isinstance(model, kind):
        raise FileFormatError(
            f"{path} does not fit report.npz: it was changed. Make the result again."
        )
    return _Result(folder, record, model)


# ------------------------------------------------------------------------------------ new objects


def _read_new(arguments: argparse.Namespace, how: Reading, result: _Result, table: Table) -> _New:
    if result.of_labels:
        return _read_labels(how, result, table)
    members, record = result.model.generator_.members_, result.record
    without = sorted({member.method for member in members if member.model is None})
    if without:
        raise InputError(
            f"{result.folder} cannot label new points: members by {', '.join(without)} label those of the fit only. All others "
            "can: those made by default, and with --generator kmeans, spectral, graph, density or several of them."
        )
    source = record.source
    how = replace(how, gaps=record.settings.get("impute") is not None, categories=source.categories)
    how = _by_name(how, table, source.columns, source.id_name)
    points = points_of(table, how)
    _check_width(table, len(points.names), len(source.columns))
    X, filling = points.X, record.settings.get("filling")
    if filling is not None:
        if not fits(filling, list[float]) or len(filling) != X.shape[1]:
            raise FileFormatError(
                f"{result.folder / 'report.npz'} was changed. Make the result again."
            )
        X = np.where(np.isnan(X), np.array(filling, dtype=np.float64), X)
    return _New(
        labels=points.categories,
        X=X,
        ids=points.ids,
        id_name=points.id_name,
        classes=points.classes,
    )


def _read_labels(how: Reading, result: _Result, table: Table) -> _New:
    columns = result.record.source.columns
    how = _by_name(how, table, columns, result.record.source.id_name)
    labels, names, objects = labels_of(table, how)
    _check_width(table, len(names), len(columns))
    if result.record.settings.get("missing") == "noise":
        labels = np.where((labels == -1) | (labels.astype(object) == "-1"), -2, labels)
    labels = _spelled_alike(labels, result.names)
    return _New(labels=labels, X=np.empty((len(labels), 0)), **objects)


def _by_name(how: Reading, table: Table, columns: tuple[str, ...], id_name: str) -> Reading:
    """Select the columns of the result by name, by number in a file without names that has further ones, or else all; `id_name` names the objects."""
    if not table.named:
        more = len(table.names) > len(columns)
        return replace(how, columns=columns) if more and {*columns} <= {*table.names} else how
    known = id_name != Objects.id_name and id_name in table.names
    if known and how.id_column is None and id_name not in (*columns, how.label_column):
        how = replace(how, id_column=id_name)  # few objects do not show that it names them
    lacking = [name for name in (*columns, *how.categories) if name not in table.names]
    if not lacking:
        return replace(how, columns=columns)
    if all(name.isdigit() for name in columns) and not how.categories:
        return how  # the columns of the result had no names: by order
    raise InputError(
        f"{table.name} lacks {shown(lacking)}, from which the result was made. Its columns are "
        f"{shown([*table.names])}."
    )


def _check_width(table: Table, width: int, wanted: int) -> None:
    if width != wanted:
        raise InputError(
            f"{table.name} has {count(width, 'column')} of data; the result was made from {wanted}."
        )


def _spelled_alike(labels: NDArray[Any], known: tuple[tuple[Any, ...], ...]) -> NDArray[Any]:
    """Convert labels to the types of the known ones: a column of names may now hold digits only."""
    worded = [any(isinstance(name, str) for name in names) for names in known]
    if labels.dtype.kind != "O" and not any(worded):
        return labels
    spelled = labels.astype(object)
    for u, has_words in enumerate(worded):
        for i, label in enumerate(spelled[:, u]):
            missing = label is None or label != label
            reserved = isinstance(label, int | np.integer) and label < 0
            if has_words and not (isinstance(label, str) or missing or reserved):
                spelled[i, u] = str(label)
            elif not has_words and isinstance(label, str):
                # A name in a column of numbers: observed, and separate from all others.
                spelled[i, u] = -2
    return spelled


def _strangers(result: _Result, labels: NDArray[Any] | None) -> str:
    """Return the line about values that the result did not have; "" if there are none."""
    source, names = result.record.source, result.names
    columns = source.columns if result.of_labels else source.categories
    if labels is None or not columns:
        return ""
    n = len(columns)
    return shell.strangers_line(unseen_values(columns, names[-n:], read_new_labels(labels[:, -n:])))


# ---------------------------------------------------------------------------------------- placing


def _place(result: _Result, new: _New) -> _Placed:
    """Place new objects."""
    if result.of_labels:
        return _by_labels(result, new.labels)
    by_members, around = members_and_centers(result.model, new.X, new.labels)
    if around is None:
        return _by_labels(result, by_members)
    return _Placed(*around, around[1].max(axis=1), shell.WAYS["centers"])


def _by_labels(result: _Result, new: Any) -> _Placed:
    """Place objects by their labels in each partition."""
    consensus = result.consensus
    name = type(consensus).__name__
    if new.shape[1] != len(result.names):
        raise InputError(
            f"{result.folder} lists {new.shape[1]} columns, and its model has {len(result.names)} partitions: it was "
            "changed. Make the result again."
        )
    if hasattr(consensus, "predict_proba"):
        membership = consensus.predict_proba(new)
        labels = consensus.predict(new)
        return _Placed(labels, membership, membership.max(axis=1), shell.WAYS["model"].format(name))
    # Without memberships the confidence is the company, which needs the partitions of the fit.
    if result.of_labels:
        ensemble = Ensemble.load(result.folder / "ensemble.npz")
        if ensemble.n_samples != len(consensus.labels_):
            raise FileFormatError(
                f"{result.folder / 'ensemble.npz'} does not fit model.npz: it was changed. Make the result again."
            )
    else:
        ensemble = result.model.ensemble_
    old = result.model.labels_
    if hasattr(consensus, "predict"):
        labels, way = consensus.predict(new), "model"
    else:
        labels, way = labels_by_shares(ensemble, old, new), "shares"
    company = company_of_new(old, ensemble, new, labels)
    return _Placed(labels, None, company, shell.WAYS[way].format(name))
