"""The transfer cut of objects that are read in blocks: the steps of ``consensus/graph/transfer.py``, over sums.

The matrix of the clusters is added up in one pass; k-means goes over the blocks once an iteration. Blocks
keep the nearest center of each object, so that the last iteration is the cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._arrays.rows import inverse_or_zero
from conclust._kernels import lloyd_round
from conclust._random import spawn_generators, spawn_sequences
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust._validation import refuse
from conclust.blocks.facts import Part
from conclust.blocks.finishing import Answer
from conclust.blocks.labels import LabelBlocks, added
from conclust.blocks.runners import Visit
from conclust.consensus.graph.hbgf import HBGF
from conclust.consensus.graph.kmeans import MAX_ITER, Points, kmeans, nearest_center
from conclust.consensus.graph.lwgp import LWGP
from conclust.consensus.graph.transfer import joined, warn_of_joined
from conclust.exceptions import DenseLimitError
from conclust.similarity import cluster_certainty
from conclust.spectra.bipartite import LabelEdges, unit_rows
from conclust.spectra.transfer_cut import ClusterSide, numbered_components, transfer_cut_of_products

# Maximum number of clusters of all partitions for which their matrix is made.
_HELD = 4_096
_BLOCK = 1 << 14
_LABEL = 4  # bytes
# Number of objects on which the starts of k-means run.
_SAMPLE = 5_000
# Number of candidate objects for the center of an empty part.
_FAR = 8


@dataclass(frozen=True)
class _Cut:
    """The rule that partitions objects, apart from the nearest center in a component, which the blocks keep.

    Attributes
    ----------
    weights : ndarray of shape (T,)
        Weights of the edges to each cluster.
    components : ndarray of int64 of shape (T,)
        Component of each cluster.
    first : ndarray of int64 of shape (n_components,)
        The first part of each component.
    count : int
        Number of parts.
    alone : int
        Part of objects in no cluster.
    """

    weights: Floats
    components: Ints
    first: Ints
    count: int
    alone: int


@dataclass(frozen=True)
class _Centers:
    """A round of Lloyd: the state of one component's k-means."""

    centers: Floats
    sums: Floats
    totals: Floats
    n_iter: int
    done: bool


def fit(model: HBGF | LWGP, labels: LabelBlocks, seed: np.random.SeedSequence) -> Answer:
    """Divide objects that are read in blocks: see ``transfer.transfer_cut``.

    Parameters
    ----------
    model : HBGF or LWGP
        Estimator, whose attributes are set.
    labels : LabelBlocks
        The objects.
    seed : SeedSequence
        Seed of the k-means starts.

    Raises
    ------
    DenseLimitError
        If there are more than 4,096 clusters.
    """
    weights, owner, joint = labels.column_weights, type(model).__name__, False
    if isinstance(model, LWGP):
        model.certainty_ = cluster_certainty(labels, model.theta, normalized=model.normalized)
        weights = weights * model.certainty_
    elif model.partitioner != "spectral":
        advice = "The balanced partitioners need all labels at once: LabelStore(...).ensemble()."
        expected = "'spectral' with labels in blocks"
        refuse("partitioner", "HBGF", expected, model.partitioner, advice)
    else:
        joint = model.joint
    T = len(weights)
    if T > _HELD:
        raise DenseLimitError(
            f"{owner} on labels in blocks makes a matrix of all clusters, of at most {_HELD:,}. The "
            f"partitions have {T:,}: use fewer or coarser ones."
        )
    if not (weights * labels.cluster_sizes).any():  # noise only: no two objects share a cluster
        model.singular_values_, model.objective_ = np.empty(0), 0.0
        return Answer(_together)
    with one_library_thread():
        (inner,) = labels.total("the graph of the clusters", _inner, weights)
        degrees = weights * labels.cluster_sizes

        def components() -> Ints:
            has_weight = (weights > 0).astype(np.float64)
            links = sp.csr_array(
                sp.diags_array(has_weight) @ labels.gram @ sp.diags_array(has_weight)
            )
            links.eliminate_zeros()
            return numbered_components(links, degrees)

        side = transfer_cut_of_products(inner, degrees, model.n_clusters, components)
        nearest = _Nearest(labels)
        cut = _parted(nearest, weights, side, model.n_clusters, seed, model.n_init, owner, joint)
        (shares,) = added(nearest.visit("the cut", _shares, cut))
    model.singular_values_ = side.values
    model.objective_ = float((shares.sum(axis=1) - shares.max(axis=1)).sum())
    return Answer(_kept_parts, kept=nearest.kept, step=nearest.step)


