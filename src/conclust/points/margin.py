"""Margins of clusters: points near the border of two clusters, relative to those in an equally wide band of either."""

from __future__ import annotations

import numpy as np

from conclust._types import Floats, Ints
from conclust.borders import valley_ratios
from conclust.generation.labelling.nearest import nearest_center
from conclust.points.paths import PathsOfPoints

# An empty margin has at most this share of the points in a band of either cluster. Chosen as described in
# experiments/default/README.md.
EMPTY_MARGIN = 0.12


def margin_ratio(paths: PathsOfPoints, labels: Ints, pair: Ints) -> float:
    """Return how many points lie near a border, relative to the fewer in the middle of either cluster.

    The depth of a point is its distance from the nearest point of the other cluster, less the distance between
    neighbours (the median, over the points of both clusters, of the distance to the nearest neighbour). With half of
    the smaller of the clusters' median depths as width w, points less than w deep are near the border, and points
    within w of the median depth of their cluster are in its middle. Both bands are 2 w wide.

    Depths follow the border, so that they hold for clusters of any shape, and no number of neighbours is chosen: two
    crescents of 50 points each have an empty margin, although graphs of ten neighbours reach across it.

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
        Near 0 for an empty margin, about 1 or above for parts of one cloud. Three points are added to both numbers.
    """
    cluster_of = paths.of_distinct(labels)
    sides = [np.flatnonzero(cluster_of == cluster) for cluster in pair]
    if min(map(len, sides)) == 0:
        return 1.0
    first, second = (np.ascontiguousarray(paths.distinct[side]) for side in sides)
    between = np.median(paths.shortest[np.concatenate(sides)])
    depths = [
        np.maximum(0.0, _distances_to_nearest(here, there) - between)
        for here, there in ((first, second), (second, first))
    ]
    middles = [float(np.median(depth)) for depth in depths]
    width = min(middles) / 2
    if width == 0:
        return 1.0
    masses = [paths.graph.rows.masses[side] for side in sides]
    near = sum(float(m[d < width].sum()) for m, d in zip(masses, depths, strict=True))
    peaks = [
        float(m[(d >= middle - width) & (d < middle + width)].sum())
        for m, d, middle in zip(masses, depths, middles, strict=True)
    ]
    return float(valley_ratios([peaks[0], near, peaks[1]]))


def _distances_to_nearest(points: Floats, others: Floats) -> Floats:
    differences = points - others[nearest_center(points, others)]
    return np.asarray(np.sqrt((differences**2).sum(axis=1)))
