"""Reads what commands want from users' files: points, labels of objects, draws, answers, memberships, one labelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.formats import WHOLE
from conclust._files.storage import read_npz
from conclust._types import Floats
from conclust.cli.console import plain
from conclust.cli.reading import tables
from conclust.cli.reading.columns import OBJECT, Objects, names_objects, roles_of
from conclust.cli.reading.notation import Reading, is_number
from conclust.cli.reading.sources import Source, naming, opened
from conclust.cli.reading.tables import Column, Table, listed, names_of, table_of
from conclust.ensemble import Ensemble
from conclust.ensemble.ensemble import clusterings_as_rows
from conclust.ensemble.memberships import runs_of
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
        Sentences of `conclust.generation.points.doubts` about them.
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
            raise InputError(f"it holds {len(points.X)} object; a clustering needs at least two.")
        return points


def points_of(table: Table, how: Reading) -> Points:
    """Return the points of a table."""
    if not table.columns:
        raise InputError("it has no column: an object is described by at least one number.")
    data, categories, objects = roles_of(table, how)
    for column in categories:
        seen = [word for word in column.words if word is not None]
        if not seen or names_objects(len(set(seen)), len(seen)):
            what = f"has {len(set(seen)):,} different values for {len(seen):,} objects: these are not categories. Give it as --id-column, or --drop it"
            raise InputError(f"the column {column.name!r} {what}.")
    words = [np.array(column.words, dtype=object) for column in categories]
    return Points(
        X=np.column_stack([column.readings[column.notation] for column in data]),
        names=names_of(data),
        categories=np.column_stack(words) if words else None,
        category_names=names_of(categories),
        notations={c.name: c.notation for c in data if c.notation not in ("number", "point")},
        **objects,
    )


def read_ensemble(path: Path, how: Reading) -> Labels:
    """Read a label matrix (one partition per column) or a saved ensemble.

    Parameters
    ----------
    path : Path
        A table, an array, or a file of `Ensemble.save`.
    how : Reading
        Options for reading.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    FileFormatError, InputError
        Its shape or content is not valid for labels.
    """
    with opened(path) as source:
        if source.kind == "npz" and "ensemble" in str(read_npz(source.path)[1].get("format", "")):
            return _of_saved(source, how)
        data, _, objects = roles_of(table_of(source, how, "labels"), how)
        matrix, names = tables.label_matrix(data), names_of(data)
        if clusterings_as_rows(matrix, *matrix.shape):
            n, m = matrix.shape
            what = f"{source.name} is read as {n} objects in {m} clusterings. If each row is a clustering of {m} objects, give --rows draws"
            warn(f"{what}.", OrientationWarning)
        given = read_weights(len(names), how, names)
        ensemble = Ensemble(matrix, weights=given, missing=how.missing)
        observed = ensemble.present.sum(axis=0)
        for column, k, n in zip(names, ensemble.cluster_counts, observed, strict=True):
            if how.columns is None and names_objects(int(k), int(n)):
                what = f"the column {column!r} has {k:,} different labels for {n:,} objects, so it names them instead of clustering them. Give it as --id-column or --drop it; if it is a clustering, list the clusterings with --columns"
                raise InputError(f"{what}.")
        return Labels(ensemble=ensemble, names=names, **objects)


def _of_saved(source: Source, how: Reading) -> Labels:
    columns = how.id_column or how.label_column or how.columns or how.drop or how.na
    if columns or how.missing != "unobserved":
        what = "which distinguishes missing labels from noise and has no columns to choose from: leave --missing, --id-column, --label-column, --columns, --drop and --na out"
        raise InputError(f"it is a saved ensemble, {what}.")
    saved = Ensemble.load(source.path)
    if how.weights is not None:
        saved = saved.reweighted(read_weights(saved.n_partitions, how))
    names = tuple(str(u + 1) for u in range(saved.n_partitions))
    return Labels(ensemble=saved, names=names, notes=("a saved ensemble",))


def read_labelling(path: Path, how: Reading, wanted: Sequence[str] = ()) -> Labelling:
    """Read one labelling of objects: the first column of `wanted`, or "label", or the only one."""
    with opened(path) as source:
        table = table_of(source, how, "labelling")
        wanted = wanted or ["label"] * (table.named and "label" in table.names)
        candidates = [name for name in wanted if name in table.names] or wanted
        if is_label_file(table.names) and how.id_column is None:
            how = replace(how, id_column=table.names[0], columns=("label",))
        data, _, objects = roles_of(table, how)
        columns = [table.column(name, "--column") for name in candidates[:1]] or data
        if len(columns) != 1:
            what = f"{len(columns)} columns may be the labels to compare: {listed(names_of(data))}"
            raise InputError(f"{what}. Say which with --column.")
        return Labelling(labels=columns[0].labels(), **objects)


def read_weights(n_partitions: int, how: Reading, names: Sequence[str] = ()) -> Floats | None:
    """Read one non-negative weight per partition: a column, a row, or an array. None: none are given.

    how : how the labels are read; a CSV file of weights has the same encoding.
    names : the names of the partitions. A row below these names, in any order, is read by them.
    """
    if how.weights is None:
        return None
    with opened(how.weights) as source:
        own = Reading(encoding=how.encoding if source.kind == "csv" else None)
        table = table_of(source, own, "weights")
        columns = table.columns
        if table.named and len(columns) == len(names) and set(table.names) & set(names):
            columns = [table.column(name, "--weights") for name in names]
        weights = _numbers(columns, "weights")
        if weights.size != n_partitions:
            what = f"expected one number per partition, {n_partitions} in all"
            raise InputError(f"{what}. Got shape {weights.shape} instead.")
        return weights.reshape(-1)


def read_memberships(paths: Sequence[Path], how: Reading) -> Labels:
    """Read soft partitions of the same objects: in each file one object per line, and its share of each cluster.

    No header, as in ADMIXTURE, or names before a colon, as in STRUCTURE and CLUMPP. Of `how`, only the file of weights is used.
    """
    runs, how = list[tuple[str, Floats]](), Reading(header=False, weights=how.weights)
    for path in paths:
        with opened(path, "csv") as source:
            if source.kind == "csv" and b":" in (content := source.read()):
                found = runs_of(content, path)
            else:
                found = [_numbers(table_of(source, how, "points").columns, "memberships")]
        runs += [(plain(path), run) for run in found]
    names, shares = zip(*runs, strict=True)
    given = read_weights(len(names), how, names)
    with naming("Memberships " + ", ".join(f"{u}: {name}" for u, name in enumerate(names))):
        return Labels(ensemble=Ensemble.from_memberships(shares, weights=given), names=names)


def read_draws(path: Path, how: Reading) -> Labels:
    """Read a file with one draw per row, as `read_ensemble` reads one with one object per row.

    An array may have three axes: (n_chains, n_draws, n_samples).
    """
    ids, notes = None, ["one draw per row"]
    with opened(path) as source:
        if WHOLE[source.kind].has_columns:
            table = table_of(source, how, "labels")
            data, _, _ = roles_of(table, how)
            draws, notes = tables.label_matrix(data), [*notes, *table.notes]
            ids = [*names_of(data)] if table.named else None
        else:
            draws = tables.read_array(source, how, ("draws", "labels", "cls", "z"))
        given = read_weights(int(np.prod(draws.shape[:-1])), how)
        ensemble = Ensemble.from_draws(draws, missing=how.missing, weights=given)
    names = tuple(str(s + 1) for s in range(ensemble.n_partitions))
    return Labels(ensemble=ensemble, names=names, ids=ids, notes=tuple(notes))


def read_answers(path: Path, how: Reading) -> Labels:
    """Read one answer per row, as `read_ensemble` reads one object per row; ``how.columns`` names object, partition, label.

    Objects and partitions are in the order in which they occur.
    """
    with opened(path) as source:
        table = table_of(source, how, "labels")
        columns = [table.column(name, "--columns") for name in how.columns or ()]
        others = how.id_column or how.label_column or how.drop
        if others or len(columns) != 3 or len(set(columns)) != 3:
            what = "--rows answers needs three columns: of objects, clusterings and labels, in this order. Name them, as in --columns card,person,pile, and leave --id-column, --label-column and --drop out"
            raise InputError(f"{what}. The columns are {listed(table.names)}.")
        titles = names_of(columns)
        cells = columns[0].texts, columns[1].texts, columns[2].labels()
        ids, names = (list(dict.fromkeys(texts)) for texts in cells[:2])
        frame = dict(zip(titles, cells, strict=True))
        more: dict[str, Any] = {"objects": ids, "partitions": names, "missing": how.missing}
        more["weights"] = read_weights(len(names), how, names)
        ensemble = Ensemble.from_long(frame, *titles, **more)
    title = titles[0] if table.named and titles[0] else OBJECT
    notes = ("one answer per row", *table.notes)
    return Labels(ensemble=ensemble, names=tuple(names), ids=ids, id_name=title, notes=notes)


def _numbers(columns: Sequence[Column], what: str) -> Floats:
    """Return columns that must be numbers in every cell."""
    tables.settle(columns, Reading())
    for column in columns:
        if column.values is None:
            row = next((i for i, cell in enumerate(column.texts) if not is_number(cell)), 0)
            cell = column.texts[row][:60]
            raise InputError(f"{column.at(row)}: {cell!r} is not a number, as {what} are.")
    return np.column_stack([column.readings[column.notation] for column in columns])
