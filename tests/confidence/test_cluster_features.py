"""Distinguishing features, against Cohen's d computed feature by feature."""

import math

import numpy as np
import pandas as pd
import pytest

from conclust.confidence import cluster_features, features
from conclust.exceptions import InputError


def cohens_d(inside, outside):
    n, m = len(inside), len(outside)
    pooled = ((n - 1) * np.var(inside, ddof=1) if n > 1 else 0.0) + (
        (m - 1) * np.var(outside, ddof=1) if m > 1 else 0.0
    )
    return (inside.mean() - outside.mean()) / np.sqrt(pooled / (n + m - 2))


def case(seed, n=40, d=5, K=3):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(K), rng.integers(-1, K, n - K)])
    X = rng.normal(size=(n, d)) + 0.7 * labels[:, None] * np.arange(d)
    return X, labels


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_differences_match_their_definition(seed, gaps, monkeypatch):
    X, labels = case(seed)
    X[np.random.default_rng(seed + 9).random(X.shape) < gaps] = np.nan
    monkeypatch.setattr(features, "_AT_ONCE", 80)  # two columns at a time
    actual = cluster_features(X, labels)
    for k in range(3):
        for j in range(X.shape[1]):
            seen = ~np.isnan(X[:, j])
            inside, outside = X[seen & (labels == k), j], X[seen & (labels >= 0) & (labels != k), j]
            assert actual.inside[k, j] == pytest.approx(inside.mean())
            assert actual.outside[k, j] == pytest.approx(outside.mean())
            assert actual.difference[k, j] == pytest.approx(cohens_d(inside, outside))


def test_units_and_offsets_do_not_matter():
    X, labels = case(5)
    plain = cluster_features(X, labels).difference
    np.testing.assert_allclose(cluster_features(-3.0 * X, labels).difference, -plain)
    np.testing.assert_allclose(cluster_features(X + 1e8, labels).difference, plain, rtol=1e-5)


def test_constant_values_differ_by_zero_or_infinity():
    X = np.array([[1.0, 0.1, 3.0], [1.0, 0.1, 3.0], [2.0, 0.1, np.nan], [2.0, 0.1, np.nan]])
    features = cluster_features(X, [0, 0, 1, 1])
    np.testing.assert_array_equal(features.difference, [[-np.inf, 0, np.nan], [np.inf, 0, np.nan]])
    assert features.largest(0).tolist() == [0, 1]  # nothing is known about the third
    assert features.largest(0, 1).tolist() == [0]


def test_one_cluster_has_no_differences():
    X, _ = case(1)
    features = cluster_features(X, np.zeros(len(X), dtype=int))
    np.testing.assert_allclose(features.inside[0], X.mean(axis=0))
    assert np.isnan(features.outside).all()
    assert np.isnan(features.difference).all()
    assert not len(features.largest(0))


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (np.zeros((3, 2)), "a row for each of the 4 labels. Got an array of shape (3, 2)"),
        (np.full((4, 1), "a"), "must hold numbers"),
        (np.full((4, 1), np.inf), "contains infinity in column 0"),
    ],
)
def test_invalid_points_are_refused(X, said):
    with pytest.raises(InputError) as stop:
        cluster_features(X, [0, 0, 1, 1])
    assert said in str(stop.value)


@pytest.mark.parametrize("dtype", ["Float64", "object", "bool"])
def test_frames_of_other_types_are_read_like_numbers(dtype):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, size=(40, 3)).astype(float), columns=list("xyz"))
    labels = np.arange(40) % 2
    plain = cluster_features(frame, labels)
    frame["y"] = frame["y"].astype(dtype)
    other = cluster_features(frame, labels)
    np.testing.assert_array_equal(other.inside, plain.inside)


def test_means_of_equal_values_are_exact():
    rng = np.random.default_rng(0)
    for value in (0.0, 0.1, -1 / 3):
        X = np.concatenate([np.full(50, value), rng.poisson(300, 50) / 7 + 1e6])[:, None]
        found = cluster_features(X, np.repeat([0, 1], 50))
        assert found.inside[0, 0] == value
        assert found.outside[1, 0] == value
        # Also in several clusters, and where cells are empty.
        X[7] = np.nan
        found = cluster_features(X, np.repeat([0, 1, 2], [20, 30, 50]))
        assert (found.inside[:2, 0] == value).all()
        assert found.outside[2, 0] == value


def test_means_match_exact_sums():
    rng = np.random.default_rng(1)
    X = np.concatenate([1e-6 * rng.normal(size=(40, 3)), 1e6 + rng.normal(size=(60, 3))])
    labels = np.concatenate([np.zeros(40, dtype=int), np.resize([1, 2, 3], 60)])
    found = cluster_features(X, labels)
    for k in range(4):
        for j in range(3):
            own, others = X[labels == k, j].tolist(), X[labels != k, j].tolist()
            assert found.inside[k, j] == pytest.approx(math.fsum(own) / len(own), rel=1e-13, abs=0)
            assert found.outside[k, j] == pytest.approx(
                math.fsum(others) / len(others), rel=1e-13, abs=0
            )
