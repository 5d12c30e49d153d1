"""Options of several commands as the library takes them."""

from __future__ import annotations

import argparse

from conclust._threads import thread_count
from conclust.generation.scaling import Scale

__all__ = ["jobs", "scale", "scaling"]

_SCALES = {
    "minmax": "columns scaled to [0, 1] (--scale minmax)",
    "standard": "columns scaled to mean 0 and deviation 1 (--scale standard)",
    "none": "columns not scaled (--scale none)",
}


def jobs(arguments: argparse.Namespace) -> int:
    """Return how many processors to use: those asked for, else all that this process may use."""
    return thread_count(None) if arguments.jobs is None else int(arguments.jobs)


def scale(arguments: argparse.Namespace) -> Scale:
    """Return how columns are scaled; None: they are not."""
    found: Scale = None if arguments.scale == "none" else arguments.scale
    return found


def scaling(arguments: argparse.Namespace) -> str:
    """Say how columns are scaled."""
    return _SCALES[arguments.scale]
