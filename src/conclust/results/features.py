"""The differences between clusters of points, and their file, features.csv."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.spreadsheets import guard_text
from conclust._types import Floats, Ints
from conclust.confidence import ClusterCategories, ClusterFeatures
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
    dates : tuple of str
        Names of the features that are dates, in days since 1970.
    """

    names: tuple[str, ...]
    found: ClusterFeatures
    category_names: tuple[str, ...] = ()
    categories: ClusterCategories | None = None
    dates: tuple[str, ...] = ()

    def parts(self) -> list[tuple[Floats, int]]:
        """Return the arrays by cluster, each with the number of columns that the names say."""
        described = [(self.found, len(self.names))]
        if self.categories is not None:
            described.append((self.categories.shares, len(self.categories.category)))
        return [(getattr(found, name), d) for found, d in described for name in _VALUES]


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
    names: Sequence[str], categories: Sequence[str], found: ClusterFeatures, filled: Ints
) -> dict[str, NDArray[Any]]:
    """Return columns of features.csv: for each feature one row per cluster."""
    K, d = found.difference.shape

    def repeated(texts: Sequence[str]) -> NDArray[Any]:
        return np.repeat(np.array([guard_text(text) for text in texts], dtype=object), K)

    values = {name: getattr(found, name).T.ravel() for name in _VALUES}
    first = {"feature": repeated(names), "cluster": np.tile(range(K), d)}
    return {**first, **values, "category": repeated(categories), "filled": filled.T.ravel()}
