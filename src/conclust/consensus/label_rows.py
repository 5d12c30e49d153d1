"""Clustering the rows of labels: starts, moves of single rows, centroids; restarts, by one rule for all methods.

Up to 5,000 rows every start is run on all of them, and the best is the answer. Where there are more,
the starts are run on the rows of 5,000 objects drawn without replacement, and the best is carried on
with all rows. A method is fitted to rows (`Population`): the distinct rows of labels, each counting as
often as it occurs (`DistinctRows`), or one row for every object.

KCC and SEC end starts early (`label_vectors/estimator.py`), and BaumEagon compares them on few objects
(`probabilistic/baum_eagon.py`). Two searches that are not descents over rows choose their parts themselves: the fusion
of clusters pair by pair (`median/search.py`), and PCC over all pairs, with a part that grows
(`probabilistic/solvers/factored.py`). Methods on given pairs of objects have all of them in memory, and run every start
on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._kernels import LabelView, cluster_sums, refine_labels, seed_labels
from conclust._progress import stage, tracked
from conclust._random import seed_sequence, spawn_generators, spawn_seeds
from conclust._threads import side_by_side
from conclust._types import Floats, Ints
from conclust.ensemble import DistinctRows, Ensemble
from conclust.ensemble.labels import (
    indicator_of,
    missing_code,
    one_hot,
    over_clusters,
    over_partitions,
)
from conclust.spectra.gram import scaled_gram_norm

ON_A_PART = 5_000
# Work of one start, in cells, below which threads cost more than they gain.
WORTH_THREADS = 20_000

P = TypeVar("P", bound="Population")
Shown = TypeVar("Shown", bound="Population", contravariant=True)
T = TypeVar("T")


class Population(Protocol):
    """Rows to fit to, each for one object or several."""

    def __len__(self) -> int:
        """Count the rows."""

    @property
    def n_objects(self) -> int:
        """Number of objects that the rows represent."""

    @property
    def cells(self) -> int:
        """Number of values that one pass over the rows reads."""

    def some(self: P, objects: Ints) -> tuple[P, Ints]:
        """Return the rows of some objects, and which of all rows they are."""


class Restarted(Protocol[Shown, T]):
    """The interface of a method to restarts."""

    def begin(self, rows: Shown, start: int, seed: int) -> T:
        """Run one start on some rows until it converges."""

    def finish(self, result: T, rows: Shown, chosen: Ints) -> T:
        """Continue with all rows from the result on some rows."""

    def loss(self, result: T) -> float:
        """Return the loss at the end of a start."""


def fewer_starts(n_init: int, rows: Population, n_clusters: int) -> int:
    """Return the number of starts: `n_init`, or fewer if a cluster has fewer than two rows.

    Then nearly every row is a cluster, whatever the start, and each start takes long.
    """
    share = min(1.0, (len(rows) / (2.0 * n_clusters)) ** 2)
    return max(1, math.ceil(share * n_init))


def best_of_restarts(
    method: Restarted[P, T],
    rows: P,
    n_init: int,
    seed: np.random.SeedSequence,
    threads: int,
    carry_on: Callable[[T, P], T] | None = None,
) -> T:
    """Return the result of the best start, on all rows.

    Among equally good starts (to rounding) it is the first, in whatever order they end.

    Parameters
    ----------
    method : Restarted
        Method that is restarted.
    rows : Population
        All rows.
    n_init : int
        Number of starts.
    seed : SeedSequence
        Source of the starts and of the part.
    threads : int
        Number of starts that run at the same time.
    carry_on : callable, default=None
        For starts that end early: continues the best one on the rows of the starts.
    """
    few, indices = rows, np.arange(0)
    if len(rows) > ON_A_PART:
        draw = spawn_generators(seed, 1)[0]
        few, indices = rows.some(draw.choice(rows.n_objects, ON_A_PART, replace=False))
    seeds = spawn_seeds(seed, n_init + 1)[1:]

    def begin(start: int) -> T:
        return method.begin(few, start, seeds[start])

    if threads == 1 or n_init == 1 or few.cells < WORTH_THREADS:
        best = _best(tracked(map(begin, range(n_init)), "starts", n_init), method)
    else:
        with side_by_side(min(threads, n_init)) as mapped:
            best = _best(tracked(mapped(begin, range(n_init)), "starts", n_init), method)
    if carry_on is not None:
        best = carry_on(best, few)
    if few is rows:
        return best
    stage(f"the best start, on all {len(rows)} rows")
    return method.finish(best, rows, indices)


def _best(results: Iterable[T], method: Restarted[Any, T]) -> T:
    """Return the result with the lowest loss; the first one if they differ only by rounding."""
    ranked = iter(results)
    best = next(ranked)
    for one in ranked:
        least = method.loss(best)
        if method.loss(one) < least - 1e-9 * abs(least):
            best = one
    return best


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
