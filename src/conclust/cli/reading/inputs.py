"""Reads what commands want from users' files: points, labels of objects, draws, answers, memberships, one labelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.formats import WEIGHTS
from conclust._files.storage import read_npz
from conclust._types import Floats
from conclust.cli.console import plain
from conclust.cli.reading.columns import OBJECT, Objects, names_objects, roles_of
from conclust.cli.reading.notation import Reading, is_number
from conclust.cli.reading.sources import Source, opened
from conclust.cli.reading.tables import (
    Column,
    Table,
    label_matrix,
    listed,
    read_array,
    settle,
    table_of,
)
from conclust.ensemble import Ensemble, Missing
from conclust.ensemble.orientation import clusterings_as_rows
from conclust.exceptions import InputError, OrientationWarning, warn
from conclust.results.writing import is_label_file

__all__ = [
    "Labelling",
    "Labels",
    "Points",
    "Reading",
    "points_of",
    "read_answers",
    "read_draws",
    "read_ensemble",
    "read_labelling",
    "read_memberships",
    "read_points",
    "read_weights",
]


@dataclass(frozen=True, kw_only=True)
class Points(Objects):
    """Objects described by numbers, and optionally by categories.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_columns)
        NaN where a cell is empty, if that is allowed.
    names : tuple of str
        Names of the columns.
    categories : ndarray of object of shape (n_samples, n_categories) or None
        Text; None where a cell is empty.
    category_names : tuple of str
        Names of the columns of categories.
    notations : dict of str to str
        Notation of the columns of numbers that have an unusual one.
    doubts : tuple of str
        Sentences of `conclust.points.doubts` about them.
    """

    X: Floats
    names: tuple[str, ...]
    categories: NDArray[Any] | None
    category_names: tuple[str, ...]
    notations: dict[str, str]
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Labels(Objects):
    """Objects described by an ensemble of partitions; ``names`` are the partitions' names."""

    ensemble: Ensemble
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Labelling(Objects):
    """One label for each object: whole numbers or names; -1 missing, -2 noise."""

    labels: NDArray[Any]


def read_points(path: Path, how: Reading) -> Points:
    """Read points, one object per row.

    Raises
    ------
    OSError
        The file is missing or cannot be read.
    FileFormatError, InputError
        Its shape or content is not valid for points.
    """
    with opened(path) as source:
        points = points_of(table_of(source, how, "points"), how)
    if len(points.X) < 2:
        raise InputError(f"{path} holds {len(points.X)} object; a clustering needs at least two.")
    return points


def points_of(table: Table, how: Reading) -> Points:
    """Return the points of a table."""
    if not table.columns:
        raise InputError(
            f"{table.name} has no column: an object is described by at least one number."
        )
    roles = roles_of(table, how)
    categories: NDArray[Any] = np.empty((len(table), len(roles.categories)), dtype=object)
    for u, column in enumerate(roles.categories):
        categories[:, u] = column.words
        seen = [word for word in column.words if word is not None]
        if not seen or names_objects(len(set(seen)), len(seen)):
            raise InputError(
                f"{table.name}: the column {column.name!r} has {len(set(seen)):,} different values for {len(seen):,} objects: "
                "these are not categories. Give it as --id-column, or --drop it."
            )
    return Points(
        X=np.column_stack([column.readings[column.notation] for column in roles.data]),
        names=roles.names,
        categories=categories if roles.categories else None,
        category_names=tuple(column.name for column in roles.categories),
        notations={c.name: c.notation for c in roles.data if c.notation not in ("number", "point")},
        **roles.objects(),
    )


def read_ensemble(
    path: Path, how: Reading, *, missing: Missing = "unobserved", weights: Path | None = None
) -> Labels:
    """Read a label matrix (one partition per column) or a saved ensemble.

    Parameters
    ----------
    path : Path
        A table, an array, or a file of `Ensemble.save`.
    how : Reading
        Options for reading.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1.
    weights : Path, default=None
        A file of one weight per partition.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    FileFormatError, InputError
        Its shape or content is not valid for labels.
    """
    with opened(path) as source:
        if source.kind == "npz" and "ensemble" in str(read_npz(source.path)[1].get("format", "")):
            return _of_saved(source, how, missing, weights)
        table = table_of(source, how, "labels")
        roles = roles_of(table, how)
        matrix = label_matrix(roles.data, noise=missing == "noise")
    names = roles.names
    if clusterings_as_rows(matrix, *matrix.shape):
        n, m = matrix.shape
        warn(
            f"{table.name} is read as {n} objects in {m} clusterings. If each row is a clustering of {m} objects, "
            "transpose it: one row per object.",
            OrientationWarning,
        )
    ensemble = _weighted(partial(Ensemble, matrix), table.name, len(names), names, weights, how)
    observed = ensemble.present.sum(axis=0)
    for name, k, n in zip(names, ensemble.cluster_counts, observed, strict=True):
        if not roles.chosen and names_objects(int(k), int(n)):
            raise InputError(
                f"{table.name}: the column {name!r} has {k:,} different labels for {n:,} objects, so it names them instead of "
                "clustering them. Give it as --id-column, or leave it out with --drop; if it is a clustering nevertheless, list the "
                "clusterings with --columns."
            )
    return Labels(ensemble=ensemble, names=names, **roles.objects())


