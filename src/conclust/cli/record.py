"""The record of how a result was made: seconds, warnings, versions, parameters."""

from __future__ import annotations

import argparse
import math
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conclust._versions import versions
from conclust.cli.talk import plain

if TYPE_CHECKING:
    from conclust.selection import Selection

__all__ = [
    "Clock",
    "call_record",
    "numbers_of",
    "parameters",
    "recorded_warnings",
    "selection_record",
    "versions",
]

_STEPS = 2000  # of a distribution function: more than any picture shows


def call_record(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return which command was given, as it was typed."""
    return {
        "command": arguments.command,
        "arguments": [plain(word) for word in getattr(arguments, "words", ())],
    }


def selection_record(found: Selection) -> dict[str, Any]:
    """Return a selection for result.json: all but labels and resamples."""
    return {
        "clusters": found.n_clusters,
        "p_value": _number(found.p_value),
        "references": found.n_references,
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


def parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator."""
    return dict(estimator.get_params(deep=False))


class Clock:
    """Seconds of each step."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """End the step `name`."""
        now = time.perf_counter()
        self._laps[name] = round(now - self._last, 3)
        self._last = now

    def seconds(self) -> dict[str, float]:
        """Return the seconds of all steps, and in all."""
        return {**self._laps, "total": round(time.perf_counter() - self._start, 3)}


class recorded_warnings:  # noqa: N801  (used as a function)
    """Show warnings as before, and keep their sentences for result.json."""

    def __enter__(self) -> list[str]:
        self._show = warnings.showwarning
        told: list[str] = []

        def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            told.append(str(message))
            self._show(message, category, *rest, **more)

        warnings.showwarning = show
        return told

    def __exit__(self, *_: object) -> None:
        warnings.showwarning = self._show
