"""The branches of a tree, the evidence for a border between two of them, few points near it across and along, and their divisions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.borders import valley_counts
from conclust.ensemble.labels import one_hot
from conclust.neighbours import NeighbourGraph
from conclust.number.centers import means_and_covariance
from conclust.number.constants import (
    ALONG_PATHS,
    BAND,
    HALVINGS,
    MOST,
    MOST_OBJECTS,
    OBJECTS_A_PLACE,
    SMALLEST,
    WITH_BORDER,
    WITHOUT_BORDER,
)
from conclust.trees.agglomeration import clusters_at


@dataclass(frozen=True, eq=False)
class Branches:
    """The top of a tree. Its objects are put in an order in which each branch is a run of places.

    Branches 0 to n_ends - 1 are the ends, which are not divided; each further one joins two earlier ones.

    Attributes
    ----------
    order : ndarray of int64 of shape (n_objects,)
        The object at each place.
    spans : ndarray of int64 of shape (n_branches, 2)
        First place of each branch, and the one after its last.
    joined : ndarray of int64 of shape (n_joins, 2)
        The branches that each join has joined; their spans adjoin.
    tested : ndarray of bool of shape (n_joins,)
        Whether both have enough objects for a border between them.
    """

    order: Ints
    spans: Ints
    joined: Ints
    tested: Bools

    @classmethod
    def of(cls, tree: Floats) -> Branches:
        """Return the branches of a dendrogram in SciPy's format."""
        n = len(tree) + 1
        children = tree[:, :2].astype(np.int64)
        sizes = np.concatenate([np.ones(n, dtype=np.int64), tree[:, 3].astype(np.int64)])
        # Lists: loops over them are faster.
        pairs, size_of, places = children.tolist(), sizes.tolist(), [0] * (2 * n - 1)
        for join in range(n - 2, -1, -1):  # from the root down
            left, right = pairs[join]
            places[left] = places[n + join]
            places[right] = places[left] + size_of[left]
        first = np.array(places)
        order = np.empty(n, dtype=np.int64)
        order[first[:n]] = np.arange(n)
        smaller = sizes[children].min(axis=1, initial=n)
        highest = np.flatnonzero(smaller >= SMALLEST)[-MOST:]
        tested = np.zeros(n - 1, dtype=np.bool_)
        tested[highest] = True
        divided = [False] * n
        for (left, right), is_tested in zip(pairs, tested.tolist(), strict=True):
            divided.append(is_tested or divided[left] or divided[right])
        joins = np.flatnonzero(divided[n:])
        inner = n + joins
        ends = np.setdiff1d(children[joins], inner) if len(joins) else np.array([2 * n - 2])
        ends = ends[np.argsort(first[ends])]
        branches = np.concatenate([ends, inner])
        number = np.full(2 * n - 1, -1, dtype=np.int64)
        number[branches] = np.arange(len(branches))
        joined = number[children[joins]].reshape(-1, 2)
        joined = np.take_along_axis(joined, np.argsort(first[branches][joined], axis=1), axis=1)
        spans = np.column_stack([first[branches], first[branches] + sizes[branches]])
        return cls(order, spans, joined, tested[joins])

    @property
    def n_ends(self) -> int:
        """Number of branches that are not divided."""
        return len(self.spans) - len(self.joined)

    def labels(self, branches: list[int]) -> Ints:
        """Return the clusters of the objects, by the places of some branches; -1 of objects in none."""
        of_place = np.full(len(self.order), -1, dtype=np.int64)
        for number, branch in enumerate(sorted(branches, key=lambda each: self.spans[each, 0])):
            of_place[slice(*self.spans[branch])] = number
        labels = np.empty_like(of_place)
        labels[self.order] = of_place
        return labels


