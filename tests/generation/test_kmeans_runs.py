"""Many k-means at once: against a naive twin, and scikit-learn from the same start."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.naive.kmeans import by_first_appearance, greedy_start, lloyd

from conclust import Ensemble
from conclust._kernels import bitslice_forms
from conclust._random import seed_sequence, spawn_generators, spawn_seeds
from conclust.generation.runs import draw_objects, run_kmeans


def points_of(seed, n=70, d=5, centers=4, spread=3.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + spread * rng.normal(size=(centers, d))[np.arange(n) % centers]


def prepared(n, size, runs, seed=0):
    root = seed_sequence(seed)
    drawn = draw_objects(n, size, spawn_generators(root, runs))
    return drawn, np.array(spawn_seeds(root, runs), dtype=np.uint64)


@pytest.mark.parametrize(
    ("n", "d", "k", "size"),
    [
        (70, 5, 4, 56),
        (33, 1, 2, 33),
        (41, 17, 9, 30),
        (9, 3, 9, 9),
        (20, 2, 1, 16),
        (130, 4, 12, 128),
    ],
)
def test_runs_match_the_naive_twin(n, d, k, size):
    X = points_of(n + d, n, d)
    drawn, seeds = prepared(n, size, 6)
    made = run_kmeans(X, k, drawn, seeds, candidates=3, centers=True)
    for u in range(6):
        Z = X[drawn[u]]
        start = greedy_start(Z, k, 3, int(seeds[u]))
        labels, centers = lloyd(Z, Z[start], 100)
        labels, order = by_first_appearance(labels)
        assert (made.labels[drawn[u], u] == labels).all()
        assert made.found[u] == len(order)
        np.testing.assert_allclose(made.centers[u][: len(order)], centers[order], atol=1e-12)
        expected = ((Z - centers[order][labels]) ** 2).sum()
        np.testing.assert_allclose(made.inertia[u], expected, rtol=1e-12)
        missing = np.setdiff1d(np.arange(n), drawn[u])
        assert (made.labels[missing, u] == -1).all()


@pytest.mark.parametrize("seed", range(5))
def test_inertia_equals_that_of_scikit_learn_from_the_same_start(seed):
    X = points_of(seed, n=200, d=8, centers=5, spread=1.0)
    drawn, seeds = prepared(200, 160, 4, seed)
    starts = np.stack(
        [
            np.random.default_rng(seed + u).choice(row, 6, replace=False)
            for u, row in enumerate(drawn)
        ]
    ).astype(np.int32)
    made = run_kmeans(X, 6, drawn, seeds, starts=starts, max_iter=300, centers=True)
    for u in range(4):
        model = KMeans(6, init=X[starts[u]], n_init=1, max_iter=300, tol=0.0).fit(X[drawn[u]])
        np.testing.assert_allclose(made.inertia[u], model.inertia_, rtol=1e-10)
        labels, _ = by_first_appearance(model.labels_)
        assert (made.labels[drawn[u], u] == labels).all()


@pytest.mark.parametrize("tol", [0.0, 1e-4, 0.05])
def test_k_means_ends_and_refills_like_scikit_learn(tol):
    """Uses the same starts, some of which lose the last object of a cluster."""
    n, k, runs = 150, 12, 60
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10)) + 3 * rng.normal(size=(6, 10))[rng.integers(0, 6, n)]
    starts = np.stack([rng.choice(n, k, replace=False) for _ in range(runs)]).astype(np.int32)
    drawn, seeds = prepared(n, n, runs)
    plain = run_kmeans(X, k, drawn, seeds, starts=starts, max_iter=300)
    assert 0 < np.count_nonzero(plain.found < k) < runs / 2
    made = run_kmeans(
        X, k, drawn, seeds, starts=starts, max_iter=300, tol=tol, refills=True, centers=True
    )
    for u in range(runs):
        model = KMeans(k, init=X[starts[u]], n_init=1, max_iter=300, tol=tol).fit(X)
        labels, order = by_first_appearance(model.labels_)
        assert (made.labels[:, u] == labels).all()
        assert made.found[u] == len(order) == k
        np.testing.assert_allclose(made.centers[u], model.cluster_centers_[order], atol=1e-9)


def hard_points(kind):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 4))
    if kind == "grid":  # many ties
        return rng.integers(-2, 3, (200, 3)).astype(float)
    if kind == "equal":
        return np.repeat(rng.normal(size=(20, 3)), 10, axis=0)
    if kind == "outlier":
        X[7] *= 1e9
        X[:, 2] *= 1e6
    if kind == "close":  # closer than single precision can distinguish
        X = np.repeat(X[:20], 10, axis=0) + 1e-9 * X
    if kind == "constant":
        X[:, 1:] = 1e8
    return X * {"large": 1e140, "too large": 1e151, "tiny": 1e-150}.get(kind, 1.0)


KINDS = ("plain", "grid", "equal", "outlier", "close", "constant", "large", "too large", "tiny")


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_gives_the_same_bits_and_the_labels_of_exact_sums(kind):
    X = hard_points(kind)
    n, k = len(X), 9
    drawn, seeds = prepared(n, n, 6)
    with np.errstate(all="ignore"):
        made = [
            run_kmeans(X, k, drawn, seeds, candidates=5, refills=True, centers=True, form=form)
            for form in bitslice_forms()
        ]
    for other in made[1:]:
        for name in ("labels", "found", "inertia", "centers"):
            assert getattr(made[0], name).tobytes() == getattr(other, name).tobytes()
    if kind in ("too large", "tiny"):
        return
    Z = X - X.mean(axis=0)
    for u in range(6):
        centers = made[0].centers[u][: made[0].found[u]] - X.mean(axis=0)
        scores = Z @ centers.T - 0.5 * (centers**2).sum(axis=1)
        of_own = scores[np.arange(n), made[0].labels[:, u]]
        slack = 1e-13 * (np.abs(Z).max() ** 2)
        assert (of_own >= scores.max(axis=1) - slack).all()


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 31, 32, 33, 60, 63, 64, 65, 129])
@pytest.mark.parametrize("k", [1, 2, 5, 6, 7, 13])
def test_partial_blocks_and_tiles_are_handled(n, k):
    X = points_of(n, n=n, d=3)
    k = min(k, n)
    drawn, seeds = prepared(n, n, 2)
    for form in bitslice_forms():
        made = run_kmeans(X, k, drawn, seeds, candidates=7, centers=True, form=form)
        for u in range(2):
            start = greedy_start(X, k, 7, int(seeds[u]))
            labels, centers = lloyd(X, X[start], 100)
            labels, order = by_first_appearance(labels)
            assert (made.labels[:, u] == labels).all()
            np.testing.assert_allclose(made.centers[u][: len(order)], centers[order], atol=1e-12)


def test_threads_and_other_runs_change_no_bit():
    X = points_of(1, n=300, d=7)
    drawn, seeds = prepared(300, 240, 25)
    one = run_kmeans(X, 8, drawn, seeds, centers=True, threads=1)
    for threads in (2, 5):
        more = run_kmeans(X, 8, drawn, seeds, centers=True, threads=threads)
        for name in ("labels", "found", "inertia", "centers"):
            assert getattr(one, name).tobytes() == getattr(more, name).tobytes()
    part = run_kmeans(X, 8, drawn[7:9], seeds[7:9], centers=True, threads=2)
    assert (part.labels == one.labels[:, 7:9]).all()
    assert part.inertia.tobytes() == one.inertia[7:9].tobytes()


def test_calls_are_split_so_that_interrupts_take_effect(monkeypatch):
    from conclust.generation import runs

    X = points_of(2)
    drawn, seeds = prepared(70, 56, 9)
    whole = run_kmeans(X, 3, drawn, seeds)
    monkeypatch.setattr(runs, "_CALL", 1.0)
    cut = run_kmeans(X, 3, drawn, seeds, threads=2)
    assert (whole.labels == cut.labels).all()


def test_equal_points_give_fewer_clusters():
    X = np.repeat([[0.0, 1.0], [5.0, 5.0]], 10, axis=0)
    drawn, seeds = prepared(20, 16, 5)
    made = run_kmeans(X, 4, drawn, seeds, centers=True)
    assert (made.found == 2).all()
    assert (made.inertia == 0).all()
    assert np.isnan(made.centers[:, 2:]).all()
    for u in range(5):
        first = X[drawn[u, 0]]
        np.testing.assert_allclose(made.centers[u, 0], first, atol=1e-15)


@pytest.mark.parametrize("k", [126, 127, 140])
def test_labels_have_the_narrowest_type_and_form_an_ensemble(k):
    X = points_of(4, n=300)
    drawn, seeds = prepared(300, 250, 3)
    made = run_kmeans(X, k, drawn, seeds)
    assert made.labels.dtype == (np.int8 if k <= 126 else np.int16)
    ensemble = Ensemble(made.labels)
    assert (ensemble.labels == made.labels).all()
    assert (ensemble.cluster_counts == made.found).all()
