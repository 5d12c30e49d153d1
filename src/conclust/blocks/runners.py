"""Runners of tasks over blocks: a runner takes jobs and returns their results in the same order.

Between two visits a block keeps an array (memberships or labels), in memory or as a file.
"""

from __future__ import annotations

import secrets
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from conclust._files.storage import named_if_full, read_npy
from conclust._threads import one_library_thread
from conclust._types import Ints
from conclust.blocks.facts import Census, Facts, census
from conclust.blocks.sources import Source

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


Task: TypeAlias = Callable[..., Any]
"""``task(part, *shared)`` returns a small result for a block."""
Visit: TypeAlias = Callable[..., tuple[Any, Any]]
"""``visit(part, own, *shared)`` returns the new array of the block, and a small result."""


@dataclass(frozen=True)
class Job:
    """A task for a block.

    Attributes
    ----------
    source : Source
        Source of the labels.
    facts : Facts
        Facts about all objects.
    block : int
        Number of the block.
    task : Visit
        Function to run; it is called with the part, the block's own array, and `shared`.
    shared : tuple
        Arguments shared by all blocks.
    own : array, path or None
        Array of the block after the last visit.
    place : path or None
        File for the array of the block; None: the array is returned.
    """

    source: Source
    facts: Facts
    block: int
    task: Visit
    shared: tuple[Any, ...]
    own: Any = None
    place: Path | None = None


def work(job: Job, raw: Any = None, stored: Any = None) -> tuple[Any, Any]:
    """Run a job; return the array of the block (or its file), and the result of the task.

    Parameters
    ----------
    job : Job
        Job to run.
    raw : array, default=None
        Labels of the block. None: they are read.
    stored : array, default=None
        Array of the block, used instead of the one in the job.
    """
    labels = job.source.rows(*job.facts.span(job.block)) if raw is None else raw
    part = job.facts.part(job.block, labels)
    if part is None:
        return None, None
    array, result = job.task(part, read_own(job.own if stored is None else stored), *job.shared)
    return write_own(job.place, array), result


def look(source: Source, begin: int, end: int, missing: Any, raw: Any = None) -> Census:
    """Read a block for the first time."""
    return census(source.rows(begin, end) if raw is None else raw, missing, begin)


class LocalRunner:
    """Runs jobs in threads of this process: kernels run in parallel, one block each. Every runner gives the same bits.

    Parameters
    ----------
    threads : int
        Number of blocks processed at a time.
    """

    holds = False  # whether the runner stores the arrays of blocks itself, of any size

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def survey(
        self, source: Source, spans: list[tuple[int, int]], missing: Any
    ) -> Iterator[Census]:
        """Yield the facts of each block, in order."""
        calls = [(source, begin, end, missing) for begin, end in spans]
        yield from self._in_order(look, calls)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Any, Any]]:
        """Yield what `work` returns for each job, in order; arrays of blocks may be references."""
        # Set once here: threads that set and restore it concurrently would leave it set.
        with one_library_thread():
            yield from self._in_order(work, ((job,) for job in jobs))

    def fetch(self, stored: Any) -> Any:
        """Return the array of a block from what `run` returned."""
        return read_own(stored)

    def numbered(self, stored: Any, table: Ints, length: int) -> Any:
        """Return a future of the labels of a block, read through a table; None if they are in this process."""
        return None

    def _in_order(
        self, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        if self.threads == 1:
            yield from (function(*call) for call in calls)
            return
        waiting: deque[Future[Any]] = deque()
        pool = ThreadPoolExecutor(self.threads)
        try:
            for call in calls:
                # The number of results that wait to be read is bounded, as they may be large.
                if len(waiting) > self.threads:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(function, *call))
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
