"""The pace of the factored solver's sweeps, and the starts that it gives to other solvers."""

from __future__ import annotations

import numpy as np
import pytest

from conclust import Ensemble
from conclust.consensus.papers.probabilistic.placements import factored_model
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Stopping
from conclust.consensus.papers.probabilistic.solvers import factored
from conclust.divergences import l2


def solver_of(ensemble):
    return factored_model.FactoredModel.of(ensemble).solver(ensemble.label_view, 3)


def test_over_relaxation_reaches_the_limit_of_plain_sweeps():
    # Four groups fitted with three clusters: plain sweeps are slow.
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 2_000)
    labels = np.column_stack(
        [np.where(rng.random(2_000) < 0.4, rng.integers(0, 4, 2_000), truth) for _ in range(12)]
    )
    labels[rng.random(labels.shape) < 0.4] = -1
    ensemble = Ensemble(labels)
    start = rng.dirichlet(np.ones(3), 2_000)
    reached, sweeps = [], []
    for pace in (None, factored._Pace(1)):
        solver = solver_of(ensemble)
        Y = factored_model.padded(start)
        solver.rebuild(Y, 1)
        change, count = -np.inf, 0
        while -change > 1e-9 * abs(solver.objective()):
            sweep = (
                solver.sweep(Y, 0.0, 0.0, 1) if pace is None else pace.sweep(solver, Y, 0.0, 0.0)
            )
            change = sweep[0]
            count += 1
        reached.append(solver.objective())
        sweeps.append(count)
    assert reached[1] == pytest.approx(reached[0], rel=1e-6)
    assert sweeps[1] < sweeps[0]


@pytest.mark.parametrize("n", [300, 70_000])
def test_starts_of_other_solvers_are_near_the_solution(n):
    rng = np.random.default_rng(n)
    truth = rng.integers(0, 3, n)
    labels = np.column_stack(
        [np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), truth) for _ in range(10)]
    )
    labels[rng.random(labels.shape) < 0.3] = -1
    labels[:, 0] = truth
    ensemble = Ensemble(labels)
    problem, run = Problem(ensemble, 3, l2), Run(np.random.SeedSequence(0), 2)
    near = factored.near_solution(problem, run)
    solved = factored.Factored().solve(problem, None, Stopping(100, 1e-6, 1e-9), run).membership
    solver = solver_of(ensemble)
    losses = []
    for Y in (near, solved, np.full((n, 3), 1 / 3)):
        solver.rebuild(factored_model.padded(Y), 1)
        losses.append(solver.objective())
    assert losses[0] - losses[1] <= 1e-3 * (losses[2] - losses[1])


@pytest.mark.long
def test_slow_convergence_is_detected_before_sweeping_all_objects():
    # Planted clusters, three of ten labels random: nearly all memberships lie inside the simplex, and a
    # turn of all of them together lowers the loss slowly.
    n, m, k = 70_000, 100, 8
    rng = np.random.default_rng(0)
    truth = rng.integers(0, k, n)
    labels = np.empty((n, m), dtype=np.uint8)
    for u in range(m):
        labels[:, u] = np.where(rng.random(n) < 0.3, rng.integers(0, k, n), truth)
    problem = Problem(Ensemble(labels), k, l2)

    def solved(stopping):
        return factored.Factored().solve(problem, None, stopping, Run(np.random.SeedSequence(0)))

    found, long = solved(Stopping()), solved(Stopping(30, 0.0, 0.0))
    assert found.n_iter <= 4
    assert found.objective <= long.objective * (1 + 1.2e-7)
    np.testing.assert_array_equal(found.membership.argmax(axis=1), long.membership.argmax(axis=1))
