"""Reciprocals of degrees, sizes and weights, of which some are 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats


def inverse_or_zero(values: NDArray[Any]) -> Floats:
    """Return 1 / x for positive x, and 0 for others."""
    inverse: Floats = np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0)
    return inverse
