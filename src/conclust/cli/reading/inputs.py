"""Reads what commands want from users' files: points, labels of objects, draws, answers, memberships, one labelling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.formats import WHOLE
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
from conclust.ensemble.ensemble import clusterings_as_rows
from conclust.exceptions import InputError, OrientationWarning, warn
from conclust.results.writing import is_label_file


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
    """One label for each object: whole numbers or names; -1, NaN or None missing, -2 noise."""

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
        what = "has no column: an object is described by at least one number"
        raise InputError(f"{table.name} {what}.")
    roles = roles_of(table, how)
    for column in roles.categories:
        seen = [word for word in column.words if word is not None]
        if not seen or names_objects(len(set(seen)), len(seen)):
            what = f"has {len(set(seen)):,} different values for {len(seen):,} objects"
            way = "these are not categories. Give it as --id-column, or --drop it"
            raise InputError(f"{table.name}: the column {column.name!r} {what}: {way}.")
    words = [np.array(column.words, dtype=object) for column in roles.categories]
    return Points(
        X=np.column_stack([column.readings[column.notation] for column in roles.data]),
        names=roles.names,
        categories=np.column_stack(words) if words else None,
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
        roles = roles_of(table_of(source, how, "labels"), how)
    matrix, name, names = label_matrix(roles.data), source.name, roles.names
    if clusterings_as_rows(matrix, *matrix.shape):
        n, m = matrix.shape
        what = f"{name} is read as {n} objects in {m} clusterings"
        way = f"If each row is a clustering of {m} objects, transpose it: one row per object"
        warn(f"{what}. {way}.", OrientationWarning)
    with _naming(name):
        given = read_weights(weights, len(names), how, names)
        ensemble = Ensemble(matrix, weights=given, missing=missing)
    observed = ensemble.present.sum(axis=0)
    for column, k, n in zip(names, ensemble.cluster_counts, observed, strict=True):
        if how.columns is None and names_objects(int(k), int(n)):
            what = f"has {k:,} different labels for {n:,} objects, so it names them instead of clustering them"
            way = "Give it as --id-column, or leave it out with --drop; if it is a clustering nevertheless, list the clusterings with --columns"
            raise InputError(f"{name}: the column {column!r} {what}. {way}.")
    return Labels(ensemble=ensemble, names=names, **roles.objects())


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Name the file of the labels in refusals of an ensemble."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _of_saved(source: Source, how: Reading, missing: Missing, weights: Path | None) -> Labels:
    columns = how.id_column or how.label_column or how.columns or how.drop or how.na
    if columns or missing != "unobserved":
        what = "which distinguishes missing labels from noise and has no columns to choose from"
        way = "leave --missing, --id-column, --label-column, --columns, --drop and --na out"
        raise InputError(f"{source} is a saved ensemble, {what}: {way}.")
    saved = Ensemble.load(source.path)
    if weights is not None:
        saved = saved.reweighted(read_weights(weights, saved.n_partitions, how))
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
            what = (
                f"{len(columns)} columns that may be the labels to compare: {listed(roles.names)}"
            )
            raise InputError(f"{table.name} has {what}. Say which with --column.")
        return Labelling(labels=columns[0].labels(), **roles.objects())


def read_weights(
    path: Path | None, n_partitions: int, how: Reading, names: Sequence[str] = ()
) -> Floats | None:
    """Read one non-negative weight per partition: a column, a row, or an array. None: none are given.

    how : how the labels are read; a CSV file of weights has the same encoding.
    names : the names of the partitions. A row below these names, in any order, is read by them.
    """
    if path is None:
        return None
    with opened(path) as source:
        own = Reading(encoding=how.encoding if source.kind == "csv" else None)
        table = table_of(source, own, "weights")
    columns = table.columns
    if table.named and len(columns) == len(names) and set(table.names) & set(names):
        columns = [table.column(name, "--weights") for name in names]
    weights = _numbers(table, columns, "weights")
    if weights.size != n_partitions:
        what = f"expected one number per partition, {n_partitions} in all"
        raise InputError(f"{path}: {what}. Got shape {weights.shape} instead.")
    return weights.reshape(-1)


def read_memberships(paths: Sequence[Path], *, weights: Path | None = None) -> Labels:
    """Read soft partitions of the same objects: in each file one object per line, and its share of each cluster.

    The files have no header, as ADMIXTURE, STRUCTURE and CLUMPP write them; `weights` is a file of one weight per file.

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
    with _naming("Memberships " + ", ".join(f"{u}: {name}" for u, name in enumerate(names))):
        given = read_weights(weights, len(names), how, names)
        return Labels(ensemble=Ensemble.from_memberships(shares, weights=given), names=names)


