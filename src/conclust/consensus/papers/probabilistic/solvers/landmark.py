"""The landmark solver: a few objects solved on all their pairs, all others placed against them.

A sample of pairs gives each object too few of them: thirty pairs fit K - 1 parameters badly. Here a
sample of objects, the landmarks, is solved on all its pairs; then every other object is a convex
problem of its own against all landmarks (``placements/landmarks.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from conclust import divergences
from conclust._random import spawn_generators
from conclust._types import Floats, Ints
from conclust.consensus.papers.probabilistic.descent import descend
from conclust.consensus.papers.probabilistic.placements.landmarks import N_PROTOTYPES, LandmarkModel
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Solution, Stopping
from conclust.consensus.papers.probabilistic.search.starts import inside
from conclust.consensus.papers.probabilistic.solvers.factored import Factored
from conclust.evidence.dense import narrow_evidence

# Number of landmarks: a sweep over them costs its square, and the accuracy of all placements grows with it.
N_LANDMARKS = 2000
# Number of objects above which drawing does not permute all of them.
_PERMUTED = 10_000_000


@dataclass(frozen=True)
class Landmark:
    """Minimise f over all pairs of landmarks, then of every object with them.

    Landmarks are drawn uniformly from the objects; ``stopping`` is for their solution. Without a start
    they begin at their own least-squares solution. Of the `Solution`, the objective is f over the
    pairs of landmarks, plus for each other object the sum of N_g d(c_g / N_g, y'm_g) over the
    prototypes; the residual the largest gap, of the landmarks among themselves and of each other
    object against the prototypes; iterations and trace are the landmarks'.

    Attributes
    ----------
    n_landmarks : int, default=2000
        Number of landmarks.
    n_prototypes : int, default=128
        Maximum number of prototypes into which they are pooled.
    """

    n_landmarks: int = N_LANDMARKS
    n_prototypes: int = N_PROTOTYPES
    forms_pairs = False
    draws_starts = False

    def drawn(self, n: int, run: Run) -> Ints:
        """Return which of n objects are taken as landmarks, sorted."""
        drawer, _ = spawn_generators(run.seed, 2)
        count = min(n, self.n_landmarks)
        if n > _PERMUTED:
            return np.sort(drawer.choice(n, count, replace=False)).astype(np.int64)
        return np.sort(drawer.permutation(n)[:count]).astype(np.int64)

    def landmarks(self, problem: Problem, run: Run) -> Ints:
        """Return the objects taken as landmarks, sorted."""
        return self.drawn(problem.ensemble.n_samples, run)

    def among(self, part: Problem, start: Floats | None, stopping: Stopping, run: Run) -> Solution:
        """Return the solution of the landmarks, on all their pairs."""
        solved = descend(
            narrow_evidence(part.ensemble, run.threads),
            self._begin(part, stopping, run) if start is None else start,
            part.divergence,
            stopping,
            threads=run.threads,
            report=run.report,
        )
        run.report(
            f"{part.ensemble.n_samples:,} landmarks: objective {solved.objective:.10g}, "
            f"{solved.n_iter} iterations"
        )
        return solved

    def solve(
        self, problem: Problem, start: Floats | None, stopping: Stopping, run: Run
    ) -> Solution:
        """Return the solution from a start of all objects; None: the best of several."""
        chosen = self.landmarks(problem, run)
        part = problem.part(chosen)
        solved = self.among(part, None if start is None else start[chosen], stopping, run)
        return self.with_others(problem, chosen, part, solved, stopping, run)

    def with_others(
        self,
        problem: Problem,
        chosen: Ints,
        part: Problem,
        solved: Solution,
        stopping: Stopping,
        run: Run,
    ) -> Solution:
        """Extend the solution of the landmarks to all objects.

        Parameters
        ----------
        problem : Problem
            The problem of all objects.
        chosen : ndarray of int64 of shape (n_landmarks,)
            The landmarks, in increasing order.
        part, solved : Problem, Solution
            Their problem and its solution.
        stopping : Stopping
            The gap of the other objects.
        run : Run
            Threads and lines of progress.
        """
        n = problem.ensemble.n_samples
        model = LandmarkModel.of(
            part.ensemble, solved.membership, problem.divergence, self.n_prototypes
        )
        others = np.delete(np.arange(n), chosen)
        Y = np.empty((n, problem.n_clusters))
        Y[chosen] = solved.membership
        ensemble = problem.ensemble
        Y[others], loss, gap = model.placed(
            ensemble.codes,
            max(stopping.tol_kkt, 1e-9),
            run.threads,
            objects=others,
            soft=ensemble.indicator if ensemble.is_soft else None,
            report=run.report,
        )
        return replace(
            solved,
            membership=Y,
            objective=solved.objective + loss,
            residual=max(solved.residual, gap),
            placement=model,
        )

    def _begin(self, part: Problem, stopping: Stopping, run: Run) -> Floats:
        """Return the landmarks' least-squares solution, moved inside the simplex."""
        _, other = spawn_generators(run.seed, 2)
        start_run = replace(run.silently(), seed=np.random.SeedSequence(int(other.integers(2**63))))
        squares = replace(part, divergence=divergences.l2)
        return inside(Factored(counted=0).solve(squares, None, stopping, start_run).membership)
