"""Single clouds that are as flat or as skewed as the points."""

from __future__ import annotations

import numpy as np
import pytest

from conclust.selection.resampled.null import fixed_test
from conclust.selection.resampled.shape import is_more_than_gaussian, matched_cloud
from conclust.selection.resampled.testing import OneClusterTest


def scores(X: np.ndarray) -> np.ndarray:
    U, lengths, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return np.asarray(U * lengths)


def mardia(Z: np.ndarray) -> tuple[float, float]:
    """Return skewness and kurtosis from the inner products of whitened rows."""
    inner = Z @ np.linalg.inv(Z.T @ Z / len(Z)) @ Z.T
    third = np.einsum("ij,ij,ij->", inner, inner, inner) / inner.size
    return float(third), float((np.diag(inner) ** 2).mean())


def test_clouds_have_the_products_of_the_points():
    rng = np.random.default_rng(0)
    Z = scores(rng.exponential(size=(80, 4)) * [4, 3, 2, 1])
    for kind in ("flat", "skewed"):
        cloud = matched_cloud(Z, kind, 2, rng)
        np.testing.assert_allclose(cloud.T @ cloud, Z.T @ Z, atol=1e-8)
        np.testing.assert_allclose(cloud.mean(axis=0), 0, atol=1e-10)


@pytest.mark.parametrize("a", [1.0, 5.0])
def test_flat_clouds_have_the_kurtosis_of_the_points(a):
    rng = np.random.default_rng(1)
    Z = scores(rng.beta(a, a, (3_000, 3)) * [3, 2, 1])
    cloud = matched_cloud(Z, "flat", 2, rng)
    assert is_more_than_gaussian(Z, "flat", 2)
    assert mardia(cloud[:, :2])[1] == pytest.approx(mardia(Z[:, :2])[1], rel=0.03)
    assert mardia(cloud[:, 2:])[1] == pytest.approx(mardia(Z[:, 2:])[1], rel=0.03)


@pytest.mark.parametrize("a", [1.0, 5.0])
def test_skewed_clouds_have_the_skewness_of_the_points(a):
    rng = np.random.default_rng(2)
    Z = scores(rng.gamma(a, size=(3_000, 3)) * [3, 2, 1])
    cloud = matched_cloud(Z, "skewed", 2, rng)
    assert is_more_than_gaussian(Z, "skewed", 2)
    assert mardia(cloud[:, :2])[0] == pytest.approx(mardia(Z[:, :2])[0], rel=0.3)
    assert mardia(cloud[:, 2:])[0] == pytest.approx(mardia(Z[:, 2:])[0], rel=0.3)


def test_clouds_are_at_most_as_flat_as_boxes_and_as_skewed_as_exponential_clouds():
    rng = np.random.default_rng(3)
    two_points = scores(np.repeat([[0.0], [1.0]], 500, axis=0) + 1e-3 * rng.normal(size=(1000, 1)))
    flat = matched_cloud(two_points, "flat", 1, rng)
    assert mardia(flat)[1] == pytest.approx(1.8, abs=0.1)  # of the uniform distribution
    few_far = scores((rng.random((1000, 1)) < 0.01) + 1e-3 * rng.normal(size=(1000, 1)))
    skewed = matched_cloud(few_far, "skewed", 1, rng)
    assert mardia(skewed)[0] < 10


def test_blocks_are_measured_apart():
    # A square in two directions of ten: the others stay normal.
    rng = np.random.default_rng(4)
    Z = scores(np.column_stack([9.0 * rng.random((2_000, 2)), rng.normal(size=(2_000, 8))]))
    cloud = matched_cloud(Z, "flat", 2, rng)
    assert mardia(cloud[:, :2])[1] == pytest.approx(5.6, abs=0.1)
    assert mardia(cloud[:, 2:])[1] == pytest.approx(80.0, abs=1.5)


@pytest.mark.parametrize(("shift", "drawn"), [(-3.0, 19), (3.0, 19), (-1.2, 39)])
def test_nineteen_references_suffice_where_they_decide(shift, drawn):
    logs = np.random.default_rng(11).normal(size=(39, 4))
    real = np.full(4, shift)
    test = object.__new__(OneClusterTest)
    test._references = lambda begin, end: logs[begin:end]
    verdict = test._in_two_steps(real, 39, slice(None))
    assert verdict.n_references == drawn
    assert verdict.p_value == fixed_test(real, logs[:drawn]).p_value
    if drawn == 19:
        assert (verdict.p_value > 0.2) == (fixed_test(real, logs).p_value > 0.2)
