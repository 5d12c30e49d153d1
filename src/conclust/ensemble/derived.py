"""The list of all quantities derived from the codes of an ensemble.

Functions and methods read these quantities here instead of computing them again from ``codes``,
``offsets`` and ``weights``. Each is computed at first use and kept (but for
``noise`` and ``observed_weights``); arrays are read-only::

    the ensemble                   n_samples, n_partitions, shape, is_soft, has_missing, has_noise,
                                   fingerprint
    each label            (n, N)   labels, present, noise
    each object           (n,)     observed, observed_weights
    each partition        (N,)     cluster_counts, missing_counts, noise_counts, observed_counts,
                                   partition_weights, relative_weights, presence_groups
    each cluster          (T,)     cluster_sizes, column_partitions, column_weights
    cluster and partition (T, N)   observed_sizes
    partition, partition  (N, N)   shared_counts
    object and cluster    (n, T)   indicator, B
    cluster and cluster   (T, T)   gram, B'B; gram_entries, their maximum number
    all of it                      label_view, as the kernels read it

`over_clusters` repeats a value of each partition for its clusters; `over_partitions` reduces values of
clusters to one per partition (both in ``labels.py``). ``Ensemble.distinct_rows`` groups equal rows of
labels; ``Ensemble.part`` takes some of the objects and keeps the numbers of the clusters.

Here B'B (T, T), the contingency tables of all pairs of partitions, is counted whole, up to a limit of its size. Weights of
partitions, and the objects or partitions to keep, are read here too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from conclust._kernels import (
    LabelView,
    cluster_sizes,
    contingency_gram,
    contingency_rows,
    presence_signatures,
)
from conclust._threads import thread_count
from conclust._types import Bools, Floats, Ints
from conclust._validation import shown
from conclust.ensemble.labels import (
    MISSING,
    NOISE,
    Names,
    Naming,
    SharedNames,
    indicator_of,
    label_view,
    missing_code,
    noise_code,
    over_clusters,
)
from conclust.exceptions import DenseLimitError, InputError

# Weights other than 0 are in this range: squares, products of two and shares of the sum neither overflow
# nor vanish.
SMALLEST, LARGEST = 1e-30, 1e30


def weights_by_name(weights: Any, names: Callable[[], Iterable[Any] | None]) -> Any:
    """Return weights in the order of the names of the partitions, if they are a Series of pandas with these names."""
    index: Any = getattr(weights, "index", None)
    given = names() if hasattr(index, "get_indexer") else None
    if given is None:
        return weights
    wanted, place = list(given), {name: u for u, name in enumerate(index)}
    if len(place) == len(index) and place.keys() == set(wanted):
        return np.asarray(weights)[[place[name] for name in wanted]]
    strangers = [name for name in index if name not in wanted]
    if strangers and any(isinstance(name, str) for name in place.keys() & set(wanted)):
        raise InputError(
            f"The weights have the names of other partitions: there is no {strangers[0]!r}. Choose those of "
            f"{shown(wanted)}, or pass weights.to_numpy() if they are in this order."
        )
    return weights


def read_weights(weights: ArrayLike | None, m: int) -> Floats | None:
    """Return the weights of m partitions, read-only."""
    if weights is None:
        return None
    try:
        raw = np.ma.filled(weights, np.nan) if np.ma.isMaskedArray(weights) else weights
        if np.iscomplexobj(raw):
            raise TypeError("complex numbers are in no order")
        array = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"The weights of an ensemble must be numbers. Got {shown(weights)} instead."
        ) from error
    if array.shape != (m,):
        raise InputError(
            f"The weights of an ensemble must be one number per partition, shape ({m},). Got shape "
            f"{array.shape} instead."
        )
    if not np.isfinite(array).all() or (array < 0).any() or not array.any():
        raise InputError(
            "The weights of an ensemble must be finite, at least 0 and not all 0. Got "
            f"{array.min()} to {array.max()} instead."
        )
    outside = (array > 0) & ((array < SMALLEST) | (array > LARGEST))
    if outside.any():
        raise InputError(
            f"The weights of an ensemble must be 0 or between {SMALLEST:g} and {LARGEST:g}: methods "
            f"square and divide them. Got {array[outside][0]:g} for partition {np.argmax(outside)} "
            "instead. Divide all weights by the largest, and set negligible ones to 0."
        )
    array.flags.writeable = False
    return array


def within_range(weights: Floats) -> Floats:
    """Return learned weights in the range that `read_weights` accepts.

    Those that are negligible become 0; all are scaled only where the largest is out of range.
    """
    largest = float(weights.max())
    if not SMALLEST <= largest <= LARGEST:
        weights = weights / largest
    return np.where(weights < SMALLEST, 0.0, weights)


def read_list(values: Iterable[T], kind: type[T]) -> list[T]:
    """Return the ensembles to concatenate, all of one kind."""
    if not isinstance(values, Iterable):
        raise InputError(f"Ensemble.concat needs a list of ensembles. Got {shown(values)} instead.")
    ensembles = list(values)
    if not all(isinstance(one, kind) for one in ensembles):
        raise InputError("Ensemble.concat needs a list of ensembles: Ensemble(labels) makes one.")
    if not ensembles:
        raise InputError("Ensemble.concat needs at least one ensemble. Got none.")
    return ensembles


def read_index(chosen: ArrayLike | None, n: int, what: str) -> Ints:
    """Return indices below n from indices or bools; None stands for all."""
    if chosen is None:
        return np.arange(n)
    try:
        index = np.asarray(chosen)
    except ValueError:  # ragged
        index = np.empty(0)
    if index.dtype == np.bool_ and index.shape == (n,):
        return np.flatnonzero(index)
    if (
        index.ndim != 1
        or index.dtype.kind not in "iu"
        or (index.size and not (-n <= index.min() and index.max() < n))
    ):
        raise InputError(
            f"The {what!r} to keep must be a vector of indices below {n}, or {n} bools. Got {shown(chosen)} instead."
        )
    return index.astype(np.int64) % n


# Maximum total number of clusters for which B'B is first counted into a dense matrix.
DENSE = 4096
# Maximum number of entries of B'B if it is made whole: 1.5 GiB.
_MOST = 1 << 27
# Number of counts below which threads cost more than they gain.
_WORTH_THREADS = 1_000_000
_ROWS = 256


def gram_entries(codes: NDArray[Any], offsets: Ints, soft: sp.csr_array | None) -> int:
    """Return the maximum number of non-zero entries of B'B."""
    n, m = codes.shape
    total = int(offsets[-1])
    each = n * m * m if soft is None else int((np.diff(soft.indptr).astype(np.int64) ** 2).sum())
    return min(total * total, each)


