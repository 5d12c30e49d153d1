"""Common code of members by spectral clustering: k-means of an embedding, and ties between components."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats, Ints
from conclust.generation.runs import run_kmeans

_STARTS = 5  # number of runs of k-means, of which the best counts
_ENDS = 1000  # number of points of a component from which ties are searched
_CELLS = 1 << 22  # number of distances computed at once


def start_seed(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Draw the seeds of the starts of `centers_of_rows`."""
    return rng.integers(2**63, size=_STARTS, dtype=np.uint64)


def centers_of_rows(rows: Floats, k: int, seeds: NDArray[np.uint64]) -> Floats:
    """Return the centres of the best of some runs of k-means, from starts by greedy k-means++ (see `start_seed`)."""
    n = len(rows)
    runs = run_kmeans(
        np.ascontiguousarray(rows),
        min(k, n),
        np.tile(np.arange(n, dtype=np.int32), (len(seeds), 1)),
        seeds,
        labels=False,
        centers=True,
    )
    assert runs.centers is not None
    best = int(np.argmin(runs.inertia))
    return runs.centers[best, : runs.found[best]]


def bridges(points: Floats, parts: NDArray[Any]) -> tuple[Ints, Floats]:
    """Return the shortest ties that connect all components of a graph: a minimum spanning tree of them.

    Every cut between components is 0: these ties, which are weak, make a cut cost the more the nearer the
    components are, so that the few points of a small component stay with the nearest large one.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points.
    parts : ndarray of shape (n,)
        The component of each point: 0, 1, ....

    Returns
    -------
    ends : ndarray of shape (n_components - 1, 2)
        The two points of each tie.
    squares : ndarray of shape (n_components - 1,)
        Their squared distances, up to rounding errors. At most 1,000 points of a component are
        used.
    """
    points = points - points.mean(axis=0)
    lengths = np.einsum("ij,ij->i", points, points)
    nearest = np.full(len(points), np.inf)
    inner_end = np.zeros(len(points), dtype=np.int64)
    outside = np.ones(len(points), dtype=np.bool_)
    ends: list[tuple[int, int]] = []
    part = parts[0]
    while True:  # components join the tree one after the other
        inside = np.flatnonzero(parts == part)
        outside[inside] = False
        left = np.flatnonzero(outside)
        if len(left) == 0:
            break
        some = inside[:: -(-len(inside) // _ENDS)]
        step = max(1, _CELLS // len(left))
        for at in (some[start : start + step] for start in range(0, len(some), step)):
            squares = lengths[at, None] + lengths[left] - 2.0 * (points[at] @ points[left].T)
            closest = squares.argmin(axis=0)
            least = squares[closest, np.arange(len(left))]
            closer = least < nearest[left]
            nearest[left[closer]] = least[closer]
            inner_end[left[closer]] = at[closest[closer]]
        end = left[nearest[left].argmin()]
        ends.append((int(inner_end[end]), int(end)))
        part = parts[end]
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return pairs, np.maximum(nearest[pairs[:, 1]], 0.0)