def _weighted(
    make: Callable[..., Ensemble],
    name: str,
    n: int,
    names: Sequence[str],
    weights: Path | None,
    how: Reading,
) -> Ensemble:
    """Make an ensemble with the weights of a file; its refusals name the file of the labels."""
    try:
        of_members = weights and read_weights(weights, n, names, encoding=how.encoding)
        return make(weights=of_members)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _of_saved(source: Source, how: Reading, missing: Missing, weights: Path | None) -> Labels:
    if missing != "unobserved":
        raise InputError(
            f"{source} is a saved ensemble, which distinguishes missing labels from noise. Leave --missing out."
        )
    if how.id_column or how.label_column or how.columns or how.drop or how.na:
        raise InputError(
            f"{source} is a saved ensemble, without columns to choose from: leave --id-column, --label-column, --columns, --drop "
            "and --na out."
        )
    saved = Ensemble.load(source.path)
    if weights is not None:
        saved = saved.reweighted(read_weights(weights, saved.n_partitions, encoding=how.encoding))
    names = tuple(str(u + 1) for u in range(saved.n_partitions))
    return Labels(ensemble=saved, names=names, notes=("a saved ensemble",))


def read_labelling(path: Path, how: Reading, wanted: Sequence[str] = ()) -> Labelling:
    """Read one labelling of objects: the first column of `wanted`, or "label", or the only one."""
    with opened(path) as source:
        table = table_of(source, how, "labelling")
        candidates = [name for name in wanted if name in table.names] or list(wanted)
        if not candidates and table.named and "label" in table.names:
            candidates = ["label"]
        if is_label_file(table.names) and how.id_column is None:
            how = replace(how, id_column=table.names[0], columns=("label",))
        roles = roles_of(table, how)
        columns = [table.column(name, "--column") for name in candidates[:1]] or roles.data
        if len(columns) != 1:
            raise InputError(
                f"{table.name} has {len(columns)} columns that may be the labels to compare: {listed(table.names)}. Say which "
                "with --column."
            )
        return Labelling(labels=columns[0].labels(noise=False), **roles.objects())


def read_weights(
    path: Path, n_partitions: int, names: Sequence[str] = (), *, encoding: str | None = None
) -> Floats:
    """Read one non-negative weight per partition: a column, a row, or an array.

    names : those of the partitions. A row below these names, in any order, is read by them.
    encoding : of a CSV file without a byte order mark; None: UTF-8.
    """
    with opened(path) as source:
        if source.kind == "csv":
            table = table_of(source, Reading(encoding=encoding), "points")
            columns = table.columns
            if table.named and len(columns) == len(names) and set(table.names) & set(names):
                columns = [table.column(name, "--weights") for name in names]
            weights = _numbers(table, columns, "weights")
        elif source.has_columns:
            raise InputError(f"{source}: weights are read from {WEIGHTS}.")
        else:
            weights = read_array(source, Reading(), ("weights",))
    if weights.dtype.kind not in "biuf" or weights.size != n_partitions or 1 < weights.ndim != 2:
        raise InputError(
            f"{path}: expected one number per partition, {n_partitions} in all. Got shape {weights.shape} and dtype {weights.dtype} "
            "instead."
        )
    return weights.reshape(-1).astype(np.float64)


