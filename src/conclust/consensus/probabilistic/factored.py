"""The factored least-squares solver: starts on a subset, extension, sweeps over all objects.

The mathematics and the kernel are in ``_kernels/factored.h``. This module decides how to use it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import FactoredSolver, factored_stride, presence_signatures
from conclust._labels import noise_code
from conclust._random import spawn_generators
from conclust.consensus.probabilistic.objective import squared, together
from conclust.ensemble import Ensemble

__all__ = ["FactoredModel", "FactoredSolution", "solve"]

# Starts are compared on this many objects: more changes the choice rarely and costs each time.
SUBSET = 6000
# A start is dropped into the comparison when a sweep lowers its objective by less than this share.
START_TOL = 1e-4
START_SWEEPS = 60
# Floating error of the sums is cleared this often.
REBUILD_EVERY = 10


@dataclass
class FactoredModel:
    """What the solver knows of an ensemble besides the labels; enough to place new objects."""

    offsets: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    group_of: NDArray[np.int32]
    n_groups: int
    sums: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    grams: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0, 0)))
    group_sizes: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, ensemble: Ensemble) -> FactoredModel:
        """Group the partitions by which objects they observed."""
        m = ensemble.n_partitions
        group_of, n_groups = np.zeros(m, dtype=np.int32), 1
        if ensemble.has_missing:
            signatures = np.empty(m, dtype=np.uint64)
            presence_signatures(ensemble.codes, signatures)
            values, inverse = np.unique(signatures, return_inverse=True)
            n_groups = len(values)
            # Numbered by partition where all differ: the kernel's fast case.
            group_of = (np.arange(m) if n_groups == m else inverse).astype(np.int32)
        return cls(ensemble.offsets, ensemble.weights, group_of, n_groups)

    def solver(
        self, codes: NDArray[Any], n_clusters: int, *, complete: bool, soft: Any = None
    ) -> FactoredSolver:
        """Return the kernel's solver for some objects' codes (and posteriors)."""
        posteriors = (
            ()
            if soft is None
            else (soft.indptr.astype(np.int64), soft.indices.astype(np.int32), soft.data)
        )
        return FactoredSolver(
            np.ascontiguousarray(codes),
            self.offsets,
            self.weights,
            self.group_of,
            self.n_groups,
            n_clusters,
            complete,
            *posteriors,
        )

    def keep(self, solver: FactoredSolver, n_clusters: int) -> None:
        """Remember the sums of a finished solver."""
        stride = factored_stride(n_clusters)
        self.sums = solver.sums.reshape(-1, stride)[:, :n_clusters].copy()
        grams = solver.grams.reshape(self.n_groups, stride, stride)
        self.grams = grams[:, :n_clusters, :n_clusters].copy()
        self.group_sizes = solver.group_sizes.copy()

    def reorder(self, order: NDArray[np.int64]) -> None:
        """Put the clusters in another order."""
        self.sums = self.sums[:, order]
        self.grams = self.grams[:, order][:, :, order]

    def place(self, codes: NDArray[Any], tol: float, threads: int) -> NDArray[np.float64]:
        """Return the memberships of new objects: each a convex problem against the sums."""
        k = self.sums.shape[1]
        stride = factored_stride(k)
        solver = self.solver(codes, k, complete=not (codes >= noise_code(codes.dtype)).any())
        solver.sums.reshape(-1, stride)[:, :k] = self.sums
        solver.grams.reshape(self.n_groups, stride, stride)[:, :k, :k] = self.grams
        solver.group_sizes[:] = self.group_sizes
        Y = uniform(len(codes), k)
        solver.assign(Y, tol, threads)
        return np.ascontiguousarray(Y[:, :k])


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
    chooser, *drawers = spawn_generators(seed, n_init + 1)
    chosen = chooser.permutation(n)[:SUBSET]  # shuffled, also when it is everything
    few = ensemble._some(chosen)
    noise_share = 1.0 - squared(few, threads) / max(together(few), 1e-300)
    if start is None:
        best = _best_start(few, model, n_clusters, drawers, threads)
        report(f"{n_init} starts on {len(chosen):,} of {n:,} objects")
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
        converged = -change <= enough or residual <= tol_kkt
    solver.rebuild(Y, threads)
    loss = solver.objective() + constant
    residual = solver.residual(Y, threads)
    converged = converged or residual <= tol_kkt
    model.keep(solver, n_clusters)
    return FactoredSolution(
        Y[:, :n_clusters], loss, residual, n_iter, converged, tuple(trace), model
    )


@dataclass
class _Start:
    solver: FactoredSolver
    Y: NDArray[np.float64]
    loss: float


def _best_start(
    few: Ensemble,
    model: FactoredModel,
    n_clusters: int,
    drawers: list[np.random.Generator],
    threads: int,
) -> _Start:
    complete = not (few.has_missing or few.has_noise)
    soft = few.indicator if few.is_soft else None

    def descend(generator: np.random.Generator) -> _Start:
        solver = model.solver(few.codes, n_clusters, complete=complete, soft=soft)
        Y = padded(random_membership(few.n_samples, n_clusters, generator))
        solver.rebuild(Y, 1)
        loss = solver.objective()
        spread = 0.0
        for _ in range(START_SWEEPS):
            change, _residual, _ = solver.sweep(Y, 1e-7, 0.0, 1)
            loss += change
            spread -= change
            if -change <= START_TOL * spread:
                break
        return _Start(solver, Y, solver.objective())

    if threads > 1 and len(drawers) > 1:
        with ThreadPoolExecutor(min(threads, len(drawers))) as pool:
            starts = list(pool.map(descend, drawers))
    else:
        starts = [descend(generator) for generator in drawers]
    return min(starts, key=lambda start: start.loss)


def random_membership(
    n: int, n_clusters: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return rows drawn uniformly from the simplex."""
    Y = generator.standard_exponential((n, n_clusters))
    Y /= Y.sum(axis=1, keepdims=True)
    return Y


def padded(Y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a copy of Y with the columns the kernel wants, zeros in the padding."""
    wide = np.zeros((len(Y), factored_stride(Y.shape[1])))
    wide[:, : Y.shape[1]] = Y
    return wide


def uniform(n: int, n_clusters: int) -> NDArray[np.float64]:
    """Return uniform memberships in the kernel's layout."""
    wide = np.zeros((n, factored_stride(n_clusters)))
    wide[:, :n_clusters] = 1.0 / n_clusters
    return wide
