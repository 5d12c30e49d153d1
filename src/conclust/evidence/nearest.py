"""Evidence of the most similar pairs: each object with its nearest objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import NearestPairs, SymmetricPattern
from conclust._threads import thread_count
from conclust._types import Floats, Ints
from conclust._validation import check_int
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.labels import noise_code
from conclust.evidence.pairs import SparseEvidence, evidence_of_pattern, pair_counts
from conclust.exceptions import DenseLimitError, UnsupportedEnsembleError

# Maximum number of pairs times partitions compared at once.
_CELLS = 1 << 22
# Maximum number of partners of all objects, unless `max_partners` is given; the result takes up to three times their memory.
_MOST = 1 << 29
# Objects searched at once by the kernel.
_TASK = 256
# Partners sorted at once, up to one object's more.
_SORTED = 1 << 20


def nearest_pairs(
    labels: Any, per_object: int = 20, *, max_partners: int | None = None, n_jobs: int | None = None
) -> SparseEvidence:
    """Find the most similar partners of every object and count their evidence.

    A pair is kept if either of the two is among the `per_object` objects that the other shares clusters with the most
    often, c_ij / N_ij; ties with the last of these are kept, so there may be many more (`max_partners` bounds them).
    Objects that share no cluster are not a pair.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions) or Ensemble
        Labels, one partition per column; -1, NaN, None: missing; -2: noise, observed but apart from all.
    per_object : int, default=20
        Number of partners of each object, before ties.
    max_partners : int, default=None
        Maximum number of partners that an object chooses, including ties; at least `per_object`. If there are more,
        those with which it shares smaller clusters are chosen (the largest sum of 1 / size), then those that come
        next in the order of the objects. If there are more than 2^29 ties, only those of some objects at a time are held in
        memory.
        None: all ties, up to 2^29 partners of all objects.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Returns
    -------
    SparseEvidence
        The counts in compressed sparse rows.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If `per_object` is not a positive int, or `max_partners` is below it.
    UnsupportedEnsembleError
        If the ensemble has soft members.
    DenseLimitError
        If `max_partners` is None, and objects have more than 2^29 partners altogether because of ties.

    Notes
    -----
    The pairs favour agreement, unlike the random sample of :func:`sample_pairs`. No matrix of all
    pairs is made: an object is compared with those in its smallest clusters until the remaining clusters cannot
    contain a more similar one. If that would be most of them, complete labels without weights are counted with all objects,
    eight partitions at once.

    Examples
    --------
    >>> from conclust.evidence import nearest_pairs
    >>> nearest = nearest_pairs([[0, 0], [0, 1], [1, 1], [1, 1]], per_object=1)
    >>> nearest.to_scipy().toarray()
    array([[0. , 0.5, 0. , 0. ],
           [0.5, 0. , 0.5, 0.5],
           [0. , 0.5, 0. , 1. ],
           [0. , 0.5, 1. , 0. ]])
    """
    count = check_int(per_object, "per_object", "nearest_pairs") or 1
    threads = thread_count(n_jobs, "nearest_pairs")
    ensemble = as_ensemble(labels)
    if ensemble.is_soft:
        raise UnsupportedEnsembleError(
            "nearest_pairs takes no soft members, and the ensemble has them. sample_pairs and evidence do."
        )
    if max_partners is not None:
        check_int(max_partners, "max_partners", "nearest_pairs", low=count)
    n = ensemble.n_samples
    found = _ties(ensemble, count, range(n), _MOST, threads)
    if found is not None:
        indptr, indices = _bounded(ensemble, 0, *found, max_partners, threads)
    elif max_partners is not None:
        indptr, indices = _bounded_in_blocks(ensemble, count, max_partners, threads)
    else:
        raise DenseLimitError(
            f"nearest_pairs finds more than {_MOST:,} pairs of these {n:,} objects ({12 * _MOST / 1e9:.1f} GB), because "
            f"many objects are equally similar. Use max_partners={5 * count} to keep some of them for each object, or "
            f"max_partners={n} to keep all if enough memory is available."
        )
    del found
    either = SymmetricPattern(indptr, indices, threads)
    indptr, indices = np.empty(n + 1, dtype=np.int64), np.empty(either.n_entries, dtype=np.int32)
    either.read(indptr, indices, threads)
    del either
    return evidence_of_pattern(ensemble, indptr, indices, n_jobs=n_jobs)


def _ties(
    ensemble: Ensemble, count: int, objects: range, most: int, threads: int
) -> tuple[Ints, NDArray[np.int32]] | None:
    """Return the partners of some objects, all ties included; None if there are more than `most`."""
    view, k = ensemble.label_view, min(count, ensemble.n_samples)
    pairs = NearestPairs(view, k, objects.start, objects.stop, most, threads)
    if pairs.exceeded:
        return None
    indptr = np.empty(len(objects) + 1, dtype=np.int64)
    indices = np.empty(pairs.n_entries, dtype=np.int32)
    pairs.read(indptr, indices)
    return indptr, indices


def _bounded_in_blocks(
    ensemble: Ensemble, count: int, most: int, threads: int
) -> tuple[Ints, NDArray[np.int32]]:
    """Return at most `most` partners of each object, with the ties of some objects at a time in memory."""
    n = ensemble.n_samples
    step = max(_TASK, _MOST // 4 // n // _TASK * _TASK)
    chosen, parts = [], []
    for first in range(0, n, step):
        found = _ties(ensemble, count, range(first, min(first + step, n)), n * n, threads)
        assert found is not None
        indptr, indices = _bounded(ensemble, first, *found, most, threads)
        chosen.append(np.diff(indptr))
        parts.append(indices)
    return np.concatenate([[0], np.cumsum(np.concatenate(chosen))]), np.concatenate(parts)


def _bounded(
    ensemble: Ensemble,
    first: int,
    indptr: Ints,
    indices: NDArray[np.int32],
    most: int | None,
    threads: int,
) -> tuple[Ints, NDArray[np.int32]]:
    """Return the partners that objects from `first` on chose, up to a maximum number per object (None: all).

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    first : int
        The object of the first row.
    indptr, indices : ndarray of int
        The partners chosen, by rows.
    most : int or None
        The maximum number.
    threads : int
        Number of threads.
    """
    n, chosen = ensemble.n_samples, np.diff(indptr)
    if most is None or chosen.max(initial=0) <= most:
        return indptr, indices
    within_bound = np.ones(len(indices), dtype=np.bool_)
    # Objects are taken in blocks, because Ctrl-C has no effect while NumPy sorts.
    blocks = indptr[:-1] // _SORTED
    for objects in np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(blocks)) + 1):
        objects = objects[chosen[objects] > most]
        rows = np.repeat(objects, chosen[objects])
        rank = np.arange(len(rows)) - np.searchsorted(rows, rows, "left")
        places = indptr[rows] + rank
        i = rows + first
        j = indices[places].astype(np.int64)
        c, N = pair_counts(ensemble, i, j, n_jobs=threads)
        # Shares of equal counts may differ by rounding if the weights are fractions.
        share = np.round(c / N, 12)
        order = np.lexsort(((j - i) % n, -_in_small_clusters(ensemble, i, j), -share, i))
        within_bound[places[order[rank >= most]]] = False
    begins = np.concatenate([[0], np.cumsum(np.minimum(chosen, most))])
    return begins.astype(np.int64), indices[within_bound]


def _in_small_clusters(ensemble: Ensemble, i: Ints, j: Ints) -> Floats:
    """Return for pairs of objects the sum of w / size over the clusters that they share."""
    codes, sums = ensemble.codes, np.zeros(len(i))
    worth = ensemble.column_weights / np.maximum(ensemble.cluster_sizes, 1)
    first = ensemble.offsets[:-1]
    step = max(1, _CELLS // ensemble.n_partitions)
    for begin in range(0, len(i), step):
        some = slice(begin, begin + step)
        a, b = codes[i[some]], codes[j[some]]
        shared = (a == b) & (a < noise_code(codes.dtype))
        columns = np.where(shared, a, 0).astype(np.int64) + first
        sums[some] = np.where(shared, worth[np.minimum(columns, len(worth) - 1)], 0.0).sum(axis=1)
    return np.round(sums, 12)
