"""Clustering the rows of labels: starts, moves of single rows, centroids."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._kernels import LabelView, refine_labels, seed_labels
from conclust._labels import indicator_of, missing_code, over_clusters, over_partitions
from conclust._random import seed_sequence
from conclust.consensus.restarts import best_of_restarts
from conclust.ensemble import DistinctRows, Ensemble
from conclust.gram import scaled_gram_norm

__all__ = [
    "Centroids",
    "RowClusters",
    "RowMoves",
    "cluster_rows",
    "nearest",
    "normalized_gram",
    "normalized_norm",
    "normalized_rows",
    "seeded",
    "start_labels",
    "trusted",
]

# How sure a membership is of the labels that it begins with.
_TRUST = 0.8


@dataclass(frozen=True)
class RowClusters:
    """Clusters of rows or objects, and the losses before the first pass and after each."""

    labels: NDArray[np.int64]
    losses: list[float]
    converged: bool


def cluster_rows(
    ensemble: Ensemble,
    search: RowMoves,
    n_init: int,
    seed: np.random.SeedSequence,
    threads: int = 1,
) -> RowClusters:
    """Minimise a loss of ``_kernels/search/label_vectors.h``, quadratic or entropic, from several starts."""
    rows = ensemble.distinct_rows()
    best = best_of_restarts(search, rows, n_init, seed, threads)
    return replace(best, labels=best.labels[rows.inverse])


@dataclass(frozen=True)
class RowMoves:
    """Moves rows until no move lowers the loss: see `best_of_restarts`.

    Attributes
    ----------
    n_clusters : int
        Clusters.
    entropic : bool
        The entropic loss; else the quadratic one.
    max_iter : int
        The most passes over all rows.
    tol : float
        Stop when a pass lowers the loss by less than this share of it.
    """

    n_clusters: int
    entropic: bool
    max_iter: int
    tol: float

    def begin(self, rows: DistinctRows, start: int, seed: int) -> RowClusters:
        """Refine clusters drawn at random."""
        return self._refined(rows, seeded(rows, self.n_clusters, seed))

    def finish(
        self, found: RowClusters, rows: DistinctRows, kept: NDArray[np.int64]
    ) -> RowClusters:
        """Place the other rows, and refine all."""
        labels = np.full(len(rows), -1, dtype=np.int64)
        labels[kept] = found.labels
        return self._refined(rows, labels)

    def loss(self, found: RowClusters) -> float:
        """Return the last loss."""
        return found.losses[-1]

    def _refined(self, rows: DistinctRows, labels: NDArray[np.int64]) -> RowClusters:
        losses, converged = refine_labels(
            _view(rows),
            rows.masses,
            self.n_clusters,
            self.entropic,
            self.max_iter,
            self.tol,
            labels,
        )
        return RowClusters(labels, losses, converged)


def start_labels(
    ensemble: Ensemble, n_clusters: int, n_init: int, random_state: Any, owner: str
) -> NDArray[np.int64]:
    """Return a partition to start at: k-means on label rows, of at most `n_clusters` clusters."""
    moves = RowMoves(n_clusters, entropic=False, max_iter=100, tol=1e-6)
    return cluster_rows(ensemble, moves, n_init, seed_sequence(random_state, owner)).labels


def _view(rows: DistinctRows) -> LabelView:
    """Return the rows as the kernels read them, a weight for every partition."""
    view: LabelView = rows.ensemble.label_view
    return view.reweighted(rows.ensemble.partition_weights)


def seeded(rows: DistinctRows, n_clusters: int, seed: int) -> NDArray[np.int64]:
    """Return for each row the nearest of rows drawn by k-means++."""
    labels = np.zeros(len(rows), dtype=np.int64)
    seed_labels(_view(rows), rows.masses, n_clusters, seed, labels)
    return labels


def trusted(labels: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Return a membership that is rather sure of labels: corners of the simplex are hard to leave."""
    Y = np.full((len(labels), k), (1.0 - _TRUST) / k)
    Y[np.arange(len(labels)), labels] += _TRUST
    return Y


@dataclass(frozen=True)
class Centroids:
    """The distribution of the labels in each cluster, partition by partition.

    ``means`` (T, K): the share of label t among the cluster's objects that its partition observed
    (among all objects where the partition observed none of the cluster's). ``lengths`` (N, K): the
    squared length of each block; every noise object counts as a label of its own.
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
            apart = np.stack([np.bincount(labels[own], minlength=k) for own in ensemble.noise.T])
        unseen = present == 0
        everybody = present.sum(axis=1, keepdims=True)
        sums += over_clusters(unseen, ensemble.offsets) * sums.sum(axis=1, keepdims=True)
        apart = apart + unseen * apart.sum(axis=1, keepdims=True)
        observed = present + unseen * everybody
        means = sums / over_clusters(observed, ensemble.offsets)
        lengths = over_partitions(means**2, ensemble.offsets) + apart / observed**2
        return Centroids(means, lengths)


def normalized_rows(ensemble: Ensemble) -> sp.csr_array:
    """Return A with AA' the share of the (weighted) partitions that put two objects together."""
    return sp.csr_array(ensemble.indicator.multiply(_column_scale(ensemble)))


def normalized_gram(ensemble: Ensemble) -> sp.csr_array:
    """Return A'A of `normalized_rows`."""
    scale = sp.diags_array(_column_scale(ensemble))
    return sp.csr_array(scale @ ensemble.gram @ scale)


def normalized_norm(ensemble: Ensemble) -> float:
    """Return the squared norm of A'A, which AA' has too."""
    return scaled_gram_norm(ensemble, _column_scale(ensemble))


def _column_scale(ensemble: Ensemble) -> NDArray[np.float64]:
    total = ensemble.partition_weights.sum()
    return np.asarray(np.sqrt(ensemble.column_weights / total))


def nearest(
    codes: NDArray[Any], offsets: NDArray[np.int64], cost: NDArray[np.float64], block: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the cluster of the lowest cost of each new object; -1 where nothing was observed.

    ``cost`` (T, K) is the cost of each label, ``block`` (N, K) the cost of being observed at all.
    """
    present = codes != missing_code(codes.dtype)
    total = indicator_of(codes, offsets) @ cost + present @ block
    labels: NDArray[np.int64] = total.argmin(axis=1)
    labels[~present.any(axis=1)] = -1
    return labels
