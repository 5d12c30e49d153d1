"""Better solutions of the pairwise solver: more starts and escapes, within a budget of work.

Given a first solution, random starts may end lower, and so may the best solution with two clusters
merged and a third split (``merge_split.py``). For few objects every useful try is made; for more, as far
as a fixed amount of work goes (`BUDGET`, counted by the kernel: the same on every machine). So no limit
on the number of objects makes the time jump.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conclust._random import spawn_generators
from conclust._threads import one_library_thread
from conclust._types import Floats
from conclust.consensus.probabilistic.descent import solved_from
from conclust.consensus.probabilistic.problem import Problem, Run, Solution, Stopping
from conclust.consensus.probabilistic.search.merge_split import escape, ways_out
from conclust.consensus.probabilistic.search.starts import inside, random_starts

# Budget of the tries for five starts, in approximate multiplications and additions
# (`Solution.spent`). Random starts use at most half of it. It takes some tenths of a second.
BUDGET = 1_000_000_000
# Escapes end after this number of failures in a row, times the number of non-empty clusters.
PATIENCE = 3
# A try descends until a sweep lowers the objective by less than this share; it continues only if it
# is within the second share of the best. An escape must lower the best by the third share to be
# kept.
_ROUGH = 1e-3
_NEAR = 5e-3
_GAIN = 1e-4
# An objective below this share of the sum of N is 0 up to rounding.
_ROUNDING = 1e-10
# A cluster with less than this share of an object counts as empty.
_EMPTY = 0.01


def better_of_tries(problem: Problem, first: Solution, stopping: Stopping, run: Run) -> Solution:
    """Return the best of a first solution, random starts and escapes.

    Its membership may lack columns of empty clusters.
    """
    pair_evidence = problem.pairs
    nothing = _ROUNDING * float(pair_evidence.copresence.sum(dtype=np.float64))
    tries = _Tries(problem, stopping, run)
    best = first
    if not tries.affords(0.5 * first.spent):
        return best
    c, N = pair_evidence.matrices()
    for Y in random_starts(problem, run):
        if best.objective <= nothing or not tries.affords(first.spent, 0.5):
            break
        best = min(best, tries.descend(Y, best), key=lambda solution: solution.objective)
    if best.objective <= nothing:
        return best
    generator = spawn_generators(run.seed, run.n_init + 1)[-1]

    def ways(at: Solution) -> Iterator[Floats]:
        Y = holding(at.membership)
        together, present = Y.T @ (c @ Y), Y.T @ (N @ Y)
        against = present - together
        for way in ways_out(Y, against - together, against.diagonal(), lambda x: c @ x, generator):
            if not tries.affords(0.5 * first.spent):
                return
            yield way

    def down(Y: Floats, best: Solution) -> Solution:
        return tries.descend(Y if problem.is_squared else inside(Y), best)

    def better(other: Solution, best: Solution) -> bool:
        return other.objective < best.objective - max(_GAIN * best.objective, nothing)

    patience = PATIENCE * holding(best.membership).shape[1]
    with one_library_thread():
        best = escape(best, ways, down, better, patience)
    run.report(f"{tries.made} more descents: objective {best.objective:.10g}")
    return best


class _Tries:
    """Descents with a limit on their total work."""

    def __init__(self, problem: Problem, stopping: Stopping, run: Run) -> None:
        self.problem, self.stopping, self.run = problem, stopping, run
        self.budget = self.left = BUDGET * run.n_init // 5
        self.made = 0

    def affords(self, work: float, reserved: float = 0.0) -> bool:
        """Return whether this amount of work is left, apart from a reserved share."""
        return self.left - work >= reserved * self.budget

    def descend(self, Y: Floats, best: Solution) -> Solution:
        """Descend; to the end only near the best."""
        self.made += 1
        solution = self._descend(Y, self.stopping.roughly(_ROUGH), self.run.silently())
        if solution.objective <= (1 + _NEAR) * best.objective:
            solution = self._descend(solution.membership, self.stopping, self.run)
        return solution

    def _descend(self, Y: Floats, stopping: Stopping, run: Run) -> Solution:
        solution = solved_from(self.problem, Y, stopping, run)
        self.left -= solution.spent
        return solution


def holding(Y: Floats) -> Floats:
    """Return the non-empty columns of Y, and one empty column if there is any.

    All empty clusters are equivalent for a descent from there, so one of them is enough.
    """
    nonempty = Y.sum(axis=0) >= min(_EMPTY, 0.1 * len(Y) / Y.shape[1])
    if nonempty.all():
        return Y
    columns = np.pad(Y[:, nonempty], ((0, 0), (0, 1)))
    # Objects that were only in dropped clusters.
    columns[~columns.any(axis=1)] = 1.0 / columns.shape[1]
    columns /= columns.sum(axis=1, keepdims=True)
    return columns
