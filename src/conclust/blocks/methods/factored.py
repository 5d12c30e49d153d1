"""The factored solver over blocks of objects: the same objective, for more objects than fit into memory.

All that blocks share are the sums S (T, K) and the Grams G (K, K for each presence group). In a round some
blocks start from the same ones; each sweeps over its objects on private copies and returns how they
changed. With l and p, the weight of the partitions that labelled an object, and that observed it::

    c = sum over objects of l |y|^2 - p |y|^4 / 2
    F = sum_g w_g |G_g|^2 / 2 - sum_t w_t |S_t|^2 + c

so that F of all objects is known after every round from what the blocks return. Blocks that moved
together can raise it: then the step of all of them is shortened, to the least F along it, a quartic in
the length of the step (``_kernels/pair_objective/factored/step.h``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import FactoredSolver, factored_stride
from conclust._random import spawn_generators
from conclust._types import Floats
from conclust._validation import refuse
from conclust.blocks.facts import Part
from conclust.blocks.finishing import Answer
from conclust.blocks.labels import LabelBlocks, added
from conclust.consensus.papers.probabilistic.estimator import bound_of, run_of
from conclust.consensus.papers.probabilistic.objective import together
from conclust.consensus.papers.probabilistic.pcc import PCC
from conclust.consensus.papers.probabilistic.placements.factored_model import (
    FactoredModel,
    padded,
    uniform,
    whole_grams,
    whole_sums,
)
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Solution, Stopping
from conclust.consensus.papers.probabilistic.solvers.factored import VISIBLE, further, solved_sample
from conclust.divergences import is_squared, l2, read_divergence
from conclust.ensemble import Ensemble, as_ensemble

# Values of parameters that are accepted.
_IN_BLOCKS: dict[str, tuple[Any, ...]] = {
    "pairs": (None,),
    "granularity": ("given",),
    "init": ("auto",),
    "solver": ("auto", "factored"),
}
# Number of rounds of a sweep: with five, moving blocks together has no visible cost.
_ROUNDS = 5
# Number of objects from which the start is computed.
_SAMPLE = 1 << 17
# Above this number of objects memberships are kept in single precision between visits.
_DOUBLE = 10_000_000
# Gap to which objects are placed at first.
_PLACED = 1e-3


@dataclass(frozen=True)
class State:
    """State between two rounds.

    Attributes
    ----------
    sums : ndarray of shape (T, K)
        S.
    grams : ndarray of shape (n_groups, K, K)
        G.
    sizes : ndarray of shape (n_groups,)
        Objects that each group observed.
    squares, fourths : float
        The sums of ``l |y|^2`` and of ``p |y|^4``, from which c is computed.
    f : float
        Approximate value of the paper's objective.
    relaxation, gain : float
        Over-relaxation factor, and the decrease of F in the last sweep.
    change, residual : float
        State of the current sweep: the change of F, and the largest residual so far.
    shortened : bool
        Whether a round of the sweep was shortened.
    sweep, turn : int
        Sweeps finished; rounds of the next one.
    step : int
        Number of visits of blocks.
    converged : bool
        Whether a tolerance ended the iteration.
    trace : ndarray of shape (n_sweeps + 1, 2)
        F and the residual.
    """

    sums: Floats
    grams: Floats
    sizes: Floats
    squares: float
    fourths: float
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
    trace: Floats


def fit(model: PCC, labels: LabelBlocks, seed: np.random.SeedSequence) -> Answer:
    """Minimise f for squared l2 over all pairs of objects that are read in blocks.

    Parameters
    ----------
    model : PCC
        Estimator, whose attributes are set.
    labels : LabelBlocks
        The objects.
    seed : SeedSequence
        Seed of the start.
    """
    k = model.n_clusters_max_ = bound_of(model, as_ensemble(labels))
    advice = "Read the labels into memory for others: LabelStore(...).ensemble()."
    if not is_squared(read_divergence(model.divergence, "PCC")):
        refuse("divergence", "PCC", "'l2' with labels in blocks", model.divergence, advice)
    for parameter, only in _IN_BLOCKS.items():
        value = getattr(model, parameter)
        if not isinstance(value, str | None) or value not in only:
            accepted = " or ".join(map(repr, only))
            refuse(parameter, "PCC", f"{accepted} with labels in blocks", value, advice)
    model.solver_ = "factored"
    model.objective_constant_, model._recoded = None, None
    stopping = Stopping(model.max_iter, model.tol, model.tol_kkt)
    descent = Descent(labels, k, stopping, replace(run_of(model), seed=seed))
    state = descent.descend()
    residual = descent.residual(state)
    model._placement = descent.placing(state)
    model._store(
        Solution(
            membership=np.empty((0, k)),
            objective=float(state.trace[-1, 0]),
            residual=residual,
            n_iter=state.sweep,
            converged=state.converged or residual <= stopping.tol_kkt,
            trace=state.trace,
            placement=model._placement,
        )
    )
    return Answer(_own, kept=descent.kept, step=state.step)


class Descent:
    """Sweeps over the blocks of objects.

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
    """

    def __init__(
        self,
        labels: LabelBlocks,
        n_clusters: int,
        stopping: Stopping,
        run: Run,
    ) -> None:
        self.labels, self.k, self.stopping, self.run = labels, n_clusters, stopping, run
        groups = labels.presence_groups
        self.model = FactoredModel(
            labels.offsets, labels.weights, groups.of_partition, len(groups.first)
        )
        double = labels.n_samples <= _DOUBLE
        self.dtype = np.dtype(np.float64 if double else np.float32)
        width = n_clusters * self.dtype.itemsize
        self.kept = labels.keeping(width, "membership")

    def descend(self) -> State:
        """Sweep until a tolerance or `max_iter` ends it."""
        state = self.begin()
        while not state.converged and state.sweep < self.stopping.max_iter:
            state = self.round(state)
            self.kept.settle(state.step)
        return state

    def begin(self) -> State:
        """Solve a sample, and place all objects against it."""
        labels, n = self.labels, self.labels.facts.n_samples
        drawer, seed = spawn_generators(self.run.seed, 2)
        objects = np.arange(n)
        if n > _SAMPLE:
            objects = np.sort(drawer.choice(n, _SAMPLE, replace=False))
        sample_run = replace(self.run, seed=np.random.SeedSequence(int(seed.integers(2**63))))
        problem = Problem(labels.rows(objects), self.k, l2)
        model, per_pair = solved_sample(problem, self.model, sample_run)
        self.run.report(f"{len(objects):,} of {n:,} objects solved")
        results = labels.visit("placing", _fold, self.kept, 1, shared=(model, self.dtype))
        sums, grams, sizes, squares, fourths = added(results)
        f = per_pair * 0.5 * labels.n_samples * (labels.n_samples - 1)
        state = State(
            sums, grams, sizes, float(squares), float(fourths), f, 1.0, 0.0, 0.0, 0.0, False, 0, 0,
            1, False, np.empty((0, 2)),
        )  # fmt: skip
        return replace(state, trace=np.array([[self.loss(state), np.nan]]))

    def loss(self, state: State) -> float:
        """Return F."""
        return self._sums_of(state).objective() + together(as_ensemble(self.labels))

    def _sums_of(self, state: State) -> FactoredSolver:
        """Return a solver without objects that has the sums of all: it computes F, and steps."""
        no_objects = self.labels.facts.ensemble(np.empty((0, self.labels.n_partitions), np.uint8))
        solver = _with_sums(no_objects, self.placing(state))
        solver.squares, solver.fourths = state.squares, state.fourths
        return solver

    def round(self, state: State) -> State:
        """Move the blocks of a round; end the sweep after the last round."""
        rounds = min(_ROUNDS, self.labels.n_blocks)
        blocks = range(state.turn, self.labels.n_blocks, rounds)
        enough = self.stopping.tol * state.f
        how = (0.1 * self.stopping.tol_kkt, enough / self.labels.n_samples, state.relaxation)
        shared = (self.placing(state), how, self.dtype)
        results = self.labels.visit(
            f"sweep {state.sweep + 1}, round {state.turn + 1} of {rounds}",
            _sweep,
            self.kept,
            state.step + 1,
            blocks,
            shared=shared,
        )
        moved = replace(state, step=state.step + 1)
        if results:
            dS, dG, squares, fourths = added(result[:4] for result in results)
            moved = replace(
                moved,
                sums=state.sums + dS,
                grams=state.grams + dG,
                squares=state.squares + float(squares),
                fourths=state.fourths + float(fourths),
                residual=max(state.residual, *(float(result[4]) for result in results)),
            )
            change = self._change(state, moved)
            if change > 0.0 and len(results) > 1:
                moved = self._shorter(state, moved, blocks)
                change = self._change(state, moved)
            moved = replace(moved, change=state.change + change)
        moved = replace(moved, turn=state.turn + 1)
        return moved if moved.turn < rounds else self._ended(moved, enough)

    def _change(self, before: State, after: State) -> float:
        return float(self._sums_of(after).objective() - self._sums_of(before).objective())

    def _shorter(self, before: State, after: State, blocks: range) -> State:
        """Shorten the step to the minimum of F along it."""
        steps = (before.step, after.step)
        results = self.labels.look(
            "along the step", _along, self.kept, steps, self.model, blocks=blocks
        )
        first, second, powers = added(results)
        solver = self._sums_of(before)
        A = np.zeros_like(solver.sums)
        A.reshape(-1, factored_stride(self.k))[:, : self.k] = after.sums - before.sums
        length = solver.step(A, first, second, powers)
        self.labels.visit(
            "a shorter step",
            _between,
            self.kept,
            after.step + 1,
            blocks,
            steps=steps,
            shared=(length, self.dtype),
        )
        return replace(
            after,
            sums=whole_sums(solver, self.k),
            grams=whole_grams(solver, self.k),
            squares=solver.squares,
            fourths=solver.fourths,
            shortened=True,
            step=after.step + 1,
        )

    def _ended(self, state: State, enough: float) -> State:
        """End a sweep: choose the relaxation of the next one, or stop."""
        loss = self.loss(state)
        self.run.report(
            f"sweep {state.sweep + 1}: loss {loss:.10g}, lowered by {-state.change:.3g}, residual "
            f"{state.residual:.3g}",
            state.sweep + 1,
            self.stopping.max_iter,
        )
        gain, visible = -state.change, VISIBLE * abs(loss)
        slow = state.relaxation > 1.0 and (state.shortened or gain <= visible)
        relaxation = 1.0 if slow else further(state.relaxation, gain, state.gain, visible)
        # The gain of over-relaxed steps does not indicate the gain of plain steps.
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

    def residual(self, state: State) -> float:
        """Return the largest violation of the conditions of an optimum."""
        shared = (self.placing(state),)
        residuals = self.labels.look("residual", _residual, self.kept, (state.step,), *shared)
        return max(float(value) for value in residuals)

    def placing(self, state: State) -> FactoredModel:
        """Return the model that places objects by these sums."""
        return replace(self.model, sums=state.sums, grams=state.grams, group_sizes=state.sizes)


# -- tasks of blocks


def _solver(ensemble: Ensemble, model: FactoredModel, k: int) -> FactoredSolver:
    """Return the kernel's solver for a block."""
    labels = ensemble.label_view.reweighted(model.weights)
    limit = max(1, ensemble.n_samples)
    return FactoredSolver(labels, model.group_of, model.n_groups, k, serial_limit=limit)


