"""WeightedNMF with missing labels and on many rows, against its definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.cases import planted

from conclust import Ensemble, WeightedNMF
from conclust.consensus.papers.matrix import nmf
from conclust.consensus.papers.matrix.nmf import Criterion
from conclust.exceptions import UnsupportedEnsembleError


def noisy(seed, n=60, m=8, k=3, missing=0.2):
    """Planted labels, some of them noise."""
    return planted(seed, n, m, k, flip=0.2, missing=missing, noise=0.05)


def naive_objective(labels, w, H):
    """sum_u w_u |M_u - HH'|^2 over the pairs that u observed."""
    total = 0.0
    for weight, column in zip(w, labels.T, strict=True):
        seen = np.flatnonzero(column != -1)
        for i in seen:
            for j in seen:
                together = column[i] == column[j] and column[i] >= 0
                total += weight * (together - H[i] @ H[j]) ** 2
    return total


def test_objective_with_missing_labels_matches_its_definition_and_never_rises():
    labels, _ = noisy(0)
    given = np.arange(8.0)
    ensemble = Ensemble(labels, weights=given)
    model = WeightedNMF(3, learn_weights=False, random_state=0).fit(ensemble)
    np.testing.assert_allclose(model.weights_, given / given.sum())
    expected = naive_objective(labels, model.weights_, model.factors_)
    assert model.objective_ == pytest.approx(expected)
    assert model.converged_
    assert (np.diff(model.trace_) <= 1e-9 * model.trace_[0]).all()


def test_learning_weights_with_missing_labels_is_refused():
    labels, _ = noisy(1)
    with pytest.raises(UnsupportedEnsembleError, match="With learn_weights=False it does"):
        WeightedNMF(3).fit(labels)


def test_complete_labels_are_the_limit_of_missing_labels():
    labels, _ = noisy(3, missing=0.0)
    rows = Ensemble(labels).distinct_rows()
    plain = Criterion.of(rows, 0.02)
    masked = replace(Criterion.of(rows, 0.0), observed=np.ones((len(rows), 8)))
    H = np.random.default_rng(0).random((len(rows), 3))
    a, b = (one.grams(H, H * one.mass[:, np.newaxis]) for one in (plain, masked))
    w = np.random.default_rng(1).dirichlet(np.ones(8))
    np.testing.assert_allclose(plain.lowers(w, H, a), masked.lowers(w, H, b))
    assert nmf._Round.of(masked, w).at(H).value == pytest.approx(
        naive_objective(labels, w, H[rows.inverse])
    )
    M = (labels[:, None, :] == labels[None]) & (labels >= 0)[:, None]
    full = ((M @ w - H[rows.inverse] @ H[rows.inverse].T) ** 2).sum()
    price = plain.price * ((w - 1 / 8) ** 2 * 8).sum()
    assert nmf._Round.of(plain, w).at(H).value == pytest.approx(full + price)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_an_iteration_is_the_same_with_and_without_formed_pairs(monkeypatch, missing):
    labels, _ = noisy(5, missing=missing)
    rows = Ensemble(labels).distinct_rows()
    criterion = Criterion.of(rows, 0.0)
    H = np.random.default_rng(0).random((len(rows), 3))
    w = np.random.default_rng(1).dirichlet(np.ones(8))
    formed = nmf._Round.of(criterion, w)
    monkeypatch.setattr(nmf, "_FORMED", 0)
    sparse = nmf._Round.of(criterion, w)
    assert formed.together is not None
    assert sparse.together is None
    assert formed.at(H).value == pytest.approx(sparse.at(H).value, rel=1e-12)
    for one in (formed, sparse):
        there = one.at(H)
        B = rows.ensemble.indicator.toarray()
        expected = B @ ((B.T @ (H * rows.masses[:, None])) * w[criterion.partition][:, None])
        np.testing.assert_allclose(there.raises, expected)
        np.testing.assert_allclose(one.ratio(there), expected / criterion.lowers(w, H, there.grams))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_an_update_follows_coordinate_descent_of_least_squares(missing):
    labels = np.unique(noisy(5, n=25, missing=missing)[0], axis=0)
    n = len(labels)
    w = np.arange(1.0, 9.0) / 36
    rows = Ensemble(labels, weights=w).distinct_rows()
    assert len(rows) == n
    criterion = Criterion.of(rows, 0.0)
    H = np.random.default_rng(0).random((n, 3))
    M, seen = np.zeros((8, n, n)), np.zeros((8, n, n))
    for u, column in enumerate(labels.T):
        M[u] = (column[:, None] == column) & (column[:, None] >= 0)
        seen[u] = (column[:, None] != -1) & (column != -1)
    W = H.copy()
    for k in range(3):
        for i in range(n):
            # The best entry by a parabola through three of its values.
            def value(x, i=i, k=k):
                row = W[i].copy()
                row[k] = x
                return float((w[:, None] * seen[:, i] * (M[:, i] - H @ row) ** 2).sum())

            low, middle, high = value(0.0), value(1.0), value(2.0)
            curved = (high - 2 * middle + low) / 2
            W[i, k] = max(0.0, -(middle - low - curved) / (2 * curved))
    actual = criterion.towards(w, nmf._Round.of(criterion, w).at(H))
    np.testing.assert_allclose(actual, H + 0.7 * (W - H), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_sample_start_is_refined_on_all_rows(missing):
    labels, truth = noisy(6, n=9000, m=12, k=4, missing=missing)
    model = WeightedNMF(4, learn_weights=missing == 0.0, tol=1e-5, random_state=0).fit(labels)
    assert adjusted_rand_score(truth, model.labels_) > 0.97
    assert model.factors_.shape == (9000, 4)
    assert (np.diff(model.trace_) <= 1e-9 * abs(model.trace_[0])).all()
    rows = Ensemble(labels).distinct_rows()
    whole = Criterion.of(rows, 0.02 if missing == 0.0 else 0.0)
    _, kept = np.unique(rows.inverse, return_index=True)
    reached = nmf._Round.of(whole, model.weights_).at(model.factors_[kept]).value
    assert model.objective_ == pytest.approx(reached)


def test_soft_members_may_have_missing_rows():
    labels, _ = noisy(7)
    hard = np.where(labels == -2, 0, labels)
    soft = Ensemble.from_memberships(
        [np.where((c >= 0)[:, None], np.eye(3)[np.maximum(c, 0)], np.nan) for c in hard.T]
    )
    a = WeightedNMF(3, learn_weights=False, random_state=0).fit(hard)
    b = WeightedNMF(3, learn_weights=False, random_state=0).fit(soft)
    assert b.objective_ == pytest.approx(a.objective_, rel=1e-4)
