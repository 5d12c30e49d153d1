"""Counts of pairs that were together c times out of N, for all pairs or a sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.numbering import is_blocked
from conclust._arrays.rows import cross_counts
from conclust._kernels import pair_table
from conclust._random import RandomStateLike, generator, seed_sequence
from conclust._threads import thread_count
from conclust._types import Floats, Ints
from conclust._validation import check_int, refuse
from conclust.ensemble import Ensemble, as_ensemble
from conclust.evidence import coassociation_blocks, pair_counts
from conclust.evidence.dense import unsigned
from conclust.exceptions import InputError, UnsupportedEnsembleError


def check_window(value: Any, owner: str) -> tuple[Fraction, Fraction]:
    """Return the two ends of a window of PAC as fractions, so that integers are compared."""
    try:
        ends = tuple(Fraction(float(end)).limit_denominator(10**6) for end in value)
    except (TypeError, ValueError, OverflowError):
        ends = ()
    if len(ends) != 2 or not 0 <= ends[0] < ends[1] <= 1:
        refuse("window", owner, "two numbers, 0 <= u1 < u2 <= 1", value)
    return ends[0], ends[1]


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Pairs of objects by their evidence, as returned by :func:`conclust.selection.pair_distribution`.

    Parameters
    ----------
    table : ndarray of shape (n_partitions + 1, n_partitions + 1)
        Entry [N, c]: pairs that N partitions observed and c put together.
    sampled : bool
        Whether the pairs are a random sample.

    Attributes
    ----------
    table : ndarray of shape (n_partitions + 1, n_partitions + 1)
        Entry [N, c]: pairs that N partitions observed and c put together.
    sampled : bool
        Whether the pairs are a random sample.
    """

    table: Ints
    sampled: bool

    def fits(self, n_partitions: int) -> bool:
        """Return whether these are numbers of pairs of `n_partitions` partitions, with c at most N, and some known."""
        side = n_partitions + 1
        sound = self.table.shape == (side, side) and self.table.min() >= 0
        return bool(sound and not np.triu(self.table, 1).any() and self.table[1:].any())

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs with evidence."""
        return int(self.table[1:].sum())

    def pac(
        self,
        window: tuple[Fraction, Fraction] | tuple[float, float] = (0.1, 0.9),
        *,
        strict: bool = False,
    ) -> float:
        """Return the share of pairs that are ambiguous: together in some partitions and not in others.

        Parameters
        ----------
        window : tuple of two floats, default=(0.1, 0.9)
            A pair is ambiguous if it is together in a share above the first and up to the second.
        strict : bool, default=False
            Whether the share must be below the second.

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        ParameterError
            If the window is not two numbers, 0 <= u1 < u2 <= 1.
        """
        low, high = check_window(window, "pac")
        return self._between(low, high, strict) / self.n_pairs

    def _between(self, low: Fraction, high: Fraction, strict: bool) -> int:
        N, c = np.indices(self.table.shape)
        within = low.denominator * c > low.numerator * N
        scaled, end = high.denominator * c, high.numerator * N
        within &= (scaled < end) if strict else (scaled <= end)
        return int(self.table[within & (N > 0)].sum())

    @cached_property
    def n_apart(self) -> int:
        """Number of pairs that no resample put together."""
        return int(self.table[1:, 0].sum())

    @cached_property
    def _values(self) -> tuple[Floats, Ints]:
        """The distinct shares c / N, increasing, and the number of pairs with each."""
        N, c = np.nonzero(self.table)
        N, c = N[N > 0], c[N > 0]
        # Equal fractions are one value: 1/2 and 2/4.
        divisor = np.gcd(N, c)
        values, at = np.unique((c // divisor) / (N // divisor), return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, at, self.table[N, c])
        return values, counts

    @cached_property
    def mean(self) -> float:
        """The mean of c / N."""
        values, counts = self._values
        return math.fsum(values * counts) / self.n_pairs

    @property
    def area(self) -> float:
        """The area under the distribution function from 0 to 1: 1 minus the mean."""
        return 1.0 - self.mean

    def cdf(self) -> tuple[Floats, Floats]:
        """Return the distinct shares c / N, increasing, and the share of pairs up to each.

        Returns
        -------
        tuple of ndarray
            Both of one length.
        """
        values, counts = self._values
        return values, np.cumsum(counts) / self.n_pairs


def count_all(ensemble: Ensemble, n_jobs: int | None) -> PairCounts:
    """Count all pairs, block of rows by block of rows."""
    table = _empty(ensemble.n_partitions)
    for rows, c, N in coassociation_blocks(ensemble, n_jobs=n_jobs):
        pair_table(unsigned(c), unsigned(N), rows.start, table)
    return PairCounts(table, sampled=False)


def table_of(counts: NDArray[Any], copresence: NDArray[Any], n_partitions: int) -> PairCounts:
    """Count the pairs of matrices c and N of all objects."""
    table = _empty(n_partitions)
    pair_table(unsigned(counts), unsigned(copresence), 0, table)
    return PairCounts(table, sampled=False)


def _empty(n_partitions: int) -> Ints:
    return np.zeros((n_partitions + 1, n_partitions + 1), dtype=np.int64)


def sample_of_pairs(n: int, size: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw `size` of the n (n - 1) / 2 pairs without replacement: i < j, i increasing."""
    total = n * (n - 1) // 2
    at = np.sort(rng.choice(total, size=min(size, total), replace=False, shuffle=False))
    # The pairs of j are numbered by i, starting at j (j - 1) / 2.
    j = np.floor((1.0 + np.sqrt(1.0 + 8.0 * at)) / 2.0).astype(np.int64)
    j -= j * (j - 1) // 2 > at
    j += (j + 1) * j // 2 <= at
    i = at - j * (j - 1) // 2
    order = np.lexsort((j, i))
    return i[order], j[order]


