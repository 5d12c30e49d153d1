"""Warnings that point at the user's line, however deep conclust was when it noticed."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_caller"]

_OURS = frozenset({"conclust", "sklearn"})


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line that is neither conclust's nor scikit-learn's."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in _OURS:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