def _with_sums(ensemble: Ensemble, model: FactoredModel) -> FactoredSolver:
    """Return the kernel's solver with the sums of all objects."""
    solver = _solver(ensemble, model, model.sums.shape[1])
    model.write_sums(solver)
    return solver


def read_memberships(stored: Any) -> Floats:
    """Return memberships in the layout of the kernel, rows that sum to 1."""
    Y = padded(np.asarray(stored, dtype=np.float64))
    if stored.dtype != np.float64:
        Y /= Y.sum(axis=1, keepdims=True)
    return Y


def _fold(
    part: Part, stored: None, model: FactoredModel, dtype: np.dtype[Any]
) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Place the objects of a block against a solution; return their sums, in the form of a state."""
    k = model.sums.shape[1]
    # The scale does not matter: Grams and sums of a sample are smaller by the same factor.
    Y = uniform(part.ensemble.n_samples, k)
    _with_sums(part.ensemble, model).assign(Y, _PLACED, 1)
    columns = np.ascontiguousarray(Y[:, :k], dtype=dtype)
    return columns, sums_of_block(part.ensemble, read_memberships(columns), model, k)


def sums_of_block(
    ensemble: Ensemble, Y: Floats, model: FactoredModel, k: int
) -> tuple[Floats, Floats, Floats, float, float]:
    """Return S, G, the sizes of the groups, and the two parts of c, of padded memberships."""
    solver = _solver(ensemble, model, k)
    solver.rebuild(Y, 1)
    sizes = solver.group_sizes.copy()
    return whole_sums(solver, k), whole_grams(solver, k), sizes, solver.squares, solver.fourths


def _sweep(
    part: Part,
    stored: Any,
    model: FactoredModel,
    how: tuple[float, float, float],
    dtype: np.dtype[Any],
) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Sweep over a block; return how the sums changed, and the largest residual met.

    `how`: tolerance, negligible gain, relaxation; see the kernel's ``sweep``.
    """
    k = model.sums.shape[1]
    tol, negligible, relaxation = how
    Y = read_memberships(stored)
    solver = _with_sums(part.ensemble, model)
    _, residual, _ = solver.sweep(Y, tol, negligible, 1, relaxation)
    columns = np.ascontiguousarray(Y[:, :k], dtype=dtype)
    dS, dG = whole_sums(solver, k) - model.sums, whole_grams(solver, k) - model.grams
    return columns, (dS, dG, solver.squares, solver.fourths, residual)