class _Nearest:
    """Visits to the blocks, each of which keeps one number per object, the result of the last visit."""

    def __init__(self, labels: LabelBlocks) -> None:
        self.labels = labels
        self.kept = labels.keeping(_LABEL, "parts")
        self.step = 0

    def visit(self, what: str, visit: Visit, *shared: Any) -> list[Any]:
        """Return the results of a visit, block by block."""
        self.step += 1
        results = self.labels.visit(what, visit, self.kept, self.step, shared=shared)
        self.kept.settle(self.step)
        return results


def _parted(
    nearest: _Nearest,
    weights: Floats,
    side: ClusterSide,
    k: int,
    seed: np.random.SeedSequence,
    n_init: int,
    owner: str,
    joint: bool,
) -> _Cut:
    """Find the parts of all components.

    Parameters
    ----------
    nearest : _Nearest
        The objects, and the center of each.
    weights : ndarray of shape (T,)
        Weights of the edges to each cluster.
    side : ClusterSide
        The embedding of the clusters.
    k : int
        Number of parts.
    seed : SeedSequence
        Seed of the k-means starts.
    n_init : int
        Starts of k-means.
    owner : str
        Name of the estimator in warnings.
    joint : bool
        Whether clusters are among the points.
    """
    labels = nearest.labels
    count = side.n_components
    sizes, alone = _sizes(labels, weights, side)
    totals = sizes.sum(axis=0)
    if count > 1 and count >= k:
        warn_of_joined(count, k, owner)
        group = joined(totals.astype(np.float64), k)
        components = np.where(side.components >= 0, group[side.components], -1)
        sizes_of_parts = np.bincount(group, totals, minlength=int(group.max()) + 1)
        joint_parts = len(sizes_of_parts)
        return _Cut(
            weights, components, np.arange(joint_parts), joint_parts, int(sizes_of_parts.argmin())
        )
    seeds = [seed] if count == 1 else spawn_sequences(seed, count)
    scale = np.sqrt(labels.n_samples / (weights * labels.cluster_sizes).sum())
    parts: list[int] = []
    of_parts: list[int] = []
    for c in range(count):
        columns = np.flatnonzero(side.component_of == c)
        table = side.loads[:, columns] * scale * (1.0 if joint else side.values[columns])
        clusters = side.clusters[side.components == c][:, columns]
        points = unit_rows(clusters[clusters.any(axis=1)]) if joint else clusters[:0]
        if len(columns) <= 1:
            parts.append(1)
            of_parts.append(int(totals[c]))
            continue
        part = _Component(weights, side.components, c, table, points)
        # As in memory: a graph of one component may have fewer singular values than parts.
        n_parts = k if count == 1 else len(columns)
        centers_found = _kmeans(nearest, part, n_parts, seeds[c], n_init, sizes[:, c])
        parts.append(len(centers_found.centers))
        of_parts += _objects_of(centers_found, points).astype(np.int64).tolist()
    first = np.concatenate([[0], np.cumsum(parts)[:-1]]).astype(np.int64)
    smallest = 0
    if alone:
        held = np.array(of_parts, dtype=np.float64)
        smallest = int(np.where(held > 0, held, np.inf).argmin())
    return _Cut(weights, side.components, first, sum(parts), smallest)


def _sizes(labels: LabelBlocks, weights: Floats, side: ClusterSide) -> tuple[Ints, int]:
    """Return the number of objects of each component in each block, and the number in none."""
    count, facts = side.n_components, labels.facts
    whole = not (labels.has_missing or labels.has_noise or facts.n_unobserved)
    if whole and count == 1 and (weights > 0).all():
        ends = np.minimum(np.arange(labels.n_blocks + 1) * facts.block_rows, facts.n_samples)
        return np.diff(ends)[:, np.newaxis], 0
    sizes, alone = np.zeros((labels.n_blocks, count), dtype=np.int64), 0
    for block, members, left in labels.each("components", _members, weights, side.components):
        sizes[block] = members
        alone += left
    return sizes, alone


