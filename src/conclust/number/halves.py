"""Clusters that overlap: those found in one half of the points, judged by the other half."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.neighbours import NeighbourGraph
from conclust.number.borders import (
    borders_are_empty,
    counts_on_sides,
    evidence_of,
)
from conclust.number.centers import Ellipsoids
from conclust.number.constants import (
    CLEAR,
    HALVED_OBJECTS,
    HALVINGS,
    LARGEST_HALVED,
    SMALLEST,
)


@dataclass(frozen=True, eq=False)
class Halved:
    """A division that one half of the points shows and the other confirms.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_objects,)
        The clusters of all points.
    depths : list of float
        For each border, how much fewer points are near it than near the middle of the emptier cluster, from 0 to 1.
    around : Ellipsoids
        Their means and covariance.
    """

    labels: Ints
    depths: list[float]
    around: Ellipsoids


def divide_by_halves(
    points: Floats, graph: NeighbourGraph, least: int, most: int, above: float = CLEAR
) -> Halved | None:
    """Return the division into overlapping clusters that one half of the points shows and the other half confirms.

    In one half, clusters that share a covariance are found, from k-means. In the other half, the points near the border of
    two clusters are compared with those near the middle of the emptier one, along the discriminant. Such clusters have not seen the
    points that are counted, so that no border is seen where there is none. The
    evidence of a division is the sum over the borders that hold its clusters together, the fullest ones.

    Parameters
    ----------
    points : ndarray of shape (n_objects, n_components)
        The points.
    graph : NeighbourGraph
        The graph of their nearest neighbours: few points may be near a border along its paths, too.
    least, most : int
        Smallest and largest number of clusters.
    above : float, default=1
        The evidence to be exceeded. Numbers that have not done so in any of the halvings so far are not looked at further.

    Returns
    -------
    Halved or None
        None where no division has so much evidence.
    """
    rng = np.random.default_rng(0)
    part = points
    if len(points) > HALVED_OBJECTS:
        part = points[np.sort(rng.choice(len(points), HALVED_OBJECTS, replace=False))]
    numbers = range(max(least, 2), min(most, LARGEST_HALVED, len(part) // (4 * SMALLEST)) + 1)
    evidence: dict[int, list[float]] = {K: [] for K in numbers}
    with one_library_thread():
        for halving in range(HALVINGS):
            order = rng.permutation(len(part))
            halves = part[order[::2]], part[order[1::2]]
            for K, sums in evidence.items():
                for shown, counted in (halves, halves[::-1]):
                    found = Ellipsoids.fit(shown, K, halving)
                    if found is not None:
                        borders, _ = _fullest_borders(found.scores(counted))
                        sums.append(float(evidence_of(2.0 * borders).sum()))
            evidence = {K: sums for K, sums in evidence.items() if max(sums, default=0.0) > above}
        medians = {K: float(np.median(sums)) for K, sums in evidence.items()}
        for K in sorted(medians, key=lambda K: (-medians[K], K)):
            if medians[K] <= above:
                break
            found = Ellipsoids.fit(points, K, 0)
            if found is None:
                continue
            labels = found.labels(points)
            counts, ends = _fullest_borders(found.scores(points))
            if borders_are_empty(points, graph, labels, ends):
                depths = np.clip(1.0 - (counts[:, 0] + 1.0) / (counts[:, 1] + 1.0), 0.0, 1.0)
                return Halved(labels, depths.tolist(), found)
    return None


def _fullest_borders(scores: Floats) -> tuple[Floats, Ints]:
    """Return the borders of the spanning tree of the clusters that has the least evidence.

    Returns
    -------
    counts : ndarray of shape (n_clusters - 1, 2)
        Points near each border, and near the middle of the emptier cluster.
    ends : ndarray of int64 of shape (n_clusters - 1, 2)
        Its clusters.
    """
    labels, n_clusters = scores.argmax(axis=1), scores.shape[1]
    ends = np.column_stack(np.triu_indices(n_clusters, 1))
    beyond = [scores[labels == K, K, np.newaxis] - scores[labels == K] for K in range(n_clusters)]
    counts = np.zeros((len(ends), 2))
    for border, (a, b) in enumerate(ends):
        if min(len(beyond[a]), len(beyond[b])) >= 2:
            counts[border] = counts_on_sides(np.sort(beyond[a][:, b]), np.sort(beyond[b][:, a]))
    together = np.arange(n_clusters)
    kept = []
    for border in np.argsort(evidence_of(2.0 * counts), kind="stable"):
        a, b = together[ends[border]]
        if a != b:
            together[together == b] = a
            kept.append(border)
    return counts[kept], ends[kept]
