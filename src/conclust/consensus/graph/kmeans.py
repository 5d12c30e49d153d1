"""k-means on the rows of an embedding, from several starts.

Rows are read in blocks, and may be computed when they are read: an embedding of many objects is never stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from conclust._kernels import lloyd_round, seed_points
from conclust._progress import rounds
from conclust._random import generator
from conclust._types import Floats, Ints
from conclust.consensus.label_rows import ON_A_PART, best_of_restarts

_BLOCK = 1 << 14
# Maximum number of Lloyd iterations, of each restart and of the final run.
MAX_ITER = 100


class Rows(Protocol):
    """Rows of a matrix: an array, or an object that computes them on request."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, d)."""

    def __getitem__(self, some: Any, /) -> Floats:
        """Return the rows of a slice, or of an array of indices."""


@dataclass(frozen=True)
class Points:
    """Points to cluster.

    Attributes
    ----------
    values : ndarray of shape (n, d) or Rows
        The points.
    mass : ndarray of shape (n,)
        Weight of each point.
    always : int
        Number of points at the end that are not objects: they are in every sample on which restarts run.
    """

    values: Rows
    mass: Floats
    always: int = 0

    def __len__(self) -> int:
        return self.values.shape[0] - self.always

    @property
    def n_objects(self) -> int:
        """Number of points from which samples are drawn."""
        return len(self)

    @property
    def cells(self) -> int:
        """Number of coordinates."""
        return self.values.shape[0] * self.values.shape[1]

    def held(self) -> Points:
        """Return the points with their values in an array."""
        if isinstance(self.values, np.ndarray):
            return self
        return Points(self.values[:], self.mass, self.always)

    def blocks(self) -> Iterator[slice]:
        """Yield the slices in which rows are read."""
        n = self.values.shape[0]
        for begin in range(0, n, _BLOCK):
            yield slice(begin, min(n, begin + _BLOCK))

    def some(self, objects: Ints) -> tuple[Points, Ints]:
        """Return some points, with those that are in every sample, and their indices."""
        indices = np.concatenate([np.sort(objects), np.arange(len(self), len(self.mass))])
        return Points(self.values[indices], self.mass[indices], self.always), indices

    @cached_property
    def columns(self) -> Floats:
        """The points side by side, (d, n)."""
        return np.ascontiguousarray(self.values[:].T)


def kmeans(points: Points, k: int, seed: np.random.SeedSequence, *, n_init: int = 10) -> Floats:
    """Find k centers (fewer if there are fewer distinct points).

    Parameters
    ----------
    points : Points
        Points to cluster.
    k : int
        Number of centers.
    seed : SeedSequence
        Seed of the points that restarts are run on (`best_of_restarts`) and of their starts (k-means++).
    n_init : int, default=10
        Number of restarts.

    Returns
    -------
    ndarray of shape (at most k, d)
        The centers.
    """
    return _best(points, k, seed, n_init).centers


def kmeans_labels(
    points: Points, k: int, seed: np.random.SeedSequence, *, n_init: int = 10
) -> Ints:
    """Return the nearest center of each object; the parameters are those of `kmeans`.

    Returns
    -------
    ndarray of int64 of shape (n_objects,)
        Index of the center of each object, without the points that are not objects.
    """
    return _best(points, k, seed, n_init).labels[: len(points)]


def _best(points: Points, k: int, seed: np.random.SeedSequence, n_init: int) -> _Clusters:
    if len(points) <= ON_A_PART:  # every start reads them
        points = points.held()
    return best_of_restarts(_Search(k), points, n_init, seed, 1)


@dataclass(frozen=True)
class _Clusters:
    """Centers, the nearest of each point, and the sum of the squared distances to them."""

    centers: Floats
    labels: Ints
    cost: float


@dataclass(frozen=True)
class _Search:
    """Lloyd's iterations from several starts: see `best_of_restarts`."""

    k: int

    def begin(self, points: Points, start: int, seed: int) -> _Clusters:
        """Iterate from centers drawn by k-means++."""
        centers = _seeds(points, self.k, generator(seed))
        return _lloyd(points, centers)

    def finish(self, result: _Clusters, points: Points, chosen: Ints) -> _Clusters:
        """Continue the iterations with all points."""
        return _lloyd(points, result.centers)

    def loss(self, result: _Clusters) -> float:
        """Return the cost plus 1, so that costs that are 0 up to rounding are equal."""
        return 1.0 + result.cost


def nearest_center(rows: Floats, centers: Floats) -> tuple[Ints, Floats]:
    """Return the nearest center of each row (ties: the lowest) and the squared distance to it."""
    round_ = _Round.over(Points(rows, np.ones(len(rows))), centers)
    return round_.labels, round_.distances


def _seeds(points: Points, k: int, rng: np.random.Generator) -> Floats:
    """Draw distinct centers by k-means++; fewer than k if there are fewer distinct points."""
    # The best of a few draws, as in scikit-learn.
    options = 2 + int(np.log(k))
    chosen = np.empty(k, dtype=np.int64)
    uniform = rng.random(1 + (k - 1) * options)
    count = seed_points(points.columns, np.ascontiguousarray(points.mass), uniform, options, chosen)
    return points.values[chosen[:count]]


@dataclass
class _Round:
    """The nearest center of each point, and the sums over the points of each center."""

    labels: Ints
    distances: Floats
    sums: Floats
    totals: Floats
    changed: int

    @classmethod
    def over(cls, points: Points, centers: Floats, before: _Round | None = None) -> _Round:
        """Go over all points. The labels of the round `before` are overwritten."""
        n = points.values.shape[0]
        labels = np.full(n, -1, dtype=np.int64) if before is None else before.labels
        distances = np.empty(n) if before is None else before.distances
        this_round = cls(labels, distances, np.zeros(centers.shape), np.zeros(len(centers)), 0)
        centers = np.ascontiguousarray(centers)
        for some in points.blocks():
            this_round.changed += lloyd_round(
                np.ascontiguousarray(points.values[some]),
                np.ascontiguousarray(points.mass[some]),
                centers,
                labels[some],
                distances[some],
                this_round.sums,
                this_round.totals,
            )
        return this_round


def _lloyd(points: Points, centers: Floats) -> _Clusters:
    last_round = _Round.over(points, centers)
    for done in range(MAX_ITER):
        rounds("rounds of k-means", done, MAX_ITER)
        filled = last_round.totals > 0
        centers = centers.copy()
        centers[filled] = last_round.sums[filled] / last_round.totals[filled, None]
        # A center without rows moves to the row farthest from its own center.
        for empty in np.flatnonzero(~filled):
            worst = int(np.argmax(last_round.distances * points.mass))
            centers[empty] = points.values[np.array([worst])][0]
            last_round.distances[worst] = 0.0
        last_round = _Round.over(points, centers, last_round)
        if last_round.changed == 0:
            break
    return _Clusters(centers, last_round.labels, float(last_round.distances @ points.mass))
