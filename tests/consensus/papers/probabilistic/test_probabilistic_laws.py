"""Identities of the pair objective that hold for every solver, and the planted truth at full size."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.pcc2013.planted import PAPER_J, overlapping
from sklearn.cluster import KMeans
from tests.cases import random_labels
from tests.naive import pairs_objective as naive

from conclust import PCC, Ensemble
from conclust.consensus.papers.probabilistic import descent
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Stopping
from conclust.consensus.papers.probabilistic.solvers import factored, greedy
from conclust.datasets import planted_ensemble
from conclust.divergences import l2
from conclust.evidence import evidence, sample_pairs
from conclust.metrics import js_divergence


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
