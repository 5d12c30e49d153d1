"""The pairwise solver: block coordinate descents from several starts, for any divergence.

One descent is in ``descent.py``, its mathematics in ``_kernels/pair_objective/pairwise/solver.h``.

A sweep over all pairs of n objects costs n^2. With more than 1,000 objects a quarter of them is solved
first, in the same way, and the others are placed against that solution: few sweeps over all are then
needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from conclust._random import spawn_generators
from conclust._threads import one_library_thread
from conclust._types import Floats
from conclust.consensus.papers.probabilistic.descent import negligible, objective, solved_from
from conclust.consensus.papers.probabilistic.placements.landmarks import LandmarkModel
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Solution, Stopping
from conclust.consensus.papers.probabilistic.search.multistart import escape, ways_out
from conclust.consensus.papers.probabilistic.search.starts import inside, off_border, random_starts
from conclust.consensus.papers.probabilistic.solvers.factored import WIDE, near_solution
from conclust.consensus.voting.alignment import match_to_first
from conclust.consensus.voting.ballots import spread, tally
from conclust.ensemble import Ensemble
from conclust.evidence.dense import narrow_evidence

# With more objects than this a part is solved first: a quarter of the objects, and at least this number.
PART = 1000
_GROWTH = 4
# The part is solved until a sweep lowers the objective by less than _PART_TOL of it; the others are placed to
# within the gap _PLACED.
_PART_TOL = 1e-4
_PLACED = 1e-3
# Two solutions of the part are compared after this number of sweeps over all objects.
_LOOK = 2


@dataclass(frozen=True)
class Pairwise:
    """Minimise f by visiting the objects, each in turn a convex problem given all others.

    Without a start: from near the least-squares solution, or from random starts and merged and split clusters
    (`better_of_tries`); with many objects, from the solution of a part.
    """

    forms_pairs = True
    draws_starts = False

    def solve(
        self, problem: Problem, start: Floats | None, stopping: Stopping, run: Run
    ) -> Solution:
        """Return the solution that a start leads to; None: the best of several."""
        if start is not None:
            return solved_from(problem, start, stopping, run)
        best = self._searched(problem, stopping, run)
        n_found = len(np.unique(best.membership.argmax(axis=1)))
        if problem.n_clusters > WIDE >= n_found and run.n_init > 1:
            narrow = self._searched(replace(problem, n_clusters=WIDE), stopping, run)
            best = min(best, narrow, key=lambda solution: solution.objective)
        surplus = problem.n_clusters - best.membership.shape[1]
        return replace(best, membership=np.pad(best.membership, ((0, 0), (0, surplus))))

    def _searched(self, problem: Problem, stopping: Stopping, run: Run) -> Solution:
        """Return the best of several descents; its membership may lack columns of empty clusters."""
        pairs, d = problem.pairs, problem.divergence
        if problem.ensemble.is_soft and pairs.of_all_pairs:
            mean = _mean_of_matched(problem.ensemble, problem.n_clusters)
            if objective(pairs, mean, d, run.threads) <= negligible(pairs, d):
                return solved_from(problem, mean, stopping, run)
        begin = holding(near_solution(problem, run))
        return best_descent(problem, begin if problem.is_squared else inside(begin), stopping, run)


def _mean_of_matched(ensemble: Ensemble, n_clusters: int) -> Floats:
    """Return the mean of the partitions, their clusters matched: next to the solution where they agree."""
    votes = match_to_first(ensemble, n_clusters)
    return off_border(spread(tally(ensemble, votes), ensemble.observed_weights))


def best_descent(problem: Problem, start: Floats, stopping: Stopping, run: Run) -> Solution:
    """Descend from a start or from better ones; with many objects, start from the solution of a part.

    The membership may lack columns of empty clusters, as the start may.
    """
    # Objects can be placed only with a built-in divergence.
    few = not problem.pairs.of_all_pairs or problem.ensemble.n_samples <= PART
    if few or problem.divergence._kernel is None:
        return _candidates(problem, start, stopping, run)[-1]
    extended = _extended(problem, start, stopping, run)
    if len(extended) > 1:
        look = replace(stopping, max_iter=min(_LOOK, stopping.max_iter))
        begun = [solved_from(problem, Y, look, run) for Y in extended]
        extended = [min(begun, key=lambda solution: solution.objective).membership]
    return solved_from(problem, extended[0], stopping, run)


def _candidates(problem: Problem, start: Floats, stopping: Stopping, run: Run) -> list[Solution]:
    """Return the solution from a start, and also a better one if tries find it."""
    first = solved_from(problem, start, stopping, run)
    # Of soft partitions every pair says much: more tries found nothing better in a dozen pools of two to four modes.
    if run.n_init == 1 or problem.ensemble.is_soft:
        return [first]
    best = better_of_tries(problem, first, stopping, run)
    return [first] if best.objective == first.objective else [first, best]


def _extended(problem: Problem, start: Floats, stopping: Stopping, run: Run) -> list[Floats]:
    """Solve some of the objects on all their pairs and place the others against them.

    The best solution of the smallest part need not be the best for all: then two of its solutions are kept.
    """
    ensemble = problem.ensemble
    n = ensemble.n_samples
    size = max(PART, n // _GROWTH)
    drawer, other = spawn_generators(run.seed, 2)
    chosen = np.sort(drawer.permutation(n)[:size])
    others = np.delete(np.arange(n), chosen)
    part = problem.part(chosen)
    part = replace(part, evidence=narrow_evidence(part.ensemble, run.threads))
    of_part = replace(run, seed=np.random.SeedSequence(int(other.integers(2**63))))
    soft = ensemble.indicator if ensemble.is_soft else None
    among = _candidates if size <= PART else _only
    extended = []
    for solved in among(part, start[chosen], stopping.roughly(_PART_TOL), of_part):
        run.report(f"{size:,} of {n:,} objects: objective {solved.objective:.10g}")
        model = LandmarkModel.of(part.ensemble, solved.membership, problem.divergence)
        Y = np.empty((n, solved.membership.shape[1]))
        Y[chosen] = solved.membership
        Y[others] = model.placed(ensemble.codes, _PLACED, run.threads, objects=others, soft=soft)[0]
        extended.append(Y)
    return extended


def _only(problem: Problem, start: Floats, stopping: Stopping, run: Run) -> list[Solution]:
    return [best_descent(problem, start, stopping, run)]


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
