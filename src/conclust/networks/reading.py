"""Reads networks: a sparse matrix, a graph of networkx, or a list of edges."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import identifiers, is_missing, plain_array, refuse_corrupt
from conclust._types import Bools, Floats, Ints
from conclust._validation import shown
from conclust.ensemble.labels import canonical_labels
from conclust.exceptions import InputError

_EXPECTED = (
    "The graph must be a sparse matrix with a row for each node, a graph of networkx or a list of edges "
    "(pairs of nodes, or triples with a weight; a frame with these columns)."
)
_DIRECTED = (
    "The graph must be undirected. Got a directed one: pass {}, in which the weights of the two directions of an edge are "
    "added."
)
_SUMMED = "A + A.T with A = networkx.to_scipy_sparse_array(G)"
_KEPT_ONE = " G.to_undirected() keeps only one of them."
_ADJACENCY = (
    "A matrix with a row and a column for each node is given as scipy.sparse.csr_array(matrix)."
)
_TRIPLE = 3
# Products of weights with their sum are finite up to this one.
_LARGEST_SUM = 1e150


@dataclass(frozen=True, eq=False)
class Network:
    """An undirected graph in compressed sparse rows, with self-loops apart.

    Attributes
    ----------
    starts : ndarray of int64 of shape (n_nodes + 1,)
        Start of the ties of each node.
    ends : ndarray of int32 of shape (n_ties,)
        The nodes at the other end, in rising order. Each edge is stored in both directions.
    weights : ndarray of float64 of shape (n_ties,)
        The weights of the ties, above 0.
    loops : ndarray of float64 of shape (n_nodes,)
        The weight of the self-loop of each node.
    nodes : list, or ndarray of shape (n_nodes,)
        The nodes as the user names them.
    named : bool, default=True
        Whether the nodes have names; those of a matrix are its rows, whatever the names of other rows.
    """

    starts: Ints
    ends: NDArray[np.int32]
    weights: Floats
    loops: Floats
    nodes: Sequence[Any] | NDArray[Any]
    named: bool = True

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.starts) - 1

    @cached_property
    def sources(self) -> NDArray[np.int32]:
        """The node at this end of each tie."""
        return np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.starts))

    def in_core(self) -> Bools:
        """Return whether each node is in the 2-core: what remains when leaves are removed until there are none."""
        degrees = np.diff(self.starts)
        inside = np.ones(self.n_nodes, dtype=bool)
        leaves = np.flatnonzero(degrees < 2)
        while len(leaves):
            inside[leaves] = False
            lengths = self.starts[leaves + 1] - self.starts[leaves]
            shifts = np.repeat(self.starts[leaves] - np.cumsum(lengths) + lengths, lengths)
            touched = self.ends[shifts + np.arange(lengths.sum())]
            np.subtract.at(degrees, touched, 1)
            near = np.unique(touched)
            leaves = near[inside[near] & (degrees[near] < 2)]
        return inside


def read_network(graph: Any) -> Network:
    """Read an undirected graph.

    Parameters
    ----------
    graph : sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
        Entries that are not 0 are edges and their weights. A sparse matrix is symmetric, or has each edge once, above
        or below the diagonal. Edges of networkx have the weight "weight", or 1. A list has pairs of nodes, or triples
        with a weight; an array of shape (n_edges, 2) is one, and so is a frame of pandas or polars with two or three
        columns. The weights of repeated edges add up. A self-loop has its weight on the diagonal of a matrix.

    Raises
    ------
    InputError
        If it is not one of these, is directed, has fewer than two nodes, or a weight is negative or not finite.
    """
    if sp.issparse(graph):
        return replace(_of_matrix(graph), named=False)
    if hasattr(graph, "is_directed") and hasattr(graph, "edges"):
        if graph.is_directed():
            raise InputError(_DIRECTED.format(_SUMMED) + _KEPT_ONE)
        nodes = list(graph)
        ties = [(a, b, w) for a, b, w in graph.edges(data="weight", default=1)]
        return _of_names(ties, nodes)
    if isinstance(graph, str | bytes | Mapping) or not isinstance(graph, Iterable):
        way = ": pass graph.to_networkx()." if hasattr(graph, "to_networkx") else " instead."
        raise InputError(f"{_EXPECTED} Got {type(graph).__name__}{way}")
    if isinstance(graph, np.ndarray):
        return _of_array(graph)
    if hasattr(graph, "columns") and hasattr(graph, "to_numpy"):
        # Frames of pandas or polars have columns of different types.
        frame: Any = graph
        names = list(frame.columns)
        _refuse_adjacency(frame)
        if {"source", "target"} <= set(names):  # as networkx writes them, in any order
            more = [name for name in names if name not in ("source", "target")]
            if len(more) > 1 and "weight" not in more:
                raise InputError(
                    f"A frame of edges has the columns 'source', 'target' and one of weights. Got {names}: leave the others out."
                )
            names = ["source", "target", *(["weight"] if "weight" in more else more)]
        columns = [frame[name].to_list() for name in names]
        edges = list(zip(*columns, strict=True))
    else:
        edges = list(graph)
    _refuse_adjacency(edges)
    return _of_names(edges, None)


def to_communities(labels: ArrayLike, nodes: Iterable[Hashable] | None = None) -> list[set[Any]]:
    """Return clusters as sets of nodes, like communities in networkx.

    Parameters
    ----------
    labels : array-like of shape (n_nodes,)
        The cluster of each node, whole numbers; nodes with a negative one are in no community.
    nodes : iterable of length n_nodes, default=None
        The nodes (or a networkx graph). None: 0, 1, 2, ...

    Returns
    -------
    list of set
        A set for each cluster, by rising label.

    Raises
    ------
    InputError
        If there is not one label for each node, labels are not whole numbers, or a node occurs twice.

    Examples
    --------
    >>> from conclust.networks import to_communities
    >>> [sorted(community) for community in to_communities([0, 1, 0, -1], "abcd")]
    [['a', 'c'], ['b']]
    """
    array = plain_array(labels, "The labels")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            "The labels must be a vector of whole numbers. Got an array of shape "
            f"{array.shape} and type {array.dtype} instead."
        )
    letters = list(nodes) if isinstance(nodes, str) else nodes
    names = list(range(len(array))) if nodes is None else identifiers(letters, "nodes")
    if len(names) != len(array):
        raise InputError(f"There are {len(array)} labels and {len(names)} nodes.")
    if len(set(names)) < len(names):
        raise InputError(
            f"The 'nodes' must be different. Got {len(names) - len(set(names))} duplicates."
        )
    communities: dict[int, set[Any]] = {int(k): set() for k in np.unique(array) if k >= 0}
    for node, label in zip(names, array.tolist(), strict=True):
        if label >= 0:
            communities[label].add(node)
    return list(communities.values())


def _of_matrix(matrix: Any) -> Network:
    """Read a sparse matrix: symmetric, or a triangle."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{_EXPECTED} Got a sparse matrix of shape {matrix.shape} instead.")
    refuse_corrupt(matrix, "The graph")
    table = matrix.tocoo()
    i, j, weights = table.row, table.col, _checked(table.data)
    is_entry = weights > 0
    i, j, weights = i[is_entry], j[is_entry], weights[is_entry]
    n = matrix.shape[0]
    nodes = np.arange(n)
    if (i <= j).all() or (i >= j).all():
        return _network(i, j, weights, nodes)
    loops = _loops(i, j, weights, n)
    is_edge = i != j
    ties = _rows(i[is_edge], j[is_edge], weights[is_edge], n)
    other = ties.T.tocsr()
    other.sort_indices()
    if (
        ties.nnz != other.nnz
        or (ties.indices != other.indices).any()
        or (ties.indptr != other.indptr).any()
        or not np.allclose(ties.data, other.data)
    ):
        raise InputError(_DIRECTED.format("A + A.T"))
    # Makes both directions equal to the bit again after rounding.
    ties.data = 0.5 * (ties.data + other.data)
    return _finished(ties, loops, nodes)


