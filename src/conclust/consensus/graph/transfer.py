"""The transfer cut: partitions objects by the leading eigenvectors of their graph with the clusters.

The embedding of the objects, rows of B times a table, is made block by block where k-means reads it.

Where the graph falls into components, no cut between them costs anything, and the eigenvectors are any
rotation of those of the components. So components are divided one by one: of the leading eigenvalues of all,
each gives a part to its component. With more components than parts, components are joined, the
two smallest first: that puts the fewest pairs of objects together that no partition does.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from conclust._progress import stage
from conclust._random import spawn_sequences
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.consensus.graph.kmeans import Points, kmeans_labels
from conclust.exceptions import EnsembleWarning, warn
from conclust.spectra.bipartite import Edges, unit_rows
from conclust.spectra.transfer_cut import ClusterSide
from conclust.spectra.transfer_cut import transfer_cut as solve

Parts: TypeAlias = Ints


def transfer_cut(
    edges: Edges,
    k: int,
    seed: np.random.SeedSequence,
    *,
    n_init: int = 10,
    owner: str,
    mixing: sp.csr_array | None = None,
    joint: bool = False,
) -> tuple[Ints, Floats]:
    """Divide the objects of a bipartite graph into at most `k` parts.

    Parameters
    ----------
    edges : Edges
        Non-negative weights of objects and clusters.
    k : int
        Number of parts.
    seed : SeedSequence
        Seed of the k-means starts.
    n_init : int
        Starts of k-means.
    owner : str
        Name of the estimator, used in warnings.
    mixing : csr_array of shape (T, T), default=None
        W, where the graph is edges W in place of edges.
    joint : bool, default=False
        Whether the points of k-means include the clusters, with objects embedded by the left singular vectors;
        otherwise these are scaled by the singular values, as in the transfer cut.

    Returns
    -------
    tuple of ndarray
        The part of each object, and the leading singular values of the degree-normalised graph. One part, and no
        values, if all weights are 0: no two objects share a cluster.

    Warns
    -----
    EnsembleWarning
        If the graph falls into more components than parts.
    """
    if not edges.sums().any():
        return np.zeros(edges.shape[0], dtype=np.int64), np.empty(0)
    with one_library_thread():
        stage("embedding of the graph")
        side = solve(edges, k, mixing=mixing)
        labels = part_objects(edges, side, k, seed, n_init=n_init, owner=owner, joint=joint)
    return labels, side.values


def part_objects(
    edges: Edges,
    side: ClusterSide,
    k: int,
    seed: np.random.SeedSequence,
    *,
    n_init: int = 10,
    owner: str,
    joint: bool = False,
) -> Parts:
    """Partition objects by k-means on their embedding by the clusters' side of a graph.

    Parameters
    ----------
    edges : Edges
        Weights of objects and clusters.
    side : ClusterSide
        Cluster side of that graph, or of one with more objects.
    k, seed, n_init, owner, joint
        As for `transfer_cut`.

    Returns
    -------
    ndarray of int64 of shape (n,)
        The part of each object.
    """
    stage("k-means on the embedding")
    if side.n_components == 1:
        points = _embedded(edges, side, np.arange(len(side.values)), joint)
        return kmeans_labels(points, k, seed, n_init=n_init)

    def parted(c: int, objects: Ints, own_seed: np.random.SeedSequence) -> Parts:
        columns = np.flatnonzero(side.component_of == c)
        points = _embedded(edges.part(objects), side, columns, joint)
        return kmeans_labels(points, len(columns), own_seed, n_init=n_init)

    component = of_objects(edges, side.components)
    return part_components(component, np.ones(len(component)), k, seed, parted, owner)


def part_components(
    component: Ints,
    mass: Floats,
    k: int,
    seed: np.random.SeedSequence,
    parted: Callable[[int, Ints, np.random.SeedSequence], Parts],
    owner: str,
) -> Parts:
    """Partition objects whose graph has several components, or join these if there are more than parts.

    Parameters
    ----------
    component : ndarray of int64 of shape (n,)
        Component of each object; -1 for objects in no cluster, which join the smallest component.
    mass : ndarray of shape (n,)
        Number of objects that each represents.
    k : int
        Number of parts.
    seed : SeedSequence
        A child of it is given to each component.
    parted : callable
        Function that divides a component: from its number, its objects and a seed it returns labels.
    owner : str
        Name of the estimator, used in warnings.

    Returns
    -------
    ndarray of int64 of shape (n,)
        The part of each object.
    """
    count = int(component.max()) + 1
    labels = np.full(len(component), -1, dtype=np.int64)
    if count < k:
        for c, own_seed in enumerate(spawn_sequences(seed, count)):
            objects = np.flatnonzero(component == c)
            labels[objects] = labels.max() + 1 + parted(c, objects, own_seed)
    else:
        some = component >= 0
        sizes = np.bincount(component[some], mass[some])
        labels[some] = joined(sizes.astype(np.float64), k)[component[some]]
        warn_of_joined(count, k, owner)
    alone = labels < 0
    if alone.any():
        labels[alone] = np.bincount(labels[~alone], mass[~alone]).argmin()
    return labels


def warn_of_joined(count: int, k: int, owner: str) -> None:
    """Warn if components of a graph, `count` of them, were joined into k parts."""
    if 1 < k < count:
        warn(
            f"The graph of objects and clusters falls into {count} components: no partition puts "
            f"objects of two of them together. {owner} joined the smallest until n_clusters={k} were "
            f"left, which the partitions do not support. Use n_clusters={count} to keep them apart.",
            EnsembleWarning,
        )


def cut_of(edges: Edges, labels: Ints) -> float:
    """Return the weight of edges from clusters to objects outside the part with most of the cluster's objects."""
    if edges.shape[1] == 0:
        return 0.0
    shares = edges.shares(labels, int(labels.max()) + 1)
    return float((shares.sum(axis=1) - shares.max(axis=1)).sum())


