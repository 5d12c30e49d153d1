"""The factored least-squares solver: starts on a subset, extension, sweeps over all objects.

The mathematics and the kernel are in ``_kernels/factored.h``. This module decides how to use it;
``multistart.py`` finds where to begin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

# Starts are compared on this many objects: more changes the choice rarely and costs each time.
SUBSET = 4000
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
    complete = not (ensemble.has_missing or ensemble.has_noise)
    soft = ensemble.indicator if ensemble.is_soft else None
    solver = model.solver(ensemble.codes, n_clusters, complete=complete, soft=soft)
    constant = together(ensemble)
    chooser, escaper, *drawers = spawn_generators(seed, n_init + 2)
    chosen = chooser.permutation(n)[:SUBSET]  # shuffled, also when it is everything
    few = ensemble._some(chosen)
    explained = squared(few, threads)
    noise_share = 1.0 - explained / max(together(few), 1e-300)
    if start is None:
        best = best_start(few, model, n_clusters, explained, drawers, escaper, threads)
        report(
            f"{n_init} starts on {len(chosen):,} of {n:,} objects; {best.escapes} splits and merges "
            "lowered the best"
        )
        Y = uniform(n, n_clusters)
        if len(chosen) == n:
            Y[chosen] = best.Y
        else:
            solver.take_sums(best.solver)
            solver.assign(Y, 1e-3, threads)
    else:
        Y = padded(start)
    solver.rebuild(Y, threads)
    loss = solver.objective() + constant
    trace = [(loss, np.nan)]
    converged = False
    residual = np.inf
    n_iter = 0
    while n_iter < max_iter and not converged:
        # Relative to f itself: the loss without the part that no membership changes.
        enough = tol * max(loss - noise_share * constant, 0.0)
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
    solver.rebuild(Y, threads)
    loss = solver.objective() + constant
    residual = solver.residual(Y, threads)
    converged = converged or residual <= tol_kkt
    model.keep(solver, n_clusters)
    return FactoredSolution(
        Y[:, :n_clusters], loss, residual, n_iter, converged, tuple(trace), model
    )
