"""The criteria of a number of clusters, against loops over pairs and numbers worked by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.naive import selection as naive

from conclust import EAC, Ensemble
from conclust.exceptions import ParameterError
from conclust.selection.judged.measuring import (
    Design,
    consensus_of,
    jackknife,
    mean_ari,
    mean_of,
    measure,
    sharp_counts,
    sharp_score,
    upper,
)
from conclust.selection.judged.pairs import check_window, count_all, count_some, sample_of_pairs

E1 = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
WINDOW = (Fraction(1, 10), Fraction(9, 10))


def resamples(seed, n=30, m=12, k=3, missing=0.25, noise=0.0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    labels = np.where(rng.random((n, m)) < 0.3, rng.integers(0, k, (n, m)), truth[:, None])
    labels[rng.random((n, m)) < missing] = -1
    labels[rng.random((n, m)) < noise] = -2
    return labels


@pytest.mark.parametrize("seed", range(2))
def test_pairs_match_the_naive_twin(seed):
    labels = resamples(seed, noise=0.1 * (seed % 2))
    counts = count_all(Ensemble(labels), 2)
    assert counts.n_pairs == len(naive.known(labels))
    assert counts.pac(WINDOW) == naive.pac(labels)
    for window in ((0.0, 1.0), (0.25, 0.5), (1 / 3, 2 / 3)):
        ends = check_window(window, "test")
        for strict in (False, True):
            assert counts.pac(ends, strict=strict) == naive.pac(labels, *ends, strict)
    assert counts.area == pytest.approx(naive.area(labels), abs=1e-12)
    assert counts.area == pytest.approx(1 - float(np.mean(naive.shares(labels))), abs=1e-12)
    values, heights = counts.cdf()
    assert (np.diff(values) > 0).all()
    assert (np.diff(heights) > 0).all()
    assert heights[-1] == 1.0
    expected = sorted(set(naive.shares(labels)))
    np.testing.assert_allclose(values, [float(v) for v in expected])


def test_a_share_at_the_end_of_a_window_is_compared_exactly():
    # 5 of 50 is not above 0.1 and 45 of 50 not above 0.9, though neither is a binary fraction.
    labels = np.zeros((3, 50), dtype=int)
    labels[1, 5:] = 1
    labels[2, 45:] = 2
    counts = count_all(Ensemble(labels), 1)
    shares = sorted(naive.shares(labels))
    assert shares == [Fraction(1, 10), Fraction(1, 10), Fraction(9, 10)]
    assert counts.pac(check_window((0.1, 0.9), "test")) == 1 / 3
    assert counts.pac(check_window((0.1, 0.9), "test"), strict=True) == 0


@pytest.mark.parametrize("bad", [(0.9, 0.1), (0.1, 1.1), 0.5])
def test_an_invalid_window_is_refused(bad):
    with pytest.raises(ParameterError, match=r"window.*two numbers, 0 <= u1 < u2 <= 1"):
        check_window(bad, "choose")


@pytest.mark.parametrize("seed", range(2))
def test_sharp_matches_the_naive_twin(seed):
    labels = resamples(seed, noise=0.1 * (seed % 2), k=2 + seed)
    consensus = EAC(2 + seed).fit(labels).labels_
    counts = sharp_counts(Ensemble(labels), consensus)
    assert sharp_score(counts) == pytest.approx(naive.sharp(labels, consensus), rel=1e-12)
    kept = np.arange(0, 12, 2)
    some = naive.sharp(labels[:, kept], consensus)
    assert sharp_score(counts, kept) == pytest.approx(some, rel=1e-12)


def test_sharp_of_one_cluster_is_undefined():
    assert np.isnan(sharp_score(sharp_counts(Ensemble(E1), np.zeros(4, dtype=int))))


def test_mean_ari_uses_drawn_objects():
    labels = resamples(3)
    ensemble = Ensemble(labels)
    actual = mean_of(upper(mean_ari(ensemble, None)))
    scores = []
    for u in range(12):
        for v in range(u):
            both = (labels[:, u] >= 0) & (labels[:, v] >= 0)
            scores.append(adjusted_rand_score(labels[both, u], labels[both, v]))
    assert actual == pytest.approx(np.mean(scores), abs=1e-12)
    consensus = EAC(3).fit(labels).labels_
    with_labels = mean_ari(ensemble, consensus)
    for u in range(12):
        drawn = labels[:, u] >= 0
        assert with_labels[u] == pytest.approx(
            adjusted_rand_score(consensus[drawn], labels[drawn, u])
        )


def test_standard_errors_match_a_manual_jackknife():
    labels = resamples(5, n=40, m=20)
    ensemble = Ensemble(labels)
    design = whole(40)
    actual = measure(ensemble, 3, design)
    values = []
    for g in range(10):
        kept = np.setdiff1d(np.arange(20), [g, g + 10])
        values.append(naive.pac(labels[:, kept]))
    spread = np.sqrt(9 / 10 * np.sum((np.array(values) - np.mean(values)) ** 2))
    assert actual.errors["pac"] == pytest.approx(spread, rel=1e-12)
    sharp = [
        naive.sharp(labels[:, np.setdiff1d(np.arange(20), [g, g + 10])], actual.labels)
        for g in range(10)
    ]
    assert actual.errors["sharp"] == pytest.approx(jackknife(np.array(sharp)), rel=1e-9)


def whole(n, **changes):
    given = {"max_dense": 3000, "n_pairs": 1000, "n_jobs": 1} | changes
    return Design.draw(n, seed=np.random.SeedSequence(0), **given)


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_sampled_pairs_are_distinct(n):
    size = min(500, n * (n - 1) // 2)
    i, j = sample_of_pairs(n, 500, np.random.default_rng(0))
    assert len(i) == size
    assert ((i >= 0) & (i < j) & (j < n)).all()
    assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == size


def test_sampling_all_pairs_gives_all_pairs():
    labels = resamples(1)
    ensemble = Ensemble(labels)
    pairs = sample_of_pairs(30, 10**6, np.random.default_rng(0))
    assert (count_some(ensemble, pairs, 1).table == count_all(ensemble, 1).table).all()


def test_objects_outside_the_tree_join_their_most_frequent_cluster():
    labels = resamples(2, n=300, m=20, missing=0.2)
    ensemble = Ensemble(labels)
    part = consensus_of(ensemble, whole(300, max_dense=60))
    assert len(part.rows) == 60
    actual = part.cut(3)
    assert adjusted_rand_score(np.arange(300) % 3, actual) == 1.0
    assert (actual >= 0).all()


def test_many_objects_are_measured_without_their_matrix():
    labels = resamples(4, n=400, m=20, missing=0.2)
    ensemble = Ensemble(labels)
    exact = measure(ensemble, 3, whole(400))
    some = measure(ensemble, 3, whole(400, max_dense=100, n_pairs=20_000))
    assert some.counts.sampled
    assert (some.labels == exact.labels).mean() > 0.99
    for name in ("pac", "area"):
        assert some.values[name] == pytest.approx(exact.values[name], abs=0.02)
    assert some.values["sharp"] == pytest.approx(exact.values["sharp"], rel=1e-2)
