"""In which scale k-means finds tighter clusters: for columns whose spreads alone do not decide."""

from __future__ import annotations

import numpy as np

from conclust._random import spawn_generators
from conclust._types import Floats, Ints
from conclust.generation.runs import run_kmeans

# Maximum number of rows that are looked at.
_ROWS = 2_000
# Numbers of clusters, as long as a cluster has at least this number of rows on average.
_NUMBERS, _ROWS_A_CLUSTER = (2, 4, 8, 16, 32, 64), 8
_RUNS, _CLOUDS = 5, 3
# Minimum variance within clusters, as a share of the column's, so that columns with few values do not decide alone.
_LEAST = 1e-4


class Thinned:
    """Every 2^t-th of the rows that pass, with the smallest t that leaves at most 2,000.

    The rows do not depend on the blocks in which they come.
    """

    def __init__(self) -> None:
        self._stride, self._seen = 1, 0
        self._kept: list[Floats] = []

    def add(self, block: Floats) -> None:
        """Look at the next rows."""
        first = -self._seen % self._stride
        self._kept.append(np.array(block[first :: self._stride], dtype=np.float64))
        self._seen += len(block)
        while sum(map(len, self._kept)) > _ROWS:
            self._kept = [np.concatenate(self._kept)[::2]]
            self._stride *= 2

    @property
    def rows(self) -> Floats:
        """The rows that were kept."""
        return np.concatenate(self._kept)


def tighter_standardised(rows: Floats) -> bool:
    """Return whether k-means finds tighter clusters in standardised columns than in columns as they are.

    Partitions into 2, 4, 8, ... clusters, made in either scale, are compared by a measure that no scale of the columns
    changes: the sum over columns of the logarithm of the variance within clusters. A partition in the scale in
    which clusters are round has the smaller one. It counts how much smaller it is than for a single Gaussian cloud without
    correlations and with the same deviations, mean of three.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Finite points.
    """
    deviations = rows.std(axis=0)
    rows, deviations = rows[:, deviations > 0], deviations[deviations > 0]
    if not rows.size:
        return False
    clouds = spawn_generators(np.random.SeedSequence(0), _CLOUDS)
    by_chance = [_gain(cloud.normal(size=rows.shape) * deviations) for cloud in clouds]
    return bool(_gain(rows) > np.mean(by_chance))


def _gain(rows: Floats) -> float:
    """Return how much tighter clusters are in standardised columns, over all numbers of clusters."""
    centred = rows - rows.mean(axis=0)
    deviations = rows.std(axis=0)
    standardised = np.ascontiguousarray(centred / deviations)
    unscaled = np.ascontiguousarray(centred / deviations.max())
    gain = 0.0
    for K in _NUMBERS:
        if len(rows) < K * _ROWS_A_CLUSTER:
            break
        gain += _spread_within(standardised, _partition(unscaled, K))
        gain -= _spread_within(standardised, _partition(standardised, K))
    return gain


def _partition(points: Floats, n_clusters: int) -> Ints:
    """Return the best of some runs of k-means, with fixed seeds."""
    drawn = np.tile(np.arange(len(points), dtype=np.int32), (_RUNS, 1))
    runs = run_kmeans(points, n_clusters, drawn, np.arange(_RUNS, dtype=np.uint64))
    return np.asarray(runs.labels[:, int(np.argmin(runs.inertia))], dtype=np.int64)


def _spread_within(points: Floats, labels: Ints) -> float:
    """Return the sum over columns of the logarithm of the variance within clusters."""
    sizes = np.bincount(labels)
    sums = np.zeros((len(sizes), points.shape[1]))
    np.add.at(sums, labels, points)
    means = sums / np.maximum(sizes, 1)[:, None]
    variances = ((points - means[labels]) ** 2).mean(axis=0)
    return float(np.log(np.maximum(variances, _LEAST)).sum())
