"""The common base of k-means-like estimators on label vectors.

Label vectors that are read in blocks are clustered by Lloyd's iterations. In memory, single objects move one after the other; here all move to the nearest centroid at once. A fixed point of
single moves is one of these iterations, but they may end elsewhere. A noise object, similar to no other, is placed
like a new object, by the partitions in which it is in a cluster.

Starts are compared on few rows in searches in which many starts end at the same optimum. Most starts do not improve the result. If there are many objects, starts are therefore run one after the other on a few
objects drawn at random, until three of them have reached the lowest loss. The first of these is continued with all rows.
If the starts do not agree, the few objects do not show which one is best. Then all are continued with up to 5,000
objects, those with the lowest losses first, until two of them have reached the lowest loss, and the best is continued
with all rows.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

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
from conclust.ensemble.labels import canonical_labels, one_hot_rows

if TYPE_CHECKING:
    from conclust.blocks.facts import Part
    from conclust.blocks.finishing import Answer
    from conclust.blocks.labels import LabelBlocks

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


@dataclass(frozen=True)
class Lloyd:
    """State of the iterations.

    Attributes
    ----------
    sums : ndarray of shape (T, K)
        Number of objects of each cluster with each label.
    present, noise : ndarray of shape (N, K)
        Number of objects that each partition observed, and that are noise in it.
    loss : float
        Sum of the costs of all objects, by the previous centroids.
    n_iter : int
        Number of passes over all objects.
    done : bool
        Whether the last pass lowered the loss by less than the tolerance.
    """

    sums: Floats
    present: Floats
    noise: Floats
    loss: float
    n_iter: int
    done: bool

    def centroids(self, labels: "LabelBlocks") -> Centroids:
        """Return the centroids of non-empty clusters."""
        nonempty = self.present.any(axis=0)
        held = (self.sums, self.present, self.noise)
        sums, present, noise = (each[:, nonempty] for each in held)
        return Centroids.of_sums(sums, present, noise, labels.offsets)


Costs = Callable[[Centroids], tuple[Floats, Floats]]


def iterate(
    labels: "LabelBlocks",
    first: Centroids,
    costs: Costs,
    constant: float,
    max_iter: int,
    tol: float,
) -> Lloyd:
    """Iterate from some centroids until the loss no longer decreases.

    Parameters
    ----------
    labels : LabelBlocks
        The objects.
    first : Centroids
        Initial centroids.
    costs : callable
        Function that returns the cost of each label (T, K) and of being observed (N, K), from centroids.
    constant : float
        Part of the loss that is not in the costs.
    max_iter : int
        Maximum number of passes over all objects.
    tol : float
        Stop when a pass lowers the loss by less than this share of it.
    """

    def looked(centroids: Centroids, n_iter: int) -> Lloyd:
        block_sums = labels.total(f"k-means, pass {n_iter}", _sums, *costs(centroids))
        sums, present, noise, loss = block_sums
        return Lloyd(sums, present, noise, float(loss) + constant, n_iter, False)

    state = looked(first, 0)
    while not state.done and state.n_iter < max_iter:
        following = looked(state.centroids(labels), state.n_iter + 1)
        gain = state.loss - following.loss
        state = replace(following, done=bool(gain <= tol * abs(following.loss)))
    return state


def _sums(part: "Part", cost: Floats, block: Floats) -> tuple[NDArray[Any], ...]:
    """Return the sums over the objects of a block, each in the cluster with the lowest cost."""
    ensemble = part.ensemble
    present = ensemble.present.astype(np.float64)
    total = ensemble.indicator @ cost + present @ block
    chosen = total.argmin(axis=1)
    member = one_hot_rows(chosen, cost.shape[1])
    noise = ensemble.noise.astype(np.float64)
    return (
        np.asarray(ensemble.indicator.T @ member),
        present.T @ member,
        noise.T @ member,
        np.asarray(total[np.arange(len(chosen)), chosen].sum()),
    )


def nearest_in_block(part: "Part", stored: None, cost: Floats, block: Floats) -> Ints:
    """Return the cluster with the lowest cost for each object of a block."""
    return nearest(part.ensemble.codes, part.ensemble.offsets, cost, block)


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

    def _fit_blocks(self, labels: "LabelBlocks", seed: np.random.SeedSequence) -> "Answer":
        from conclust.blocks.finishing import Answer

        counting = self._counting_as(labels)
        weighed = labels if counting is None else labels.reweighted(counting)
        sample = weighed.sample(ON_A_PART, seed)
        started = canonical_labels(self._clustered(sample, seed).labels)
        constant = self._constant(weighed)

        def costs(centroids: Centroids) -> tuple[Floats, Floats]:
            return self._costs(weighed, centroids)

        first = Centroids.of(sample, started)
        last = iterate(weighed, first, costs, constant, self.max_iter, self.tol)
        self._offsets = labels.offsets
        centroids = last.centroids(weighed)
        loss = self._loss_at(last, centroids, weighed, constant)
        value = self._value(weighed, centroids, loss)
        self._label_cost, self._block_cost = costs(centroids)
        self._keep_end(value, last.n_iter, last.done, "passes")
        return Answer(nearest_in_block, (self._label_cost, self._block_cost))

    def _constant(self, labels: "LabelBlocks") -> float:
        """Return the part of the loss that is not a cost of an object."""
        if self._loss().spread != "quadratic":
            return 0.0
        # The squared lengths of all rows.
        inside = float(labels.column_weights @ labels.cluster_sizes)
        return inside + float(labels.partition_weights @ labels.noise_counts)

    def _loss_at(
        self, state: Lloyd, centroids: Centroids, labels: "LabelBlocks", constant: float
    ) -> float:
        """Return the quadratic or the entropic loss at some centroids, noise included.

        Parameters
        ----------
        state : Lloyd
            Final state of the iterations.
        centroids : Centroids
            Its centroids.
        labels : LabelBlocks
            Objects, with the weights of the partitions applied.
        constant : float
            Sum of the squared lengths of all rows; 0 if the loss is entropic.
        """
        present = state.present[:, state.present.any(axis=0)]
        if constant:
            inside = centroids.lengths
        else:
            inside = centroids.sums_of(lambda m: m * np.log(np.where(m > 0, m, 1.0)))
        return constant - float(labels.partition_weights @ (present * inside).sum(axis=1))

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
