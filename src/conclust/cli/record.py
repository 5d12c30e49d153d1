"""The record of how a result was made: seconds, warnings, versions, parameters."""

from __future__ import annotations

import argparse
import os
import shlex
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from conclust._types import Ints
from conclust.cli.console import words
from conclust.metrics import adjusted_rand_index, consistency_index
from conclust.results.record import Record


def record_of(arguments: argparse.Namespace, **known: Any) -> Record:
    """Return the record of a run that has read its input: its command line, and what else is known."""
    typed = words(arguments)
    call = shlex.join(["conclust", *typed])
    return Record(command=arguments.command, arguments=typed, call=call, **known)


def given(**settings: Any) -> dict[str, Any]:
    """Return the settings that have a value."""
    return {name: value for name, value in settings.items() if value is not None}


def parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator, paths as text."""
    values = estimator.get_params(deep=False)
    return {k: os.fspath(v) if isinstance(v, os.PathLike) else v for k, v in values.items()}


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


@contextmanager
def recorded_warnings() -> Iterator[list[str]]:
    """Show warnings as before, and keep their sentences for result.json."""
    messages: list[str] = []
    before = warnings.showwarning

    def show(message: Any, *rest: Any, **more: Any) -> None:
        messages.append(str(message))
        before(message, *rest, **more)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield messages


def score(classes: Sequence[Any] | None, labels: Ints) -> dict[str, float] | None:
    """Return H and ARI against known classes; an empty class is unknown.

    None if no object has both a known class and a label.
    """
    if classes is None:
        return None
    known_classes = np.array([*(text or None for text in classes), None], dtype=object)[:-1]
    if not any(text is not None and k != -1 for text, k in zip(known_classes, labels, strict=True)):
        return None
    return {
        "consistency_index": consistency_index(known_classes, labels),
        "adjusted_rand_index": adjusted_rand_index(known_classes, labels),
    }


def sizes_of(labels: Ints, n_clusters: int) -> Ints:
    """Return the number of objects in each cluster."""
    return np.bincount(labels[labels >= 0], minlength=n_clusters)
