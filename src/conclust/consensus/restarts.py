"""Runs restarts on a part of the objects and refines the best on all: one rule for all methods.

Up to 5,000 rows every start is run on all of them, and the best is the answer. Where there are more,
the starts are run on the rows of 5,000 objects drawn without replacement, and the best is carried on
with all rows. A method is fitted to rows (`Population`): the distinct rows of labels, each counting as
often as it occurs (`DistinctRows`), or one row for every object.

KCC and SEC end starts early (`label_vectors/race.py`), and BaumEagon compares them on few objects
(`probabilistic/baum_eagon.py`). Two searches that are not descents over rows choose their parts themselves: the fusion
of clusters pair by pair (`median/search.py`), and PCC over all pairs, with a part that grows
(`probabilistic/solvers/factored.py`). Methods on given pairs of objects have all of them in memory, and run every start
on them.

Here are also the checks and sentences that are common to estimators with several starts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

import numpy as np

from conclust._progress import stage, tracked
from conclust._random import spawn_generators, spawn_seeds
from conclust._threads import side_by_side
from conclust._types import Ints

ON_A_PART = 5_000
# Work of one start, in cells, below which threads cost more than they gain.
WORTH_THREADS = 20_000

P = TypeVar("P", bound="Population")
Shown = TypeVar("Shown", bound="Population", contravariant=True)
T = TypeVar("T")


class Population(Protocol):
    """Rows to fit to, each for one object or several."""

    def __len__(self) -> int:
        """Count the rows."""

    @property
    def n_objects(self) -> int:
        """Number of objects that the rows represent."""

    @property
    def cells(self) -> int:
        """Number of values that one pass over the rows reads."""

    def some(self: P, objects: Ints) -> tuple[P, Ints]:
        """Return the rows of some objects, and which of all rows they are."""


class Restarted(Protocol[Shown, T]):
    """The interface of a method to restarts."""

    def begin(self, rows: Shown, start: int, seed: int) -> T:
        """Run one start on some rows until it converges."""

    def finish(self, result: T, rows: Shown, chosen: Ints) -> T:
        """Continue with all rows from the result on some rows."""

    def loss(self, result: T) -> float:
        """Return the loss at the end of a start."""


def fewer_starts(n_init: int, rows: Population, n_clusters: int) -> int:
    """Return the number of starts: `n_init`, or fewer if a cluster has fewer than two rows.

    Then nearly every row is a cluster, whatever the start, and each start takes long.
    """
    share = min(1.0, (len(rows) / (2.0 * n_clusters)) ** 2)
    return max(1, math.ceil(share * n_init))


def best_of_restarts(
    method: Restarted[P, T],
    rows: P,
    n_init: int,
    seed: np.random.SeedSequence,
    threads: int,
    carry_on: Callable[[T, P], T] | None = None,
) -> T:
    """Return the result of the best start, on all rows.

    Among equally good starts (to rounding) it is the first, in whatever order they end.

    Parameters
    ----------
    method : Restarted
        Method that is restarted.
    rows : Population
        All rows.
    n_init : int
        Number of starts.
    seed : SeedSequence
        Source of the starts and of the part.
    threads : int
        Number of starts that run at the same time.
    carry_on : callable, default=None
        For starts that end early: continues the best one on the rows of the starts.
    """
    few, indices = rows, np.arange(0)
    if len(rows) > ON_A_PART:
        draw = spawn_generators(seed, 1)[0]
        few, indices = rows.some(draw.choice(rows.n_objects, ON_A_PART, replace=False))
    seeds = spawn_seeds(seed, n_init + 1)[1:]

    def begin(start: int) -> T:
        return method.begin(few, start, seeds[start])

    if threads == 1 or n_init == 1 or few.cells < WORTH_THREADS:
        best = _best(tracked(map(begin, range(n_init)), "starts", n_init), method)
    else:
        with side_by_side(min(threads, n_init)) as mapped:
            best = _best(tracked(mapped(begin, range(n_init)), "starts", n_init), method)
    if carry_on is not None:
        best = carry_on(best, few)
    if few is rows:
        return best
    stage(f"the best start, on all {len(rows)} rows")
    return method.finish(best, rows, indices)


def _best(results: Iterable[T], method: Restarted[Any, T]) -> T:
    """Return the result with the lowest loss; the first one if they differ only by rounding."""
    ranked = iter(results)
    best = next(ranked)
    for one in ranked:
        least = method.loss(best)
        if method.loss(one) < least - 1e-9 * abs(least):
            best = one
    return best
