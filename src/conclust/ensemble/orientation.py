"""Detects label matrices that look transposed, with clusterings or draws as rows, and gives hints."""

from __future__ import annotations

from typing import Any

import numpy as np

from conclust._types import Floats

# Names in at most this number of rows, with three times more columns or beyond, look like clusterings given
# as rows.
_FEW_ROWS = 5
# Smaller matrices may number the clusters of all rows by first appearance by chance.
_FEW_DRAWS = 10


def clusterings_as_rows(labels: Any, n: int, m: int) -> bool:
    """Return whether the rows of a label matrix (n, m) are probably clusterings.

    It does if it has far fewer rows than columns, every row numbers its clusters without a gap from
    the smallest label of all on, as clusterers do, and not every column does.
    """
    if m < 3 * n:
        return False
    array = np.asarray(labels)
    if array.dtype.kind not in "biuf":
        return n <= _FEW_ROWS
    clusters = array >= 0  # missing and noise are not clusters
    if not clusters.any():
        return False
    base = array[clusters].min()
    array = np.where(clusters, array, np.nan)
    return all(_is_dense(row, base) for row in array) and not all(
        _is_dense(column, base) for column in array.T
    )


def runs_in_a_list(labels: Any) -> bool:
    """Return whether labels are a list of vectors, each longer than the list: clusterings, given as rows."""
    if not isinstance(labels, list | tuple) or not labels:
        return False
    return all(
        hasattr(one, "__array__") and np.ndim(one) == 1 and len(one) > len(labels) for one in labels
    )


def draws_in_rows(labels: Any, n: int, m: int) -> bool:
    """Return whether each row of a label matrix (n, m) numbers its clusters by first appearance, as draws of a partition do.

    Then the first column is constant: a partition in one cluster, if rows were objects. A constant first row is an object
    in the first cluster of every partition, as in columns numbered by first appearance: it does not count as draws.
    """
    if n < _FEW_DRAWS or m < _FEW_DRAWS:
        return False
    array = np.asarray(labels)
    if array.dtype.kind not in "iu" or array.shape != (n, m) or array[0, 0] not in (0, 1):
        return False
    if (array[:, 0] != array[0, 0]).any() or (array[0] == array[0, 0]).all():
        return False
    highest = np.maximum.accumulate(array, axis=1)
    by_appearance = (array[:, 1:] <= highest[:, :-1] + 1).all() and array.min() >= array[0, 0]
    return bool(by_appearance and (highest[:, -1] > array[0, 0] + 1).any())


def draws_hint(n: int, m: int) -> str:
    """Return the hint about such a matrix, read as n objects in m partitions."""
    return (
        f"The labels are read as {n} objects in {m} partitions, but each of the {n} rows numbers its clusters by first "
        f"appearance, as draws of a partition of {m} objects do. If each row is a draw, use Ensemble.from_draws(labels)."
    )


def runs_hint(n: int, m: int) -> str:
    """Return the warning about such a list, read as n objects in m partitions."""
    return (
        f"A list of {n} vectors of {m} labels is read as {n} objects in {m} partitions: one row per object. If each "
        "vector is a clustering, pass numpy.column_stack(labels)."
    )


def _is_dense(labels: Floats, base: float) -> bool:
    """Return whether the labels are all of base, base + 1, ..., their largest."""
    values = np.unique(labels[~np.isnan(labels)])
    return len(values) > 0 and bool((values == base + np.arange(len(values))).all())
