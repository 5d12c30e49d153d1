"""Nonparametric Bayesian cluster ensembles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln
from sklearn.metrics import adjusted_rand_score
from tests.cases import E1, E2
from tests.consensus.mixture.test_mixture import ragged
from tests.naive.mixture import gibbs_sweep, log_marginal, log_unbounded
from tests.naive.partitions import all_partitions

from conclust import Ensemble, NonparametricBayesianEnsemble, posterior_coclustering
from conclust._kernels import GibbsChain, squared_tables
from conclust.consensus.mixture.chain import UnboundedChain
from conclust.consensus.mixture.nonparametric import _drawn_concentration, _least_squares
from conclust.exceptions import DenseLimitError, EvidenceWarning, ParameterError


@pytest.mark.parametrize("labels", [E1, E2], ids=["E1", "E2"])
@pytest.mark.parametrize(("concentration", "b"), [(1.0, 0.5), (3.0, 0.2)])
def test_the_chain_draws_from_the_posterior(labels, concentration, b):
    labels = labels.copy()
    labels[1, 2] = -1
    labels = Ensemble(labels).labels
    partitions = [np.array(p) for p in all_partitions(len(labels))]
    logs = np.array([log_marginal(labels, p, concentration, b) for p in partitions])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    exact = sum(w * (p[:, None] == p) for w, p in zip(weights, partitions, strict=True))
    number = sum(w * (p.max() + 1) for w, p in zip(weights, partitions, strict=True))
    view = Ensemble(labels).label_view.reweighted(np.ones(3))
    state = np.empty(len(labels), dtype=np.int64)
    chain = GibbsChain(view, b)
    together, clusters = np.zeros(exact.shape), 0
    for sweep in range(20_000):
        clusters += chain.sweep(concentration, sweep, state)
        together += state[:, None] == state
    np.testing.assert_allclose(together / 20_000, exact, atol=0.02)
    assert clusters / 20_000 == pytest.approx(number, abs=0.04)


@pytest.mark.long
def test_the_mixed_chain_draws_from_the_posterior_over_all_states():
    concentration, b = 1.0, 0.5
    labels = np.array([[0, 0], [0, 1], [1, 1], [1, -1]])
    seen = np.flatnonzero(labels.ravel() >= 0)
    states = np.array(list(all_partitions(7)))
    logs = []
    for state in states:
        z = np.full(8, -1)
        z[seen] = state
        logs.append(log_unbounded(labels, z.reshape(4, 2), concentration, b))
    shares = np.exp(np.array(logs) - max(logs))
    shares /= shares.sum()
    exact = np.einsum("s,sab->ab", shares, states[:, :, None] == states[:, None, :])
    chain = UnboundedChain(Ensemble(labels), b, concentration, np.zeros(4, dtype=int))
    rng = np.random.default_rng(0)
    together, number, rounds = np.zeros(exact.shape), 0, 4_000
    for _ in range(rounds):
        chain.sweep(rng)
        z = chain.clusters.ravel()[seen]
        together += z[:, None] == z
        number += len(chain.alpha)
    np.testing.assert_allclose(together / rounds, exact, atol=0.025)
    assert number / rounds == pytest.approx(shares @ (states.max(axis=1) + 1), abs=0.08)


@pytest.mark.long
def test_the_concentration_of_the_mixed_chain_follows_its_prior_where_nothing_is_known():
    # A single label is as probable whatever the clusters.
    chain = UnboundedChain(Ensemble([[0], [0]]), 0.5, 1.0, np.zeros(2, dtype=int))
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(4_000):
        chain.sweep(rng)
        drawn.append(chain.draw_concentration(rng))
    assert np.mean(drawn) == pytest.approx(1.0, rel=0.1)  # Gamma(1, 1)


@pytest.mark.long
@pytest.mark.parametrize("flip", [0.0, 0.05, 0.3, 0.9], ids="flip{}".format)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_sweeps_equal_those_of_a_chain_that_counts_again(flip, weighted):
    given, _ = ragged(5, n=40, m=6, flip=flip, missing=0.1)
    labels = Ensemble(given).labels
    weights = np.array([1.0, 0.5, 2.0, 0.0, 1.5, 1.0]) if weighted else np.ones(6)
    chain = GibbsChain(Ensemble(given).label_view.reweighted(weights), 0.5)
    slow, found = np.full(40, -1), np.empty(40, dtype=np.int64)
    for sweep, concentration in enumerate(np.random.default_rng(0).gamma(1.0, 2.0, 25)):
        slow = gibbs_sweep(labels, weights, 0.5, concentration, sweep, slow)
        assert chain.sweep(concentration, sweep, found) == slow.max() + 1
        np.testing.assert_array_equal(found, slow)


@pytest.mark.parametrize("n_clusters", [1, 3, 70], ids="k{}".format)
def test_losses_of_draws_are_distances_to_their_mean(n_clusters):
    rng = np.random.default_rng(n_clusters)
    draws = rng.integers(n_clusters, size=(90, 12)).astype(np.int32)
    draws[:, 3] = np.arange(90)
    draws[40:] = draws[:50]  # equal rows
    together = (draws[:, None] == draws).astype(float)
    expected = ((together - together.mean(axis=2, keepdims=True)) ** 2).sum(axis=(0, 1)) / 2
    np.testing.assert_allclose(_least_squares(draws), expected, rtol=1e-12)


@pytest.mark.parametrize("n_clusters", [1, 3, 6])
def test_losses_of_many_draws_of_few_objects_need_no_pairs_of_draws(n_clusters):
    rng = np.random.default_rng(n_clusters)
    draws = rng.integers(n_clusters, size=(9, 200)).astype(np.int32)
    draws[7:] = draws[1:3]  # equal rows
    together = (draws[:, None] == draws).astype(float)
    expected = ((together - together.mean(axis=2, keepdims=True)) ** 2).sum(axis=(0, 1)) / 2
    actual = _least_squares(draws)
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)
    whole = np.empty((200, 200))
    rows = Ensemble(draws).distinct_rows()
    squared_tables(rows.ensemble.label_view, rows.counts, whole)
    pairs = (np.diagonal(whole) - 2.0 * whole.mean(axis=1) + whole.mean()) / 2.0
    np.testing.assert_array_equal(actual, pairs)


def test_the_concentration_is_drawn_from_its_posterior():
    rng = np.random.default_rng(0)
    n, k = 50, 4
    value, drawn = 1.0, []
    for _ in range(20_000):
        value = _drawn_concentration(value, n, k, rng)
        drawn.append(value)
    grid = np.linspace(1e-4, 12, 40_000)
    logs = -grid + k * np.log(grid) + gammaln(grid) - gammaln(grid + n)
    density = np.exp(logs - logs.max())
    mean = (grid * density).sum() / density.sum()
    assert np.mean(drawn) == pytest.approx(mean, rel=0.03)


def test_the_number_of_clusters_is_inferred():
    labels, truth = ragged(0, n=150, m=12, flip=0.15)
    model = NonparametricBayesianEnsemble(random_state=0).fit(labels)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(model.labels_, truth) > 0.95
    assert model.n_iter_ == 500


def test_the_consensus_is_the_nearest_draw():
    labels, _ = ragged(1, n=25, m=3, flip=0.6)
    model = NonparametricBayesianEnsemble(n_draws=40, random_state=0).fit(labels)
    mean = posterior_coclustering(model)
    losses = [
        (((draw[:, None] == draw) - mean)[np.triu_indices(25, 1)] ** 2).sum()
        for draw in model.draws_.T
    ]
    assert model.objective_ == pytest.approx(min(losses))
    nearest = model.draws_[:, int(np.argmin(losses))]
    assert adjusted_rand_score(model.labels_, nearest) == 1.0


def test_unobserved_objects_are_in_no_draw():
    labels, _ = ragged(3, n=30)
    labels[4] = -1
    with pytest.warns(EvidenceWarning, match="1 object is missing"):
        model = NonparametricBayesianEnsemble(n_draws=20, random_state=0).fit(labels)
    assert (model.draws_[4] == -1).all()
    together = posterior_coclustering(model)
    assert np.isnan(together[4]).all()
    assert np.isfinite(np.delete(np.delete(together, 4, 0), 4, 1)).all()
    with pytest.raises(DenseLimitError):
        posterior_coclustering(model, max_dense=10)


@pytest.mark.parametrize(
    "draws", [[[0, 0, 1], [0, 1, 1]], np.zeros((3, 4), dtype=int), Ensemble([[0], [1]])]
)
def test_draws_instead_of_a_model_are_refused(draws):
    with pytest.raises(
        ParameterError, match=r"(?s)'model' parameter of posterior_coclustering .*from_draws"
    ):
        posterior_coclustering(draws)
