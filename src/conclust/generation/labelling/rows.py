"""Points read in blocks of rows, never as a whole: on disk, in chunks, or in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._types import Floats, Ints
from conclust.exceptions import InputError
from conclust.generation.points import checked_points

_BLOCK_BYTES = 32 << 20  # size in bytes of a block in double precision
_MOST_ROWS = 1 << 16
_SPOTS = 16  # number of positions at which some rows are read
_SPOT = 4096
_HELD = 512 << 20  # total size in bytes of the samples in memory


def is_in_blocks(X: Any) -> bool:
    """Return whether X is a matrix of numbers whose rows can be read without the rest.

    So are NumPy's arrays, in memory or memory-mapped, and what has their ``shape``, ``dtype`` and slices of rows:
    Zarr arrays, HDF5 data sets, Dask arrays. Data frames, lists and sparse matrices are not.
    """
    if isinstance(X, np.ndarray):
        plain = type(X) in (np.ndarray, np.memmap) and X.dtype.kind in "fiu"
        return plain and X.ndim == 2 and len(X) > 0
    if sp.issparse(X) or isinstance(X, type) or not hasattr(X, "__getitem__"):
        return False
    try:
        kind = np.dtype(X.dtype).kind
        return len(X.shape) == 2 and X.shape[0] != 0 and kind in "fiu"
    except (AttributeError, TypeError):
        return False


def comes_in_chunks(X: Any) -> bool:
    """Return whether X is a Dask array or behaves like one: functions are applied to its chunks lazily."""
    return is_in_blocks(X) and hasattr(X, "map_blocks") and hasattr(X, "rechunk")


def as_whole(X: Any) -> Any:
    """Load X into memory if it is read in blocks."""
    lies_elsewhere = is_in_blocks(X) and not isinstance(X, np.ndarray)
    return np.asarray(X[0 : X.shape[0]]) if lies_elsewhere else X


class Rows:
    """Blocks of rows of a matrix, as C-ordered and finite float64.

    Where blocks begin depends on the shape only.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        See `is_in_blocks`.
    owner : str
        Name of the estimator, for messages.
    """

    def __init__(self, X: Any, owner: str) -> None:
        self._owner = owner
        self._X = X
        shape = tuple(X.shape)
        if not all(isinstance(size, int | np.integer) for size in shape):  # NaN: unknown to Dask
            raise InputError(
                f"{owner} must know how many objects there are. Got a Dask array of shape {shape}: "
                "X.compute_chunk_sizes() finds out."
            )
        self.n, self.d = int(shape[0]), int(shape[1])
        self.step = max(1024, min(_MOST_ROWS, _BLOCK_BYTES // (8 * max(1, self.d)) // 1024 * 1024))

    @property
    def shape(self) -> tuple[int, int]:
        """Objects and features."""
        return self.n, self.d

    def block(self, start: int, stop: int) -> Floats:
        """Read some rows."""
        return self._checked(self._X[start:stop])

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield all rows block by block, with the first row of each block."""
        for start in range(0, self.n, self.step):
            yield start, self.block(start, min(self.n, start + self.step))

    def some(self) -> Floats:
        """Read a few spread rows, or all of a small matrix."""
        if self.n <= _SPOTS * _SPOT:
            return self.block(0, self.n)
        starts = np.linspace(0, self.n - _SPOT, _SPOTS).astype(np.int64).tolist()
        return np.concatenate([self.block(start, start + _SPOT) for start in starts])

    def samples(
        self, draw: Callable[[int], Ints], count: int, largest: int, together: int
    ) -> Iterator[list[tuple[int, Floats]]]:
        """Read the rows of samples, some samples at a time, with their numbers.

        Parameters
        ----------
        draw : callable
            Returns the rows of the sample of a number, in rising order.
        count : int
            Number of samples.
        largest : int
            Rows of the largest.
        together : int
            Number wanted at a time.
        """
        if isinstance(self._X, np.ndarray):
            for first in range(0, count, together):
                chosen = range(first, min(count, first + together))
                yield [(s, self._checked(self._X[draw(s)])) for s in chosen]
            return
        # Scattered rows would read every chunk for each sample, so one pass serves as many samples as fit into memory.
        together = max(together, _HELD // (8 * self.d * largest))
        for first in range(0, count, together):
            yield self._in_one_pass(
                {s: draw(s) for s in range(first, min(count, first + together))}
            )

    def _in_one_pass(self, drawn: dict[int, Ints]) -> list[tuple[int, Floats]]:
        samples = {s: np.empty((len(rows), self.d)) for s, rows in drawn.items()}
        for start, block in self.blocks():
            for s, rows in drawn.items():
                begin, end = np.searchsorted(rows, [start, start + len(block)])
                samples[s][begin:end] = block[rows[begin:end] - start]
        return list(samples.items())

    def _checked(self, block: Any) -> Floats:
        return checked_points(np.asarray(block), self._owner)
