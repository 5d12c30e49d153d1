"""From an ensemble to a solution over pairs: which solver, which evidence, which start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._random import spawn_generators
from conclust.consensus.probabilistic import factored, pairwise, starts
from conclust.consensus.probabilistic.pairwise import PairEvidence
from conclust.consensus.probabilistic.patterns import draw_pairs
from conclust.consensus.probabilistic.solution import PairSolution
from conclust.divergences import Divergence, is_squared
from conclust.ensemble import Ensemble
from conclust.evidence import SparseEvidence, evidence, sample_pairs
from conclust.exceptions import DenseLimitError

__all__ = ["DENSE_LIMIT", "Task", "evidence_of", "solve"]

# Up to this many objects all pairs are formed where a solver needs pairs.
DENSE_LIMIT = 8000
# The most objects for which c and N of all pairs may be asked for.
_MAX_DENSE = 20_000
# Pairs drawn per object for a spectral start that cannot have them all.
_SPECTRAL_PAIRS = 30


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
            "objects. Give pairs=30 for a sample of the pairs, or use divergence='l2' with "
            "solver='factored', which takes all pairs into account without forming one."
        )
    return evidence(task.ensemble, n_jobs=task.threads)


def start_of(
    task: Task, init: Any, known: PairEvidence, given: NDArray[np.float64] | None
) -> list[NDArray[np.float64]]:
    """Return the memberships to start from: the best solution of all is kept."""
    if given is not None:
        found = [given]
    elif init == "random":
        drawers = spawn_generators(task.seed, task.n_init)
        n = task.ensemble.n_samples
        return [factored.random_membership(n, task.n_clusters, drawer) for drawer in drawers]
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
    return found if is_squared(task.divergence) else [starts.inside(Y) for Y in found]


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
    return pairwise.solve(
        known,
        Y0,
        task.divergence,
        max_iter=task.max_iter,
        tol=task.tol,
        tol_kkt=task.tol_kkt,
        report=task.report,
    )
