"""The array that a block keeps between two visits (memberships or labels), in memory or as a file."""

from __future__ import annotations

import secrets
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from conclust._files.storage import named_if_full, read_npy

# Total size in bytes up to which arrays are kept in memory.
_MEMORY = 1 << 30


class Kept:
    """Arrays of the blocks, by the step of the visit that made them: in memory, or as files that go with it.

    Older arrays stay until a step is settled, because a step may be undone or not be reached again.

    Parameters
    ----------
    name : str
        Name of the arrays in files.
    n_bytes : int
        Size of all arrays. If it is large, visits write files.
    held : bool
        Whether visits return references to arrays that a runner holds, of any size.
    """

    def __init__(self, name: str, n_bytes: int, *, held: bool) -> None:
        self._name = name
        self._folder: Path | None = None
        self._found: dict[int, dict[int, Any]] = {}
        if n_bytes > _MEMORY and not held:
            folder = tempfile.TemporaryDirectory(prefix="conclust-")
            self._folder = Path(folder.name).resolve()
            weakref.finalize(self, folder.cleanup)

    def get(self, block: int, step: int) -> Any:
        """Return the array of the last visit up to a step, or its file, or None."""
        visits = self._found.get(block, {})
        last = max((s for s in visits if s <= step), default=None)
        return None if last is None else visits[last]

    def place(self, block: int, step: int) -> Path | None:
        """Return the file that a visit writes; None if it returns the array."""
        folder = self._folder
        return None if folder is None else folder / f"{self._name}-{block}-{step}.npy"

    def put(self, block: int, step: int, value: Any) -> None:
        """Keep what a visit returned: an array or its file."""
        self._found.setdefault(block, {})[step] = value

    def settle(self, step: int) -> None:
        """Remove the arrays that visits up to a step have replaced."""
        for visits in self._found.values():
            for s in sorted(s for s in visits if s <= step)[:-1]:
                value = visits.pop(s)
                if isinstance(value, Path):
                    value.unlink(missing_ok=True)


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
