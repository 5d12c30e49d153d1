"""Dense evidence: c_ij and N_ij of all objects, of some rows, or block of rows by block of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conclust._arrays.containers import number_array
from conclust._kernels import BitSlices
from conclust._threads import thread_count
from conclust._types import Floats, Ints
from conclust._validation import check_bool, check_int, refuse, shown
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import DenseLimitError, InputError

Rows: TypeAlias = slice | range
"""Consecutive objects, for instance ``slice(0, 1000)`` or ``range(1000)``."""

# Number of rows of soft evidence formed at once: (n_clusters, rows) and (n_samples, rows) doubles.
_SOFT_ROWS = 128
# Size in bytes of a block of rows, if the matrix is not formed at once.
_BLOCK_BYTES = 64 << 20
# Number of entries processed at once.
_ENTRIES = 1 << 22


class DenseEvidence(NamedTuple):
    """The evidence of all objects, or of some rows; it unpacks as counts, copresence.

    The methods below are about all pairs of objects. :class:`SparseEvidence` has the same methods for some pairs.

    Attributes
    ----------
    counts : ndarray of shape (n_samples, n_samples) or (n_rows, n_samples)
        c_ij.
    copresence : ndarray of the same shape
        N_ij.
    """

    counts: NDArray[Any]
    copresence: NDArray[Any]

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return int(self.counts.shape[1])

    @property
    def of_all_pairs(self) -> bool:
        """True: every pair is present."""
        return True

    @property
    def pattern(self) -> tuple[None, None]:
        """Start of the row of each object, and its partners: all other objects."""
        return None, None

    @property
    def lengths(self) -> Ints:
        """Number of entries in the row of each object."""
        return np.full(len(self.counts), self.n_samples)

    def matrices(self) -> tuple[Floats, Floats]:
        """Return c and N in doubles."""
        return self.counts.astype(np.float64), self.copresence.astype(np.float64)

    def excess(self, n_clusters: int) -> Floats:
        """Return c - N / n_clusters of the pairs of different objects."""
        difference: Floats = self.counts - self.copresence / n_clusters
        np.fill_diagonal(difference, 0.0)
        return difference

    def entries(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield c_ij and N_ij of all i != j in parts; each part is new. An object with itself has N = 0."""
        step = max(1, _ENTRIES // self.n_samples)
        for begin in range(0, len(self.counts), step):
            counts = self.counts[begin : begin + step]
            N = self.copresence[begin : begin + step].copy()
            rows = np.arange(len(N))
            N[rows, begin + rows] = 0
            yield np.minimum(counts, N).ravel(), N.ravel()


Evidence = DenseEvidence
"""What `evidence` returns."""


class EvidenceBlock(NamedTuple):
    """The evidence of consecutive objects with all objects.

    Attributes
    ----------
    rows : range
        The objects of this block.
    counts : ndarray of shape (len(rows), n_samples)
        c_ij.
    copresence : ndarray of shape (len(rows), n_samples)
        N_ij.
    """

    rows: range
    counts: NDArray[Any]
    copresence: NDArray[Any]


def coassociation(
    labels: Any,
    *,
    normalize: bool = False,
    rows: Rows | None = None,
    dtype: DTypeLike | None = None,
    max_dense: int | None = 20_000,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Count the partitions in which two objects share a cluster, or return their share.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions) or Ensemble
        Labels, one partition per column; -1, NaN, None: missing; -2: noise, observed but apart from all.
    normalize : bool, default=False
        Whether to return the shares c_ij / N_ij in place of the counts c_ij.
    rows : slice or range, default=None
        Consecutive objects whose evidence with all objects is counted. None: all.
    dtype : integer type of 1, 2 or 4 bytes, default=None
        Type of the counts; it must hold the number of partitions. None: int16 for up to 16,383
        partitions, else int32: differences, and the sum of two such matrices, are right. "int8" (up
        to 127 partitions) takes half of that memory and less time. Not for weights and soft members.
    max_dense : int, default=20000
        Maximum number of objects for which the whole matrix is made. None: no limit.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_samples, n_samples) or (n_rows, n_samples)
        c_ij, by default as signed integers (see `dtype`); float64 sums of weights (and of products of
        memberships) if the ensemble has weights or is soft. On the diagonal: the partitions in which
        the object has a cluster. With `normalize` the shares c_ij / N_ij in float64, NaN where no
        partition observed both.

    Raises
    ------
    DenseLimitError
        If there are more than `max_dense` objects and no `rows`.
    ParameterError
        If `normalize` is not a bool, `dtype` does not hold the counts, or `max_dense` or `n_jobs` is no
        positive int.
    InputError
        If the labels are malformed or `rows` are not consecutive objects of the ensemble.

    See Also
    --------
    copresence : N_ij, by which c_ij is divided when labels are missing.
    conclust.evidence.evidence : both in one pass.
    conclust.evidence.coassociation_blocks : both, block by block, for matrices that do not fit in memory.
    conclust.evidence.pair_counts : both, for chosen pairs only.
    conclust.evidence.sample_pairs : both, for uniformly sampled pairs.

    Notes
    -----
    Fred and Jain, "Combining multiple clusterings using evidence accumulation", IEEE TPAMI 27(6),
    2005, equation 2: with `normalize`; N_ij is the number of partitions there.

    Examples
    --------
    >>> from conclust import coassociation
    >>> coassociation([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    array([[3, 3, 1, 0],
           [3, 3, 1, 0],
           [1, 1, 3, 2],
           [0, 0, 2, 3]], dtype=int16)

    A dissimilarity, for instance for ``scipy.cluster.hierarchy``:

    >>> 1 - coassociation([[0, 0], [0, 1], [1, 1]], normalize=True)
    array([[0. , 0.5, 1. ],
           [0.5, 0. , 0.5],
           [1. , 0.5, 0. ]])
    """
    check_bool(normalize, "normalize", "coassociation")
    source = _Source(labels, n_jobs, "coassociation", dtype=dtype)
    if normalize:
        return source.shares(rows, max_dense)
    c, _ = source.dense(rows, max_dense, with_N=False)
    assert c is not None
    return c


def copresence(
    labels: Any,
    *,
    rows: Rows | None = None,
    dtype: DTypeLike | None = None,
    max_dense: int | None = 20_000,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Count the partitions that observed both of two objects.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions) or Ensemble
        Labels, one partition per column; -1, NaN, None: missing; -2: noise, observed but apart from all.
    rows : slice or range, default=None
        Consecutive objects whose evidence with all objects is counted. None: all.
    dtype : integer type of 1, 2 or 4 bytes, default=None
        Type of the counts; it must hold the number of partitions. None: int16 for up to 16,383
        partitions, else int32: differences, and the sum of two such matrices, are right. "int8" (up
        to 127 partitions) takes half of that memory and less time. Not for weights and soft members.
    max_dense : int, default=20000
        Maximum number of objects for which the whole matrix is made. None: no limit.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_samples, n_samples) or (n_rows, n_samples)
        N_ij, in the type of `coassociation`; float64 sums of weights if the ensemble has weights.
        On the diagonal: the partitions that observed the object.

    Raises
    ------
    DenseLimitError
        If there are more than `max_dense` objects and no `rows`.
    InputError
        If the labels are malformed or `rows` are not consecutive objects of the ensemble.

    Examples
    --------
    >>> from conclust import copresence
    >>> copresence([[0, 0], [0, -1], [1, -2]])
    array([[2, 1, 2],
           [1, 1, 1],
           [2, 1, 2]], dtype=int16)
    """
    _, N = _Source(labels, n_jobs, "copresence", dtype=dtype).dense(rows, max_dense, matches=False)
    assert N is not None
    return N


def evidence(
    labels: Any,
    *,
    rows: Rows | None = None,
    dtype: DTypeLike | None = None,
    max_dense: int | None = 20_000,
    n_jobs: int | None = None,
) -> DenseEvidence:
    """Count both c_ij and N_ij in one pass.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions) or Ensemble
        Labels, one partition per column; -1, NaN, None: missing; -2: noise, observed but apart from all.
    rows : slice or range, default=None
        Consecutive objects whose evidence with all objects is counted. None: all.
    dtype : integer type of 1, 2 or 4 bytes, default=None
        Type of the counts; it must hold the number of partitions. None: int16 for up to 16,383
        partitions, else int32: differences, and the sum of two such matrices, are right. "int8" (up
        to 127 partitions) takes half of that memory and less time. Not for weights and soft members.
    max_dense : int, default=20000
        Maximum number of objects for which the whole matrices are made. None: no limit.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Returns
    -------
    DenseEvidence
        A named tuple: ``counts`` as from `coassociation`, ``copresence`` as from `copresence`.

    Raises
    ------
    DenseLimitError
        If there are more than `max_dense` objects and no `rows`.
    InputError
        If the labels are malformed or `rows` are not consecutive objects of the ensemble.

    Examples
    --------
    >>> from conclust.evidence import evidence
    >>> known = evidence([[0, 0], [0, -1], [1, -2]])
    >>> known.counts
    array([[2, 1, 0],
           [1, 1, 0],
           [0, 0, 1]], dtype=int16)
    >>> c, N = known
    """
    return DenseEvidence(*_Source(labels, n_jobs, "evidence", dtype=dtype).both(rows, max_dense))


def narrow_evidence(ensemble: Ensemble, n_jobs: int | None) -> DenseEvidence:
    """Count c_ij and N_ij of all objects in the fewest bytes, unsigned: as the solvers read them."""
    return DenseEvidence(
        *_Source(ensemble, n_jobs, "evidence", dtype=_narrow_type(ensemble)).both(None, None)
    )


def unsigned(counts: NDArray[Any]) -> NDArray[Any]:
    """Return counts as the kernels read them: the same bytes as unsigned numbers."""
    return counts.view(f"u{counts.itemsize}") if counts.dtype.kind == "i" else counts


def coassociation_blocks(
    labels: Any, *, block_rows: int | None = None, n_jobs: int | None = None
) -> Iterator[EvidenceBlock]:
    """Iterate over c_ij and N_ij in blocks of rows, for matrices that do not fit in memory.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions) or Ensemble
        Labels, one partition per column; -1, NaN, None: missing; -2: noise, observed but apart from all.
    block_rows : int, default=None
        Number of rows in a block. None: a matrix of 64 MiB, at least one row.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.

    Yields
    ------
    EvidenceBlock
        ``rows`` (a range), ``counts`` and ``copresence`` of these rows against all objects. The
        arrays are new in every block.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If `block_rows` is not a positive int.

    Examples
    --------
    >>> from conclust.evidence import coassociation_blocks
    >>> labels = [[0, 0], [0, 1], [1, 1]]
    >>> sum(int(block.counts.sum()) for block in coassociation_blocks(labels, block_rows=2))
    10
    """
    check_int(block_rows, "block_rows", "coassociation_blocks", none=True)
    source = _Source(labels, n_jobs, "coassociation_blocks")
    if block_rows is None:
        block_rows = source.rows_at_once()
    # The checks above run at once; counting runs when a block is requested.
    return _blocks(source, block_rows)


def _blocks(source: _Source, block_rows: int) -> Iterator[EvidenceBlock]:
    for begin in range(0, source.n, block_rows):
        rows = range(begin, min(source.n, begin + block_rows))
        yield EvidenceBlock(rows, *source.both(rows, None))


def frequencies(c: ArrayLike, N: ArrayLike) -> Floats:
    """Divide counts by co-presence.

    Parameters
    ----------
    c : array-like
        Counts c_ij.
    N : array-like of the same shape
        Co-presence N_ij.

    Returns
    -------
    ndarray of float64
        p_ij = c_ij / N_ij in [0, 1], and NaN where N_ij is 0: no partition observed both objects,
        so the ensemble does not say whether they belong together. It is never silently 0.

    Raises
    ------
    InputError
        If the shapes differ.

    Examples
    --------
    >>> from conclust.evidence import frequencies
    >>> frequencies([2, 0, 0], [4, 4, 0])
    array([0.5, 0. , nan])
    """
    counts, copresence = number_array(c, "The counts c"), number_array(N, "The numbers N")
    if counts.shape != copresence.shape:
        raise InputError(
            "frequencies needs c and N of the same shape. "
            f"Got {counts.shape} and {copresence.shape} instead."
        )
    p = np.full(counts.shape, np.nan)
    with np.errstate(over="ignore"):  # N may be a subnormal number
        np.divide(counts, copresence, out=p, where=copresence > 0)
    # Soft and weighted sums can exceed 1 by a rounding error. NaN stays NaN.
    np.minimum(p, 1.0, out=p)
    return p


class _Source:
    """An ensemble prepared for counting: planes are packed once, then any block of rows can be counted."""

    def __init__(
        self, labels: Any, n_jobs: int | None, owner: str, *, dtype: DTypeLike | None = None
    ) -> None:
        self.ensemble = as_ensemble(labels)
        self.n, self.m = self.ensemble.shape
        self.owner = owner
        self.threads = thread_count(n_jobs, owner)
        self.slices = BitSlices(self.ensemble.label_view, self.threads)
        kind = count_type(self.m) if dtype is None else _check_type(dtype, self.ensemble, owner)
        self.N_dtype = np.dtype(kind if self.ensemble.weights is None else np.float64)
        self.counts_dtype = np.dtype(np.float64 if self.ensemble.is_soft else self.N_dtype)

    def dense(
        self, rows: Rows | None, max_dense: int | None, *, matches: bool = True, with_N: bool = True
    ) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Return c and N of the rows, each None if it is not wanted."""
        begin, end = self._bounds(rows, max_dense, self.counts_dtype if matches else self.N_dtype)
        shape = (end - begin, self.n)
        c = np.empty(shape, self.counts_dtype) if matches else None
        N = np.empty(shape, self.N_dtype) if with_N else None
        if self.ensemble.is_soft:
            if c is not None:
                _soft_counts(self.ensemble, begin, c)
            if N is not None:
                self._count(begin, end, None, N)
        else:
            self._count(begin, end, c, N)
        return c, N

    def both(self, rows: Rows | None, max_dense: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return c and N of the rows."""
        c, N = self.dense(rows, max_dense)
        assert c is not None
        assert N is not None
        return c, N

    def shares(self, rows: Rows | None, max_dense: int | None) -> Floats:
        """Return c / N of the rows; only blocks of c and N are formed at a time."""
        first, last = self._bounds(rows, max_dense, np.dtype(np.float64))
        p = np.empty((last - first, self.n))
        step = self.rows_at_once()
        for begin in range(first, last, step):
            end = min(last, begin + step)
            p[begin - first : end - first] = frequencies(*self.both(range(begin, end), None))
        return p

    def rows_at_once(self) -> int:
        """Return the number of rows in a block of 64 MiB, at least one."""
        return max(1, _BLOCK_BYTES // (self.n * self.counts_dtype.itemsize))

    def _count(self, begin: int, end: int, c: NDArray[Any] | None, N: NDArray[Any] | None) -> None:
        weights = self.ensemble.weights
        if weights is None:
            counted = None if c is None else unsigned(c)
            copresence = None if N is None else unsigned(N)
            self.slices.coassociation(begin, end, counted, copresence, self.threads)
        else:
            self.slices.weighted_coassociation(weights, begin, end, c, N, self.threads)

    def _bounds(
        self, rows: Rows | None, max_dense: int | None, dtype: np.dtype[Any]
    ) -> tuple[int, int]:
        """Return the first and one past the last object of `rows`; None stands for all, at most `max_dense`."""
        check_int(max_dense, "max_dense", self.owner, none=True)
        if rows is not None:
            return _bounds(rows, self.n)
        if max_dense is None or self.n <= max_dense:
            return 0, self.n
        size = self.n**2 * dtype.itemsize / 2**30
        raise DenseLimitError(
            f"{self.owner} of {self.n} objects would make an n x n matrix of {size:.1f} GiB, above "
            f"max_dense={max_dense}. Ask for some rows with rows=, go through all of them with "
            "coassociation_blocks, count chosen pairs with pair_counts or sampled ones with "
            "sample_pairs, use a consensus that needs no n x n matrix (PCC, EAC with "
            "linkage='single'), or raise max_dense if enough memory is available."
        )


def count_type(m: int) -> type[np.signedinteger[Any]]:
    """Return the type of counts of m partitions: signed, and wide enough for the sum of two.

    int8 would do for few partitions; that twice a count of 64 is -128 in it would surprise.
    """
    return np.int16 if 2 * m <= np.iinfo(np.int16).max else np.int32


def _narrow_type(ensemble: Ensemble) -> type[np.unsignedinteger[Any]] | None:
    """Return the smallest unsigned type that holds the counts; None for sums of weights."""
    if ensemble.is_soft or ensemble.weights is not None:
        return None
    for dtype in (np.uint8, np.uint16):
        if ensemble.n_partitions <= np.iinfo(dtype).max:
            return dtype
    return np.uint32


def _check_type(dtype: DTypeLike, ensemble: Ensemble, owner: str) -> np.dtype[Any]:
    """Return the requested type of counts, if it can hold them."""
    m = ensemble.n_partitions
    try:
        requested = np.dtype(dtype)
    except TypeError:
        requested = np.dtype(object)
    fits = requested.kind in "iu" and requested.itemsize <= 4 and m <= np.iinfo(requested).max
    if not fits or ensemble.is_soft or ensemble.weights is not None:
        refuse(
            "dtype",
            owner,
            f"an integer type of 1, 2 or 4 bytes that holds {m}, the number of partitions (None where "
            "the ensemble has weights or is soft: those sums are float64)",
            dtype,
        )
    return requested


def _bounds(rows: Rows, n: int) -> tuple[int, int]:
    """Return the first and one past the last object of `rows`."""
    if isinstance(rows, slice) and all(
        edge is None or (isinstance(edge, (int, np.integer)) and -n <= edge <= n)
        for edge in (rows.start, rows.stop)
    ):
        begin, end, step = rows.indices(n)
    elif isinstance(rows, range):
        begin, end, step = rows.start, rows.stop, rows.step
    else:
        begin, end, step = -1, -1, 1
    if step != 1 or not 0 <= begin < end <= n:
        raise InputError(
            f"rows must be a slice or range of consecutive objects between 0 and {n}. Got {shown(rows)} "
            "instead."
        )
    return begin, end


def _soft_counts(ensemble: Ensemble, begin: int, out: Floats) -> None:
    """Fill `out` with the rows from `begin` on of C = B diag(w) B'."""
    scaled = weighted_indicator(ensemble)
    for first in range(0, len(out), _SOFT_ROWS):
        last = min(first + _SOFT_ROWS, len(out))
        # C is symmetric to the bit: what the rows before hold is copied.
        done = first if begin == 0 else 0
        others = np.ascontiguousarray(scaled[done:].toarray().T)
        out[first:last, done:] = scaled[begin + first : begin + last] @ others
        out[first:last, :done] = out[:done, first:last].T


def weighted_indicator(ensemble: Ensemble) -> sp.csr_array:
    """Return B diag(sqrt(w)), so that products of its rows are symmetric to the bit."""
    indicator: sp.csr_array = ensemble.indicator
    if ensemble.weights is None:
        return indicator
    return sp.csr_array(indicator @ sp.diags_array(np.sqrt(ensemble.column_weights)))
