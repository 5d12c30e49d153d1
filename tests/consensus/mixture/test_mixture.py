"""Mixtures of label vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln, psi
from sklearn.metrics import adjusted_rand_score
from tests.naive.mixture import (
    elbo,
    joint,
    log_likelihood,
    naive_round,
    step,
)

import conclust as cc
from conclust._kernels import mixed_membership_round
from conclust.consensus.mixture import bayesian, multinomial
from conclust.ensemble.labels import label_view
from conclust.exceptions import (
    UnseenLabelWarning,
)


def ragged(seed, n=60, m=8, missing=0.2, noise=0.0, flip=0.3):
    """Labels of three true clusters, some random, by first appearance."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    labels = np.column_stack(
        [np.where(rng.random(n) < flip, rng.integers(0, 3 + u % 3, n), truth) for u in range(m)]
    )
    labels[rng.random(labels.shape) < missing] = -1
    labels[rng.random(labels.shape) < noise] = -2
    labels[:, 0] = truth
    return cc.Ensemble(labels).labels.copy(), truth


@pytest.mark.parametrize("smoothing", [0.0, 1e-3, 0.5])
def test_reported_attributes_match_their_definition(smoothing):
    for seed in range(3):
        labels, _ = ragged(seed)
        model = cc.MixtureModel(3, smoothing=smoothing, random_state=seed).fit(labels)
        P = joint(labels, model.mixing_, model.label_probabilities_)
        likelihood = np.log(P.sum(1)).sum()
        assert model.log_likelihood_ == pytest.approx(likelihood, rel=1e-10)
        np.testing.assert_allclose(model.membership_, P / P.sum(1, keepdims=True), atol=1e-12)
        prior = sum(np.log(theta).sum() for theta in model.label_probabilities_ if smoothing)
        assert model.objective_ == pytest.approx(likelihood + smoothing * prior, rel=1e-10)
        free = 2 + 3 * sum(theta.shape[1] - 1 for theta in model.label_probabilities_)
        assert model.bic_ == pytest.approx(-2 * likelihood + np.log(len(labels)) * free)
        z = model.membership_[model.membership_ > 0]
        assert model.icl_ == pytest.approx(model.bic_ - 2 * (z * np.log(z)).sum())


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_end_is_a_fixed_point_of_em(smoothing):
    labels, _ = ragged(1)
    model = cc.MixtureModel(3, smoothing=smoothing, tol=1e-14, max_iter=5000, random_state=0).fit(
        labels
    )
    mixing, thetas = step(labels, model.mixing_, model.label_probabilities_, smoothing)
    np.testing.assert_allclose(mixing, model.mixing_, atol=1e-4)
    for a, b in zip(thetas, model.label_probabilities_, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


def effective(weights):
    """Return weights whose sum is the effective number of partitions."""
    return weights * weights.sum() / (weights**2).sum()


def test_a_weight_is_an_exponent_of_the_likelihood():
    labels, _ = ragged(3)
    weights = np.array([1, 2, 1, 0, 3, 1, 1, 2])
    a = cc.MixtureModel(3, tol=1e-10, random_state=0).fit(cc.Ensemble(labels, weights=weights))
    b = cc.MixtureModel(3, tol=1e-10, random_state=0).fit(np.repeat(labels, weights, axis=1))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    likelihood = log_likelihood(labels, a.mixing_, a.label_probabilities_, effective(weights))
    assert a.log_likelihood_ == pytest.approx(likelihood)


def test_noise_drops_out_of_the_likelihood():
    labels, truth = ragged(4, noise=0.2, missing=0.1)
    model = cc.MixtureModel(3, random_state=0).fit(labels)
    without = np.where(labels == -2, -1, labels)
    same = cc.MixtureModel(3, random_state=0).fit(without)
    likelihood = log_likelihood(labels, model.mixing_, model.label_probabilities_)
    assert model.log_likelihood_ == pytest.approx(likelihood)
    assert adjusted_rand_score(model.labels_, same.labels_) > 0.9
    assert adjusted_rand_score(model.labels_, truth) > 0.9


def test_bic_finds_the_number_of_clusters():
    labels, _ = ragged(5, n=400, missing=0.1)
    fitted = [cc.MixtureModel(k, random_state=0).fit(labels) for k in range(1, 6)]
    assert int(np.argmin([model.bic_ for model in fitted])) == 2
    assert int(np.argmin([model.icl_ for model in fitted])) == 2


def test_starts_reach_the_best_maximum_known():
    """Cells of two features each agree little: from k-means++ on the rows, ten starts end a nat per object lower."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 8, 400)
    points = 2 * rng.normal(size=(8, 12))[truth] + rng.normal(size=(400, 12))
    quarters = np.column_stack(
        [np.digitize(x, np.quantile(x, [0.25, 0.5, 0.75])) for x in points.T]
    )
    pairs = [rng.choice(12, 2, replace=False) for _ in range(20)]
    ensemble = cc.Ensemble(np.column_stack([4 * quarters[:, a] + quarters[:, b] for a, b in pairs]))
    reached = cc.MixtureModel(8, random_state=0).fit(ensemble).objective_
    rows, search = ensemble.distinct_rows(), multinomial._Search(8, 1e-3, 500, 1e-6)
    for labels in (cc.KCC(8, random_state=0).fit(ensemble).labels_, truth):
        start = multinomial._maximised(rows, np.eye(8)[rows.one_of_each(labels)], 1e-3)
        assert reached >= search._climb(rows, start).trace[-1] - 1.0


def test_new_objects_are_placed_by_their_posterior():
    labels, _ = ragged(6)
    model = cc.MixtureModel(3, random_state=0).fit(labels)
    np.testing.assert_allclose(model.predict_proba(labels), model.membership_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    nothing = np.full((1, labels.shape[1]), -1)
    np.testing.assert_allclose(model.predict_proba(nothing), 1 / 3)
    assert model.predict(nothing).tolist() == [-1]
    with pytest.warns(UnseenLabelWarning):
        model.predict(np.full((1, labels.shape[1]), 77))


# -- Bayesian cluster ensembles


@pytest.mark.parametrize("learn", [False, True])
def test_the_bound_matches_its_definition(learn):
    labels, _ = ragged(0, n=40, noise=0.1)
    weights = np.linspace(0.5, 2, labels.shape[1])
    model = cc.BayesianEnsemble(3, alpha=None if learn else 1 / 3, random_state=0).fit(
        cc.Ensemble(labels, weights=weights)
    )
    betas = model.label_probabilities_
    assert (model.alpha_ == 1 / 3).all() == (not learn)
    weights = effective(weights)
    bound = elbo(labels, model.alpha_, betas, model.membership_, weights)
    assert model.elbo_ == pytest.approx(bound, rel=1e-9)
    prior = sum(w * np.log(b).sum() for w, b in zip(weights, betas, strict=True))
    assert model.objective_ == pytest.approx(model.elbo_ + 1e-3 * prior)
    for beta in betas:
        np.testing.assert_allclose(beta.sum(axis=1), 1)


@pytest.mark.parametrize("kinds", [3, 300, 70_000])  # codes of one, two and four bytes
@pytest.mark.parametrize("k", [1, 3, 8])
def test_an_iteration_matches_its_definition(kinds, k):
    rng = np.random.default_rng(k)
    n, m = 75, 5
    labels = rng.integers(-2, 4, (n, m))
    ensemble = cc.Ensemble(labels)
    codes = ensemble.codes
    if kinds > 3:  # the same codes, wider
        wide = np.uint16 if kinds == 300 else np.uint32
        last, own = np.iinfo(wide).max, np.iinfo(codes.dtype).max
        codes = np.where(codes >= own - 1, last - own + codes.astype(wide), codes).astype(wide)
    weights, counts = rng.random(m), rng.integers(1, 4, n).astype(float)
    alpha = rng.gamma(1.0, size=k)
    beta = rng.dirichlet(np.ones(k), int(ensemble.offsets[-1]))
    mass = 5 * rng.random((n, k))
    new, use, logs = np.empty((n, k)), np.empty(beta.shape), np.empty(k)
    view = label_view(codes, ensemble.offsets, weights)
    bound = mixed_membership_round(view, counts, alpha, beta, mass, new, use, logs, 1)
    expected = naive_round(labels, ensemble.offsets, weights, counts, alpha, beta, mass)
    assert bound == pytest.approx(expected[0], rel=1e-12)
    for got, right in zip((new, use, logs), expected[1:], strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("value", [1e-3, 0.3, 1.0, 1.4616, 2.0, 5.9, 77.0, 1e4, 1e9])
def test_special_functions_of_an_iteration_match_scipy(value):
    # One row without labels: the bound holds log Gamma, and the expectations digamma.
    alpha, none = np.array([value, 1.0]), np.zeros((1, 2))
    use, logs = np.empty((1, 2)), np.empty(2)
    codes, offsets, one = np.full((1, 1), 255, dtype=np.uint8), np.array([0, 1]), np.ones(1)
    view = label_view(codes, offsets, one)
    bound = mixed_membership_round(
        view, one, alpha, np.ones((1, 2)), none, none.copy(), use, logs, 1
    )
    size = 1 + 2 * abs(gammaln(value))
    assert bound == pytest.approx(gammaln(value) - gammaln(value + 1), abs=1e-14 * size)
    np.testing.assert_allclose(logs, psi(alpha) - psi(value + 1), rtol=1e-13)


@pytest.mark.parametrize("learn_alpha", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_leaps_end_at_a_maximum_of_plain_steps(weighted, learn_alpha, monkeypatch):
    labels, _ = ragged(0, flip=0.35)
    rows = cc.Ensemble(labels, weights=np.arange(1.0, 9.0) if weighted else None).distinct_rows()
    search = bayesian.Search(np.full(3, 1 / 3), learn_alpha, 1e-3, 20_000, 1e-8, 1)
    start = search.begin(rows, 0, 0)
    leaping = search.carry_on(start, rows)
    assert (np.diff(leaping.trace) >= -1e-9 * abs(leaping.trace[-1])).all()

    def one_step(first, second, rows, longest):
        return second.next_model, second.next_mass, 1.0

    monkeypatch.setattr("conclust.consensus.mixture.bayesian._leap", one_step)
    tighter = replace(search, tol=1e-11)
    further = tighter._climb(rows, leaping.model, leaping.mass, 0)
    assert further.trace[-1] == pytest.approx(leaping.trace[-1], rel=1e-5)
    plain = tighter.carry_on(start, rows)
    assert leaping.trace[-1] == pytest.approx(plain.trace[-1], rel=3e-3)
    assert len(leaping.trace) < len(plain.trace)


def test_a_leap_of_one_step_is_the_next_point():
    labels, _ = ragged(1)
    rows = cc.Ensemble(labels).distinct_rows()
    points = []

    def at(model, mass):
        sums = model.round(rows.ensemble.codes, rows.masses, mass, np.empty_like(mass), 1)
        beta = bayesian._normalised(sums.use + 1e-3, rows)
        alpha = 0.9 * model.alpha
        return bayesian._Point(
            model, mass, sums.bound, replace(model, alpha=alpha, beta=beta), sums.mass
        )

    search = bayesian.Search(np.full(3, 0.3), True, 1e-3, 3, 1e-5, 1)
    start = search.begin(rows, 0, 0)
    points.append(at(start.model, start.mass))
    points.append(at(points[0].next_model, points[0].next_mass))
    model, mass, length = bayesian._leap(*points, rows, 1.0)
    assert length == 1.0
    np.testing.assert_allclose(mass, points[1].next_mass, rtol=1e-9)
    np.testing.assert_allclose(model.alpha, points[1].next_model.alpha, rtol=1e-12)
    np.testing.assert_allclose(model.beta, points[1].next_model.beta, rtol=1e-9)
    # Equal steps of the logarithms of alpha have no limit: the longest leap goes on with them.
    model, _, length = bayesian._leap(*points, rows, 3.0)
    assert length == 3.0
    np.testing.assert_allclose(model.alpha, points[0].model.alpha * 0.9**6, rtol=1e-6)


def test_objects_of_two_clusters_have_mixed_memberships():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 40)
    labels = np.column_stack([truth] * 20)
    labels[:5, :10] = 1  # half of the partitions put these five with the others
    labels[rng.random(labels.shape) < 0.05] = -1
    model = cc.BayesianEnsemble(2, random_state=0).fit(labels)
    assert np.abs(model.membership_[:5] - 0.5).max() < 0.15
    assert model.membership_[5:].max(axis=1).min() > 0.9


def test_mixed_membership_places_new_objects():
    labels, _ = ragged(6)
    model = cc.BayesianEnsemble(3, tol=1e-9, alpha=1 / 3, random_state=0).fit(labels)
    np.testing.assert_allclose(model.predict_proba(labels), model.membership_, atol=1e-2)
    nothing = np.full((1, labels.shape[1]), -1)
    np.testing.assert_allclose(model.predict_proba(nothing), 1 / 3)
    assert model.predict(nothing).tolist() == [-1]


def test_an_object_that_is_noise_everywhere_has_the_shares_of_the_components():
    labels = np.repeat([[0, 0, 1], [1, 1, 0]], [12, 5], axis=0)
    model = cc.MixtureModel(2, random_state=0).fit(labels)
    placed = model.predict_proba([[-2, -2, -2], [-1, -1, -1]])
    np.testing.assert_allclose(placed, [model.mixing_, [0.5, 0.5]])
