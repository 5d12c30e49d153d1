"""Describes clusters of points: their features and categories, and the gaps between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from conclust.cli.reading.fill import Filled
from conclust.cli.reading.inputs import Points
from conclust.confidence import ClusterGaps, cluster_categories, cluster_features, cluster_gaps
from conclust.results.features import MOST_GAPS, Features, write_features

__all__ = ["features_written", "gaps_between"]


def features_written(
    path: Path, points: Points, filled: Filled, labels: NDArray[np.int64], *, raw: bool
) -> None:
    """Write the difference between each cluster and the other objects, for each feature or category.

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
    means = cluster_features(filled.observed, labels)
    cells = np.array([filled.cells[labels == k].sum(axis=0) for k in range(len(means.difference))])
    shares = None
    if points.categories is not None:
        shares = cluster_categories(points.categories[filled.complete], labels)
    features = Features(tuple(points.names), means, tuple(points.category_names), shares)
    write_features(path, features, cells, raw=raw)


def gaps_between(points: NDArray[np.float64], labels: NDArray[np.int64]) -> ClusterGaps | None:
    """Return which clusters of scaled points have gaps between them; None if there are too many clusters."""
    if not 1 < int(labels.max()) + 1 <= MOST_GAPS:
        return None
    return cluster_gaps(points, labels, random_state=0)
