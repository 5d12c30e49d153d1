"""Compares how tight the clusters are in columns as they are and in standardised ones."""

from __future__ import annotations

import numpy as np

from conclust._random import spawn_generators
from conclust._types import Floats, Ints
from conclust.generation.runs import run_kmeans
from conclust.measures.comparison import adjusted_rand_index

# Maximum number of rows that are used.
_ROWS = 2_000
# Numbers of clusters, as long as a cluster has at least this number of rows on average.
_NUMBERS, _ROWS_PER_CLUSTER = (2, 3, 4, 5, 6, 7, 8, 16, 32, 64), 8
# The numbers whose tightness is summed.
_SUMMED = (2, 4, 8, 16, 32, 64)
_RUNS, _CLOUDS = 5, 3
# Adjusted Rand index above which two partitions are the same.
_SAME = 0.95
# Minimum variance within clusters, as a share of the column's, so that columns with few values do not decide alone.
_LEAST = 1e-4
# The same, for roundness.
_NONE = 1e-12


class Thinned:
    """Every 2^t-th of the rows that pass, with the smallest t that leaves at most 2,000.

    The rows do not depend on the blocks in which they come.
    """

    def __init__(self) -> None:
        self._stride, self._seen = 1, 0
        self._kept: list[Floats] = []

    def add(self, block: Floats) -> None:
        """Look at the next rows."""
        while self._seen + len(block) > _ROWS * self._stride:
            self._kept = [np.concatenate(self._kept)[::2]] if self._kept else []
            self._stride *= 2
        first = -self._seen % self._stride
        self._kept.append(np.array(block[first :: self._stride], dtype=np.float64))
        self._seen += len(block)

    @property
    def rows(self) -> Floats:
        """The rows that were kept."""
        return np.concatenate(self._kept)


def tighter_standardised(rows: Floats) -> bool:
    """Return whether clusters are tighter in standardised columns than in columns as they are.

    k-means makes partitions into 2 to 8, 16, 32 and 64 clusters in either scale. They are compared by a measure that no
    scale of the columns changes: the sum over columns of the logarithm of the variance within clusters. The scale in
    which clusters are round has the smaller one. It counts how much smaller it is than for a single Gaussian cloud
    without correlations and with the same deviations, mean of three.

    The measure cannot compare scales that give the same clusters. In that case columns stay as they are if these
    clusters (of the largest such number) are rounder in them: the deviations within clusters differ less between
    columns.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Finite points.
    """
    deviations = rows.std(axis=0)
    rows, deviations = rows[:, deviations > 0], deviations[deviations > 0]
    if not rows.size:
        return False
    pairs = _partitions(rows)
    for unscaled, standardised in reversed(pairs.values()):
        if adjusted_rand_index(unscaled, standardised) > _SAME:
            logs = np.log(np.maximum(_variances_within(rows / deviations, unscaled), _NONE))
            if (logs + 2.0 * np.log(deviations)).std() <= logs.std():
                return False
            break
    clouds = spawn_generators(np.random.SeedSequence(0), _CLOUDS)
    by_chance = []
    for cloud in clouds:
        points = cloud.normal(size=rows.shape) * deviations
        by_chance.append(_gain(points, _partitions(points, _SUMMED)))
    return bool(_gain(rows, pairs) > np.mean(by_chance))


def _partitions(rows: Floats, among: tuple[int, ...] = _NUMBERS) -> dict[int, tuple[Ints, Ints]]:
    """Return partitions of the columns as they are, and of standardised ones, into rising numbers of clusters."""
    centred, deviations = rows - rows.mean(axis=0), rows.std(axis=0)
    unscaled = np.ascontiguousarray(centred / deviations.max())
    standardised = np.ascontiguousarray(centred / deviations)
    numbers = [K for K in among if len(rows) >= K * _ROWS_PER_CLUSTER]
    return {K: (_partition(unscaled, K), _partition(standardised, K)) for K in numbers}


def _gain(rows: Floats, partitions: dict[int, tuple[Ints, Ints]]) -> float:
    """Return how much tighter clusters are in standardised columns, over all numbers of clusters."""
    points = rows / rows.std(axis=0)
    gain = 0.0
    for K in sorted(set(partitions).intersection(_SUMMED)):
        unscaled, standardised = partitions[K]
        for labels, sign in ((unscaled, 1.0), (standardised, -1.0)):
            variances = np.maximum(_variances_within(points, labels), _LEAST)
            gain += sign * float(np.log(variances).sum())
    return gain


def _partition(points: Floats, n_clusters: int) -> Ints:
    """Return the best of some runs of k-means, with fixed seeds."""
    drawn = np.tile(np.arange(len(points), dtype=np.int32), (_RUNS, 1))
    return run_kmeans(points, n_clusters, drawn, np.arange(_RUNS, dtype=np.uint64)).best_labels


def _variances_within(points: Floats, labels: Ints) -> Floats:
    """Return the variance of each column within clusters."""
    sizes = np.bincount(labels)
    sums = np.zeros((len(sizes), points.shape[1]))
    np.add.at(sums, labels, points)
    means = sums / np.maximum(sizes, 1)[:, None]
    return np.asarray(((points - means[labels]) ** 2).mean(axis=0))
