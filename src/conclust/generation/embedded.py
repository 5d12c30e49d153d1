"""What members by spectral clustering share: k-means of an embedding, and groups of components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

from conclust.generation.mixed import cut
from conclust.generation.runs import run_kmeans

__all__ = ["centers_of_rows", "grouped_components"]


def centers_of_rows(
    rows: NDArray[np.float64], k: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the centres that k-means finds from one start, drawn by greedy k-means++."""
    n = len(rows)
    found = run_kmeans(
        np.ascontiguousarray(rows),
        min(k, n),
        np.arange(n, dtype=np.int32)[np.newaxis],
        rng.integers(2**63, size=1, dtype=np.uint64),
        centers=True,
    )
    assert found.centers is not None
    return found.centers[0, : found.found[0]]


def grouped_components(
    parts: NDArray[np.int32], points: NDArray[np.float64], k: int
) -> NDArray[np.int64]:
    """Join connected components by average linkage of their means, until k are left.

    Every cut between components is 0, so that nothing but the points says which belong together.

    Parameters
    ----------
    parts : ndarray of shape (n,)
        The component of each point: 0, 1, ..., at least k of them.
    points : ndarray of shape (n, d)
        The points.
    k : int
        Groups wanted.

    Returns
    -------
    ndarray of shape (n,)
        The group of each point.
    """
    sizes = np.bincount(parts)
    if len(sizes) == k:
        return parts.astype(np.int64)
    means = np.stack([np.bincount(parts, feature) for feature in points.T], axis=1)
    return cut(linkage(pdist(means / sizes[:, None]), method="average"), k)[parts]
