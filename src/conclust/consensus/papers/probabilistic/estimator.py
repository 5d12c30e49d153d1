"""The common base of the estimators of the pair objective."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from conclust._arrays.containers import plain_array
from conclust._parameters import Parameters
from conclust._progress import say
from conclust._random import seed_sequence
from conclust._threads import thread_count
from conclust._types import Bools, Floats, Ints
from conclust._validation import refuse
from conclust.consensus.base import PlacingClusterer
from conclust.consensus.pairs import check_pairs, read_pairs
from conclust.consensus.papers.probabilistic.problem import PairEvidence, Placement, Run, Solution
from conclust.consensus.suitability import warn_of_merged, warn_of_misfit
from conclust.ensemble import Ensemble
from conclust.evidence import SparseEvidence
from conclust.evidence.dense import narrow_evidence
from conclust.exceptions import DenseLimitError, warn
from conclust.weighting.granularity import Recoding, matched

# Options for the granularity of the partitions in the objective.
Granularity: TypeAlias = Literal["given", "matched"]

# Maximum number of objects for which c and N of all pairs are formed.
MAX_DENSE = 20_000


def bound_of(estimator: Any, ensemble: Ensemble) -> int:
    """Return the maximum number of clusters, as requested or the largest of a partition, at most n.

    More clusters than objects only add empty ones, at a cost that grows with their number. A membership to
    start from keeps its columns.
    """
    n, requested = ensemble.n_samples, estimator.n_clusters
    if requested is None:
        return max(1, min(n, int(ensemble.cluster_counts.max())))
    init = getattr(estimator, "init", None)
    shape = () if init is None else plain_array(init, "'init'", of="numbers").shape
    return int(min(requested, max(n, shape[1] if len(shape) == 2 else 1)))


def run_of(estimator: Any) -> Run:
    """Return the settings of a run from the parameters of an estimator."""
    owner = type(estimator).__name__
    return Run(
        seed_sequence(estimator.random_state, owner),
        estimator.n_init,
        thread_count(estimator.n_jobs, owner),
        say,
    )


class PairObjectiveClusterer(PlacingClusterer):
    """Base of the estimators that minimise f over pairs (``problem.py``) and place new objects.

    A subclass leaves a `Placement` in ``_placement``.
    """

    parameters: ClassVar[Parameters] = {"pairs": check_pairs}
    pairs: Any
    granularity: Granularity
    n_jobs: int | None
    max_iter: int
    kkt_residual_: float
    trace_: Floats
    residuals_: Floats
    n_clusters_max_: int
    _placement: Placement
    _recoded: Recoding | None

    def _check_parameters(self, ensemble: Ensemble) -> None:
        if self.granularity == "matched" and isinstance(self.pairs, SparseEvidence):
            refuse(
                "pairs",
                type(self).__name__,
                "an int, a float or None with granularity='matched'",
                self.pairs,
                "The evidence belongs to the partitions as given, not to the merged ones.",
            )

    def _counted_partitions(self, ensemble: Ensemble, k: int) -> Ensemble:
        """Return the partitions of the objective: as given, or matched to k clusters."""
        self._recoded = None
        if self.granularity == "matched":
            ensemble, self._recoded = matched(ensemble, k)
        return ensemble

    def _review(self, ensemble: Ensemble, labels: Ints) -> None:
        if self.granularity == "matched":
            ensemble, _ = matched(ensemble, self.n_clusters_max_)
        warn_of_misfit(ensemble, self.n_clusters, type(self).__name__)
        warn_of_merged(ensemble, labels, self.n_clusters_max_, type(self).__name__)

    def _some_pairs(self, ensemble: Ensemble, observed: Bools, run: Run) -> SparseEvidence | None:
        """Return the evidence of the given pairs; None for all pairs."""
        owner = type(self).__name__
        return read_pairs(
            self.pairs, ensemble, observed, owner, random_state=run.seed, n_jobs=run.threads
        )

    def _all_pairs(self, ensemble: Ensemble, run: Run) -> PairEvidence:
        """Return the evidence of all pairs as matrices."""
        n = ensemble.n_samples
        if n > MAX_DENSE:
            raise DenseLimitError(
                f"{type(self).__name__} on all pairs of {n} objects would make two n x n matrices, "
                f"above {MAX_DENSE} objects. Give pairs=30 for a sample of the pairs, or use PCC with "
                "solver='landmark', or with divergence='l2', which takes all pairs into account "
                "without a matrix of pairs."
            )
        return narrow_evidence(ensemble, run.threads)

    def _store(self, solution: Solution) -> None:
        """Store the course of a solution; warn if ``max_iter`` ended the fit."""
        self.objective_, self.kkt_residual_ = solution.objective, solution.residual
        self.n_iter_, self.converged_ = solution.n_iter, solution.converged
        self.trace_, self.residuals_ = np.ascontiguousarray(solution.trace.T)
        if not solution.converged:
            warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} sweeps with a KKT "
                f"residual of {solution.residual:.3g}. Raise max_iter, or tol if this is close enough.",
                ConvergenceWarning,
            )

    @property
    def _placed_to(self) -> float:
        """Maximum gap with which new objects are placed."""
        return float(min(1e-9, getattr(self, "tol_kkt", 1e-9)))

    def _keep_clusters(self, clusters: Ints) -> None:
        self._placement = self._placement.reordered(clusters)

    def _fits(self, counts: Ints) -> bool:
        if self._recoded is not None:
            tables = self._recoded.code_of
            if [
                len(table) for table in tables
            ] != counts.tolist() or self._recoded.dtype.kind != "u":
                return False
            counts = np.array([table.max(initial=-1) + 1 for table in tables], dtype=np.int64)
            if min(int(table.min(initial=0)) for table in tables) < 0:
                return False
        placement: Any = self._placement
        return bool(placement.fits(counts, self.membership_.shape[1]))

    def _place(self, codes: NDArray[Any]) -> Floats:
        return self._placed_by(self._placement, codes)

    def _place_in_clusters(self, codes: NDArray[Any], Y: Floats) -> Ints:
        clusters = self._placement.reordered(np.arange(self.n_clusters_))
        labels: Ints = self._placed_by(clusters, codes).argmax(axis=1)
        return labels

    def _placed_by(self, placement: Placement, codes: NDArray[Any]) -> Floats:
        threads = thread_count(self.n_jobs, type(self).__name__)
        if self._recoded is not None:
            codes = self._recoded(codes)
        memberships: Floats = placement.place(codes, self._placed_to, threads)
        return memberships
