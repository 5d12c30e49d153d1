"""pair_distribution: the distribution of the shares of partitions that put pairs together."""

from __future__ import annotations

from typing import Any

import numpy as np

from conclust._random import RandomStateLike, generator, seed_sequence
from conclust._threads import thread_count
from conclust._validation import check_int
from conclust.blocks.numbering import is_blocked
from conclust.blocks.store import stored
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import InputError, UnsupportedEnsembleError
from conclust.selection.judged.pairs import PairCounts, count_all, count_some, sample_of_pairs

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
        Hard partitions without weights. Of labels in blocks (:class:`conclust.blocks.LabelStore`, an array
        of Zarr or Dask) only the objects of the pairs drawn are held, and the result is the same.
    n_pairs : int, default=200000
        Number of pairs drawn without replacement; all pairs if there are no more.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the pairs: they depend on it and on the number of objects.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Returns
    -------
    PairCounts
        ``cdf()``: the shares that occur, rising, and the share of pairs up to each.
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
    check_int(n_pairs, "n_pairs", _OWNER)
    threads = thread_count(n_jobs, _OWNER)
    seed = seed_sequence(random_state, _OWNER)
    store = stored(labels, "unobserved") if is_blocked(labels) else None
    members = as_ensemble(labels) if store is None else as_ensemble(store.opened())
    if members.is_soft or members.weights is not None:
        what = "soft members" if members.is_soft else "weights"
        raise UnsupportedEnsembleError(
            f"{_OWNER} counts in whole partitions and takes no {what}. Pass plain labels: "
            "Ensemble(ensemble.labels), LabelStore(labels)."
        )
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
    places = np.searchsorted(objects, i), np.searchsorted(objects, j)
    return count_some(rows, places, threads)
