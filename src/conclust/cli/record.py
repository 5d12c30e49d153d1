"""The record of how a result was made: seconds, warnings, versions, parameters."""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

from conclust._files.versions import versions
from conclust.cli.console import plain

__all__ = [
    "Clock",
    "parameters",
    "recorded_warnings",
    "versions",
    "words",
]


def words(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the command line, as it was typed."""
    return tuple(plain(word) for word in getattr(arguments, "words", ()))


def parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator."""
    return dict(estimator.get_params(deep=False))


class Clock:
    """Times each step."""

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
        messages: list[str] = []

        def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            messages.append(str(message))
            self._show(message, category, *rest, **more)

        warnings.showwarning = show
        return messages

    def __exit__(self, *_: object) -> None:
        warnings.showwarning = self._show
