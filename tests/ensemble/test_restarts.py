"""The rule of restarts: starts on the rows of 5,000 objects, the best refined on all."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from conclust import QMI, Ensemble, WeightedNMF
from conclust.consensus.label_rows import best_of_restarts, fewer_starts

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


@pytest.mark.parametrize(
    "model",
    [QMI(4, random_state=0), WeightedNMF(4, tol=1e-4, random_state=0)],
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

    monkeypatch.setattr("conclust.consensus.label_rows.spawn_generators", spawn)
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
