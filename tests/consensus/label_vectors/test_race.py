"""Starts of KCC and SEC that are compared on few objects."""

import numpy as np
import pytest

from conclust import KCC, SEC
from conclust.consensus.label_rows import RowMoves, best_of_restarts
from conclust.consensus.label_vectors import estimator
from conclust.metrics import adjusted_rand_index


def planted(n, wrong, k=6, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    labels = np.where(
        rng.random((n, 12)) < wrong, rng.integers(0, k, (n, 12)), truth[:, np.newaxis]
    )
    labels[rng.random((n, 12)) < missing] = -1
    return labels, truth


def recorded(monkeypatch):
    """Record the number of rows and the loss of every refinement."""
    runs = []
    refined = RowMoves._refined

    def run(self, rows, labels):
        result = refined(self, rows, labels)
        runs.append((len(rows), result.losses[-1]))
        return result

    monkeypatch.setattr(RowMoves, "_refined", run)
    return runs


@pytest.mark.parametrize(("wrong", "missing"), [(0.2, 0.3), (0.5, 0.0)])
@pytest.mark.parametrize("kind", [KCC, SEC])
def test_the_loss_is_as_low_as_that_of_all_starts(kind, wrong, missing, monkeypatch):
    labels, truth = planted(3_000, wrong, missing=missing)
    raced = [kind(6, random_state=seed).fit(labels) for seed in range(3)]
    monkeypatch.setattr("conclust.consensus.label_vectors.estimator.best_of_race", best_of_restarts)
    whole = [kind(6, random_state=seed).fit(labels) for seed in range(3)]
    sign = -1 if kind is KCC else 1
    for one, other in zip(raced, whole, strict=True):
        assert sign * one.objective_ <= sign * other.objective_ + 1e-4 * abs(other.objective_)
        assert adjusted_rand_index(truth, one.labels_) > 0.8


def test_three_starts_that_agree_are_enough(monkeypatch):
    labels, _ = planted(3_000, 0.2)
    runs = recorded(monkeypatch)
    KCC(6, n_init=30, random_state=0).fit(labels)
    *few, (all_rows, _) = runs
    losses = np.array([loss for _, loss in few])
    assert max(n for n, _ in few) <= 300 < all_rows
    lowest = losses <= losses.min() * (1 + 1e-9)
    assert lowest.sum() == 3
    assert lowest[-1]
    assert len(few) < 30


def test_starts_that_disagree_are_continued_with_more_objects(monkeypatch):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, (7_000, 12))
    runs = recorded(monkeypatch)
    SEC(6, n_init=4, random_state=0).fit(labels)
    sizes = [n for n, _ in runs]
    assert sizes == [300] * 4 + [5_000] * 4 + [7_000]


@pytest.mark.parametrize("wrong", [0.2, 0.7])
def test_threads_do_not_change_the_result(wrong, monkeypatch):
    monkeypatch.setattr(estimator, "WORTH_THREADS", 0)
    labels, _ = planted(2_000, wrong)
    one, many = (SEC(6, random_state=3, n_jobs=jobs).fit(labels) for jobs in (1, 3))
    np.testing.assert_array_equal(one.labels_, many.labels_)
    assert one.objective_ == many.objective_
