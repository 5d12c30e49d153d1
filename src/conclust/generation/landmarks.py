"""Members by spectral clustering on landmarks: of millions of points, without a matrix of n x n.

Some points stand for all: the landmarks. Each object is tied to its few nearest landmarks, and the bipartite
graph of objects and landmarks is cut (`conclust.spectral`), as HBGF cuts the graph of objects and clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist

from conclust._kernels import nearest_landmarks
from conclust.generation.members import Found, KMeansRecipe, first_distinct, nearest_center
from conclust.generation.mixed import cut
from conclust.generation.runs import run_kmeans, some_objects
from conclust.spectral import transfer_cut, unit_rows

__all__ = ["LandmarkSpectralRecipe", "Landmarks"]

_BLOCK = 1 << 14
# Objects that centres of an embedding are looked for on.
_ENOUGH = 10_000
_FEW_LANDMARKS = 20
# An eigenvalue that is 1 but for rounding belongs to a connected component.
_ONE = 1.0 - 1e-9
# The weight of a tie that is 0 in floating point.
_LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Landmarks:
    """Points that stand for all, and how the nearest of them are found.

    Attributes
    ----------
    points : ndarray of shape (p, d)
        The landmarks.
    heads : ndarray of shape (g, d)
        Centres of groups of them.
    starts : ndarray of int64 of shape (g + 1,)
        Where each group begins in `grouped`.
    grouped : ndarray of int32 of shape (p,)
        The landmarks, group by group.
    around : ndarray of int32 of shape (p, c)
        The landmarks nearest to each, itself among them: those that a point next to it looks at.
    """

    points: NDArray[np.float64]
    heads: NDArray[np.float64]
    starts: NDArray[np.int64]
    grouped: NDArray[np.int32]
    around: NDArray[np.int32]

    @staticmethod
    def of(points: NDArray[np.float64], k: int, rng: np.random.Generator) -> Landmarks:
        """Group landmarks so that about k nearest ones are found soon."""
        p = len(points)
        starts = rng.permutation(p)[: isqrt(p)]
        heads = KMeansRecipe(max_iter=20).centers(points, starts)
        group = nearest_center(points, heads)
        filled, group = np.unique(group, return_inverse=True)
        order = np.argsort(group, kind="stable").astype(np.int32)
        bounds = np.concatenate([[0], np.cumsum(np.bincount(group))]).astype(np.int64)
        return Landmarks(
            points, np.ascontiguousarray(heads[filled]), bounds, order, _around(points, k)
        )

    def nearest(
        self, points: NDArray[np.float64], k: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the k landmarks nearest to each point, as far as they are found, and squared distances."""
        found = np.empty((len(points), k), dtype=np.int32)
        squares = np.empty((len(points), k))
        for start in range(0, len(points), _BLOCK):  # an interrupt is heard in between
            block = slice(start, start + _BLOCK)
            nearest_landmarks(
                points[block],
                self.points,
                self.heads,
                self.starts,
                self.grouped,
                self.around,
                found[block],
                squares[block],
            )
        return found, squares


def _around(points: NDArray[np.float64], k: int) -> NDArray[np.int32]:
    """Return the 10 k landmarks nearest to each, and itself."""
    p = len(points)
    count = min(p, 10 * k + 1)
    squares = np.einsum("ij,ij->i", points, points)
    distances = squares - 2.0 * (points @ points.T)
    np.fill_diagonal(distances, -np.inf)
    near = np.argpartition(distances, count - 1, axis=1)[:, :count]
    return np.ascontiguousarray(near, dtype=np.int32)