def read_draws(
    path: Path, how: Reading, *, missing: Missing = "unobserved", weights: Path | None = None
) -> Labels:
    """Read a file with one draw per row, as `read_ensemble` reads one with one object per row.

    An array may have three axes: (n_chains, n_draws, n_samples).
    """
    ids: list[str] | None = None
    notes = ["one draw per row"]
    with opened(path) as source:
        if WHOLE[source.kind].has_columns:
            roles = roles_of(table_of(source, how, "labels"), how)
            draws, notes = label_matrix(roles.data), [*notes, *roles.table.notes]
            ids = [*roles.names] if roles.table.named else None
        else:
            draws = read_array(source, how, ("draws", "labels", "cls", "z"))
    with _naming(source.name):
        given = read_weights(weights, int(np.prod(draws.shape[:-1])), how)
        ensemble = Ensemble.from_draws(draws, missing=missing, weights=given)
    names = tuple(str(s + 1) for s in range(ensemble.n_partitions))
    return Labels(ensemble=ensemble, names=names, ids=ids, notes=tuple(notes))


def read_answers(
    path: Path, how: Reading, *, missing: Missing = "unobserved", weights: Path | None = None
) -> Labels:
    """Read one answer per row, as `read_ensemble` reads one object per row; ``how.columns`` names object, partition, label.

    Objects and partitions are in the order in which they occur.
    """
    with opened(path) as source:
        table = table_of(source, how, "labels")
    columns = [table.column(name, "--columns") for name in how.columns or ()]
    others = how.id_column or how.label_column or how.drop
    if others or len(columns) != 3 or len(set(columns)) != 3:
        what = f"--rows answers needs three columns of {source}: of objects, clusterings and labels, in this order"
        way = "Name them, as in --columns card,person,pile, and leave --id-column, --label-column and --drop out"
        raise InputError(f"{what}. {way}. The columns are {listed(table.names)}.")
    titles = [column.name for column in columns]
    objects, partitions, labels = columns[0].texts, columns[1].texts, columns[2].labels()
    ids, names = list(dict.fromkeys(objects)), tuple(dict.fromkeys(partitions))
    frame = dict(zip(titles, (objects, partitions, labels), strict=True))
    with _naming(source.name):
        ensemble = Ensemble.from_long(
            frame,
            *titles,
            objects=ids,
            partitions=names,
            weights=read_weights(weights, len(names), how, names),
            missing=missing,
        )
    title = titles[0] if table.named and titles[0] else OBJECT
    notes = ("one answer per row", *table.notes)
    return Labels(ensemble=ensemble, names=names, ids=ids, id_name=title, notes=notes)


def _numbers(table: Table, columns: Sequence[Column], what: str) -> Floats:
    """Return columns that must be numbers in every cell."""
    settle(columns, Reading())
    for column in columns:
        if column.values is None:
            row = next((i for i, cell in enumerate(column.texts) if not is_number(cell)), 0)
            where = f"{table.name}: {column.at(row)}"
            raise InputError(f"{where}: {column.texts[row][:60]!r} is not a number, as {what} are.")
    return np.column_stack([column.readings[column.notation] for column in columns])
