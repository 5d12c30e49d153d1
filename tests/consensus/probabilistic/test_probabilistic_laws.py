"""Identities of the pair objective that hold for every solver, and the planted truth at full size."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from experiments.pcc2013.planted import PAPER_J, overlapping
from sklearn.cluster import KMeans
from tests.cases import random_labels
from tests.naive import pairs_objective as naive

from conclust import PCC, BaumEagon, Ensemble, WeightedPCC
from conclust.consensus.probabilistic import descent
from conclust.consensus.probabilistic.problem import Problem, Run, Stopping
from conclust.consensus.probabilistic.solvers import factored, greedy
from conclust.datasets import planted_ensemble
from conclust.divergences import i as i_divergence
from conclust.divergences import kl, l2, mahalanobis, power
from conclust.evidence import evidence, sample_pairs
from conclust.metrics import js_divergence


def votes(labels):
    """Yield every pair of objects that a partition observed: (i, j, whether it puts them together)."""
    for column in labels.T:
        for i, j in combinations(range(len(labels)), 2):
            if column[i] >= 0 and column[j] >= 0:
                yield i, j, float(column[i] == column[j])


def binary_entropy(p):
    return -sum(x * np.log(x) for x in (p, 1 - p) if x > 0)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_costs_of_single_votes_and_of_counts_differ_by_a_constant(missing):
    labels = random_labels(0, 14, 7, 3, missing)
    c, N = evidence(labels)
    observed_pairs = [(i, j) for i, j in combinations(range(14), 2) if N[i, j] > 0]
    constants = {
        "kl": sum(N[i, j] * binary_entropy(c[i, j] / N[i, j]) for i, j in observed_pairs),
        "l2": sum(c[i, j] - c[i, j] ** 2 / N[i, j] for i, j in observed_pairs),
    }
    definitions = {"kl": naive.kl, "l2": naive.l2}
    for name, constant in constants.items():
        model = PCC(3, divergence=name, solver="greedy", init="random", n_init=1, random_state=1)
        with np.errstate(all="raise"):
            model.fit(labels)
        # Moved inside the simplex: KL of a vote against a certain membership may be infinite.
        Y = 0.9 * model.membership_ + 0.1 / 3
        one_by_one = sum(definitions[name](x, Y[i] @ Y[j]) for i, j, x in votes(labels))
        counted = naive.objective(c, N, Y, definitions[name])
        assert one_by_one == pytest.approx(counted + constant, rel=1e-12)


@pytest.mark.parametrize("divergence", ["kl", "l2", "i", "power", "mahalanobis"])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_steps_along_the_simplex_match_the_derivative(divergence, missing):
    labels = random_labels(1, 12, 6, 3, missing)
    c, N = evidence(labels)
    d = {"kl": kl, "i": i_divergence, "l2": l2, "mahalanobis": mahalanobis, "power": power}[
        divergence
    ]
    d = d() if divergence == "power" else d
    d = d(np.eye(2)) if divergence == "mahalanobis" else d
    rng = np.random.default_rng(2)
    Y = rng.dirichlet(np.full(3, 3.0), 12)

    def f(Y):
        return naive.objective(
            c, N, Y, lambda p, q: float(d.value(np.array([p]), np.array([q]))[0])
        )

    with np.errstate(invalid="ignore", divide="ignore"):
        A = Y @ Y.T
        W = np.where(N > 0, N * d.derivative(np.divide(c, N), A), 0.0)
    np.fill_diagonal(W, 0.0)
    G = W @ Y
    for i in range(12):
        U, V = rng.permutation(3)[:2]
        step = np.zeros_like(Y)
        step[i, [U, V]] = 1e-6, -1e-6
        slope = (f(Y + step) - f(Y - step)) / 2e-6
        assert slope == pytest.approx(G[i, U] - G[i, V], rel=1e-6, abs=1e-6)


def test_the_three_families_of_solvers_minimise_one_function():
    # Clear clusters: one minimum for any start.
    truth = np.repeat(np.arange(3), 20)
    rng = np.random.default_rng(3)
    labels = np.where(rng.random((60, 12)) < 0.12, rng.integers(0, 3, (60, 12)), truth[:, None])
    labels[rng.random(labels.shape) < 0.2] = -1
    ensemble = Ensemble(labels)
    start = 0.8 * np.eye(3)[truth] + 0.2 * rng.dirichlet(np.ones(3), 60)
    settings = {"tol": 0.0, "tol_kkt": 1e-9, "max_iter": 5000}
    all_pairs = evidence(ensemble)
    least_squares = [
        PCC(3, divergence="l2", solver=solver, init=start, **settings).fit(ensemble)
        for solver in ("factored", "pairwise", "greedy")
    ]
    likelihood = [
        PCC(3, solver=solver, init=start, **settings).fit(ensemble)
        for solver in ("pairwise", "landmark", "greedy")
    ]
    for models, d in ((least_squares, naive.l2), (likelihood, naive.kl)):
        best = min(model.objective_ for model in models)
        for model in models:
            assert model.objective_ == pytest.approx(best, rel=1e-3)
            recomputed = naive.objective(*all_pairs, model.membership_, d)
            assert model.objective_ == pytest.approx(recomputed, rel=1e-6)
            np.testing.assert_array_equal(model.labels_, truth)


def test_reordering_objects_and_start_reorders_the_solution():
    labels = random_labels(4, 30, 8, 3, missing=0.2)
    start = np.random.default_rng(5).dirichlet(np.ones(3), 30)
    # Steps visit the objects in order, so only their limit is the same.
    order = np.random.default_rng(6).permutation(30)
    for divergence in ("kl", "l2"):
        settings = {"divergence": divergence, "tol": 0.0, "tol_kkt": 1e-10, "max_iter": 20_000}
        ahead = PCC(3, solver="greedy", init=start, **settings).fit(labels)
        moved = PCC(3, solver="greedy", init=start[order], **settings).fit(labels[order])
        together = ahead.membership_ @ ahead.membership_.T
        np.testing.assert_allclose(
            moved.membership_ @ moved.membership_.T, together[np.ix_(order, order)], atol=1e-6
        )


def test_half_the_frobenius_norm_is_the_objective_plus_the_diagonal():
    # The objective of the least-squares consensus of soft partitions, including the pairs (i, i).
    labels = random_labels(7, 25, 6, 3)
    model = PCC(3, divergence="l2", random_state=0).fit(labels)
    Y = model.membership_
    C = np.mean([column[:, None] == column for column in labels.T], axis=0)
    frobenius = labels.shape[1] * ((C - Y @ Y.T) ** 2).sum()
    diagonal = labels.shape[1] * ((1 - (Y**2).sum(axis=1)) ** 2).sum()
    assert 0.5 * (frobenius - diagonal) == pytest.approx(model.objective_, rel=1e-9)


def test_every_least_squares_solver_ends_at_the_same_objective():
    truth = np.repeat(np.arange(3), 15)
    rng = np.random.default_rng(8)
    labels = np.where(rng.random((45, 10)) < 0.15, rng.integers(0, 3, (45, 10)), truth[:, None])
    pairs = PCC(3, divergence="l2", random_state=0).fit(labels).objective_
    grown = BaumEagon(3, random_state=0, max_iter=20_000).fit(labels).objective_
    weighted = WeightedPCC(3, regularization="simplex", rho=0.1, random_state=0).fit(labels)
    np.testing.assert_allclose(weighted.weights_, 0.1)
    repeated = naive.objective(*evidence(labels), weighted.membership_, naive.l2)
    assert (
        pairs <= grown <= 1.01 * pairs
    )  # growth ends early because convergence is slow at the end
    assert repeated == pytest.approx(pairs, rel=1e-3)


def test_counts_pattern_and_sums_give_one_objective():
    labels = random_labels(9, 40, 9, 4, missing=0.3)
    ensemble = Ensemble(labels)
    start = np.random.default_rng(0).dirichlet(np.ones(4), 40)
    every = sample_pairs(ensemble, 39, random_state=0)
    once = Stopping(1, 0.0, 0.0)
    dense = descent.descend(evidence(ensemble), start, l2, once)
    sparse = descent.descend(every, start, l2, once)
    steps = greedy.steps(evidence(ensemble), start, l2, max_iter=1)
    same = naive.objective(*evidence(ensemble), start, naive.l2)
    problem, run = Problem(ensemble, 4, l2), Run(np.random.SeedSequence(0), 1)
    sums = factored.Factored().solve(problem, start, once, run)
    c, N = evidence(ensemble)
    observed = N > 0
    np.fill_diagonal(observed, False)
    constant = (
        0.5
        * (c - np.divide(c.astype(float) ** 2, N, where=observed, out=np.zeros(c.shape)))[
            observed
        ].sum()
    )
    assert sums.constant == pytest.approx(constant, rel=1e-12)
    uncounted = factored.Factored(counted=0).solve(problem, start, once, run)
    assert uncounted.constant is None
    for begin in (
        dense.trace[0][0],
        sparse.trace[0][0],
        steps.trace[0][0],
        sums.trace[0][0],
        uncounted.trace[0][0] - constant,
    ):
        assert begin == pytest.approx(same, rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("divergence", ["kl", "l2"])
def test_planted_clusters_are_recovered_as_in_the_paper(divergence):
    # 4 Gaussians x 200 objects, 1,000 partitions drawn from the true membership, up to 8 clusters.
    truth = overlapping(3, 200).membership
    assert 0.75 <= truth.max(axis=1).mean() <= 0.9
    ensemble = planted_ensemble(truth, 1000, random_state=3)
    model = PCC(8, divergence=divergence, random_state=3).fit(ensemble)
    mass = model.membership_.mean(axis=0)
    assert np.count_nonzero(mass > 0.01) == 4
    assert mass[mass <= 0.01].sum() < 0.005
    assert js_divergence(truth, model.membership_) <= PAPER_J


def test_surplus_clusters_become_empty_on_clear_clusters():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(center, 0.3, (40, 2)) for center in ((0, 0), (4, 0), (0, 4))])
    labels = np.column_stack(
        [KMeans(3, n_init=1, random_state=seed).fit_predict(X) for seed in range(15)]
    )
    for divergence in ("kl", "l2"):
        model = PCC(6, divergence=divergence, random_state=0).fit(labels)
        assert model.n_clusters_ == 3
        assert model.membership_[:, 3:].max(initial=0.0) < 0.05
