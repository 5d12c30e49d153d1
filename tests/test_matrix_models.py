"""Matrix models of the evidence against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from conclust import Ensemble, WeightedNMF
from conclust.exceptions import ParameterError

E1 = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
E2 = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]])
E3 = np.column_stack([np.repeat(names, [3, 4, 2]) for names in ([0, 1, 2], [2, 0, 1], [5, 6, 3])])


def planted(seed=0, n=80, m=10, k=3, flip=0.2):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    flips = rng.random((n, m)) < flip
    return np.where(flips, rng.integers(0, k, (n, m)), truth[:, None]), truth


def together(labels):
    """(n, n, N): 1 where a partition puts two objects together; noise with nobody."""
    labels = np.asarray(labels)
    return (labels[:, None, :] == labels[None, :, :]) & (labels >= 0)[:, None, :]


# -- weighted consensus by non-negative factors


def naive_nmf(labels, w, H, price=0.0, given=None):
    M = together(labels) @ w
    penalty = 0.0
    if price:
        squares = together(labels).sum(axis=(0, 1))
        used = given > 0
        penalty = price * (given @ squares) * ((w - given)[used] ** 2 / given[used]).sum()
    return ((M - H @ H.T) ** 2).sum() + penalty


@pytest.mark.parametrize("learn", [False, True])
def test_nmf_objective_is_its_definition_and_never_rises(learn):
    labels, _ = planted()
    labels[::9, 2] = -2
    weights = np.arange(10) % 4
    ensemble = Ensemble(labels, weights=weights)
    model = WeightedNMF(3, learn_weights=learn, random_state=0).fit(ensemble)
    given = weights / weights.sum()
    price = 0.02 if learn else 0.0
    expected = naive_nmf(labels, model.weights_, model.factors_, price, given)
    assert model.objective_ == pytest.approx(expected)
    assert model.converged_
    assert (np.diff(model.trace_) <= 1e-9 * model.trace_[0]).all()
    assert model.weights_.sum() == pytest.approx(1)
    assert (model.weights_[weights == 0] == 0).all()
    if not learn:
        np.testing.assert_allclose(model.weights_, given)


def test_nmf_weights_are_optimal_for_the_factors():
    labels, _ = planted(1)
    labels[:, 4] = np.random.default_rng(0).integers(0, 3, len(labels))
    model = WeightedNMF(3, random_state=0).fit(labels)
    w, H = model.weights_, model.factors_
    M = together(labels)
    residual = M @ w - H @ H.T
    slope = 2 * np.einsum("ij,iju->u", residual, M)
    price = 0.02 * M.sum(axis=(0, 1)).mean()
    slope += 2 * price * (w - 0.1) / 0.1
    level = w @ slope
    scale = np.abs(slope).max() + M.sum()
    assert np.abs(slope[w > 0] - level).max() <= 1e-9 * scale
    assert (slope >= level - 1e-9 * scale).all()
    assert w.argmin() == 4  # a partition at random


def test_nmf_weights_reach_0():
    labels, _ = planted(2)
    labels[:, 4] = np.arange(len(labels))
    model = WeightedNMF(3, regularization=0.0, random_state=0, max_iter=5000, tol=1e-5).fit(labels)
    assert (model.weights_ == 0).any()
    assert model.weights_.sum() == pytest.approx(1)


def test_nmf_worked_examples():
    np.testing.assert_array_equal(WeightedNMF(2, random_state=0).fit_predict(E1), [0, 0, 1, 1])
    model = WeightedNMF(2, learn_weights=False, random_state=0).fit(E2)
    assert model.objective_ == pytest.approx(naive_nmf(E2, np.full(3, 1 / 3), model.factors_))
    np.testing.assert_array_equal(model.labels_[[1, 2]], model.labels_[[0, 0]])
    model = WeightedNMF(3, random_state=0).fit(E3)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 2], [3, 4, 2]))
    assert model.objective_ <= 1e-5
    np.testing.assert_allclose(model.weights_, 1 / 3, atol=1e-6)


def test_nmf_says_when_it_did_not_end():
    labels, _ = planted()
    with pytest.warns(ConvergenceWarning, match="WeightedNMF stopped after max_iter=20"):
        assert WeightedNMF(3, max_iter=20, random_state=0).fit(labels).n_iter_ == 20
    with pytest.raises(ParameterError, match="'regularization'"):
        WeightedNMF(3, regularization=-1.0).fit(labels)