@dataclass(frozen=True)
class LandmarkSpectralRecipe:
    """Ultra-scalable spectral clustering (U-SPEC; Huang et al., IEEE TKDE 32(6), 2020).

    Landmarks, at most half as many as objects, are the centres of ten iterations of k-means on ten objects
    per landmark. Objects are tied to their `n_nearest` landmarks, by exp(-d^2 / (2 sigma^2)) with sigma the
    mean distance of all ties. The bipartite graph is cut by the transfer cut, and one run of k-means groups
    the objects in the embedding.

    If the graph has more connected components than the number of clusters, every grouping of components is
    a cut of 0: they are grouped by average linkage of their means.
    """

    name: str = "spectral"
    n_landmarks: int = 1000
    n_nearest: int = 5

    def parameters(self) -> dict[str, Any]:  # noqa: D102  (the protocol's text)
        return {
            "method": self.name,
            "n_landmarks": self.n_landmarks,
            "n_nearest": self.n_nearest,
            "sigma": "mean",
        }

    def run(  # noqa: D102
        self,
        points: NDArray[np.float64],
        n_clusters: Sequence[int | None],
        rng: np.random.Generator,
    ) -> list[Found]:
        landmarks = self._landmarks(points, rng)
        ties = self._ties(landmarks, points, rng)
        return [Found(_cut(ties, landmarks, k, rng)) for k in n_clusters if k is not None]

    def _landmarks(
        self, points: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        n = len(points)
        pool = points[some_objects(n, min(n, 10 * self.n_landmarks), rng)]
        # If every object were a landmark, each would be tied to itself, and members would hardly differ.
        p = min(self.n_landmarks, n, max(_FEW_LANDMARKS, n // 2))
        starts = first_distinct(pool, rng.permutation(len(pool)), p)
        return KMeansRecipe(max_iter=10).centers(pool, starts)

    def _ties(
        self, landmarks: NDArray[np.float64], points: NDArray[np.float64], rng: np.random.Generator
    ) -> sp.csr_array:
        """Return the bipartite graph (n_objects, n_landmarks)."""
        n, p = len(points), len(landmarks)
        k = min(self.n_nearest, p)
        found, weights = Landmarks.of(landmarks, k, rng).nearest(points, k)
        spread = float(np.sqrt(weights).mean())
        if spread > 0:
            np.multiply(weights, -0.5 / spread**2, out=weights)
            np.maximum(np.exp(weights, out=weights), _LEAST, out=weights)
        else:  # every object is a landmark, k times
            weights[:] = 1.0
        return sp.csr_array((weights.ravel(), found.ravel(), np.arange(0, n * k + 1, k)), (n, p))


def _cut(
    ties: sp.csr_array, landmarks: NDArray[np.float64], k: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Cut the graph of objects and landmarks into k parts; return the part of each object."""
    n = ties.shape[0]
    sample = some_objects(n, min(n, _ENOUGH), rng)
    values, _, loads = transfer_cut(ties, k)
    if values[-1] > _ONE:
        parts = _components(ties)
        if parts.max() + 1 >= k:
            # Every cut between components is 0: objects of one component stay together.
            return _grouped(parts, landmarks, k)[ties.indices[ties.indptr[:-1]]]
    loads *= values
    centers = _centers(unit_rows(ties[sample] @ loads), k, rng)
    half = 0.5 * (centers**2).sum(axis=1)
    labels = np.empty(n, dtype=np.int64)
    for start in range(0, n, _BLOCK):
        block = slice(start, start + _BLOCK)
        (unit_rows(ties[block] @ loads) @ centers.T - half).argmax(axis=1, out=labels[block])
    return labels


def _centers(rows: NDArray[np.float64], k: int, rng: np.random.Generator) -> NDArray[np.float64]:
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


def _components(ties: sp.csr_array) -> NDArray[np.int32]:
    """Return the connected component of each landmark."""
    n, p = ties.shape
    ends = ties.indices.reshape(n, -1)
    first = np.broadcast_to(ends[:, :1], ends.shape)
    edges = sp.coo_array((np.ones(ends.size), (first.ravel(), ends.ravel())), (p, p))
    found: NDArray[np.int32] = connected_components(edges.tocsr(), directed=False)[1]
    return found


def _grouped(parts: NDArray[np.int32], landmarks: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return the group of each landmark: k groups of components."""
    sizes = np.bincount(parts)
    if len(sizes) == k:
        return parts.astype(np.int64)
    means = np.stack([np.bincount(parts, feature) for feature in landmarks.T], axis=1)
    return cut(linkage(pdist(means / sizes[:, None]), method="average"), k)[parts]
