"""From an ensemble to a solution over pairs: which solver, which evidence, which start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from conclust._random import spawn_generators
from conclust._threads import one_library_thread
from conclust.consensus.probabilistic import factored, greedy, landmark, pairwise, starts
from conclust.consensus.probabilistic.anchors import Anchors
from conclust.consensus.probabilistic.escapes import escape, ways_out
from conclust.consensus.probabilistic.landmark import LandmarkModel, LandmarkSolution
from conclust.consensus.probabilistic.pairwise import PairEvidence
from conclust.consensus.probabilistic.patterns import draw_pairs
from conclust.consensus.probabilistic.solution import PairSolution
from conclust.divergences import Divergence, is_squared
from conclust.ensemble import Ensemble
from conclust.evidence import SparseEvidence, sample_pairs
from conclust.evidence.dense import narrow_evidence
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
# Where the least-squares solution is the start, random ones and escapes are tried too up to so many
# entries of evidence (all pairs of 1,400 objects): there they cost little, and data are small enough to
# be odd. Of even fewer (all pairs of 500) all escapes are tried, not as many as there are starts.
_FEW_ENTRIES = 1 << 21
_CHEAP_ENTRIES = 1 << 18
# An escape descends until a sweep lowers the objective by less than this share; then on only if it is
# within another share of the best. It must lower the best by a third one to be kept.
_ROUGH = 1e-3
_NEAR = 5e-3
_GAIN = 1e-4
# An objective below this share of the sum of N is 0 but for rounding.
_ROUNDING = 1e-10
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
    return narrow_evidence(task.ensemble, task.threads)


def solve(
    task: Task,
    init: Any,
    known: PairEvidence,
    given: NDArray[np.float64] | None,
    solver: str = "pairwise",
) -> PairSolution:
    """Solve from each start; return the solution of lowest objective."""
    if given is None and init == "random":
        beginnings = _random_starts(task)
    else:
        beginnings = [start_of(task, init, known, given)]
    free = given is None and init == "auto" and solver == "pairwise" and task.n_init > 1
    small = free and _entries(known) <= _FEW_ENTRIES
    if small:
        beginnings += _random_starts(task)
    found = [_descend(task, known, Y0, solver) for Y0 in beginnings]
    best = min(found, key=lambda solution: solution.objective)
    return _escape(task, known, best) if small else best


def start_of(
    task: Task, init: Any, known: PairEvidence, given: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the membership to start from."""
    if given is not None:
        start = given
    elif init == "random":
        start = _random_starts(task)[0]
    elif init == "spectral":
        start = starts.spectral_start(known, task.n_clusters, task.seed)
    else:
        start = starts.least_squares_start(
            task.ensemble,
            task.n_clusters,
            n_init=task.n_init,
            seed=task.seed,
            threads=task.threads,
            report=task.report,
        )
    return start if is_squared(task.divergence) else starts.inside(start)


def _random_starts(task: Task) -> list[NDArray[np.float64]]:
    n = task.ensemble.n_samples
    drawers = spawn_generators(task.seed, task.n_init)
    return [factored.random_membership(n, task.n_clusters, drawer) for drawer in drawers]


def _entries(known: PairEvidence) -> int:
    return len(known.indices) if isinstance(known, SparseEvidence) else known[0].size


def spectral_evidence(task: Task) -> PairEvidence:
    """Return evidence enough for a spectral start of the solver that forms no pairs."""
    if task.ensemble.n_samples <= DENSE_LIMIT:
        return narrow_evidence(task.ensemble, task.threads)
    return sample_pairs(task.ensemble, _SPECTRAL_PAIRS, random_state=task.seed, n_jobs=task.threads)


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


def _escape(task: Task, known: PairEvidence, best: PairSolution) -> PairSolution:
    """Merge and split clusters of a solution while that leads to a better one."""
    k = task.n_clusters
    c, N = _matrices(known)
    nothing = _ROUNDING * float(N.sum())
    if best.objective <= nothing:
        return best
    generator = spawn_generators(task.seed, task.n_init + 1)[-1]
    rough = replace(task, tol=max(task.tol, _ROUGH))

    def ways(at: PairSolution) -> Iterator[NDArray[np.float64]]:
        Y = at.membership
        together, present = Y.T @ (c @ Y), Y.T @ (N @ Y)
        against = present - together
        return ways_out(Y, against - together, against.diagonal(), lambda x: c @ x, generator)

    def descend(Y: NDArray[np.float64], best: PairSolution) -> PairSolution:
        Y = Y if is_squared(task.divergence) else starts.inside(Y)
        found = _descend(rough, known, Y, "pairwise")
        if found.objective > (1 + _NEAR) * best.objective:
            return found
        return _descend(task, known, found.membership, "pairwise")

    def better(other: PairSolution, best: PairSolution) -> bool:
        return other.objective < best.objective - max(_GAIN * best.objective, nothing)

    patience = 3 * k if _entries(known) <= _CHEAP_ENTRIES else task.n_init
    with one_library_thread():
        return escape(best, ways, descend, better, patience)


def _matrices(known: PairEvidence) -> list[Any]:
    """Return c and N as matrices of doubles."""
    if not isinstance(known, SparseEvidence):
        return [values.astype(np.float64) for values in known]
    both, n = (known.counts, known.copresence), known.n_samples
    return [
        csr_array((x.astype(np.float64), known.indices, known.indptr), shape=(n, n)) for x in both
    ]


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