class Divisions:
    """For each number of clusters, the branches that divide the objects with the most evidence.

    The evidence of a division is the sum over the joins that it undoes. At a join with too few objects for a border, the
    smaller branch is left out.

    Parameters
    ----------
    branches : Branches
        The branches.
    evidence : ndarray of shape (n_joins,)
        Evidence for a border between the branches of each join.
    most : int
        Largest number of clusters.
    """

    def __init__(self, branches: Branches, evidence: Floats, most: int) -> None:
        self._branches, self._evidence = branches, evidence
        sizes = np.diff(branches.spans, axis=1)[:, 0]
        best: list[Floats] = [np.zeros(1)] * branches.n_ends
        self._first: list[Ints | int] = [0] * branches.n_ends
        for (a, b), is_tested, gain in zip(branches.joined, branches.tested, evidence, strict=True):
            if not is_tested:
                larger = int(a if sizes[a] >= sizes[b] else b)
                best.append(best[larger])
                self._first.append(larger)
                continue
            some, others = best[a], best[b]
            totals = np.full((len(some) + len(others), len(some)), -np.inf)
            for k in range(len(some)):
                totals[k + 1 : k + 1 + len(others), k] = some[k] + others + gain
            totals = totals[:most]
            values = totals.max(axis=1)
            values[0] = 0.0
            best.append(values)
            self._first.append(totals.argmax(axis=1) + 1)
        self.evidence = best[-1]

    def branches_of(self, n_clusters: int) -> tuple[list[int], list[int]]:
        """Return the branches that are the clusters, and the joins that are undone."""
        clusters, undone = [], []
        open_ = [(len(self._first) - 1, n_clusters)]
        n_ends = self._branches.n_ends
        while open_:
            branch, k = open_.pop()
            if k == 1:
                clusters.append(branch)
                continue
            first = self._first[branch]
            if isinstance(first, int):
                open_.append((first, k))
                continue
            undone.append(branch - n_ends)
            a, b = self._branches.joined[branch - n_ends]
            open_ += [(int(a), int(first[k - 1])), (int(b), k - int(first[k - 1]))]
        return clusters, undone


def counts_at_borders(points: Floats, tree: Floats, branches: Branches) -> Floats:
    """Count the points near the border of each join, and near the middles of its two branches.

    One half of the points is the reference, the other half is counted, in units of the covariance within small pieces
    of the tree. The reference is reduced to the means of some three neighbours in the tree. For a point,
    f is the distance to the nearest place of one branch less the distance to the nearest place of the other. Near the
    border are the points with ``|f| < w``, where w is half of the smaller of the medians of ``|f|`` in both branches; near the middle of a
    branch are the points within w of its median.

    Parameters
    ----------
    points : ndarray of shape (n_objects, n_components)
        The points.
    tree : ndarray of shape (n_objects - 1, 4)
        The tree, in SciPy's format.
    branches : Branches
        Its branches.

    Returns
    -------
    ndarray of shape (n_joins, 3)
        Near the border, near the middle of the emptier branch, and the geometric mean of the middles of both: mean numbers
        over eight halvings, which are the same in every run; 0 at joins that are not tested.
    """
    n = len(points)
    ordered = _whitened(points, _pieces(tree))[branches.order]
    rng = np.random.default_rng(0)
    used = np.arange(n)
    if n > MOST_OBJECTS:
        used = np.sort(rng.choice(n, MOST_OBJECTS, replace=False))
    end_of = np.repeat(
        np.arange(branches.n_ends), np.diff(branches.spans[: branches.n_ends], axis=1)[:, 0]
    )
    place_of, end_of_place = _places(tree, branches.order, end_of, used)
    ends, first = np.unique(end_of_place, return_index=True)
    sums, times = np.zeros((len(branches.joined), 3)), np.zeros(len(branches.joined))
    with one_library_thread():
        for _ in range(HALVINGS):
            pairs = np.arange(len(used) - len(used) % 2).reshape(-1, 2)
            halves = rng.permuted(pairs, axis=1).T
            for reference, counted in (halves, halves[::-1]):
                places = ordered[used[reference]], place_of[reference], len(end_of_place)
                to_ends = np.full((branches.n_ends, len(counted)), np.inf)
                to_ends[ends] = _distances_to_ends(ordered[used[counted]], *places, first)
                _count(
                    to_ends, np.searchsorted(used[counted], branches.spans), branches, sums, times
                )
    return 2.0 * sums / np.maximum(times, 1.0)[:, np.newaxis]


