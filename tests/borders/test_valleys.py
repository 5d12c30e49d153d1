"""Counts along borders against the naive twin and under shifts and rotations of the points."""

import numpy as np
import pytest
from tests.naive import borders as naive

from conclust.borders import border_geometry, leading_components, stratified_part, valley_counts


def pieces_of(seed, n=160, d=3, K=5):
    rng = np.random.default_rng(seed)
    pieces = rng.permutation(np.arange(n) % K)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 1.5 * rng.normal(size=(K, d))[pieces]
    pieces[rng.random(n) < 0.05] = -1
    return X, pieces


def all_pairs(K):
    return np.array([(p, q) for p in range(K) for q in range(K) if p != q])


@pytest.mark.long
@pytest.mark.parametrize(
    ("seed", "d", "K"), [(0, 3, 5), (1, 2, 8), (2, 6, 2), (3, 1, 3), (4, 8, 6)]
)
def test_places_and_counts_match_the_naive_twin(seed, d, K):
    X, pieces = pieces_of(seed, d=d, K=K)
    first = stratified_part(pieces, 0.5, np.random.default_rng(seed))
    geometry = border_geometry(X, first, pieces, K)
    pairs = all_pairs(K)
    if d == 1:  # a centre between two others lies on their segment: there is no plane
        order = np.argsort([X[first & (pieces == k)].mean() for k in range(K)])
        pairs = np.array([(order[0], order[1]), (order[2], order[1])])
    Z, centres = naive.whitened(X, first, pieces)
    places, counts = geometry.places(first, pairs), geometry.count(first, pairs)
    for b, (p, q) in enumerate(pairs):
        expected = naive.places(Z, centres, p, q)
        here = np.sort(expected[~first & ~np.isnan(expected)])
        np.testing.assert_allclose(np.sort(places[b]), here, atol=1e-8)
        np.testing.assert_array_equal(counts[b], naive.counts(expected, first))
    assert min(map(len, places)) < np.sum(~first) or K == 2
    assert counts.sum() > 0


def test_only_the_first_part_determines_the_windows():
    rng = np.random.default_rng(0)
    first = np.arange(4000) % 2 == 0
    x = np.where(rng.random(4000) < 0.5, -1.0, 1.0) + rng.normal(scale=0.4, size=4000)
    pieces = (x > 0).astype(int)
    n1, n2, n3 = border_geometry(x[:, None], first, pieces, 2).count(first, np.array([[0, 1]]))[0]
    t = (x + 1) / 2
    assert n2 == pytest.approx(np.sum(~first & (np.abs(t - 0.5) < 0.15)), abs=15)
    assert n1 == pytest.approx(np.sum(~first & (np.abs(t) < 0.15)), abs=40)
    assert n3 == pytest.approx(np.sum(~first & (np.abs(t - 1) < 0.15)), abs=40)
    # Ties: the valley nearest to the middle, then peaks nearest to it.
    empty = naive.counts([0.0, 1.0], [False, False])
    assert empty == [0, 0, 0]


def test_a_part_holds_its_share_of_each_piece():
    pieces = np.repeat([0, 1, 2, 3, -1, -2], [10, 7, 1, 2, 4, 3])
    part = stratified_part(pieces, 0.5, np.random.default_rng(0))
    assert [part[pieces == k].sum() for k in range(4)] == [5, 4, 1, 1]
    assert part[pieces < 0].sum() == 4  # 3.5, rounded up
    third = stratified_part(pieces, 1 / 3, np.random.default_rng(0))
    assert [third[pieces == k].sum() for k in range(4)] == [3, 2, 1, 1]
    drawn = sum(
        stratified_part(pieces, 0.5, np.random.default_rng(s)).astype(int) for s in range(400)
    )
    assert (np.abs(drawn[:10] - 200) < 50).all()


def test_counts_do_not_depend_on_threads_or_on_linear_maps():
    X, pieces = pieces_of(5, n=600, d=4, K=7)
    pairs = all_pairs(7)
    actual = valley_counts(X, pieces, pairs, n_splits=5, random_state=3, n_jobs=1)
    assert actual.counts.shape == (42, 5, 3)
    assert actual.means.shape == (42, 3)
    np.testing.assert_array_equal(actual.means, actual.counts.sum(axis=1) / 5)
    for jobs in (2, 4):
        repeated = valley_counts(X, pieces, pairs, n_splits=5, random_state=3, n_jobs=jobs)
        np.testing.assert_array_equal(actual.counts, repeated.counts)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    moved = valley_counts(3 * X @ turn - 2, pieces, pairs, n_splits=5, random_state=3)
    np.testing.assert_array_equal(actual.counts, moved.counts)
    other = valley_counts(X, pieces, pairs, n_splits=5, random_state=4)
    assert not np.array_equal(actual.counts, other.counts)


def test_valleys_lie_between_clusters_and_not_within_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    X[600:, 0] += 6
    pieces = 2 * (X[:, 0] > 3) + (X[:, 1] > 0)
    pairs = np.array([(0, 1), (2, 3), (0, 2), (1, 3)])
    first, valley, second = valley_counts(X, pieces, pairs, random_state=0).means.T
    ratios = (valley + 3) / (np.minimum(first, second) + 3)
    assert (ratios[:2] > 0.8).all()
    assert (ratios[2:] < 0.3).all()


def test_pieces_without_spread_or_with_one_centre_have_no_valley():
    X = np.repeat([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]], 20, axis=0)
    pairs = np.array([(0, 1), (0, 2)])
    actual = valley_counts(X, np.repeat([0, 1, 2], 20), pairs, n_splits=3, random_state=0)
    np.testing.assert_array_equal(actual.counts[0], 0)
    np.testing.assert_array_equal(actual.counts[1], [[20, 0, 10]] * 3)


def test_components_preserve_distances_of_points_in_a_plane():
    rng = np.random.default_rng(0)
    for n, d in ((300, 200), (80, 1800), (1600, 1700)):
        X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, d)) + 5
        Z = leading_components(X, 3)
        assert Z.shape == (n, 3)
        np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-8)
        X = X - X.mean(axis=0)
        np.testing.assert_allclose((Z**2).sum(axis=1), (X**2).sum(axis=1), rtol=1e-6)
        assert (np.diff(Z.var(axis=0)) <= 0).all()


def test_components_of_a_part_depend_on_that_part_only():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 60))
    first = np.arange(100) < 40
    Z = leading_components(X, first=first)
    changed = X.copy()
    changed[~first] *= 100
    np.testing.assert_array_equal(Z[first], leading_components(changed, first=first)[first])