def check_gram(entries: int, what: str, instead: str) -> None:
    """Refuse a matrix of the size of B'B where that has too many entries."""
    if entries > _MOST:
        raise DenseLimitError(
            f"{what} would have up to {entries:,} entries ({12 * entries / 2**30:.1f} GiB): one for "
            f"each pair of clusters that can share an object. At most {_MOST:,} are allowed. {instead}"
        )


def counted_gram(labels: LabelView) -> sp.csr_array:
    """Count B'B of hard partitions of at most `DENSE` clusters altogether."""
    T, m = labels.n_clusters, labels.n_partitions
    counts = np.empty((T, T), dtype=np.int64)
    few = labels.n_objects * m * m < _WORTH_THREADS
    contingency_gram(labels, counts, 1 if few else thread_count(None))
    return _sparse(counts)


def counted_rows(labels: LabelView, partitions: slice, height: int) -> sp.csr_array:
    """Count the rows of B'B of the clusters of some partitions, `height` altogether; the partitions are hard."""
    counts = np.empty((height, labels.n_clusters), dtype=np.int64)
    work = labels.n_objects * labels.n_partitions * (partitions.stop - partitions.start)
    threads = 1 if work < _WORTH_THREADS else thread_count(None)
    contingency_rows(labels, partitions.start, partitions.stop, counts, threads)
    return _sparse(counts)


def _sparse(counts: NDArray[np.int64]) -> sp.csr_array:
    """Return the entries of a matrix of counts that are not 0, in the order of their columns."""
    height, width = counts.shape
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(counts, axis=1))])
    columns = np.empty(starts[-1], dtype=np.int32)
    values = np.empty(starts[-1])
    # In pieces, because the positions of all entries would take twice the memory of the counts.
    for first in range(0, height, _ROWS):
        rows = counts[first : first + _ROWS]
        places = rows.ravel().nonzero()[0]
        part = slice(starts[first], starts[min(height, first + _ROWS)])
        columns[part] = places % width
        values[part] = rows.ravel()[places]
    return sp.csr_array((values, columns, starts.astype(np.int32)), shape=counts.shape)


T = TypeVar("T")

# Steps of the mantissas of relative weights.
_PRECISION = 2.0**40


class PresenceGroups(NamedTuple):
    """Partitions that observed the same objects.

    Attributes
    ----------
    of_partition : ndarray of int32 of shape (n_partitions,)
        The group of each partition: the partition itself where no two are in a group.
    first : ndarray of int64 of shape (n_groups,)
        The first partition of each group.
    """

    of_partition: NDArray[np.int32]
    first: Ints

    @classmethod
    def of(cls, signatures: NDArray[np.uint64]) -> PresenceGroups:
        """Group partitions by the signatures of the objects that they observed."""
        m = len(signatures)
        _, first, groups = np.unique(signatures, return_index=True, return_inverse=True)
        if len(first) == m:  # numbered by partition: the fast case of the kernels
            return cls(np.arange(m, dtype=np.int32), np.arange(m))
        return cls(groups.astype(np.int32), first)


