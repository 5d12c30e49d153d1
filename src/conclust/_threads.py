"""Number of threads that a kernel may use. It affects speed only, never a bit of the result.

After ``os.fork`` (and in ``multiprocessing`` where it forks) a child works on one thread: the
threads of its parent's OpenMP pool are not in the child, and GNU's library would wait for them for
ever. The same bits come out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial
from threading import Event
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from conclust._validation import is_whole, refuse

__all__ = [
    "UnwantedError",
    "heeding",
    "in_threads",
    "one_library_thread",
    "side_by_side",
    "stop_if_unwanted",
    "thread_count",
    "within_machine",
]

_forked = False

T = TypeVar("T")
R = TypeVar("R")

# Whether the result of a worker thread is no longer needed; read in that thread.
_STOPPED: ContextVar[Callable[[], bool] | None] = ContextVar("conclust stopped", default=None)


class UnwantedError(Exception):
    """Ends work in a thread whose caller was interrupted."""


@contextmanager
def heeding(stopped: Callable[[], bool]) -> Iterator[None]:
    """Make kernels of this thread end with `UnwantedError` once ``stopped()`` is true."""
    before = _STOPPED.set(stopped)
    try:
        yield
    finally:
        _STOPPED.reset(before)


def stop_if_unwanted() -> None:
    """Raise `UnwantedError` in a thread whose result is no longer needed. Kernels check ten times a second."""
    stopped = _STOPPED.get()
    if stopped is not None and stopped():
        raise UnwantedError


@contextmanager
def side_by_side(
    threads: int, unwanted: Callable[[], bool] | None = None
) -> Iterator[Callable[[Callable[[T], R], Iterable[T]], Iterator[R]]]:
    """Yield a ``map`` that works in `threads` threads; its results are in order.

    An error, or Ctrl-C, begins nothing more; kernels that are at work end within tenths of a second. They do so as
    well where ``unwanted()`` says that the results are no longer needed, in a thread that works for another one.
    """
    stopped = Event()

    def not_wanted() -> bool:
        return stopped.is_set() or (unwanted is not None and unwanted())

    pool = ThreadPoolExecutor(max(1, threads))

    def work(function: Callable[[T], R], item: T) -> R:
        with heeding(not_wanted):
            return function(item)

    try:
        yield lambda function, items: pool.map(partial(work, function), items)
    finally:
        stopped.set()
        pool.shutdown(wait=True, cancel_futures=True)


def in_threads(function: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """Return the results of `items`, in order, computed in `threads` threads; in this thread if one is enough.

    In a worker thread, work whose result is no longer needed also stops here.
    """
    if threads <= 1 or len(items) <= 1:
        return [function(item) for item in items]
    unwanted = _STOPPED.get()
    with side_by_side(min(threads, len(items)), unwanted) as run:
        return list(run(function, items))


def thread_count(n_jobs: Any, owner: str = "this function") -> int:
    """Return the number of threads for `n_jobs`, never more than there are processors.

    None means ``OMP_NUM_THREADS`` where it is set, else the processors this process may run on
    (as for scikit-learn's own OpenMP code, so joblib's workers do not oversubscribe); negative
    numbers count back from all processors, -1 being all.
    """
    processors = _processors()
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        limit = limit.lstrip("0") or limit[:1]
        few = limit.isdecimal() and len(limit) < 10  # Python reads at most 4,300 digits
        wanted = min(int(limit), processors) if few else processors
    else:
        wanted = within_machine(n_jobs, owner)
        wanted = wanted if wanted > 0 else processors + 1 + wanted
    return 1 if _forked else max(1, wanted)


def within_machine(n_jobs: Any, owner: str) -> int:
    """Return `n_jobs`, whole and not 0, as an int of at most the number of processors."""
    if not is_whole(n_jobs) or n_jobs == 0:
        refuse("n_jobs", owner, "a non-zero int or None", n_jobs)
    return min(int(n_jobs), _most())


def one_library_thread() -> AbstractContextManager[Any]:
    """Limit BLAS, and OpenMP of other libraries, to one thread: their sums depend on the number of threads."""
    limit: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Find the loaded libraries, which takes milliseconds."""
    return ThreadpoolController()


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _most() -> int:
    """Return the maximum number of threads for an `n_jobs`; tests use more threads than processors."""
    return _processors()


def _hold_to_one() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_hold_to_one)
