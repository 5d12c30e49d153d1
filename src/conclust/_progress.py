"""Progress of long work: plain lines on standard error, never on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from conclust._validation import refuse

__all__ = ["reporter"]


def reporter(verbose: Any, owner: str) -> Callable[[str], None]:
    """Return a function that writes a line per message if `verbose` is above 0."""
    if not isinstance(verbose, int) or verbose < 0:
        refuse("verbose", owner, "a bool or an int in the range [0, inf)", verbose)
    if not verbose:
        return lambda message: None

    def report(message: str) -> None:
        print(f"[{owner}] {message}", file=sys.stderr, flush=True)  # noqa: T201

    return report
