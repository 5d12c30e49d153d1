"""Ratios with degrees, sizes and weights, of which some are 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats


def inverse_or_zero(values: NDArray[Any]) -> Floats:
    """Return 1 / x for positive x, and 0 for others."""
    inverse: Floats = np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0)
    return inverse


def ratio(numerator: NDArray[Any], denominator: NDArray[Any], otherwise: float = 0.0) -> Floats:
    """Return the ratio where the denominator is positive, and `otherwise` elsewhere, in the shape of the numerator."""
    ratios = np.full_like(numerator, otherwise, dtype=np.float64)
    np.divide(numerator, denominator, out=ratios, where=denominator > 0)
    return ratios


def shares_of_rows(table: Floats) -> Floats:
    """Return rows scaled to sum to 1; uniform for rows of zeros."""
    return ratio(table, table.sum(axis=1, keepdims=True), 1.0 / table.shape[1])
