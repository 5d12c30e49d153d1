"""Evidence of chosen or uniformly sampled pairs of objects, for when n x n is too large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from conclust import _kernels
from conclust._random import RandomStateLike, seed_sequence, spawn_seeds
from conclust._threads import thread_count
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_int
from conclust.ensemble import Ensemble, as_ensemble
from conclust.evidence.dense import frequencies, unsigned, weighted_indicator
from conclust.exceptions import InputError

# Number of soft pairs formed at once.
_SOFT_PAIRS = 1 << 18


def pair_counts(
    labels: Any, i: ArrayLike, j: ArrayLike, *, n_jobs: int | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count c_ij and N_ij for chosen pairs of objects.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions) or Ensemble
        Labels, one partition per column; -1, NaN, None: missing; -2: noise, observed but apart from all.
    i, j : array-like of int of shape (n_pairs,)
        The two objects of each pair, 0 to n_samples - 1. Fast when `i` is sorted.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Returns
    -------
    c : ndarray of shape (n_pairs,)
        Partitions in which the two share a cluster: int32, or float64 sums of weights (and of
        products of memberships) if the ensemble has weights or is soft.
    N : ndarray of shape (n_pairs,)
        Partitions that observed both: int32, or float64 sums of weights.

    Raises
    ------
    InputError
        If the labels are malformed, or the indices are not integers, out of range, or of different lengths.

    Examples
    --------
    >>> from conclust.evidence import pair_counts
    >>> pair_counts([[0, 0, 0], [0, 0, -1], [1, 1, 0]], [0, 0], [1, 2])
    (array([2, 1], dtype=int32), array([2, 3], dtype=int32))
    """
    threads = thread_count(n_jobs, "pair_counts")
    ensemble = as_ensemble(labels)
    first = _objects(i, "i", ensemble.n_samples)
    second = _objects(j, "j", ensemble.n_samples)
    if len(first) != len(second):
        raise InputError(
            f"pair_counts needs 'i' and 'j' of the same length. Got {len(first)} and {len(second)} instead."
        )
    c, N = _sums(ensemble, len(first))
    _kernels.pair_counts(ensemble.label_view, first, second, unsigned(c), unsigned(N), threads)
    if ensemble.is_soft:
        c = _soft_counts(ensemble, first, second)
    return c, N


