"""k-means on the rows of an embedding: restarts on a part of the rows, the best finished on all.

Everything is done in blocks of rows that depend on the problem only, so that bits do not depend on
threads (the callers hold BLAS to one).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conclust.consensus.restarts import ON_A_PART

__all__ = ["kmeans", "nearest_center"]

_BLOCK = 1 << 14


def kmeans(
    rows: NDArray[np.float64],
    k: int,
    rng: np.random.Generator,
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
    rng : Generator
        Draws the rows of the restarts and their seeds (k-means++).
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
    n = len(rows)
    mass = np.ones(n) if weights is None else weights
    some = n - always
    tried, tried_mass = rows, mass
    if some > ON_A_PART:
        drawn = np.sort(rng.choice(some, ON_A_PART, replace=False))
        kept = np.concatenate([drawn, np.arange(some, n)])
        tried, tried_mass = rows[kept], mass[kept]
    best, lowest = rows[:1], np.inf
    for _ in range(n_init):
        centers, cost = _lloyd(tried, tried_mass, _seeds(tried, tried_mass, k, rng), max_iter)
        # What differs by rounding only is no better: the first one stays.
        if cost < lowest - 1e-9 * (1 + cost):
            best, lowest = centers, cost
    return best if tried is rows else _lloyd(rows, mass, best, max_iter)[0]


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


def _lloyd(
    rows: NDArray[np.float64],
    mass: NDArray[np.float64],
    centers: NDArray[np.float64],
    max_iter: int,
) -> tuple[NDArray[np.float64], float]:
    k = len(centers)
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
    return centers, float(distances @ mass)
