"""BayesEstimate against draws, cuts and definitions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.cases import planted
from tests.naive import losses as naive
from tests.naive.partitions import all_partitions

from conclust import AutoConsensus, BayesEstimate, Ensemble
from conclust.consensus.median import bayes
from conclust.exceptions import (
    ConclustError,
    OrientationWarning,
    ParameterError,
    UnsupportedEnsembleError,
)
from conclust.measures.losses import LOSSES, PartitionRows, expected_losses


def draws_of(seed, n=120, m=15, flip=0.25, odd=False):
    labels, _ = planted(seed, n, m, 5, flip=flip)
    if odd:
        rng = np.random.default_rng(seed)
        labels[rng.random(labels.shape) < 0.1] = -1
        labels[rng.random(labels.shape) < 0.05] = -2
    return labels


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_matches_its_definition_and_is_below_all_draws_and_cuts(loss, odd):
    labels = draws_of(3, odd=odd)
    ensemble = Ensemble(labels)
    model = BayesEstimate(loss=loss, random_state=0, n_jobs=1).fit(ensemble)
    wanted = naive.expected_loss(model.labels_, labels, loss)
    assert model.expected_loss_ == pytest.approx(wanted, abs=1e-9)
    assert model.objective_ == model.expected_loss_
    assert model.expected_loss_ <= model.best_draw_loss_ + 1e-12
    best = np.where(labels[:, model.best_draw_] == -1, -2, labels[:, model.best_draw_])
    assert model.best_draw_loss_ == pytest.approx(naive.expected_loss(best, labels, loss))
    cuts = bayes.tree_cuts(ensemble, 40, 1)
    assert (
        model.expected_loss_ <= expected_losses(PartitionRows(cuts), ensemble, loss).min() + 1e-12
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_partition_is_found_with_missing_noise_and_weights(loss):
    candidates = list(all_partitions(6))
    for seed in range(12):
        rng = np.random.default_rng([seed, LOSSES.index(loss)])
        m = int(rng.integers(3, 8))
        labels = np.column_stack([rng.integers(0, rng.integers(2, 5), 6) for _ in range(m)])
        odd = rng.random(labels.shape)
        labels[odd < 0.1] = -1
        labels[odd > 0.9] = -2
        labels[:, 0] = np.where(labels[:, 0] == -1, 0, labels[:, 0])
        weights = rng.exponential(size=m)
        model = BayesEstimate(loss=loss, random_state=seed).fit(Ensemble(labels, weights=weights))
        least = min(naive.expected_loss(each, labels, loss, weights=weights) for each in candidates)
        assert model.expected_loss_ == pytest.approx(least, abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("loss", ["omari", "nvi", "id", "nid"])
def test_no_move_or_merge_lowers_a_loss_searched_by_slopes(loss):
    ensemble = Ensemble(draws_of(6, n=200, m=12, flip=0.35, odd=True))
    model = BayesEstimate(loss=loss, random_state=0, n_jobs=1).fit(ensemble)
    assert model.converged_
    k = model.n_clusters_
    others = []
    for c in range(k):
        for i in np.random.default_rng(c).permutation(200)[:40]:
            others.append(model.labels_.copy())
            others[-1][i] = c
        others += [np.where(model.labels_ == d, c, model.labels_) for d in range(c)]
    for i in range(200):
        others.append(model.labels_.copy())
        others[-1][i] = k
    losses = expected_losses(PartitionRows(np.array(others)), ensemble, loss, n_jobs=1)
    assert losses.min() >= model.expected_loss_ - 1e-12


def test_the_number_of_clusters_is_bounded():
    labels = draws_of(4)
    for loss in ("vi", "nid"):
        model = BayesEstimate(loss=loss, max_clusters=3, random_state=0).fit(labels)
        assert model.n_clusters_ <= 3
        assert model.expected_loss_ == pytest.approx(
            naive.expected_loss(model.labels_, labels, loss)
        )


@pytest.mark.long
def test_repeated_draws_are_weights():
    labels = draws_of(5, n=400, flip=0.5)
    weights = np.arange(1.0, labels.shape[1] + 1)
    repeated = np.repeat(labels, weights.astype(int), axis=1)
    weighed = BayesEstimate(random_state=1).fit(Ensemble(labels, weights=weights))
    refitted = BayesEstimate(random_state=1).fit(repeated)
    assert np.array_equal(weighed.labels_, refitted.labels_)


def test_the_search_starts_on_a_sample(monkeypatch):
    labels, truth = planted(0, 3000, 12, 6, flip=0.15)
    whole = BayesEstimate(random_state=0).fit(labels)
    monkeypatch.setattr(bayes, "_CELLS", 1200)
    monkeypatch.setattr(bayes, "_PART", 300)
    monkeypatch.setattr(bayes, "_TREE", 200)
    monkeypatch.setattr(bayes, "_COMPARED", 3000 * 12 * 5)
    part = BayesEstimate(random_state=0).fit(labels)
    assert part.expected_loss_ == pytest.approx(whole.expected_loss_, rel=1e-3)
    assert part.n_clusters_ == len(np.unique(truth))


def test_impossible_requests_are_refused():
    labels = draws_of(0)
    for options, message in (
        ({"split_cost": 0.0}, "range \\(0, 2\\)"),
        ({"loss": "id", "split_cost": 1.2}, "'vi' and 'binder' have it"),
    ):
        with pytest.raises(ParameterError, match=message):
            BayesEstimate(**options).fit(labels)
    soft = Ensemble.from_memberships([[[0.5, 0.5], [1.0, 0.0]], [[1.0], [1.0]]])
    with pytest.raises(UnsupportedEnsembleError):
        BayesEstimate().fit(soft)
    assert issubclass(UnsupportedEnsembleError, ConclustError)


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_a_search_used_again_ends_as_a_new_one(loss):
    # A search remembers the optima that it has met, and skips the pass that would find nothing to move.
    for seed, odd in ((1, False), (2, True)):
        ensemble = Ensemble(draws_of(seed, n=90, odd=odd))
        wanted = bayes.Wanted(loss, 1.0, None, 4, 4, 50)
        units = ensemble.distinct_rows(noise="apart")
        rng = np.random.default_rng(seed)
        used = bayes._Problem.of(units, np.arange(len(units)), wanted)
        for turn in range(30):
            start = rng.integers(-1, 4, len(units))
            again = used.descend(start, turn)
            fresh = bayes._Problem.of(units, np.arange(len(units)), wanted)
            alone = fresh.descend(start, turn)
            np.testing.assert_array_equal(again.labels, alone.labels)
            assert (again.loss, again.n_iter, again.converged) == (
                alone.loss,
                alone.n_iter,
                alone.converged,
            )
        assert len(used.idle) == 1


def posterior(rng, n, m, k, *, renamed):
    """Draws (objects, draws) that scatter around a partition, with one set of names or with names of their own."""
    truth = rng.integers(0, k, n)
    draws = np.where(rng.random((n, m)) < 0.1, rng.integers(0, k, (n, m)), truth[:, None])
    if renamed:
        draws = np.column_stack([rng.permutation(k)[draw] for draw in draws.T])
    return draws


@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize(("n", "m", "k"), [(100, 250, 4), (150, 60, 3), (80, 80, 8)])
def test_draws_in_rows_are_warned_of_and_draws_in_columns_are_not(n, m, k, renamed):
    draws = posterior(np.random.default_rng(n), n, m, k, renamed=renamed)
    quick = BayesEstimate(random_state=0, n_init=1, n_rebuilds=0, max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for model in (quick, AutoConsensus()):
            with pytest.warns(OrientationWarning, match="from_draws"):
                model.fit(draws.T)
        warnings.simplefilter("error", OrientationWarning)
        quick.fit(draws)
        quick.fit(Ensemble.from_draws(draws.T))