def _of_array(edges: NDArray[Any]) -> Network:
    """Read an array of edges (n_edges, 2), or with a column of weights (n_edges, 3)."""
    if edges.ndim != 2 or edges.shape[1] not in (2, _TRIPLE):
        raise InputError(f"{_EXPECTED} Got an array of shape {edges.shape} instead. {_ADJACENCY}")
    if isinstance(edges, np.ma.MaskedArray):
        # Lists of masked arrays have None for masked cells.
        masked = np.ma.is_masked(edges)
        edges = np.array(edges.tolist(), dtype=object) if masked else np.ma.getdata(edges)
    _refuse_adjacency(edges)
    if edges.dtype.kind not in "iuf":
        return _of_names(edges.tolist(), None)
    ends = edges[:, :2].ravel()
    if edges.dtype.kind == "f":
        _refuse_fractions(ends[~np.isfinite(ends) | (ends != np.floor(ends))])
    weights = _checked(edges[:, 2]) if edges.shape[1] == _TRIPLE else np.ones(len(edges))
    _, first, places = np.unique(ends, return_index=True, return_inverse=True)
    pairs = canonical_labels(places.ravel()).reshape(-1, 2)
    return _network(pairs[:, 0], pairs[:, 1], weights, ends[np.sort(first)])


def _of_names(edges: list[Any], nodes: list[Any] | None) -> Network:
    """Read edges of named nodes; without `nodes` these are numbered by first appearance."""
    place: dict[Any, int] = {} if nodes is None else {node: i for i, node in enumerate(nodes)}
    ends = np.empty((len(edges), 2), dtype=np.int64)
    weights = np.ones(len(edges))
    for e, edge in enumerate(edges):
        try:
            a, b, *more = [edge] if isinstance(edge, str | bytes) else edge
            ends[e] = place.setdefault(a, len(place)), place.setdefault(b, len(place))
            if more:
                (weights[e],) = more
        except (TypeError, ValueError) as error:
            raise InputError(f"{_EXPECTED} Got {shown(edge)} as edge {e}.") from error
    absent = next((node for node in place if is_missing(node)), place)
    if absent is not place:
        e = int(np.flatnonzero((ends == place[absent]).any(axis=1))[0])
        raise InputError(f"Edge {e} has a missing end: {shown(edges[e])}.")
    if nodes is None:
        _refuse_fractions([a for a in place if isinstance(a, float) and not a.is_integer()])
    return _network(ends[:, 0], ends[:, 1], _checked(weights), list(place))


