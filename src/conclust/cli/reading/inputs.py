"""Reads points, label matrices and single labellings from users' files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.formats import WEIGHTS
from conclust._files.storage import read_npz
from conclust._types import Bools, Floats
from conclust.cli.console import plain
from conclust.cli.reading.columns import OBJECT, Roles, id_name, names_objects, roles_of
from conclust.cli.reading.notation import is_number
from conclust.cli.reading.sources import Source, opened
from conclust.cli.reading.tables import (
    Reading,
    Table,
    listed,
    place_of,
    read_array,
    refuse_columns,
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
    "read_ensemble",
    "read_labelling",
    "read_labels",
    "read_memberships",
    "read_points",
    "read_weights",
]


@dataclass(frozen=True)
class Points:
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
    ids, classes : list of str or None
        Names and known classes of the objects.
    id_name : str
        Name of the column of object names.
    notes : tuple of str
        Remarks on how the file was read.
    notations : dict of str to str
        Notation of the columns of numbers that have an unusual one.
    doubts : tuple of str
        Sentences of `conclust.points.doubts` about them.
    """

    X: Floats
    names: tuple[str, ...]
    categories: NDArray[Any] | None
    category_names: tuple[str, ...]
    ids: list[str] | None
    id_name: str
    classes: list[str] | None
    notes: tuple[str, ...]
    notations: dict[str, str] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    def complete_categories(self, complete: Bools) -> NDArray[Any] | None:
        """Return the categories of the objects that are clustered."""
        return None if self.categories is None else self.categories[complete]


@dataclass(frozen=True)
class Labels:
    """Objects described by an ensemble of partitions; ``names`` are the partitions' names."""

    ensemble: Ensemble
    names: tuple[str, ...]
    ids: list[str] | None
    id_name: str
    classes: list[str] | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Labelling:
    """One label for each object: whole numbers or names; -1 missing, -2 noise."""

    labels: NDArray[Any]
    ids: list[str] | None
    id_name: str


def read_points(path: Path, how: Reading) -> Points:
    """Read points, one object per row.

    Raises
    ------
    OSError
        The file is missing or cannot be read.
    FileFormatError, InputError
        Its shape or content is not valid for points.
    """
    points = _read_points(path, how)
    if len(points.X) < 2:
        raise InputError(f"{path} holds {len(points.X)} object; a clustering needs at least two.")
    return points


def _read_points(path: Path, how: Reading) -> Points:
    with opened(path) as source, table_of(source, how, labels=False) as table:
        return points_of(table, how)


def points_of(table: Table, how: Reading) -> Points:
    """Read the points of a table."""
    if not table.names:
        raise InputError(
            f"{table.name} has no column: an object is described by at least one number."
        )
    roles = roles_of(table, how, labels=False)
    read = {j: table.numbers_of(j) for j in roles.data}
    X = np.column_stack([table.values(j) for j in roles.data])
    categories = None
    if roles.categories:
        categories = np.empty((len(X), len(roles.categories)), dtype=object)
        for u, (j, texts) in enumerate(
            zip(roles.categories, table.texts(roles.categories), strict=True)
        ):
            categories[:, u] = [None if how.is_empty(text) else text.strip() for text in texts]
            _check_categories(table, j, [text for text in categories[:, u] if text is not None])
    names = tuple(table.names[j] for j in roles.data)
    ids = None if roles.ids is None else table.texts([roles.ids])[0]
    return Points(
        X,
        names,
        categories,
        tuple(table.names[j] for j in roles.categories),
        ids,
        id_name(table, roles.ids),
        _classes_of(table, roles.classes),
        (*table.notes, *roles.notes),
        {table.names[j]: one.notation for j, one in read.items() if one.notation != "point"},
    )


def _check_categories(table: Table, j: int, values: list[str]) -> None:
    if not values:
        raise InputError(f"{table.name}: the column {table.names[j]!r} is empty. --drop it.")
    if names_objects(len(set(values)), len(values)):
        raise InputError(
            f"{table.name}: the column {table.names[j]!r} has {len(set(values)):,} different values for "
            f"{len(values):,} objects: these are not categories. Give it as --id-column, or --drop it."
        )