@dataclass(frozen=True)
class _Component:
    """A component of the graph: its number, the embedding of its objects, and its clusters as points."""

    weights: Floats
    components: Ints
    number: int
    table: Floats
    clusters: Floats


def _kmeans(
    nearest: _Nearest,
    part: _Component,
    k: int,
    seed: np.random.SeedSequence,
    n_init: int,
    sizes: Ints,
) -> _Centers:
    """Run k-means on the objects of a component: starts run on some of them, the best continues with all.

    Parameters
    ----------
    nearest : _Nearest
        The objects, and the center of each.
    part : _Component
        Component to cut.
    k : int
        Number of its parts.
    seed : SeedSequence
        Seed of the starts.
    n_init : int
        Starts.
    sizes : ndarray of int64 of shape (n_blocks,)
        Its objects in each block.
    """
    labels = nearest.labels
    n = int(sizes.sum())
    chosen = np.arange(n)
    if n + len(part.clusters) > _SAMPLE and n > _SAMPLE:
        chosen = np.sort(spawn_generators(seed, 1)[0].choice(n, _SAMPLE, replace=False))
    ends = np.concatenate([[0], np.cumsum(sizes)])
    cuts = np.searchsorted(chosen, ends)
    wanted = [chosen[cuts[b] : cuts[b + 1]] - ends[b] for b in range(len(sizes))]

    rows = np.vstack([*labels.each("a sample", _rows_of, part, wanted), part.clusters])
    points = Points(rows, np.ones(len(rows)), len(part.clusters))
    state = _round(nearest, part, kmeans(points, k, seed, n_init=n_init), 0, None)
    while not state.done and state.n_iter < MAX_ITER:
        state = _next(nearest, part, state)
    return state


def _next(nearest: _Nearest, part: _Component, state: _Centers) -> _Centers:
    filled = state.totals > 0
    centers = state.centers.copy()
    centers[filled] = state.sums[filled] / state.totals[filled, None]
    lacking = np.flatnonzero(~filled)
    if lacking.size:
        # A center without rows moves to the row farthest from its own center.
        far_objects = list(nearest.labels.each("far objects", _farthest, part, state.centers))
        distances = np.concatenate([far for far, _ in far_objects])
        rows = np.concatenate([rows for _, rows in far_objects])
        farthest = np.argsort(-distances, kind="stable")[: len(lacking)]
        centers[lacking[: len(farthest)]] = rows[farthest]
    return _round(nearest, part, centers, state.n_iter + 1, state)


def _round(
    nearest: _Nearest, part: _Component, centers: Floats, n_iter: int, before: _Centers | None
) -> _Centers:
    sums, totals = added(nearest.visit("k-means", _lloyd, part, centers))
    if len(part.clusters):
        _, more, count = _sums(part.clusters, centers)
        sums, totals = sums + more, totals + count
    same = before is not None and np.array_equal(totals, before.totals)
    done = same and before is not None and bool(np.allclose(sums, before.sums, rtol=1e-12, atol=0))
    return _Centers(centers, sums, totals, n_iter, done)


def _sums(rows: Floats, centers: Floats) -> tuple[Ints, Floats, Floats]:
    """Return the nearest center of each row, and the sums and numbers of the rows of each center."""
    sums, totals = np.zeros(centers.shape), np.zeros(len(centers))
    nearest, distances = np.full(len(rows), -1, dtype=np.int64), np.empty(len(rows))
    lloyd_round(
        np.ascontiguousarray(rows),
        np.ones(len(rows)),
        np.ascontiguousarray(centers),
        nearest,
        distances,
        sums,
        totals,
    )
    return nearest, sums, totals


def _objects_of(centers: _Centers, clusters: Floats) -> Floats:
    """Return the number of objects of each center, without points that are clusters."""
    if not len(clusters):
        return centers.totals
    return centers.totals - _sums(clusters, centers.centers)[2]


# -- tasks of blocks


def _together(part: Part, stored: None) -> Ints:
    """Return one part for all objects."""
    return np.zeros(part.ensemble.n_samples, dtype=np.int64)


def _inner(part: Part, weights: Floats) -> tuple[Floats]:
    """Return B' D_x^-1 B of a block."""
    edges = LabelEdges(part.ensemble, weights)
    degrees = edges.times(np.ones(len(weights)))
    return (edges.inner(inverse_or_zero(degrees)),)


