"""Runs tasks as futures of the active Dask client: blocks stay on their workers, sums are returned.

Every task is pure and receives its state as an argument, never scattered: what a lost worker held is computed again
by the same tasks, with the same bits.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from conclust._threads import one_library_thread
from conclust._types import Ints
from conclust._validation import optional
from conclust.blocks.facts import Census, Facts
from conclust.blocks.runners import Job, LocalRunner, look, read_own, work
from conclust.blocks.sources import ArrayRows, DaskLabels, Source
from conclust.exceptions import InputError, WorkersLostError

# Number of jobs that wait for a worker, per thread of the cluster.
_AHEAD = 3


def active_client() -> Any:
    """Return the Dask client that is active in this process; None if there is none."""
    try:
        distributed = import_module("distributed")
    except ImportError:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def needed_client() -> Any:
    """Return the active client.

    Raises
    ------
    InputError
        If there is none.
    MissingExtraError
        If ``dask.distributed`` is not installed.
    """
    optional("distributed", "dask", "LabelStore(..., runner='dask')")
    client = active_client()
    if client is None:
        raise InputError(
            "There is no active Dask client. Start one first: client = dask.distributed.Client(...)."
        )
    return client


def _leave_pool() -> None:
    """Leave the thread pool of a worker if this code runs in one of its tasks: those that it waits for need the thread."""
    if getattr(import_module("distributed.threadpoolexecutor").thread_state, "proceed", False):
        with suppress(ValueError):  # a pool that runs no tasks
            import_module("distributed").secede()


class DaskRunner(LocalRunner):
    """Runs jobs on the workers of a Dask client; a task that does so leaves the thread pool of its worker.

    Parameters
    ----------
    client : distributed.Client
        Its workers read the labels themselves: files must be where they can see them.
    """

    holds = True

    def __init__(self, client: Any) -> None:
        _leave_pool()
        self.client = client

    def survey(
        self, source: Source, spans: list[tuple[int, int]], missing: Any
    ) -> Iterator[Census]:
        """Yield the facts of each block, in order."""
        sent = _sendable(source)
        calls = (
            (look, (sent, begin, end, missing), self._rows(source, begin, end))
            for begin, end in spans
        )
        for future in self._in_turn(calls):
            yield self._result(future, None)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Any, Any]]:
        """Yield what `work` returns for each job, in order; the arrays of blocks are futures."""
        submitted: deque[Job] = deque()

        def calls() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...], Any]]:
            for job in jobs:
                submitted.append(job)
                raw = self._rows(job.source, *job.facts.span(job.block))
                futures = _futures(job.own)
                stored = None if futures else job.own
                sent = replace(job, source=_sendable(job.source), own=stored)
                yield _work, (sent, futures), raw

        for future in self._in_turn(calls()):
            facts = submitted.popleft().facts
            # Only the small part: the array stays with the worker that made it.
            small = self.client.submit(_second, future, pure=False, priority=10)
            result = self._result(small, facts)
            yield _Own(future), result

    def fetch(self, stored: Any) -> Any:
        """Return the array of a block from what `run` returned."""
        if isinstance(stored, _Own):
            return read_own(
                self._result(self.client.submit(_first, stored.future, pure=False), None)
            )
        return read_own(stored)

    def numbered(self, stored: Any, table: Ints, length: int) -> Any:
        """Return a future of the labels of a block, read through a table; None if its array is a file."""
        if not isinstance(stored, _Own):
            return None
        return self.client.submit(_numbered, stored.future, table, length, pure=False)

    def _rows(self, source: Source, begin: int, end: int) -> Any:
        """Return the labels of a block of a Dask array as a future; None for other sources."""
        if isinstance(source, DaskLabels):
            return self.client.compute(source.array[begin:end])
        return None

    def _in_turn(
        self, calls: Iterable[tuple[Callable[..., Any], tuple[Any, ...], Any]]
    ) -> Iterator[Any]:
        threads = max(1, sum(self.client.nthreads().values()))
        waiting: deque[Any] = deque()
        for function, arguments, raw in calls:
            if len(waiting) >= _AHEAD * threads:
                yield waiting.popleft()
            waiting.append(self.client.submit(function, *arguments, raw, pure=False))
        while waiting:
            yield waiting.popleft()

    def _result(self, future: Any, facts: Facts | None) -> Any:
        killed = import_module("distributed.scheduler").KilledWorker
        try:
            return future.result()
        except killed as error:
            raise WorkersLostError(_lost(facts)) from error


class _Own:
    """The array of a block on a worker: the first value that a task returned."""

    def __init__(self, future: Any) -> None:
        self.future = future


def _lost(facts: Facts | None) -> str:
    sentence = "A block of labels ended several workers, as if there were not enough memory for it."
    if facts is None:
        return f"{sentence} Give LabelStore a smaller block_rows, or the workers a larger memory_limit."
    n, m = facts.block_rows, len(facts.cluster_counts)
    labels = n * m * facts.code_type.itemsize
    clusters = int(facts.cluster_counts.max())
    needed = 3 * (labels + 2 * 8 * n * clusters) + 300 * 2**20
    return (
        f"{sentence} A block has {n:,} objects in {m} partitions: {labels / 2**20:.0f} MiB of codes, and as "
        f"much again and more for memberships. Give each worker a memory_limit of "
        f"{math.ceil(needed / 2**30 * 10) / 10:.1f} GiB or more for each of its threads, or LabelStore a "
        f"block_rows below {n:,}."
    )


def _sendable(source: Source) -> Source:
    """Return a source as workers receive it: Dask labels arrive as futures."""
    if isinstance(source, ArrayRows) and type(source.array).__module__.startswith("numpy"):
        raise InputError(
            "An array in the memory of this process is not sent to workers. Give LabelStore the path of "
            "a file, or an array of Dask."
        )
    return ArrayRows(None) if isinstance(source, DaskLabels) else source


def _futures(stored: Any) -> list[Any] | None:
    """Return the futures of the arrays of a block after one or several visits, or None."""
    several = stored if isinstance(stored, tuple) else (stored,)
    futures = [one.future for one in several if isinstance(one, _Own)]
    return futures or None


def _work(job: Job, made: list[tuple[Any, Any]] | None, raw: Any) -> tuple[Any, Any]:
    """Run a job on a worker; `made` has the results of earlier tasks for the block."""
    arrays = None if made is None else tuple(pair[0] for pair in made)
    with one_library_thread():
        return work(job, raw, arrays[0] if arrays is not None and len(arrays) == 1 else arrays)


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]


def _numbered(pair: tuple[Any, Any], table: Ints, length: int) -> Ints:
    """Return the labels of a block from the columns of its first pass."""
    columns = read_own(pair[0])
    return np.full(length, -1) if columns is None else np.asarray(np.append(table, -1)[columns])
