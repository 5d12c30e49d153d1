"""Who runs tasks over blocks: a runner takes jobs and gives their results back in the same order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conclust._threads import one_library_thread
from conclust.blocks.facts import Census, Facts, census
from conclust.blocks.own import read_own, write_own
from conclust.blocks.sources import Source

__all__ = ["Job", "LocalRunner", "Runner", "Task", "Visit", "look", "work"]

Task: TypeAlias = Callable[..., Any]
"""``task(part, *shared)``: something small of a block."""
Visit: TypeAlias = Callable[..., tuple[Any, Any]]
"""``visit(part, own, *shared)``: the block's own array, as it is now, and something small."""


@dataclass(frozen=True)
class Job:
    """A task for a block.

    Attributes
    ----------
    source : Source
        Where the labels are.
    facts : Facts
        Facts about all objects.
    block : int
        Number of the block.
    task : Visit
        Function to run; it is called with the part, the block's own array, and `shared`.
    shared : tuple
        Arguments shared by all blocks.
    own : array, path or None
        The block's own, as the last visit left it.
    place : path or None
        The file for the block's own; None: it is returned.
    """

    source: Source
    facts: Facts
    block: int
    task: Visit
    shared: tuple[Any, ...]
    own: Any = None
    place: Path | None = None


def work(job: Job, raw: Any = None, own: Any = None) -> tuple[Any, Any]:
    """Do a job; return the block's own (or its file), and what the task found.

    Parameters
    ----------
    job : Job
        Job to run.
    raw : array, default=None
        The labels, where the caller has them; else they are read.
    own : array, default=None
        The block's own, in place of the job's.
    """
    labels = job.source.rows(*job.facts.span(job.block)) if raw is None else raw
    part = job.facts.part(job.block, labels)
    if part is None:
        return None, None
    kept, found = job.task(part, read_own(job.own if own is None else own), *job.shared)
    return write_own(job.place, kept), found


def look(source: Source, begin: int, end: int, missing: Any, raw: Any = None) -> Census:
    """Read a block for the first time."""
    return census(source.rows(begin, end) if raw is None else raw, missing)


class Runner(Protocol):
    """Runs jobs. Nothing that it does changes a bit of the results."""

    holds: bool
    """Whether it holds blocks' own arrays itself, of any size."""

    def survey(
        self, source: Source, spans: list[tuple[int, int]], missing: Any
    ) -> Iterator[Census]:
        """Yield what each block tells of itself, in order."""

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Any, Any]]:
        """Yield what `work` returns for each job, in order; blocks' own may be a reference to them."""

    def fetch(self, own: Any) -> Any:
        """Return a block's own from what `run` returned."""

    def numbered(self, own: Any, table: NDArray[np.int64], length: int) -> Any:
        """Return a future of the labels of a block, read through a table; None if it is at hand."""


class LocalRunner:
    """Threads of this process: kernels run side by side, a block each.

    Parameters
    ----------
    threads : int
        Number of blocks processed at a time.
    """

    holds = False

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def survey(
        self, source: Source, spans: list[tuple[int, int]], missing: Any
    ) -> Iterator[Census]:
        """Yield what each block tells of itself, in order."""
        calls = [(source, begin, end, missing) for begin, end in spans]
        yield from self._in_order(look, calls)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Any, Any]]:
        """Yield what `work` returns for each job, in order."""
        # Here, once: threads that set and restore it at the same time would leave it set.
        with one_library_thread():
            yield from self._in_order(work, ((job,) for job in jobs))

    def fetch(self, own: Any) -> Any:
        """Return a block's own from what `run` returned."""
        return read_own(own)

    def numbered(self, own: Any, table: NDArray[np.int64], length: int) -> None:
        """Return None: the columns are at hand."""

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
                # Results that have not been taken yet are bounded, as they may be large.
                if len(waiting) > self.threads:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(function, *call))
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
