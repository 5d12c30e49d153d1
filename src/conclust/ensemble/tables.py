"""Converts users' tables to a label matrix: tables joined by identifiers, and tables in long form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import collected, identifiers, is_missing
from conclust._types import Ints
from conclust._validation import check_option, refuse, shown
from conclust.ensemble.columns import CodedTable, arrow_column, exact_column
from conclust.ensemble.labels import MISSING, NOISE, Missing, Naming
from conclust.exceptions import EvidenceWarning, InputError, warn


class TablesReader:
    """Constructors of ensembles from tables; a part of :class:`conclust.Ensemble`."""

    __slots__ = ()

    @classmethod
    def join(
        cls,
        tables: Mapping[str, Any],
        on: str,
        *,
        objects: Iterable[Hashable] | None = None,
        weights: ArrayLike | None = None,
        missing: Missing = "unobserved",
    ) -> Self:
        """Make an ensemble from tables that share identifiers of objects.

        Parameters
        ----------
        tables : mapping of str to frame
            A table for each place: a frame of pandas or polars, a table of Arrow, or a dict of columns. Every column but
            `on` is a partition. Tables may have different objects, in any order.
        on : str
            Name of the column of identifiers, in every table.
        objects : iterable of hashable, default=None
            The identifiers in the order of the rows of the ensemble. None: all that are in a table, sorted.
        weights : array-like of shape (n_partitions,), default=None
            Weight of each partition, in the order of tables and their columns. None: all equal.
        missing : {"unobserved", "noise"}, default="unobserved"
            Meaning of -1 in a table; an object that a table lacks is missing in its partitions.

        Returns
        -------
        Ensemble
            The partitions of the first table, then those of the second, and so on.

        Raises
        ------
        InputError
            If a table lacks the column `on` or has no other, its columns differ in length, an identifier occurs twice or
            is missing, an object is not among `objects`, or identifiers without an order come without `objects`.

        Warns
        -----
        EvidenceWarning
            If a table has no identifier in common with any other table.

        Examples
        --------
        >>> from conclust import Ensemble
        >>> a = {"id": ["p1", "p2", "p3"], "leiden": [0, 0, 1]}
        >>> b = {"id": ["p3", "p4", "p1"], "kmeans": ["x", "x", "y"]}
        >>> Ensemble.join({"site A": a, "site B": b}, on="id").labels
        array([[ 0,  0],
               [ 0, -1],
               [ 1,  1],
               [-1,  1]])
        """
        check_option(missing, "missing", "Ensemble.join", Missing)
        if not isinstance(tables, Mapping) or not tables:
            refuse("tables", "Ensemble.join", "a dict of names to tables", tables)
        rows: list[list[Any]] = []
        columns: list[tuple[int, NDArray[Any]]] = []
        for place, (name, given) in enumerate(tables.items()):
            table = collected(given)
            ids = _column(table, on, f"Table {name!r}").tolist()
            _check_ids(ids, str(name), on)
            rows.append(ids)
            label_columns = [key for key in _column_names(table) if key != on]
            if not label_columns:
                raise InputError(f"Table {name!r} has no column of labels besides {on!r}.")
            for key in label_columns:
                values = _column(table, key, f"Table {name!r}")
                if len(values) != len(ids):
                    raise InputError(
                        f"Table {name!r}: the column {key!r} must have one value per row, {len(ids)}. Got {len(values)}."
                    )
                columns.append((place, values))
        _warn_of_strangers(list(tables), rows)
        places = _places(rows, objects, "objects")
        at = [np.array([places[one] for one in ids], dtype=np.int64) for ids in rows]
        cells = [(at[place], u, values) for u, (place, values) in enumerate(columns)]
        matrix = _matrix(cells, (len(places), len(columns)), missing)
        return cls(matrix, weights=weights, missing=_left(matrix, missing))  # type: ignore[call-arg]

    @classmethod
    def from_long(
        cls,
        frame: Any,
        object: str,
        partition: str,
        cluster: str,
        *,
        objects: Iterable[Hashable] | None = None,
        partitions: Iterable[Hashable] | None = None,
        weights: ArrayLike | None = None,
        missing: Missing = "unobserved",
        names: Naming = "own",
    ) -> Self:
        """Make an ensemble from a table in long form, with a partition, an object and a cluster in each row.

        Crowdsourced answers, card sorts, and results of many tools in a database have this form.

        Parameters
        ----------
        frame : frame
            A frame of pandas or polars, a table of Arrow, or a dict of columns.
        object, partition, cluster : str
            Names of the columns: the object, the partition (a rater, a run), the label of the cluster.
        objects : iterable of hashable, default=None
            The objects in the order of the rows of the ensemble. None: all that occur, sorted.
        partitions : iterable of hashable, default=None
            The partitions in the order of the columns. None: all that occur, sorted.
        weights : array-like of shape (n_partitions,), default=None
            Weight of each partition. None: all equal.
        missing : {"unobserved", "noise"}, default="unobserved"
            Meaning of a cluster -1; an object without a row in a partition is missing there.
        names : {"own", "shared"}, default="own"
            Meaning of the names of clusters; see :class:`conclust.Ensemble`. "shared" for answers of raters.

        Returns
        -------
        Ensemble
            One row per object, one column per partition.

        Raises
        ------
        InputError
            If a column does not exist, a partition puts an object into two clusters, or what occurs is not in
            `objects` or `partitions`, or has no order where these are not given.

        Examples
        --------
        >>> from conclust import Ensemble
        >>> cards = {
        ...     "card": ["milk", "cheese", "nail", "milk", "nail"],
        ...     "person": ["ann", "ann", "ann", "ben", "ben"],
        ...     "pile": ["food", "food", "tools", "white", "grey"],
        ... }
        >>> Ensemble.from_long(cards, "card", "person", "pile").labels
        array([[ 0, -1],
               [ 0,  0],
               [ 1,  1]])
        """
        check_option(missing, "missing", "Ensemble.from_long", Missing)
        frame = collected(frame)
        rows = _column(frame, object, "The frame").tolist()
        owners = _column(frame, partition, "The frame").tolist()
        values = _column(frame, cluster, "The frame")
        if not len(rows) == len(owners) == len(values):
            raise InputError(
                f"The columns must have the same length. Got {len(rows)}, {len(owners)} and {len(values)}."
            )
        for column, name in ((rows, object), (owners, partition)):
            _check_present(column, "The frame", name)
        places = _places([rows], objects, "objects")
        runs = _places([owners], partitions, "partitions")
        at = np.array([places[one] for one in rows], dtype=np.int64)
        of = np.array([runs[one] for one in owners], dtype=np.int64)
        shape = (len(places), len(runs))
        _check_once(at * shape[1] + of, values, (rows, owners))
        matrix = _matrix([(at, of, values)], shape, missing)
        return cls(matrix, weights=weights, missing=_left(matrix, missing), names=names)  # type: ignore[call-arg]


def _column_names(table: Any) -> list[Any]:
    is_dict = isinstance(table, Mapping)
    columns = getattr(
        table, "columns", None
    )  # Arrow has its columns there, and the names elsewhere
    names: Any = table.keys() if is_dict else getattr(table, "column_names", columns)
    if names is None or isinstance(table, str | bytes):
        raise InputError(
            "A table must be a frame of pandas or polars, a table of Arrow, or a dict of columns. Got "
            f"{shown(table)}."
        )
    return list(names)


def _column(table: Any, name: Any, where: str) -> NDArray[Any]:
    """Return a column as an array of whole numbers, or of Python objects with None for missing."""
    names = _column_names(table)
    if name not in names:
        raise InputError(f"{where} has no column {name!r}. It has: {', '.join(map(str, names))}.")
    column = table[name]
    if hasattr(column, "to_pylist"):
        values = arrow_column(column)
    else:
        values = exact_column(column)
        if hasattr(column, "to_numpy") and values.dtype != object:
            values = column.to_numpy()
    # Numbers in mixed columns stay numbers.
    if values.dtype.kind in "US" and isinstance(column, list | tuple):
        values = np.array([*column, None], dtype=object)[:-1]
    if values.ndim != 1:
        raise InputError(
            f"{where}: the column {name!r} must have one value per row. Got {shown(column)}."
        )
    if values.dtype.kind in "iu" and values.max(initial=0) <= np.iinfo(np.int64).max:
        return values.astype(np.int64)
    cells = np.empty(len(values), dtype=object)
    cells[:] = [None if is_missing(one) else one for one in _as_objects(values)]
    return cells


def _as_objects(values: NDArray[Any]) -> list[Any]:
    """Return cells as Python objects; times too, which NumPy turns to ints if they have nanoseconds."""
    if values.dtype.kind in "mM" and np.datetime_data(values.dtype)[0] in ("ns", "ps", "fs", "as"):
        micro = values.astype(f"{values.dtype.kind}8[us]")
        is_exact = (micro == values) | np.isnat(values)
        return micro.tolist() if is_exact.all() else list(values)
    objects: list[Any] = values.tolist()
    return objects


def _warn_of_strangers(names: list[Any], rows: list[list[Any]]) -> None:
    """Warn of tables without an object of any other table: their identifiers may be written differently."""
    if len(rows) == 1:
        return
    n_tables = Counter(one for ids in rows for one in ids)
    strangers = [
        (name, ids[0])
        for name, ids in zip(names, rows, strict=True)
        if ids and all(n_tables[one] == 1 for one in ids)
    ]
    if strangers:
        listed = ", ".join(f"{name!r} (the first is {one!r})" for name, one in strangers)
        warn(
            f"No identifier of these tables is in another table: {listed}. Their objects are not compared with the others: check "
            "that all tables write identifiers in the same way.",
            EvidenceWarning,
        )


def _check_ids(ids: list[Any], table: str, on: str) -> None:
    _check_present(ids, f"Table {table!r}", on)
    ids_met: set[Any] = set()
    for one in ids:
        if one in ids_met:
            raise InputError(f"Table {table!r} has the identifier {one!r} more than once.")
        ids_met.add(one)


def _check_present(values: Sequence[Any], where: str, name: str) -> None:
    for row, value in enumerate(values):
        is_blank = value is None or (isinstance(value, str) and not value.strip())
        if is_blank or not isinstance(value, Hashable):
            raise InputError(f"{where}: row {row} has no identifier in the column {name!r}.")


def _places(
    used: list[list[Any]], requested: Iterable[Hashable] | None, name: str
) -> dict[Any, int]:
    """Return the index of each identifier, in the given or sorted order."""
    every: set[Any] = set().union(*used)
    if requested is None:
        try:
            order = sorted(every)
        except TypeError as error:
            raise InputError(
                "The identifiers are of types that cannot be sorted together, such as numbers and text. Convert them to one "
                f"type, or give their order as {name!r}."
            ) from error
    else:
        order = identifiers(requested, name)
    places = {one: i for i, one in enumerate(order)}
    if len(places) < len(order):
        raise InputError(f"Identifiers must be different. {len(order) - len(places)} are repeated.")
    strange = next((one for ids in used for one in ids if one not in places), None)
    if strange is not None:
        raise InputError(f"{strange!r} is in a table, and not among {name!r}.")
    return places


def _check_once(cells: Ints, values: NDArray[Any], names: tuple[list[Any], list[Any]]) -> None:
    """Refuse two different clusters for an object in a partition."""
    order = np.argsort(cells, kind="stable")
    again = np.flatnonzero(np.diff(cells[order]) == 0)
    for k in again.tolist():
        first, second = int(order[k]), int(order[k + 1])
        if values[first] != values[second]:
            raise InputError(
                f"Partition {names[1][first]!r} puts the object {names[0][first]!r} into two clusters, "
                f"{values[first : first + 1].tolist()[0]!r} and {values[second : second + 1].tolist()[0]!r}."
            )


def _matrix(
    cells: list[tuple[Ints, Any, NDArray[Any]]], shape: tuple[int, int], missing: Missing
) -> NDArray[Any] | CodedTable:
    """Return the labels of all cells, as numbers if all are, or else coded, in the narrowest type; absent cells are missing."""
    if all(values.dtype.kind == "i" for _, _, values in cells):
        lowest = min(
            min(int(values.min(initial=NOISE)), -int(values.max(initial=0)))
            for _, _, values in cells
        )
        matrix = np.full(shape, MISSING, dtype=np.min_scalar_type(lowest))
        for at, columns, values in cells:
            noisy = (values == MISSING) & (missing == "noise")
            matrix[at, columns] = np.where(noisy, NOISE, values)
        return matrix
    numbers: dict[Any, int] = {}
    try:
        coded = [
            np.array(
                [numbers.setdefault((type(one), one), len(numbers)) for one in values.tolist()]
            )
            for _, _, values in cells
        ]
    except (
        TypeError
    ):  # a label that cannot be a key: the reader of labels refuses it by its partition
        whole = np.full(shape, None, dtype=object)
        for at, columns, values in cells:
            whole[at, columns] = values
        return whole
    codes = np.full(shape, -1, dtype=np.min_scalar_type(-len(numbers) - 1))
    for (at, columns, _), found in zip(cells, coded, strict=True):
        codes[at, columns] = found
    return CodedTable(codes, [*(value for _, value in numbers), None])


def _left(matrix: NDArray[Any] | CodedTable, missing: Missing) -> Missing:
    """Return the meaning of -1 that remains to be applied; in a matrix of ints it has been applied already."""
    return "unobserved" if isinstance(matrix, np.ndarray) and matrix.dtype.kind == "i" else missing
