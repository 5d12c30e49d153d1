"""The number of clusters of points on a line: neighbours whose values together have more than one mode."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from conclust._types import Bools, Floats, Ints
from conclust.consensus.auto import GrownTrees

LEVEL = 0.01
"""Level of the p-value of all borders."""

# Minimum number of objects of a cluster.
_SMALLEST = 5
# Maximum share of the objects that lie in the interval of another cluster.
_STRAYS = 0.05
_MOST_CLUSTERS = 30


@dataclass(frozen=True, eq=False)
class ClustersOnLine:
    """Clusters such that no two neighbours have one mode together.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_samples,)
        The clusters, 0 to K - 1.
    p_value : float
        The largest p-value of a border.
    others : tuple of int
        Smaller numbers whose borders hold, too.
    """

    labels: Ints
    p_value: float
    others: tuple[int, ...]

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1


def clusters_on_line(
    X: Floats, trees: GrownTrees, least: int, most: int, rng: np.random.Generator
) -> ClustersOnLine | None:
    """Return the largest number of clusters of the tree at which all borders hold, or None if they hold at no number.

    A density with one mode still has one on any interval. So a border holds if the values of the two clusters beside it, taken
    together, have more than one mode by the dip test, or else as many values of either as the smaller one has, the nearest to the
    border. The p-value is twice the smaller of the two, times the number of borders.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 1)
        The points.
    trees : GrownTrees
        The consensus, cut at any number of clusters.
    least, most : int
        The numbers considered, from 2 on.
    rng : Generator
        Spreads rounded values.
    """
    values = _spread(X[:, 0], rng)
    accepted: dict[int, tuple[Ints, float]] = {}
    for K in range(max(2, least), min(most, _MOST_CLUSTERS) + 1):
        labels = trees.cut(K)
        p_value = _largest_p_value(values, labels)
        if p_value <= LEVEL:
            accepted[K] = labels, p_value
    if not accepted:
        return None
    number = max(accepted)
    labels, p_value = accepted.pop(number)
    return ClustersOnLine(labels, p_value, tuple(sorted(accepted, reverse=True)))


def _spread(values: Floats, rng: np.random.Generator) -> Floats:
    """Spread values that occur several times over the intervals that they were rounded from."""
    distinct = np.unique(values)
    if len(distinct) in (1, len(values)):
        return values
    grid = float(np.diff(distinct).min())
    return np.asarray(values + rng.uniform(-0.5, 0.5, len(values)) * grid)


def _largest_p_value(values: Floats, labels: Ints) -> float:
    """Return the largest p-value of neighbouring clusters, times their number, up to the first above the level."""
    K = int(labels.max()) + 1
    medians = [np.median(values[labels == cluster]) for cluster in range(K)]
    order = np.argsort(medians, kind="stable")
    borders = [_border(values, labels == a, labels == b) for a, b in pairwise(order)]
    intervals = np.searchsorted(borders, values)
    if not (np.diff(borders) > 0).all() or (order[intervals] != labels).mean() > _STRAYS:
        return 1.0
    ordered = np.sort(values)
    # The first object of each cluster in the order of the values.
    starts = [0, *np.searchsorted(ordered, borders, side="right"), len(values)]
    largest = 0.0
    for start, border, end in zip(starts[:-2], starts[1:-1], starts[2:], strict=True):
        if min(border - start, end - border) < _SMALLEST:
            return 1.0
        # The dip of both hardly shows a much smaller cluster, so as many objects of the larger one, the nearest, are tested, too.
        nearest = min(border - start, end - border)
        p_values = [
            _p_value(ordered[start:end]),
            _p_value(ordered[border - nearest : border + nearest]),
        ]
        largest = max(largest, min(1.0, 2.0 * (K - 1) * min(p_values)))
        if largest > LEVEL:
            break
    return largest


def _p_value(values: Floats) -> float:
    """Return the p-value of the dip test of one mode."""
    # Loaded here, because few points are on a line.
    from conclust.confidence.borders.dips import dip_p_value, dips_of_rows

    return dip_p_value(float(dips_of_rows(values[np.newaxis], 1)[0]), len(values))


def _border(values: Floats, lower: Bools, upper: Bools) -> float:
    """Return the value up to which most objects are in the lower cluster, and from which most are in the upper one."""
    both = np.concatenate([values[lower], values[upper]])
    order = np.argsort(both, kind="stable")
    right = np.cumsum(np.where(order < np.count_nonzero(lower), 1, -1))
    return float(both[order[int(np.argmax(right))]])
