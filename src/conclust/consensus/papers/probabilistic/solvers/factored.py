"""The factored solver, of least squares: starts on a subset, extension, sweeps over all objects.

The mathematics and the kernel are in ``_kernels/pair_objective/factored/solver.h``. This module decides
how to use it; ``multistart.py`` finds where to begin. Sums are of F, which is f plus the constant
`together` - `squared` of ``objective.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from conclust._kernels import FactoredSolver, factored_stride
from conclust._random import spawn_generators
from conclust._types import Floats
from conclust.consensus.papers.probabilistic.objective import squared, together
from conclust.consensus.papers.probabilistic.placements.factored_model import (
    FactoredModel,
    padded,
    uniform,
)
from conclust.consensus.papers.probabilistic.problem import EXACT, Problem, Run, Solution, Stopping
from conclust.consensus.papers.probabilistic.search.multistart import best_start
from conclust.ensemble import Ensemble

# Starts are compared, and the paper's objective is estimated, on this number of objects per
# cluster, within bounds: more objects cost time and rarely change the choice.
SUBSET = 500
SUBSET_BOUNDS = (2000, 4000)
# Of soft partitions fewer objects say as much, and a sweep costs several times as much.
SOFT_BOUNDS = (1000, 1000)
# The rest of the evidence is added in parts that grow by this factor, each solved before the next: most
# sweeps are made where they are cheap. A part ends when a sweep lowers the objective by less than
# this share of it, or after sweeps that cost as much as PART_COST over all objects. Slow changes
# are common to all objects (a joint rotation of all memberships lowers the objective little and
# slowly): they must converge in the parts, so the share is far below the one that ends the sweeps
# over all.
GROWTH = 8
PART_TOL = 3e-7
PART_SWEEPS = 100
PART_COST = 3
# Interval, in sweeps, at which rounding errors of the sums are cleared.
REBUILD_EVERY = 10
# Over-relaxation begins only where its factor would be the first one, and is at most the second one: with
# that a sweep leaves a quarter of the possible gain, even where plain sweeps would leave less.
RELAXATION = (1.2, 1.5)
# Sweeps that gain less than this share of F are plain: over-relaxed ones would end in rounding first.
VISIBLE = 1e-8


# A bound above this one is far above the clusters of most solutions. A random start with that number of columns may use up the
# work that the search is given: where the solution has no more clusters than this, the search is made with this bound too.
WIDE = 50
# Maximum number of objects for which the constant is computed, which needs all pairs.
COUNTED = 20_000


@dataclass(frozen=True)
class Factored:
    """Minimise f for a multiple of squared l2, over all pairs, none of them formed.

    Without a start `n_init` random ones are descended on a subset of the objects, and the best of
    them is extended to all.

    Attributes
    ----------
    counted : int, default=20,000
        Maximum number of objects for which the constant in F is computed.
    per_cluster : int, default=500
        Number of objects per cluster on which starts are compared.
    bounds : tuple of int, default=(2000, 4000)
        Minimum and maximum number of these objects.
    """

    counted: int = COUNTED
    per_cluster: int = SUBSET
    bounds: tuple[int, int] = SUBSET_BOUNDS
    forms_pairs = False
    draws_starts = True

    def solve(
        self, problem: Problem, start: Floats | None, stopping: Stopping, run: Run
    ) -> Solution:
        """Return the solution that a start leads to; None: the best of several."""
        best = self._solved(problem, start, stopping, run)
        n_found = len(np.unique(best.membership.argmax(axis=1)))
        if start is None and problem.n_clusters > WIDE >= n_found and run.n_init > 1:
            narrow = self._solved(replace(problem, n_clusters=WIDE), None, stopping, run)
            if narrow.objective < best.objective:
                surplus = problem.n_clusters - WIDE
                begin = np.pad(narrow.membership, ((0, 0), (0, surplus)))
                best = self._solved(problem, begin, stopping, run)
        return best

    def _solved(
        self, problem: Problem, start: Floats | None, stopping: Stopping, run: Run
    ) -> Solution:
        work = _Work(problem, run, per_cluster=self.per_cluster, bounds=self.bounds)
        Y = work.begin() if start is None else padded(start)
        trace, residual, n_iter, converged = _descend(work, Y, stopping)
        ensemble = problem.ensemble
        constant = None
        if ensemble.n_samples <= self.counted:
            constant = together(ensemble) - squared(ensemble, run.threads)
        kernel = problem.divergence._kernel
        scale = 1.0 if kernel is None else kernel.scale
        less = constant or 0.0
        return Solution(
            membership=Y[:, : problem.n_clusters],
            objective=scale * (trace[-1][0] - less),
            residual=scale * residual,
            n_iter=n_iter,
            converged=converged,
            trace=scale * (np.array(trace) - [less, 0.0]),
            constant=None if constant is None else scale * constant,
            placement=work.model,
        )


def near_solution(problem: Problem, run: Run) -> Floats:
    """Return a membership (n_samples, n_clusters) near the least-squares solution.

    The problem is solved on a part; every object has its best membership against that solution.
    """
    bounds = SOFT_BOUNDS if problem.ensemble.is_soft else SUBSET_BOUNDS
    Y = _Work(problem, run, bounds=bounds).begin()
    run.report(f"begin near the least-squares solution for {len(Y):,} objects")
    return Y[:, : problem.n_clusters]


def solved_sample(problem: Problem, model: FactoredModel, run: Run) -> tuple[FactoredModel, float]:
    """Return the sums of a solution of a sample, and its approximate f per pair.

    `model` groups the partitions by the objects that they observed, beyond the sample.
    """
    work = _Work(problem, run, model)
    Y = work.begin()
    solver = work.solver(problem.ensemble)
    solver.rebuild(Y, run.threads)
    sample = work.solver(work.few)
    n = len(Y)
    for _ in range(PART_SWEEPS):
        sample.rebuild(Y[work.chosen], run.threads)
        f = work.per_pair(sample.objective())
        enough = PART_TOL * f * _pairs(n)
        change, _ = work.pace.sweep(solver, Y, 1e-7, enough / n)
        if -change <= enough:
            break
    return model.kept(solver, problem.n_clusters), f


def _descend(
    work: _Work, Y: Floats, stopping: Stopping
) -> tuple[list[tuple[float, float]], float, int, bool]:
    """Sweep over all objects; return the trace of F, the residual, the sweeps, whether it converged."""
    n, threads = len(Y), work.run.threads
    n_clusters = work.problem.n_clusters
    solver, sample = work.solver(work.ensemble), work.solver(work.few)
    solver.rebuild(Y, threads)
    constant = _together(work.ensemble, solver, n_clusters)
    loss = solver.objective() + constant
    trace = [(loss, np.nan)]
    converged = False
    residual = np.inf
    n_iter = 0
    while n_iter < stopping.max_iter and not converged:
        # Relative to f itself: the loss has a large part that no membership changes.
        sample.rebuild(Y[work.chosen], threads)
        f = work.per_pair(sample.objective()) * _pairs(n)
        enough = stopping.tol * f
        change, residual = work.pace.sweep(solver, Y, 0.1 * stopping.tol_kkt, enough / n)
        n_iter += 1
        if n_iter % REBUILD_EVERY == 0:
            solver.rebuild(Y, threads)
        loss = solver.objective() + constant
        trace.append((loss, residual))
        work.run.report(
            f"sweep {n_iter}: loss {loss:.10g}, lowered by {-change:.3g}, residual {residual:.3g}",
            n_iter,
            stopping.max_iter,
        )
        if residual <= stopping.tol_kkt:  # measured at the visits; objects have moved since
            residual = solver.residual(Y, threads)
        converged = -change <= enough or residual <= stopping.tol_kkt
    if n_iter >= REBUILD_EVERY:
        solver.rebuild(Y, threads)
        trace[-1] = (solver.objective() + constant, trace[-1][1])
    residual = solver.residual(Y, threads)
    work.model = work.model.kept(solver, n_clusters)
    return trace, residual, n_iter, converged or residual <= stopping.tol_kkt


def further(relaxation: float, gain: float, before: float, visible: float) -> float:
    """Return the relaxation of the next sweep: larger if the objective falls more slowly.

    If a plain sweep leaves the share r of the possible gain, steps of 2 / (1 + sqrt(1 - sqrt(r))) times
    the step to the minimiser leave the least (Young 1954). r is estimated by the gain of a sweep over the
    gain of the sweep before; a gain that is not `visible` is uninformative.
    """
    if not (before > 0.0 and gain > visible):
        return relaxation
    share = gain / before
    best = 2.0 / (1.0 + math.sqrt(1.0 - math.sqrt(share))) if share < 1.0 else 1.0
    least, most = RELAXATION
    return max(relaxation, min(best, most)) if best >= least else relaxation


class _Pace:
    """Sweeps with successive over-relaxation."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.relaxation = 1.0
        self._gain = 0.0
        self._usual = 1.0

    def begin(self) -> None:
        """Restart with other objects of the same evidence, which converge at the same rate.

        The new part concerns single objects, for which a plain sweep is best.
        """
        self._usual, self.relaxation = max(self._usual, self.relaxation), 1.0
        self._gain = 0.0

    def sweep(
        self, solver: FactoredSolver, Y: Floats, tol: float, negligible: float
    ) -> tuple[float, float]:
        """Sweep over all objects; return the change of F and the largest residual met."""
        how = (tol, negligible, self.threads)
        change, residual, shortened = solver.sweep(Y, *how, self.relaxation)
        visible = VISIBLE * abs(solver.objective())
        # The step was too long, or the sweeps have converged.
        if self.relaxation > 1.0 and (shortened or -change <= visible):
            self.relaxation = 1.0
            plain, residual, _ = solver.sweep(Y, *how)
            change += plain
        usual = max(self.relaxation, self._usual)
        self.relaxation, self._usual = further(usual, -change, self._gain, visible), 1.0
        self._gain = -change
        return change, residual


