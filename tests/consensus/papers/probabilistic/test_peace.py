"""PEACE: the likelihood by its definition, and the selection among runs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import xlog1py, xlogy
from sklearn.exceptions import ConvergenceWarning
from tests.cases import E1
from tests.naive import least_squares
from tests.naive import pairs_objective as naive

from conclust import PCC, PEACE
from conclust.evidence import evidence
from conclust.exceptions import ParameterError


def noisy(seed=0, n=60, m=12, k=4):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    drawn = [np.where(rng.random(n) < 0.4, rng.integers(0, k, n), truth) for _ in range(m)]
    return np.column_stack(drawn)


def test_the_likelihood_matches_its_definition_and_is_the_best():
    labels = noisy()
    labels[::7, 3] = -1
    model = PEACE(4, n_init=3, random_state=0).fit(labels)
    c, N = least_squares.counts(labels)
    expected = naive.log_likelihood(c, N, model.membership_)
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-9)
    assert model.log_likelihood_ == model.log_likelihoods_.max()
    assert len(model.log_likelihoods_) == 3
    # PCC with "kl" is the same up to what no membership changes.
    pcc = PCC(4, random_state=0).fit(labels)
    constant = model.log_likelihood_ + model.objective_
    actual = naive.log_likelihood(c, N, pcc.membership_)
    assert constant - pcc.objective_ == pytest.approx(actual, rel=1e-9)


@pytest.mark.long
def test_with_many_objects_the_selected_run_continues_on_all_pairs():
    labels = noisy(seed=1, n=2300, m=8, k=3)
    model = PEACE(3, n_init=3, random_state=0).fit(labels)
    c, N = evidence(labels)
    inner = model.membership_ @ model.membership_.T
    expected = np.triu(xlogy(c, inner) + xlog1py(N - c, -inner), 1).sum()
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-9)
    assert model.log_likelihood_ == model.log_likelihoods_.max()
    assert (np.sort(model.log_likelihoods_)[:2] < model.log_likelihood_).all()
    assert model.converged_
    # As good as a run on all pairs from the start.
    one = PCC(3, random_state=0).fit(labels)
    assert model.objective_ <= one.objective_ * (1 + 1e-3)


def same_fit(one, other):
    for name in ("labels_", "membership_", "trace_", "residuals_", "log_likelihoods_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.objective_ == other.objective_


@pytest.mark.parametrize("init", ["auto", "random", "spectral", "given"])
def test_all_objects_as_landmarks_equal_the_full_form(init):
    labels = noisy(n=300)
    labels[::7, 3] = -1
    if init == "given":
        init = noisy(n=300)[:, 0]
    full = PEACE(4, init=init, n_init=3, random_state=0).fit(labels)
    same_fit(PEACE(4, solver="landmark", init=init, n_init=3, random_state=0).fit(labels), full)


@pytest.mark.long
def test_landmarks_are_the_default_above_a_number_of_objects(monkeypatch):
    labels = noisy(seed=1, n=2300, m=8, k=3)
    landmark = PEACE(3, solver="landmark", n_init=2, random_state=0).fit(labels)
    assert landmark.converged_
    monkeypatch.setattr("conclust.consensus.papers.probabilistic.peace.MAX_DENSE", 2200)
    same_fit(PEACE(3, n_init=2, random_state=0).fit(labels), landmark)
    assert PEACE(3, pairs=20, n_init=1, random_state=0).fit(labels).objective_ > 0
    monkeypatch.undo()
    full = PEACE(3, n_init=2, random_state=0).fit(labels)
    assert (full.labels_ == landmark.labels_).mean() > 0.97
    c, N = evidence(labels)
    inner = landmark.membership_ @ landmark.membership_.T
    likelihood = np.triu(xlogy(c, inner) + xlog1py(N - c, -inner), 1).sum()
    assert 0 <= full.log_likelihood_ - likelihood < 0.01 * full.objective_
    np.testing.assert_allclose(landmark.predict(labels[:5]), landmark.labels_[:5])


def test_landmarks_start_from_the_given_membership():
    labels = noisy(seed=1, n=2300, m=8, k=3)
    model = PEACE(3, solver="landmark", init=labels[:, 0], random_state=0).fit(labels)
    assert model.log_likelihoods_.shape == (1,)
    with pytest.raises(ParameterError, match="'pairs' parameter of PEACE must be None with solver"):
        PEACE(3, solver="landmark", pairs=5).fit(labels)


def test_each_sampled_pair_counts_once():
    every = PEACE(2, random_state=0).fit(E1)
    sampled = PEACE(2, pairs=3, random_state=0).fit(E1)
    assert sampled.log_likelihood_ == pytest.approx(every.log_likelihood_, rel=1e-9)


@pytest.mark.parametrize("solver", ["pairwise", "greedy"])
def test_peace_from_a_given_start_equals_pcc(solver):
    labels = noisy(n=30)
    start = np.random.default_rng(1).dirichlet(np.ones(4), 30)
    how = {"solver": solver, "init": start, "max_iter": 50, "tol": 1e-4, "random_state": 0}
    model, pcc = PEACE(4, **how).fit(labels), PCC(4, **how).fit(labels)
    np.testing.assert_array_equal(model.trace_, pcc.trace_)
    np.testing.assert_array_equal(model.membership_, pcc.membership_)
    assert model.objective_ == pcc.objective_
    assert model.n_iter_ == pcc.n_iter_
    assert len(model.log_likelihoods_) == 1


def test_the_papers_algorithm_climbs_from_random_starts():
    labels = noisy(n=40)
    model = PEACE(4, solver="greedy", init="random", n_init=4, tol=1e-4, random_state=0).fit(labels)
    assert model.log_likelihood_ == model.log_likelihoods_.max()
    assert len(set(model.log_likelihoods_)) > 1
    c, N = least_squares.counts(labels)
    expected = naive.log_likelihood(c, N, model.membership_)
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-9)
    assert model.kkt_residual_ <= 1e-4
    # nK steps, where the paper stops it.
    with pytest.warns(ConvergenceWarning):
        short = PEACE(
            4,
            solver="greedy",
            init="random",
            n_init=4,
            max_iter=4,
            tol=0,
            tol_kkt=0,
            random_state=0,
        ).fit(labels)
    assert short.n_iter_ == 160
    assert short.log_likelihood_ < model.log_likelihood_


def test_a_spectral_start_is_one_run():
    model = PEACE(4, init="spectral", random_state=0).fit(noisy())
    assert len(model.log_likelihoods_) == 1
    assert model.converged_


@pytest.mark.parametrize("parameters", [{"init": "kmeans"}, {"init": np.ones((3, 3))}])
def test_invalid_starts_are_refused(parameters):
    (name,) = parameters
    with pytest.raises(ParameterError, match=f"{name!r}"):
        PEACE(3, **parameters).fit(noisy())
