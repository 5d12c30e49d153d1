"""Leaps: exact if steps shrink by a constant factor, never uphill, never outside of the simplex."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from conclust.consensus.acceleration import follow, leap

END = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
AWAY = np.array([[0.1, -0.2, 0.1], [-0.1, 0.1, 0.0]])


def approaching(rates):
    """A step that brings each row nearer to END by its rate, and the loss: the squared distance."""
    rates = np.array(rates)[:, None]

    def step(Y):
        return float(((Y - END) ** 2).sum()), END + rates * (Y - END)

    return step


def falls_below(limit):
    return lambda _before, after, _moved: after <= limit


def test_a_leap_reaches_the_limit_of_geometric_convergence():
    points = [END + 0.9**t * AWAY for t in range(3)]
    ahead, length = leap(*points)
    np.testing.assert_allclose(ahead, END, atol=1e-12)
    assert length == pytest.approx(10)  # 1 / (1 - 0.9)


def test_a_leap_of_one_step_gives_the_third_point():
    points = [END + np.array([[0.9], [0.8]]) ** t * AWAY for t in range(3)]
    ahead, length = leap(*points, longest=1.0)
    np.testing.assert_allclose(ahead, points[2], atol=1e-15)
    assert length == 1.0
    still, length = leap(END, END, END)
    np.testing.assert_array_equal(still, END)
    assert length == 1.0


def test_a_leap_stays_on_the_simplex():
    rng = np.random.default_rng(0)
    for _ in range(50):
        points = [rng.dirichlet(np.full(4, 0.3), 6) * np.arange(6)[:, None] for _ in range(3)]
        ahead, _ = leap(*points)
        assert (ahead >= 0).all()
        np.testing.assert_allclose(ahead.sum(axis=1), np.arange(6), atol=1e-12)
        assert (ahead[points[2] > 0] > 0).all()


def test_leaps_save_steps_and_never_raise_the_objective():
    rates, start = (0.99, 0.6), END + AWAY
    slow = follow(approaching(rates), start, falls_below(1e-12), 5000, accelerate=False)
    fast = follow(approaching(rates), start, falls_below(1e-12), 5000)
    assert slow.converged
    assert fast.converged
    assert 10 * len(fast.trace) < len(slow.trace)
    for path in (slow, fast):
        assert (np.diff(path.trace) <= 0).all()
        np.testing.assert_allclose(path.point, END, atol=1e-5)
        assert path.trace[-1] == approaching(rates)(path.point)[0]


def test_a_leap_that_raises_the_objective_is_reverted():
    # All points except those of plain steps are bad, so only plain steps remain.
    plain = [END + 0.5**t * AWAY for t in range(30)]
    losses = {point.tobytes(): 1.0 / (t + 1) for t, point in enumerate(plain)}
    after = {a.tobytes(): b for a, b in pairwise(plain)}

    seen = []

    def step(Y):
        seen.append(losses.get(Y.tobytes(), np.inf))
        return seen[-1], after.get(Y.tobytes(), Y)

    path = follow(step, plain[0], falls_below(0.0), 12)
    assert not path.converged
    assert path.trace == [1.0 / (t + 1) for t in range(13)]
    np.testing.assert_array_equal(path.point, plain[12])
    assert np.inf in seen


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("max_iter", [1, 2, 3, 4])
def test_steps_and_leaps_are_counted(accelerate, max_iter):
    path = follow(
        approaching((0.9, 0.8)), END + AWAY, falls_below(0.0), max_iter, accelerate=accelerate
    )
    assert len(path.trace) == max_iter + 1
    assert not path.converged
    assert path.trace[-1] == approaching((0.9, 0.8))(path.point)[0]
