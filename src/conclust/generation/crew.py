"""Parallel work through joblib that does not continue after an error or an interrupt.

joblib lets go of its threads when an exception passes. They would go on inside native code, and the
interpreter's end would then kill them there, which aborts the whole process (SIGABRT).
"""

from __future__ import annotations

import atexit
import itertools
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable
from multiprocessing.dummy import DummyProcess
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from conclust._threads import UnwantedError, heeding, within_machine

Prefer: TypeAlias = Literal["threads", "processes"]

_LEAVING = 1.0  # seconds that idle threads may take to end

_numbers = itertools.count()
_crews: dict[tuple[int, int], Crew] = {}


class Crew:
    """Joblib's workers for one call; leaving the ``with`` block waits for running jobs.

    An exception begins no further job: it leaves when the running ones have ended, so within about
    the time of one. A second interrupt leaves at once; the running jobs are then waited for at the
    interpreter's end.

    Parameters
    ----------
    n_jobs : int or None
        As for joblib, but on this machine never more than it has processors.
    prefer : {"threads", "processes"} or None
        As for joblib.
    owner : str
        Name of the estimator, for errors about `n_jobs`.
    """

    def __init__(self, n_jobs: Any, prefer: Prefer | None, owner: str) -> None:
        self._n_jobs = n_jobs
        self._prefer = prefer
        if n_jobs is not None:
            bounded = within_machine(n_jobs, owner)
            backend, _ = get_active_backend(prefer=prefer)
            # Workers of a cluster do not run on this machine.
            here = type(backend).__module__ == "joblib._parallel_backends"
            self._n_jobs = bounded if here else int(n_jobs)
        # By its number, because jobs may be sent to other processes.
        self._key = (os.getpid(), next(_numbers))
        self._idle = threading.Condition()
        self._running = 0
        self._threads: set[threading.Thread] = set()
        self._stopped = False
        self._results: Iterable[Any] = ()

    def run(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterable[Any]:
        """Return the results of ``function(stopped, *each)``, in no particular order.

        ``stopped()`` returns whether the result is still needed, for functions that wait.
        """
        jobs = (delayed(_job)(self._key, function, each) for each in arguments)
        try:
            parallel = Parallel(self._n_jobs, prefer=self._prefer, return_as="generator_unordered")
        except ValueError:  # a backend chosen by the user that cannot hand out results one by one
            parallel = Parallel(self._n_jobs, prefer=self._prefer)
        self._results = parallel(jobs)
        return self._results

    def threads_of_each(self, n_jobs: int) -> int:
        """Return the number of threads for each of a number of jobs, if jobs are threads of this process."""
        backend, _ = get_active_backend(prefer=self._prefer)
        if not getattr(backend, "supports_sharedmem", False):
            return 1
        return max(1, int(effective_n_jobs(self._n_jobs)) // max(1, n_jobs))

    def __enter__(self) -> Self:
        _crews[self._key] = self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.wait()
        del _crews[self._key]

    def stopped(self) -> bool:
        """Return whether no more results are needed."""
        return self._stopped

    def work(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Run one job in this thread, unless it is no longer needed (None)."""
        with self._idle:
            if self._stopped:
                return None
            self._running += 1
            self._threads.add(threading.current_thread())
        try:
            with heeding(self.stopped):
                return function(self.stopped, *arguments)
        except UnwantedError:
            return None
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()

    def wait(self) -> None:
        """Start no more jobs, and wait for the running ones."""
        with self._idle:
            self._stopped = True
            self._idle.wait_for(lambda: self._running == 0)
        # If the consumer of the results was interrupted, joblib has not noticed it yet and would
        # warn about the jobs that it cancels.
        results, self._results = self._results, ()
        if isinstance(results, Generator):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                results.close()
        # Threads of joblib's own pool have been signalled to end; they must end before the
        # libraries that they use are unloaded.
        deadline = time.monotonic() + _LEAVING
        for thread in self._threads - {threading.current_thread()}:
            if isinstance(thread, DummyProcess):
                thread.join(max(0.0, deadline - time.monotonic()))


def _job(key: tuple[int, int], function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    crew = _crews.get(key) if key[0] == os.getpid() else None
    if crew is None:  # in another process, which joblib ends itself
        return function(_never, *arguments)
    return crew.work(function, arguments)


def _never() -> bool:
    return False


@atexit.register
def _wait_for_all() -> None:
    here = os.getpid()
    for crew in [crew for (process, _), crew in _crews.items() if process == here]:
        try:
            crew.wait()
        except KeyboardInterrupt:  # a second one does not wait
            os._exit(128 + signal.SIGINT)
