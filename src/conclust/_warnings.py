"""Warnings that point at the user's line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]

# Modules that are not the user's: those of conclust, and those of scikit-learn that call it (fit_predict, pipelines).
_INSIDE = ("conclust", "sklearn")


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the innermost line outside of the library."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _inside(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _inside(module: str) -> bool:
    return module.split(".", 1)[0] in _INSIDE
