"""Runs the tasks: draws, one inner thread per member, the cache, joblib, progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from conclust._progress import say
from conclust._threads import one_library_thread
from conclust._types import Floats
from conclust.exceptions import warn
from conclust.generation.cache import CacheReport, MemberCache
from conclust.generation.crew import Crew, Prefer
from conclust.generation.kinds.communities import NeighbourRecipe
from conclust.generation.kinds.landmarks import LandmarkSpectralRecipe
from conclust.generation.members import (
    ClustererRecipe,
    Labelled,
    Member,
    Task,
    drawn_points,
    finish,
    of_features,
    streams,
)

Keep = Callable[[Task, Sequence[Labelled]], None]
# Numbers of some tasks, each with the points that it is fitted to; few enough to fit into memory together.
Portions = Callable[[Sequence[Task]], Iterable[Sequence[tuple[int, Floats]]]]
_PACE = 1.0  # seconds between two lines of progress


def run_tasks(
    tasks: Sequence[Task],
    points: Floats | Portions,
    keep: Keep,
    *,
    cache: MemberCache | None,
    n_jobs: int | None,
    prefer: Prefer | None,
    owner: str,
    progress: Progress,
) -> CacheReport:
    """Run all tasks and pass their members to `keep`, in no particular order.

    A task on which another process is working is postponed, and waited for at the end.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks to compute.
    points : ndarray of shape (n_samples, n_features) or callable
        The data, from which each task draws its share; or a function that yields portions of tasks with their points.
    keep : callable
        Function that receives a task and its members.
    cache : MemberCache or None
        Cache of finished members.
    n_jobs, prefer
        Number of workers, in threads or processes.
    owner : str
        For messages.
    progress : Progress
        Progress, informed of each finished task.

    Returns
    -------
    CacheReport
        Requests and hits of the cache.
    """
    total = CacheReport()
    remaining = list(tasks)
    wait = False
    # Each member also limits itself, for workers in other processes. This limit is for threads,
    # whose own limits are undone in any order: only a limit around all of them restores the
    # original setting.
    with one_library_thread(), Crew(n_jobs, prefer, owner) as crew:
        threads = crew.threads_of_each(len(remaining))
        remaining = [_with_threads(task, threads) for task in remaining]
        while remaining:
            deferred = []
            for run, arguments in _calls(remaining, points, cache, wait):
                for i, members, report in crew.run(run, arguments):
                    if members is None:
                        deferred.append(i)
                    else:
                        total.add(report)
                        keep(remaining[i], members)
                        progress.advance(remaining[i])
            remaining, wait = [remaining[i] for i in sorted(deferred)], True
    return total


def _with_threads(task: Task, threads: int) -> Task:
    """Let the members of one run be made in parallel if the recipe supports it and threads are free."""
    recipe = task.recipe
    if threads == 1 or len(task.n_clusters) == 1 or not isinstance(recipe, LandmarkSpectralRecipe):
        return task
    return replace(task, recipe=replace(recipe, threads=threads))


def _calls(
    tasks: Sequence[Task], points: Floats | Portions, cache: MemberCache | None, wait: bool
) -> Iterator[tuple[Callable[..., Any], Iterable[tuple[Any, ...]]]]:
    """Return the call and its arguments: all at once on the complete data, or in portions."""
    if not callable(points):
        yield partial(_run_task, points, cache, wait), enumerate(tasks)
        return
    for portion in points(tasks):
        calls = [(i, tasks[i], sample) for i, sample in portion]
        yield partial(_run_task, None, cache, wait), calls


def _run_task(
    points: Floats | None,
    cache: MemberCache | None,
    wait: bool,
    stopped: Callable[[], bool],
    i: int,
    task: Task,
    sample: Floats | None = None,
) -> tuple[int, list[Labelled] | None, CacheReport]:
    """Return the task's members, or None if another process is computing one of them.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features) or None
        The data, where the task draws its share.
    cache : MemberCache or None
        Cache of finished members.
    wait : bool
        Whether to wait for another process that is at work on a member.
    stopped : callable
        Whether the run was interrupted.
    i, task : int and Task
        The task and its place.
    sample : ndarray of shape (n_fitted, n_features), default=None
        Points on which the task is fitted, if it does not draw them itself.
    """
    if cache is None:
        return i, _compute(task, points, sample), CacheReport()
    keys = [cache.key(task, place) for place in range(len(task.n_clusters))]
    members, report = cache.read_all(keys, task.n_fitted)
    if all(member is not None for member in members):
        return i, [member for member in members if member is not None], report
    with cache.locked(keys, wait=wait, stopped=stopped) as locked:
        if not locked:
            return i, None, CacheReport()
        # Another process may have written meanwhile.
        members, report = cache.read_all(keys, task.n_fitted)
        if all(member is not None for member in members):
            return i, [member for member in members if member is not None], report
        # All members of the task, including those in the cache: a member must not depend on which
        # others were cached.
        computed = _compute(task, points, sample)
        for place, (key, member, cached) in enumerate(zip(keys, computed, members, strict=True)):
            if cached is None:
                cache.write(key, task, place, member)
    return i, computed, report


def _compute(task: Task, points: Floats | None, sample: Floats | None) -> list[Labelled]:
    rows = None
    if sample is not None:
        drawn, n = of_features(sample, task.n_features, task.seed), len(sample)
    else:
        assert points is not None
        drawn, rows = drawn_points(points, task.n_objects, task.n_features, task.seed)
        n = len(points)
    rng = streams(task.seed)[3]
    # A user's clusterer may just have loaded other libraries.
    is_clusterer = isinstance(task.recipe, ClustererRecipe)
    with ThreadpoolController().limit(limits=1) if is_clusterer else one_library_thread():
        return [
            finish(labelled, rows, n) for labelled in task.recipe.run(drawn, task.n_clusters, rng)
        ]


class Progress:
    """Progress: with ``verbose=1`` at most ten lines, a second apart, and the last; from 2 on one per run of an algorithm."""

    def __init__(self, total: int, verbose: Any) -> None:
        self._total = total
        self._each = int(verbose) > 1
        self._done = 0
        self._said = 0
        self._start = self._last = time.perf_counter()

    def advance(self, task: Task) -> None:
        """Count the members of a finished task."""
        self._done += len(task.columns)
        now = time.perf_counter()
        due = self._done - self._said >= self._total / 10 and now - self._last >= _PACE
        if self._each or due or self._done == self._total:
            self._said, self._last = self._done, now
            seconds = now - self._start
            last = f" (last: {task.recipe.name})" if self._each else ""
            say(f"{self._done} of {self._total} members, {seconds:.1f} s{last}")


def warn_of_fewer(tasks: Sequence[Task], members: Sequence[Member]) -> None:
    """Warn about members with fewer clusters than requested."""
    short = sum(
        requested is not None and members[u].n_clusters < requested
        for task in tasks
        if not isinstance(task.recipe, NeighbourRecipe)  # the number is approximate
        for u, requested in zip(task.columns, task.n_clusters, strict=True)
    )
    if short:
        warn(
            f"{short} of {len(members)} members found fewer clusters than requested, probably because "
            "the points drawn have fewer distinct ones. members_ has the number of each; a smaller 'n_clusters' "
            "avoids this.",
            ConvergenceWarning,
        )