@dataclass(frozen=True)
class _Embedding:
    """Rows of unit length: those of objects, computed on request, then those of clusters."""

    edges: Edges
    table: Floats
    clusters: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.edges.shape[0] + len(self.clusters), self.table.shape[1]

    def __getitem__(self, some: Any) -> Floats:
        """Return the rows of a slice, or of an array of rising indices."""
        n = self.edges.shape[0]
        if isinstance(some, slice):
            begin, end, _ = some.indices(self.shape[0])
            objects = self.edges.rows(self.table, slice(min(begin, n), min(end, n)), unit=True)
            others = self.clusters[max(0, begin - n) : max(0, end - n)]
        else:
            part = self.edges.part(some[some < n])
            objects = part.rows(self.table, slice(None), unit=True)
            others = self.clusters[some[some >= n] - n]
        return np.vstack([objects, others]) if len(others) else objects


def _embedded(edges: Edges, side: ClusterSide, some: Ints, joint: bool) -> Points:
    """Return the points of k-means: objects by some of the triplets, and clusters if `joint`."""
    # Rows of length about 1 for any scale of the weights: shorter ones are treated as rounding errors.
    scale = np.sqrt(edges.shape[0] / edges.sums().sum())
    loads, values = side.loads[:, some] * scale, side.values[some]
    clusters = side.clusters[:, some]
    clusters = unit_rows(clusters[clusters.any(axis=1)]) if joint else clusters[:0]
    rows = _Embedding(edges, loads if joint else loads * values, clusters)
    return Points(rows, np.broadcast_to(1.0, rows.shape[0]), len(clusters))


def of_objects(edges: Edges, components: Ints) -> Ints:
    """Return the component of each object; -1 for those in no cluster."""
    component_of = np.empty(edges.shape[0], dtype=np.int64)
    begin = 0
    for block in edges.blocks():
        n = block.shape[0]
        rows = np.repeat(np.arange(n), np.diff(block.indptr))
        labels = np.full(n, -1, dtype=np.int64)
        some = block.data > 0
        labels[rows[some]] = components[block.indices[some]]
        component_of[begin : begin + n] = labels
        begin += n
    return component_of


def joined(sizes: Floats, k: int) -> Ints:
    """Join the two smallest groups until k are left; return the resulting group of each.

    Among equally small ones, the last ones.
    """
    heap = [(float(size), -i, [i]) for i, size in enumerate(sizes)]
    heapq.heapify(heap)
    while len(heap) > k:
        (a, first, some), (b, second, others) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (a + b, max(first, second), some + others))
    groups = np.empty(len(sizes), dtype=np.int64)
    for group, (_, _, members) in enumerate(heap):
        groups[members] = group
    return groups