def count_some(ensemble: Ensemble, pairs: tuple[Ints, Ints], n_jobs: int | None) -> PairCounts:
    """Count the pairs of a sample."""
    c, N = pair_counts(ensemble, *pairs, n_jobs=n_jobs)
    m = ensemble.n_partitions
    return PairCounts(cross_counts(N, c, (m + 1, m + 1)), sampled=True)


_OWNER = "pair_distribution"


def pair_distribution(
    labels: Any,
    *,
    n_pairs: int = 200_000,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> PairCounts:
    """Count pairs of objects by the share of partitions that put them together.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions), Ensemble or LabelStore
        Hard partitions without weights. For labels in blocks (:class:`conclust.blocks.LabelStore`, an array of Zarr or Dask),
        only the objects of the drawn pairs are kept, and the result is the same.
    n_pairs : int, default=200000
        Number of pairs drawn without replacement; all pairs if there are no more.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the pairs: they depend on it and on the number of objects.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Returns
    -------
    PairCounts
        ``cdf()``: the shares that occur, in increasing order, and the share of pairs up to each.
        ``pac(window)``: the share of ambiguous pairs (PAC [2]_). ``area``: the area under the
        distribution function [1]_. Pairs that no partition observed together do not count.

    Raises
    ------
    InputError
        If the labels are malformed, or no partition observed two objects of a pair.
    UnsupportedEnsembleError
        If members are soft or weighted.
    ParameterError
        If a parameter is out of its range.

    References
    ----------
    .. [1] S. Monti, P. Tamayo, J. Mesirov and T. Golub, "Consensus clustering", Machine Learning 52, 2003.
    .. [2] Y. Șenbabaoğlu, G. Michailidis and J. Z. Li, "Critical limitations of consensus clustering in
       class discovery", Scientific Reports 4:6207, 2014.

    Examples
    --------
    >>> from conclust.selection import pair_distribution
    >>> found = pair_distribution([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> values, heights = found.cdf()
    >>> values.round(3), heights.round(3)
    (array([0.   , 0.333, 0.667, 1.   ]), array([0.333, 0.667, 0.833, 1.   ]))
    >>> found.pac((0.1, 0.9)), round(found.area, 3)
    (0.5, 0.611)
    """
    from conclust.blocks.store import stored  # with modules that labels in memory do not need

    check_int(n_pairs, "n_pairs", _OWNER)
    threads = thread_count(n_jobs, _OWNER)
    seed = seed_sequence(random_state, _OWNER)
    store = stored(labels, "unobserved") if is_blocked(labels) else None
    members = plain_members(labels if store is None else store.opened(), _OWNER)
    n = members.n_samples if store is None else store.shape[0]
    some = n_pairs < n * (n - 1) // 2
    if store is None and not some:
        counted = count_all(members, threads)
    else:
        counted = _count_drawn(members, store, n, n_pairs, generator(seed), threads)
    if counted.n_pairs == 0:
        raise InputError(
            f"No partition observed both objects of any of the {min(n_pairs, n * (n - 1) // 2)} pairs: there "
            "is nothing to count."
        )
    return PairCounts(counted.table, sampled=some)


def plain_members(labels: Any, owner: str) -> Ensemble:
    """Return an ensemble whose partitions are counted: without soft members or weights."""
    ensemble = as_ensemble(labels)
    if ensemble.is_soft or ensemble.weights is not None:
        what = "soft members" if ensemble.is_soft else "weights"
        raise UnsupportedEnsembleError(
            f"{owner} counts in whole partitions and takes no {what}. Pass the plain labels: "
            "Ensemble(ensemble.labels), LabelStore(labels)."
        )
    return ensemble


def _count_drawn(
    given: Ensemble, store: Any, n: int, n_pairs: int, rng: np.random.Generator, threads: int
) -> PairCounts:
    """Count pairs that are drawn.

    Parameters
    ----------
    given : Ensemble
        Labels, if they are in memory.
    store : LabelStore or None
        Labels in blocks, from which the rows of the pairs are read.
    n : int
        Objects.
    n_pairs : int
        Pairs to draw.
    rng : Generator
        Source of the pairs.
    threads : int
        Number of threads for counting.
    """
    i, j = sample_of_pairs(n, n_pairs, rng)
    if store is None:
        return count_some(given, (i, j), threads)
    objects = np.unique(np.concatenate([i, j]))
    rows: Ensemble = store.opened().all_rows(objects)
    return count_some(rows, (np.searchsorted(objects, i), np.searchsorted(objects, j)), threads)
