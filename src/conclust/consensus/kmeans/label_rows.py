"""Clustering the rows of labels: starts, moves of single rows, centroids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._kernels import refine_labels, seed_labels
from conclust._labels import missing_code, noise_code
from conclust._random import spawn_generators, spawn_seeds
from conclust.consensus.kmeans.restarts import Rows, best_start, distinct_rows, few_rows
from conclust.ensemble import Ensemble

__all__ = ["Centroids", "RowClusters", "cluster_rows", "nearest", "new_indicator", "seeded"]


@dataclass(frozen=True)
class RowClusters:
    """Clusters of all objects, and the losses before the first pass and after each."""

    labels: NDArray[np.int64]
    losses: list[float]
    converged: bool


def cluster_rows(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    entropic: bool,
    n_init: int,
    max_iter: int,
    tol: float,
    seed: np.random.SeedSequence,
    threads: int,
) -> RowClusters:
    """Minimise the quadratic or the entropic loss of ``_kernels/labelvec.h``."""
    rows, inverse = distinct_rows(ensemble)
    few, kept = few_rows(rows, inverse, spawn_generators(seed, 1)[0])
    seeds = spawn_seeds(seed, n_init + 1)[1:]
    evidence = _arguments(few)

    def begin(start: int) -> RowClusters:
        labels = np.zeros(len(few), dtype=np.int64)
        seed_labels(*evidence, n_clusters, seeds[start], labels)
        losses, converged = refine_labels(*evidence, n_clusters, entropic, max_iter, tol, labels)
        return RowClusters(labels, losses, converged)

    best = best_start(begin, lambda found: found.losses[-1], n_init, few, threads)
    if few is rows:
        return RowClusters(best.labels[inverse], best.losses, best.converged)
    labels = np.full(len(rows), -1, dtype=np.int64)
    labels[kept] = best.labels
    losses, converged = refine_labels(
        *_arguments(rows), n_clusters, entropic, max_iter, tol, labels
    )
    return RowClusters(labels[inverse], losses, converged)


_Arguments: TypeAlias = tuple[
    NDArray[Any],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int64] | None,
    NDArray[np.int32] | None,
    NDArray[np.float64] | None,
]


def _arguments(rows: Rows) -> _Arguments:
    """Return what the kernels read of the rows."""
    ensemble = rows.ensemble
    codes = np.ascontiguousarray(ensemble.codes)
    weights = np.ascontiguousarray(rows.weights)
    if not ensemble.is_soft:
        return codes, ensemble.offsets, weights, rows.counts, None, None, None
    B = ensemble.indicator.copy()
    B.sort_indices()
    starts, columns = B.indptr.astype(np.int64), B.indices.astype(np.int32)
    return codes, ensemble.offsets, weights, rows.counts, starts, columns, B.data.astype(np.float64)


def seeded(rows: Rows, n_clusters: int, seed: int) -> NDArray[np.int64]:
    """Return for each row the nearest of rows drawn by k-means++."""
    labels = np.zeros(len(rows), dtype=np.int64)
    seed_labels(*_arguments(rows), n_clusters, seed, labels)
    return labels


@dataclass(frozen=True)
class Centroids:
    """How the labels of each cluster's members are spread, partition by partition.

    ``means`` (T, K): the share of label t among the members that its partition observed (that of
    all objects where it observed none of them). ``lengths`` (N, K): the squared length of each
    block, noise counted as labels of their own.
    """

    means: NDArray[np.float64]
    lengths: NDArray[np.float64]

    @staticmethod
    def of(ensemble: Ensemble, labels: NDArray[np.int64]) -> Centroids:
        """Return the centroids of a partition of the objects (labels 0 .. K - 1)."""
        n, k = len(labels), int(labels.max()) + 1
        one_hot = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))
        sums = (ensemble.indicator.T @ one_hot).toarray()
        present = np.stack([np.bincount(labels[seen], minlength=k) for seen in ensemble.present.T])
        apart = np.zeros(present.shape)
        if ensemble.has_noise:
            alone = ensemble.codes == noise_code(ensemble.codes.dtype)
            apart = np.stack([np.bincount(labels[seen], minlength=k) for seen in alone.T])
        unseen = present == 0
        everybody = present.sum(axis=1, keepdims=True)
        sums += np.repeat(unseen, ensemble.cluster_counts, axis=0) * sums.sum(axis=1, keepdims=True)
        apart = apart + unseen * apart.sum(axis=1, keepdims=True)
        observed = present + unseen * everybody
        means = sums / np.repeat(observed, ensemble.cluster_counts, axis=0)
        lengths = np.add.reduceat(means**2, ensemble.offsets[:-1], axis=0) + apart / observed**2
        return Centroids(means, lengths)


def new_indicator(codes: NDArray[Any], offsets: NDArray[np.int64]) -> sp.csr_array:
    """Return the indicator of new objects' codes, by the columns of the fitted ensemble."""
    labelled = codes < noise_code(codes.dtype)
    columns = (codes + offsets[:-1])[labelled]
    starts = np.concatenate([[0], np.cumsum(labelled.sum(axis=1))])
    shape = (len(codes), int(offsets[-1]))
    return sp.csr_array((np.ones(len(columns)), columns, starts), shape=shape)


def nearest(
    codes: NDArray[Any], offsets: NDArray[np.int64], cost: NDArray[np.float64], block: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the cluster of the lowest cost of each new object; -1 where nothing was observed.

    cost (T, K) is that of a label, block (N, K) that of having been observed.
    """
    present = codes != missing_code(codes.dtype)
    total = new_indicator(codes, offsets) @ cost + present @ block
    labels: NDArray[np.int64] = total.argmin(axis=1)
    labels[~present.any(axis=1)] = -1
    return labels
