"""Losses between partitions and their means over draws, against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive import losses as naive

from conclust import Ensemble
from conclust.exceptions import InputError, ParameterError, UnsupportedEnsembleError
from conclust.measures.losses import LOSSES, PartitionRows, all_losses, loss_values
from conclust.metrics import expected_loss, variation_of_information


def odd_labels(seed, n=12, m=7):
    """Labels with missing objects and noise, a column of one cluster and one of single objects."""
    rng = np.random.default_rng(seed)
    labels = np.column_stack([rng.integers(0, k, n) for k in rng.integers(1, 6, m)])
    labels[rng.random(labels.shape) < 0.15] = -1
    labels[rng.random(labels.shape) < 0.15] = -2
    labels[0] = 0
    return np.column_stack([labels, np.zeros(n, dtype=int), np.arange(n), np.full(n, -2)])


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_match_their_definitions(loss, seed):
    labels = odd_labels(seed)
    actual = all_losses(Ensemble(labels), loss)
    for u, c in enumerate(labels.T):
        for v, s in enumerate(labels.T):
            assert actual[u, v] == pytest.approx(naive.loss(c, s, loss), abs=1e-9), (u, v)


@pytest.mark.parametrize("loss", LOSSES)
def test_expected_losses_are_means_over_draws(loss):
    labels, rng = odd_labels(9), np.random.default_rng(0)
    weights = rng.integers(0, 4, labels.shape[1]).astype(float) + (np.arange(labels.shape[1]) == 0)
    for a in (1.0, 0.3, 1.8) if loss in ("vi", "binder") else (1.0,):
        estimate = rng.integers(-1, 4, len(labels))
        actual = expected_loss(Ensemble(labels, weights=weights), estimate, loss=loss, split_cost=a)
        assert actual == pytest.approx(
            naive.expected_loss(estimate, labels, loss, a, weights), abs=1e-9
        )


def test_the_cost_of_splitting_follows_the_convention_of_salso():
    # One draw with a single cluster: each pair that the estimate separates is an error.
    draw = Ensemble([[0], [0], [0], [0]])
    for a in (0.5, 1.5):
        assert expected_loss(draw, [0, 0, 1, 1], loss="binder", split_cost=a) == a * 2 * 4 / 16
        assert expected_loss(draw, [0, 0, 1, 1], loss="vi", split_cost=a) == a


@pytest.mark.parametrize("clusters", [3, 300, 30_000])
def test_all_ways_of_counting_a_table_agree(clusters):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, clusters, (30_000, 2))
    labels[:3] = [[-1, 0], [-2, 1], [1, -2]]
    rows = PartitionRows.of(Ensemble(labels))
    actual = loss_values(rows.terms(None, "vi"), "vi")
    assert actual[0, 1] == pytest.approx(variation_of_information(*labels.T), abs=1e-9)
    assert actual[0, 0] == actual[1, 1] == 0.0
    assert np.array_equal(actual, loss_values(rows.terms(None, "vi", n_jobs=2), "vi"))
    assert loss_values(rows.terms(rows, "vi"), "vi") == pytest.approx(actual, abs=1e-12)


def test_impossible_requests_are_refused():
    draws = Ensemble([[0, 1], [0, 1], [1, -1]])
    with pytest.raises(ParameterError, match="'loss' parameter of expected_loss"):
        expected_loss(draws, [0, 0, 1], loss="rand")
    with pytest.raises(ParameterError, match="in the range \\(0, 2\\)"):
        expected_loss(draws, [0, 0, 1], split_cost=2.0)
    with pytest.raises(ParameterError, match="'vi' and 'binder' have it"):
        expected_loss(draws, [0, 0, 1], loss="nid", split_cost=0.5)
    with pytest.raises(InputError, match="of the same objects"):
        expected_loss(draws, [0, 0])
    with pytest.raises(InputError, match="No draw of the ensemble"):
        expected_loss(Ensemble([[0, 0], [0, 0], [1, -1]], weights=[0, 1]), [-1, -1, 0])
    with pytest.raises(UnsupportedEnsembleError, match="soft memberships"):
        expected_loss(Ensemble.from_memberships([[[0.5, 0.5], [1.0, 0.0]]]), [0, 1])
