"""The neighbour graph of points, also of thin curves, where few neighbours leave random gaps."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from conclust._types import Floats, Ints
from conclust.neighbours import NeighbourGraph, neighbour_graph

_NEIGHBOURS = 10
# From this number of points on, the graph of ten neighbours of a thin curve is likely to break at a random gap (one in
# 3^10). This number was the first one tried.
_BROKEN_FROM = 2_000
# Smaller pieces of a curve do not count as its halves.
_FEWEST_IN_HALF = 25


def unbroken_graph(points: Floats, n_jobs: int | None = None) -> NeighbourGraph:
    """Return the graph of the ten nearest neighbours, widened to twenty if random gaps break a curve.

    With 2,000 points or more, the connected parts of the ten-neighbour graph are compared with the ties of the
    twenty-neighbour graph. Two parts are joined if these ties connect their ends: when the tied points and their
    neighbours are left out, each part stays in one piece. Where two curves run side by side, this would break them in two,
    so they are not joined. If any parts are joined, the twenty-neighbour graph is returned, without its ties between parts
    that are not joined.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    NeighbourGraph
        The graph.
    """
    graph = neighbour_graph(points, _NEIGHBOURS, n_jobs=n_jobs)
    if graph.n_points < _BROKEN_FROM:
        return graph
    ties = graph.to_scipy()
    n_parts, part_of = connected_components(ties, directed=False)
    if n_parts == 1:
        return graph
    wider = neighbour_graph(points, 2 * _NEIGHBOURS, n_jobs=n_jobs)
    joined = _tied_at_ends(ties, part_of.astype(np.int64), wider)
    if not len(joined):
        return graph
    links = sp.coo_array((np.ones(len(joined)), joined.T), shape=(n_parts, n_parts))
    group_of = connected_components(links, directed=False)[1].astype(np.int64)[part_of]
    return _within(wider, group_of)


def _tied_at_ends(ties: sp.csr_array, part_of: Ints, wider: NeighbourGraph) -> Ints:
    """Return the pairs of parts that a wider graph ties at the ends of both, in both directions, of shape (n_pairs, 2)."""
    first, second = part_of[wider.sources], part_of[wider.ends]
    crossing = np.flatnonzero(first != second)
    if not len(crossing):
        return np.empty((0, 2), dtype=np.int64)
    order = np.argsort(part_of, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    # Part by part, because there may be thousands.
    ties = ties[order][:, order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(part_of))])
    by_pair = crossing[np.lexsort((second[crossing], first[crossing]))]
    pairs, begins = np.unique(
        np.stack([first[by_pair], second[by_pair]], axis=1), axis=0, return_index=True
    )
    at_end: set[tuple[int, int]] = set()
    for (part, other), left_out in zip(
        pairs.tolist(), np.split(place[wider.sources[by_pair]], begins[1:]), strict=True
    ):
        inside = slice(starts[part], starts[part + 1])
        if _stays_whole(ties[inside, inside], left_out - starts[part]):
            at_end.add((part, other))
    # Each tie is stored in both directions, so that both parts of a pair are tested.
    return np.array([pair for pair in at_end if pair[::-1] in at_end], dtype=np.int64)


def _stays_whole(ties: sp.csr_array, left_out: Ints) -> bool:
    """Return whether a part of a graph has one sizeable piece at most without some points and their neighbours."""
    n = ties.shape[0]
    if n < 2 * _FEWEST_IN_HALF:
        return True
    near = np.zeros(n)
    near[left_out] = 1.0
    kept = np.flatnonzero((near == 0) & (ties @ near == 0))
    if not len(kept):
        return True
    piece_of = connected_components(ties[kept][:, kept], directed=False)[1]
    return bool(np.count_nonzero(np.bincount(piece_of) >= _FEWEST_IN_HALF) <= 1)


def _within(graph: NeighbourGraph, group_of: Ints) -> NeighbourGraph:
    """Return the graph without the ties between groups of points."""
    kept = group_of[graph.sources] == group_of[graph.ends]
    counts = np.bincount(graph.sources[kept], minlength=graph.n_points)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return NeighbourGraph(starts, graph.ends[kept], graph.weights[kept], graph.rows)
