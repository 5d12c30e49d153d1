"""Nonparametric Bayesian cluster ensembles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln
from sklearn.metrics import adjusted_rand_score
from tests.cases import E1, E2
from tests.consensus.mixture.test_mixture import ragged
from tests.naive.mixture import log_marginal
from tests.naive.partitions import all_partitions

from conclust import Ensemble, NonparametricBayesianEnsemble, posterior_coclustering
from conclust._kernels import gibbs_sweep
from conclust.consensus.mixture.nonparametric import _drawn_concentration
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
    state = np.full(len(labels), -1, dtype=np.int64)
    together, clusters = np.zeros(exact.shape), 0
    for sweep in range(20_000):
        clusters += gibbs_sweep(view, b, concentration, sweep, state)
        together += state[:, None] == state
    np.testing.assert_allclose(together / 20_000, exact, atol=0.02)
    assert clusters / 20_000 == pytest.approx(number, abs=0.04)


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


def test_a_unanimous_ensemble_keeps_its_clusters():
    truth = np.repeat(np.arange(4), [6, 9, 7, 11])
    model = NonparametricBayesianEnsemble(random_state=0).fit(np.column_stack([truth] * 5))
    np.testing.assert_array_equal(model.labels_, truth)


def test_weights_act_as_exponents():
    labels, _ = ragged(2, n=30, missing=0.1, noise=0.1)
    weights = np.array([1, 2, 1, 0, 3, 1, 1, 2])
    a, b = (
        NonparametricBayesianEnsemble(n_draws=50, random_state=0).fit(ensemble)
        for ensemble in (Ensemble(labels, weights=weights), np.repeat(labels, weights, axis=1))
    )
    assert adjusted_rand_score(a.labels_, b.labels_) > 0.9


def test_unobserved_objects_are_in_no_draw():
    labels, _ = ragged(3, n=30)
    labels[4] = -1
    with pytest.warns(EvidenceWarning, match="1 objects"):
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


@pytest.mark.parametrize(
    "parameters", [{"concentration": 0.0}, {"smoothing": 0.0}, {"n_burn_in": -1}, {"n_draws": 0}]
)
def test_invalid_parameters_of_the_chain_are_refused(parameters):
    (name,) = parameters
    with pytest.raises(ParameterError, match=f"{name!r}"):
        NonparametricBayesianEnsemble(**parameters).fit(E1)
