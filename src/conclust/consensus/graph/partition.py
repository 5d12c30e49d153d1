"""The common interface to partitioners, which cut a graph or hypergraph into k balanced parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from conclust._kernels import PartRefiner, count_ties, fill_parts
from conclust._progress import stage, tracked
from conclust._random import RandomStateLike, generator, seed_sequence, spawn_sequences
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.consensus.graph.kmeans import Points, kmeans, kmeans_labels
from conclust.spectra.bipartite import unit_rows
from conclust.spectra.transfer_cut import bipartite_spectrum, graph_embedding, is_sparse

Partitioner: TypeAlias = Literal["internal", "spectral"]

_MAX_PASSES = 50
# Whole weights from here on have no exact multiples.
_LARGEST_WHOLE = 2.0**53
# Relaxed capacities, in mean parts, tried when parts are full; on at most _ROOMS_UP_TO vertices.
_ROOMS = (1.3, 1.2, 1.1)
_ROOMS_UP_TO = 5000
# Number of starts that are refined with more room if starts are merged, and maximum number of times that the
# best one is refined again.
_ROOMY, _AGAIN = 5, 10
# A sparse graph of at most _WHOLE_UP_TO vertices is refined as a dense one if it has the share
# _WHOLE of all edges. Both make the same moves; the dense form scans the gains, the sparse one
# keeps heaps.
_WHOLE_UP_TO, _WHOLE = 5000, 0.1


@dataclass(frozen=True)
class GraphPartition:
    """A partition of the vertices of a graph.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_vertices,)
        Part of each vertex, 0 to k - 1.
    cut : float
        Weight of the edges between parts; for a hypergraph the connectivity minus one.
    capacity : float
        Maximum weight of a part; infinite without balance ("spectral").
    """

    labels: Ints
    cut: float
    capacity: float


def partition_graph(
    W: Any,
    k: int,
    *,
    balance: float = 0.05,
    method: Partitioner = "internal",
    vertex_weights: Floats | None = None,
    n_init: int = 10,
    random_state: RandomStateLike = None,
) -> GraphPartition:
    """Cut a graph into k parts so that little weight lies between them.

    Parameters
    ----------
    W : ndarray or sparse array of shape (n, n)
        Symmetric, non-negative weights; any floats. The diagonal does not matter. Isolated vertices
        are allowed.
    k : int
        Number of parts, at most n.
    balance : float, default=0.05
        Tolerated excess weight of a part over the mean, as a share of the mean: at most ``(1 + balance) * total / k``, rounded
        up for whole weights, or more if the heaviest vertex makes it unavoidable.
    method : {"internal", "spectral"}, default="internal"
        "internal": spectral embedding, k-means filled up to the capacities, Fiduccia-Mattheyses
        refinement; the best of `n_init` starts. "spectral": the embedding and k-means only, without
        balance.
    vertex_weights : ndarray of shape (n,), default=None
        Non-negative weights of the vertices in the balance. None: all 1.
    n_init : int, default=10
        Starts.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the starts. No global generator is used.

    Returns
    -------
    GraphPartition
        Parts. None is empty, except with "spectral" if vertices cannot be distinguished.

    References
    ----------
    .. [1] C. M. Fiduccia and R. M. Mattheyses, "A linear-time heuristic for improving network
       partitions", DAC 1982.
    .. [2] A. Ng, M. Jordan and Y. Weiss, "On spectral clustering", NIPS 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.consensus.graph import partition_graph
    >>> W = np.kron(np.eye(2), np.ones((3, 3)))
    >>> W[2, 3] = W[3, 2] = 0.5
    >>> found = partition_graph(W, 2, random_state=0)
    >>> found.labels, found.cut
    (array([0, 0, 0, 1, 1, 1]), 0.5)
    """
    W = read_graph(W)
    mass = np.ones(W.shape[0]) if vertex_weights is None else vertex_weights
    root = seed_sequence(random_state, "partition_graph")
    return cut_graph(Graph(W, mass), k, balance=balance, method=method, n_init=n_init, root=root)


@dataclass(frozen=True)
class Graph:
    """Vertices and the weights of their pairs.

    Attributes
    ----------
    weights : ndarray or csr_array of shape (n, n)
        From `read_graph`; or whole numbers of one or two bytes with zeros on the diagonal, the sum of each row below
        2^28, which only "internal" cuts.
    vertex_weights : ndarray of shape (n,)
        Non-negative weights of the vertices in the balance.
    embed : callable or None
        Function from a generator to the spectral embedding. None: `graph_embedding`.
    """

    weights: Any
    vertex_weights: Floats
    embed: Callable[[np.random.Generator], Floats] | None = None


def cut_graph(
    graph: Graph,
    k: int,
    *,
    balance: float,
    method: Partitioner,
    n_init: int,
    root: np.random.SeedSequence,
    merged: bool = False,
) -> GraphPartition:
    """Cut a graph whose form is known to be right: see `partition_graph`.

    Parameters
    ----------
    graph : Graph
        The graph.
    k, balance, method, n_init
        As for `partition_graph`.
    root : SeedSequence
        Seed of the starts.
    merged : bool, default=False
        Whether starts that differ in the numbers of their parts only count as one, and those of the lowest cuts
        are refined further (`_Refinement.improved`).
    """
    W, mass, embed = graph.weights, graph.vertex_weights, graph.embed
    n = len(mass)
    graph_seed, *seeds = spawn_sequences(root, n_init + 1)
    capacity = part_capacity(mass, k, balance)
    if not (W.data if is_sparse(W) else W).any():  # no edges
        return GraphPartition(_by_first(_fill(np.zeros((n, k)), mass, capacity)), 0.0, capacity)
    stage("embedding of the graph")
    with one_library_thread():
        rng = generator(graph_seed)
        rows = graph_embedding(W, k, rng) if embed is None else embed(rng)
        if method == "spectral":
            stage("k-means on the embedding")
            labels = _by_first(
                kmeans_labels(Points(rows, _present(mass)), k, graph_seed, n_init=n_init)
            )
            return GraphPartition(labels, cut_weight(W, labels), np.inf)
        if is_sparse(W) and n <= _WHOLE_UP_TO and W.nnz >= _WHOLE * n * n:
            W = W.toarray()
        starts = _filled_starts(rows, k, mass, capacity, seeds)
        refinement = _Refinement(W, k, mass, capacity)
        stage("refinement of the cut")
        begun = tracked(starts, "starts", n_init)
        if merged:
            partitions = refinement.improved(map(_by_first, begun))
        else:
            partitions = [refinement.of(labels) for labels in begun]
        heaviest = float((W.data if is_sparse(W) else W).max())
        cuts = [refinement.cut(labels) for labels in partitions]
        labels = _evened(W, _best(partitions, cuts, heaviest)[0], k, mass)
    return GraphPartition(_by_first(labels), cut_weight(W, labels), capacity)


@dataclass(frozen=True)
class Hypergraph:
    """Vertices, hyperedges and their weights.

    Attributes
    ----------
    members : csr_array of shape (n, m)
        Incidence of vertices in hyperedges.
    edge_weights : ndarray of shape (m,)
        Non-negative weights of the hyperedges.
    vertex_weights : ndarray of shape (n,)
        Non-negative weights of the vertices in the balance.
    ties : csr_array of shape (n, T) or None
        Weights of the bipartite graph that spectral starts embed. None: `members`, with its entries
        as weights.
    """

    members: sp.csr_array
    edge_weights: Floats
    vertex_weights: Floats
    ties: sp.csr_array | None = None


def partition_hypergraph(
    hypergraph: Hypergraph,
    k: int,
    *,
    balance: float = 0.05,
    n_init: int = 10,
    random_state: RandomStateLike = None,
) -> GraphPartition:
    """Cut a hypergraph into k parts by its connectivity minus one.

    Parameters
    ----------
    hypergraph : Hypergraph
        Vertices, hyperedges, weights.
    k : int
        Number of parts, at most n.
    balance : float, default=0.05
        As for :func:`partition_graph`.
    n_init : int, default=10
        Starts: half of them spectral (of the bipartite graph), half random, filled up to the capacities, then refined
        by Fiduccia-Mattheyses.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of the starts.

    Returns
    -------
    GraphPartition
        Parts, none of them empty.
    """
    H, ties = hypergraph.members, hypergraph.ties
    edge_weights, vertex_weights = hypergraph.edge_weights, hypergraph.vertex_weights
    n = H.shape[0]
    capacity = part_capacity(vertex_weights, k, balance)
    root = seed_sequence(random_state, "partition_hypergraph")
    if not (H.nnz and edge_weights.any()):
        labels = _by_first(_fill(np.zeros((n, k)), vertex_weights, capacity))
        return GraphPartition(labels, 0.0, capacity)
    partitions = []
    _, *seeds = spawn_sequences(root, n_init + 1)
    half = (n_init + 1) // 2
    stage("embedding of the hypergraph")
    with one_library_thread():
        rows = unit_rows(bipartite_spectrum(H if ties is None else ties, k).objects)
        starts = [
            *_filled_starts(rows, k, vertex_weights, capacity, seeds[:half]),
            *(
                _fill(generator(seed).random((n, k)), vertex_weights, capacity)
                for seed in seeds[half:]
            ),
        ]
    stage("refinement of the cut")
    refiner = _refiner(n, k, vertex_weights, capacity)
    pins = sp.csc_array(H)
    incidences = (
        H.indptr.astype(np.int64),
        H.indices.astype(np.int32),
        pins.indptr.astype(np.int64),
        pins.indices.astype(np.int32),
    )
    for labels in tracked(starts, "starts"):
        refiner.hypergraph(*incidences, edge_weights, labels)
        partitions.append(labels)
    cuts = connectivities(H, partitions, edge_weights)
    labels, cut = _best(partitions, cuts, float(edge_weights.max()))
    return GraphPartition(labels, cut, capacity)


def part_capacity(mass: Floats, k: int, balance: float) -> float:
    """Return the largest weight that a part may have: (1 + balance) times the mean, if that can be met."""
    mean = float(mass.sum()) / k
    allowed = (1.0 + balance) * mean
    unit = _unit_of(mass)
    if unit:
        allowed = unit * float(np.ceil(allowed / unit - 1e-9))
    # Adding the heaviest vertex first, always to the lightest part, never exceeds `enough`.
    enough = mean + float(mass.max()) * (1.0 - 1.0 / k)
    if enough <= allowed:
        return allowed
    labels = np.zeros(len(mass), dtype=np.int64)
    fill_parts(np.zeros((len(mass), k)), np.argsort(-mass, kind="stable"), mass, 0.0, labels)
    return max(allowed, float(np.bincount(labels, weights=mass).max()))


def _unit_of(mass: Floats) -> float:
    """Return the largest common divisor of the weights, if they are whole or multiples of the smallest; else 0."""
    if (mass == np.floor(mass)).all() and mass.max(initial=0.0) < _LARGEST_WHOLE:
        return float(np.gcd.reduce(mass.astype(np.int64)))
    least = float(mass[mass > 0].min(initial=np.inf))
    multiples = mass / least
    return least if (np.abs(multiples - np.rint(multiples)) <= 1e-9 * multiples).all() else 0.0


def cut_weight(W: Any, labels: Ints) -> float:
    """Return the weight of the edges between parts, each edge once."""
    if is_sparse(W):
        apart = np.repeat(labels, np.diff(W.indptr)) != labels[W.indices]
        return float(W.data[apart].sum()) / 2.0
    ties = _ties(W, labels, int(labels.max()) + 1)
    between = ties.sum(axis=1) - np.take_along_axis(ties, labels[:, None], axis=1)[:, 0]
    return float(np.maximum(between, 0.0).sum()) / 2.0


def _ties(W: Any, labels: Ints, k: int) -> Floats:
    """Return the weight of each vertex to each part."""
    if not is_sparse(W) and W.dtype.kind == "u":
        ties = np.empty((len(labels), k))
        count_ties(W, labels, ties)
        return ties
    return np.asarray(W @ np.eye(k)[labels])


def connectivities(H: sp.csr_array, partitions: list[Ints], edge_weights: Floats) -> list[float]:
    """Return for each partition the sum over hyperedges of weight times (parts that it meets - 1)."""
    degrees = np.diff(H.indptr)
    edges = H.indices.astype(np.int64)
    sums = []
    for labels in partitions:
        k = int(labels.max()) + 1
        meetings = edges * k
        meetings += np.repeat(labels, degrees)
        met = np.zeros(H.shape[1] * k, dtype=np.bool_)
        met[meetings] = True
        parts = np.count_nonzero(met.reshape(-1, k), axis=1)
        sums.append(float(edge_weights @ np.maximum(parts - 1, 0)))
    return sums


def fill_empty_parts(labels: Ints, k: int) -> None:
    """Give each empty part one vertex (the last) of the part with the most. In place."""
    for part in np.flatnonzero(np.bincount(labels, minlength=k) == 0):
        largest = int(np.bincount(labels, minlength=k).argmax())
        labels[np.flatnonzero(labels == largest)[-1]] = part


def _best(partitions: list[Ints], cuts: list[float], heaviest: float) -> tuple[Ints, float]:
    """Return the labels of the lowest cut; the first one if tied (up to rounding)."""
    lowest = min(cuts)
    first = next(i for i, cut in enumerate(cuts) if cut <= lowest + 1e-9 * (heaviest + lowest))
    return _by_first(partitions[first]), cuts[first]


def _evened(W: Any, labels: Ints, k: int, mass: Floats) -> Ints:
    """Move vertices to lighter parts where that leaves the cut as it is (up to rounding) and the parts more even."""
    labels, masses = labels.copy(), np.bincount(labels, weights=mass, minlength=k)
    vertices = np.arange(len(labels))
    for _ in range(_MAX_PASSES):
        ties = _ties(W, labels, k)
        own = ties[vertices, labels]
        same = ties >= (own * (1.0 - 1e-9))[:, None]
        same &= masses + mass[:, None] < masses[labels][:, None]
        moves = np.argwhere(same & (mass > 0.0)[:, None])
        if not len(moves):
            break
        # One at a time, because a move changes the ties of its neighbours.
        i, part = moves[0]
        masses[labels[i]] -= mass[i]
        masses[part] += mass[i]
        labels[i] = part
    return labels


def _by_first(labels: Ints) -> Ints:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse])


def _filled_starts(
    rows: Floats, k: int, mass: Floats, capacity: float, seeds: list[np.random.SeedSequence]
) -> Iterator[Ints]:
    """Yield k-means of the embedding, filled up to the capacities; the first one is the best."""
    points = Points(rows, _present(mass))
    for i, seed in enumerate(seeds):
        centers = kmeans(points, k, seed, n_init=1 if i else 10)
        scores = np.full((len(rows), k), -np.inf)
        scores[:, : len(centers)] = rows @ centers.T - 0.5 * (centers**2).sum(axis=1)
        yield _fill(scores, mass, capacity)


def _fill(scores: Floats, mass: Floats, capacity: float) -> Ints:
    """Assign vertices to their best part with room, in decreasing order of the loss by the second best."""
    n, k = scores.shape
    labels = np.zeros(n, dtype=np.int64)
    if k > 1:
        top = np.partition(scores, k - 2, axis=1)[:, -2:]
        margin = np.where(np.isfinite(top[:, 0]), top[:, 1] - np.maximum(top[:, 0], -1e300), 0.0)
        # A vertex heavier than half the mean part goes first: it may not fit later.
        heavy = mass > mass.sum() / (2 * k)
        order = np.lexsort((np.arange(n), -margin, -np.where(heavy, mass, 0.0)))
        fill_parts(np.ascontiguousarray(scores), order, mass, capacity, labels)
    fill_empty_parts(labels, k)
    return labels


class _Refinement:
    """Refines starts of one graph. Starts often lead to the same parts, which are refined and evaluated once."""

    def __init__(self, W: Any, k: int, mass: Floats, capacity: float) -> None:
        self._W, self._k, self._mass, self._capacity = W, k, mass, capacity
        self._moves: dict[tuple[bytes, float], Ints] = {}
        self._cuts: dict[bytes, float] = {}

    def of(self, labels: Ints) -> Ints:
        """Refine; then again from parts with more room, filled back into the capacities.

        If parts are full, no single move has room, and refinement ends early.
        """
        refined = [self._moved(labels, self._capacity)]
        mean = float(self._mass.sum()) / self._k
        for room in _ROOMS if len(labels) <= _ROOMS_UP_TO else ():
            if room * mean > self._capacity:
                loose = self._moved(refined[-1], room * mean)
                weights_of_vertices = np.where(self._mass > 0, self._mass, 1.0)[:, None]
                ties = _ties(self._W, loose, self._k) / weights_of_vertices
                filled = _fill(ties, self._mass, self._capacity)
                refined.append(self._moved(filled, self._capacity))
        return refined[0] if len(refined) == 1 else min(refined, key=self.cut)

    def improved(self, starts: Iterable[Ints]) -> list[Ints]:
        """Refine each different start; those of the lowest cuts then with more room, and the best of them again."""
        different: dict[bytes, Ints] = {}
        for labels in starts:
            moved = _by_first(self._moved(labels, self._capacity))
            different[moved.tobytes()] = moved
        refined = sorted(different.values(), key=self.cut)
        refined[:_ROOMY] = [self.of(labels) for labels in refined[:_ROOMY]]
        best = min(refined, key=self.cut)
        for _ in range(_AGAIN):
            further = self.of(best)
            if self.cut(further) >= self.cut(best) * (1.0 - 1e-9):
                break
            best = further
        return [*refined, best]

    def cut(self, labels: Ints) -> float:
        """Return `cut_weight`."""
        key = labels.tobytes()
        if key not in self._cuts:
            self._cuts[key] = cut_weight(self._W, labels)
        return self._cuts[key]

    def _moved(self, labels: Ints, capacity: float) -> Ints:
        """Refine by single moves."""
        key = labels.tobytes(), capacity
        if key not in self._moves:
            moved = labels.copy()
            refiner = _refiner(len(moved), self._k, self._mass, capacity)
            if is_sparse(self._W):
                passes = refiner.sparse(self._W.indptr, self._W.indices, self._W.data, moved)
            else:
                passes = refiner.dense(self._W, moved)
            if passes < _MAX_PASSES:  # the last pass gained nothing
                self._moves[moved.tobytes(), capacity] = moved
            self._moves[key] = moved
        return self._moves[key]


def _refiner(n: int, k: int, mass: Floats, capacity: float) -> PartRefiner:
    return PartRefiner(mass, k, capacity, _MAX_PASSES, max(200, n // 20))


def _present(mass: Floats) -> Floats:
    """Return the weights for k-means, in which vertices without weight in the balance still count a little."""
    return np.maximum(mass, 1e-3 * mass.max()) if mass.any() else np.ones(len(mass))


def read_graph(W: Any) -> Any:
    """Return a graph as contiguous float64 without a diagonal, dense or in rows."""
    graph: Any
    if not is_sparse(W):
        graph = np.ascontiguousarray(W, dtype=np.float64)
        if graph.diagonal().any():
            graph = graph.copy()
            np.fill_diagonal(graph, 0.0)
        return graph
    graph = sp.csr_array(W, dtype=np.float64, copy=True)
    graph.sum_duplicates()
    graph.data[graph.indices == np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))] = 0
    graph.eliminate_zeros()
    # The index types of the kernel, which may differ from SciPy's.
    rows: Any = sp.csr_array(graph.shape)
    rows.data = graph.data
    rows.indptr, rows.indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    return rows
