"""From an ensemble to a solution over pairs: which solver, which evidence, which start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._random import spawn_generators
from conclust.consensus.probabilistic import factored, greedy, landmark, pairwise, starts
from conclust.consensus.probabilistic.anchors import Anchors
from conclust.consensus.probabilistic.landmark import LandmarkModel, LandmarkSolution
from conclust.consensus.probabilistic.pairwise import PairEvidence
from conclust.consensus.probabilistic.patterns import draw_pairs
from conclust.consensus.probabilistic.solution import PairSolution
from conclust.divergences import Divergence, is_squared
from conclust.ensemble import Ensemble
from conclust.evidence import SparseEvidence, evidence, sample_pairs
from conclust.exceptions import DenseLimitError, ParameterError

__all__ = [
    "DENSE_LIMIT",
    "Task",
    "choose",
    "evidence_of",
    "model_of",
    "solve",
    "solve_by_landmarks",
    "spectral_evidence",
    "start_of",
]

# Up to this many objects all pairs are formed where a solver needs pairs.
DENSE_LIMIT = 8000
# The most objects for which c and N of all pairs may be asked for.
_MAX_DENSE = 20_000
# Pairs drawn per object for a spectral start that cannot have them all.
_SPECTRAL_PAIRS = 30
# Where the least-squares solution is the start, random ones are tried too up to so many entries of
# evidence (all pairs of 1,400 objects): there they cost little, and data are small enough to be odd.
_FEW_ENTRIES = 1 << 21
# New objects are placed against at most this many fitted ones.
_ANCHORS = 2000


@dataclass(frozen=True)
class Task:
    """What a solver is asked for."""

    ensemble: Ensemble
    n_clusters: int
    divergence: Divergence
    seed: np.random.SeedSequence
    threads: int
    report: Callable[[str], None]
    n_init: int = 5
    max_iter: int = 200
    tol: float = 1e-5
    tol_kkt: float = 1e-8


def evidence_of(task: Task, pairs: Any, owner: str) -> PairEvidence:
    """Return the evidence of the pairs asked for: all, sampled or given."""
    if isinstance(pairs, SparseEvidence):
        return pairs
    if pairs is not None:
        return draw_pairs(task.ensemble, pairs, task.seed, task.threads)
    n = task.ensemble.n_samples
    if n > _MAX_DENSE:
        raise DenseLimitError(
            f"{owner} on all pairs of {n} objects would make two n x n matrices, above {_MAX_DENSE} "
            "objects. Use solver='landmark', give pairs=30 for a sample of the pairs, or use "
            "divergence='l2', which takes all pairs into account without forming one."
        )
    return evidence(task.ensemble, n_jobs=task.threads)


def start_of(
    task: Task,
    init: Any,
    known: PairEvidence,
    given: NDArray[np.float64] | None,
    solver: str = "pairwise",
) -> list[NDArray[np.float64]]:
    """Return the memberships to start from: the best solution of all is kept."""
    if given is not None:
        found = [given]
    elif init == "random":
        return _random_starts(task)
    elif init == "spectral":
        found = [starts.spectral_start(known, task.n_clusters, task.seed)]
    else:
        found = [
            starts.least_squares_start(
                task.ensemble,
                task.n_clusters,
                n_init=task.n_init,
                seed=task.seed,
                threads=task.threads,
                report=task.report,
            )
        ]
    if not is_squared(task.divergence):
        found = [starts.inside(Y) for Y in found]
    few = _entries(known) <= _FEW_ENTRIES and task.n_init > 1
    if given is None and init == "auto" and solver == "pairwise" and few:
        found += _random_starts(task)
    return found


def _random_starts(task: Task) -> list[NDArray[np.float64]]:
    n = task.ensemble.n_samples
    drawers = spawn_generators(task.seed, task.n_init)
    return [factored.random_membership(n, task.n_clusters, drawer) for drawer in drawers]


def _entries(known: PairEvidence) -> int:
    return len(known.indices) if isinstance(known, SparseEvidence) else known[0].size


def spectral_evidence(task: Task) -> PairEvidence:
    """Return evidence enough for a spectral start of the solver that forms no pairs."""
    if task.ensemble.n_samples <= DENSE_LIMIT:
        return evidence(task.ensemble, n_jobs=task.threads)
    return sample_pairs(task.ensemble, _SPECTRAL_PAIRS, random_state=task.seed, n_jobs=task.threads)


def solve(
    task: Task, known: PairEvidence, beginnings: list[NDArray[np.float64]], solver: str
) -> PairSolution:
    """Solve from each start; return the solution of lowest objective."""
    found = [_descend(task, known, Y0, solver) for Y0 in beginnings]
    return min(found, key=lambda solution: solution.objective)


def _descend(task: Task, known: PairEvidence, Y0: NDArray[np.float64], solver: str) -> PairSolution:
    if solver == "greedy":
        # A sweep's worth of steps: one for each object.
        return greedy.solve(
            known,
            Y0,
            task.divergence,
            tol=max(task.tol, task.tol_kkt),
            max_iter=task.max_iter * task.ensemble.n_samples,
            report=task.report,
        )
    return pairwise.solve(
        known,
        Y0,
        task.divergence,
        max_iter=task.max_iter,
        tol=task.tol,
        tol_kkt=task.tol_kkt,
        threads=task.threads,
        report=task.report,
    )


def solve_by_landmarks(task: Task, given: NDArray[np.float64] | None) -> LandmarkSolution:
    """Solve some objects on all their pairs and place the others against them."""
    return landmark.solve(
        task.ensemble,
        task.n_clusters,
        task.divergence,
        seed=task.seed,
        start=given,
        n_init=task.n_init,
        max_iter=task.max_iter,
        tol=task.tol,
        tol_kkt=task.tol_kkt,
        threads=task.threads,
        report=task.report,
    )


def choose(solver: str, divergence: Divergence, pairs: Any, n: int, owner: str) -> tuple[str, str]:
    """Return the solver to use, and that with the reason."""
    known = divergence._kernel is not None
    if solver == "factored" and (pairs is not None or not is_squared(divergence)):
        raise ParameterError(
            f"The solver 'factored' of {owner} takes all pairs of squared differences: it needs "
            f"divergence='l2' or 'mahalanobis' and pairs=None. Got {divergence.name!r} and "
            f"pairs={pairs!r}: use solver='pairwise'."
        )
    if solver == "landmark" and pairs is not None:
        raise ParameterError(
            f"The solver 'landmark' of {owner} takes all pairs of some objects: leave out pairs=, or use "
            "solver='pairwise'."
        )
    if solver in ("landmark", "greedy") and not known:
        raise ParameterError(
            f"The solver {solver!r} of {owner} knows the built-in divergences only. For your own "
            f"divergence {divergence.name!r} use solver='pairwise'."
        )
    if solver != "auto":
        return solver, f"{solver}: as asked"
    if pairs is not None:
        return "pairwise", "pairwise: only some pairs are asked for"
    if is_squared(divergence):
        return "factored", f"factored: exact for {divergence.name} over all pairs"
    if n <= DENSE_LIMIT or not known:
        return "pairwise", f"pairwise: {divergence.name} over all pairs of {n:,} objects"
    return "landmark", f"landmark: {divergence.name} and more than {DENSE_LIMIT:,} objects ({n:,})"


def model_of(task: Task, membership: NDArray[np.float64]) -> LandmarkModel | Anchors:
    """Keep some of the fitted objects, for new ones to be placed against."""
    (chooser,) = spawn_generators(task.seed, 1)
    chosen = np.sort(chooser.permutation(task.ensemble.n_samples)[:_ANCHORS])
    few = task.ensemble._some(chosen)
    if task.divergence._kernel is None:
        return Anchors.of(few, membership[chosen], task.divergence)
    return LandmarkModel.of(few, membership[chosen], task.divergence)
