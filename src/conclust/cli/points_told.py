"""The clusters found in the points of a file: their features and categories, and the gaps between them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._spreadsheets import guard_text
from conclust.cli.fill import Filled
from conclust.cli.inputs import Points
from conclust.confidence import ClusterFeatures, cluster_categories, cluster_features, cluster_gaps
from conclust.results.result import MOST_GAPS
from conclust.results.selections import numbers_of
from conclust.results.writing import write_numbers

__all__ = ["gaps_record", "write_features"]


def write_features(
    path: Path, points: Points, filled: Filled, labels: NDArray[np.int64], *, raw: bool
) -> None:
    """Write, for each cluster and feature or category, how far the cluster is from the other objects.

    For a feature these are means over the cells that were not filled, for a category shares of the objects
    that have one.

    Parameters
    ----------
    path : Path
        The file.
    points : Points
        Points as read from the file.
    filled : Filled
        The points that were clustered, in their own units.
    labels : ndarray of shape (n_complete,)
        Their clusters.
    raw : bool
        Whether names are written unchanged.
    """
    found = cluster_features(filled.observed, labels)
    K, d = found.difference.shape
    gaps = np.array([filled.cells[labels == k].sum(axis=0) for k in range(K)])
    rows = [_rows(points.names, [""] * d, found, gaps, raw=raw)]
    if points.categories is not None:
        shares = cluster_categories(points.categories[filled.complete], labels)
        names = [points.category_names[j] for j in shares.column.tolist()]
        none = np.zeros((K, len(names)), dtype=np.int64)
        rows.append(_rows(names, list(map(str, shares.category)), shares.shares, none, raw=raw))
    write_numbers(path, {name: np.concatenate([part[name] for part in rows]) for name in rows[0]})


def _rows(
    names: Sequence[str],
    categories: Sequence[str],
    found: ClusterFeatures,
    filled: NDArray[np.int64],
    *,
    raw: bool,
) -> dict[str, NDArray[Any]]:
    """Return columns of features.csv: of each feature a row for each cluster."""
    K, d = found.difference.shape

    def repeated(texts: Sequence[str]) -> NDArray[Any]:
        shown = list(texts) if raw else [guard_text(text) for text in texts]
        return np.repeat(np.array(shown, dtype=object), K)

    values = {
        name: getattr(found, name).T.ravel()
        for name in ("inside", "outside", "deviation", "difference")
    }
    first = {"feature": repeated(names), "cluster": np.tile(range(K), d)}
    return {**first, **values, "category": repeated(categories), "filled": filled.T.ravel()}


def gaps_record(points: NDArray[np.float64], labels: NDArray[np.int64]) -> dict[str, Any] | None:
    """Return which clusters of scaled points have gaps between them; None if there are too many clusters."""
    if not 1 < int(labels.max()) + 1 <= MOST_GAPS:
        return None
    found = cluster_gaps(points, labels, random_state=0)
    return {
        "dip": [numbers_of(row) for row in found.dip],
        "p_value": [numbers_of(row) for row in found.p_value],
        "splits": found.n_splits,
        "draws": found.n_draws,
        "neighbours": found.neighbours.tolist(),
    }