def read_memberships(paths: Sequence[Path], *, weights: Path | None = None) -> Labels:
    """Read soft partitions of the same objects: in each file one object per line, and its share of each cluster.

    Parameters
    ----------
    paths : sequence of Path
        Files of numbers without a header, as ADMIXTURE, STRUCTURE and CLUMPP write them.
    weights : Path, default=None
        A file of one weight per file.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    FileFormatError, InputError
        A file is not a matrix of numbers, or its rows are not memberships.
    """
    names = tuple(plain(path) for path in paths)
    shares, how = [], Reading(header=False)
    for path in paths:
        with opened(path, "csv") as source:
            table = table_of(source, how, "points")
            shares.append(_numbers(table, table.columns, "memberships"))
    listing = "Memberships " + ", ".join(f"{u}: {name}" for u, name in enumerate(names))
    make = partial(Ensemble.from_memberships, shares)
    ensemble = _weighted(make, listing, len(names), names, weights, how)
    return Labels(ensemble=ensemble, names=names)


def read_draws(
    path: Path,
    how: Reading,
    *,
    missing: Missing = "unobserved",
    weights: Path | None = None,
) -> Labels:
    """Read a file with one draw per row; an array may have a leading axis of chains.

    Parameters
    ----------
    path : Path
        A table, or an array (n_draws, n_samples) or (n_chains, n_draws, n_samples).
    how : Reading
        Options for reading.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1.
    weights : Path, default=None
        A file of one weight per draw.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    FileFormatError, InputError
        Its shape or content is not valid for draws.
    """
    ids: list[str] | None = None
    notes: tuple[str, ...] = ()
    with opened(path) as source:
        if source.has_columns:
            table = table_of(source, how, "labels")
            roles = roles_of(table, how)
            draws = label_matrix(roles.data, noise=missing == "noise")
            ids = [column.name for column in roles.data] if table.named else None
            notes = (*table.notes, *roles.notes)
        else:
            draws = read_array(source, how, ("draws", "labels", "cls", "z"))
    make = partial(Ensemble.from_draws, draws, missing=missing)
    n_draws = int(np.prod(draws.shape[:-1]))
    ensemble = _weighted(make, source.name, n_draws, (), weights, how)
    names = tuple(str(s + 1) for s in range(ensemble.n_partitions))
    return Labels(ensemble=ensemble, names=names, ids=ids, notes=("one draw per row", *notes))


def read_answers(
    path: Path, how: Reading, *, missing: Missing = "unobserved", weights: Path | None = None
) -> Labels:
    """Read a table with one answer per row; objects and partitions are in the order in which they occur.

    Parameters
    ----------
    path : Path
        A table, of which ``how.columns`` names three columns: object, partition, label.
    how : Reading
        Options for reading.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of the label -1.
    weights : Path, default=None
        A file of one weight per partition.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    FileFormatError, InputError
        Its shape or content is not valid for answers.
    """
    with opened(path) as source:
        if not source.has_columns or how.id_column or how.label_column or how.drop:
            raise InputError(
                f"--rows answers is for tables, CSV and Parquet (got {source}). Leave --id-column, --label-column and --drop out, "
                "and give the columns of objects, clusterings and labels, in this order: --columns card,person,pile."
            )
        table = table_of(source, how, "labels")
    columns = [table.column(name, "--columns") for name in how.columns or ()]
    if len(columns) != 3 or len(set(columns)) != 3:
        raise InputError(
            f"--rows answers needs three columns of {source}: of objects, clusterings and labels, in this order. Name them, as in "
            f"--columns card,person,pile. The columns are {listed(table.names)}."
        )
    objects, partitions = columns[0].texts, columns[1].texts
    answers = objects, partitions, columns[2].labels(noise=missing == "noise")
    ids, names = list(dict.fromkeys(objects)), tuple(dict.fromkeys(partitions))
    titles = [column.name for column in columns]
    frame = dict(zip(titles, answers, strict=True))
    make = partial(Ensemble.from_long, frame, *titles, objects=ids, partitions=names)
    ensemble = _weighted(make, source.name, len(names), names, weights, how)
    title = titles[0] if table.named and titles[0] else OBJECT
    notes = ("one answer per row", *table.notes)
    return Labels(ensemble=ensemble, names=names, ids=ids, id_name=title, notes=notes)


def _numbers(table: Table, columns: Sequence[Column], what: str) -> Floats:
    """Return columns that must be numbers in every cell."""
    settle(columns, None)
    for column in columns:
        if column.values is None:
            row = next((i for i, cell in enumerate(column.texts) if not is_number(cell)), 0)
            raise InputError(
                f"{table.name}: {column.at(row)}: {column.texts[row][:60]!r} is not a number, as {what} are."
            )
    return np.column_stack([column.readings[column.notation] for column in columns])
