"""Categories that distinguish clusters: the share of each in a cluster, and among the other objects."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import check_row_names, is_blank, is_missing
from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.confidence.features import ClusterFeatures, standardised
from conclust.exceptions import InputError
from conclust.measures.contingency import read_labels


@dataclass(frozen=True)
class ClusterCategories:
    """For each cluster and category, its share of the cluster and of the other objects.

    Attributes
    ----------
    column : ndarray of int64 of shape (n_categories,)
        The column that each category belongs to; categories of one column follow each other.
    category : tuple of length n_categories
        Its value, in order of first appearance.
    shares : ClusterFeatures
        Features of the indicator of each category, which is 1 for objects in the category. `inside` and `outside` are
        shares, and `difference` is in standard deviations, as for any feature.
    """

    column: Ints
    category: tuple[Hashable, ...]
    shares: ClusterFeatures

    def __repr__(self) -> str:
        n_clusters, n_categories = self.shares.inside.shape
        n_columns = len(np.unique(self.column))
        return (
            f"ClusterCategories({count(n_clusters, 'cluster')}, {count(n_categories, 'category')} of "
            f"{count(n_columns, 'column')})"
        )


def cluster_categories(categories: ArrayLike, labels: ArrayLike) -> ClusterCategories:
    """Return the share of each category in each cluster, and among the other objects.

    The result equals `cluster_features` for the indicators of the categories, but the indicators are not formed.

    Parameters
    ----------
    categories : array-like of shape (n_samples, n_columns)
        Names or numbers. An empty cell (None, NaN) is left out, but only in its column.
    labels : array-like of shape (n_samples,)
        The clusters. Objects with a negative label or NaN are in no cluster, and not among the others.

    Returns
    -------
    ClusterCategories
        Shares and standardised differences, clusters in order of first appearance.

    Raises
    ------
    InputError
        If the number of rows of categories differs from the number of labels.

    Examples
    --------
    >>> from conclust.confidence import cluster_categories
    >>> found = cluster_categories([["a"], ["a"], ["a"], ["b"], ["b"], [None]], [0, 0, 0, 0, 1, 1])
    >>> found.category
    ('a', 'b')
    >>> found.shares.inside
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    check_row_names({"categories": categories, "labels": labels}, named_only=True)
    codes, _ = read_labels(labels, "labels")
    columns = _columns(categories, len(codes))
    in_cluster = codes >= 0
    K = int(codes.max(initial=-1)) + 1
    parts, owner, names = [], [], []
    for j, values in enumerate(columns):
        category_codes, values_of_column = _codes(values)
        observed = in_cluster & (category_codes >= 0)
        cells = np.bincount(
            codes[observed] * len(values_of_column) + category_codes[observed],
            minlength=K * len(values_of_column),
        )
        parts.append(_shares(cells.reshape(K, len(values_of_column)).astype(np.float64)))
        owner += [j] * len(values_of_column)
        names += values_of_column
    joined = [np.concatenate(of, axis=1) for of in zip(*parts, strict=True)]
    inside, outside, deviation = joined
    return ClusterCategories(
        np.array(owner, dtype=np.int64),
        tuple(names),
        ClusterFeatures(inside, outside, deviation, standardised(inside, outside, deviation)),
    )


def _columns(categories: ArrayLike, n: int) -> list[NDArray[np.object_]]:
    array = np.asarray(categories, dtype=object)
    if array.ndim != 2 or len(array) != n or not array.shape[1]:
        raise InputError(
            f"'categories' must hold a row for each of the {n} labels and at least one column. Got an array "
            f"of shape {array.shape}."
        )
    return [array[:, j] for j in range(array.shape[1])]


def _codes(values: NDArray[np.object_]) -> tuple[Ints, list[Hashable]]:
    """Number the categories by first appearance, with -1 for empty cells; also return their values."""
    number: dict[Hashable, int] = {}
    codes = np.full(len(values), -1, dtype=np.int64)
    for i, value in enumerate(values.tolist()):
        if is_missing(value) or is_blank(value):
            continue
        try:
            codes[i] = number.setdefault(value, len(number))
        except TypeError as error:
            raise InputError(
                f"'categories' must hold names or numbers. Got {type(value).__name__} in row {i}."
            ) from error
    return codes, list(number)


def _shares(counts: Floats) -> tuple[Floats, ...]:
    """Return shares inside and outside of each cluster, and the deviation about these two."""
    totals = counts.sum(axis=1, keepdims=True)
    others, n_others = counts.sum(axis=0) - counts, totals.sum() - totals
    defined = (totals > 0) & (n_others > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(totals > 0, counts / totals, np.nan)
        outside = np.where(n_others > 0, others / n_others, np.nan)
        squares = totals * inside * (1.0 - inside) + n_others * outside * (1.0 - outside)
        free = totals + n_others - 2.0
        deviation = np.where(defined & (free > 0), np.sqrt(squares / np.maximum(free, 1.0)), np.nan)
    return inside, outside, deviation
