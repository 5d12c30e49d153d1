"""Detects label matrices that look transposed, with clusterings or draws as rows, and gives hints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats, Ints

# Names in at most this number of rows, with three times more columns or beyond, look like clusterings given
# as rows.
_FEW_ROWS = 5
# Smaller tables may have different pairs of labels by chance.
_FEW_ANSWERS = 20
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


def answers_in_rows(codes: NDArray[Any], cluster_counts: Ints) -> tuple[int, int] | None:
    """Return two of three columns whose pairs of values are all different, as in a table with one answer per row.

    Such a table has columns of objects, of raters and of labels. Two partitions with few clusters have equal pairs.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_partitions)
        Labels of each column from 0 on.
    cluster_counts : ndarray of int64 of shape (n_partitions,)
        Number of labels of each column.
    """
    n, m = codes.shape
    if m != 3 or n < _FEW_ANSWERS:
        return None
    for first, second in ((0, 1), (0, 2), (1, 2)):
        numbers = int(cluster_counts[first]), int(cluster_counts[second])
        # Each value occurs three times on average, at least; the missing labels have large codes.
        if not n <= numbers[0] * numbers[1] or max(numbers) > n / 3:
            continue
        pairs = codes[:, first].astype(np.int64) * (int(codes.max()) + 1) + codes[:, second]
        if len(np.unique(pairs)) == n:
            return first, second
    return None


def answers_hint(n: int, columns: tuple[int, int]) -> str:
    """Return the warning about such a table, read as n objects in three partitions."""
    return (
        f"The labels are read as {n} objects in 3 partitions, but all pairs of values of the columns {columns[0]} and "
        f"{columns[1]} are different, as in a table with an object, a rater and a label in each row. If it is one, use "
        "Ensemble.from_long; in the shell, --rows answers."
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
