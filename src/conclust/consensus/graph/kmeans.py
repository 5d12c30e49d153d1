"""k-means on the rows of an embedding, from several starts.

Everything is done in blocks of rows that depend on the problem only, so that bits do not depend on
threads (the callers hold BLAS to one).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from conclust._random import generator
from conclust.consensus.restarts import best_of_restarts

__all__ = ["Points", "kmeans", "nearest_center"]

_BLOCK = 1 << 14
# Distances that k-means++ keeps, at most.
_KEPT = 1 << 22


@dataclass(frozen=True)
class Points:
    """Points to cluster.

    Attributes
    ----------
    values : ndarray of shape (n, d)
        The points.
    mass : ndarray of shape (n,)
        How much each counts.
    always : int
        Number of points at the end that are no objects: they are in every part that restarts run on.
    """

    values: NDArray[np.float64]
    mass: NDArray[np.float64]
    always: int = 0
    _known: dict[int, NDArray[np.float64]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.values) - self.always

    @property
    def n_objects(self) -> int:
        """How many points parts are drawn from."""
        return len(self)

    @property
    def cells(self) -> int:
        """How many coordinates there are."""
        return self.values.size

    def some(self, objects: NDArray[np.int64]) -> tuple[Points, NDArray[np.int64]]:
        """Return some points and those that are in every part, and which of all they are."""
        kept = np.concatenate([np.sort(objects), np.arange(len(self), len(self.values))])
        return Points(self.values[kept], self.mass[kept], self.always), kept

    def distances(self, i: int) -> NDArray[np.float64]:
        """Return the squared distances to point i: k-means++ asks for some again and again."""
        found = self._known.get(i)
        if found is None:
            found = ((self.values - self.values[i]) ** 2).sum(axis=1)
            if (len(self._known) + 1) * found.size <= _KEPT:
                self._known[i] = found
        return found


def kmeans(
    points: Points, k: int, seed: np.random.SeedSequence, *, n_init: int = 10, max_iter: int = 100
) -> NDArray[np.float64]:
    """Find k centers (fewer where there are fewer distinct points).

    Parameters
    ----------
    points : Points
        What to cluster.
    k : int
        Number of centers.
    seed : SeedSequence
        Of the points that restarts are run on (`best_of_restarts`) and of their starts (k-means++).
    n_init : int, default=10
        Restarts.
    max_iter : int, default=100
        Iterations of Lloyd, for each restart and for the finish.

    Returns
    -------
    ndarray of shape (at most k, d)
        The centers.
    """
    return best_of_restarts(_Search(k, max_iter), points, n_init, seed, 1).centers


@dataclass(frozen=True)
class _Found:
    """Centers, and the sum of the squared distances to them."""

    centers: NDArray[np.float64]
    cost: float


@dataclass(frozen=True)
class _Search:
    """Lloyd's iterations from several starts: see `best_of_restarts`."""

    k: int
    max_iter: int

    def begin(self, points: Points, start: int, seed: int) -> _Found:
        """Iterate from centers drawn by k-means++."""
        centers = _seeds(points, self.k, generator(seed))
        return _lloyd(points, centers, self.max_iter)

    def finish(self, found: _Found, points: Points, kept: NDArray[np.int64]) -> _Found:
        """Iterate on with all points."""
        return _lloyd(points, found.centers, self.max_iter)

    def loss(self, found: _Found) -> float:
        """Return the cost; 1 more, so that costs of 0 but for rounding are alike."""
        return 1.0 + found.cost


def nearest_center(
    rows: NDArray[np.float64], centers: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the nearest center of each row (ties: the lowest) and the squared distance to it."""
    labels = np.empty(len(rows), dtype=np.int64)
    distances = np.empty(len(rows))
    offset = 0.5 * (centers**2).sum(axis=1)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        scores = block @ centers.T - offset
        chosen = scores.argmax(axis=1)
        labels[start : start + _BLOCK] = chosen
        nearest = np.take_along_axis(scores, chosen[:, None], axis=1)[:, 0]
        distances[start : start + _BLOCK] = (block**2).sum(axis=1) - 2 * nearest
    return labels, np.maximum(distances, 0.0)


def _seeds(points: Points, k: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw centers by k-means++; none twice, so fewer than k if there are fewer distinct points."""
    mass = points.mass
    chosen = _draw(mass, 1, rng)
    distances = points.distances(chosen[0])
    for _ in range(1, k):
        far = np.where(distances > 1e-12, distances * mass, 0.0)
        if not far.any():
            break
        # The best of a few draws, as in scikit-learn.
        draws = _draw(far, 2 + int(np.log(k)), rng)
        options = [np.minimum(distances, points.distances(i)) for i in draws]
        best = int(np.argmin([option @ mass for option in options]))
        chosen.append(draws[best])
        distances = options[best]
    return points.values[chosen].copy()


def _draw(mass: NDArray[np.float64], count: int, rng: np.random.Generator) -> list[int]:
    sums = np.cumsum(mass)
    found = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
    return [min(int(i), len(mass) - 1) for i in found]


def _lloyd(points: Points, centers: NDArray[np.float64], max_iter: int) -> _Found:
    rows, mass, k = points.values, points.mass, len(centers)
    labels, distances = nearest_center(rows, centers)
    weighed = np.ascontiguousarray((rows * mass[:, None]).T)
    for _ in range(max_iter):
        before = labels
        totals = np.bincount(labels, weights=mass, minlength=k)
        sums = np.column_stack([np.bincount(labels, weights=x, minlength=k) for x in weighed])
        filled = totals > 0
        centers = centers.copy()
        centers[filled] = sums[filled] / totals[filled, None]
        # A center that is the nearest of no row goes to the row farthest from its center.
        for empty in np.flatnonzero(~filled):
            worst = int(np.argmax(distances * mass))
            centers[empty] = rows[worst]
            distances[worst] = 0.0
        labels, distances = nearest_center(rows, centers)
        if (labels == before).all():
            break
    return _Found(centers, float(distances @ mass))
