"""Clustering the rows of labels: starts, moves of single rows, centroids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._kernels import LabelView, cluster_sums, refine_labels, seed_labels
from conclust._random import seed_sequence
from conclust._types import Floats, Ints
from conclust.consensus.restarts import best_of_restarts
from conclust.ensemble import DistinctRows, Ensemble
from conclust.ensemble.labels import (
    indicator_of,
    missing_code,
    one_hot,
    over_clusters,
    over_partitions,
)
from conclust.spectra.gram import scaled_gram_norm

# A label that occurs in no object of a cluster must have a high but finite cost.
SMALL = 1e-10

Spread: TypeAlias = Literal["quadratic", "entropic", "norm", "cut"]  # in the order of the kernel

# Initial membership of the given labels.
_TRUST = 0.8


@dataclass(frozen=True)
class RowClusters:
    """Clusters of rows or objects, and the losses before the first pass and after each."""

    labels: Ints
    losses: list[float]
    converged: bool


@dataclass(frozen=True)
class RowLoss:
    """A loss of ``_kernels/search/label_vectors.h``.

    Attributes
    ----------
    spread : {"quadratic", "entropic", "norm", "cut"}
        Distance of a cluster's rows from their mean.
    power : float
        Exponent of the norm: above 1, at most 16.
    """

    spread: Spread = "quadratic"
    power: float = 2.0


@dataclass(frozen=True)
class RowMoves:
    """Moves rows until no move lowers the loss: see `best_of_restarts`.

    Attributes
    ----------
    n_clusters : int
        Number of clusters.
    criterion : RowLoss
        Criterion to minimise.
    max_iter : int
        Maximum number of passes over all rows.
    tol : float
        Stop when a pass lowers the loss by less than this share of it.
    """

    n_clusters: int
    criterion: RowLoss
    max_iter: int
    tol: float

    def begin(self, rows: DistinctRows, start: int, seed: int) -> RowClusters:
        """Refine clusters drawn at random."""
        return self._refined(rows, seeded(rows, self.n_clusters, seed))

    def finish(self, result: RowClusters, rows: DistinctRows, chosen: Ints) -> RowClusters:
        """Place the other rows, and refine the whole."""
        labels = np.full(len(rows), -1, dtype=np.int64)
        labels[chosen] = result.labels
        return self._refined(rows, labels)

    def loss(self, result: RowClusters) -> float:
        """Return the last loss."""
        return result.losses[-1]

    def _refined(self, rows: DistinctRows, labels: Ints) -> RowClusters:
        losses, converged = refine_labels(
            _view(rows),
            rows.masses,
            self.n_clusters,
            get_args(Spread).index(self.criterion.spread),
            self.criterion.power,
            rows.degrees if self.criterion.spread == "cut" else np.zeros(0),
            self.max_iter,
            self.tol,
            labels,
        )
        return RowClusters(labels, losses, converged)


def start_labels(
    ensemble: Ensemble, n_clusters: int, n_init: int, random_state: Any, owner: str
) -> Ints:
    """Return a starting partition: k-means on label rows by relative entropy, with at most `n_clusters` clusters."""
    moves = RowMoves(n_clusters, RowLoss("entropic"), max_iter=100, tol=1e-6)
    rows = ensemble.distinct_rows()
    best = best_of_restarts(moves, rows, n_init, seed_sequence(random_state, owner), 1)
    return best.labels[rows.inverse]


def _view(rows: DistinctRows) -> LabelView:
    """Return the rows as the kernels read them, a weight for every partition."""
    view: LabelView = rows.ensemble.label_view
    return view.reweighted(rows.ensemble.partition_weights)


def seeded(rows: DistinctRows, n_clusters: int, seed: int) -> Ints:
    """Return for each row the nearest one among rows drawn by k-means++."""
    labels = np.zeros(len(rows), dtype=np.int64)
    seed_labels(_view(rows), rows.masses, n_clusters, seed, labels)
    return labels


def trusted(labels: Ints, k: int) -> Floats:
    """Return a membership close to labels but inside the simplex, whose corners are hard to leave."""
    Y = np.full((len(labels), k), (1.0 - _TRUST) / k)
    Y[np.arange(len(labels)), labels] += _TRUST
    return Y


@dataclass(frozen=True)
class Centroids:
    """The distribution of the labels in each cluster, partition by partition.

    Attributes
    ----------
    means : ndarray of shape (T, K)
        Share of each label among the objects of the cluster that its partition observed (among all objects if it
        observed none of them).
    shares : ndarray of shape (N, K)
        The share of the cluster among the objects that a partition observed.
    noise : ndarray of shape (N, K)
        Number of noise objects in the cluster; each counts as a separate label.
    alone : ndarray of shape (N, K)
        The share of each of these labels.
    offsets : ndarray of shape (N + 1,)
        The first row of ``means`` of each partition.
    sums : ndarray of shape (T, K)
        Number of objects of each cluster with each label.
    """

    means: Floats
    shares: Floats
    noise: Floats
    alone: Floats
    offsets: Ints
    sums: Floats

    @staticmethod
    def of(ensemble: Ensemble, labels: Ints) -> Centroids:
        """Return the centroids of a partition of the objects (labels 0 .. K - 1)."""
        k = int(labels.max()) + 1
        if ensemble.is_soft:
            sums = (ensemble.indicator.T @ one_hot(labels, k)).toarray()
        else:
            sums = np.empty((int(ensemble.offsets[-1]), k))
            cluster_sums(ensemble.label_view, None, labels, sums)
        if ensemble.has_missing:
            observers = [np.bincount(labels[mask], minlength=k) for mask in ensemble.present.T]
            present = np.stack(observers)
        else:
            present = np.tile(np.bincount(labels), (ensemble.n_partitions, 1))
        noise = np.zeros(present.shape)
        if ensemble.has_noise:
            noise = np.stack([np.bincount(labels[mask], minlength=k) for mask in ensemble.noise.T])
        return Centroids.of_sums(sums, present, noise, ensemble.offsets)

    @staticmethod
    def of_sums(
        sums: Floats, present: NDArray[Any], noise: NDArray[Any], offsets: Ints
    ) -> Centroids:
        """Return the centroids from the number of objects of each cluster with each label.

        Parameters
        ----------
        sums : ndarray of shape (T, K)
            Number of objects of each cluster with each label.
        present, noise : ndarray of shape (N, K)
            Number of objects of each cluster that each partition observed, and that are noise in it.
        offsets : ndarray of shape (N + 1,)
            The first label of each partition.
        """
        none = present == 0
        # A partition without observations among these objects cannot separate clusters.
        in_all = np.maximum(present.sum(axis=1, keepdims=True), 1)
        filled = sums + over_clusters(none, offsets) * sums.sum(axis=1, keepdims=True)
        noise = noise + none * noise.sum(axis=1, keepdims=True)
        observed = present + none * in_all
        means = filled / over_clusters(observed, offsets)
        return Centroids(means, present / in_all, noise, 1.0 / observed, offsets, sums)

    @property
    def lengths(self) -> Floats:
        """The squared length of each block (N, K)."""
        return self.sums_of(np.square)

    def of_all(self) -> Centroids:
        """Return the centroid of all objects, as if they were one cluster."""
        present = over_clusters(self.shares, self.offsets)
        held = np.where(self.shares > 0, self.noise, 0.0).sum(axis=1, keepdims=True)
        alone = (self.shares * self.alone).max(axis=1, keepdims=True)  # one over all observed
        return Centroids(
            (self.means * present).sum(axis=1, keepdims=True),
            self.shares.sum(axis=1, keepdims=True),
            held,
            alone,
            self.offsets,
            self.sums.sum(axis=1, keepdims=True),
        )

    def relative(self, to: Floats) -> Floats:
        """Return the shares of the labels (T, K) over a number for each block (N, K)."""
        return np.asarray(self.means / over_clusters(to, self.offsets))

    def sums_of(self, function: Callable[[Floats], Floats]) -> Floats:
        """Return the sum over the labels of each block (N, K) of a function of their shares."""
        apart = self.noise * function(self.alone)
        return np.asarray(over_partitions(function(self.means), self.offsets) + apart)


def normalized_rows(ensemble: Ensemble) -> sp.csr_array:
    """Return A with AA' the share of the (weighted) partitions that put two objects together."""
    return _scaled(ensemble.indicator, None, _column_scale(ensemble))