@dataclass(frozen=True, eq=False)
class SparseEvidence:
    """Counts c_ij and N_ij on a symmetric pattern of pairs, in compressed sparse rows.

    Each pair is stored once per direction; columns are sorted within a row; no pair has N_ij = 0,
    and no object is paired with itself. All of that is checked here, once.

    Attributes
    ----------
    indptr : ndarray of shape (n_samples + 1,), int64
        Start of the row of each object.
    indices : ndarray of shape (n_entries,), int32
        The partners of each object.
    counts : ndarray of shape (n_entries,)
        c_ij: int32, or float64 if the ensemble has weights or is soft.
    copresence : ndarray of shape (n_entries,)
        N_ij: int32, or float64 if the ensemble has weights.

    Raises
    ------
    InputError
        If the arrays are not of this form.
    """

    indptr: Ints
    indices: NDArray[np.int32]
    counts: NDArray[Any]
    copresence: NDArray[Any]

    def __post_init__(self) -> None:
        """Check the form."""
        _check_form(self.indptr, self.indices, self.counts, self.copresence)

    @classmethod
    def _of(
        cls,
        indptr: Ints,
        indices: NDArray[np.int32],
        counts: NDArray[Any],
        copresence: NDArray[Any],
    ) -> SparseEvidence:
        """Return evidence without checking its form, which is known to be valid."""
        evidence = object.__new__(cls)
        for name, part in zip(
            ("indptr", "indices", "counts", "copresence"),
            (indptr, indices, counts, copresence),
            strict=True,
        ):
            object.__setattr__(evidence, name, part)
        return evidence

    def of_objects(self, objects: Bools) -> SparseEvidence:
        """Return the evidence of some objects, renumbered, without pairs of other objects."""
        number = np.cumsum(objects) - 1
        return SparseEvidence._of(
            np.concatenate([[0], self.indptr[1:][objects]]).astype(np.int64),
            number[self.indices].astype(np.int32),
            self.counts,
            self.copresence,
        )

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return len(self.indptr) - 1

    @property
    def n_pairs(self) -> int:
        """Number of pairs of objects, each counted once."""
        return len(self.indices) // 2

    @property
    def of_all_pairs(self) -> bool:
        """False: only the pairs of its pattern are present."""
        return False

    @property
    def pattern(self) -> tuple[Ints, NDArray[np.int32]]:
        """Start of the row of each object, and its partners."""
        return self.indptr, self.indices

    @property
    def lengths(self) -> Ints:
        """Number of entries in the row of each object."""
        return np.diff(self.indptr)

    def matrices(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Return c and N in doubles."""
        c, N = (self._matrix(x.astype(np.float64)) for x in (self.counts, self.copresence))
        return c, N

    def excess(self, n_clusters: int) -> sp.csr_array:
        """Return c - N / n_clusters of the pairs."""
        return self._matrix(self.counts - self.copresence / n_clusters)

    def entries(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield c_ij and N_ij of the pairs, each pair once per direction."""
        yield self.counts, self.copresence

    def _matrix(self, values: NDArray[Any]) -> sp.csr_array:
        return sp.csr_array((values, self.indices, self.indptr), shape=(self.n_samples,) * 2)

    def to_scipy(self) -> sp.csr_array:
        """Return the frequencies c_ij / N_ij as a sparse array; a stored 0 is a pair with c_ij = 0.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_samples, n_samples)
            A pair that is not stored is unknown, not 0.
        """
        p = frequencies(self.counts, self.copresence)
        return self._matrix(p)


def sample_pairs(
    labels: Any,
    per_object: int = 30,
    *,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> SparseEvidence:
    """Sample pairs uniformly and count their evidence.

    Every object draws `per_object` distinct partners; a pair is kept if either of the two drew the
    other. So objects have about twice `per_object` partners, and never fewer than drawn.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions) or Ensemble
        Labels, one partition per column; -1, NaN, None: missing; -2: noise, observed but apart from all.
    per_object : int, default=30
        Number of partners that each object draws; all other objects if there are fewer.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed. The sample depends on it, on the number of objects and on `per_object` only.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Returns
    -------
    SparseEvidence
        The counts in compressed sparse rows. Pairs that no partition observed together (N_ij = 0)
        are left out; only they can bring an object below `per_object` partners.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If `per_object` is not a positive int or `random_state` is not a seed.

    Notes
    -----
    The sampling of section 7.3 of Lourenço et al., "Probabilistic consensus clustering using
    evidence accumulation", Machine Learning 98 (2015), with a guaranteed number of pairs per object.

    Examples
    --------
    >>> from conclust.evidence import sample_pairs
    >>> sample = sample_pairs([[0, 0], [0, 1], [1, 1], [1, 1]], per_object=3, random_state=0)
    >>> sample.n_pairs
    6
    >>> sample.to_scipy().toarray()
    array([[0. , 0.5, 0. , 0. ],
           [0.5, 0. , 0.5, 0.5],
           [0. , 0.5, 0. , 1. ],
           [0. , 0.5, 1. , 0. ]])
    """
    drawn = check_int(per_object, "per_object", "sample_pairs")
    threads = thread_count(n_jobs, "sample_pairs")
    (seed,) = spawn_seeds(seed_sequence(random_state, "sample_pairs"), 1)
    ensemble = as_ensemble(labels)
    n = ensemble.n_samples
    sample = _kernels.PairSample(n, min(drawn or 1, n - 1), seed, threads)
    indptr = np.empty(n + 1, dtype=np.int64)
    indices = np.empty(sample.n_entries, dtype=np.int32)
    sample.read(indptr, indices, threads)
    del sample
    return evidence_of_pattern(ensemble, indptr, indices, n_jobs=n_jobs)


def evidence_of_pattern(
    ensemble: Ensemble, indptr: Ints, indices: NDArray[np.int32], *, n_jobs: int | None
) -> SparseEvidence:
    """Count the evidence of a symmetric pattern of pairs; those with N_ij = 0 are left out."""
    c, N = _sums(ensemble, len(indices))
    _kernels.graph_counts(
        ensemble.label_view, indptr, indices, unsigned(c), unsigned(N), thread_count(n_jobs)
    )
    if ensemble.is_soft:
        rows = np.repeat(np.arange(ensemble.n_samples), np.diff(indptr))
        c = _soft_counts(ensemble, rows, indices)
    observed = N > 0
    if not observed.all():
        n_known = np.concatenate([[0], np.cumsum(observed)])
        indptr = n_known[indptr].astype(np.int64)
        indices, c, N = indices[observed], c[observed], N[observed]
    return SparseEvidence._of(indptr, indices, c, N)


def _sums(ensemble: Ensemble, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    dtype = np.int32 if ensemble.weights is None else np.float64
    return np.empty(count, dtype=dtype), np.empty(count, dtype=dtype)


def _objects(index: ArrayLike, name: str, n: int) -> NDArray[Any]:
    objects = np.asarray(index)
    if objects.ndim != 1 or (objects.dtype.kind not in "iu" and objects.size):
        raise InputError(
            f"{name} must be a vector of ints, one object per pair. Got an array of shape "
            f"{objects.shape} and type {objects.dtype} instead."
        )
    if objects.size and not 0 <= objects.min() <= objects.max() < n:
        raise InputError(
            f"{name} must hold objects from 0 to {n - 1}. Got {objects.min()} to {objects.max()} "
            "instead."
        )
    return np.ascontiguousarray(objects, dtype=np.int64)


def _soft_counts(ensemble: Ensemble, i: NDArray[Any], j: NDArray[Any]) -> Floats:
    scaled = weighted_indicator(ensemble)
    c = np.empty(len(i))
    for begin in range(0, len(i), _SOFT_PAIRS):
        part = slice(begin, begin + _SOFT_PAIRS)
        c[part] = scaled[i[part]].multiply(scaled[j[part]]).sum(axis=1)
    return c


def _check_form(
    indptr: NDArray[Any], indices: NDArray[Any], counts: NDArray[Any], copresence: NDArray[Any]
) -> None:
    """Refuse arrays that are not symmetric evidence of pairs of different objects.

    Raises
    ------
    InputError
        With the first violation.
    """

    def wrong(what: str) -> NoReturn:
        raise InputError(
            f"A SparseEvidence {what}. Use conclust.evidence.sample_pairs, or see the parameters of "
            "SparseEvidence."
        )

    n, entries = len(indptr) - 1, len(indices)
    if n < 0 or indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        wrong("needs whole numbers for indptr and indices")
    rising = (np.diff(indptr) >= 0).all() and indptr[0] == 0
    if not (rising and indptr[-1] == entries == len(counts) == len(copresence)):
        wrong(
            "needs compressed sparse rows: indptr must rise from 0 to the number of entries, of which "
            f"there are {entries} indices, {len(counts)} counts and {len(copresence)} copresences"
        )
    if entries and not 0 <= indices.min() <= indices.max() < n:
        wrong(f"must join objects from 0 to {n - 1}")
    rows = np.repeat(np.arange(n), np.diff(indptr))
    if (rows == indices).any():
        wrong("must not pair an object with itself")
    within = rows[1:] == rows[:-1]
    if (np.diff(indices)[within] <= 0).any():
        wrong("must be sorted within each object, each partner once")
    c, N = np.asarray(counts, dtype=np.float64), np.asarray(copresence, dtype=np.float64)
    if not ((c >= 0) & (N > 0) & (c <= N * (1 + 1e-9)) & np.isfinite(N)).all():
        wrong("must have 0 <= c_ij <= N_ij and N_ij > 0")
    for part in (c, N):
        matrix = sp.csr_array((part + 1.0, indices, indptr), shape=(n, n))
        other = matrix.T.tocsr()
        other.sort_indices()
        same = np.array_equal(other.indptr, matrix.indptr) and np.array_equal(
            other.indices, matrix.indices
        )
        if not (same and np.allclose(other.data, matrix.data, rtol=1e-9, atol=0)):
            wrong(
                "must be symmetric: each pair once in the row of either object, with the same counts"
            )
