"""The symmetric graph of nearest neighbours, and single linkage by mutual reachability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from conclust import _kernels
from conclust._arrays.rows import EqualRows
from conclust._kernels import Forest, find_communities
from conclust._types import Floats, Ints
from conclust._validation import check_int, check_option
from conclust.neighbours.search import Metric, Neighbours, find_neighbours

Weights: TypeAlias = Literal["uniform", "jaccard"]


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """A symmetric graph of distinct points in compressed sparse rows, without self-loops.

    Attributes
    ----------
    starts : ndarray of int64 of shape (n_points + 1,)
        Start of the edges of each point.
    ends : ndarray of int32 of shape (n_ties,)
        The points at the other end, in increasing order. Each edge is stored in both directions.
    weights : ndarray of float64 of shape (n_ties,)
        The weights of the edges, above 0.
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
    """Connect each point to its k nearest neighbours, and to those that have it among theirs.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite coordinates. Equal rows are one point.
    k : int
        Number of neighbours; all other points if there are fewer.
    weights : {"uniform", "jaccard"}, default="uniform"
        "uniform": all weights are 1. "jaccard": the weight of an edge is the share of the neighbours of the two
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
        The edges of the points.
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


Quality: TypeAlias = Literal["modularity", "cpm"]

_ROUNDS = 2
# Constants of the search for a number of communities.
_LOWEST, _HIGHEST = log(1e-3), log(50.0)
_MOST_RUNS = 8
_NEAR = 0.05
# Minimum step as a share of the bracket: interpolation alone may converge slowly from one of its ends.
_STEP = 0.1


@dataclass(frozen=True, eq=False)
class CommunityGraph:
    """A weighted graph of nodes that each represent some objects.

    Attributes
    ----------
    starts : ndarray of int64 of shape (n_nodes + 1,)
        Start of the edges of each node.
    ends : ndarray of int32 of shape (n_ties,)
        The nodes at the other end. Each edge is stored in both directions, and there are no self-loops.
    weights : ndarray of float64 of shape (n_ties,)
        The weights of the edges, above 0.
    loads : ndarray of float64 of shape (n_nodes,)
        Cost of a community: the degrees of its nodes (modularity), or the number of their objects (the constant
        Potts model).
    unit : float
        The rate of this payment at resolution 1.
    """

    starts: Ints
    ends: NDArray[np.int32]
    weights: Floats
    loads: Floats
    unit: float

    @classmethod
    def of(
        cls,
        starts: Ints,
        ends: NDArray[np.int32],
        weights: Floats,
        masses: Floats,
        quality: Quality,
        loops: Floats | None = None,
    ) -> CommunityGraph:
        """Return the graph whose nodes represent these numbers of objects.

        An edge counts as often as the mean of the objects at its ends, as if each object brought its own.

        Parameters
        ----------
        starts : ndarray of int64 of shape (n_nodes + 1,)
            Start of the edges of each node.
        ends : ndarray of int32 of shape (n_ties,)
            The nodes at the other end.
        weights : ndarray of float64 of shape (n_ties,)
            The weights of the edges.
        masses : ndarray of float64 of shape (n_nodes,)
            Number of objects that each node represents.
        quality : {"modularity", "cpm"}
            Quality that the communities maximise. The resolution of "cpm" is in units of the mean weight of a
            pair of objects, so that both find about as many communities at one resolution.
        loops : ndarray of float64 of shape (n_nodes,), default=None
            The weights of self-loops, which modularity counts twice in the degree of their node. None: there are none.
        """
        sources = np.repeat(np.arange(len(masses)), np.diff(starts))
        if (masses > 1).any():
            weights = weights * (0.5 * (masses[sources] + masses[ends]))
        degrees = np.bincount(sources, weights, len(masses)).astype(np.float64)
        if loops is not None:
            degrees += 2.0 * loops
        total = float(degrees.sum())
        loads = degrees if quality == "modularity" else masses.astype(np.float64)
        weight = float(loads.sum())
        unit = total / weight / weight if total > 0 else 0.0
        return cls(starts, ends, np.ascontiguousarray(weights), loads, unit)

    def communities(
        self, resolution: float, seed: int, rounds: int | None = None
    ) -> tuple[NDArray[np.int32], int]:
        """Return the community of each node, numbered by first appearance, and their number.

        Parameters
        ----------
        resolution : float
            The higher, the more communities.
        seed : int
            Source of the order in which nodes are visited, in the range [0, 2^64).
        rounds : int, default=None
            Maximum number of rounds. 0: only single nodes move, as in the first level of the Louvain algorithm.
            None: 2.
        """
        labels = np.empty(len(self.loads), dtype=np.int32)
        count = find_communities(
            self.starts,
            self.ends,
            self.weights,
            self.loads,
            self.unit * resolution,
            seed,
            _ROUNDS if rounds is None else rounds,
            labels,
        )
        return labels, count

    def communities_of_number(self, wanted: int, seed: int) -> tuple[NDArray[np.int32], int]:
        """Return communities whose number is close to the requested one, and their number.

        The resolution is searched for between 1e-3 and 50 in 8 runs at most, until the number is within 5 %.
        The number grows with the resolution on the whole only, so the nearest number that was met counts.

        Parameters
        ----------
        wanted : int
            Number of communities. Connected components are never joined: there are as many, at least.
        seed : int
            Source of the order in which nodes are visited, in the range [0, 2^64).
        """
        # For each end of the bracket: the logarithm of the resolution, and the difference from the requested number.
        low, low_gap = _LOWEST, -log(wanted) - 1.0
        high, high_gap = _HIGHEST, log(max(2.0, len(self.loads) / wanted))
        best: tuple[NDArray[np.int32], int] | None = None
        at = 0.0
        for _ in range(_MOST_RUNS):
            labels, count = self.communities(exp(at), seed)
            gap = log(count / wanted)
            if best is None or abs(gap) < abs(log(best[1] / wanted)):
                best = labels, count
            if abs(count - wanted) <= _NEAR * wanted:
                break
            if gap < 0:
                low, low_gap = at, gap
            else:
                high, high_gap = at, gap
            share = low_gap / (low_gap - high_gap)
            at = low + (high - low) * min(max(share, _STEP), 1.0 - _STEP)
        assert best is not None
        return best
