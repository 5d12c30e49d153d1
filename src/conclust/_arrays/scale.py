"""Points on a scale where squares of differences neither overflow nor vanish."""

from __future__ import annotations

import math

import numpy as np

from conclust._types import Floats
from conclust.exceptions import InputError

_SMALL, _LARGE = 1e-70, 1e70  # fourth powers must neither overflow nor vanish
_LARGEST = 1e300


def moderate(points: Floats) -> tuple[Floats, float]:
    """Return points scaled so that squares of their squares neither overflow nor vanish, and the power of two that divides them.

    Points of ordinary size are returned as they are, with 1. The division changes no digit.

    Raises
    ------
    InputError
        If a number is beyond 1e300, where sums of points overflow.
    """
    largest = (
        float(np.nanmax(np.abs(points))) if points.size and not np.isnan(points).all() else 0.0
    )
    if largest > _LARGEST:
        raise InputError(
            f"X must hold numbers up to {_LARGEST:g} in absolute value. Got {largest:g}: divide the columns by "
            "a common unit."
        )
    if largest == 0 or _SMALL <= largest <= _LARGE:
        return points, 1.0
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1)
    return points / unit, unit