def _classes_of(table: Table, j: int | None) -> list[str] | None:
    """Return the known classes of the objects; None if there is no column of them."""
    if j is None:
        return None
    texts = table.texts([j])[0]
    classes = ["" if table.how.is_empty(text) else text.strip() for text in texts]
    if not any(classes):
        raise InputError(
            f"--label-column: the column {table.names[j]!r} of {table.name} has no known classes."
        )
    return classes


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
        saved = _saved_ensemble(source)
        if saved is not None:
            return _of_saved(source, saved, how, missing, weights)
        with table_of(source, how, labels=True) as table:
            return labels_of(table, how, missing=missing, weights=weights)


def labels_of(
    table: Table, how: Reading, *, missing: Missing = "unobserved", weights: Path | None = None
) -> Labels:
    """Read the label matrix of a table as an ensemble (see `read_ensemble`)."""
    roles = roles_of(table, how, labels=True)
    matrix, ids, classes = read_labels(table, roles, noise=missing == "noise")
    names = tuple(table.names[j] for j in roles.data)
    if clusterings_as_rows(matrix, *matrix.shape):
        n, m = matrix.shape
        warn(
            f"{table.name} is read as {n} objects in {m} clusterings. If each row is a clustering of {m} objects, "
            "transpose it: one row per object.",
            OrientationWarning,
        )
    of_members = None
    try:
        if weights is not None:
            of_members = read_weights(weights, len(names), names, encoding=how.encoding)
        ensemble = Ensemble(matrix, weights=of_members)
    except InputError as error:
        raise InputError(f"{table.name}: {error}") from error
    if not roles.chosen:
        _refuse_names(table, ensemble, roles.data)
    notes = (*table.notes, *roles.notes)
    return Labels(ensemble, names, ids, id_name(table, roles.ids), classes, notes)


def read_labels(
    table: Table, roles: Roles, *, noise: bool
) -> tuple[NDArray[Any], list[str] | None, list[str] | None]:
    """Return the labels of a table, the names of its objects, and their known classes."""
    ids = None if roles.ids is None else table.texts([roles.ids])[0]
    return table.labels(roles.data, noise=noise), ids, _classes_of(table, roles.classes)


def _refuse_names(table: Table, ensemble: Ensemble, columns: list[int]) -> None:
    """Refuse columns that name the objects: as clusterings they would be expensive and useless."""
    observed = ensemble.present.sum(axis=0)
    for j, n_clusters, n_observed in zip(columns, ensemble.cluster_counts, observed, strict=True):
        if names_objects(int(n_clusters), int(n_observed)):
            raise InputError(
                f"{table.name}: the column {table.names[j]!r} has {n_clusters:,} different labels for "
                f"{n_observed:,} objects, so it names them instead of clustering them. Give it as "
                "--id-column, or leave it out with --drop; if it is a clustering nevertheless, list the "
                "clusterings with --columns."
            )


def _of_saved(
    source: Source, saved: Ensemble, how: Reading, missing: Missing, weights: Path | None
) -> Labels:
    if missing != "unobserved":
        raise InputError(
            f"{source} is a saved ensemble, which distinguishes missing labels from noise. Leave "
            "--missing out."
        )
    if (how.id_column, how.label_column, how.columns, how.drop, how.na) != (
        None,
        None,
        None,
        (),
        (),
    ):
        raise InputError(
            f"{source} is a saved ensemble, without columns to choose from: leave --id-column, "
            "--label-column, --columns, --drop and --na out."
        )
    if weights is not None:
        saved = saved.reweighted(read_weights(weights, saved.n_partitions, encoding=how.encoding))
    names = tuple(str(u + 1) for u in range(saved.n_partitions))
    return Labels(saved, names, None, OBJECT, None, ("a saved ensemble",))


def read_labelling(path: Path, how: Reading, wanted: Sequence[str] = ()) -> Labelling:
    """Read one labelling of objects: the first column of `wanted`, or "label", or the only one."""
    with opened(path) as source:
        if not source.has_columns:
            return Labelling(_array_labelling(source, how, wanted), None, OBJECT)
        with table_of(source, how, labels=True) as table:
            return _table_labelling(table, how, wanted)


