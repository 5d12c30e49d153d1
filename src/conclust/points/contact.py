"""Contact of clusters: ties of the neighbour graph across a border, relative to those across the middle of a cluster."""

from __future__ import annotations

import numpy as np

from conclust._types import Ints
from conclust.points.paths import PathsOfPoints

# Ties added to each number, as points are added to the counts of a valley.
_PRIOR = 3.0


def contact_ratio(paths: PathsOfPoints, labels: Ints, pair: Ints) -> float:
    """Return how many ties cross a border, relative to the fewest across the middle of either cluster.

    It needs no axis, so that it holds for clusters of any shape: two crescents, each around the end of the other, have
    few ties between them. Parts of one cloud have about as many as the halves of either part.

    Parameters
    ----------
    paths : PathsOfPoints
        The points and their neighbour graph.
    labels : ndarray of int64 of shape (n_samples,)
        The cluster of each point.
    pair : ndarray of int64 of shape (2,)
        Two clusters.

    Returns
    -------
    float
        Near 0 for a clear border, about 1 or above for none, as where a cluster is not connected. Three ties are
        added to both numbers.
    """
    cluster_of = paths.of_distinct(labels)
    first, second = cluster_of == pair[0], cluster_of == pair[1]
    graph = paths.graph
    across = np.count_nonzero(first[graph.sources] & second[graph.ends])
    least = min(paths.part(side).fewest_ties_across for side in (first, second))
    return float((across + _PRIOR) / (least + _PRIOR))
