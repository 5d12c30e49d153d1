"""Shapes of any number of points, against their formulas."""

from __future__ import annotations

import numpy as np
import pytest

from conclust import datasets
from conclust.exceptions import ParameterError

SHAPES = {"two_bananas": 2, "smiling_face": 4, "circles_and_gaussians": 11}


@pytest.mark.parametrize(("name", "k"), SHAPES.items())
@pytest.mark.parametrize("n", [15, 1001, 50_000])
def test_the_number_of_points_is_the_requested_one(name, k, n):
    actual = getattr(datasets, name)(n, random_state=0)
    assert actual.X.shape == (n, 2)
    sizes = np.bincount(actual.y)
    assert len(sizes) == k
    assert (sizes > 0).all()
    assert (np.diff(actual.y) >= 0).all()


def test_bananas_are_arcs_of_225_degrees_of_unit_circles():
    actual = datasets.two_bananas(20_000, noise=0, random_state=0)
    for k, (shift, start) in enumerate([(0.0, 0.125), (-0.75, -0.875)]):
        x, y = (actual.X[actual.y == k] - shift).T
        np.testing.assert_allclose(np.hypot(x, y), 1)
        turned = (np.arctan2(x, y) / np.pi - start) % 2  # of the direction of y
        assert turned.max() <= 1.25 + 1e-9
        np.testing.assert_allclose(np.quantile(turned, [0, 0.5, 1]), [0, 0.625, 1.25], atol=0.02)
    noisy = datasets.two_bananas(20_000, noise=0.3, random_state=0).X - actual.X
    assert noisy.std() == pytest.approx(0.3, rel=0.6)


def test_the_parts_of_a_face_are_in_place():
    actual = datasets.smiling_face(40_000, random_state=0)
    outline, mouth, left, right = (actual.X[actual.y == k] for k in range(4))
    for part, radius in ((outline, 1.0), (mouth, 0.6)):
        distance = np.hypot(*part.T)
        assert distance.mean() == pytest.approx(radius, abs=0.005)
        assert distance.std() == pytest.approx(0.08, rel=0.05)
    np.testing.assert_allclose(outline.mean(axis=0), 0, atol=0.02)
    assert (mouth[:, 1] < 0).all()
    np.testing.assert_allclose(left.mean(axis=0), [-0.35, 0.35], atol=0.01)
    np.testing.assert_allclose(right.mean(axis=0), [0.35, 0.35], atol=0.01)
    np.testing.assert_allclose(right.std(axis=0), 0.08, rtol=0.05)


def test_circles_stand_around_gaussians():
    actual = datasets.circles_and_gaussians(60_000, noise=0.1, random_state=0)
    for k in range(4):
        circle, inside = actual.X[actual.y == k], actual.X[actual.y == 4 + k]
        np.testing.assert_allclose(circle.mean(axis=0), inside.mean(axis=0), atol=0.05)
        distance = np.hypot(*(circle - np.round(circle.mean(axis=0))).T)
        assert distance.mean() == pytest.approx(1, abs=0.01)
        assert distance.std() == pytest.approx(0.1, rel=0.05)
        np.testing.assert_allclose(inside.std(axis=0), 0.3, rtol=0.05)
    row = [actual.X[actual.y == 8 + k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(row, [[-1.2, 0], [0, 0], [1.2, 0]], atol=0.03)


@pytest.mark.parametrize("name", SHAPES)
def test_too_few_points_and_invalid_noise_are_refused(name):
    make = getattr(datasets, name)
    with pytest.raises(ParameterError, match=rf"'n_samples' parameter of {name} must be an int"):
        make(1)
    with pytest.raises(ParameterError, match=rf"'noise' parameter of {name} .*Got -1"):
        make(100, noise=-1)
