"""The choice of the number of clusters in result.json: written and read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from conclust.selection import Selection

__all__ = ["numbers_of", "selection_record"]

_STEPS = 2000  # maximum number of steps of a distribution function: more than any picture shows


def selection_record(found: Selection) -> dict[str, Any]:
    """Return a selection for result.json: all but labels and resamples."""
    return {
        "clusters": found.n_clusters,
        "p_value": _number(found.p_value),
        "references": found.n_references,
        "borders_tested": found.n_borders,
        "borders_held": found.n_held,
        "p_value_clouds": _number(found.p_value_clouds),
        "reason": found.reason,
        "doubts": list(found.doubts),
        "alternatives": list(found.alternatives),
        "k": found.k,
        "criteria": {name: numbers_of(column) for name, column in found.table.items()},
        "null": [numbers_of(row) for row in found.null],
        "distribution": {str(k): _steps(*found.cdf(int(k))) for k in found.k},
        "settings": found.settings,
    }


def _steps(
    values: NDArray[np.float64], heights: NDArray[np.float64]
) -> dict[str, list[float | None]]:
    """Return a distribution function; of very many steps some, the last among them."""
    n = len(values)
    kept = np.arange(n) if n <= _STEPS else np.linspace(0, n - 1, _STEPS).round().astype(int)
    return {"share": numbers_of(values[kept]), "pairs_up_to": numbers_of(heights[kept])}


def numbers_of(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers as JSON has them: None for NaN and infinity."""
    return [_number(value) for value in values]


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
