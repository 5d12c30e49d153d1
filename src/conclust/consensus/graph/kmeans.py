"""k-means on the rows of an embedding, from several starts.

Everything is done in blocks of rows that depend on the problem only, so that bits do not depend on
threads (the callers hold BLAS to one).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conclust._random import generator
from conclust.consensus.restarts import best_of_restarts

__all__ = ["kmeans", "nearest_center"]

_BLOCK = 1 << 14


def kmeans(
    rows: NDArray[np.float64],
    k: int,
    seed: np.random.SeedSequence,
    *,
    weights: NDArray[np.float64] | None = None,
    always: int = 0,
    n_init: int = 10,
    max_iter: int = 100,
) -> NDArray[np.float64]:
    """Find k centers (fewer where there are fewer distinct rows).

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        What to cluster.
    k : int
        Number of centers.
    seed : SeedSequence
        Of the rows that restarts are run on (`best_of_restarts`) and of their starts (k-means++).
    weights : ndarray of shape (n,), default=None
        Weight of each row.
    always : int, default=0
        The last so many rows are always among those of the restarts.
    n_init : int, default=10
        Restarts.
    max_iter : int, default=100
        Iterations of Lloyd, for each restart and for the finish.

    Returns
    -------
    ndarray of shape (at most k, d)
        The centers.
    """
    mass = np.ones(len(rows)) if weights is None else weights
    search = _Search(k, max_iter)
    return best_of_restarts(search, _Points(rows, mass, always), n_init, seed, 1).centers


@dataclass(frozen=True)
class _Points:
    """Points with masses; the last of them, which are no objects, are in every part."""

    values: NDArray[np.float64]
    mass: NDArray[np.float64]
    always: int

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

    def some(self, objects: NDArray[np.int64]) -> tuple[_Points, NDArray[np.int64]]:
        """Return some points and those that are in every part, and which of all they are."""
        kept = np.concatenate([np.sort(objects), np.arange(len(self), len(self.values))])
        return _Points(self.values[kept], self.mass[kept], self.always), kept


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

    def begin(self, rows: _Points, start: int, seed: int) -> _Found:
        """Iterate from centers drawn by k-means++."""
        centers = _seeds(rows.values, rows.mass, self.k, generator(seed))
        return _lloyd(rows, centers, self.max_iter)

    def finish(self, found: _Found, rows: _Points, kept: NDArray[np.int64]) -> _Found:
        """Iterate on with all points."""
        return _lloyd(rows, found.centers, self.max_iter)

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


def _seeds(
    rows: NDArray[np.float64], mass: NDArray[np.float64], k: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw centers by k-means++; none twice, so fewer than k if there are fewer distinct rows."""
    chosen = [_draw(mass, rng)]
    distances = ((rows - rows[chosen[0]]) ** 2).sum(axis=1)
    for _ in range(1, k):
        far = np.where(distances > 1e-12, distances * mass, 0.0)
        if not far.any():
            break
        # The best of a few draws, as in scikit-learn.
        draws = [_draw(far, rng) for _ in range(2 + int(np.log(k)))]
        options = [np.minimum(distances, ((rows - rows[i]) ** 2).sum(axis=1)) for i in draws]
        best = int(np.argmin([option @ mass for option in options]))
        chosen.append(draws[best])
        distances = options[best]
    return rows[chosen].copy()


def _draw(mass: NDArray[np.float64], rng: np.random.Generator) -> int:
    sums = np.cumsum(mass)
    return min(int(np.searchsorted(sums, rng.random() * sums[-1], side="right")), len(mass) - 1)


def _lloyd(points: _Points, centers: NDArray[np.float64], max_iter: int) -> _Found:
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
        # A center that nobody is nearest to goes to the row that is worst off.
        for empty in np.flatnonzero(~filled):
            worst = int(np.argmax(distances * mass))
            centers[empty] = rows[worst]
            distances[worst] = 0.0
        labels, distances = nearest_center(rows, centers)
        if (labels == before).all():
            break
    return _Found(centers, float(distances @ mass))
