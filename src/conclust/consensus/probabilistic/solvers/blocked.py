"""The factored solver over blocks of objects: the same objective, of more objects than fit into memory.

All that blocks share are the sums S (T, K) and the Grams G (K, K for each presence group). In a round some
blocks start from the same ones; each sweeps over its objects on private copies and returns how they
changed. With l and p, the weight of the partitions that labelled an object, and that observed it::

    c = sum over objects of l |y|^2 - p |y|^4 / 2
    F = sum_g w_g |G_g|^2 / 2 - sum_t w_t |S_t|^2 + c

so that F of all objects is known after every round from what the blocks return. Blocks that moved
together can raise it: then the step of all of them is shortened, to the least F along it, a quartic in
the length of the step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import FactoredSolver, factored_stride
from conclust._labels import over_clusters
from conclust._random import spawn_generators
from conclust.blocks.facts import Part
from conclust.blocks.finishing import Answer
from conclust.blocks.labels import LabelBlocks, added
from conclust.blocks.own import Kept
from conclust.consensus.probabilistic.objective import together
from conclust.consensus.probabilistic.placements.factored_model import (
    FactoredModel,
    padded,
    uniform,
    whole_grams,
)
from conclust.consensus.probabilistic.problem import Problem, Run, Solution, Stopping
from conclust.consensus.probabilistic.solvers.factored import RELAXATION, VISIBLE, solved_sample
from conclust.divergences import l2
from conclust.ensemble import as_ensemble

__all__ = ["solve_blocks"]

# Rounds of a sweep: with five, blocks that move together cost nothing that can be seen.
_ROUNDS = 5
# Objects that the start is found on.
_SAMPLE = 1 << 17
# Above this number of objects memberships are kept in single precision between visits.
_DOUBLE = 10_000_000
# How near to their optimum objects are placed at first, as a gap.
_PLACED = 1e-3


@dataclass(frozen=True)
class _State:
    """All that is known between two rounds.

    Attributes
    ----------
    sums : ndarray of shape (T, K)
        S.
    grams : ndarray of shape (n_groups, K, K)
        G.
    sizes : ndarray of shape (n_groups,)
        Objects that each group observed.
    rest : float
        c.
    f : float
        The paper's objective, about.
    relaxation, gain : float
        How far sweeps go; what the last one gained.
    change, residual : float
        Of the sweep that is under way: the change of F, the largest residual met.
    shortened : bool
        Whether a round of it was.
    sweep, turn : int
        Sweeps finished; rounds of the next one.
    step : int
        Visits made of any block.
    converged : bool
        Whether a tolerance ended the iteration.
    trace : ndarray of shape (n_sweeps + 1, 2)
        F and the residual.
    """

    sums: NDArray[np.float64]
    grams: NDArray[np.float64]
    sizes: NDArray[np.float64]
    rest: float
    f: float
    relaxation: float
    gain: float
    change: float
    residual: float
    shortened: bool
    sweep: int
    turn: int
    step: int
    converged: bool
    trace: NDArray[np.float64]


def solve_blocks(
    labels: LabelBlocks, n_clusters: int, stopping: Stopping, run: Run
) -> tuple[Solution, Answer]:
    """Minimise f for squared l2 over all pairs of objects that are read in blocks.

    Parameters
    ----------
    labels : LabelBlocks
        The objects.
    n_clusters : int
        K.
    stopping : Stopping
        When to stop.
    run : Run
        Seed, starts, lines of progress.

    Returns
    -------
    tuple
        The solution, without a membership, and the rule that gives the memberships of a block.
    """
    descent = _Descent(labels, n_clusters, stopping, run)
    state = labels.stages.state("sweeps", _State, descent.begin)
    while not state.converged and state.sweep < stopping.max_iter:
        state = descent.round(state)
        labels.stages.save("sweeps", state)
        descent.kept.settle(state.step)
    residual = descent.residual(state)
    model = descent.placing(state)
    solution = Solution(
        membership=np.empty((0, n_clusters)),
        objective=float(state.trace[-1, 0]),
        residual=residual,
        n_iter=state.sweep,
        converged=state.converged or residual <= stopping.tol_kkt,
        trace=state.trace,
        placement=model,
    )
    return solution, Answer(_own, kept=descent.kept, step=state.step)


class _Descent:
    """Sweeps over the blocks of objects."""

    def __init__(self, labels: LabelBlocks, n_clusters: int, stopping: Stopping, run: Run) -> None:
        self.labels, self.k, self.stopping, self.run = labels, n_clusters, stopping, run
        groups = labels.presence_groups
        self.model = FactoredModel(
            labels.offsets, labels.weights, groups.of_partition, len(groups.first)
        )
        self.group_weights: NDArray[np.float64] = np.bincount(
            groups.of_partition, labels.partition_weights, minlength=len(groups.first)
        ).astype(np.float64)
        self.column_weights = labels.column_weights
        double = labels.n_samples <= _DOUBLE
        self.dtype = np.dtype(np.float64 if double else np.float32)
        width = n_clusters * self.dtype.itemsize
        self.kept: Kept = labels.keeping(width, "membership", in_checkpoint=True)

    def begin(self) -> _State:
        """Solve a sample, and place all objects against it."""
        labels, n = self.labels, self.labels.facts.n_samples
        drawer, seed = spawn_generators(self.run.seed, 2)
        objects = np.arange(n)
        if n > _SAMPLE:
            objects = np.sort(drawer.choice(n, _SAMPLE, replace=False))
        own = replace(self.run, seed=np.random.SeedSequence(int(seed.integers(2**63))))
        problem = Problem(labels.rows(objects), self.k, l2)
        model, per_pair = solved_sample(problem, self.model, own)
        self.run.report(f"{len(objects):,} of {n:,} objects solved")
        told = labels.visit(
            "placing", _fold, self.kept, 1, shared=(model, self.group_weights, self.dtype)
        )
        sums, grams, sizes, rest = added(told)
        f = per_pair * 0.5 * labels.n_samples * (labels.n_samples - 1)
        state = _State(
            sums, grams, sizes, float(rest), f, 1.0, 0.0, 0.0, 0.0, False, 0, 0, 1, False,
            np.empty((0, 2)),
        )  # fmt: skip
        return replace(state, trace=np.array([[self.loss(state), np.nan]]))

    def loss(self, state: _State) -> float:
        """Return F."""
        return (
            self._moving(state.sums, state.grams) + state.rest + together(as_ensemble(self.labels))
        )

    def _moving(self, sums: NDArray[np.float64], grams: NDArray[np.float64]) -> float:
        return _quadratic(sums, grams, self.column_weights, self.group_weights)

    def round(self, state: _State) -> _State:
        """Let the blocks whose turn it is move; after the last ones end the sweep."""
        rounds = min(_ROUNDS, self.labels.n_blocks)
        blocks = range(state.turn, self.labels.n_blocks, rounds)
        enough = self.stopping.tol * state.f
        how = (0.1 * self.stopping.tol_kkt, enough / self.labels.n_samples, state.relaxation)
        shared = (self.placing(state), self.group_weights, how, self.dtype)
        told = self.labels.visit(
            f"sweep {state.sweep + 1}, round {state.turn + 1} of {rounds}",
            _sweep,
            self.kept,
            state.step + 1,
            blocks,
            shared=shared,
        )
        moved = replace(state, step=state.step + 1)
        if told:
            dS, dG, rest = added(found[:3] for found in told)
            change = self._moving(state.sums + dS, state.grams + dG) + float(rest)
            change -= self._moving(state.sums, state.grams)
            worst = max(found[3] for found in told)
            moved = replace(
                moved,
                sums=state.sums + dS,
                grams=state.grams + dG,
                rest=state.rest + float(rest),
                change=state.change + change,
                residual=max(state.residual, worst),
            )
            if change > 0.0 and len(told) > 1:
                moved = self._shorter(state, moved, blocks)
        moved = replace(moved, turn=state.turn + 1)
        return moved if moved.turn < rounds else self._ended(moved, enough)

    def _shorter(self, before: _State, after: _State, blocks: range) -> _State:
        """Go only part of the way, to the least F along it."""
        steps, groups = (before.step, after.step), self.model.group_of
        P, Q, *sums = added(
            self.labels.look("along the step", _along, self.kept, steps, groups, blocks=blocks)
        )
        A = after.sums - before.sums
        length = _least(before, P, Q, A, sums, self.column_weights, self.group_weights)
        self.labels.visit(
            "a shorter step",
            _between,
            self.kept,
            after.step + 1,
            blocks,
            steps=steps,
            shared=(length, self.dtype),
        )
        sq1, sq2, f1, f2, f3, f4 = (float(value) for value in sums)
        e = length
        rest = e * sq1 + e * e * sq2 - 0.5 * (e * f1 + e * e * f2 + e**3 * f3 + e**4 * f4)
        taken = replace(
            after,
            sums=before.sums + e * A,
            grams=before.grams + e * P + e * e * Q,
            rest=before.rest + rest,
            shortened=True,
            step=after.step + 1,
        )
        change = self._moving(taken.sums, taken.grams) + taken.rest
        change -= self._moving(before.sums, before.grams) + before.rest
        return replace(taken, change=before.change + change)

    def _ended(self, state: _State, enough: float) -> _State:
        """End a sweep: choose how far the next one goes, and whether there is one."""
        loss = self.loss(state)
        self.run.report(
            f"sweep {state.sweep + 1}: loss {loss:.10g}, lowered by {-state.change:.3g}, residual "
            f"{state.residual:.3g}"
        )
        gain, visible = -state.change, VISIBLE * abs(loss)
        slow = state.relaxation > 1.0 and (state.shortened or gain <= visible)
        relaxation = 1.0 if slow else state.relaxation
        least, most = RELAXATION
        if not slow and state.gain > 0.0 and gain > visible:
            share = gain / state.gain
            best = 2.0 / (1.0 + math.sqrt(1.0 - math.sqrt(share))) if share < 1.0 else 1.0
            if best >= least:
                relaxation = max(relaxation, min(best, most))
        # Steps that went too far say nothing of what plain ones would gain.
        done = not slow and (gain <= enough or state.residual <= self.stopping.tol_kkt)
        return replace(
            state,
            relaxation=relaxation,
            gain=gain,
            change=0.0,
            residual=0.0,
            shortened=False,
            sweep=state.sweep + 1,
            turn=0,
            converged=done,
            trace=np.vstack([state.trace, [loss, state.residual]]),
        )

    def residual(self, state: _State) -> float:
        """Return the largest violation of the conditions of an optimum."""
        shared = (self.placing(state),)
        found = self.labels.look("residual", _residual, self.kept, (state.step,), *shared)
        return max(float(value) for value in found)

    def placing(self, state: _State) -> FactoredModel:
        """Return the model that places objects by these sums."""
        return replace(self.model, sums=state.sums, grams=state.grams, group_sizes=state.sizes)


def _quadratic(
    sums: NDArray[np.float64],
    grams: NDArray[np.float64],
    column_weights: NDArray[np.float64],
    group_weights: NDArray[np.float64],
) -> float:
    """Return the part of F that is in the sums and Grams."""
    of_sums = float(column_weights @ np.einsum("tk,tk->t", sums, sums))
    return 0.5 * float(group_weights @ np.einsum("gkl,gkl->g", grams, grams)) - of_sums


def _least(
    before: _State,
    P: NDArray[np.float64],
    Q: NDArray[np.float64],
    A: NDArray[np.float64],
    sums: list[Any],
    column_weights: NDArray[np.float64],
    group_weights: NDArray[np.float64],
) -> float:
    """Return the length in [0, 1] of the step at which F is least: a quartic in it.

    Parameters
    ----------
    before : _State
        Before the step.
    P, Q : ndarray of shape (n_groups, K, K)
        The Grams are those before, plus P times the length, plus Q times its square.
    A : ndarray of shape (T, K)
        The step of the sums.
    sums : list of float
        Six sums over the objects: see `_along`.
    column_weights : ndarray of shape (T,)
        Of the clusters.
    group_weights : ndarray of shape (n_groups,)
        Of the presence groups.
    """
    sq1, sq2, f1, f2, f3, f4 = (float(value) for value in sums)

    def grams(X: NDArray[np.float64], Y: NDArray[np.float64]) -> float:
        return float(group_weights @ np.einsum("gkl,gkl->g", X, Y))

    G, S = before.grams, before.sums
    weighed = column_weights[:, None] * A
    c1 = grams(G, P) - 2.0 * float((S * weighed).sum()) + sq1 - 0.5 * f1
    c2 = grams(G, Q) + 0.5 * grams(P, P) - float((A * weighed).sum()) + sq2 - 0.5 * f2
    c3, c4 = grams(P, Q) - 0.5 * f3, 0.5 * grams(Q, Q) - 0.5 * f4
    quartic = np.polynomial.Polynomial([0.0, c1, c2, c3, c4])
    roots = quartic.deriv().roots()
    inside = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0.0) & (roots.real < 1.0)]
    lengths = np.concatenate([[0.0], np.sort(inside), [1.0]])
    return float(lengths[np.argmin(quartic(lengths))])


# -- what blocks do


def _solver(part: Part, model: FactoredModel, k: int) -> FactoredSolver:
    """Return the kernel's solver of a block, worked through as one."""
    labels = part.ensemble.label_view.reweighted(model.weights)
    n = part.ensemble.n_samples
    return FactoredSolver(labels, model.group_of, model.n_groups, k, serial_limit=max(n, 1))


