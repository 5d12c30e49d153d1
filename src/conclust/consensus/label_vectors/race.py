"""Starts that are compared on few rows, for searches in which many starts end at the same optimum.

Most starts do not improve the result. If there are many objects, starts are therefore run one after the other on a few
objects drawn at random, until three of them have reached the lowest loss. The first of these is continued with all rows.
If the starts do not agree, the few objects do not show which one is best. Then all are continued with up to 5,000
objects, those with the lowest losses first, until two of them have reached the lowest loss, and the best is continued
with all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from conclust._progress import stage, tracked
from conclust._random import spawn_generators, spawned_seed
from conclust._threads import side_by_side
from conclust.consensus.label_rows import RowClusters, RowMoves
from conclust.consensus.restarts import ON_A_PART, WORTH_THREADS, best_of_restarts
from conclust.ensemble import DistinctRows, Ensemble

# Number of the few objects: per cluster, at least, and the share of observed labels below which it no longer grows.
_PER_CLUSTER, _LEAST, _LEAST_OBSERVED = 30, 300, 0.05
# Number of times that the lowest loss must be reached: by starts on few objects, and by those that were continued.
_AGREE, _AGREE_ON_MORE = 3, 2
# A start on few objects ends with a pass that lowers the loss by less than this share.
_LITTLE = 1e-3
# Relative difference below which losses are equal up to rounding.
_EQUAL = 1e-9

T = TypeVar("T")


def best_of_race(
    search: RowMoves, rows: DistinctRows, n_init: int, seed: np.random.SeedSequence, threads: int
) -> RowClusters:
    """Return the best of at most `n_init` starts, as `best_of_restarts` does of all."""
    if len(rows) < 2 * _few(rows.whole, search.n_clusters):
        return best_of_restarts(search, rows, n_init, seed, threads)
    order = spawn_generators(seed, 1)[0].permutation(rows.n_objects)
    few, few_places = rows.some(order[: _few(rows.whole, search.n_clusters)])
    brief = replace(search, tol=max(search.tol, _LITTLE))

    def begin(start: int) -> RowClusters:
        return brief.begin(few, start, spawned_seed(seed, start + 1))

    starts, agreed = _until_agreed(begin, range(n_init), _AGREE, few, threads)
    stage(f"the best start, on all {len(rows)} rows")
    if agreed:
        return search.finish(_lowest(starts), rows, few_places)
    more, places = rows, np.arange(len(rows))
    if len(rows) > ON_A_PART:
        more, places = rows.some(order[:ON_A_PART])
    inside = np.searchsorted(places, few_places)

    def go_on(start: RowClusters) -> RowClusters:
        return search.finish(start, more, inside)

    starts.sort(key=search.loss)
    best = _lowest(_until_agreed(go_on, starts, _AGREE_ON_MORE, more, threads)[0])
    return best if more is rows else search.finish(best, rows, places)


def _few(ensemble: Ensemble, n_clusters: int) -> int:
    """Return the number of objects on which starts are compared: more if many labels are missing."""
    observed = float(ensemble.observed_counts.mean()) / ensemble.n_samples
    count = max(_LEAST, _PER_CLUSTER * n_clusters) / max(observed, _LEAST_OBSERVED)
    return min(round(count), ON_A_PART)


def _until_agreed(
    run: Callable[[T], RowClusters],
    items: Sequence[T],
    agree: int,
    rows: DistinctRows,
    threads: int,
) -> tuple[list[RowClusters], bool]:
    """Run items in order until `agree` of them have the lowest loss; return the results, and whether they do.

    Threads may run more items; their results are not used.
    """
    if threads == 1 or len(items) == 1 or rows.cells < WORTH_THREADS:
        return _first_agreed(map(run, items), len(items), agree)
    with side_by_side(min(threads, len(items))) as mapped:
        return _first_agreed(mapped(run, items), len(items), agree)


def _first_agreed(
    results: Iterable[RowClusters], count: int, agree: int
) -> tuple[list[RowClusters], bool]:
    ended: list[RowClusters] = []
    for result in tracked(results, "starts", count, at_most=True):
        ended.append(result)
        losses = [one.losses[-1] for one in ended]
        if sum(loss <= _bound(min(losses)) for loss in losses) == agree:
            return ended, True
    return ended, False


def _lowest(results: list[RowClusters]) -> RowClusters:
    """Return the first result with the lowest loss, up to rounding."""
    bound = _bound(min(result.losses[-1] for result in results))
    return next(result for result in results if result.losses[-1] <= bound)


def _bound(loss: float) -> float:
    return loss + _EQUAL * abs(loss)
