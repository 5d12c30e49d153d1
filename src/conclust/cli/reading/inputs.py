"""Reads what commands want from users' files: points, labels of objects, draws, answers, memberships, one labelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.opening import naming, opened
from conclust._validation import shown
from conclust.cli.console import plain
from conclust.cli.reading import tables
from conclust.cli.reading.tables import Table, roles_of
from conclust.cli.requested import Reading
from conclust.ensemble import Ensemble
from conclust.ensemble.ensemble import as_ensemble
from conclust.ensemble.memberships import runs_of
from conclust.exceptions import InputError
from conclust.results.writing import is_label_file


@dataclass(frozen=True, kw_only=True)
class Points(tables.Objects):
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

    X: NDArray[np.float64]
    names: tuple[str, ...]
    categories: NDArray[Any] | None
    category_names: tuple[str, ...]
    notations: dict[str, str]
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Labels(tables.Objects):
    """Objects described by an ensemble of partitions; ``names`` are the partitions' names."""

    ensemble: Ensemble
    names: tuple[str, ...]


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
        points = points_of(Table(source, how, "points"), how)
        if len(points.X) < 2:
            raise InputError(f"it holds {len(points.X)} object; a clustering needs at least two.")
        return points


def points_of(table: Table, how: Reading) -> Points:
    """Return the points of a table."""
    data, categories, objects = roles_of(table, how)
    words = [column.words for column in categories]
    return Points(
        X=np.column_stack([column.values for column in data]),
        names=tuple(column.name for column in data),
        categories=np.array(words, dtype=object).T if words else None,
        category_names=tuple(column.name for column in categories),
        notations={c.name: c.notation for c in data if c.notation not in ("number", "point")},
        **objects,
    )


def read_ensemble(path: Path, how: Reading, one_of: Sequence[str] | None = None) -> Labels:
    """Read a label matrix (one partition per column) or a saved ensemble.

    Parameters
    ----------
    path : Path
        A table, an array, or a file of `Ensemble.save`.
    how : Reading
        Options for reading.
    one_of : sequence of str, default=None
        Not None: one partition is read, the first of these columns that exists, or "label", or the only one.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    FileFormatError, InputError
        Its shape or content is not valid for labels.
    """
    with opened(path) as source:
        if source.is_ensemble:
            if replace(how, weights=None) != Reading(command=how.command):
                what = "it is a saved ensemble, whose labels and columns are settled: leave"
                raise InputError(f"{what} --missing, --id-column, --columns and the like out.")
            return _weighted(Ensemble.load(source.path), how, (), notes=("a saved ensemble",))
        table = Table(source, how, "labels" if one_of is None else "labelling")
        if one_of is not None:
            if is_label_file(table.names) and how.id_column is None:
                how = replace(how, id_column=table.names[0])
            known = [name for name in one_of or ("label",) if name in table.names] or one_of
            how = replace(how, columns=(*known[:1],) or None)
        matrix, names, objects = tables.labels_of(table, how, alone=one_of is not None)
        runs = as_ensemble(matrix, missing=how.missing)
        for name, k, n in zip(names, runs.cluster_counts, runs.present.sum(axis=0), strict=True):
            if how.columns is None and one_of is None and tables.names_objects(k, n):
                what = f"the column {name!r} has {k:,} different labels for {n:,} objects: names. Give it as --id-column or --drop it; if it is a clustering, list all with --columns"
                raise InputError(f"{what}.")
        return _weighted(runs, how, names, **objects)


def _weighted(ensemble: Ensemble, how: Reading, names: Sequence[str], **objects: Any) -> Labels:
    """Return labels with one weight per partition: a column, a row, or an array.

    A CSV file of weights has the encoding of the labels. A row below the names of the partitions, in any order, is read by them.
    """
    if how.weights is not None:
        with opened(how.weights) as source:
            own = Reading(encoding=how.encoding if source.form.kind == "csv" else None)
            table = Table(source, own, "weights")
            columns = table.columns
            if table.named and len(columns) == len(names) and {*table.names} & {*names}:
                columns = [table.matching(name, "--weights")[0] for name in names]
            tables.settle(columns, own)
            if odd := [one.texts[0] for one in columns if one.values is None]:
                raise InputError(f"weights are numbers, and columns begin with {shown(odd)}.")
            weights = np.column_stack([column.values for column in columns])
            ensemble = ensemble.reweighted(weights.ravel())
    numbers = (str(u + 1) for u in range(ensemble.n_partitions))
    return Labels(ensemble=ensemble, names=tuple(names or numbers), **objects)


def read_memberships(paths: Sequence[Path], how: Reading) -> Labels:
    """Read soft partitions of the same objects: in each file one object per line, and its share of each cluster.

    No header, as in ADMIXTURE, or names before a colon, as in STRUCTURE and CLUMPP. Of `how`, only the file of weights is used.
    """
    found = [(plain(path), shares) for path in paths for shares in runs_of(path)]
    with naming("Memberships " + ", ".join(f"{u}: {name}" for u, (name, _) in enumerate(found))):
        ensemble = Ensemble.from_memberships([shares for _, shares in found])
    return _weighted(ensemble, Reading(weights=how.weights), [name for name, _ in found])


def read_draws(path: Path, how: Reading) -> Labels:
    """Read a file with one draw per row, as `read_ensemble` reads one with one object per row.

    An array may have three axes: (n_chains, n_draws, n_samples).
    """
    ids, notes = None, ("one draw per row",)
    with opened(path) as source:
        if source.form.has_columns:
            draws, names, objects = tables.labels_of(table := Table(source, how, "labels"), how)
            ids, notes = names if table.named else None, notes + objects["notes"]
        else:
            how.refuse_text_options()
            draws = source.array("draws")
        ensemble = Ensemble.from_draws(draws, missing=how.missing)
    return _weighted(ensemble, how, (), ids=ids, notes=notes)


def read_answers(path: Path, how: Reading) -> Labels:
    """Read one answer per row, as `read_ensemble` reads one object per row; ``how.columns`` names object, partition, label.

    Objects and partitions are in the order in which they occur.
    """
    with opened(path) as source:
        table = Table(source, how, "labels")
        columns = [one for name in how.columns or () for one in table.matching(name, "--columns")]
        if how.id_column or how.label_column or how.drop or len({*columns}) != 3:
            what = "--rows answers needs three columns: of objects, clusterings and labels, in this order. Name them, as in --columns card,person,pile, and leave --id-column, --label-column and --drop out"
            raise InputError(f"{what}. The columns are {shown([*table.names])}.")
        frame: dict[str, Any] = {column.name: column.texts for column in columns[:2]}
        ids, names = ([*dict.fromkeys(texts)] for texts in frame.values())
        frame |= {columns[2].name: columns[2].labels()}
        more: dict[str, Any] = {"objects": ids, "partitions": names, "missing": how.missing}
        ensemble = Ensemble.from_long(frame, *frame, **more)
    title = columns[0].name if table.named and columns[0].name else Labels.id_name
    notes = ("one answer per row", *table.notes)
    return _weighted(ensemble, how, names, ids=ids, id_name=title, notes=notes)
