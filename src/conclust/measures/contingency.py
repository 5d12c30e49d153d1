"""The contingency table of two partitions: all measures that compare partitions read it.

An object that either side did not observe (-1, NaN, None, pandas.NA) is left out of the
comparison. A noise object (-2: observed, and apart from all others) is a cluster of one.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.containers import check_row_names, refuse_container
from conclust._types import Ints
from conclust._validation import shown
from conclust.ensemble.columns import exact_column, unmasked
from conclust.ensemble.derived import labels_of
from conclust.ensemble.labels import MISSING, NOISE, code_labels
from conclust.exceptions import DenseLimitError, InputError, order_of_call

MAX_CELLS = 2**27  # of a dense table: 1 GiB of int64


@dataclass(frozen=True, eq=False, repr=False)
class Contingency:
    """Number of objects in cluster k of one partition and cluster l of the other.

    Only non-empty cells are stored, so that partitions with very many clusters fit in memory.

    Attributes
    ----------
    rows, columns : (n_cells,) int64
        Cluster k of the first and l of the second partition, for every cell, in row-major order.
    counts : (n_cells,) int64
        Objects in that cell, at least 1.
    row_sizes, column_sizes : (n_rows,), (n_columns,) int64
        Objects in every cluster of the first and of the second partition.
    row_labels, column_labels : tuple
        The names of the clusters, in order of first appearance; -2 for every noise object.
    n_samples : int
        Objects that both partitions observed.
    """

    rows: Ints
    columns: Ints
    counts: Ints
    row_sizes: Ints
    column_sizes: Ints
    row_labels: tuple[Hashable, ...]
    column_labels: tuple[Hashable, ...]
    n_samples: int

    @property
    def shape(self) -> tuple[int, int]:
        """Clusters of the first and of the second partition."""
        return self.row_sizes.size, self.column_sizes.size

    @property
    def table(self) -> Ints:
        """The table as a dense (n_rows, n_columns) array."""
        cells = self.shape[0] * self.shape[1]
        if cells > MAX_CELLS:
            raise DenseLimitError(
                f"A dense contingency table of {self.shape[0]} x {self.shape[1]} clusters has {cells} "
                f"cells, more than the limit of {MAX_CELLS}. Read its {self.counts.size} cells that "
                "are not empty from 'rows', 'columns' and 'counts' instead."
            )
        table = np.zeros(self.shape, dtype=np.int64)
        table[self.rows, self.columns] = self.counts
        return table

    @property
    def identical(self) -> bool:
        """Whether the two partitions are the same, up to the names of the clusters."""
        return self.counts.size == self.row_sizes.size == self.column_sizes.size

    def __repr__(self) -> str:
        return (
            f"Contingency(n_samples={self.n_samples}, shape={self.shape}, cells={self.counts.size})"
        )


def contingency(labels_true: ArrayLike, labels_pred: ArrayLike) -> Contingency:
    """Count the objects that two partitions have in common, cluster by cluster.

    Parameters
    ----------
    labels_true, labels_pred : (n_samples,) array-like of int, str or other hashable
        The two partitions. Objects that either did not observe (-1, NaN, None) are left out;
        noise (-2) is a cluster of one object.

    Returns
    -------
    Contingency
        Rows are the clusters of `labels_true`, columns the clusters of `labels_pred`, both in order
        of first appearance.

    Raises
    ------
    InputError
        If the two differ in length, are empty, not 1-D, hold invalid labels, share no object, or are pandas series with the
        same row names in different orders.

    Examples
    --------
    >>> from conclust.metrics import contingency
    >>> found = contingency(["a", "a", "b", "b"], [0, 0, 0, 1])
    >>> found.table
    array([[2, 0],
           [1, 1]])
    >>> found.row_labels, found.column_labels
    (('a', 'b'), (0, 1))
    """
    check_row_names({"labels_true": labels_true, "labels_pred": labels_pred}, named_only=True)
    a, names_a = read_labels(labels_true, "labels_true")
    b, names_b = read_labels(labels_pred, "labels_pred")
    if a.size != b.size:
        raise InputError(
            f"Two partitions are compared object by object and must have the same length. Got {a.size} "
            f"labels in 'labels_true' and {b.size} in 'labels_pred'."
        )
    table = tabulate(a, names_a, b, names_b)
    if table is None:
        raise InputError(
            f"No object has a label in both partitions: of {a.size} objects, 'labels_true' observed "
            f"{np.count_nonzero(a != MISSING)} and 'labels_pred' {np.count_nonzero(b != MISSING)}."
        )
    return table


def tabulate(
    a: Ints, names_a: tuple[Hashable, ...], b: Ints, names_b: tuple[Hashable, ...]
) -> Contingency | None:
    """Return the table of two vectors of codes (-1 missing, -2 noise), None if they share nothing."""
    shared = (a != MISSING) & (b != MISSING)
    n = int(np.count_nonzero(shared))
    if n == 0:
        return None
    if n < a.size:
        a, b = a[shared], b[shared]
    a, names_a = _compact(a, names_a)
    b, names_b = _compact(b, names_b)
    n_rows, n_columns = len(names_a), len(names_b)
    key = a * n_columns + b
    if n_rows * n_columns <= max(4 * n, 2**16):
        every = np.bincount(key, minlength=n_rows * n_columns)
        cells = np.flatnonzero(every)
        counts = every[cells]
    else:
        cells, counts = np.unique(key, return_counts=True)
    return Contingency(
        rows=cells // n_columns,
        columns=cells % n_columns,
        counts=counts.astype(np.int64, copy=False),
        row_sizes=np.bincount(a, minlength=n_rows),
        column_sizes=np.bincount(b, minlength=n_columns),
        row_labels=names_a,
        column_labels=names_b,
        n_samples=n,
    )


def read_labels(labels: Any, name: str) -> tuple[Ints, tuple[Hashable, ...]]:
    """Return codes by first appearance (-1 missing, -2 noise) and the names of the clusters."""
    if hasattr(labels, "columns"):
        raise InputError(
            f"{name!r} must be one label per object. Got a table; choose a column of it. The order is {order_of_call()}."
        )
    refuse_container(labels, repr(name))
    if isinstance(labels, np.ma.MaskedArray):
        labels = unmasked(labels)
    try:
        array = exact_column(labels)
        # NumPy turns ["a", None] into the strings "a" and "None": read the objects instead.
        if array.dtype.kind not in "biufcO":
            array = np.asarray(labels, dtype=object)
    except ValueError as error:
        raise InputError(
            f"{name!r} must be one label per object. Got a ragged sequence."
        ) from error
    if array.ndim != 1:
        got = f"an array of shape {array.shape}" if array.ndim else shown(labels)
        advice = f" The order is {order_of_call()}." if array.ndim == 2 else ""
        raise InputError(f"{name!r} must be a 1-D array, one label per object. Got {got}.{advice}")
    if array.size < 2:
        raise InputError(
            f"{name!r} must hold the labels of at least two objects. Got {array.size}."
        )
    try:
        coded = code_labels(array.reshape(-1, 1))
    except InputError as error:
        raise InputError(f"{name!r} cannot be read. {error}") from error
    return labels_of(coded.codes[:, 0]), coded.names[0]


def _compact(codes: Ints, names: tuple[Hashable, ...]) -> tuple[Ints, tuple[Hashable, ...]]:
    """Return codes of observed objects in which every cluster is used and noise stands alone."""
    noise = codes == NOISE
    sizes = np.bincount(codes[~noise], minlength=len(names))
    used = np.flatnonzero(sizes)
    if used.size < len(names):
        position = np.zeros(len(names), dtype=np.int64)
        position[used] = np.arange(used.size)
        codes = np.where(noise, NOISE, position[np.maximum(codes, 0)])
        names = tuple(names[k] for k in used)
    n_noise = int(np.count_nonzero(noise))
    if n_noise:
        codes = codes.copy()
        codes[noise] = len(names) + np.arange(n_noise)
        names = names + (NOISE,) * n_noise
    return codes, names


def read_labels_beside(
    labels: Any, ensemble: Any, n_samples: int, *, what: str = "partition", name: str = "labels"
) -> tuple[Ints, tuple[Hashable, ...]]:
    """Return what `read_labels` does, for a partition of the objects of an ensemble.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        The partition.
    ensemble : Ensemble or array-like
        The ensemble as the user gave it; rows of a frame must have the names of those of `labels`.
    n_samples : int
        Number of its objects.
    what, name : str
        The partition in messages, and its parameter.
    """
    check_row_names({"ensemble": ensemble, name: labels}, named_only=True)
    codes, names = read_labels(labels, name)
    if codes.size != n_samples:
        raise InputError(
            f"The {what} and the ensemble must be of the same objects. Got {codes.size} labels and "
            f"an ensemble of {n_samples} objects."
        )
    return codes, names