def _with_sums(part: Part, model: FactoredModel) -> FactoredSolver:
    """Return it with the sums of all objects."""
    k = model.sums.shape[1]
    solver = _solver(part, model, k)
    solver.sums.reshape(-1, factored_stride(k))[:, :k] = model.sums
    solver.write_grams(np.ascontiguousarray(model.grams).reshape(-1))
    solver.group_sizes[:] = model.group_sizes
    return solver


def _read(own: Any) -> NDArray[np.float64]:
    """Return memberships in the layout of the kernel, rows that sum to 1."""
    Y = padded(np.asarray(own, dtype=np.float64))
    if own.dtype != np.float64:
        Y /= Y.sum(axis=1, keepdims=True)
    return Y


def _fold(
    part: Part, own: None, model: FactoredModel, weights: NDArray[np.float64], dtype: np.dtype[Any]
) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Place the objects of a block against a solution; return their sums, Grams, numbers and c."""
    k = model.sums.shape[1]
    # Scale does not matter: Grams and sums of a sample are smaller alike.
    Y = uniform(part.ensemble.n_samples, k)
    _with_sums(part, model).assign(Y, _PLACED, 1)
    kept = np.ascontiguousarray(Y[:, :k], dtype=dtype)
    Y = _read(kept)
    solver = _solver(part, model, k)
    solver.rebuild(Y, 1)
    sums = solver.sums.reshape(-1, factored_stride(k))[:, :k].copy()
    grams = whole_grams(solver, k)
    of_columns = over_clusters(part.ensemble.partition_weights, part.ensemble.offsets)
    rest = solver.objective() - _quadratic(sums, grams, of_columns, weights)
    return kept, (sums, grams, solver.group_sizes.copy(), rest)


def _sweep(
    part: Part,
    own: Any,
    model: FactoredModel,
    weights: NDArray[np.float64],
    how: tuple[float, float, float],
    dtype: np.dtype[Any],
) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Sweep over a block; return how sums, Grams and c changed, and the largest residual met.

    Parameters
    ----------
    part : Part
        The block.
    own : ndarray of shape (n, K)
        Its memberships.
    model : FactoredModel
        With the sums of all objects.
    weights : ndarray of shape (n_groups,)
        Of the presence groups.
    how : tuple of float
        Tolerance, negligible gain, relaxation: see the kernel's ``sweep``.
    dtype : dtype
        In which memberships are kept.
    """
    k = model.sums.shape[1]
    tol, negligible, relaxation = how
    Y = _read(own)
    solver = _with_sums(part, model)
    change, residual, _ = solver.sweep(Y, tol, negligible, 1, relaxation)
    sums = solver.sums.reshape(-1, factored_stride(k))[:, :k]
    grams = whole_grams(solver, k)
    of_columns = over_clusters(part.ensemble.partition_weights, part.ensemble.offsets)
    moving = _quadratic(sums, grams, of_columns, weights)
    moving -= _quadratic(model.sums, model.grams, of_columns, weights)
    kept = np.ascontiguousarray(Y[:, :k], dtype=dtype)
    return kept, (sums - model.sums, grams - model.grams, change - moving, residual)


