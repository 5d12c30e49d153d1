"""Runners of tasks over blocks: a runner takes jobs and returns their results in the same order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from conclust._threads import one_library_thread
from conclust._types import Ints
from conclust.blocks.facts import Census, Facts, census
from conclust.blocks.own import read_own, write_own
from conclust.blocks.sources import Source

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
