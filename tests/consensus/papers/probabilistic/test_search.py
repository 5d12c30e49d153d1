"""The effort to improve a solution over pairs, measured by counted work instead of clocks."""

from __future__ import annotations

import numpy as np
import pytest

from conclust import PCC, Ensemble
from conclust._random import seed_sequence
from conclust.consensus.papers.probabilistic import descent
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Stopping
from conclust.consensus.papers.probabilistic.solvers import SOLVERS, pairwise
from conclust.divergences import kl
from conclust.evidence import evidence


def noisy(n, m=12, k=4, wrong=0.4, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    drawn = [np.where(rng.random(n) < wrong, rng.integers(0, k, n), truth) for _ in range(m)]
    return np.column_stack(drawn)


@pytest.fixture
def spent(monkeypatch):
    """Record the work of each descent."""
    counted = []

    def descend(*arguments, **how):
        actual = descent.solved_from(*arguments, **how)
        counted.append(actual.spent)
        return actual

    monkeypatch.setattr(pairwise, "solved_from", descend)
    return counted


def test_the_cost_of_an_object_depends_on_its_clusters_not_on_the_bound():
    labels = noisy(200)
    start = np.full((200, 4), 0.02) + 0.92 * np.eye(4)[labels[:, 0]]
    few = descent.descend(evidence(labels), start, kl, Stopping(3, 0, 0))
    wide = np.pad(start, ((0, 0), (0, 56)))
    many = descent.descend(evidence(labels), wide, kl, Stopping(3, 0, 0))
    assert many.objective <= few.objective  # the gain by one more cluster
    assert many.spent < 5 * few.spent


def test_counted_work_does_not_depend_on_threads():
    pair_evidence = evidence(noisy(1100))
    start = np.random.default_rng(0).dirichlet(np.ones(6), 1100)
    stopping = Stopping(4, 0, 0)
    assert descent.descend(pair_evidence, start, kl, stopping, threads=1).spent == (
        descent.descend(pair_evidence, start, kl, stopping, threads=3).spent
    )


@pytest.mark.parametrize("k", [20, 60])
def test_a_bound_far_too_high_costs_at_most_the_budget_of_the_search(spent, k):
    PCC(k, random_state=0).fit(noisy(60, m=60))
    assert sum(spent) <= 1.5 * pairwise.BUDGET + 2 * spent[0]


def test_a_larger_problem_is_not_several_times_cheaper(monkeypatch, spent):
    # Reduces the sizes at which the strategy changes.
    monkeypatch.setattr(pairwise, "BUDGET", 20_000_000)
    monkeypatch.setattr(pairwise, "PART", 150)
    labels = noisy(700, k=6)
    work = []
    for n in (60, 90, 120, 145, 155, 200, 300, 450, 590, 610, 700):
        spent.clear()
        PCC(8, random_state=0).fit(labels[:n])
        work.append(sum(spent))
    assert (np.array(work[1:]) > 0.5 * np.array(work[:-1])).all(), work


@pytest.mark.long
def test_many_objects_reach_the_solution_on_all_pairs():
    labels = noisy(1500, k=6, wrong=0.5)
    whole = evidence(labels)
    model = PCC(8, random_state=0).fit(labels)
    assert model.objective_ == pytest.approx(
        descent.objective(whole, model.membership_, kl), rel=1e-9
    )
    for seed in range(2):
        start = np.random.default_rng(seed).dirichlet(np.ones(8), 1500)
        plain = descent.descend(whole, start, kl, Stopping(200, 1e-6, 1e-8))
        assert model.objective_ <= 1.001 * plain.objective


def test_holding_keeps_one_empty_cluster():
    Y = np.zeros((6, 7))
    Y[:, 1] = 0.5
    Y[:, 4] = 0.4999
    Y[:, 6] = 0.0001
    kept = pairwise.holding(Y)
    assert kept.shape == (6, 3)
    np.testing.assert_allclose(kept.sum(axis=1), 1)
    np.testing.assert_allclose(kept[:, 2], 0)
    assert pairwise.holding(kept[:, :2]).shape == (6, 2)
    one = np.full((1, 400), 1 / 400)
    assert pairwise.holding(one).shape == (1, 400)


def test_solutions_are_padded_to_the_bound_and_stationary():
    labels = noisy(80)
    ensemble = Ensemble(labels)
    problem = Problem(ensemble, 30, kl, evidence(labels))
    actual = SOLVERS["pairwise"].solve(problem, None, Stopping(), Run(seed_sequence(0)))
    assert actual.membership.shape == (80, 30)
    np.testing.assert_allclose(actual.membership.sum(axis=1), 1)
    repeated = descent._Work(evidence(labels), actual.membership, kl)
    assert repeated.measure() == pytest.approx(actual.residual, abs=1e-9)
    assert actual.objective == pytest.approx(repeated.objective(), rel=1e-12)