def once(method: Callable[[Any], T]) -> property:
    """Compute a derived quantity at first use and keep it (arrays are made read-only)."""
    name = method.__name__

    @wraps(method)
    def get(self: Any) -> T:
        if name not in self._derived:
            value = method(self)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            self._derived[name] = value
        return self._derived[name]  # type: ignore[no-any-return]

    return property(get)


def labels_of(codes: NDArray[Any]) -> Ints:
    """Return codes as labels: 0, 1, ..., -1 missing, -2 noise."""
    labels = codes.astype(np.int64)
    labels[codes == missing_code(codes.dtype)] = MISSING
    labels[codes == noise_code(codes.dtype)] = NOISE
    return labels


class Derived:
    """Quantities derived from the codes of an ensemble (see the list above)."""

    __slots__ = ()

    codes: NDArray[Any]
    cluster_counts: Ints
    offsets: Ints
    weights: Floats | None
    names: Names
    missing_counts: Ints
    noise_counts: Ints
    _soft: sp.csr_array | None
    _derived: dict[str, Any]

    # -- of the ensemble

    @property
    def n_samples(self) -> int:
        """Number of objects, n."""
        return int(self.codes.shape[0])

    @property
    def n_partitions(self) -> int:
        """Number of partitions, N in the papers."""
        return int(self.codes.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_partitions)."""
        return self.n_samples, self.n_partitions

    @property
    def is_soft(self) -> bool:
        """Whether the partitions are memberships (``from_memberships``)."""
        return self._soft is not None

    @property
    def naming(self) -> Naming:
        """Whether equal names in different partitions are the same class: "shared", or else "own"."""
        return "shared" if isinstance(self.names, SharedNames) else "own"

    @property
    def is_held(self) -> bool:
        """Whether labels and quantities per object are in memory."""
        return True

    @property
    def has_missing(self) -> bool:
        """Whether any partition left an object unobserved."""
        return bool(self.missing_counts.any())

    @property
    def has_noise(self) -> bool:
        """Whether any partition has a noise object."""
        return bool(self.noise_counts.any())

    # -- of labels and objects

    @once
    def labels(self) -> Ints:
        """Labels (n_samples, n_partitions) as int64: 0 .. K_u - 1, -1 missing, -2 noise."""
        return labels_of(self.codes)

    @once
    def present(self) -> Bools:
        """Mask of observed objects, (n_samples, n_partitions)."""
        return np.asarray(self.codes != missing_code(self.codes.dtype))

    @once
    def observed(self) -> Bools:
        """Mask of the objects observed by at least one partition, (n_samples,)."""
        if not self.has_missing:
            return np.ones(self.n_samples, dtype=np.bool_)
        return np.asarray(self.codes.min(axis=1) != missing_code(self.codes.dtype))

    @property
    def noise(self) -> Bools:
        """Mask of noise objects, (n_samples, n_partitions); not stored."""
        return np.asarray(self.codes == noise_code(self.codes.dtype))

    @property
    def observed_weights(self) -> Floats:
        """Weight of the partitions that observed each object, (n_samples,)."""
        weights = self.partition_weights
        if not self.has_missing:
            return np.full(self.n_samples, float(weights.sum()))
        return np.asarray(self.present @ weights, dtype=np.float64)

    # -- of partitions

    @once
    def partition_weights(self) -> Floats:
        """Weight of each partition, 1 if the ensemble has none, (n_partitions,)."""
        return np.ones(self.n_partitions) if self.weights is None else self.weights

    @once
    def relative_weights(self) -> Floats | None:
        """Weights without a scale, for methods in which evidence adds up, (N,); None: all equal.

        Their sum is the effective number of partitions, (sum w)^2 / (sum w^2), to which partitions of weight 0 add
        nothing. They are rounded to 12 digits, so that a constant factor changes no bit; a weight that becomes too small
        for an ensemble is 0.
        """
        if self.weights is None:
            return None
        shares = self.weights / self.weights.max()
        mantissas, exponents = np.frexp(shares * (shares.sum() / (shares @ shares)))
        weights = np.ldexp(np.round(mantissas * _PRECISION) / _PRECISION, exponents)
        weights[weights < SMALLEST] = 0.0
        return None if (weights == 1.0).all() else weights

    @once
    def observed_counts(self) -> Ints:
        """Number of objects that each partition observed, (n_partitions,)."""
        return self.n_samples - self.missing_counts

    @once
    def shared_counts(self) -> Floats:
        """Number of objects observed by both of two partitions, (n_partitions, n_partitions)."""
        m = self.n_partitions
        if not self.has_missing:
            return np.full((m, m), float(self.n_samples))
        present = self.present.astype(np.float64)
        return np.asarray(present.T @ present)

    @once
    def presence_groups(self) -> PresenceGroups:
        """Which partitions observed the same objects."""
        m = self.n_partitions
        if not self.has_missing:
            return PresenceGroups(np.zeros(m, dtype=np.int32), np.zeros(1, dtype=np.int64))
        signatures = np.empty(m, dtype=np.uint64)
        presence_signatures(self.label_view, signatures)
        return PresenceGroups.of(signatures)

    # -- of clusters: the columns of the indicator

    @once
    def cluster_sizes(self) -> Floats:
        """Number of objects in each cluster, (T,); if soft, the sum of their probabilities."""
        if self._soft is not None:
            return np.asarray(self._soft.sum(axis=0), dtype=np.float64).ravel()
        sizes = np.zeros(int(self.offsets[-1]), dtype=np.int64)
        cluster_sizes(self.label_view, sizes)
        return sizes.astype(np.float64)

    @once
    def column_partitions(self) -> Ints:
        """The partition of each cluster, (T,)."""
        return over_clusters(np.arange(self.n_partitions), self.offsets)

    @once
    def column_weights(self) -> Floats:
        """The weight of the partition of each cluster, (T,)."""
        return over_clusters(self.partition_weights, self.offsets)

    @once
    def indicator(self) -> sp.csr_array:
        """B: the sparse indicator (n_samples, T) of every cluster; posteriors if soft."""
        if self._soft is not None:
            return self._soft
        return indicator_of(self.codes, self.offsets)

    @once
    def gram(self) -> sp.csr_array:
        """B'B (T, T): the contingency tables of all pairs of partitions, side by side."""
        check_gram(
            self.gram_entries,
            "The Gram matrix B'B of this ensemble",
            "Use fewer partitions (Ensemble.subset), or read it in blocks (conclust.spectra.gram.gram_blocks).",
        )
        if self._soft is not None or int(self.offsets[-1]) > DENSE:
            return sp.csr_array(self.indicator.T @ self.indicator)
        return counted_gram(self.label_view)

    @once
    def observed_sizes(self) -> Floats:
        """Number of objects of each cluster that each partition observed, (T, N); if soft, sums of squares.

        Squares of the probabilities: the squared length of the cluster's column over these objects.
        """
        B = self.indicator if self._soft is None else sp.csr_array(self._soft.power(2))
        if not self.has_missing:
            return np.repeat(np.asarray(B.sum(axis=0)).reshape(-1, 1), self.n_partitions, axis=1)
        return np.asarray(B.T @ self.present.astype(np.float64))

    @once
    def gram_entries(self) -> int:
        """Maximum number of entries of B'B."""
        return gram_entries(self.codes, self.offsets, self._soft)

    # -- of the content

    @once
    def fingerprint(self) -> str:
        """SHA-256 of the content: equal for equal partitions, whatever the names of their labels."""
        digest = hashlib.sha256(repr((self.shape, self.codes.dtype.str, self.is_soft)).encode())
        digest.update(np.ascontiguousarray(self.codes).data)
        if self.weights is not None:
            digest.update(b"weights" + self.weights.tobytes())
        if self._soft is not None:
            for part in (self._soft.indptr, self._soft.indices):
                digest.update(part.astype(np.int64).tobytes())
            digest.update(self._soft.data.tobytes())
        return digest.hexdigest()

    @once
    def label_view(self) -> LabelView:
        """Arrays that the kernels read: codes, offsets, weights, and posteriors if soft."""
        whole = not (self.has_missing or self.has_noise)
        return label_view(self.codes, self.offsets, self.weights, self._soft, complete=whole)


def labels_as_array(derived: Derived, dtype: Any, copy: bool | None) -> NDArray[Any]:
    """Return the labels of hard partitions, as required by NumPy's protocol ``__array__``."""
    if derived.is_soft:
        raise InputError(
            "Soft partitions are not an array of labels. Use ensemble.labels, the most probable clusters, or "
            "ensemble.indicator, the probabilities."
        )
    labels: NDArray[Any] = derived.labels
    wanted = labels.dtype if dtype is None else np.dtype(dtype)
    if wanted.kind in "bu" and (derived.has_missing or derived.has_noise):
        raise InputError(
            f"Missing labels (-1) and noise (-2) do not fit into {wanted}. Take a signed type."
        )
    if wanted == labels.dtype:
        return np.array(labels) if copy else labels
    if copy is False:
        raise ValueError(f"The labels are {labels.dtype}: as {wanted} they must be copied.")
    return labels.astype(wanted)
