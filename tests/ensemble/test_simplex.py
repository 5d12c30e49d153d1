"""The projection on the simplex against all supports, SciPy and its optimality conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.naive.weighted import project

from conclust._arrays.simplex import project_simplex
from conclust._kernels import largest_of_rows, lower_rows, share_rows
from conclust.exceptions import InputError

values = st.lists(st.integers(-40, 40), min_size=1, max_size=7)


@settings(derandomize=True, max_examples=80, deadline=None)
@given(values)
def test_the_projection_is_the_nearest_point_over_all_supports(numbers):
    v = np.array(numbers) / 16
    np.testing.assert_allclose(project_simplex(v), project(v), atol=1e-12)


def test_rows_are_projected_one_by_one():
    V = np.random.default_rng(0).normal(size=(50, 6))
    X = project_simplex(V)
    assert X.shape == V.shape
    np.testing.assert_allclose(X.sum(axis=1), 1, atol=1e-15)
    for v, x in zip(V, X, strict=True):
        np.testing.assert_array_equal(project_simplex(v), x)


@pytest.mark.parametrize("k", [1, 3, 7, 8, 13, 16, 130, 300])
def test_shares_of_weights_match_numpy(k):
    rng = np.random.default_rng(k)
    logs, add = 9 * rng.normal(size=(11, k)), rng.normal(size=k)
    expected = logs + add
    most = expected.max(axis=1)
    expected = np.exp(expected - most[:, np.newaxis])
    totals = expected.sum(axis=1)
    rows, top, sums = logs.copy(), np.empty(11), np.empty(11)
    lower_rows(rows, add, top)
    np.exp(rows, out=rows)
    share_rows(rows, sums)
    np.testing.assert_array_equal(top, most)
    np.testing.assert_allclose(sums, totals, rtol=1e-15 if k <= 128 else 1e-13)
    np.testing.assert_allclose(
        rows, expected / totals[:, np.newaxis], rtol=1e-15 if k <= 128 else 1e-13
    )


def test_weighted_projections_match_a_solver():
    rng = np.random.default_rng(2)
    for _ in range(10):
        v, prices = rng.normal(size=5), rng.uniform(0.2, 3, 5)
        x = project_simplex(v, prices)
        actual = minimize(
            lambda z: np.sum(z**2 / (2 * prices)) - z @ v,  # noqa: B023
            np.full(5, 0.2),
            jac=lambda z: z / prices - v,  # noqa: B023
            bounds=[(0, None)] * 5,
            constraints={"type": "eq", "fun": lambda z: z.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(x, actual.x, atol=1e-5)


def test_points_far_from_the_simplex_are_projected():
    np.testing.assert_array_equal(project_simplex([1e300, -1e300, 0]), [1, 0, 0])
    np.testing.assert_array_equal(project_simplex([0.0, -np.inf]), [1, 0])
    np.testing.assert_allclose(project_simplex([1e15, 1e15, -1e15]), [0.5, 0.5, 0])
    np.testing.assert_array_equal(project_simplex([5.0]), [1.0])


@pytest.mark.parametrize(
    ("V", "scale", "sentence"),
    [
        ([np.nan, 0.0], None, "largest value nan"),
        ([np.inf, 0.0], None, "largest value inf"),
        ([-np.inf], None, "largest value -inf"),
        ([[], []], None, r"shape \(2, 0\)"),
        (1.0, None, r"shape \(\)"),
        ([0.0, 1.0], [1.0], "2 positive numbers"),
        ([0.0, 1.0], [1.0, 0.0], "2 positive numbers"),
    ],
)
def test_invalid_rows_are_refused(V, scale, sentence):
    with pytest.raises(InputError, match=sentence):
        project_simplex(V, scale)


def test_values_that_differ_by_rounding_are_projected():
    rng = np.random.default_rng(3)
    V = rng.integers(-3, 4, (20_000, 5)) / 3 + rng.integers(-3, 4, (20_000, 5)) * 1e-16
    X = project_simplex(V)
    np.testing.assert_allclose(X.sum(axis=1), 1, atol=1e-15)
    for i in range(0, len(V), 1000):
        np.testing.assert_allclose(X[i], project(V[i]), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 200])
@pytest.mark.parametrize("k", [1, 2, 3, 8])
@pytest.mark.parametrize("tied", [False, True])
def test_largest_entries_match_numpy_and_ties_are_marked(n, k, tied):
    rng = np.random.default_rng(10 * n + k)
    Y = rng.integers(0, 3, (n, k)).astype(float) if tied else rng.random((n, k))
    wide = np.full((n, k + 3), 9.0)
    wide[:, 1 : k + 1] = Y
    expected = Y.argmax(axis=1)
    for view in (Y, np.asfortranarray(Y), wide[:, 1 : k + 1]):
        labels, first = np.empty(n, dtype=np.int64), np.empty(k, dtype=np.int64)
        several = largest_of_rows(view, labels, first)
        np.testing.assert_array_equal(labels, expected)
        np.testing.assert_array_equal(
            first, [np.flatnonzero(expected == c)[0] if c in expected else n for c in range(k)]
        )
        assert several == ((Y.max(axis=1, keepdims=True) == Y).sum(axis=1) > 1).any()
