"""How many threads a kernel may use. The count changes speed only, never a bit of the result."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from conclust._validation import refuse

__all__ = ["one_library_thread", "thread_count"]


def thread_count(n_jobs: Any, owner: str = "this function") -> int:
    """Return the number of threads for `n_jobs`.

    None means ``OMP_NUM_THREADS`` where it is set, else the processors this process may run on
    (as for scikit-learn's own OpenMP code, so joblib's workers do not oversubscribe); negative
    numbers count back from all processors, -1 being all.
    """
    processors = _processors()
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return max(1, min(int(limit), processors)) if limit.isdigit() else processors
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs == 0:
        refuse("n_jobs", owner, "a non-zero int or None", n_jobs)
    return n_jobs if n_jobs > 0 else max(1, processors + 1 + n_jobs)


def one_library_thread() -> AbstractContextManager[Any]:
    """Hold BLAS, and OpenMP where others use it, to one thread: their sums depend on the number."""
    limit: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Find the libraries that have been loaded, which takes milliseconds."""
    return ThreadpoolController()


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
