"""Restarts on a part of the objects, the best of them finished on all: one rule for all methods.

Objects with the same labels are one row that counts as often as it occurs. Where more than 5,000
rows differ, the starts are run on 5,000 objects drawn without replacement.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from conclust.ensemble import Ensemble

__all__ = ["ON_A_PART", "Rows", "best_start", "distinct_rows", "few_rows"]

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
    weights = ensemble.weights
    each = np.ones(ensemble.n_partitions) if weights is None else weights
    whole = len(micro) == ensemble.n_samples
    part = ensemble if whole else ensemble._some(micro.representatives)
    return Rows(part, micro.counts.astype(np.float64), np.asarray(each)), micro.inverse


def few_rows(
    rows: Rows, inverse: NDArray[np.int64], generator: np.random.Generator
) -> tuple[Rows, NDArray[np.int64]]:
    """Return the rows that starts are run on, and which of all rows they are."""
    if len(rows) <= ON_A_PART:
        return rows, np.arange(len(rows))
    drawn = generator.choice(len(inverse), ON_A_PART, replace=False)
    kept, counts = np.unique(inverse[drawn], return_counts=True)
    return Rows(rows.ensemble._some(kept), counts.astype(np.float64), rows.weights), kept


def best_start(
    begin: Callable[[int], T], loss: Callable[[T], float], n_init: int, rows: Rows, threads: int
) -> T:
    """Return the start of the lowest loss, of equal ones the first, whatever runs at once."""
    cells = rows.ensemble.codes.size
    if threads == 1 or n_init == 1 or cells < _WORTH_THREADS:
        return min(map(begin, range(n_init)), key=loss)
    with ThreadPoolExecutor(min(threads, n_init)) as pool:
        return min(pool.map(begin, range(n_init)), key=loss)
