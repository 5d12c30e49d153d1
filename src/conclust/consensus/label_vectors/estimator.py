"""The common base of k-means-like estimators on label vectors."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._labels import canonical_labels
from conclust._random import RandomStateLike, seed_sequence
from conclust._threads import thread_count
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.label_rows import RowLoss, RowMoves, cluster_rows, nearest
from conclust.consensus.restarts import check_iteration, warn_unfinished
from conclust.ensemble import Ensemble, Missing

__all__ = ["LabelVectorKMeans"]


class LabelVectorKMeans(ConsensusClusterer):
    """Base of the estimators that minimise a loss of ``_kernels/search/label_vectors.h``."""

    objective_: float
    n_iter_: int
    converged_: bool

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-6,
        missing: Missing = "unobserved",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs

    @abstractmethod
    def _loss(self) -> RowLoss:
        """Return the loss that is minimised."""

    def _weighed(self, ensemble: Ensemble) -> Ensemble:
        """Return the ensemble with the weights by which its partitions count."""
        return ensemble

    @abstractmethod
    def _describe(
        self, ensemble: Ensemble, labels: NDArray[np.int64], loss: float
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the objective in the form of the literature, and the costs of new objects.

        These are the costs of a label (T, K) and of being observed (N, K), weights included.
        """

    def _check_parameters(self, ensemble: Ensemble) -> None:
        check_iteration(self, ensemble)

    def _fit(self, ensemble: Ensemble, observed: NDArray[np.bool_]) -> NDArray[np.int64]:
        owner = type(self).__name__
        weighed = self._weighed(ensemble)
        found = cluster_rows(
            weighed,
            RowMoves(self.n_clusters, self._loss(), self.max_iter, self.tol),
            self.n_init,
            seed_sequence(self.random_state, owner),
            thread_count(self.n_jobs, owner),
        )
        labels = np.asarray(canonical_labels(found.labels), dtype=np.int64)
        self.n_iter_ = len(found.losses) - 1
        self.converged_ = found.converged
        self._offsets = ensemble.offsets
        described = self._describe(weighed, labels, found.losses[-1])
        self.objective_, self._label_cost, self._block_cost = described
        if not found.converged:
            warn_unfinished(self, "passes")
        return labels

    def predict(self, X: Any) -> NDArray[np.int64]:
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
        return nearest(self._encode(X), self._offsets, self._label_cost, self._block_cost)