def _along(part: Part, stored: Any, model: FactoredModel) -> tuple[Floats, Floats, Floats]:
    """Return the terms of a step's quartic for a block: P and Q of each group, and six sums."""
    before, after = (read_memberships(Y) for Y in stored)
    k = stored[0].shape[1]
    P, Q = np.zeros(model.n_groups * k * k), np.zeros(model.n_groups * k * k)
    powers = np.zeros(6)
    _solver(part.ensemble, model, k).steps(before, after, P, Q, powers, 1)
    return P, Q, powers


def _between(
    part: Part, stored: Any, length: float, dtype: np.dtype[Any]
) -> tuple[NDArray[Any], tuple[()]]:
    """Interpolate between the previous and the new memberships of a block."""
    before, after = (np.asarray(Y, dtype=np.float64) for Y in stored)
    return (before + length * (after - before)).astype(dtype), ()


def _residual(part: Part, stored: Any, model: FactoredModel) -> float:
    """Return the largest violation of the conditions of an optimum in a block."""
    return float(_with_sums(part.ensemble, model).residual(read_memberships(stored), 1))


def _own(part: Part, stored: Any) -> Floats:
    """Return the memberships of a block."""
    k = stored.shape[1]
    return np.ascontiguousarray(read_memberships(stored)[:, :k])