def _component_of(part: Part, weights: Floats, components: Ints) -> Any:
    """Return the component of each object, from any of its clusters with weight; -1 if there is none."""
    ensemble = part.ensemble
    whole = not (ensemble.has_missing or ensemble.has_noise)
    if whole and components.max() == 0 and (weights > 0).all():
        return np.zeros(ensemble.n_samples, dtype=np.int64)
    table = np.where(weights > 0, components, -1).astype(np.int64)
    component_of = np.full(ensemble.n_samples, -1, dtype=np.int64)
    for u in range(ensemble.n_partitions):
        partition_table = table[ensemble.offsets[u] : ensemble.offsets[u + 1]]
        codes = ensemble.codes[:, u]
        some = codes < len(partition_table)
        component_of[some] = np.maximum(component_of[some], partition_table[codes[some]])
    return component_of


def _members(part: Part, weights: Floats, components: Ints) -> tuple[int, Ints, int]:
    """Return the block, the number of objects of each component, and the number in none."""
    component_of = _component_of(part, weights, components)
    count = int(components.max()) + 1
    return (
        part.index,
        np.bincount(component_of[component_of >= 0], minlength=count),
        int((component_of < 0).sum()),
    )


def _blocks_of(part: Part, component: _Component) -> Iterator[tuple[Bools, slice, Floats]]:
    """Yield chunks of objects: a mask of those in the component, their slice, and their rows."""
    edges = LabelEdges(part.ensemble, component.weights)
    component_of = _component_of(part, component.weights, component.components)
    mine = component_of == component.number
    for begin in range(0, part.ensemble.n_samples, _BLOCK):
        some = slice(begin, begin + _BLOCK)
        rows = edges.rows(component.table, some, unit=True)
        in_component = mine[some]
        yield in_component, some, rows if in_component.all() else rows[in_component]


def _rows_of(part: Part, component: _Component, wanted: list[Ints]) -> Floats:
    """Return the rows of some objects of a component."""
    component_of = _component_of(part, component.weights, component.components)
    mine = np.flatnonzero(component_of == component.number)[wanted[part.index]]
    some = LabelEdges(part.ensemble.part(mine), component.weights)
    return some.rows(component.table, slice(None), unit=True)


def _lloyd(
    part: Part, stored: NDArray[np.int32] | None, component: _Component, centers: Floats
) -> tuple[NDArray[np.int32], tuple[Floats, Floats]]:
    """Return the nearest center of each object, and the sums and numbers of the rows of each center.

    Objects of other components keep their values.
    """
    nearest = np.zeros(part.ensemble.n_samples, dtype=np.int32) if stored is None else stored.copy()
    sums, totals = np.zeros(centers.shape), np.zeros(len(centers))
    for mine, some, rows in _blocks_of(part, component):
        near, of_rows, count = _sums(rows, centers)
        nearest[some][mine] = near
        sums += of_rows
        totals += count
    return nearest, (sums, totals)


def _farthest(part: Part, component: _Component, centers: Floats) -> tuple[Floats, Floats]:
    """Return the rows of a block farthest from their centers, and their distances."""
    distances, far_rows = np.empty(0), np.empty((0, centers.shape[1]))
    for _, _, rows in _blocks_of(part, component):
        far = nearest_center(rows, centers)[1]
        distances, far_rows = np.concatenate([distances, far]), np.vstack([far_rows, rows])
        order = np.argsort(-distances, kind="stable")[: max(_FAR, len(centers))]
        distances, far_rows = distances[order], far_rows[order]
    return distances, far_rows


def _shares(
    part: Part, stored: NDArray[np.int32] | None, cut: _Cut
) -> tuple[NDArray[np.int32], tuple[Floats]]:
    """Return the part of each object, and the weight of the edges from each part to each cluster."""
    component_of = _component_of(part, cut.weights, cut.components)
    labels = np.where(
        component_of >= 0, cut.first[component_of] + (0 if stored is None else stored), cut.alone
    )
    shares = LabelEdges(part.ensemble, cut.weights).shares(labels, cut.count)
    return labels.astype(np.int32), (shares,)


def _kept_parts(part: Part, stored: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the stored part of each object."""
    return stored
