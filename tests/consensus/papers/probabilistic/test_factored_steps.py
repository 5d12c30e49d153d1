"""Functions of the factored kernel for sweeps over blocks: scalars, untracked sweeps, steps."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cases import random_labels
from tests.naive import least_squares as naive

from conclust import Ensemble
from conclust._kernels import FactoredSolver
from conclust.consensus.papers.probabilistic.placements.factored_model import FactoredModel, padded

N, M, K = 40, 6, 3
CASES = {
    "complete": {},
    "missing": {"missing": 0.4},
    "missing, noise": {"missing": 0.3, "noise": 0.2},
    "soft": None,
}


def ensemble_of(case, weighted=False):
    weights = np.array([1.0, 2.0, 0.5, 1.5, 1.0, 0.25]) if weighted else None
    if case == "soft":
        rng = np.random.default_rng(0)
        members = [rng.dirichlet(np.ones(k), N) for k in (2, 3, 4, 2, 3, 5)]
        return Ensemble.from_memberships(members, weights=weights)
    return Ensemble(random_labels(0, N, M, 4, **CASES[case]), weights=weights)


def solver_of(ensemble, k=K, **cut):
    model = FactoredModel.of(ensemble)
    labels = ensemble.label_view.reweighted(model.weights)
    return FactoredSolver(labels, model.group_of, model.n_groups, k, **cut)


def memberships(seed, n=N, k=K):
    return padded(np.random.default_rng(seed).dirichlet(np.ones(k), n))


def evidence(ensemble):
    """l and p of each object, and for each group the objects that it observed."""
    l_of = (ensemble.indicator.toarray() ** 2) @ ensemble.column_weights
    p_of = ensemble.present @ ensemble.partition_weights
    groups = ensemble.presence_groups
    seen = np.array(
        [
            ensemble.present[:, np.flatnonzero(groups.of_partition == g)[0]]
            for g in range(len(groups.first))
        ]
    )
    return l_of, p_of, seen


def steps_of(solver, before, after, threads=1, k=K):
    n_groups = len(solver.group_sizes)
    first, second, powers = (np.empty(size) for size in (n_groups * k * k,) * 2 + (6,))
    solver.steps(before, after, first, second, powers, threads)
    return first, second, powers


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_squares_and_fourth_powers_match_their_definition_and_can_be_passed_on(case, weighted):
    ensemble = ensemble_of(case, weighted)
    l_of, p_of, _ = evidence(ensemble)
    solver, Y = solver_of(ensemble), memberships(1)
    solver.rebuild(Y, 1)
    for _ in range(3):
        norms = (Y**2).sum(axis=1)
        assert solver.squares == pytest.approx(l_of @ norms, rel=1e-12)
        assert solver.fourths == pytest.approx(p_of @ norms**2, rel=1e-12)
        solver.sweep(Y, 0.0, 0.0, 1)
    other = solver_of(ensemble)
    other.take_sums(solver)
    other.squares, other.fourths = solver.squares, solver.fourths
    assert other.objective() == solver.objective()


@pytest.mark.parametrize("cut", [{}, {"serial_limit": 1, "rounds": 4}])
@pytest.mark.parametrize("case", CASES)
def test_a_sweep_without_tracking_makes_the_same_steps(case, cut):
    ensemble = ensemble_of(case)
    watched, unwatched = solver_of(ensemble, **cut), solver_of(ensemble, **cut)
    Y, Z = memberships(2), memberships(2)
    watched.rebuild(Y, 1)
    unwatched.rebuild(Z, 1)
    _, residual, shortened = watched.sweep(Y, 0.0, 0.0, 1)
    assert shortened == 0  # where it had been, the other one would have gone further
    change, met, none = unwatched.sweep(Z, 0.0, 0.0, 1, watched=False)
    assert np.isnan(change)
    assert (met, none) == (residual, 0)
    np.testing.assert_array_equal(Z, Y)
    assert unwatched.objective() == watched.objective()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_steps_match_sums_over_objects(case, weighted):
    ensemble = ensemble_of(case, weighted)
    l_of, p_of, seen = evidence(ensemble)
    before, after = memberships(3), memberships(4)
    after[::3] = before[::3]
    first, second, powers = steps_of(solver_of(ensemble), before, after)
    y, d = before[:, :K], (after - before)[:, :K]
    P = np.einsum("gi,ia,ib->gab", seen, y, d)
    np.testing.assert_allclose(
        first.reshape(-1, K, K), P + P.transpose(0, 2, 1), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        second.reshape(-1, K, K), np.einsum("gi,ia,ib->gab", seen, d, d), rtol=1e-12, atol=1e-12
    )
    yy, yd, dd = (y * y).sum(axis=1), (y * d).sum(axis=1), (d * d).sum(axis=1)
    expected = [
        2 * l_of @ yd,
        l_of @ dd,
        4 * p_of @ (yy * yd),
        p_of @ (4 * yd**2 + 2 * yy * dd),
        4 * p_of @ (yd * dd),
        p_of @ dd**2,
    ]
    np.testing.assert_allclose(powers, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("most", [1.0, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", ["complete", "missing", "missing, noise"])
def test_overshooting_blocks_return_to_the_minimum_along_the_step(case, weighted, most):
    # As out of core: each block sweeps on its own from the same state; the driver has no labels.
    ensemble = ensemble_of(case, weighted)
    model = FactoredModel.of(ensemble)
    labels = np.asarray(ensemble.labels)
    weights = ensemble.weights
    constant = naive.loss(labels, np.zeros((N, 1)), weights)
    rng = np.random.default_rng(7)
    Y = padded(rng.dirichlet(np.full(K, 30.0), N))
    driver = solver_of(ensemble)
    driver.rebuild(Y, 1)
    start = driver.objective()
    after = Y.copy()
    sums, grams = np.zeros_like(driver.sums), np.zeros(model.n_groups * K * K)
    first, second, powers = np.zeros_like(grams), np.zeros_like(grams), np.zeros(6)
    squares = fourths = 0.0
    before_grams = np.empty_like(grams)
    driver.read_grams(before_grams)
    for rows in np.array_split(np.arange(N), 8):
        part = ensemble.part(rows)
        block = FactoredSolver(
            part.label_view.reweighted(weights), model.group_of, model.n_groups, K
        )
        block.take_sums(driver)
        block.squares, block.fourths = driver.squares, driver.fourths
        mine = after[rows]
        block.sweep(mine, 0.0, 0.0, 1, watched=False)
        after[rows] = mine
        sums += block.sums - driver.sums
        moved = np.empty_like(grams)
        block.read_grams(moved)
        grams += moved - before_grams
        squares += block.squares - driver.squares
        fourths += block.fourths - driver.fourths
        P, Q, p = steps_of(block, Y[rows], mine)
        first, second, powers = first + P, second + Q, powers + p
    np.testing.assert_allclose(first + second, grams, atol=1e-10)
    assert powers[:2].sum() == pytest.approx(squares)
    assert powers[2:].sum() == pytest.approx(fourths)

    together = naive.loss(labels, after[:, :K], weights) - constant
    assert together > start  # they overshoot
    e = driver.step(sums, first, second, powers, most)
    assert 0 < e < 1
    there = Y + e * (after - Y)
    loss = naive.loss(labels, there[:, :K], weights) - constant
    assert driver.objective() == pytest.approx(loss, rel=1e-9)
    assert loss < start
    rebuilt = solver_of(ensemble)
    rebuilt.rebuild(there, 1)
    np.testing.assert_allclose(driver.sums, rebuilt.sums, atol=1e-9)
    assert driver.squares == pytest.approx(rebuilt.squares)
    assert driver.fourths == pytest.approx(rebuilt.fourths)
    for other in np.linspace(0, 1, 21):
        at = Y + other * (after - Y)
        assert naive.loss(labels, at[:, :K], weights) - constant >= loss - 1e-9 * constant


def test_steps_may_be_extrapolated():
    ensemble = ensemble_of("missing")
    end = memberships(8)
    solver = solver_of(ensemble)
    solver.rebuild(end, 1)
    for _ in range(200):
        solver.sweep(end, 0.0, 0.0, 1)
    start = memberships(9)
    short = start + 0.25 * (end - start)
    solver.rebuild(short, 1)
    sums = solver.sums.copy()
    solver.rebuild(start, 1)
    step = steps_of(solver, start, short)
    e = solver.step(sums - solver.sums, *step, 4.0)
    assert 1 < e <= 4
    losses = []
    for other in (e - 0.05, e, min(e + 0.05, 4.0)):
        solver.rebuild(start + other * (short - start), 1)
        losses.append(solver.objective())
    assert losses[1] == min(losses)
