"""The number of clusters of one column."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from conclust import ConsensusClustering, EnsembleGenerator
from conclust._arrays.points import along_line
from conclust.confidence.borders.dips import dip, dip_p_value
from conclust.points.line import _border, _spread, clusters_on_line


def fitted(values, **parameters):
    return ConsensusClustering(random_state=0, **parameters).fit(np.asarray(values)[:, None])


def blobs(seed, centres, size, deviation=1.0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(centres)), size)
    return np.asarray(centres, dtype=float)[y] + deviation * rng.normal(size=len(y)), y


@pytest.mark.parametrize(
    ("centres", "size"), [([0, 5], 500), ([0, 5], 60), ([0, 6, 12], 100), (range(0, 64, 8), 25)]
)
def test_blobs_on_a_line_are_found(centres, size):
    values, y = blobs(1, centres, size)
    model = fitted(values)
    assert model.n_clusters_ == len(centres)
    assert adjusted_rand_score(y, model.labels_) > 0.93
    assert "more than one mode together (dip test at level 0.01)" in model.reason_
    told = fitted(values, n_clusters=len(centres))
    assert adjusted_rand_score(y, told.labels_) > 0.93


def test_a_small_cluster_near_a_large_one_is_found():
    values, y = blobs(0, [0] * 9 + [7], 60)
    model = fitted(values)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y == 9, model.labels_) > 0.95


@pytest.mark.long
@pytest.mark.parametrize("n", [60, 300, 1000])
@pytest.mark.parametrize("kind", ["normal", "uniform", "exponential", "standard_t", "rounded"])
def test_one_cloud_on_a_line_is_one_cluster(kind, n):
    found = []
    for seed in range(3):
        rng = np.random.default_rng([seed, n])
        values = (
            np.round(6 * rng.normal(size=n))
            if kind == "rounded"
            else getattr(rng, kind)(*([3] if kind == "standard_t" else []), size=n)
        )
        found.append(fitted(values).n_clusters_)
    assert found.count(1) >= 3 - (kind == "uniform")


def test_members_of_one_column_are_by_kmeans():
    values, _ = blobs(2, [0, 6], 50)
    automatic, kmeans = (
        EnsembleGenerator(method, n_partitions=40, random_state=0).fit_transform(values[:, None])
        for method in ("auto", "kmeans")
    )
    np.testing.assert_array_equal(automatic, kmeans)


def test_borders_are_judged_as_by_a_loop_over_all_numbers():
    values, _ = blobs(3, [0, 20, 40, 60], 40)
    n = len(values)
    ranks = np.argsort(np.argsort(values))
    cuts = {K: ranks * K // n for K in range(1, n + 1)}
    trees = SimpleNamespace(cut=cuts.__getitem__)
    expected = {}
    for K in range(2, 31):
        inside = [np.sort(values[cuts[K] == cluster]) for cluster in range(K)]
        p_values = []
        for a, b in pairwise(inside):
            m = min(len(a), len(b))
            pairs = (np.concatenate([a, b]), np.concatenate([a[len(a) - m :], b[:m]]))
            p_values.append(
                min(1, 2 * (K - 1) * min(dip_p_value(dip(pair), len(pair)) for pair in pairs))
            )
        if max(p_values) <= 0.01:
            expected[K] = max(p_values)
    found = clusters_on_line(values[:, None], trees, 2, n, np.random.default_rng(0))
    assert len(expected) > 1
    assert found.n_clusters == max(expected)
    assert found.p_value == pytest.approx(expected[max(expected)])
    assert set(found.others) == set(expected) - {max(expected)}
    assert (
        clusters_on_line(values[:, None], trees, 2, 2, np.random.default_rng(0)) is None
        or 2 in expected
    )


def test_clusters_that_are_no_intervals_have_no_borders():
    values = np.concatenate([np.zeros(50), np.full(50, 5.0)]) + np.linspace(0, 1, 100)
    mixed = np.arange(100) % 2
    trees = SimpleNamespace(cut=lambda K: mixed)
    assert clusters_on_line(values[:, None], trees, 2, 2, np.random.default_rng(0)) is None


def test_the_border_has_the_fewest_objects_on_the_wrong_side():
    rng = np.random.default_rng(0)
    values, y = blobs(4, [0, 2], 50)
    lower, upper = y == 0, y == 1
    border = _border(values, lower, upper)
    wrong = [np.sum(lower & (values > t)) + np.sum(upper & (values <= t)) for t in values]
    assert np.sum(lower & (values > border)) + np.sum(upper & (values <= border)) == min(wrong)
    order = rng.permutation(100)
    assert _border(values[order], lower[order], upper[order]) == border


def test_rounded_values_are_spread_within_their_grid():
    rng = np.random.default_rng(0)
    values = np.round(3 * rng.normal(size=200)) * 0.5
    spread = _spread(values, rng)
    assert np.abs(spread - values).max() <= 0.25
    assert len(np.unique(spread)) == 200
    distinct = rng.normal(size=50)
    assert _spread(distinct, rng) is distinct


def test_a_minimum_number_is_kept_on_a_line():
    values = np.random.default_rng(0).normal(size=200)
    model = fitted(values, min_clusters=2)
    assert model.n_clusters_ >= 2
    assert "by the partitions alone" in model.reason_


def test_equal_values_are_one_cluster():
    assert fitted(np.ones(100)).n_clusters_ == 1
    three = fitted(np.repeat([1.0, 5.0, 9.0], [30, 30, 40]) + np.tile([0.0, 1.0], 50))
    assert three.n_clusters_ == 3


@pytest.mark.long
@pytest.mark.parametrize("n", [200, 20_000])
@pytest.mark.parametrize("second", ["constant", "another unit"])
def test_several_columns_of_points_on_a_line_are_clustered_as_one(n, second):
    x = np.random.default_rng(0).normal(size=n)
    other = np.full(n, 7.0) if second == "constant" else 32 + 1.8 * x
    model = ConsensusClustering(random_state=0).fit(np.column_stack([x, other]))
    assert model.n_clusters_ == 1
    apart = np.where(np.arange(n) % 2 == 0, x, x + 8)
    model = ConsensusClustering(random_state=0).fit(np.column_stack([apart, other]))
    assert model.n_clusters_ == 2 or second == "another unit"


@pytest.mark.parametrize(
    ("points", "on_line"),
    [
        (np.outer(np.arange(20.0), [1.0, 2.0]), True),
        (np.outer(np.arange(19.0), [1.0, 2.0]), False),  # too few places
        (np.outer(np.arange(20.0), [1.0, 2.0]) + np.eye(20, 2), False),
        (np.column_stack([np.arange(20.0), np.full(20, 1e9)]), True),
        (np.zeros((40, 2)), False),
        (np.outer(np.linspace(-1.0, 1.0, 20), [1.5e308, -1.5e308]), False),
    ],
)
def test_lines_are_recognised(points, on_line):
    assert (along_line(points) is not None) == on_line


def test_coordinates_along_a_line_keep_distances():
    t = np.random.default_rng(0).normal(size=500)
    along = along_line(np.outer(t, [3.0, 4.0]) + np.array([1.0, -2.0]))
    np.testing.assert_allclose(np.abs(along - along.T), 5 * np.abs(t[:, None] - t), atol=1e-12)


def test_points_with_a_time_in_nanoseconds_are_not_on_a_line():
    X, _ = make_moons(400, noise=0.05, random_state=0)
    times = np.round(1.7e18 + 8e16 * np.random.default_rng(0).uniform(size=400))
    with_times = np.column_stack([X, times])
    assert along_line(with_times) is None
    kinds = {member.method for member in EnsembleGenerator(random_state=0).fit(with_times).members_}
    assert kinds == {"graph", "spectral", "density"}


def test_the_order_of_points_does_not_matter_for_a_line():
    t = np.concatenate([np.zeros(120), np.random.default_rng(0).normal(10, 1, 150)])
    X = np.column_stack([t, 2 * t + 1])
    assert along_line(X) is not None
    assert along_line(X[np.random.default_rng(1).permutation(270)]) is not None
