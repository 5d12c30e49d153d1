"""From an ensemble to a solution over pairs: which solver, which evidence, which start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._random import spawn_generators
from conclust.consensus.probabilistic import greedy, landmark, starts
from conclust.consensus.probabilistic.anchors import Anchors
from conclust.consensus.probabilistic.landmark import LandmarkModel, LandmarkSolution
from conclust.consensus.probabilistic.pairwise import PairEvidence
from conclust.consensus.probabilistic.patterns import draw_pairs
from conclust.consensus.probabilistic.search import descend, holding, random_starts, search
from conclust.consensus.probabilistic.solution import PairSolution
from conclust.consensus.probabilistic.task import Task
from conclust.divergences import Divergence, is_squared
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
# All pairs of more objects than this are solved from where some of the objects lead: at least so many, and
# a quarter of all; in turn from where a quarter of those lead. A sweep over all then is a near one.
_PART = 1000
_GROWTH = 4
# Some of the objects are solved until a sweep lowers the objective by less than this share of it, and the
# others are placed to within this gap.
_PART_TOL = 1e-4
_PLACED = 1e-3
# Where two solutions of the part lead shows after so many sweeps over all objects.
_LOOK = 2
# New objects are placed against at most this many fitted ones.
_ANCHORS = 2000


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
        runs = [_descend(task, known, Y0, solver) for Y0 in random_starts(task)]
        return min(runs, key=lambda solution: solution.objective)
    if given is None and init == "auto" and solver == "pairwise":
        start = holding(_least_squares(task))
        found = _searched(
            task, known, start if is_squared(task.divergence) else starts.inside(start)
        )
        surplus = task.n_clusters - found.membership.shape[1]
        return replace(found, membership=np.pad(found.membership, ((0, 0), (0, surplus))))
    start = start_of(task, init, known, given)
    return _descend(task, known, start, solver)


def _searched(task: Task, known: PairEvidence, start: NDArray[np.float64]) -> PairSolution:
    """Descend from a start or from better ones; of many objects, from where some of them lead.

    The membership may lack columns of empty clusters, as the start may.
    """
    # Only by a built-in divergence are objects placed.
    dense = not isinstance(known, SparseEvidence) and task.divergence._kernel is not None
    if not dense or task.ensemble.n_samples <= _PART:
        return _candidates(task, known, start)[-1]
    extended = _extended(task, start)
    if len(extended) > 1:
        look = replace(task, max_iter=min(_LOOK, task.max_iter))
        begun = [descend(look, known, Y) for Y in extended]
        extended = [min(begun, key=lambda solution: solution.objective).membership]
    return descend(task, known, extended[0])


def _candidates(task: Task, known: PairEvidence, start: NDArray[np.float64]) -> list[PairSolution]:
    """Return where a start leads, and what the search finds that is better."""
    first = descend(task, known, start)
    if task.n_init == 1:
        return [first]
    best = search(task, known, first)
    return [first] if best.objective == first.objective else [first, best]


def _extended(task: Task, start: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Solve some of the objects on all their pairs and place the others against them.

    What is best for the smallest part need not be best for all: then there are two solutions of it.
    """
    n = task.ensemble.n_samples
    size = max(_PART, n // _GROWTH)
    drawer, other = spawn_generators(task.seed, 2)
    chosen = np.sort(drawer.permutation(n)[:size])
    rest = np.delete(np.arange(n), chosen)
    few = task.ensemble._some(chosen)
    part = replace(
        task,
        ensemble=few,
        seed=np.random.SeedSequence(int(other.integers(2**63))),
        tol=max(task.tol, _PART_TOL),
    )
    known = narrow_evidence(few, task.threads)
    among = _candidates if size <= _PART else _only
    soft = task.ensemble.indicator if task.ensemble.is_soft else None
    extended = []
    for solved in among(part, known, start[chosen]):
        task.report(f"{size:,} of {n:,} objects: objective {solved.objective:.10g}")
        model = LandmarkModel.of(few, solved.membership, task.divergence)
        Y = np.empty((n, solved.membership.shape[1]))
        Y[chosen] = solved.membership
        placed = model.place(task.ensemble.codes, _PLACED, task.threads, objects=rest, soft=soft)
        Y[rest] = placed[0]
        extended.append(Y)
    return extended


def _only(task: Task, known: PairEvidence, start: NDArray[np.float64]) -> list[PairSolution]:
    return [_searched(task, known, start)]


def start_of(
    task: Task, init: Any, known: PairEvidence, given: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the membership to start from."""
    if given is not None:
        start = given
    elif init == "random":
        start = random_starts(task)[0]
    elif init == "spectral":
        start = starts.spectral_start(known, task.n_clusters, task.seed)
    else:
        start = _least_squares(task)
    return start if is_squared(task.divergence) else starts.inside(start)


def _least_squares(task: Task) -> NDArray[np.float64]:
    return starts.least_squares_start(
        task.ensemble,
        task.n_clusters,
        n_init=task.n_init,
        seed=task.seed,
        threads=task.threads,
        report=task.report,
    )


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
    return descend(task, known, Y0)


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
