"""Reports the progress of long work as plain lines on standard error.

A fit that is verbose listens (`listening`). What it calls says which stage begins (`stage`), how far a loop
is (`tracked`, `advance`), and kernels how far they are (``_kernels/base/interrupt.h``); nothing is handed down
for it, and without a listener, or in another thread, nothing happens.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from conclust._validation import refuse

__all__ = [
    "advance",
    "fitting",
    "listening",
    "reporter",
    "rounds",
    "say",
    "stage",
    "step",
    "tracked",
    "watched",
    "watching",
]

# Seconds between two lines of the same stage.
_LINES = 2.0
# Name of the rounds of an iteration that prints a line for each.
_ROUND = "rounds"

T = TypeVar("T")


def reporter(verbose: Any, owner: str) -> Callable[[str], None]:
    """Return a function that writes a line per message if `verbose` is above 0."""
    if not isinstance(verbose, int) or verbose < 0:
        refuse("verbose", owner, "a bool or an int in the range [0, inf)", verbose)
    if not verbose:
        return lambda message: None

    def report(message: str) -> None:
        print(f"[{owner}] {message}", file=sys.stderr, flush=True)  # noqa: T201

    return report


@dataclass
class _Level:
    """The progress of a stage, or of a loop within one."""

    what: str
    began: float
    count: int = 0  # of a loop; 0: a stage
    at_most: bool = False  # it may end before all are done
    done: float = 0.0  # of the count, or a share
    looped: bool = False  # `tracked` ends it

    @property
    def text(self) -> str:
        """Return the text of the level."""
        if not self.count:
            if self.at_most:
                return f"{self.what}: {self.done:.0f}"
            return f"{self.what}: {100 * self.done:.0f} %" if self.done else self.what
        return f"{self.what}: {self.done:.0f} of {'at most ' * self.at_most}{self.count}"


@dataclass
class _Work:
    """Progress of one fit: the stage, and the loops and stages within it."""

    report: Callable[[str], None]
    levels: list[_Level] = field(default_factory=list)
    last: float = field(default_factory=lambda: time.monotonic())

    def replace_last(self, level: _Level) -> None:
        """Replace a finished level, within the loops that continue."""
        if self.levels and not self.levels[-1].looped:
            self.levels.pop()
        self.levels.append(level)

    def round(self, what: str, done: int, at_most: int) -> None:
        """Count a round of an iteration; the first round of another iteration starts a new level."""
        level = self.levels[-1] if self.levels else None
        if level is None or level.looped or level.what != what or done < level.done:
            level = _Level(what, time.monotonic(), at_most, at_most=True)
            self.replace_last(level)
        level.done = done

    def print_regularly(self) -> None:
        """Print a line if enough time has passed since the last one."""
        now = time.monotonic()
        if now - self.last >= _LINES and self.levels:
            self.last = now
            self.report(", ".join(level.text for level in self.levels) + self.left())

    def left(self) -> str:
        """Return the time left of the outermost loop, or of the stage if there is no loop."""
        now = time.monotonic()
        share, bound, began = 0.0, False, now
        for level in reversed(self.levels):
            if level.count:
                if level.done and bound:  # complete rounds give a better estimate
                    share, bound = 0.0, False
                share = (level.done + share) / level.count
                bound, began = bound or level.at_most, level.began
            elif not share and not level.at_most:
                share, began = level.done, level.began
        if not share:
            return ""
        left = (now - began) * (1.0 / min(1.0, share) - 1.0)
        return f", {'at most' if bound else 'about'} {left:.0f} s left"


_WORK: ContextVar[_Work | None] = ContextVar("conclust progress", default=None)


@contextmanager
def fitting(estimator: Any) -> Iterator[None]:
    """Report progress while a verbose estimator is fitted; restore its state if the fit fails."""
    before = dict(vars(estimator))
    finished = False
    try:
        with listening(estimator.verbose, type(estimator).__name__):
            yield
        finished = True
    finally:
        if not finished:
            vars(estimator).clear()
            vars(estimator).update(before)


@contextmanager
def listening(verbose: Any, owner: str) -> Iterator[None]:
    """Print the progress of the work within if `verbose` is positive; otherwise pass it to an outer listener."""
    report = reporter(verbose, owner)
    if not verbose:
        yield
        return
    before = _WORK.set(_Work(report))
    try:
        yield
    finally:
        _WORK.reset(before)


# Context managers that surround each step of a pipeline.
_WATCHER: ContextVar[Callable[..., AbstractContextManager[None]] | None] = ContextVar(
    "conclust steps", default=None
)


@contextmanager
def watching(watcher: Callable[..., AbstractContextManager[None]]) -> Iterator[None]:
    """Surround each step of a pipeline within by ``watcher(name, *subjects)``, a context manager."""
    before = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(before)


def watched() -> bool:
    """Return whether steps are surrounded, which means that the caller prints its own lines."""
    return _WATCHER.get() is not None


def step(name: str, *subjects: Any) -> AbstractContextManager[None]:
    """Surround a step of a pipeline by the watcher, if there is one; `subjects` are its inputs."""
    watcher = _WATCHER.get()
    return nullcontext() if watcher is None else watcher(name, *subjects)


def say(message: str | Callable[[], str], done: int = 0, at_most: int = 0) -> None:
    """Print a line, or what a function returns, if there is a listener; after a round of an iteration with the maximum time left."""
    work = _WORK.get()
    if work is not None:
        text = message if isinstance(message, str) else message()
        if at_most:
            work.round(_ROUND, done, at_most)
            text += work.left()
        work.report(text)
        work.last = time.monotonic()


def stage(what: str) -> None:
    """Begin a stage, which ends the previous one or is a step of a loop's round."""
    work = _WORK.get()
    if work is None:
        return
    work.replace_last(_Level(what, time.monotonic()))
    if len(work.levels) == 1:
        say(what)
    else:
        work.print_regularly()


def tracked(
    items: Iterable[T], what: str, total: int | None = None, *, at_most: bool = False
) -> Iterator[T]:
    """Yield the items of a loop, and periodically report the number done and the time left.

    Parameters
    ----------
    items : iterable
        Items of the loop.
    what : str
        Name of the items, in the plural.
    total : int, default=None
        Number of items. None: their length.
    at_most : bool, default=False
        Whether the loop may end before all are done.
    """
    work = _WORK.get()
    if work is None:
        yield from items
        return
    count = len(items) if total is None else total  # type: ignore[arg-type]
    depth = len(work.levels)
    level = _Level(what, time.monotonic(), max(1, count), at_most, looped=True)
    work.levels.append(level)
    try:
        for item in items:
            yield item
            del work.levels[depth + 1 :]
            level.done += 1
            work.print_regularly()
    finally:
        del work.levels[depth:]


def rounds(what: str, done: int, at_most: int = 0) -> None:
    """Report the number of rounds of an iteration, and its maximum; 0: unknown."""
    work = _WORK.get()
    if work is None:
        return
    work.round(what, done, at_most)
    work.print_regularly()


def advance(done: float, total: float = 1.0) -> None:
    """Report the progress of the stage."""
    work = _WORK.get()
    if work is None or not work.levels or total <= 0:
        return
    if work.levels[-1].count:
        work.levels.append(_Level("this one", time.monotonic()))
    if work.levels[-1].at_most:
        return
    level, share = work.levels[-1], done / total
    if share < level.done:  # other work of the same stage
        level.began = time.monotonic()
    level.done = share
    work.print_regularly()
