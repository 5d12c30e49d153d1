"""Restarts on a part of the objects, the best of them finished on all: one rule for all methods.

Objects with the same labels are one row that counts as often as it occurs. Where more than 5,000
rows differ, the starts are run on 5,000 objects drawn without replacement.

Here is also what the estimators that iterate from several starts check and say alike.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from conclust._random import spawn_generators, spawn_seeds
from conclust._validation import check_int, check_real
from conclust.ensemble import Ensemble

__all__ = [
    "ON_A_PART",
    "Restarted",
    "Rows",
    "best_of_restarts",
    "check_iteration",
    "distinct_rows",
    "few_rows",
    "warn_unfinished",
]

ON_A_PART = 5_000
# Cells of the work of one start below which threads cost more than they bring.
_WORTH_THREADS = 20_000

T = TypeVar("T")


@dataclass(frozen=True)
class Rows:
    """Different rows of labels, and how many objects carry each.

    ``ensemble`` holds one object a row and numbers the clusters as the whole ensemble does, so
    that sums per cluster are comparable; ``weights`` are 1 where it has none.
    """

    ensemble: Ensemble
    counts: NDArray[np.float64]
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def column_weights(self) -> NDArray[np.float64]:
        """The weight of the partition of each column of the indicator, (T,)."""
        return np.repeat(self.weights, self.ensemble.cluster_counts)


def distinct_rows(ensemble: Ensemble) -> tuple[Rows, NDArray[np.int64]]:
    """Return the different rows of an ensemble, and the row of each object."""
    micro = ensemble.micro_clusters
    whole = len(micro) == ensemble.n_samples
    part = ensemble if whole else ensemble._some(micro.representatives)
    return Rows(part, micro.counts.astype(np.float64), ensemble._each_weight), micro.inverse


def few_rows(
    rows: Rows, inverse: NDArray[np.int64], generator: np.random.Generator
) -> tuple[Rows, NDArray[np.int64]]:
    """Return the rows that starts are run on, and which of all rows they are."""
    if len(rows) <= ON_A_PART:
        return rows, np.arange(len(rows))
    drawn = generator.choice(len(inverse), ON_A_PART, replace=False)
    kept, counts = np.unique(inverse[drawn], return_counts=True)
    return Rows(rows.ensemble._some(kept), counts.astype(np.float64), rows.weights), kept


class Restarted(Protocol[T]):
    """A method as restarts see it."""

    def begin(self, rows: Rows, start: int, seed: int) -> T:
        """Run one start on some rows, to the end."""

    def finish(self, found: T, rows: Rows, kept: NDArray[np.int64]) -> T:
        """Carry on with all rows what was found on those kept."""

    def loss(self, found: T) -> float:
        """Say how far from the optimum a start ended."""


def best_of_restarts(
    method: Restarted[T],
    ensemble: Ensemble,
    n_init: int,
    seed: np.random.SeedSequence,
    threads: int,
) -> tuple[T, Rows, NDArray[np.int64]]:
    """Return what the best start found, the rows that it is about, and the row of each object.

    Of equally good starts it is the first, whatever runs at once.
    """
    rows, inverse = distinct_rows(ensemble)
    few, kept = few_rows(rows, inverse, spawn_generators(seed, 1)[0])
    seeds = spawn_seeds(seed, n_init + 1)[1:]

    def begin(start: int) -> T:
        return method.begin(few, start, seeds[start])

    if threads == 1 or n_init == 1 or few.ensemble.codes.size < _WORTH_THREADS:
        best = min(map(begin, range(n_init)), key=method.loss)
    else:
        with ThreadPoolExecutor(min(threads, n_init)) as pool:
            best = min(pool.map(begin, range(n_init)), key=method.loss)
    return best if few is rows else method.finish(best, rows, kept), rows, inverse


def check_iteration(estimator: Any, ensemble: Ensemble) -> None:
    """Check ``n_clusters``, ``n_init``, ``max_iter`` and ``tol``."""
    owner = type(estimator).__name__
    check_int(estimator.n_clusters, "n_clusters", owner, high=ensemble.n_samples)
    check_int(estimator.n_init, "n_init", owner)
    check_int(estimator.max_iter, "max_iter", owner)
    check_real(estimator.tol, "tol", owner)


def warn_unfinished(estimator: Any, what: str = "iterations", *, level: int = 0) -> None:
    """Say that ``max_iter`` ended the fit. `level`: calls on the way here beside ``fit`` and ``_fit``."""
    warnings.warn(
        f"{type(estimator).__name__} stopped after max_iter={estimator.max_iter} {what}. Raise "
        "max_iter, or tol if this is close enough.",
        ConvergenceWarning,
        stacklevel=4 + level,
    )
