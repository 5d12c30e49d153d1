"""How flat or skewed points are: Mardia's measures, and their p-values."""

from __future__ import annotations

import numpy as np
import pytest

from conclust.selection.resampled.null import flat, rotation, skewed
from conclust.selection.resampled.shape import kurtosis, p_value_of_shape, skewness


def scores(n: int, widths: list[float], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    Z = rng.exponential(size=(n, len(widths))) * widths
    Z -= Z.mean(axis=0)
    U, lengths, _ = np.linalg.svd(Z, full_matrices=False)
    return np.asarray(U * lengths)


def test_mardias_measures_equal_sums_over_pairs():
    Z = scores(40, [3.0, 2.0, 1.0], 0)
    inner = Z @ np.linalg.inv(Z.T @ Z / len(Z)) @ Z.T
    assert skewness(Z) == pytest.approx((inner**3).mean())
    assert kurtosis(Z)[-1] == pytest.approx((np.diag(inner) ** 2).mean())
    assert kurtosis(Z)[0] == pytest.approx((Z[:, 0] ** 4).mean() / (Z[:, 0] ** 2).mean() ** 2)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "cloud"), [("flat", flat), ("skewed", skewed)])
def test_clouds_of_a_kind_are_seldom_unlike_it(kind, cloud):
    base = scores(120, [2.0, 1.0, 1.0], 3)
    rng = np.random.default_rng(4)
    values = [p_value_of_shape(cloud(base, rng), kind, 2, rng) for _ in range(60)]
    # At most 5 %, and two standard errors.
    assert np.mean(np.array(values) <= 0.05) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 60)


def test_a_gaussian_is_neither_flat_nor_skewed():
    base = scores(150, [2.0, 1.0, 1.0, 1.0], 5)
    rng = np.random.default_rng(6)
    clouds = [rotation(base, rng) for _ in range(20)]
    assert sum(p_value_of_shape(cloud, "flat", 2, rng) <= 0.05 for cloud in clouds) >= 19
    assert sum(p_value_of_shape(cloud, "skewed", 2, rng) <= 0.05 for cloud in clouds) >= 19


def test_points_that_are_flat_in_two_directions_only_are_flat():
    rng = np.random.default_rng(7)
    X = np.column_stack([6.0 * rng.random((200, 2)), rng.normal(size=(200, 8))])
    X -= X.mean(axis=0)
    U, lengths, _ = np.linalg.svd(X, full_matrices=False)
    Z = U * lengths
    assert p_value_of_shape(Z, "flat", 2, rng) > 0.05
    assert p_value_of_shape(Z[:, 2:], "flat", 2, rng) <= 0.05


@pytest.mark.long
def test_components_of_no_length_and_of_any_number():
    rng = np.random.default_rng(8)
    Z = np.column_stack([scores(30, [1.0, 1.0], 9), np.zeros(30)])
    assert 0 < p_value_of_shape(Z, "flat", 1, rng) <= 1
    wide = scores(30, [1.0] * 29, 10)
    assert 0 < p_value_of_shape(wide, "skewed", 40, rng) <= 1
