"""Bayesian cluster ensembles by Gibbs sampling."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from scipy.special import gammaln
from sklearn.exceptions import NotFittedError
from tests.consensus.mixture.test_mixture import ragged
from tests.naive.mixture import every_z, log_mixed, thetas_given

from conclust import BayesianEnsemble, Ensemble, posterior_coclustering
from conclust._kernels import mixed_gibbs_sweep
from conclust.consensus.mixture.chain import LEAST_ALPHA, MOST_ALPHA, Chain, MixedPrior, drawn_alpha
from conclust.exceptions import EvidenceWarning, ParameterError

# Four objects in three partitions; one label is missing. Every assignment of two clusters is tried: 2^11.
TINY = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 0, -1]])


@lru_cache
def exact(alphas, b, weights):
    """Enumerate: log P(z, labels), and the thetas given z."""
    alpha, w = np.array(alphas), np.array(weights)
    zs = list(every_z(TINY, 2))
    logs = np.array([log_mixed(TINY, z, alpha, b, w) for z in zs])
    shares = np.exp(logs - logs.max())
    thetas = np.array([thetas_given(TINY, z, alpha, w) for z in zs])
    return np.array(zs), logs, shares / shares.sum(), thetas


def chain_of(weights, alphas, b, draws_alpha=False):
    ensemble = Ensemble(TINY, weights=weights)
    prior = MixedPrior(0.5, draws_alpha, b)
    return Chain(ensemble, prior, np.array(alphas), np.zeros(TINY.shape, dtype=np.int32))


@pytest.mark.parametrize(
    ("alphas", "b", "weights"),
    [
        ((0.5, 0.5), 0.5, (1.0, 1.0, 1.0)),
        ((0.3, 1.2), 0.2, (2.0, 1.0, 0.5)),
    ],
)
def test_the_chain_draws_from_the_posterior(alphas, b, weights):
    zs, _, shares, thetas = exact(alphas, b, weights)
    cells = zs.reshape(len(zs), -1)
    together = np.einsum("s,sab->ab", shares, cells[:, :, None] == cells[:, None, :])
    chain = chain_of(weights, alphas, b)
    rng = np.random.default_rng(0)
    counts, mean = np.zeros(together.shape), np.zeros((4, 2))
    rounds = 12_000
    for _ in range(rounds):
        chain.sweep(rng)
        z = chain.clusters.reshape(-1)
        counts += z[:, None] == z
        mean += chain.theta()
    present = np.flatnonzero(TINY.reshape(-1) >= 0)
    pairs = np.ix_(present, present)
    np.testing.assert_allclose(counts[pairs] / rounds, together[pairs], atol=0.02)
    if alphas[0] != alphas[1]:  # else all numberings are equally likely
        np.testing.assert_allclose(mean / rounds, np.einsum("s,sik->ik", shares, thetas), atol=0.02)


def test_log_probability_and_sums_match_their_definition():
    labels, _ = ragged(0, n=20, m=4, missing=0.2, noise=0.1)
    ensemble = Ensemble(labels, weights=[1.0, 2.0, 0.5, 1.0])
    rng = np.random.default_rng(0)
    alpha = np.array([0.2, 0.7, 1.5])
    clusters = rng.integers(3, size=labels.shape, dtype=np.int32)
    chain = Chain(ensemble, MixedPrior(0.5, False, 0.3), alpha, clusters)
    chain.sweep(rng)
    numbered = np.where(ensemble.labels < 0, -1, ensemble.labels)
    expected = log_mixed(numbered, chain.clusters, alpha, 0.3, ensemble.weights)
    assert chain.log_probability() == pytest.approx(expected, rel=1e-12)
    theta = thetas_given(numbered, chain.clusters, alpha, ensemble.weights)
    np.testing.assert_allclose(chain.theta(), theta, rtol=1e-12)
    beta = chain.beta()
    for u, first in enumerate(ensemble.offsets[:-1]):
        for c in range(ensemble.cluster_counts[u]):
            for k in range(3):
                of_k = (chain.clusters[:, u] == k) & (numbered[:, u] >= 0)
                count = ((numbered[:, u] == c) & of_k).sum()
                share = (count + 0.3) / (of_k.sum() + 0.3 * ensemble.cluster_counts[u])
                assert beta[first + c, k] == pytest.approx(share, rel=1e-12)


def test_alpha_is_drawn_from_its_posterior():
    rng = np.random.default_rng(0)
    mass = rng.multinomial(6, [0.6, 0.4], size=12).astype(float)
    drawn = np.array([0.5, 0.5])
    logs = []
    for _ in range(2_000):
        drawn = drawn_alpha(drawn, mass, 0.5, rng)
        logs.append(np.log(drawn))
    t = np.linspace(np.log(LEAST_ALPHA), np.log(MOST_ALPHA), 400)
    a, c = np.meshgrid(np.exp(t), np.exp(t), indexing="ij")
    height = np.log(a) + np.log(c) - (a + c) / 0.5
    for x, y in mass:
        height += gammaln(a + x) - gammaln(a) + gammaln(c + y) - gammaln(c)
        height -= gammaln(a + c + x + y) - gammaln(a + c)
    density = np.exp(height - height.max())
    density /= density.sum()
    mean = [(density.sum(1) * t).sum(), (density.sum(0) * t).sum()]
    np.testing.assert_allclose(np.mean(logs, axis=0), mean, atol=0.05)


def of_objects(masses, alpha):
    """The part of log P(z, labels) that depends on alpha."""
    totals = alpha.sum() + masses.sum(axis=2)
    each = (gammaln(alpha + masses) - gammaln(alpha)).sum(axis=2)
    return (gammaln(alpha.sum()) - gammaln(totals) + each).sum(axis=1)


@pytest.mark.long
@pytest.mark.parametrize("learn", [False, True])
def test_draws_pair_objects_as_often_as_the_posterior(learn):
    model = BayesianEnsemble(
        2,
        solver="gibbs",
        alpha=None if learn else 0.5,
        smoothing=0.5,
        n_draws=3_000,
        random_state=0,
    ).fit(TINY)
    half = np.array([0.5, 0.5])
    _, logs, _, thetas = exact((0.5, 0.5), 0.5, (1.0, 1.0, 1.0))
    masses = thetas * (1.0 + (TINY >= 0).sum(axis=1)[:, None]) - 0.5
    ends = np.exp(np.linspace(np.log(LEAST_ALPHA), np.log(20.0), 24)) if learn else half[:1]
    expected, total = np.zeros((4, 4)), 0.0
    for alpha in np.array(np.meshgrid(ends, ends)).reshape(2, -1).T:
        # The density of log alpha, by its exponential prior and the probability of the labels.
        shares = np.exp(logs - of_objects(masses, half) + of_objects(masses, alpha))
        shares *= np.exp(-alpha.sum() / 0.5) * alpha.prod()
        theta = alpha + masses
        theta /= theta.sum(axis=2, keepdims=True)
        expected += np.einsum("s,sik,sjk->ij", shares, theta, theta)
        total += shares.sum()
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(
        posterior_coclustering(model)[off], (expected / total)[off], atol=0.04
    )


def test_clusters_have_the_same_numbers_in_all_draws():
    labels, _ = ragged(1, n=60, m=10, flip=0.1)
    model = BayesianEnsemble(3, solver="gibbs", n_draws=50, random_state=0).fit(labels)
    assert ((model.draws_ == model.labels_[:, None]).mean(axis=1) > 0.5).all()
    shares = np.stack([(model.draws_ == k).mean(axis=1) for k in range(3)], axis=1)
    assert np.abs(shares - model.membership_).max() < 0.25


def test_unobserved_objects_are_in_no_draw():
    labels, _ = ragged(3, n=30)
    labels[4] = -1
    with pytest.warns(EvidenceWarning, match="1 object is missing"):
        model = BayesianEnsemble(2, solver="gibbs", n_draws=20, random_state=0).fit(labels)
    assert (model.draws_[4] == -1).all()
    assert np.isnan(posterior_coclustering(model)[4]).all()
    np.testing.assert_array_equal(model.membership_[4], 0.5)


def test_a_partition_of_noise_has_no_effect():
    labels, _ = ragged(4, n=40, missing=0.0)
    with_noise = np.hstack([np.full((40, 1), -2), labels])
    model = BayesianEnsemble(3, solver="gibbs", n_draws=20, random_state=0).fit(with_noise)
    assert np.isfinite(model.log_probabilities_).all()
    assert model.label_probabilities_[0].shape == (3, 0)


def test_a_model_without_draws_is_refused():
    with pytest.raises(NotFittedError):
        posterior_coclustering(BayesianEnsemble(2))
    with pytest.raises(ParameterError, match="solver='gibbs'"):
        posterior_coclustering(BayesianEnsemble(2, random_state=0).fit(TINY))


def test_a_sweep_skips_missing_labels():
    ensemble = Ensemble(TINY)
    clusters = np.where(TINY < 0, 10**6, 0).astype(np.int32)
    mass, use = np.zeros((4, 2)), np.zeros((6, 2))
    view = ensemble.label_view.reweighted(np.ones(3))
    mixed_gibbs_sweep(view, np.array([0.5, 0.5]), 0.5, 0, clusters, mass, use)
    assert clusters[3, 2] == 10**6
    assert mass.sum() == 11
    assert use.sum() == 11
