"""The common base of k-means-like estimators on label vectors.

Starts are compared on few rows in searches in which many starts end at the same optimum. Most starts do not improve the result. If there are many objects, starts are therefore run one after the other on a few
objects drawn at random, until three of them have reached the lowest loss. The first of these is continued with all rows.
If the starts do not agree, the few objects do not show which one is best. Then all are continued with up to 5,000
objects, those with the lowest losses first, until two of them have reached the lowest loss, and the best is continued
with all rows.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from conclust._progress import stage, tracked
from conclust._random import RandomStateLike, seed_sequence, spawn_generators, spawned_seed
from conclust._threads import side_by_side, thread_count
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.label_rows import (
    ON_A_PART,
    WORTH_THREADS,
    Centroids,
    RowClusters,
    RowLoss,
    RowMoves,
    best_of_restarts,
    costs_fit,
    nearest,
)
from conclust.consensus.method import NumberOfClusters
from conclust.ensemble import DistinctRows, Ensemble, Missing
from conclust.ensemble.derived import Derived
from conclust.ensemble.labels import canonical_labels

# Number of the few objects: per cluster, at least, and the share of observed labels below which it no longer grows.
_PER_CLUSTER, _LEAST, _LEAST_OBSERVED = 30, 300, 0.05
# Number of times that the lowest loss must be reached: by starts on few objects, and by those that were continued.
_AGREE, _AGREE_ON_MORE = 3, 2
# A start on few objects ends with a pass that lowers the loss by less than this share.
_LITTLE = 1e-3
# Relative difference below which losses are equal up to rounding.
_EQUAL = 1e-9

T = TypeVar("T")


def best_of_race(
    search: RowMoves, rows: DistinctRows, n_init: int, seed: np.random.SeedSequence, threads: int
) -> RowClusters:
    """Return the best of at most `n_init` starts, as `best_of_restarts` does of all."""
    if len(rows) < 2 * _few(rows.whole, search.n_clusters):
        return best_of_restarts(search, rows, n_init, seed, threads)
    order = spawn_generators(seed, 1)[0].permutation(rows.n_objects)
    few, few_places = rows.some(order[: _few(rows.whole, search.n_clusters)])
    brief = replace(search, tol=max(search.tol, _LITTLE))

    def begin(start: int) -> RowClusters:
        return brief.begin(few, start, spawned_seed(seed, start + 1))

    starts, agreed = _until_agreed(begin, range(n_init), _AGREE, few, threads)
    stage(f"the best start, on all {len(rows)} rows")
    if agreed:
        return search.finish(_lowest(starts), rows, few_places)
    more, places = rows, np.arange(len(rows))
    if len(rows) > ON_A_PART:
        more, places = rows.some(order[:ON_A_PART])
    inside = np.searchsorted(places, few_places)

    def go_on(start: RowClusters) -> RowClusters:
        return search.finish(start, more, inside)

    starts.sort(key=search.loss)
    best = _lowest(_until_agreed(go_on, starts, _AGREE_ON_MORE, more, threads)[0])
    return best if more is rows else search.finish(best, rows, places)


def _few(ensemble: Ensemble, n_clusters: int) -> int:
    """Return the number of objects on which starts are compared: more if many labels are missing."""
    observed = float(ensemble.observed_counts.mean()) / ensemble.n_samples
    count = max(_LEAST, _PER_CLUSTER * n_clusters) / max(observed, _LEAST_OBSERVED)
    return min(round(count), ON_A_PART)


def _until_agreed(
    run: Callable[[T], RowClusters],
    items: Sequence[T],
    agree: int,
    rows: DistinctRows,
    threads: int,
) -> tuple[list[RowClusters], bool]:
    """Run items in order until `agree` of them have the lowest loss; return the results, and whether they do.

    Threads may run more items; their results are not used.
    """
    if threads == 1 or len(items) == 1 or rows.cells < WORTH_THREADS:
        return _first_agreed(map(run, items), len(items), agree)
    with side_by_side(min(threads, len(items))) as mapped:
        return _first_agreed(mapped(run, items), len(items), agree)


def _first_agreed(
    results: Iterable[RowClusters], count: int, agree: int
) -> tuple[list[RowClusters], bool]:
    ended: list[RowClusters] = []
    for result in tracked(results, "starts", count, at_most=True):
        ended.append(result)
        losses = [one.losses[-1] for one in ended]
        if sum(loss <= _bound(min(losses)) for loss in losses) == agree:
            return ended, True
    return ended, False


def _lowest(results: list[RowClusters]) -> RowClusters:
    """Return the first result with the lowest loss, up to rounding."""
    bound = _bound(min(result.losses[-1] for result in results))
    return next(result for result in results if result.losses[-1] <= bound)


def _bound(loss: float) -> float:
    return loss + _EQUAL * abs(loss)


@dataclass(eq=False, repr=False)
class LabelVectorKMeans(ConsensusClusterer):
    """Base of the estimators that minimise a loss of ``_kernels/search/label_vectors.h``."""

    # Whether starts are compared on few objects.
    _races: ClassVar[bool] = False

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    n_init: int = 10
    max_iter: int = 100
    tol: float = 1e-6
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    @abstractmethod
    def _loss(self) -> RowLoss:
        """Return the loss that is minimised."""

    def _counting_as(self, ensemble: Derived) -> Floats | None:
        """Return weights that replace those of the partitions; None: no change."""
        return None

    @abstractmethod
    def _value(self, ensemble: Derived, centroids: Centroids, loss: float) -> float:
        """Return the objective in the form of the literature."""

    @abstractmethod
    def _costs(self, ensemble: Derived, centroids: Centroids) -> tuple[Floats, Floats]:
        """Return the costs of a label (T, K) and of being observed (N, K), weights included."""

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        counting = self._counting_as(ensemble)
        weighed = ensemble if counting is None else ensemble.reweighted(counting)
        best = self._clustered(weighed, seed_sequence(self.random_state, type(self).__name__))
        labels = np.asarray(canonical_labels(best.labels), dtype=np.int64)
        self._offsets = ensemble.offsets
        centroids = Centroids.of(weighed, labels)
        value = self._value(weighed, centroids, best.losses[-1])
        self._label_cost, self._block_cost = self._costs(weighed, centroids)
        self._keep_end(value, len(best.losses) - 1, best.converged, "passes")
        return labels

    def _clustered(self, ensemble: Ensemble, seed: np.random.SeedSequence) -> RowClusters:
        moves = RowMoves(self.n_clusters, self._loss(), self.max_iter, self.tol)
        rows, threads = ensemble.distinct_rows(), thread_count(self.n_jobs, type(self).__name__)
        how = (moves, rows, self.n_init, seed, threads)
        best = best_of_race(*how) if self._races else best_of_restarts(*how)
        return replace(best, labels=best.labels[rows.inverse])

    def predict(self, X: Any) -> Ints:
        """Nearest clusters of new objects from their labels in the same partitions.

        Parameters
        ----------
        X : array-like of shape (n_new, n_partitions)
            Labels of the new objects, by the names used in ``fit``. A label that no object of
            ``fit`` had is read as noise, with a warning.

        Returns
        -------
        ndarray of shape (n_new,)
            Cluster of each object; -1 for an object missing everywhere.
        """
        labels: Ints = self._of_new(X, "_nearest", None, np.int64)
        return labels

    def _fits(self, counts: Ints) -> bool:
        return costs_fit(counts, self._offsets, self._label_cost, self._block_cost)

    def _nearest(self, codes: NDArray[Any]) -> Ints:
        return nearest(codes, self._offsets, self._label_cost, self._block_cost)
