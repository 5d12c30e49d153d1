"""The symmetric graph of nearest neighbours, and single linkage by mutual reachability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from conclust import _kernels
from conclust._kernels import Forest
from conclust._types import Floats, Ints
from conclust._validation import check_int, check_option
from conclust.ensemble.equal_rows import EqualRows
from conclust.neighbours.search import Metric, Neighbours, find_neighbours

Weights: TypeAlias = Literal["uniform", "jaccard"]


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """A symmetric graph of distinct points in compressed sparse rows; no point is tied to itself.

    Attributes
    ----------
    starts : ndarray of int64 of shape (n_points + 1,)
        Start of the ties of each point.
    ends : ndarray of int32 of shape (n_ties,)
        The points at the other end, in rising order. Each tie is stored in both directions.
    weights : ndarray of float64 of shape (n_ties,)
        The weights of the ties, above 0.
    rows : EqualRows
        Distinct rows of the objects. Points are numbered by first appearance, so that point i is object i
        where all objects differ.
    """

    starts: Ints
    ends: NDArray[np.int32]
    weights: Floats
    rows: EqualRows

    @property
    def n_points(self) -> int:
        """Number of distinct points."""
        return len(self.starts) - 1

    @cached_property
    def sources(self) -> NDArray[np.int32]:
        """The point at this end of each tie."""
        return np.repeat(np.arange(self.n_points, dtype=np.int32), np.diff(self.starts))

    def to_scipy(self) -> sp.csr_array:
        """Return the weights as a sparse matrix of shape (n_points, n_points)."""
        shape = (self.n_points, self.n_points)
        return sp.csr_array((self.weights, self.ends, self.starts), shape=shape)


def neighbour_graph(
    X: ArrayLike,
    k: int,
    *,
    weights: Weights = "uniform",
    metric: Metric = "euclidean",
    n_jobs: int | None = None,
) -> NeighbourGraph:
    """Tie each point to its k nearest neighbours, and to those that have it among theirs.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite coordinates. Equal rows are one point.
    k : int
        Number of neighbours; all other points if there are fewer.
    weights : {"uniform", "jaccard"}, default="uniform"
        "uniform": all weights are 1. "jaccard": the weight of a tie is the share of the neighbours of the two
        points that both have, each point and its k neighbours taken together.
    metric : {"euclidean", "cosine"}, default="euclidean"
        The distance. By "cosine", rows of the same direction are one point.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Returns
    -------
    NeighbourGraph
        The graph of the distinct points.

    Raises
    ------
    InputError
        If X is not a matrix of finite numbers, or has a row of zeros with ``metric="cosine"``.
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from conclust.neighbours import neighbour_graph
    >>> graph = neighbour_graph([[0.0], [1.0], [3.0], [7.0]], k=1)
    >>> graph.to_scipy().toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 1., 0.],
           [0., 1., 0., 1.],
           [0., 0., 1., 0.]])
    """
    owner = "neighbour_graph"
    k = check_int(k, "k", owner) or 1
    check_option(weights, "weights", owner, Weights)
    return graph_of(find_neighbours(X, k, metric=metric, n_jobs=n_jobs), k, weights)


def graph_of(neighbours: Neighbours, k: int, weights: Weights) -> NeighbourGraph:
    """Return the graph of the k nearest of the neighbours that have been found."""
    k = min(k, neighbours.k)
    edges = _kernels.neighbour_graph(neighbours.found, k, weights == "jaccard")
    return NeighbourGraph(*edges, neighbours.rows)


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