class _Work:
    """A problem, and the subset of the objects that the starts are compared on."""

    def __init__(
        self,
        problem: Problem,
        run: Run,
        model: FactoredModel | None = None,
        per_cluster: int = SUBSET,
        bounds: tuple[int, int] = SUBSET_BOUNDS,
    ) -> None:
        self.problem, self.run, self.ensemble = problem, run, problem.ensemble
        self.model = FactoredModel.of(self.ensemble) if model is None else model
        self.pace = _Pace(run.threads)
        chooser, *self._generators = spawn_generators(run.seed, run.n_init + 2)
        order = chooser.permutation(self.ensemble.n_samples)
        low, high = bounds
        # Shuffled, even if it contains all objects.
        self.chosen = order[: min(max(per_cluster * problem.n_clusters, low), high)].copy()
        self._order = order[: len(order) // GROWTH].copy()  # sizes of the parts
        self.few = self.ensemble.part(self.chosen)
        self.explained = squared(self.few, run.threads)

    def solver(self, part: Ensemble) -> FactoredSolver:
        """Return the kernel's solver for some of the objects."""
        return self.model.solver(part.label_view, self.problem.n_clusters)

    def per_pair(self, loss: float) -> float:
        """Return f per pair of the subset, from F less its constant there."""
        return max(loss + self.explained, EXACT * self.explained) / _pairs(len(self.chosen))

    def begin(self) -> Floats:
        """Return the best start on the subset, extended to all objects, in the kernel's layout."""
        best = best_start(
            self.few,
            self.model,
            self.problem.n_clusters,
            self.explained,
            self._generators,
            self.run.threads,
            whole=len(self.chosen) == self.ensemble.n_samples,
        )
        n = self.ensemble.n_samples
        self.run.report(
            f"{self.run.n_init} starts on {len(self.chosen):,} of {n:,} objects; {best.escapes} splits "
            "and merges lowered the best"
        )
        Y = uniform(n, self.problem.n_clusters)
        if len(self.chosen) == n:
            Y[self.chosen] = best.Y
        else:
            solver = self.solver(self.ensemble)
            solver.take_sums(self._grown(best.solver, self.per_pair(best.loss)))
            solver.assign(Y, 1e-3, self.run.threads)
        self.pace.begin()
        return Y

    def _grown(self, solver: FactoredSolver, f: float) -> FactoredSolver:
        """Solve growing parts of the objects, each from the sums of the one before.

        `f` is the objective per pair, about.
        """
        n = self.ensemble.n_samples
        sizes: list[int] = []
        while (size := n // GROWTH ** (len(sizes) + 1)) >= 2 * SUBSET_BOUNDS[1]:
            sizes.append(size)
        for size in reversed(sizes):
            part = self.ensemble.part(np.sort(self._order[:size]))
            before, solver = solver, self.solver(part)
            solver.take_sums(before)
            Y = uniform(size, self.problem.n_clusters)
            solver.assign(Y, 1e-3, self.run.threads)
            solver.rebuild(Y, self.run.threads)
            self.pace.begin()
            enough = PART_TOL * f * _pairs(size)
            gain, sweeps = np.inf, 0
            while gain > enough and sweeps < min(PART_SWEEPS, PART_COST * n // size):
                gain = -self.pace.sweep(solver, Y, 1e-7, enough / size)[0]
                sweeps += 1
            self.run.report(
                f"{size:,} of {n:,} objects: {sweeps} sweeps, the last lowered the loss by {gain:.3g}"
            )
        return solver


def _pairs(n: int) -> float:
    """Return the number of pairs to divide by; 1 for a single object, where the loss is 0."""
    return max(0.5 * n * (n - 1), 1.0)


def _together(ensemble: Ensemble, solver: FactoredSolver, n_clusters: int) -> float:
    """Return the loss of zero memberships; the solver's sums are the sizes of the clusters."""
    if ensemble.is_soft:
        return together(ensemble)
    stride = factored_stride(n_clusters)
    sizes = np.rint(solver.sums.reshape(-1, stride).sum(axis=1))
    return together(ensemble, sizes)
