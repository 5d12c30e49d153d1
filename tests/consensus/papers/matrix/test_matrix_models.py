"""Matrix models of the evidence against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from tests.cases import E1, planted

import conclust as cc
from conclust.consensus.papers.matrix.communities import _Evidence
from conclust.consensus.papers.matrix.left_stochastic import Plane, corners, rotated
from conclust.exceptions import (
    EvidenceWarning,
    ParameterError,
    UnsupportedEnsembleError,
)
from conclust.membership import bridgeness


def flipped(seed=0, n=80, m=10, flip=0.2):
    """Labels of three planted clusters."""
    return planted(seed, n, m, flip=flip)


def together(labels):
    """(n, n, N): 1 if a partition puts two objects together; noise is never together."""
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
def test_nmf_objective_matches_its_definition_and_never_rises(learn):
    labels, _ = flipped()
    labels[::9, 2] = -2
    weights = np.arange(10) % 4
    ensemble = cc.Ensemble(labels, weights=weights)
    model = cc.WeightedNMF(3, learn_weights=learn, random_state=0).fit(ensemble)
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
    labels, _ = flipped(1)
    labels[:, 4] = np.random.default_rng(0).integers(0, 3, len(labels))
    model = cc.WeightedNMF(3, random_state=0).fit(labels)
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
    labels, _ = flipped(7)
    labels[:, 4] = np.arange(len(labels))
    model = cc.WeightedNMF(3, regularization=0.0, random_state=0, max_iter=5000, tol=1e-5).fit(
        labels
    )
    assert (model.weights_ == 0).any()
    assert model.weights_.sum() == pytest.approx(1)


# -- fuzzy communities


def naive_communities(labels, U, weights=None):
    """f(U), the products w_ij s_ij and the weights w_ij."""
    w = np.ones(labels.shape[1]) if weights is None else np.asarray(weights, float)
    c, N = together(labels) @ w / w.sum(), (labels != -1) @ np.diag(w / w.sum()) @ (labels != -1).T
    S = np.divide(c, N, out=np.zeros_like(c), where=N > 0)
    np.fill_diagonal(S, 1.0)
    return (N * (S - U @ U.T) ** 2).sum(), N * S, N


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("missing", [0.0, 0.15, 0.6])
def test_communities_objective_matches_its_definition_and_never_rises(missing, copies):
    labels, _ = flipped(3, flip=0.3)
    labels[::9, 2] = -2
    labels[np.random.default_rng(0).random(labels.shape) < missing] = -1
    labels[:, 0] = np.abs(labels[:, 0])
    labels = np.repeat(labels, copies, axis=0)
    weights = 1 + np.arange(10) % 3
    weights[5] = 0
    model = cc.FuzzyCommunities(3, random_state=0).fit(cc.Ensemble(labels, weights=weights))
    U = model.membership_
    expected, S, N = naive_communities(labels, U, weights)
    assert model.objective_ == pytest.approx(expected)
    assert model.trace_[-1] == pytest.approx(expected)
    assert (np.diff(model.trace_) <= 0).all()
    assert model.converged_
    np.testing.assert_array_equal(model.bridgeness_, bridgeness(U))
    # First-order conditions: no direction within the simplex goes down.
    G = 4 * ((N * (U @ U.T)) @ U - S @ U)
    level = (U * G).sum(axis=1, keepdims=True)
    assert (level - G).max() <= 2e-3 * np.abs(G).max()


def test_communities_by_all_pairs_equal_those_by_groups():
    labels, _ = flipped(3, flip=0.2)
    labels[np.random.default_rng(0).random(labels.shape) < 0.3] = -1
    labels = labels[np.r_[:80, :5]]  # some rows twice
    ensemble = cc.Ensemble(labels)
    rows = ensemble.distinct_rows()
    assert 3 * len(ensemble.presence_groups.first) < len(rows) < 85
    by_pairs = _Evidence.of(ensemble, rows, 12)
    by_groups = _Evidence.of(ensemble, rows, 3)
    assert by_groups.roots is None
    assert by_pairs.roots is not None
    U, V, W = np.random.default_rng(1).dirichlet(np.ones(12), (3, len(rows)))
    P, Q = by_pairs.grams(U, V), by_pairs.grams(V, W)
    R, S = by_groups.grams(U, V), by_groups.grams(V, W)
    assert (P * Q).sum() == pytest.approx((R * S).sum())
    np.testing.assert_allclose(
        by_pairs.spread(U, by_pairs.grams(U, U)), by_groups.spread(U, by_groups.grams(U, U))
    )


def test_communities_of_many_objects_include_a_constant(monkeypatch):
    labels, _ = flipped(3, flip=0.3)
    labels[::4, 1:4] = -1
    small = cc.FuzzyCommunities(3, random_state=0).fit(labels)
    monkeypatch.setattr("conclust.consensus.papers.matrix.communities._ALL_PAIRS", 10)
    large = cc.FuzzyCommunities(3, random_state=0).fit(labels)
    np.testing.assert_allclose(large.membership_, small.membership_, atol=1e-3)
    U = large.membership_
    seen = labels != -1
    pairs = seen[:, None, :] & seen[None, :, :]
    each = np.where(pairs, together(labels) - (U @ U.T)[:, :, None], 0.0)
    each[np.arange(80), np.arange(80)] = np.where(seen, 1 - (U * U).sum(1)[:, None], 0.0)
    assert large.objective_ == pytest.approx((each**2).sum() / 10)


def test_communities_take_missing_labels():
    truth = np.repeat(np.arange(3), 20)
    labels = np.column_stack([truth] * 12)
    labels[np.random.default_rng(1).random(labels.shape) < 0.3] = -1
    labels[7] = -1
    with pytest.warns(EvidenceWarning, match="1 object is missing"):
        model = cc.FuzzyCommunities(3, random_state=0).fit(labels)
    assert model.labels_[7] == -1
    np.testing.assert_array_equal(np.delete(model.labels_, 7), np.delete(truth, 7))
    assert model.bridgeness_.shape == (60,)
    assert model.bridgeness_[7] == 1.0
    assert np.delete(model.bridgeness_, 7).max() < 1e-3


# -- copies of a soft partition, and an objective that prefers other clusters to its most probable ones


def test_objectives_prefer_other_clusters_than_the_most_probable_ones():
    share = np.array([1.0, 1.0, 0.51, 0.0])
    copies = cc.Ensemble.from_memberships([np.column_stack([share, 1 - share])] * 5)
    model = cc.InformationTheoreticKMeans(2, random_state=0).fit(copies)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.objective_ < 0.56  # 0.80 for 0, 0, 0, 1
    q = np.random.default_rng(0).dirichlet([8, 8, 8], 40)
    copies = cc.Ensemble.from_memberships([q] * 5)
    factored = cc.WeightedNMF(3, learn_weights=False, random_state=0).fit(copies)
    np.testing.assert_allclose(factored.factors_ @ factored.factors_.T, q @ q.T, atol=1e-3)
    assert adjusted_rand_score(factored.labels_, q.argmax(axis=1)) < 1.0
    communities = cc.FuzzyCommunities(3, random_state=0).fit(copies)
    assert communities.objective_ < 0.99 * ((1 - (q**2).sum(axis=1)) ** 2).sum()


# -- fuzzy rows


def naive_rows(labels, Y, power, kind, medoids=None):
    """J with the distances of the definition; for means, with the centroids of Y."""
    n = len(labels)
    seen = (labels != -1).mean(axis=1)
    S = together(labels).mean(axis=2) / np.outer(seen, seen)
    total = 0.0
    for k in range(Y.shape[1]):
        shares = Y[:, k] ** power
        for i in range(n):
            if kind == "cmedoids":
                d = 0.0
                if i != medoids[k]:
                    both = (labels[i] == labels[medoids[k]]) & (labels[i] >= 0)
                    d = 1.0 - both.mean()
                total += shares[i] * d
                continue
            mean = shares @ S / shares.sum()
            total += shares[i] * ((S[i] - mean) ** 2).mean()
    return total


@pytest.mark.parametrize("kind", ["cmeans", "cmedoids"])
def test_rows_objective_matches_its_definition_and_never_rises(kind):
    labels, truth = flipped(4, n=30, m=6)
    labels[::7, 2] = -2
    if kind == "cmeans":
        labels[::5, 1] = -1
    model = cc.FuzzyRows(3, kind=kind, tol=1e-13, max_iter=3000, random_state=0).fit(labels)
    expected = naive_rows(labels, model.membership_, 1.2, kind, model.medoids_)
    assert model.objective_ == pytest.approx(expected, rel=1e-5)
    assert (np.diff(model.trace_) <= 1e-12).all()
    assert adjusted_rand_score(truth, model.labels_) > 0.7
    assert (model.medoids_ is None) == (kind == "cmeans")
    # A slightly perturbed column of the membership is worse.
    Y = model.membership_.copy()
    Y[0] = Y[0, [1, 2, 0]]
    assert naive_rows(labels, Y, 1.2, kind, model.medoids_) > expected


@pytest.mark.parametrize(
    ("kind", "least"), [("cmeans", 0.9), ("cmedoids", 0.7), ("weighted_medoids", 0.9)]
)
@pytest.mark.parametrize("seed", range(3))
def test_rows_keep_clusters_that_partitions_split(kind, least, seed):
    # Eight clusters, each split in three by every partition at different positions, with errors.
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 8, 600)
    labels = 3 * truth[:, None] + rng.integers(0, 3, (600, 10))
    labels = np.where(rng.random(labels.shape) < 0.2, rng.integers(0, 24, labels.shape), labels)
    model = cc.FuzzyRows(8, kind=kind, random_state=seed).fit(labels)
    assert model.n_clusters_ == 8
    assert adjusted_rand_score(truth, model.labels_) > least


def naive_weighted(labels, Y, V, power, medoid_power):
    """J of weighted medoids, pair by pair."""
    total = 0.0
    for i, row in enumerate(labels):
        for j, other in enumerate(labels):
            apart = 0.0 if i == j else 1.0 - ((row == other) & (row >= 0)).mean()
            total += apart * float((Y[i] ** power) @ (V[j] ** medoid_power))
    return total


@pytest.mark.parametrize("seed", range(3))
def test_weighted_medoids_minimise_their_objective(seed):
    labels, truth = flipped(seed, n=40, m=7)
    labels[::9, 2] = -2
    model = cc.FuzzyRows(
        3, kind="weighted_medoids", fuzziness=1.4, tol=1e-15, max_iter=5000, random_state=0
    ).fit(labels)
    Y, V = model.membership_, model.medoid_weights_
    expected = naive_weighted(labels, Y, V, 1.4, 1.5)
    assert model.objective_ == pytest.approx(expected, rel=1e-9)
    assert (np.diff(model.trace_) <= 1e-12).all()
    np.testing.assert_allclose(V.sum(axis=0), 1.0)
    np.testing.assert_array_equal(model.medoids_, V.argmax(axis=0))
    assert adjusted_rand_score(truth, model.labels_) > 0.7
    # No change of one object's memberships, or of one cluster's weights, is better.
    rng = np.random.default_rng(seed)
    for _ in range(10):
        other, i = Y.copy(), rng.integers(40)
        other[i] = 0.95 * Y[i] + 0.05 * rng.dirichlet(np.ones(3))
        assert naive_weighted(labels, other, V, 1.4, 1.5) >= expected * (1 - 1e-9)
        other, k = V.copy(), rng.integers(3)
        other[:, k] = 0.95 * V[:, k] + 0.05 * rng.dirichlet(np.ones(40))
        assert naive_weighted(labels, Y, other, 1.4, 1.5) >= expected * (1 - 1e-9)


def test_rows_refuse_invalid_input_and_warn_without_convergence():
    missing = E1.copy()
    missing[2, 2] = -1
    with pytest.raises(UnsupportedEnsembleError, match="With kind='cmeans' it does"):
        cc.FuzzyRows(2, kind="cmedoids").fit(missing)
    assert cc.FuzzyRows(2, random_state=0).fit(missing).labels_.shape == (4,)
    with pytest.raises(ParameterError, match="'fuzziness'"):
        cc.FuzzyRows(2, fuzziness=1.0).fit(E1)
    labels, _ = flipped(5, flip=0.5)
    with pytest.warns(ConvergenceWarning, match="FuzzyRows stopped after max_iter=2"):
        cc.FuzzyRows(3, max_iter=2, random_state=0).fit(labels)
    with pytest.warns(ConvergenceWarning, match="FuzzyCommunities stopped after max_iter=2"):
        cc.FuzzyCommunities(3, max_iter=2, random_state=0).fit(labels)


# -- left-stochastic decomposition


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_left_stochastic_recovers_matrices_of_its_form(k):
    rng = np.random.default_rng(k)
    P = rng.dirichlet(np.full(k, 0.3), 60)
    P[:k] = np.eye(k)
    S = P @ P.T / 2.5
    values, vectors = np.linalg.eigh(S)
    rows = vectors[:, -k:] * np.sqrt(values[-k:])
    plane = Plane.through(rows.T @ rows, rows.sum(axis=0))
    assert plane.scale == pytest.approx(2.5)
    points = rows @ plane.coordinates
    starts = [
        corners(points),
        *(np.linalg.qr(rng.normal(size=(k - 1, k - 1)))[0] for _ in range(9)),
    ]
    ends = [rotated(points, np.ones(60), start, 5000, 1e-18) for start in starts]
    actual = min(ends, key=lambda end: end.trace[-1])
    assert actual.trace[-1] <= 1e-10
    np.testing.assert_allclose(actual.membership @ actual.membership.T, P @ P.T, atol=1e-4)


def test_left_stochastic_attributes_match_their_definitions():
    labels, truth = flipped(6, flip=0.3)
    labels[::9, 2] = -2
    weights = np.arange(10) % 3
    model = cc.LeftStochastic(3, random_state=0).fit(cc.Ensemble(labels, weights=weights))
    S = together(labels) @ (weights / weights.sum())
    P = model.membership_
    assert model.residual_ == pytest.approx(((model.scale_ * S - P @ P.T) ** 2).sum())
    assert (np.diff(model.trace_) <= 1e-9).all()
    assert model.objective_ == model.trace_[-1]
    assert adjusted_rand_score(truth, model.labels_) > 0.8
