"""The factored least-squares solver: starts on a subset, extension, sweeps over all objects.

The mathematics and the kernel are in ``_kernels/factored.h``. This module decides how to use it;
``multistart.py`` finds where to begin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import FactoredSolver
from conclust._random import spawn_generators
from conclust.consensus.probabilistic.factored_model import (
    FactoredModel,
    padded,
    random_membership,
    uniform,
)
from conclust.consensus.probabilistic.multistart import best_start
from conclust.consensus.probabilistic.objective import squared, together
from conclust.ensemble import Ensemble

__all__ = ["FactoredModel", "FactoredSolution", "padded", "random_membership", "solve", "uniform"]

# Starts are compared, and the paper's objective is estimated, on this many objects a cluster, within
# bounds: more changes the choice rarely and costs each time.
SUBSET = 500
SUBSET_BOUNDS = (2000, 4000)
# The rest of the evidence is added in parts that grow by this factor, each solved before the next: what
# takes many sweeps is done where they are cheap. A part is at its end when a sweep lowers the
# objective by less than this share of it.
GROWTH = 8
PART_TOL = 1e-5
PART_SWEEPS = 30
# Floating error of the sums is cleared this often.
REBUILD_EVERY = 10


@dataclass(frozen=True)
class FactoredSolution:
    """A stationary membership and how it was reached."""

    membership: NDArray[np.float64]
    loss: float
    residual: float
    n_iter: int
    converged: bool
    trace: tuple[tuple[float, float], ...]
    model: FactoredModel


def solve(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    start: NDArray[np.float64] | None,
    n_init: int,
    max_iter: int,
    tol: float,
    tol_kkt: float,
    seed: np.random.SeedSequence,
    threads: int,
    report: Callable[[str], None],
) -> FactoredSolution:
    """Minimise F over all pairs (``_kernels/factored.h``).

    `start` is a membership (n_samples, n_clusters), or None: `n_init` random starts are descended
    on a subset, and the best of them is extended to all objects. `loss` and `trace` are of F.
    """
    n = ensemble.n_samples
    model = FactoredModel.of(ensemble)
    chooser, escaper, *drawers = spawn_generators(seed, n_init + 2)
    order = chooser.permutation(n)
    low, high = SUBSET_BOUNDS
    chosen = order[: min(max(SUBSET * n_clusters, low), high)].copy()  # shuffled, also if it is all
    few = ensemble._some(chosen)
    explained = squared(few, threads)
    solver = _solver(model, ensemble, n_clusters)
    if start is None:
        best = best_start(few, model, n_clusters, explained, drawers, escaper, threads)
        report(
            f"{n_init} starts on {len(chosen):,} of {n:,} objects; {best.escapes} splits and merges "
            "lowered the best"
        )
        if len(chosen) == n:
            Y = uniform(n, n_clusters)
            Y[chosen] = best.Y
        else:
            objective = max(best.loss + explained, 0.0) / _pairs(len(chosen))
            solver.take_sums(
                _grown(best.solver, ensemble, order, n_clusters, model, objective, threads, report)
            )
            Y = uniform(n, n_clusters)
            solver.assign(Y, 1e-3, threads)
    else:
        Y = padded(start)
    sample = _solver(model, few, n_clusters)
    del order
    solver.rebuild(Y, threads)
    constant = _together(ensemble, solver)
    loss = solver.objective() + constant
    trace = [(loss, np.nan)]
    converged = False
    residual = np.inf
    n_iter = 0
    while n_iter < max_iter and not converged:
        # Relative to f itself: the loss has a large part that no membership changes.
        sample.rebuild(Y[chosen], threads)
        f = max(sample.objective() + explained, 0.0) * _pairs(n) / _pairs(len(chosen))
        enough = tol * f
        change, residual, _ = solver.sweep(Y, 0.1 * tol_kkt, enough / n, threads)
        n_iter += 1
        if n_iter % REBUILD_EVERY == 0:
            solver.rebuild(Y, threads)
        loss = solver.objective() + constant
        trace.append((loss, residual))
        report(
            f"sweep {n_iter}: loss {loss:.10g}, lowered by {-change:.3g}, residual {residual:.3g}"
        )
        if residual <= tol_kkt:  # at the visits; objects moved since
            residual = solver.residual(Y, threads)
        converged = -change <= enough or residual <= tol_kkt
    if n_iter >= REBUILD_EVERY:
        solver.rebuild(Y, threads)
        loss = solver.objective() + constant
    residual = solver.residual(Y, threads)
    converged = converged or residual <= tol_kkt
    model.keep(solver, n_clusters)
    return FactoredSolution(
        Y[:, :n_clusters], loss, residual, n_iter, converged, tuple(trace), model
    )


def _solver(model: FactoredModel, ensemble: Ensemble, n_clusters: int) -> FactoredSolver:
    complete = not (ensemble.has_missing or ensemble.has_noise)
    soft = ensemble.indicator if ensemble.is_soft else None
    return model.solver(ensemble.codes, n_clusters, complete=complete, soft=soft)


def _pairs(n: int) -> float:
    return 0.5 * n * (n - 1)


def _together(ensemble: Ensemble, solver: FactoredSolver) -> float:
    """Return the loss of no membership; the solver's sums add up to the clusters' sizes."""
    if ensemble.is_soft:
        return together(ensemble)
    sizes = np.rint(solver.sums.reshape(int(ensemble.offsets[-1]), -1).sum(axis=1))
    return together(ensemble, sizes.astype(np.int64))


def _grown(
    solver: FactoredSolver,
    ensemble: Ensemble,
    order: NDArray[np.int64],
    n_clusters: int,
    model: FactoredModel,
    objective: float,
    threads: int,
    report: Callable[[str], None],
) -> FactoredSolver:
    """Solve growing parts of the objects, each from the sums of the one before.

    `objective` is f per pair, about.
    """
    n = ensemble.n_samples
    sizes: list[int] = []
    while (size := n // GROWTH ** (len(sizes) + 1)) >= 2 * SUBSET_BOUNDS[1]:
        sizes.append(size)
    for size in reversed(sizes):
        part = ensemble._some(np.sort(order[:size]))
        before, solver = solver, _solver(model, part, n_clusters)
        solver.take_sums(before)
        Y = uniform(size, n_clusters)
        solver.assign(Y, 1e-3, threads)
        solver.rebuild(Y, threads)
        enough = PART_TOL * objective * _pairs(size)
        for _ in range(PART_SWEEPS):
            change, _, _ = solver.sweep(Y, 1e-7, enough / size, threads)
            if -change <= enough:
                break
        report(f"{size:,} of {n:,} objects: the last sweep lowered the loss by {-change:.3g}")
    return solver
