"""The rule of restarts: starts on the rows of 5,000 objects, the best refined on all."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from conclust import (
    HBGF,
    QMI,
    BayesianEnsemble,
    Ensemble,
    LeftStochastic,
    MixtureModel,
    WeightedNMF,
)
from conclust.consensus.graph import kmeans
from conclust.consensus.restarts import best_of_restarts, fewer_starts

SEED = np.random.SeedSequence(0)


@dataclass
class Recorder:
    """A method with given final losses of its starts, which records its calls."""

    losses: list[float]
    begun: list = field(default_factory=list)
    finished: list = field(default_factory=list)

    def begin(self, rows, start, seed):
        self.begun.append((start, seed, rows))
        return start

    def finish(self, found, rows, kept):
        self.finished.append((found, rows, kept))
        return "finished"

    def loss(self, found):
        return self.losses[found]


def labels_of(n, different):
    """Labels of n objects in `different` distinct rows, some of them rare."""
    rng = np.random.default_rng(n)
    rows = np.concatenate([np.arange(different), rng.integers(0, different // 2, n - different)])
    rows = rng.permutation(rows)
    return np.column_stack([rows // 100, rows % 100])


@pytest.mark.parametrize("n", [5_000, 20_000])
def test_up_to_5000_distinct_rows_are_all_used(n):
    rows = Ensemble(labels_of(n, 5_000)).distinct_rows()
    assert len(rows) == 5_000
    method = Recorder([3.0, 1.0, 2.0])
    assert best_of_restarts(method, rows, 3, SEED, 1) == 1
    assert [start for start, _, _ in method.begun] == [0, 1, 2]
    assert len({seed for _, seed, _ in method.begun}) == 3
    assert all(seen is rows for _, _, seen in method.begun)
    assert not method.finished


def test_above_5000_rows_starts_run_on_a_sample_and_the_best_on_all():
    ensemble = Ensemble(labels_of(20_000, 8_000), weights=[1.0, 3.0])
    rows = ensemble.distinct_rows()
    method = Recorder([3.0, 1.0, 2.0])
    assert best_of_restarts(method, rows, 3, SEED, 1) == "finished"
    few = method.begun[0][2]
    assert all(seen is few for _, _, seen in method.begun)
    ((actual, whole, kept),) = method.finished
    assert actual == 1
    assert whole is rows
    # The rows of 5,000 different objects, each as often as it was drawn.
    assert few.n_objects == few.counts.sum() == 5_000
    assert (few.counts <= rows.counts[kept]).all()
    np.testing.assert_array_equal(few.ensemble.codes, rows.ensemble.codes[kept])
    np.testing.assert_array_equal(few.counts, np.bincount(few.inverse))
    np.testing.assert_array_equal(few.ensemble.column_weights, rows.ensemble.column_weights)
    # Rows of many objects are drawn in proportion.
    share = rows.counts[kept] > 2
    assert few.counts[share].sum() / 5_000 == pytest.approx(
        rows.counts[rows.counts > 2].sum() / 20_000, abs=0.03
    )


def test_rows_account_for_every_object():
    labels = labels_of(2_000, 500)
    rows = Ensemble(labels).distinct_rows()
    np.testing.assert_array_equal(rows.ensemble.codes[rows.inverse], Ensemble(labels).codes)
    np.testing.assert_array_equal(rows.counts, np.bincount(rows.inverse))


@pytest.mark.parametrize("threads", [1, 3])
def test_differences_from_rounding_are_no_improvement(threads):
    rows = Ensemble(labels_of(20_000, 5_000)).distinct_rows()
    for losses, best in [
        ([1.0, 1.0 - 1e-13, 1.0], 0),
        ([-2.0, -3.0, -3.0 - 1e-12, -1.0], 1),
        ([5.0, 4.0, 3.0, 2.0], 3),
        ([0.0, 0.0], 0),
    ]:
        actual = best_of_restarts(Recorder(losses), rows, len(losses), SEED, threads)
        assert actual == best


def test_samples_of_an_embedding_share_some_points(monkeypatch):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(7_000, 2)) + 8 * (np.arange(7_000) % 3)[:, None]
    shown, finished = [], []

    class Watched(kmeans._Search):
        def begin(self, rows, start, seed):
            shown.append(rows.values)
            return super().begin(rows, start, seed)

        def finish(self, found, rows, kept):
            finished.append((rows.values, kept))
            return super().finish(found, rows, kept)

    monkeypatch.setattr(kmeans, "_Search", Watched)
    centers = kmeans.kmeans(kmeans.Points(values, np.ones(len(values)), 40), 3, SEED, n_init=4)
    ((whole, kept),) = finished
    assert whole is values
    assert len(shown) == 4
    for part in shown:
        np.testing.assert_array_equal(part, values[kept])
    assert len(np.unique(kept)) == 5_040
    np.testing.assert_array_equal(kept[-40:], np.arange(6_960, 7_000))
    nearest, _ = kmeans.nearest_center(values, centers)
    means = [values[nearest == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(centers, means)
    shown.clear()
    kmeans.kmeans(kmeans.Points(values[:5_040], np.ones(5_040), 40), 3, SEED, n_init=2)
    assert [len(part) for part in shown] == [5_040, 5_040]
    assert len(finished) == 1


@pytest.mark.parametrize(
    "model",
    [
        HBGF(4, random_state=0),
        QMI(4, random_state=0),
        MixtureModel(4, random_state=0),
        LeftStochastic(4, random_state=0),
        WeightedNMF(4, tol=1e-4, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_methods_draw_one_sample_and_refine_once(model, monkeypatch):
    rng = np.random.default_rng(1)
    truth = np.arange(7_000) % 4
    flipped = rng.random((7_000, 15)) < 0.4
    labels = np.where(flipped, rng.integers(0, 4, (7_000, 15)), truth[:, None])
    drawn = []
    original = np.random.Generator.choice

    class Counting(np.random.Generator):
        def choice(self, a, size=None, replace=True, *rest, **named):
            if size == 5_000:
                drawn.append((a, replace))
            return original(self, a, size, replace, *rest, **named)

    def spawn(root, n):
        return [Counting(np.random.PCG64(np.random.SeedSequence(i))) for i in range(n)]

    monkeypatch.setattr("conclust.consensus.restarts.spawn_generators", spawn)
    model.fit(labels)
    assert drawn == [(7_000, False)]
    actual = np.array([np.bincount(model.labels_[truth == k]).argmax() for k in range(4)])
    assert (actual[truth] == model.labels_).mean() > 0.95


def test_fewer_than_two_rows_per_cluster_reduce_the_starts():
    rows = range(100)
    assert [fewer_starts(10, rows, k) for k in (1, 49, 50, 51, 60, 100, 1000)] == [
        *(10, 10, 10, 10),  # of 100 rows for 102: 9.6 starts
        *(7, 3, 1),
    ]
    assert fewer_starts(1, rows, 1000) == 1


@pytest.mark.parametrize(
    ("cls", "module"),
    [
        (MixtureModel, "mixture.multinomial"),
        (BayesianEnsemble, "mixture.bayesian"),
        (LeftStochastic, "matrix.left_stochastic"),
    ],
)
def test_methods_make_fewer_starts_on_few_rows(cls, module, monkeypatch):
    asked = []

    def watched(method, rows, n_init, *others):
        asked.append((len(rows), n_init))
        return best_of_restarts(method, rows, n_init, *others)

    monkeypatch.setattr(f"conclust.consensus.{module}.best_of_restarts", watched)
    labels = labels_of(60, 8)
    for k in (2, 4, 8):
        cls(k, n_init=8, random_state=0).fit(labels)
    assert asked == [(8, 8), (8, 8), (8, 2)]