def _refuse_adjacency(edges: Any) -> None:
    """Refuse a matrix of nodes by nodes: three of its rows look like three edges with weights."""
    index: Any = getattr(edges, "index", None)
    if hasattr(index, "equals"):
        # Numbered rows and columns are those of a frame without names.
        is_matrix = type(index).__name__ != "RangeIndex" and index.equals(edges.columns)
    elif len(edges) == _TRIPLE:
        try:
            rows = np.asarray(edges)
        except ValueError:  # nodes may be tuples
            return
        is_numbers = rows.shape == (_TRIPLE, _TRIPLE) and rows.dtype.kind in "biuf"
        is_matrix = is_numbers and not rows.diagonal().any() and bool((rows == rows.T).all())
    else:
        return
    if is_matrix:
        raise InputError(f"{_EXPECTED} Got a matrix of nodes by nodes. {_ADJACENCY}")


def _refuse_fractions(nodes: Any) -> None:
    """Refuse numbers of nodes that are not whole: rows of two or three columns may be points."""
    if len(nodes):
        raise InputError(
            f"{_EXPECTED} Got {nodes[0]} as a node. If these are points, conclust.neighbours.neighbour_graph(X, "
            "k).to_scipy() is the graph of the distinct ones."
        )


def _checked(values: NDArray[Any]) -> Floats:
    """Return weights as finite non-negative numbers."""
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers")
        weights = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The weights of edges must be real numbers. Got {shown(values)}."
        ) from error
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise InputError(
            f"The weights of edges must be finite and not negative. Got {weights[wrong][0]} (of "
            f"{np.count_nonzero(wrong)} such edges)."
        )
    return weights


def _network(i: NDArray[Any], j: NDArray[Any], weights: Floats, nodes: Any) -> Network:
    """Return the network of edges, which may be repeated in any direction."""
    loops = _loops(i, j, weights, len(nodes))
    is_edge = (weights > 0) & (i != j)
    i, j, weights = i[is_edge], j[is_edge], weights[is_edge]
    half = _rows(np.minimum(i, j), np.maximum(i, j), weights, len(nodes))
    ties = (half + half.T).tocsr()
    ties.sort_indices()
    return _finished(ties, loops, nodes)


def _loops(i: NDArray[Any], j: NDArray[Any], weights: Floats, n: int) -> Floats:
    """Return the weight of the self-loop of each node."""
    is_loop = (weights > 0) & (i == j)
    return np.bincount(i[is_loop], weights[is_loop], n).astype(np.float64)


def _rows(i: NDArray[Any], j: NDArray[Any], weights: Floats, n: int) -> Any:
    ends = np.asarray(i, dtype=np.int32), np.asarray(j, dtype=np.int32)
    ties = sp.csr_array((weights, ends), shape=(n, n))
    ties.sum_duplicates()
    return ties


def _finished(ties: Any, loops: Floats, nodes: Any) -> Network:
    if len(nodes) < 2:
        number = "only one" if len(nodes) else "no"
        raise InputError(f"The graph has {number} node: communities need at least two.")
    with np.errstate(over="ignore"):
        total = float(ties.data.sum() + 2.0 * loops.sum())
    if total > _LARGEST_SUM:
        raise InputError(
            f"The weights of edges must add up to less than {_LARGEST_SUM:g}. Got {total:g}: divide them by a common unit."
        )
    return Network(
        ties.indptr.astype(np.int64),
        ties.indices.astype(np.int32, copy=False),
        np.ascontiguousarray(ties.data, dtype=np.float64),
        loops,
        nodes,
    )
