"""Algorithms each run for given numbers of clusters: "mixed", and lists of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from conclust._random import spawn_seeds
from conclust._types import Floats
from conclust.generation.members import Found, Recipe, Sizes, clip, count_distinct, drawn_points
from conclust.spectra.bipartite import some_eigenpairs
from conclust.trees.agglomeration import clusters_at

Linkage: TypeAlias = Literal["single", "average", "ward", "centroid"]
TREES: tuple[Linkage, ...] = ("single", "average", "ward", "centroid")
_DIRECT = 1000  # maximum number of objects for which the full accuracy of LAPACK is cheap


@dataclass(frozen=True)
class TreeRecipe:
    """Agglomerative clustering on Euclidean distances: one tree, cut once per member."""

    name: Linkage

    def run(  # noqa: D102
        self, points: Floats, n_clusters: Sequence[int | None], rng: np.random.Generator
    ) -> list[Found]:
        from scipy.cluster.hierarchy import linkage
        from scipy.spatial.distance import pdist

        # Not linkage(points): points may look like a matrix of distances, and SciPy would warn.
        tree = linkage(pdist(points), method=self.name)
        return [Found(clusters_at(tree, k)) for k in n_clusters if k is not None]


@dataclass(frozen=True)
class SpectralRecipe:
    """Normalised spectral clustering of Ng, Jordan & Weiss (2001): one embedding for all members.

    The affinity of two points is exp(-d^2 / (2 sigma^2)) with sigma^2 the median squared distance
    (over the pairs that differ, if most do not).
    """

    name: str = "spectral"
    n_init: int = 10

    def run(  # noqa: D102
        self, points: Floats, n_clusters: Sequence[int | None], rng: np.random.Generator
    ) -> list[Found]:
        from sklearn.cluster import KMeans

        sizes = [k for k in n_clusters if k is not None]
        vectors = _leading_vectors(_normalised_affinity(points), max(sizes), rng)
        labellings = []
        for k in sizes:
            rows = vectors[:, :k]
            length = np.linalg.norm(rows, axis=1, keepdims=True)
            rows = rows / np.maximum(length, np.finfo(np.float64).tiny)
            seed = int(rng.integers(2**31 - 1))
            labellings.append(
                Found(KMeans(k, n_init=self.n_init, random_state=seed).fit(rows).labels_)
            )
        return labellings


def _normalised_affinity(points: Floats) -> Floats:
    from scipy.spatial.distance import pdist, squareform

    squared = pdist(points, "sqeuclidean")
    scale = float(np.median(squared))
    if scale == 0 and squared.any():
        scale = float(np.median(squared[squared > 0]))
    if scale > 0:
        squared /= -2 * scale
    affinity = squareform(np.exp(squared, out=squared), checks=False)
    # The affinity of an object with itself: an outlier without other affinities is a separate component.
    np.fill_diagonal(affinity, 1.0)
    shrink = 1 / np.sqrt(affinity.sum(axis=1))
    affinity *= shrink
    affinity *= shrink[:, None]
    return affinity


def _leading_vectors(matrix: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Return the eigenvectors of the k largest eigenvalues, largest first."""
    n = len(matrix)
    start = rng.uniform(-1, 1, n)  # drawn in both cases, so that the k-means seeds stay the same
    if n > max(_DIRECT, 2 * k):
        try:
            values, vectors = eigsh(matrix, k, which="LA", v0=start, tol=1e-9)
        except (
            ArpackNoConvergence
        ):  # leading eigenvalues are nearly equal, so a dense solver is used
            pass
        else:
            return np.asarray(vectors[:, np.argsort(-values, kind="stable")])
    return np.asarray(some_eigenpairs(matrix, n - k, n)[1][:, ::-1])


# Algorithms of "mixed" that use all pairs of objects: one tree, or one embedding, serves all numbers.
ALL_PAIRS: dict[str, Recipe] = {
    **{name: TreeRecipe(name) for name in TREES},
    "dense_spectral": SpectralRecipe(),
}


def mixed_numbers(points: Floats, sizes: Sizes, root: np.random.SeedSequence) -> tuple[int, ...]:
    """Return the numbers of clusters of "mixed": 2 .. min(50, max(10, cube root of n)), as each costs a run of six algorithms."""
    wide = range(2, min(50, max(10, round(sizes.n ** (1 / 3)))) + 1)
    seeds = spawn_seeds(root, len(ALL_PAIRS) + len(wide))
    # A tree would separate equal points at random, so there are no more clusters than distinct points were drawn.
    distinct = min(
        count_distinct(drawn_points(points, sizes.n_objects, sizes.n_features, seed)[0], wide.stop)
        for seed in seeds
    )
    return tuple(clip(wide, distinct))
