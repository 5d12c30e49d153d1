"""The common base of k-means-like estimators on label vectors."""

# Annotations are not postponed: subclasses in other modules inherit the fields, with the types as such.

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from conclust._random import RandomStateLike, seed_sequence
from conclust._threads import thread_count
from conclust._types import Bools, Floats, Ints
from conclust.blocks.finishing import Answer
from conclust.blocks.labels import LabelBlocks
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.label_rows import (
    Centroids,
    RowClusters,
    RowLoss,
    RowMoves,
    costs_fit,
    nearest,
)
from conclust.consensus.label_vectors.blocks import Lloyd, iterate, nearest_in_block
from conclust.consensus.label_vectors.race import best_of_race
from conclust.consensus.method import NumberOfClusters
from conclust.consensus.restarts import ON_A_PART, best_of_restarts
from conclust.ensemble import Ensemble, Missing
from conclust.ensemble.derived import Derived
from conclust.ensemble.labels import canonical_labels


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

    def _fit_blocks(self, labels: LabelBlocks, seed: np.random.SeedSequence) -> Answer:
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

    def _constant(self, labels: LabelBlocks) -> float:
        """Return the part of the loss that is not a cost of an object."""
        if self._loss().spread != "quadratic":
            return 0.0
        # The squared lengths of all rows.
        inside = float(labels.column_weights @ labels.cluster_sizes)
        return inside + float(labels.partition_weights @ labels.noise_counts)

    def _loss_at(
        self, state: Lloyd, centroids: Centroids, labels: LabelBlocks, constant: float
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
