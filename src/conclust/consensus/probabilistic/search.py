"""Where the pairwise solver ends, bettered: other starts and escapes, as many as some work pays for.

A first solution is given. Random starts may end lower, and so may the best solution with two clusters
merged and a third split (``escapes.py``). Of few objects all that is worth trying is tried; of more,
what a fixed amount of work allows (`BUDGET`, counted by the kernel: the same on every machine), so that
the time does not depend on where a limit of the size lies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from conclust._random import spawn_generators
from conclust._threads import one_library_thread
from conclust.consensus.probabilistic import factored, pairwise, starts
from conclust.consensus.probabilistic.escapes import escape, ways_out
from conclust.consensus.probabilistic.pairwise import PairEvidence
from conclust.consensus.probabilistic.solution import PairSolution
from conclust.consensus.probabilistic.task import Task
from conclust.divergences import is_squared
from conclust.evidence import SparseEvidence

__all__ = ["descend", "holding", "random_starts", "search"]

# What the tries of five starts may do: multiplications and additions, about (`PairSolution.spent`). Random
# starts take at most half of it. It is some tenths of a second.
BUDGET = 2_000_000_000
# Escapes are tried until so many in a row have not helped for each cluster that holds anything.
PATIENCE = 3
# A try descends until a sweep lowers the objective by less than this share; then on only if it is
# within another share of the best. An escape must lower the best by a third one to be kept.
_ROUGH = 1e-3
_NEAR = 5e-3
_GAIN = 1e-4
# An objective below this share of the sum of N is 0 but for rounding.
_ROUNDING = 1e-10
# A cluster that holds less than this share of an object is empty but for a descent's last steps.
_EMPTY = 0.01


def descend(task: Task, known: PairEvidence, Y0: NDArray[np.float64]) -> PairSolution:
    """Descend from Y0 by the pairwise solver."""
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


def random_starts(task: Task) -> list[NDArray[np.float64]]:
    """Return `n_init` random memberships."""
    n = task.ensemble.n_samples
    drawers = spawn_generators(task.seed, task.n_init)
    return [factored.random_membership(n, task.n_clusters, drawer) for drawer in drawers]


def search(task: Task, known: PairEvidence, first: PairSolution) -> PairSolution:
    """Return the best of a first solution, of random starts, and of where escapes lead.

    Its membership may lack columns of empty clusters.
    """
    present = known.copresence if isinstance(known, SparseEvidence) else known[1]
    nothing = _ROUNDING * float(present.sum(dtype=np.float64))
    tries = _Tries(task, known, BUDGET * task.n_init // 5)
    best = first
    if not tries.affords(0.5 * first.spent):
        return best
    c, N = _matrices(known)
    for Y in random_starts(task):
        if best.objective <= nothing or not tries.affords(first.spent, 0.5):
            break
        best = min(best, tries.run(Y, best), key=lambda solution: solution.objective)
    if best.objective <= nothing:
        return best
    generator = spawn_generators(task.seed, task.n_init + 1)[-1]

    def ways(at: PairSolution) -> Iterator[NDArray[np.float64]]:
        Y = holding(at.membership)
        together, present = Y.T @ (c @ Y), Y.T @ (N @ Y)
        against = present - together
        for way in ways_out(Y, against - together, against.diagonal(), lambda x: c @ x, generator):
            if not tries.affords(0.5 * first.spent):
                return
            yield way

    def run(Y: NDArray[np.float64], best: PairSolution) -> PairSolution:
        return tries.run(Y if is_squared(task.divergence) else starts.inside(Y), best)

    def better(other: PairSolution, best: PairSolution) -> bool:
        return other.objective < best.objective - max(_GAIN * best.objective, nothing)

    patience = PATIENCE * holding(best.membership).shape[1]
    with one_library_thread():
        best = escape(best, ways, run, better, patience)
    task.report(f"{tries.made} more descents: objective {best.objective:.10g}")
    return best


class _Tries:
    """Descents that cost at most so much work all together."""

    def __init__(self, task: Task, known: PairEvidence, budget: int) -> None:
        self.task, self.known = task, known
        self.rough = replace(task, tol=max(task.tol, _ROUGH), report=lambda message: None)
        self.budget, self.left = budget, budget
        self.made = 0

    def affords(self, work: float, kept: float = 0.0) -> bool:
        """Whether there is so much left, but for a share that is to be kept."""
        return self.left - work >= kept * self.budget

    def run(self, Y: NDArray[np.float64], best: PairSolution) -> PairSolution:
        """Descend; to the end only near the best."""
        self.made += 1
        found = descend(self.rough, self.known, Y)
        self.left -= found.spent
        if found.objective <= (1 + _NEAR) * best.objective:
            found = descend(self.task, self.known, found.membership)
            self.left -= found.spent
        return found


def holding(Y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the columns of Y that hold anything, and an empty one if any is empty.

    As far as a descent goes from there all empty clusters are alike, and one of them is enough.
    """
    held = Y.sum(axis=0) >= min(_EMPTY, 0.1 * len(Y) / Y.shape[1])
    if held.all():
        return Y
    kept = np.pad(Y[:, held], ((0, 0), (0, 1)))
    # Who was in the others alone.
    kept[~kept.any(axis=1)] = 1.0 / kept.shape[1]
    kept /= kept.sum(axis=1, keepdims=True)
    return kept


def _matrices(known: PairEvidence) -> list[Any]:
    """Return c and N as matrices of doubles."""
    if not isinstance(known, SparseEvidence):
        return [values.astype(np.float64) for values in known]
    both, n = (known.counts, known.copresence), known.n_samples
    return [
        csr_array((x.astype(np.float64), known.indices, known.indptr), shape=(n, n)) for x in both
    ]
