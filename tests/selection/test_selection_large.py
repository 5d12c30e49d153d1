"""Many objects: sampled pairs instead of all pairs, and no matrix of all objects."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from conclust import Ensemble
from conclust.generation.runs import draw_objects, run_kmeans
from conclust.selection import choose
from conclust.selection.judged.pairs import check_window, count_all, count_some, sample_of_pairs

WINDOW = check_window((0.1, 0.9), "test")


def resamples(seed, n=3000, k=5):
    """Return resampled k-means of overlapping clusters: many pairs are ambiguous."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 2.0 * rng.normal(size=(k, 3))[np.arange(n) % k]
    drawn = draw_objects(n, int(0.8 * n), rng.spawn(20))
    seeds = rng.integers(0, 2**63, 20).astype(np.uint64)
    return Ensemble(run_kmeans(X, k, drawn, seeds, threads=1).labels)


def test_pac_of_sampled_pairs_is_within_four_standard_errors():
    # 200,000 of 4,498,500 pairs, six times.
    within = []
    for seed in range(6):
        ensemble = resamples(seed)
        exact = count_all(ensemble, 1).pac(WINDOW)
        pairs = sample_of_pairs(3000, 200_000, np.random.default_rng([seed, 1]))
        actual = count_some(ensemble, pairs, 1)
        assert actual.sampled
        assert 199_000 < actual.n_pairs <= 200_000  # hardly any pair was never drawn together
        assert 0.001 < exact < 0.9
        error = np.sqrt(exact * (1 - exact) / 200_000)
        within.append(abs(actual.pac(WINDOW) - exact) / error)
    assert max(within) <= 4
    assert np.mean(within) > 0.3  # some of the pairs, not all of them


@pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")
def test_a_hundred_thousand_objects_need_no_matrix():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100_000, 10)) + 8.0 * rng.normal(size=(4, 10))[np.arange(100_000) % 4]
    tracemalloc.start()
    try:
        selection = choose(
            X,
            range(3, 6),
            n_resamples=10,
            n_references=19,
            max_test=300,
            max_dense=1000,
            random_state=0,
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert selection.n_clusters == 4
    assert selection.p_value == 0.05
    assert selection.pairs[4].sampled
    # A byte, or a bit, for each pair of objects would be 10 GB, or 1.25.
    assert peak < 800e6
