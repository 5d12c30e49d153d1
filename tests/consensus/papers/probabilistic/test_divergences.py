"""The built-in divergences against their definitions, and invalid custom divergences."""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive import pairs_objective as naive

from conclust import PCC
from conclust.divergences import Divergence, i, kl, l2, mahalanobis, power
from conclust.exceptions import ParameterError

P, Q = (part.ravel() for part in np.meshgrid(np.linspace(0, 1, 11), np.linspace(0.01, 0.99, 25)))
KNOWN = {
    "kl": (kl, naive.kl),
    "l2": (l2, naive.l2),
    "power": (power(1.4), naive.power(1.4)),
    "mahalanobis": (mahalanobis([[2, 0.5], [0.5, 1]]), lambda p, q: 2 * (p - q) ** 2),
}


@pytest.mark.parametrize("name", KNOWN)
def test_values_and_derivatives_match_their_definition(name):
    divergence, definition = KNOWN[name]
    expected = [definition(p, q) for p, q in zip(P, Q, strict=True)]
    np.testing.assert_allclose(divergence.value(P, Q), expected, atol=1e-12)
    step = 1e-6
    actual = (divergence.value(P, Q + step) - divergence.value(P, Q - step)) / (2 * step)
    np.testing.assert_allclose(divergence.derivative(P, Q), actual, rtol=1e-5, atol=1e-6)
    actual = (divergence.derivative(P, Q + step) - divergence.derivative(P, Q - step)) / (2 * step)
    np.testing.assert_allclose(divergence.curvature(P, Q), actual, rtol=1e-5, atol=1e-5)


def test_the_family_is_continuous_at_its_limits():
    np.testing.assert_allclose(power(2).value(P, Q), l2.value(P, Q), atol=1e-14)
    np.testing.assert_allclose(power(1.00001).value(P, Q), kl.value(P, Q), atol=1e-3)
    np.testing.assert_array_equal(i.value(P, Q), kl.value(P, Q))


@pytest.mark.parametrize(
    ("value", "derivative", "curvature", "message"),
    [
        (lambda p, q: p - q, lambda p, q: 0 * q - 1, None, "at least 0. At p="),
        (lambda p, q: (p - q) ** 2 + 1, lambda p, q: 2 * (q - p), None, "be 0 where q = p"),
        (lambda p, q: (p - q) ** 2, lambda p, q: q - p, None, "agree with differences"),
        (
            lambda p, q: 1 - np.exp(-9 * (p - q) ** 2),
            lambda p, q: 18 * (q - p) * np.exp(-9 * (p - q) ** 2),
            None,
            "convex in q",
        ),
        (lambda p, q: (p - q) ** 2, lambda p, q: 2 * (q - p), lambda p, q: q, "curvature"),
        (lambda p, q: 0.0, lambda p, q: 2 * (q - p), None, "array of"),
        (lambda p, q: q * np.nan, lambda p, q: 2 * (q - p), None, "finite"),
        (3, lambda p, q: 2 * (q - p), None, "function of two arrays"),
    ],
)
def test_invalid_divergences_are_refused(value, derivative, curvature, message):
    with pytest.raises(ParameterError, match=message):
        Divergence(value, derivative, curvature)


@pytest.mark.parametrize("A", [[[1, 0], [1, 1]], [[1, 1], [1, 1]], [1, 2], [[np.nan, 0], [0, 1]]])
def test_matrices_that_define_no_distance_are_refused(A):
    with pytest.raises(ParameterError, match="'A'"):
        mahalanobis(A)


@pytest.mark.parametrize("a", [1.0, 2.5, "x"])
def test_powers_out_of_range_are_refused(a):
    with pytest.raises(ParameterError, match="'a'"):
        power(a)


@pytest.mark.parametrize("solver", ["pairwise", "greedy"])
def test_a_custom_divergence_may_keep_its_arguments(solver):
    kept = []

    def derivative(p, q):
        kept.append((p, p.copy(), q, q.copy()))
        return 2 * (q - p)

    custom = Divergence(lambda p, q: (p - q) ** 2, derivative)
    labels = np.random.default_rng(0).integers(0, 3, (40, 6))
    PCC(3, divergence=custom, solver=solver, n_init=1, random_state=0).fit(labels)
    assert all(p.flags.owndata and q.flags.owndata for p, _, q, _ in kept)
    for p, p_then, q, q_then in kept:
        np.testing.assert_array_equal(p, p_then)
        np.testing.assert_array_equal(q, q_then)
