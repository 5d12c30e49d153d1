"""Ensemble: many partitions of the same objects, validated and frozen."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from conclust import _ensemble_file
from conclust._ensemble_input import read_index, read_weights
from conclust._gram import DENSE, check_gram, counted_gram, gram_entries
from conclust._kernels import group_rows
from conclust._labels import (
    MISSING,
    NOISE,
    CodedLabels,
    Names,
    canonical_labels,
    clusterings_as_rows,
    code_labels,
    code_type,
    encode_labels,
    indicator_of,
    missing_code,
    noise_code,
    read_new_labels,
)
from conclust._memberships import code_memberships, read_memberships
from conclust._validation import check_option
from conclust._warnings import warn
from conclust.exceptions import FileFormatError, InputError, OrientationWarning

__all__ = ["MISSING", "NOISE", "Ensemble", "MicroClusters", "as_ensemble", "canonical_labels"]

T = TypeVar("T")


@dataclass(frozen=True)
class MicroClusters:
    """Objects with identical rows (of labels, as a rule), numbered by first appearance.

    Attributes
    ----------
    representatives : ndarray of shape (n_micro,)
        The first object of each micro-cluster.
    inverse : ndarray of shape (n_samples,)
        The micro-cluster of each object.
    counts : ndarray of shape (n_micro,)
        How many objects each one holds.
    """

    representatives: NDArray[np.int64]
    inverse: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, rows: NDArray[Any]) -> MicroClusters:
        """Group equal rows of a contiguous matrix (equal to the byte)."""
        inverse = np.empty(len(rows), dtype=np.int64)
        first = group_rows(rows.view(np.uint8).reshape(len(rows), -1), inverse)
        return cls(first, inverse, np.bincount(inverse, minlength=len(first)))

    def __len__(self) -> int:
        return len(self.counts)


def _once(method: Callable[[Ensemble], T]) -> property:
    """Compute a derived quantity at first use and keep it (arrays are made read-only)."""
    name = method.__name__

    @wraps(method)
    def get(self: Ensemble) -> T:
        if name not in self._derived:
            value = method(self)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            self._derived[name] = value
        return self._derived[name]  # type: ignore[no-any-return]

    return property(get)


class Ensemble:
    """Many partitions of the same objects: a frozen, validated label matrix.

    Two facts are kept per cell: whether the partition observed the object, and its label. -1, NaN,
    None, pandas.NA and what a masked array masks mean *missing*: not observed. -2 means *noise*:
    observed, and with nobody.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions)
        Cluster labels, one partition a column: an array, a list of rows, a pandas or polars
        DataFrame, a memory-mapped array. Labels are whole numbers from 0 on, or names (strings,
        categories). A C-ordered array of one byte a label (uint8; int8 where some are missing) whose
        columns number their clusters by first appearance, as conclust's generators write them, is
        used without a copy: do not change it afterwards. Such an array may be a file larger than the
        memory, ``Ensemble(np.load("labels.npy", mmap_mode="r"))``: it is read in order of the objects,
        as often as the method goes over them. Anything else is copied once.
    weights : array-like of shape (n_partitions,), default=None
        Weight of each partition, 0 or between 1e-30 and 1e30. None: all count alike.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 means. "noise" reads it as noise, as HDBSCAN and DBSCAN write it; NaN and None stay
        missing.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_partitions), read-only
        Labels renumbered by first appearance in the smallest unsigned type; the type's largest
        value is missing, the one before it noise.
    cluster_counts : ndarray of shape (n_partitions,)
        Clusters in each partition, K_u.
    offsets : ndarray of shape (n_partitions + 1,)
        Column of the indicator at which each partition begins; the last is T, all clusters.
    names : tuple of tuples
        The user's label of every cluster of every partition, in the order of the codes.
    weights : ndarray of shape (n_partitions,) or None
        Weight of each partition.

    Raises
    ------
    InputError
        If the labels are empty, not two-dimensional, ragged, complex, infinite, not whole or
        negative without being a missing code; if there is only one object; if a partition is
        missing everywhere; if the weights are not numbers of their range, one per partition.

    Examples
    --------
    >>> from conclust import Ensemble
    >>> ensemble = Ensemble([[0, 5], [0, 5], [1, -1]])
    >>> ensemble
    Ensemble(3 objects, 2 partitions of 1 to 2 clusters, 16.7% missing)
    >>> ensemble.labels
    array([[ 0,  0],
           [ 0,  0],
           [ 1, -1]])
    """

    __slots__ = (
        "__weakref__",
        "_derived",
        "_n_missing",
        "_n_noise",
        "_soft",
        "cluster_counts",
        "codes",
        "names",
        "offsets",
        "weights",
    )

    codes: NDArray[Any]
    cluster_counts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    names: Names
    weights: NDArray[np.float64] | None
    _n_missing: NDArray[np.int64]
    _n_noise: NDArray[np.int64]
    _soft: sp.csr_array | None
    _derived: dict[str, Any]

    def __init__(
        self, labels: Any, *, weights: ArrayLike | None = None, missing: str = "unobserved"
    ) -> None:
        check_option(missing, "missing", "Ensemble", ("unobserved", "noise"))
        self._set(code_labels(labels, missing=missing), weights, None)

    @classmethod
    def from_memberships(
        cls, memberships: Iterable[ArrayLike], *, weights: ArrayLike | None = None
    ) -> Ensemble:
        """Make an ensemble of soft partitions.

        Parameters
        ----------
        memberships : iterable of array-like, each of shape (n_samples, n_clusters_u)
            One matrix a partition: row i holds the probabilities of object i over the clusters,
            summing to 1. A row of NaN or of zeros, or one that is masked, is missing.
        weights : array-like of shape (n_partitions,), default=None
            Weight of each partition, 0 or between 1e-30 and 1e30. None: all count alike.

        Returns
        -------
        Ensemble
            With ``is_soft`` true; ``codes`` hold the most probable cluster (ties to the first).

        Raises
        ------
        InputError
            If there is no matrix of numbers, the matrices have a single row or differ in the number
            of rows, hold negative or infinite values, or rows that do not sum to 1 within 1e-6.

        Examples
        --------
        >>> from conclust import Ensemble
        >>> Ensemble.from_memberships([[[0.5, 0.5], [0.0, 1.0]], [[1.0], [1.0]]])
        Ensemble(2 objects, 2 soft partitions of 1 to 2 clusters)
        """
        coded, soft = code_memberships(read_memberships(memberships))
        return cls._make(coded, weights, soft)

    @classmethod
    def _make(
        cls, coded: CodedLabels, weights: ArrayLike | None, soft: sp.csr_array | None
    ) -> Ensemble:
        ensemble = cls.__new__(cls)
        ensemble._set(coded, weights, soft)
        return ensemble

    def _set(
        self, coded: CodedLabels, weights: ArrayLike | None, soft: sp.csr_array | None
    ) -> None:
        n, m = coded.codes.shape
        absent = np.flatnonzero(coded.n_missing == n)
        if absent.size:
            raise InputError(
                f"Partition {absent[0]} is missing everywhere: it observed none of the {n} objects. "
                "Leave it out of the ensemble."
            )
        for array in (coded.codes, coded.cluster_counts):
            array.flags.writeable = False
        offsets = np.concatenate([[0], np.cumsum(coded.cluster_counts)]).astype(np.int64)
        offsets.flags.writeable = False
        values = {
            "codes": coded.codes,
            "cluster_counts": coded.cluster_counts,
            "offsets": offsets,
            "names": coded.names,
            "weights": read_weights(weights, m),
            "_n_missing": coded.n_missing,
            "_n_noise": coded.n_noise,
            "_soft": soft,
            "_derived": {},
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"An Ensemble is frozen: {name!r} cannot be set. Make a new one.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"An Ensemble is frozen: {name!r} cannot be deleted.")

    # -- sizes and facts

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
    def has_missing(self) -> bool:
        """Whether any partition left an object unobserved."""
        return bool(self._n_missing.any())

    @property
    def has_noise(self) -> bool:
        """Whether any partition put an object with nobody."""
        return bool(self._n_noise.any())

    @_once
    def labels(self) -> NDArray[np.int64]:
        """Labels (n_samples, n_partitions) as int64: 0 .. K_u - 1, -1 missing, -2 noise."""
        labels = self.codes.astype(np.int64)
        labels[self.codes == missing_code(self.codes.dtype)] = MISSING
        labels[self.codes == noise_code(self.codes.dtype)] = NOISE
        return labels

    @_once
    def present(self) -> NDArray[np.bool_]:
        """Which partition observed which object, (n_samples, n_partitions)."""
        return np.asarray(self.codes != missing_code(self.codes.dtype))

    @_once
    def observed(self) -> NDArray[np.bool_]:
        """Which objects at least one partition observed, (n_samples,)."""
        if not self.has_missing:
            return np.ones(self.n_samples, dtype=np.bool_)
        return np.asarray(self.codes.min(axis=1) != missing_code(self.codes.dtype))

    # -- derived quantities, computed at first use

    @_once
    def _each_weight(self) -> NDArray[np.float64]:
        """The weight of each partition, 1 where the ensemble has none, (n_partitions,)."""
        return np.ones(self.n_partitions) if self.weights is None else self.weights

    @_once
    def indicator(self) -> sp.csr_array:
        """B: the sparse indicator (n_samples, T) of every cluster; posteriors if soft."""
        if self._soft is not None:
            return self._soft
        return indicator_of(self.codes, self.offsets)

    @_once
    def gram(self) -> sp.csr_array:
        """B'B (T, T): the contingency tables of all pairs of partitions, side by side."""
        check_gram(
            self._gram_entries,
            "The Gram matrix B'B of this ensemble",
            "Use fewer partitions (Ensemble.subset), or read it in blocks (conclust.gram.gram_blocks).",
        )
        if self._soft is not None or int(self.offsets[-1]) > DENSE:
            return sp.csr_array(self.indicator.T @ self.indicator)
        return counted_gram(self.codes, self.offsets)

    @_once
    def _gram_entries(self) -> int:
        """The most entries that B'B can have."""
        return gram_entries(self.codes, self.offsets, self._soft)

    @_once
    def micro_clusters(self) -> MicroClusters:
        """Objects with identical label rows (of probabilities, if soft)."""
        rows = self.codes if self._soft is None else self._soft.toarray()
        return MicroClusters.of(np.ascontiguousarray(rows))

    # -- other ensembles from this one

    def subset(
        self, samples: ArrayLike | None = None, partitions: ArrayLike | None = None
    ) -> Ensemble:
        """Return the ensemble of some objects and some partitions.

        Parameters
        ----------
        samples : array-like of int or bool, default=None
            Objects to keep, in this order. None: all.
        partitions : array-like of int or bool, default=None
            Partitions to keep, in this order. None: all.

        Returns
        -------
        Ensemble
            Clusters that are left without objects are gone; names and weights are kept.

        Raises
        ------
        InputError
            If an index is out of range, fewer than two objects are kept, or a partition that is
            kept observed none of the objects that are kept.
        """
        rows = read_index(samples, self.n_samples, "samples")
        columns = read_index(partitions, self.n_partitions, "partitions")
        weights = None if self.weights is None else self.weights[columns]
        if self._soft is not None:
            dense = self._soft[rows].toarray()
            blocks = [dense[:, self.offsets[u] : self.offsets[u + 1]] for u in columns]
            return Ensemble.from_memberships(blocks, weights=weights)
        if samples is None and columns.size:  # all clusters stay as they are
            counts = self.cluster_counts[columns]
            codes = _recode(self.codes[:, columns], code_type(int(counts.max())))
            kept = CodedLabels(
                np.ascontiguousarray(codes),
                counts,
                self._n_missing[columns],
                self._n_noise[columns],
                tuple(self.names[u] for u in columns),
            )
            return Ensemble._make(kept, weights, None)
        coded = code_labels(self.labels[np.ix_(rows, columns)])
        names = tuple(
            tuple(self.names[u][k] for k in kept)
            for u, kept in zip(columns, coded.names, strict=True)
        )
        kept = CodedLabels(coded.codes, coded.cluster_counts, coded.n_missing, coded.n_noise, names)
        return Ensemble._make(kept, weights, None)

    def observed_only(self) -> Ensemble:
        """Return the ensemble of the objects that at least one partition observed."""
        kept = self.observed
        if kept.all():
            return self
        # Rows that are missing everywhere hold no first appearance: the codes stay canonical.
        coded = CodedLabels(
            self.codes[kept],
            self.cluster_counts,
            self._n_missing - np.count_nonzero(~kept),
            self._n_noise,
            self.names,
        )
        return Ensemble._make(coded, self.weights, None if self._soft is None else self._soft[kept])

    def _some(self, samples: NDArray[np.int64]) -> Ensemble:
        """Return some objects with the clusters numbered as here, empty ones included.

        For solvers that work on a part first: sums per cluster stay comparable.
        """
        part = object.__new__(Ensemble)
        for name in ("cluster_counts", "names", "offsets", "weights", "_n_missing", "_n_noise"):
            object.__setattr__(part, name, getattr(self, name))
        object.__setattr__(part, "codes", np.ascontiguousarray(self.codes[samples]))
        soft = None if self._soft is None else self._soft[samples]
        object.__setattr__(part, "_soft", soft)
        object.__setattr__(part, "_derived", {})
        return part

    @staticmethod
    def concat(ensembles: Sequence[Ensemble]) -> Ensemble:
        """Return one ensemble with the partitions of several over the same objects.

        Parameters
        ----------
        ensembles : sequence of Ensemble
            With the same number of objects; all hard or all soft. Where some have weights, the
            partitions of the others weigh 1.

        Returns
        -------
        Ensemble
            The partitions side by side, in the order given.

        Raises
        ------
        InputError
            If there is nothing to concatenate, the numbers of objects differ, or hard and soft
            ensembles are mixed.
        """
        ensembles = list(ensembles)
        if not ensembles:
            raise InputError("Ensemble.concat needs at least one ensemble. Got none.")
        sizes = sorted({e.n_samples for e in ensembles})
        if len(sizes) > 1:
            raise InputError(
                f"Ensembles to concatenate must have the same objects. Got {sizes} objects."
            )
        if len({e.is_soft for e in ensembles}) > 1:
            raise InputError(
                "Hard and soft ensembles cannot be concatenated: pass the indicator blocks of the "
                "hard one to Ensemble.from_memberships."
            )
        weights = None
        if any(e.weights is not None for e in ensembles):
            weights = np.concatenate(
                [np.ones(e.n_partitions) if e.weights is None else e.weights for e in ensembles]
            )
        largest = max(int(e.cluster_counts.max()) for e in ensembles)
        dtype = code_type(largest)
        coded = CodedLabels(
            np.ascontiguousarray(np.hstack([_recode(e.codes, dtype) for e in ensembles])),
            np.concatenate([e.cluster_counts for e in ensembles]),
            np.concatenate([e._n_missing for e in ensembles]),
            np.concatenate([e._n_noise for e in ensembles]),
            tuple(names for e in ensembles for names in e.names),
        )
        parts = [e._soft for e in ensembles if e._soft is not None]
        return Ensemble._make(coded, weights, sp.csr_array(sp.hstack(parts)) if parts else None)

    def reweighted(self, weights: ArrayLike | None) -> Ensemble:
        """Return the same partitions with other `weights` (None: all alike)."""
        coded = CodedLabels(
            self.codes, self.cluster_counts, self._n_missing, self._n_noise, self.names
        )
        return Ensemble._make(coded, weights, self._soft)

    def encode(self, labels: Any, *, missing: str = "unobserved") -> tuple[NDArray[Any], int]:
        """Read the labels of new objects with this ensemble's names.

        Parameters
        ----------
        labels : array-like of shape (n_new, n_partitions)
            Labels of the new objects from the same partitions.
        missing : {"unobserved", "noise"}, default="unobserved"
            What -1 means.

        Returns
        -------
        codes : ndarray of shape (n_new, n_partitions)
            Codes of the type of ``codes``; a label that no object of this ensemble has is noise.
        n_unseen : int
            How many labels that were.

        Raises
        ------
        InputError
            If the labels are malformed or of another number of partitions.
        """
        read = read_new_labels(labels, missing=missing)
        return encode_labels(read, self.names, self.codes.dtype, missing=missing)

    # -- identity

    @_once
    def fingerprint(self) -> str:
        """SHA-256 of the content: equal for equal partitions, whatever their labels are called."""
        digest = hashlib.sha256(repr((self.shape, self.codes.dtype.str, self.is_soft)).encode())
        digest.update(np.ascontiguousarray(self.codes).data)
        if self.weights is not None:
            digest.update(b"weights" + self.weights.tobytes())
        if self._soft is not None:
            for part in (self._soft.indptr, self._soft.indices):
                digest.update(part.astype(np.int64).tobytes())
            digest.update(self._soft.data.tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ensemble):
            return NotImplemented
        return self.shape == other.shape and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return int(self.fingerprint[:15], 16)

    def __reduce__(self) -> tuple[Any, ...]:
        return Ensemble._make, (self._coded(), self.weights, self._soft)

    def _coded(self) -> CodedLabels:
        return CodedLabels(
            self.codes, self.cluster_counts, self._n_missing, self._n_noise, self.names
        )

    def __repr__(self) -> str:
        low, high = int(self.cluster_counts.min()), int(self.cluster_counts.max())
        clusters = (
            f"{low} to {high} clusters" if low < high else f"{low} cluster" + "s" * (low != 1)
        )
        kind = "soft " * self.is_soft + "partition" + "s" * (self.n_partitions != 1)
        facts = [f"{self.n_samples:,} objects", f"{self.n_partitions:,} {kind} of {clusters}"]
        cells = self.n_samples * self.n_partitions
        for count, what in ((self._n_missing, "missing"), (self._n_noise, "noise")):
            if count.any():
                facts.append(f"{100 * count.sum() / cells:.1f}% {what}")
        if self.weights is not None:
            facts.append("weighted")
        return f"Ensemble({', '.join(facts)})"

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ensemble to one NPZ file (never a pickle), atomically.

        Parameters
        ----------
        path : str or path-like
            Where to write. An existing file is replaced.

        Raises
        ------
        InputError
            If names of clusters are neither whole numbers nor strings.
        OSError
            If the file cannot be written.
        """
        _ensemble_file.write(path, self._coded(), self.weights, self._soft)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Ensemble:
        """Read an ensemble written by `save`.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        Ensemble
            Equal to the one that was saved.

        Raises
        ------
        FileFormatError
            If the file is no ensemble, damaged, or of a later format.
        OSError
            If the file cannot be read.
        """
        parts = _ensemble_file.read(path)
        try:
            return Ensemble._make(*parts)
        except InputError as error:
            raise FileFormatError(f"{os.fspath(path)} is damaged: {error}") from error


def _recode(codes: NDArray[Any], dtype: Any) -> NDArray[Any]:
    if codes.dtype == dtype:
        return codes
    wide = codes.astype(dtype)
    wide[codes == missing_code(codes.dtype)] = missing_code(dtype)
    wide[codes == noise_code(codes.dtype)] = noise_code(dtype)
    return wide


def as_ensemble(labels: Any, *, missing: str = "unobserved") -> Ensemble:
    """Return `labels` if they are an Ensemble, else make one, with a hint if they look transposed."""
    if isinstance(labels, Ensemble):
        return labels
    ensemble = Ensemble(labels, missing=missing)
    if clusterings_as_rows(labels, *ensemble.shape):
        n, m = ensemble.shape
        warn(
            f"The labels have {n} rows and {m} columns, and are read as {n} objects in {m} partitions. "
            f"If each row is a clustering of {m} objects, pass the transpose: numpy.transpose(labels). "
            "If the rows are objects, conclust.Ensemble(labels) is read without this hint.",
            OrientationWarning,
        )
    return ensemble