def _along(part: Part, own: Any, group_of: NDArray[np.int32]) -> tuple[Any, ...]:
    """Return what the quartic of a step needs of a block: P, Q of each group, and six sums."""
    k = own[0].shape[1]
    before, after = (_read(Y)[:, :k] for Y in own)
    d = after - before
    ensemble = part.ensemble
    groups = np.unique(group_of, return_index=True)[1]
    P, Q = np.empty((len(groups), k, k)), np.empty((len(groups), k, k))
    for g, first in enumerate(groups):
        seen = ensemble.present[:, first] if ensemble.has_missing else slice(None)
        y, step = before[seen], d[seen]
        cross = y.T @ step
        P[g], Q[g] = cross + cross.T, step.T @ step
    labelled = ensemble.observed_weights - ensemble.noise @ ensemble.partition_weights
    seen_by = ensemble.observed_weights
    yd, yy, dd = (np.einsum("ik,ik->i", a, b) for a, b in ((before, d), (before, before), (d, d)))
    return (
        P,
        Q,
        2.0 * float(labelled @ yd),
        float(labelled @ dd),
        4.0 * float(seen_by @ (yy * yd)),
        float(seen_by @ (4.0 * yd * yd + 2.0 * yy * dd)),
        4.0 * float(seen_by @ (yd * dd)),
        float(seen_by @ (dd * dd)),
    )


def _between(
    part: Part, own: Any, length: float, dtype: np.dtype[Any]
) -> tuple[NDArray[Any], tuple[()]]:
    """Take a step of some length between what a block had and has."""
    before, after = (np.asarray(Y, dtype=np.float64) for Y in own)
    return (before + length * (after - before)).astype(dtype), ()


def _residual(part: Part, own: Any, model: FactoredModel) -> float:
    """Return the largest violation of the conditions of an optimum in a block."""
    return float(_with_sums(part, model).residual(_read(own), 1))


def _own(part: Part, own: Any) -> NDArray[np.float64]:
    """Return the memberships of a block."""
    k = own.shape[1]
    return np.ascontiguousarray(_read(own)[:, :k])
