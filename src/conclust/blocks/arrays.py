"""Results with one row per object, computed block by block when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray

from conclust._files.storage import atomic_write
from conclust._validation import count, optional


class BlockedArray:
    """An array that is not stored: its blocks of rows are computed when they are read.

    ``numpy.asarray`` reads all of it, a slice or an index only the blocks it needs.

    Parameters
    ----------
    shape : tuple of int
        The first number counts the objects.
    dtype : dtype-like
        Type of the values.
    block_rows : int
        Rows of a block.
    make : callable
        Makes a block from its number.
    future : callable, default=None
        Returns a Dask future of a block, or None if no cluster holds the blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.blocks import BlockedArray
    >>> squares = BlockedArray((5,), int, 2, lambda b: np.arange(5)[2 * b : 2 * b + 2] ** 2)
    >>> squares
    BlockedArray(shape=(5,), dtype=int64, 3 blocks)
    >>> squares[1:4], np.asarray(squares).sum()
    (array([1, 4, 9]), np.int64(30))
    """

    rows_in_blocks: ClassVar[bool] = True  # by which others know it without importing this

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: Any,
        block_rows: int,
        make: Callable[[int], NDArray[Any]],
        future: Callable[[int], Any] | None = None,
    ) -> None:
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.block_rows = block_rows
        self._make, self._future = make, future

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return int(np.prod(self.shape))

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.shape[0] // self.block_rows)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return (
            f"BlockedArray(shape={self.shape}, dtype={self.dtype}, {count(self.n_blocks, 'block')})"
        )

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Yield the blocks, one after the other."""
        for block in range(self.n_blocks):
            yield self._block(block)

    def __iter__(self) -> Iterator[Any]:
        for block in self.blocks():
            yield from block

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("The values of a BlockedArray are made when they are read.")
        whole = np.empty(self.shape, dtype=self.dtype)
        for block, values in enumerate(self.blocks()):
            begin = block * self.block_rows
            whole[begin : begin + len(values)] = values
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __getitem__(self, some: Any) -> Any:
        rest: tuple[Any, ...] = ()
        if isinstance(some, tuple) and some:
            some, rest = some[0], some[1:]
        if isinstance(some, slice):
            begin, end, stride = some.indices(len(self))
            if stride > 0:
                rows = self._between(begin, max(begin, end))[::stride]
                return rows[(slice(None), *rest)] if rest else rows
        elif isinstance(some, int | np.integer):
            row = range(len(self))[some]  # an IndexError if there is no such row
            values = self._between(row, row + 1)[0]
            return values[rest] if rest else values
        return np.asarray(self)[(some, *rest)]

    def _between(self, begin: int, end: int) -> NDArray[Any]:
        pieces = [np.empty((0, *self.shape[1:]), dtype=self.dtype)]
        for block in range(
            begin // self.block_rows, -(-end // self.block_rows) if end > begin else 0
        ):
            first = block * self.block_rows
            values = self._block(block)
            pieces.append(values[max(0, begin - first) : end - first])
        return np.concatenate(pieces)

    def save(self, path: str | Path) -> None:
        """Write the array as an NPY file, a block at a time.

        Parameters
        ----------
        path : path-like
            The file. An existing one is replaced when all blocks are written.
        """
        kind = np.lib.format.dtype_to_descr(self.dtype)
        header = {"descr": kind, "fortran_order": False, "shape": self.shape}

        def write(file: BinaryIO) -> None:
            np.lib.format.write_array_header_1_0(file, header)
            for values in self.blocks():
                file.write(np.ascontiguousarray(values).data)

        atomic_write(Path(path).resolve(), write)

    def to_dask(self) -> Any:
        """Return a Dask array with one chunk per block.

        Raises
        ------
        MissingExtraError
            If Dask is not installed.
        """
        array = optional("dask.array", "dask", "BlockedArray.to_dask()")
        delayed = import_module("dask").delayed
        chunks = []
        for block in range(self.n_blocks):
            begin = block * self.block_rows
            rows = min(self.block_rows, self.shape[0] - begin)
            made = None if self._future is None else self._future(block)
            value = delayed(self._block)(block) if made is None else made
            chunks.append(array.from_delayed(value, (rows, *self.shape[1:]), dtype=self.dtype))
        return array.concatenate(chunks)

    def _block(self, block: int) -> NDArray[Any]:
        return self._make(block).astype(self.dtype, copy=False)

    def __reduce__(self) -> Any:
        # A pickle stores the values, because the files that they are computed from may be on this machine only.
        return BlockedArray.of, (np.asarray(self), self.block_rows)

    @staticmethod
    def of(values: NDArray[Any], block_rows: int) -> BlockedArray:
        """Return the blocks of an array in memory.

        Parameters
        ----------
        values : ndarray
            The array, one row per object.
        block_rows : int
            Rows of a block.
        """

        def make(block: int) -> NDArray[Any]:
            return values[block * block_rows : (block + 1) * block_rows]

        return BlockedArray(values.shape, values.dtype, block_rows, make)