def _table_labelling(table: Table, how: Reading, wanted: Sequence[str]) -> Labelling:
    candidates = [name for name in wanted if name in table.names] or list(wanted)
    if not candidates and table.named and "label" in table.names:
        candidates = ["label"]
    ours = is_label_file(table.names) and how.id_column not in table.names
    ids: int | None
    if ours:
        ids, columns = 0, [1]
    else:
        roles = roles_of(table, how, labels=True)
        ids, columns = roles.ids, roles.data
    if candidates:
        columns = [table.column(candidates[0], "--column")]
    if len(columns) != 1:
        raise InputError(
            f"{table.name} has {len(columns)} columns that may be the labels to compare: "
            f"{listed(table.names)}. Say which with --column."
        )
    names = None if ids is None else table.texts([ids])[0]
    return Labelling(table.labels(columns, noise=False)[:, 0], names, id_name(table, ids))


def _array_labelling(source: Source, how: Reading, wanted: Sequence[str]) -> NDArray[Any]:
    refuse_columns(source, how)
    column = wanted[0] if wanted else None
    array = read_array(source, how, ("labels", "label", "y", "gt"))
    if array.ndim == 2 and len(array) == 1:  # a row, which is how MATLAB writes vectors
        array = array.T
    if array.ndim == 2:
        n_columns = array.shape[1]
        place = None if column is None else place_of(column, n_columns)
        if place is None and (n_columns != 1 or (column is not None and column.isdigit())):
            raise InputError(
                f"{source} holds {n_columns} columns of labels. Say which to compare with "
                f"--column, a number from 1 to {n_columns}."
            )
        array = array[:, place or 0]
    if array.ndim != 1 or array.dtype.kind not in "biufUS":
        raise InputError(
            f"{source}: labels to compare are one column of whole numbers or names. Got shape "
            f"{array.shape} and dtype {array.dtype} instead."
        )
    return array


def read_weights(
    path: Path, n_partitions: int, names: Sequence[str] = (), *, encoding: str | None = None
) -> Floats:
    """Read one non-negative weight per partition: a column, a row, or an array.

    names : those of the partitions. A row below these names, in any order, is read by them.
    encoding : of a CSV file without a byte order mark; None: UTF-8.
    """
    with opened(path) as source:
        if source.has_columns:
            if source.kind != "csv":
                raise InputError(f"{source}: weights are read from {WEIGHTS}.")
            with table_of(source, Reading(encoding=encoding), labels=False) as table:
                weights = _numbers(table, _columns_of(table, names), "weights")
        else:
            weights = read_array(source, Reading(), ("weights",))
    if weights.dtype.kind not in "biuf" or weights.size != n_partitions or 1 < weights.ndim != 2:
        raise InputError(
            f"{path}: expected one number per partition, {n_partitions} in all. Got shape "
            f"{weights.shape} and dtype {weights.dtype} instead."
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
    of_members = None if weights is None else read_weights(weights, len(paths), names)
    try:
        ensemble = Ensemble.from_memberships(
            [_membership(path) for path in paths], weights=of_members
        )
    except InputError as error:
        listing = ", ".join(f"{u}: {name}" for u, name in enumerate(names))
        raise InputError(f"{error} The memberships are {listing}.") from error
    return Labels(ensemble, names, None, OBJECT, None, ())


def _membership(path: Path) -> Floats:
    how = Reading(header=False)
    with opened(path, "csv") as source, table_of(source, how, labels=False) as table:
        return _numbers(table, range(len(table.names)), "memberships")


def _numbers(table: Table, columns: Sequence[int], what: str) -> Floats:
    """Return columns that must be numbers in every cell."""
    table.settle(columns)
    for j in columns:
        if table.numbers_of(j).values is None:
            cells = table.texts([j])[0]
            row = next((i for i, cell in enumerate(cells) if not is_number(cell)), 0)
            raise InputError(
                f"{table.name}: {table.place(row, j)}: {cells[row][:60]!r} is not a number, as {what} are."
            )
    return np.column_stack([table.values(j) for j in columns])


def _columns_of(table: Table, names: Sequence[str]) -> Sequence[int]:
    """Return the columns of the weights, in the order of the partitions where the columns have their names."""
    if not table.named or len(table.names) != len(names) or not set(table.names) & set(names):
        return range(len(table.names))
    unknown = [name for name in table.names if name not in names]
    if unknown:
        raise InputError(
            f"{table.name}: {unknown[0]!r} is not a partition. The partitions are {listed(list(names))}."
        )
    return [table.names.index(name) for name in names]


def _saved_ensemble(source: Source) -> Ensemble | None:
    if source.kind != "npz":
        return None
    _, meta = read_npz(source.path)
    return Ensemble.load(source.path) if "ensemble" in str(meta.get("format", "")) else None
