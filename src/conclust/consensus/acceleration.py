"""Acceleration of slow monotone iterations: leaps ahead, undone if they raise the loss.

The differences of two plain steps show where further steps would lead; the leap goes there at once: the squared
extrapolation of Varadhan and Roland, Scandinavian Journal of Statistics 35, 2008 (equation 11, its third choice of the
length).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conclust._kernels import bend_rows, largest_change, leap_rows
from conclust._progress import rounds
from conclust._types import Floats

# Minimum share of every entry, after two plain steps, that a leap keeps.
_LEFT = 0.01
# After an undone leap the next leaps are shorter; they grow again while they succeed.
_SHORTER = 0.25
_LONGER = 2.0


@dataclass(frozen=True)
class Path:
    """Final point of an iteration, its losses, and whether it converged."""

    point: Floats
    trace: list[float]
    converged: bool


def follow(
    step: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    done: Callable[[float, float, float], bool],
    max_iter: int,
    *,
    accelerate: bool = True,
) -> Path:
    """Iterate from `start` until `done`, at most `max_iter` steps and leaps.

    Parameters
    ----------
    step : callable
        From a point, of entries that are not negative, its loss and the next point: of the same sums
        of rows, and of a loss that is not higher.
    start : ndarray of shape (n, k)
        The first point.
    done : callable
        From the loss before and after a plain step, and the largest change of an entry, whether to stop.
    max_iter : int
        Maximum number of steps and leaps.
    accelerate : bool, default=True
        Whether to leap after two plain steps.

    Returns
    -------
    Path
        Its trace holds the loss of the start and after each step and leap; it never rises.
    """
    point, (loss, after) = start, step(start)
    trace, converged, longest = [loss], False, np.inf
    while not converged and len(trace) <= max_iter:
        rounds("iterations", len(trace) - 1, max_iter)
        next_loss, beyond = step(after)
        converged = done(
            loss, next_loss, largest_change(*map(np.ascontiguousarray, (after, point)))
        )
        trace.append(next_loss)
        if not accelerate or converged or len(trace) > max_iter:
            point, loss, after = after, next_loss, beyond
            continue
        point, length = leap(point, after, beyond, longest)
        loss, after = step(point)
        if loss <= next_loss:
            longest = max(longest, _LONGER * length)
        else:
            longest = max(1.0, _SHORTER * length)
            point, (loss, after) = beyond, step(beyond)
        trace.append(loss)
    return Path(point, trace, converged)


def leap(
    first: Floats,
    second: Floats,
    third: Floats,
    longest: float = np.inf,
    least: float = 1.0,
) -> tuple[Floats, float]:
    """Extrapolate three successive points to their limit; return it with its distance in steps.

    The rows have the sums of the rows of the third point. The number of steps is at most `longest` and at least
    `least`; one step leads to the third point.
    """
    first, second, third = map(np.ascontiguousarray, (first, second, third))
    change, bend = np.empty_like(first), np.empty_like(first)
    bend_rows(first, second, third, change, bend)
    curved = float(np.vdot(bend, bend))
    length = float(np.sqrt(np.vdot(change, change) / curved)) if curved > 0.0 else 1.0
    length = min(max(length, least), longest)
    ahead = np.empty_like(first)
    leap_rows(first, change, bend, third, 2.0 * length, length**2, _LEFT, ahead)
    return ahead, length