def normalized_gram(ensemble: Ensemble) -> sp.csr_array:
    """Return A'A of `normalized_rows`."""
    scale = _column_scale(ensemble)
    return _scaled(ensemble.gram, scale, scale)


def _scaled(matrix: sp.csr_array, rows: Floats | None, columns: Floats) -> sp.csr_array:
    """Return a matrix with its rows and columns multiplied."""
    data = matrix.data
    if rows is not None:
        data = data * np.repeat(rows, np.diff(matrix.indptr))
    data = data * columns[matrix.indices]
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def normalized_norm(ensemble: Ensemble) -> float:
    """Return the squared norm of A'A, which equals that of AA'."""
    return scaled_gram_norm(ensemble, _column_scale(ensemble))


def _column_scale(ensemble: Ensemble) -> Floats:
    total = ensemble.partition_weights.sum()
    return np.asarray(np.sqrt(ensemble.column_weights / total))


def costs_fit(counts: Ints, offsets: Ints, cost: Floats, block: NDArray[Any]) -> bool:
    """Return whether the arguments of `nearest` fit partitions with these numbers of clusters."""
    K = cost.shape[1]
    same = np.array_equal(offsets, starts_of(counts))
    return same and K > 0 and holds(cost, counts.sum(), K) and holds(block, len(counts), K)


def nearest(codes: NDArray[Any], offsets: Ints, cost: Floats, block: NDArray[Any]) -> Ints:
    """Return the cluster with the lowest cost for each new object; -1 for objects without observations.

    ``cost`` (T, K) is the cost of each label, ``block`` (N, K) the cost of being observed at all.
    """
    present = codes != missing_code(codes.dtype)
    total = indicator_of(codes, offsets) @ cost + present @ block
    labels: Ints = total.argmin(axis=1)
    labels[~present.any(axis=1)] = -1
    return labels
