"""Reads and writes the differences between clusters of points: features.csv, and the gaps in result.json."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.spreadsheets import guard_text, unguarded
from conclust._files.storage import json_numbers
from conclust._types import Ints
from conclust.confidence import ClusterCategories, ClusterFeatures, ClusterGaps
from conclust.results.writing import write_numbers

MOST_GAPS = 20
"""Maximum number of clusters whose pairs are all tested for gaps."""

_VALUES = ("inside", "outside", "deviation", "difference")
_COLUMNS = ("feature", "cluster", *_VALUES, "category", "filled")


@dataclass(frozen=True)
class Features:
    """Differences between the clusters, and the names of the features.

    Attributes
    ----------
    names : tuple of str
        Names of the numeric features.
    found : ClusterFeatures
        Means and differences of these.
    category_names : tuple of str
        Names of the columns of categories.
    categories : ClusterCategories or None
        Shares of their categories. None: there is no such column.
    """

    names: tuple[str, ...]
    found: ClusterFeatures
    category_names: tuple[str, ...] = ()
    categories: ClusterCategories | None = None


def write_features(path: Path, features: Features, filled: Ints) -> None:
    """Write the difference between each cluster and the other objects, for each feature or category.

    Parameters
    ----------
    path : Path
        The file.
    features : Features
        Means of the features by cluster, and shares of categories.
    filled : ndarray of shape (n_clusters, n_features)
        Number of cells that were filled.
    """
    names = features.names
    rows = [_rows(names, [""] * len(names), features.found, filled)]
    shares = features.categories
    if shares is not None:
        owners = [features.category_names[j] for j in shares.column.tolist()]
        none = np.zeros((len(filled), len(owners)), dtype=np.int64)
        rows.append(_rows(owners, list(map(str, shares.category)), shares.shares, none))
    write_numbers(path, {name: np.concatenate([part[name] for part in rows]) for name in _COLUMNS})


def _rows(
    names: Sequence[str],
    categories: Sequence[str],
    found: ClusterFeatures,
    filled: Ints,
) -> dict[str, NDArray[Any]]:
    """Return columns of features.csv: for each feature one row per cluster."""
    K, d = found.difference.shape

    def repeated(texts: Sequence[str]) -> NDArray[Any]:
        cells = [guard_text(text) for text in texts]
        return np.repeat(np.array(cells, dtype=object), K)

    values = {name: getattr(found, name).T.ravel() for name in _VALUES}
    first = {"feature": repeated(names), "cluster": np.tile(range(K), d)}
    return {**first, **values, "category": repeated(categories), "filled": filled.T.ravel()}


def read_features(
    header: Sequence[str], rows: Sequence[Sequence[str]], n_clusters: int
) -> Features | None:
    """Undo `write_features`; None if the cells do not fit each other.

    Parameters
    ----------
    header, rows : list of str, list of list of str
        The cells of the file.
    n_clusters : int
        Number of clusters of the result.

    Raises
    ------
    ValueError
        A cell is not a number.
    """
    if tuple(header) != _COLUMNS or len(rows) % n_clusters:
        return None
    cells = [[float(row[at]) if row[at] else math.nan for row in rows] for at in range(2, 6)]
    columns = [np.array(column).reshape(-1, n_clusters).T for column in cells]
    listed = [[unguarded(row[at]) for at in (0, 6)] for row in rows[::n_clusters]]
    # Rows of numbers come first; a category is never empty.
    d = sum(not category for _, category in listed)
    if any(not category for _, category in listed[d:]):
        return None
    means = ClusterFeatures(*(column[:, :d] for column in columns))
    names = tuple(name for name, _ in listed[:d])
    if d == len(listed):
        return Features(names, means)
    owners = list(dict.fromkeys(name for name, _ in listed[d:]))
    shares = ClusterCategories(
        np.array([owners.index(name) for name, _ in listed[d:]], dtype=np.int64),
        tuple(category for _, category in listed[d:]),
        ClusterFeatures(*(column[:, d:] for column in columns)),
    )
    return Features(names, means, tuple(owners), shares)


def gaps_record(gaps: ClusterGaps) -> dict[str, Any]:
    """Return the gaps between clusters for result.json."""
    return {
        "dip": json_numbers(gaps.dip),
        "p_value": json_numbers(gaps.p_value),
        "splits": gaps.n_splits,
        "draws": gaps.n_draws,
        "neighbours": gaps.neighbours.tolist(),
    }


def read_gaps(entries: dict[str, Any], n_clusters: int) -> ClusterGaps | None:
    """Undo `gaps_record`; None if it belongs to another number of clusters."""
    dips, p_values = (np.array(entries[name], dtype=np.float64) for name in ("dip", "p_value"))
    neighbours = np.array(entries["neighbours"], dtype=np.bool_)
    if not dips.shape == p_values.shape == neighbours.shape == (n_clusters, n_clusters):
        return None
    return ClusterGaps(dips, p_values, int(entries["splits"]), int(entries["draws"]), neighbours)
