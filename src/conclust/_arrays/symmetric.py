"""Square matrices changed in place, by blocks: a copy of a matrix of all pairs would be most of the memory."""

from __future__ import annotations

from collections.abc import Iterator

from conclust._types import Floats

_ROWS = 256


def symmetrise(X: Floats) -> None:
    """Overwrite X with (X + X') / 2."""
    for upper, lower in _mirrored(X):
        upper += lower.T
        upper *= 0.5
        lower[...] = upper.T


def transpose(X: Floats) -> None:
    """Overwrite X with X'."""
    for upper, lower in _mirrored(X):
        before = upper.copy()
        upper[...] = lower.T
        lower[...] = before.T


def _mirrored(X: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Return the blocks on and above the diagonal, and their mirror images."""
    for i in range(0, len(X), _ROWS):
        for j in range(i, len(X), _ROWS):
            yield X[i : i + _ROWS, j : j + _ROWS], X[j : j + _ROWS, i : i + _ROWS]
