"""The checked settings: numbers of clusters, resamples, references."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from conclust._random import spawn_seeds
from conclust._validation import is_whole, refuse
from conclust.selection.resampled.null import Null
from conclust.selection.resampled.resampling import ClustererResamples, KMeansResamples, Resamples


@dataclass(frozen=True)
class Settings:
    """Settings for resampling and criteria; see `choose` for their meaning.

    Attributes
    ----------
    n_leading : int, default=None
        Number of leading components in which flat and skewed references are as flat and as skewed as the points. None: boxes
        and exponential clouds.
    """

    ks: tuple[int, ...]
    clusterer: Any
    n_resamples: int
    sample_fraction: float
    null: Null | None
    n_references: int
    window: tuple[Fraction, Fraction]
    threads: int
    n_leading: int | None = None

    @property
    def fast(self) -> bool:
        """Whether all resamples of one K are clustered at once."""
        return isinstance(self.clusterer, str)

    def resamples(self, n: int, seed: np.random.SeedSequence) -> Resamples:
        """Return the draws for data sets of n objects."""
        if self.fast:
            return KMeansResamples.draw(n, self.ks, self.n_resamples, self.sample_fraction, seed)
        (number,) = spawn_seeds(seed, 1, bits=32)
        return ClustererResamples(self.clusterer, self.n_resamples, self.sample_fraction, number)


# The largest number tried by default.
_MOST = 10


def read_numbers(k: Any, owner: str, most: int | None = None) -> tuple[int, ...]:
    """Return the distinct numbers of clusters to try in increasing order; for None 2 to 10, at most `most`."""
    if k is None and most is not None:
        k = range(2, max(min(_MOST, most), 2) + 1)
    if isinstance(k, range) and most is not None and k and (k[-1] - k[0]) // k.step >= most:
        k = [k[0], k[-1]]  # one of them is larger than `most`, which the caller refuses
    values = [k]
    if not is_whole(k):
        values = list(k) if isinstance(k, Iterable) and not isinstance(k, str) else []
    least = min(values) if values and all(is_whole(value) for value in values) else 0
    if least < 2:
        advice = "Leave 1 out: the p-value already tests for one cluster." if least == 1 else ""
        expected = "an int from 2 on, or a non-empty range or list of such ints"
        refuse("k", owner, expected, k, advice)
    return tuple(sorted({int(value) for value in values}))
