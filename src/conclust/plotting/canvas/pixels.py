"""Values of many objects, averaged to pixels."""

from __future__ import annotations

import numpy as np

from conclust._arrays.ratios import ratio
from conclust._types import Floats
from conclust.ensemble.labels import over_partitions


def averaged(values: Floats, rows: int, columns: int) -> Floats:
    """Average blocks of neighbours to at most (rows, columns) pixels, leaving out NaN."""
    finite = ~np.isnan(values)
    summed, weight = np.where(finite, values, 0.0), finite.astype(np.float64)
    for axis, most in enumerate((rows, columns)):
        n = values.shape[axis]
        if n > most:
            edges = np.arange(most + 1) * n // most
            summed = over_partitions(summed, edges, axis=axis)
            weight = over_partitions(weight, edges, axis=axis)
    return ratio(summed, weight, np.nan)
