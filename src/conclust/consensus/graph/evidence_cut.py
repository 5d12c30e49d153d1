"""The normalised cut of weighted evidence, by its leading eigenvectors and without a matrix of objects.

S = A A' has a row for each two objects, A = diag(z) B diag(sqrt w) one for each object: products with S are
two products with A. Objects with the same labels are one vertex, weighted by their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conclust._arrays.ratios import inverse_or_zero, ratio
from conclust._progress import stage
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.consensus.graph.kmeans import Points, kmeans_labels
from conclust.consensus.graph.transfer import of_objects, part_components
from conclust.ensemble import Ensemble
from conclust.spectra.bipartite import Edges, edges_of, unit_rows
from conclust.spectra.transfer_cut import components_of, leading_eigenvectors
from conclust.trees.agglomeration import starting_clusters


def evidence_cut(
    ensemble: Ensemble,
    cluster_weights: Floats,
    k: int,
    seed: np.random.SeedSequence,
    *,
    n_init: int,
    owner: str,
) -> tuple[Ints, Floats]:
    """Divide the objects by the leading eigenvectors of D^-1/2 S D^-1/2, D the degrees of S.

    S_ij is the weight of the clusters of both objects / the geometric mean of the weights of the partitions
    that observed i and of those that observed j; S_ii = 1. The graph is cut component by component, as
    `transfer_cut` does.

    Parameters
    ----------
    ensemble : Ensemble
        The observed objects.
    cluster_weights : ndarray of shape (T,)
        Weight of each cluster, multiplied by the weight of its partition.
    k : int
        Number of parts.
    seed : SeedSequence
        Seed of the k-means starts.
    n_init : int
        Number of starts of k-means.
    owner : str
        Name of the estimator, used in warnings.

    Returns
    -------
    tuple of ndarray
        Part of each object, and the leading eigenvalues in decreasing order.
    """
    start = starting_clusters(ensemble)
    distinct = start.ensemble
    weights = distinct.column_weights
    # edges_of multiplies by the weights of the partitions once, but their root is needed.
    root = np.sqrt(ratio(cluster_weights, weights))
    edges = edges_of(distinct, root)
    if not edges.sums().any():  # noise only: no two objects share a cluster
        return np.zeros(len(start.inverse), dtype=np.int64), np.ones(1)
    observed = np.sqrt(distinct.observed_weights)
    scale = inverse_or_zero(observed)
    with one_library_thread():
        component = of_objects(edges, components_of(edges))
        count = int(component.max()) + 1
        graph = _Evidence(edges, scale, start.masses)
        stage("embedding of the graph")
        spectra = [
            graph.part(np.flatnonzero(component == c)).leading(max(1, k - count + 1))
            for c in range(count)
        ]
        values = np.concatenate([values_of_component for values_of_component, _ in spectra])
        place = np.concatenate(
            [np.arange(len(values_of_component)) for values_of_component, _ in spectra]
        )
        of = np.repeat(
            np.arange(count), [len(values_of_component) for values_of_component, _ in spectra]
        )
        # Eigenvalues of components precede others that are 1 up to rounding.
        chosen = np.lexsort((of, place > 0, -values.round(9)))[:k]
        stage("k-means on the embedding")

        def parted(c: int, objects: Ints, own_seed: np.random.SeedSequence) -> Ints:
            vectors = spectra[c][1][:, : np.count_nonzero(of[chosen] == c)]
            points = Points(unit_rows(np.ascontiguousarray(vectors)), start.masses[objects])
            return kmeans_labels(points, vectors.shape[1], own_seed, n_init=n_init)

        labels = part_components(component, start.masses, k, seed, parted, owner)
    return labels[start.inverse], values[chosen]


@dataclass(frozen=True)
class _Evidence:
    """S of some distinct rows: A is diag(scale) times the edges, and each counts by its mass."""

    edges: Edges
    scale: Floats
    mass: Floats

    def part(self, some: Ints) -> _Evidence:
        """Return the graph of some rows."""
        return _Evidence(self.edges.part(some), self.scale[some], self.mass[some])

    def leading(self, k: int) -> tuple[Floats, Floats]:
        """Return the leading eigenvalues of a connected graph, from 1 on, and their vectors."""
        diagonal = 1.0 - self.edges.squares() * self.scale**2  # the difference of S_ii from 1
        sums = self.edges.sums(self.scale * self.mass)
        degrees = self.scale * self.edges.times(sums) + diagonal
        factor = self.scale * np.sqrt(self.mass / degrees)
        loops = diagonal / degrees

        def product(v: Floats) -> Floats:
            across = self.edges.sums(factor * v)
            return np.asarray(factor * self.edges.times(across) + loops * v)

        values, vectors = leading_eigenvectors(product, len(factor), min(k, len(factor)))
        values = np.minimum(values, 1.0)
        values[0] = 1.0
        return values, vectors