def counts_on_sides(some: Floats, others: Floats) -> tuple[float, float, float]:
    """Count the points near a border, and near the middle of each side; given are their distances beyond it, rising.

    Near the border are the points within w of it, where w is half of the smaller of the medians of both sides; near the
    middle of a side are those within w of its median. Sides that are not apart count as equally full.
    """
    sides = some, others
    middles = [float(side[(len(side) - 1) // 2] + side[len(side) // 2]) / 2 for side in sides]
    width = BAND * min(middles)
    if width <= 0:
        return (min(len(some), len(others)) / 2,) * 3
    places = [
        side.searchsorted((-width, width, middle - width, middle + width)).tolist()
        for side, middle in zip(sides, middles, strict=True)
    ]
    near = sum(after - first for first, after, _, _ in places)
    in_middles = [float(after - first) for _, _, first, after in places]
    return float(near), in_middles[0], in_middles[1]


def evidence_of(counts: Floats) -> Floats:
    """Return the logarithm of how much more probable the counts are with a border than without one."""

    def likelihood(densities: Floats, probabilities: Floats) -> Floats:
        share = densities / (1.0 + densities)
        logs = counts[:, :1] * np.log(share) + counts[:, 1:] * np.log1p(-share)
        return np.asarray(np.logaddexp.reduce(logs + np.log(probabilities), axis=1))

    return likelihood(*WITH_BORDER) - likelihood(*WITHOUT_BORDER)


def evidence_of_pieces(
    points: Floats, tree: Floats, branches: Branches, graph: NeighbourGraph, n_jobs: int | None
) -> Floats:
    """Return for each join the summed evidence for valleys between small pieces of its branches that touch.

    In many dimensions distances to single places say little, and a branch of many clusters has many borders with another:
    a valley is counted along the straight line between two pieces (`valley_counts`).

    Parameters
    ----------
    points : ndarray of shape (n_objects, n_components)
        The points.
    tree : ndarray of shape (n_objects - 1, 4)
        The tree, in SciPy's format.
    branches : Branches
        Its branches.
    graph : NeighbourGraph
        The graph of the nearest neighbours of the points, which tells what touches.
    n_jobs : int or None
        Threads. The result does not depend on it.
    """
    pieces = _pieces(tree)
    piece_of = pieces[graph.rows.first]
    ends = np.column_stack([piece_of[graph.sources], piece_of[graph.ends]])
    pairs = np.unique(
        ends[ends[:, 0] < ends[:, 1]], axis=0
    )  # each tie is stored in both directions
    if not len(pairs):
        return np.zeros(len(branches.joined))
    means = valley_counts(
        points, pieces, pairs, n_splits=HALVINGS, random_state=0, n_jobs=n_jobs
    ).means
    gains = evidence_of(np.column_stack([means[:, 1], np.minimum(means[:, 0], means[:, 2])]))
    in_order = pieces[branches.order]
    first = np.unique(in_order, return_index=True)[1]
    after = first + np.bincount(pieces)
    left, right = pairs[np.arange(len(pairs)), np.argsort(first[pairs], axis=1).T]
    evidence = np.zeros(len(branches.joined))
    for join in np.flatnonzero(branches.tested):
        a, b = branches.spans[branches.joined[join]]
        across = (
            (first[left] >= a[0])
            & (after[left] <= a[1])
            & (first[right] >= b[0])
            & (after[right] <= b[1])
        )
        evidence[join] = gains[across].sum()
    return evidence


def without_paths(
    evidence: Floats, points: Floats, graph: NeighbourGraph, branches: Branches
) -> Floats:
    """Return the evidence, at most 0 at borders that many points are near along the neighbour graph.

    A curve that is cut has few points near the cut across, where it lies beside itself, but not along the curve.

    Parameters
    ----------
    evidence : ndarray of shape (n_joins,)
        The evidence across.
    points : ndarray of shape (n_objects, n_components)
        The points.
    graph : NeighbourGraph
        The graph of their nearest neighbours.
    branches : Branches
        The branches.
    """
    ties = _ties(points, graph)
    result = evidence.copy()
    for join in np.flatnonzero(branches.tested & (evidence > 0)):
        sides = np.zeros(graph.n_points, dtype=np.int8)
        for side, branch in enumerate(branches.joined[join], start=1):
            objects = branches.order[slice(*branches.spans[branch])]
            sides[graph.rows.inverse[objects]] = side
        if not _is_empty_along(ties, sides, graph.rows.masses):
            result[join] = 0.0
    return result


def borders_are_empty(points: Floats, graph: NeighbourGraph, labels: Ints, pairs: Ints) -> bool:
    """Return whether few points are near all borders between some pairs of clusters, along the paths of the graph."""
    ties, of_row = _ties(points, graph), labels[graph.rows.first]
    sides = ((of_row == a) + 2 * (of_row == b) for a, b in pairs)
    return all(_is_empty_along(ties, side.astype(np.int8), graph.rows.masses) for side in sides)


def _ties(points: Floats, graph: NeighbourGraph) -> sp.csr_array:
    """Return the lengths of the ties between neighbours."""
    distinct = points[graph.rows.first]
    lengths = np.sqrt(((distinct[graph.sources] - distinct[graph.ends]) ** 2).sum(axis=1))
    # SciPy 1.13 finds undirected paths by 32-bit indices only.
    return sp.csr_array(
        (np.maximum(lengths, np.finfo(np.float64).tiny), graph.ends, graph.starts.astype(np.int32)),
        shape=(graph.n_points,) * 2,
    )


def _is_empty_along(ties: sp.csr_array, sides: NDArray[np.int8], masses: Floats) -> bool:
    """Return whether few points are near a border by the lengths of paths to the other side."""
    inside = np.flatnonzero(sides)
    part, side, mass = ties[inside][:, inside], sides[inside], masses[inside]
    lengths = np.empty(len(inside))
    for here, there in ((1, 2), (2, 1)):
        if not (side == there).any() or not (side == here).any():
            return False
        away = dijkstra(part, directed=False, indices=np.flatnonzero(side == there), min_only=True)
        lengths[side == here] = away[side == here]
    reached = np.isfinite(lengths)
    if not reached.any():
        return True
    lengths[~reached] = 2.0 * lengths[reached].max()
    middles = [float(np.median(lengths[side == here])) for here in (1, 2)]
    width = BAND * min(middles)
    near = mass[lengths < width].sum()
    at_middle = min(
        mass[(side == here) & (np.abs(lengths - middle) < width)].sum()
        for here, middle in zip((1, 2), middles, strict=True)
    )
    return bool((near + 1.0) / (at_middle + 1.0) < ALONG_PATHS)


def _pieces(tree: Floats) -> Ints:
    """Cut a tree into small pieces."""
    return clusters_at(tree, max(3, min(isqrt(len(tree) + 1), MOST)))


def _whitened(points: Floats, pieces: Ints) -> Floats:
    """Return the points in units of the covariance within pieces."""
    with one_library_thread():
        _, covariance = means_and_covariance(points, pieces, int(pieces.max()) + 1)
        if covariance is None:
            return points
        variances, axes = np.linalg.eigh(covariance)
        return np.asarray(points @ (axes / np.sqrt(variances)))


def _places(tree: Floats, order: Ints, end_of: Ints, used: Ints) -> tuple[Ints, Ints]:
    """Group the objects at some places in the order by threes, within the ends.

    Returns
    -------
    place_of : ndarray of int64 of shape (n_used,)
        The group of each, in rising order.
    end_of_place : ndarray of int64 of shape (n_groups,)
        The end that each group is in.
    """
    groups = clusters_at(tree, max(2, len(order) // OBJECTS_A_PLACE))[order]
    begins = (np.diff(groups[used], prepend=-1) != 0) | (np.diff(end_of[used], prepend=-1) != 0)
    return np.cumsum(begins) - 1, end_of[used][begins]


def _distances_to_ends(
    counted: Floats, reference: Floats, place_of: Ints, n_places: int, first: Ints
) -> Floats:
    """Return the distance of each point to the nearest place of each end: the mean of its points of reference; inf if it has none."""
    sizes = np.bincount(place_of, minlength=n_places)
    filled = sizes > 0
    means = (one_hot(place_of, n_places).T @ reference)[filled] / sizes[filled, np.newaxis]
    # |m|^2 - 2 m'x, which differs between places, as one product.
    places = np.column_stack([-2.0 * means, (means**2).sum(axis=1)])
    squares = places @ np.column_stack([counted, np.ones(len(counted))]).T
    bounds = np.concatenate([[0], np.cumsum(filled)])[[*first, n_places]].tolist()
    # Slices, because `reduceat` is several times slower along this axis.
    of_ends = [squares[begin:end].min(axis=0, initial=np.inf) for begin, end in pairwise(bounds)]
    nearest = np.maximum(np.stack(of_ends) + (counted**2).sum(axis=1), 0.0)
    return np.asarray(np.sqrt(nearest, out=nearest))


def _count(to_ends: Floats, spans: Ints, branches: Branches, sums: Floats, times: Floats) -> None:
    """Add the counts at each tested join, by the distances of the counted points to the ends; `spans` are those of these points."""
    distances, slices = list(to_ends), [slice(*span) for span in spans.tolist()]
    joins = zip(branches.joined.tolist(), branches.tested.tolist(), strict=True)
    for join, ((a, b), is_tested) in enumerate(joins):
        to_a, to_b = distances[a], distances[b]
        distances.append(np.minimum(to_a, to_b))
        if not is_tested:
            continue
        in_a, in_b = slices[a], slices[b]
        beyond = np.sort(to_b[in_a] - to_a[in_a]), np.sort(to_a[in_b] - to_b[in_b])
        # inf is at the ends, NaN at the last.
        if all(len(each) > 1 and -np.inf < each[0] and each[-1] < np.inf for each in beyond):
            times[join] += 1.0
            near, one, other = counts_on_sides(*beyond)
            sums[join] += near, min(one, other), np.sqrt(one * other)
