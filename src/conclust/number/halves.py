"""Clusters that overlap: those found in one half of the points, judged by the other half."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np

from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.generation.scaling import made_symmetric
from conclust.neighbours import NeighbourGraph, neighbour_graph
from conclust.number.borders import borders_are_empty, counts_on_sides, evidence_of
from conclust.number.centers import Ellipsoids
from conclust.number.constants import (
    CLEAR,
    HALVINGS,
    LARGEST_HALVED,
    MOST_OBJECTS,
    NEIGHBOURS,
    SMALLEST,
)
from conclust.trees.agglomeration import has_specks


@dataclass(frozen=True, eq=False)
class Halved:
    """A division that one half of the points shows and the other confirms.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_objects,)
        The clusters of all points.
    depths : list of float
        For each border, how much fewer points are near it than near the middles of the clusters, from 0 to 1.
    around : Ellipsoids
        Their means and covariance.
    """

    labels: Ints
    depths: list[float]
    around: Ellipsoids


def divide_by_halves(
    points: Floats,
    graph: NeighbourGraph | None,
    least: int,
    most: int,
    above: float = CLEAR,
    n_jobs: int | None = None,
) -> tuple[Halved | None, dict[int, float]]:
    """Return the division into overlapping clusters that one half of the points shows and the other half confirms.

    In one half, clusters that share a covariance are found, from k-means. In the other half, the points near the border of
    two clusters are compared, along the discriminant, with the geometric mean of those near the middles of both: the density
    of one cluster is log-concave, so that it is nowhere below that between two of its places. Such clusters have not seen the
    points that are counted. The evidence of a division is the sum over the borders that hold its clusters together, the
    fullest ones. A single cluster with a long tail is not log-concave, but it is in columns that a power makes
    symmetric: the borders of the same clusters must be seen there, too.

    Parameters
    ----------
    points : ndarray of shape (n_objects, n_components)
        The points.
    graph : NeighbourGraph or None
        The graph of their nearest neighbours: few points may be near a border along its paths, too. None: it is made if a
        division has so much evidence.
    least, most : int
        Smallest and largest number of clusters.
    above : float, default=1
        The evidence to be exceeded. Numbers that do not in the first halving are not looked at further.
    n_jobs : int, default=None
        Threads for the graph. The result does not depend on it.

    Returns
    -------
    halved : Halved or None
        None where no division has so much evidence.
    evidence : dict of int to float
        That for each number, the median over the halves looked at, in the columns that show less; none for a number with a
        speck, or whose borders are not empty along the paths.
    """
    rng = np.random.default_rng(0)
    part = points
    if len(points) > MOST_OBJECTS:
        part = points[np.sort(rng.choice(len(points), MOST_OBJECTS, replace=False))]
    orders = [rng.permutation(len(part)) for _ in range(HALVINGS)]

    def both_ways(n_clusters: int, halving: int, measured: Floats) -> Iterator[float]:
        """Yield the evidence in each half for the clusters of the other."""
        halves = orders[halving][::2], orders[halving][1::2]
        for shown, counted in (halves, halves[::-1]):
            found = Ellipsoids.fit(part[shown], n_clusters, halving, measured[shown])
            if found is not None:
                yield float(_fullest_borders(found.scores(measured[counted]))[2].sum())

    numbers = range(max(least, 2), min(most, LARGEST_HALVED, len(part) // (4 * SMALLEST)) + 1)
    sums: dict[int, list[float]] = {K: [] for K in numbers}
    with one_library_thread():
        for halving in range(HALVINGS):
            for K, each in sums.items():
                if not halving or max(each, default=0.0) > above:
                    each += both_ways(K, halving, part)
        evidence = {K: float(np.median(each)) for K, each in sums.items() if each}
        symmetric: Floats | None = None
        for K in sorted(evidence, key=lambda K: (-evidence[K], K)):
            if evidence[K] <= above:
                break
            found = Ellipsoids.fit(points, K, 0, n_runs=HALVINGS)
            if found is None:
                continue
            labels = found.labels(points)
            counts, ends, _ = _fullest_borders(found.scores(points))
            if graph is None:
                graph = neighbour_graph(points, NEIGHBOURS, n_jobs=n_jobs)
            if has_specks(labels) or not borders_are_empty(points, graph, labels, ends):
                del evidence[K]
                continue
            symmetric = made_symmetric(part) if symmetric is None else symmetric
            again = [
                each for halving in range(HALVINGS) for each in both_ways(K, halving, symmetric)
            ]
            evidence[K] = min(evidence[K], float(np.median(again)))
            if evidence[K] > CLEAR:
                depths = np.clip(1.0 - (counts[:, 0] + 1.0) / (counts[:, 1] + 1.0), 0.0, 1.0)
                return Halved(labels, depths.tolist(), found), evidence
    return None, evidence


def _fullest_borders(scores: Floats) -> tuple[Floats, Ints, Floats]:
    """Return the borders of the spanning tree of the clusters that has the least evidence.

    Returns
    -------
    counts : ndarray of shape (n_clusters - 1, 2)
        Points near each border, and the geometric mean of those near the middles of both clusters.
    ends : ndarray of int64 of shape (n_clusters - 1, 2)
        Its clusters.
    evidence : ndarray of shape (n_clusters - 1,)
        Its evidence.
    """
    labels, clusters = scores.argmax(axis=1), range(scores.shape[1])
    inside = [scores[labels == K].T for K in clusters]
    beyond = [np.sort(own[K] - own, axis=1) for K, own in enumerate(inside)]
    ends = list(combinations(clusters, 2))
    counts = np.zeros((len(ends), 2))
    for border, (a, b) in enumerate(ends):
        if min(beyond[a].shape[1], beyond[b].shape[1]) >= 2:
            near, *in_middles = counts_on_sides(beyond[a][b], beyond[b][a])
            counts[border] = near, sqrt(in_middles[0] * in_middles[1])
    evidence = evidence_of(2.0 * counts)
    together = list(clusters)
    kept = []
    for border in np.argsort(evidence, kind="stable").tolist():
        a, b = (together[end] for end in ends[border])
        if a != b:
            together = [a if end == b else end for end in together]
            kept.append(border)
    return counts[kept], np.array(ends)[kept], evidence[kept]
