"""Converts options shared by several commands to arguments of the library."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from conclust._threads import thread_count
from conclust.generation.scaling import Scale

__all__ = ["jobs", "scale", "scaling"]


def jobs(arguments: argparse.Namespace) -> int:
    """Return the number of processors to use: the number given, or all that this process may use."""
    return thread_count(None) if arguments.jobs is None else int(arguments.jobs)


def scale(arguments: argparse.Namespace) -> Scale:
    """Return the scale given; None: columns stay as they are."""
    scale_option: Scale = None if arguments.scale == "none" else arguments.scale
    return scale_option


def scaling(reason: str, names: Sequence[str]) -> str:
    """Name the columns in a sentence that says how they were scaled."""
    return re.sub(
        r"column (\d+) \(from 0\)", lambda found: f"column {names[int(found[1])]!r}", reason
    )
