"""The array that a block keeps between two visits (memberships or labels), in memory or as a file."""

from __future__ import annotations

import secrets
import tempfile
import weakref
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from conclust._files.storage import named_if_full, read_npy

# Total size in bytes up to which arrays are kept in memory.
_MEMORY = 1 << 30


class Kept(Protocol):
    """Arrays of the blocks, by the step of the visit that made them.

    Older arrays stay until a step is settled, because a step may be undone or not be reached again.
    """

    def get(self, block: int, step: int) -> Any:
        """Return the array of the last visit up to a step, or None."""

    def place(self, block: int, step: int) -> Path | None:
        """Return the file that a visit writes; None if it returns the array."""

    def put(self, block: int, step: int, value: Any) -> None:
        """Keep what a visit returned."""

    def settle(self, step: int) -> None:
        """Remove the arrays that visits up to a step have replaced."""


class InMemory:
    """Arrays, or the references that a runner holds instead."""

    def __init__(self) -> None:
        self._found: dict[int, dict[int, Any]] = {}

    def get(self, block: int, step: int) -> Any:
        """Return the array of the last visit up to a step, or None."""
        visits = self._found.get(block, {})
        last = max((s for s in visits if s <= step), default=None)
        return None if last is None else visits[last]

    def place(self, block: int, step: int) -> None:
        """Return the file that a visit writes; None if it returns the array."""
        return

    def put(self, block: int, step: int, value: Any) -> None:
        """Keep what a visit returned."""
        self._found.setdefault(block, {})[step] = value

    def settle(self, step: int) -> None:
        """Remove the arrays that visits up to a step have replaced."""
        for visits in self._found.values():
            for s in sorted(s for s in visits if s <= step)[:-1]:
                del visits[s]


class Files:
    """A file for each visit, ``<name>-<block>-<step>.npy`` in a folder.

    Parameters
    ----------
    folder : Path
        The folder.
    name : str
        Beginning of the names of the files.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder.resolve(), name

    @classmethod
    def temporary(cls, name: str) -> Files:
        """Return files in a folder that is removed with them."""
        folder = tempfile.TemporaryDirectory(prefix="conclust-")
        files = cls(Path(folder.name), name)
        weakref.finalize(files, folder.cleanup)
        return files

    def get(self, block: int, step: int) -> Path | None:
        """Return the file of the last visit up to a step, or None."""
        files = self.folder.glob(f"{self.name}-{block}-*.npy")
        steps = [made for made in map(_step_of, files) if made <= step]
        return self.place(block, max(steps)) if steps else None

    def place(self, block: int, step: int) -> Path:
        """Return the file that a visit writes."""
        return self.folder / f"{self.name}-{block}-{step}.npy"

    def put(self, block: int, step: int, value: Any) -> None:
        """Do nothing: the visit wrote the file."""

    def settle(self, step: int) -> None:
        """Remove the arrays that visits up to a step have replaced."""
        blocks: dict[str, list[Path]] = {}
        for path in self.folder.glob(f"{self.name}-*-*.npy"):
            if _step_of(path) <= step:
                blocks.setdefault(path.stem.rsplit("-", 1)[0], []).append(path)
        for paths in blocks.values():
            for path in sorted(paths, key=_step_of)[:-1]:
                path.unlink(missing_ok=True)


def _step_of(path: Path) -> int:
    return int(path.stem.rsplit("-", 1)[1])


def kept_for(n_bytes: int, name: str, *, held: bool = False) -> Kept:
    """Return a store for the arrays of all blocks.

    Parameters
    ----------
    n_bytes : int
        Total size of the arrays; if it is large, they become files in a temporary folder.
    name : str
        Name of the files.
    held : bool, default=False
        Whether the runner holds the arrays, of any size, and gives references to them.
    """
    return InMemory() if held or n_bytes <= _MEMORY else Files.temporary(name)


def read_own(stored: Any) -> Any:
    """Load an array from its store; for several, each one."""
    if isinstance(stored, tuple):
        return tuple(read_own(one) for one in stored)
    return np.asarray(read_npy(stored, mmap=True)) if isinstance(stored, Path) else stored


def write_own(place: Path | None, value: Any) -> Any:
    """Store an array in a file, written atomically, or return it."""
    if place is None or value is None:
        return value
    unfinished = place.with_suffix(f".{secrets.token_hex(4)}.tmp")
    try:
        with named_if_full(place), unfinished.open("wb") as file:
            array = np.ascontiguousarray(value)
            assert not array.dtype.hasobject  # its bytes would be addresses
            header = np.lib.format.header_data_from_array_1_0(array)
            np.lib.format.write_array_header_1_0(file, header)
            file.write(array.data)  # NumPy's own writing hides the reason why a disk refuses bytes
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)
    return place
