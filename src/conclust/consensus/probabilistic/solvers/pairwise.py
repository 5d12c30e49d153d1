"""The pairwise solver: block coordinate descents from several starts, for any divergence.

One descent is in ``descent.py``, its mathematics in ``_kernels/pair_objective/pairwise/solver.h``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from conclust._types import Floats
from conclust.consensus.probabilistic.descent import solved_from
from conclust.consensus.probabilistic.problem import Problem, Run, Solution, Stopping
from conclust.consensus.probabilistic.search.multilevel import best_descent
from conclust.consensus.probabilistic.search.starts import inside
from conclust.consensus.probabilistic.search.tries import holding
from conclust.consensus.probabilistic.solvers.factored import WIDE, near_solution


@dataclass(frozen=True)
class Pairwise:
    """Minimise f by visiting the objects, each in turn a convex problem given all others.

    Without a start: from near the least-squares solution, or from random starts and merged and split clusters
    (``search/tries.py``); with many objects, from the solution of a part (``search/multilevel.py``).
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
        begin = holding(near_solution(problem, run))
        return best_descent(problem, begin if problem.is_squared else inside(begin), stopping, run)
