"""Single linkage by mutual reachability on the graph of nearest neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import Forest
from conclust._types import Floats
from conclust.neighbours.search import Neighbours


def core_squares(neighbours: Neighbours, m: int) -> Floats:
    """Return the squared distance of each point to its m-th nearest object, including copies of the point.

    The farthest known neighbour represents those beyond it.
    """
    counts = neighbours.rows.counts
    if neighbours.k == 0:
        return np.zeros(neighbours.n_points)
    nearer = (counts - 1)[:, None] + np.cumsum(counts[neighbours.found], axis=1)
    place = np.minimum((nearer < m).sum(axis=1), neighbours.k - 1)
    cores = neighbours.squares[np.arange(neighbours.n_points), place]
    return np.where(counts > m, 0.0, cores)


def density_forest(neighbours: Neighbours, m: int) -> Forest:
    """Return the minimum spanning forest of mutual reachability, by core distances of the m-th neighbour."""
    return Forest(neighbours.found, neighbours.squares, core_squares(neighbours, m))


def cut_ties(
    forest: Forest, neighbours: Neighbours, n_clusters: int, least: float
) -> tuple[NDArray[np.int32], int]:
    """Cut the longest edges of a forest that leave enough objects on both sides.

    Parameters
    ----------
    forest : Forest
        The ties of the points.
    neighbours : Neighbours
        The points.
    n_clusters : int
        Maximum number of clusters; the trees of the forest are never joined.
    least : float
        Number of objects that each side of a cut must have.

    Returns
    -------
    labels : ndarray of int32 of shape (n_points,)
        The cluster of each point, numbered by first appearance.
    count : int
        Number of clusters.
    """
    trees = neighbours.n_points - forest.n_ties
    labels = np.empty(neighbours.n_points, dtype=np.int32)
    cuts = max(0, n_clusters - trees)
    return labels, forest.cut(neighbours.rows.masses, cuts, least, labels)
