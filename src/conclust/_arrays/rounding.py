"""Spreads columns of rounded values over the intervals that they were rounded from."""

from __future__ import annotations

from math import isqrt

import numpy as np

from conclust._types import Floats


def spread_rounded_columns(X: Floats, rng: np.random.Generator) -> Floats:
    """Add uniform noise of the width of the grid to columns with few distinct values.

    A column of whole numbers from 1 to 10 has gaps between its values that are not valleys between clusters.
    A column is taken as rounded if it has at most sqrt(n) distinct values; its grid is the smallest difference
    of two of them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points.
    rng : Generator
        Draws the noise.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        X itself if no column is rounded, otherwise a copy.
    """
    n = len(X)
    result = X
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        if 1 < len(values) <= max(2, isqrt(n)):
            if result is X:
                result = X.copy()
            result[:, j] += rng.uniform(-0.5, 0.5, n) * np.diff(values).min()
    return result
