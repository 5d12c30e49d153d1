"""``conclust predict``: assigns new objects to the clusters of an earlier result.

A result folder holds no pickle, so that reading it runs nothing: the members are kept in ``generator.npz``, the default
consensus of points in ``placing.npz``; another one is found again from ``ensemble.npz`` with the same seed, which gives
the same result to the bit. Both are checked by the labels of the objects clustered.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.cli.commands.consensus import folder_of, send
from conclust.cli.console import STREAM, Talk, plain
from conclust.cli.reading.columns import OBJECT, Objects, roles_of
from conclust.cli.reading.inputs import points_of, read_labelling
from conclust.cli.reading.notation import Reading
from conclust.cli.reading.sources import Source as Input
from conclust.cli.reading.sources import opened
from conclust.cli.reading.tables import Table, label_matrix, listed, table_of
from conclust.cli.record import Clock, words
from conclust.cli.requested import jobs, reading
from conclust.cli.summary import confidence_line, last_lines, score, sizes_line, sizes_of
from conclust.confidence import ChanceConfidence
from conclust.confidence.items import company_of_new
from conclust.consensus.auto import AutoConsensus
from conclust.consensus.registry import class_of, make
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import indicator_of
from conclust.exceptions import FileFormatError, InputError, OutputExistsError, UnseenLabelWarning
from conclust.generation import EnsembleGenerator
from conclust.generation.labelling.labelling import scaled
from conclust.placing import labels_by_shares
from conclust.points import Refinement
from conclust.results.folder import Folder
from conclust.results.placing import Placing
from conclust.results.record import Record, Settings, Source, write_record
from conclust.results.writing import LabelTable, write_labels, write_memberships

_FILES = ("labels.csv", "memberships.csv", "result.json")


@dataclass(frozen=True)
class _Result:
    """An earlier result, read from its folder."""

    folder: Path
    record: Record
    ensemble: Ensemble
    labels: Ints
    id_name: str

    @property
    def of_labels(self) -> bool:
        """Whether it was made from labels instead of points."""
        return self.record.command == "combine"


@dataclass(frozen=True, kw_only=True)
class _New(Objects):
    """New objects, labelled by each partition of the ensemble."""

    labels: NDArray[Any]
    by_centers: tuple[Ints, Floats] | None = None
    votes: Floats | None = None


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
            how = _reading_like(result, reading(arguments), source)
            table = table_of(source, how, "labels" if result.of_labels else "points")
            new = _read_new(arguments, how, result, table)
        n_new = len(new.labels)
        talk.step(f"Read {table.name}: {count(n_new, 'new object')}.")
        for stranger in _strangers(result, new.labels):
            talk.step(stranger)
        clock.lap("read")
        if new.by_centers is not None:
            near, shares = new.by_centers
            placed = _Placed(near, shares, shares.max(axis=1), "by the centres of the clusters")
        else:
            placed = _place(arguments, talk, result, new)
        clock.lap("place")
        labels, membership = placed.labels, placed.membership
        has_cluster = labels >= 0
        n_unplaced = int(np.count_nonzero(~has_cluster))
        confidence = np.where(has_cluster, placed.confidence, np.nan)
        n_clusters = int(result.labels.max()) + 1
        sizes = sizes_of(labels, n_clusters)
        by_chance, names = result.record.by_chance, result.record.cluster_names
        mean = float(confidence[has_cluster].mean()) if has_cluster.any() else None
        scores = None if new.classes is None else score(new.classes, labels)
        label_table = LabelTable(new.ids, new.id_name, confidence, arguments.raw)
        if folder is None:
            send(labels, label_table, arguments)
        else:
            write_labels(folder.file("labels.csv"), labels, label_table)
            if membership is not None:
                write_memberships(folder.file("memberships.csv"), membership, label_table)
            clock.lap("write")
            record = Record(
                command=arguments.command,
                arguments=words(arguments),
                source=Source(plain(arguments.points), n_new),
                settings=Settings(method=result.record.settings["method"]).entries(),
                n_clusters=n_clusters,
                cluster_sizes=sizes.tolist(),
                cluster_names=names,
                n_unplaced=n_unplaced,
                mean_confidence=mean,
                by_chance=by_chance,
                scores=scores,
                seconds=clock.seconds(),
                placed_in=plain(arguments.result),
                placed_by=placed.way,
            )
            write_record(folder.file("result.json"), record)
    lines = [
        f"{count(n_new, 'new object')} placed in {count(n_clusters, 'cluster')} ({placed.way}). "
        f"{sizes_line(sizes, names)}"
    ]
    if n_unplaced:
        lines.append(f"{count(n_unplaced, 'object')} without any known label: label -1.")
    if by_chance is not None and mean is not None:
        lines.append(confidence_line(ChanceConfidence(mean, np.array([by_chance]))))
    talk.result("\n".join(lines + last_lines(scores, arguments.out)), lines[0])


def _read_result(folder: Path) -> _Result:
    if not folder.is_dir() or not (folder / "result.json").exists():
        raise InputError(
            f"{folder} is not a result folder: give a folder written by 'conclust cluster' or 'conclust "
            "combine'."
        )
    result = Folder(folder)
    if result.is_of_blocks:
        raise InputError(
            f"{folder} was made from labels in blocks: it has labels.npy, but not the clusterings needed to compute the "
            "consensus again. In Python, fit a conclust.blocks.LabelStore and call predict; "
            "or run 'conclust combine' without --blocks, on a sample of the objects if all do not fit into "
            "memory."
        )
    if result.command not in ("cluster", "combine"):
        raise InputError(f"{folder} is a result of 'conclust {result.command}': see --help.")
    result.check_format()
    record, ensemble = result.record(), Ensemble.load(folder / "ensemble.npz")
    labelling = read_labelling(folder / "labels.csv", Reading())
    labels = labelling.labels
    sound = labels.shape == (ensemble.n_samples,) and labels.dtype.kind == "i"
    if not sound or labels.max() < 0:
        raise FileFormatError(f"{folder / 'labels.csv'} does not fit ensemble.npz: it was changed.")
    return _Result(folder, record, ensemble, labels, labelling.id_name)


# ------------------------------------------------------------------------------------ new objects


def _reading_like(result: _Result, how: Reading, source: Input) -> Reading:
    """Read as the result was read: the spellings of empty cells, which only files of text have, and the notations of numbers."""
    settings = result.record.settings
    na = settings.get("na") or [] if source.kind == "csv" else []
    notations = {**(settings.get("notations") or {})}
    if not all(isinstance(text, str) for text in (*na, *notations.values())):
        return how
    return replace(how, na=(*how.na, *na), notations=notations, command=())


def _read_new(arguments: argparse.Namespace, how: Reading, result: _Result, table: Table) -> _New:
    if result.of_labels:
        return _read_labels(how, result, table)
    generator, placing = _placing(result)
    source = result.record.source
    how = _by_name(
        replace(
            how,
            gaps=result.record.settings.get("impute") is not None,
            categories=source.categories,
        ),
        table,
        source.columns,
        result.id_name,
    )
    points = points_of(table, how)
    _check_width(table, len(points.names), len(source.columns))
    X = placing.filled(points.X)
    complete = ~np.isnan(X).any(axis=1)
    labels: NDArray[Any] = np.full((len(X), len(generator.members_)), -1, dtype=np.int64)
    if complete.any():
        labels[complete] = generator.set_params(n_jobs=jobs(arguments)).transform(X[complete])
    if points.categories is not None:
        numbers, labels = labels, np.empty((len(X), result.ensemble.n_partitions), dtype=object)
        labels[:, : numbers.shape[1]] = numbers
        labels[:, numbers.shape[1] :] = points.categories
        labels[~complete] = None
    by_centers, refinement = None, placing.refinement
    if refinement is not None:
        nearest = np.full(len(X), -1, dtype=np.int64)
        nearest[complete] = refinement.labels(scaled(X[complete], generator.scaler_))
        by_centers = nearest, _memberships(result, refinement, nearest, labels)
    return _New(
        labels=labels,
        by_centers=by_centers,
        votes=placing.votes,
        ids=points.ids,
        id_name=points.id_name,
        classes=points.classes,
    )


def _placing(result: _Result) -> tuple[EnsembleGenerator, Placing]:
    """Return the model that labels new points, and the one that places them by their labels."""
    path, ensemble, source = result.folder / "generator.npz", result.ensemble, result.record.source
    if not path.exists():
        raise InputError(
            f"{result.folder} cannot label new points: it has no {path.name}, which 'conclust cluster' "
            "writes if every member can label them: by default, and with --generator kmeans, spectral, graph, density or several of them."
        )
    generator = EnsembleGenerator.load(path)
    n_partitions = len(generator.members_) + len(source.categories)
    if (n_partitions, generator.n_features_in_) != (ensemble.n_partitions, len(source.columns)):
        raise FileFormatError(f"{path} does not fit ensemble.npz: it was changed.")
    placing = Placing.load(
        result.folder / "placing.npz",
        len(source.columns),
        int(ensemble.offsets[-1]),
        int(result.labels.max()) + 1,
    )
    return generator, placing


def _memberships(
    result: _Result, refinement: Refinement, nearest: Ints, labels: NDArray[Any]
) -> Floats:
    """Return the memberships in the refined clusters; uniform for points without a label."""
    n_clusters = len(refinement.centers)
    membership = np.full((len(labels), n_clusters), 1.0 / n_clusters)
    labelled = nearest >= 0
    codes, _ = result.ensemble.encode(labels[labelled])
    indicator = indicator_of(codes, result.ensemble.offsets)
    membership[labelled] = refinement.membership(nearest[labelled], indicator)
    return membership


def _read_labels(how: Reading, result: _Result, table: Table) -> _New:
    columns = result.record.source.columns
    how = _by_name(how, table, columns, result.id_name)
    roles = roles_of(table, how)
    _check_width(table, len(roles.data), len(columns))
    labels = label_matrix(roles.data, noise=result.record.settings.get("missing") == "noise")
    return _New(labels=_spelled_alike(labels, result.ensemble), **roles.objects())


def _by_name(how: Reading, table: Table, columns: tuple[str, ...], id_name: str) -> Reading:
    """Select the columns of the result by name if the file names its columns, or else all; `id_name` names the objects."""
    if not table.named:
        return how
    known = id_name != OBJECT and id_name in table.names
    if known and how.id_column is None and id_name not in (*columns, how.label_column):
        how = replace(how, id_column=id_name)  # few objects do not show that it names them
    lacking = [name for name in (*columns, *how.categories) if name not in table.names]
    if not lacking:
        return replace(how, columns=columns)
    if all(name.isdigit() for name in columns) and not how.categories:
        return how  # the columns of the result had no names: by order
    raise InputError(
        f"{table.name} lacks {listed(lacking)}, from which the result was made. Its columns are "
        f"{listed(table.names)}."
    )


def _check_width(table: Table, width: int, wanted: int) -> None:
    if width != wanted:
        raise InputError(
            f"{table.name} has {count(width, 'column')} of data; the result was made from {wanted}."
        )


def _spelled_alike(labels: NDArray[Any], ensemble: Ensemble) -> NDArray[Any]:
    """Convert labels to the types of the ensemble: a column of names may now hold digits only."""
    worded = [any(isinstance(name, str) for name in names) for names in ensemble.names]
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


def _strangers(result: _Result, labels: NDArray[Any]) -> list[str]:
    """Return a sentence for each column of the file with values that the result did not have."""
    source, names = result.record.source, result.ensemble.names
    columns = source.columns if result.of_labels else source.categories
    said: list[str] = []
    if not columns:
        return said
    for name, known, new in zip(
        columns, names[-len(columns) :], labels.T[-len(columns) :], strict=True
    ):
        seen = {str(one) for one in known}
        absent = Counter(str(v) for v in new if v is not None and v == v and v not in (-1, -2))
        absent = Counter({value: times for value, times in absent.items() if value not in seen})
        if absent:
            said.append(
                f"The column {name!r} has values that the result did not have, so that in this column these objects resemble "
                f"no others: {', '.join(f'{value!r} ({times:,})' for value, times in absent.most_common(8))}."
            )
    return said


# ---------------------------------------------------------------------------------------- placing


def _place(arguments: argparse.Namespace, talk: Talk, result: _Result, objects: _New) -> _Placed:
    new = objects.labels
    method = result.record.method
    assert method is not None  # of cluster and combine
    kind = class_of(method.estimator)
    if not hasattr(kind, "predict"):
        labels = labels_by_shares(result.ensemble, result.labels, new)
        way = f"by the clusterings they share with each cluster, because {method.estimator} cannot place new objects"
        sure = company_of_new(result.labels, result.ensemble, new, labels)
        return _Placed(labels, None, sure, way)
    if new.shape[1] != result.ensemble.n_partitions:
        raise InputError(
            f"{result.folder} lists {new.shape[1]} columns, and its ensemble has {result.ensemble.n_partitions} "
            "partitions: it was changed. Create the result again."
        )
    parameters = result.record.settings.get("consensus")
    if not isinstance(parameters, dict) or not set(parameters) <= set(kind().get_params()):
        raise InputError(
            f"{result.folder} was made by another version of conclust, in which {method.estimator} had other "
            "parameters. Create the result again."
        )
    running = {"n_jobs": jobs(arguments), "verbose": int(talk.verbosity > 1)}
    model = make(
        method.estimator, running, **{k: v for k, v in parameters.items() if k not in running}
    )
    if isinstance(model, AutoConsensus) and objects.votes is not None:
        model.fit_votes(result.ensemble, objects.votes)
    else:
        took = result.record.seconds.get("combine")
        before = f", which took {took:.1f} s" if isinstance(took, float) else ""
        talk.step(f"Computing the consensus again ({method.estimator}{before}).")
        with (
            talk.during(f"computing the consensus again ({method.estimator})"),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # printed when the result was made
            model.fit(result.ensemble)
    if not np.array_equal(model.labels_, result.labels):
        raise InputError(
            f"{result.folder}: fitting {method.estimator} again gives labels that differ from labels.csv. "
            f"It was made by other versions ({_versions(result)}) or changed. Create the result again."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenLabelWarning)  # named with their columns before
        labels = model.predict(new)
    membership = None
    if hasattr(model, "predict_proba"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the same as that of predict
            membership = model.predict_proba(new)
    if membership is None:
        sure = company_of_new(result.labels, result.ensemble, new, labels)
    else:
        sure = membership.max(axis=1)
    return _Placed(labels, membership, sure, f"by {method.estimator}")


def _versions(result: _Result) -> str:
    versions = result.record.versions
    return ", ".join(f"{name} {versions.get(name)}" for name in ("conclust", "numpy", "scipy"))
