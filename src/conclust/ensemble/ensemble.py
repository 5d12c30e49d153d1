"""Ensemble: many partitions of the same objects, validated and frozen."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, Self, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import collected
from conclust._arrays.rows import EqualRows
from conclust._kernels import cluster_sums, indicator_rows
from conclust._types import Floats, Ints
from conclust._validation import check_option, count, count_range, refuse
from conclust.ensemble import derived
from conclust.ensemble import file as _ensemble_file
from conclust.ensemble.columns import CodedTable, column_names
from conclust.ensemble.labels import (
    MISSING,
    NOISE,
    CodedLabels,
    Missing,
    Names,
    Naming,
    SharedNames,
    code_labels,
    code_type,
    encode_labels,
    noise_code,
    read_new_labels,
    recoded,
    refuse_absent,
    refuse_twins,
    reserved_counts,
)
from conclust.ensemble.tables import TablesReader
from conclust.exceptions import FileFormatError, InputError, OrientationWarning, warn

__all__ = ["MISSING", "NOISE", "DistinctRows", "Ensemble", "Missing"]

Noise: TypeAlias = Literal["equal", "apart"]


class Ensemble(TablesReader, derived.Derived):
    """Many partitions of the same objects: a frozen, validated label matrix.

    Each cell records two facts: whether the partition observed the object, and its label. -1, NaN, None, pandas.NA,
    empty text and masked entries of a masked array mean *missing*: not observed. -2 means *noise*: observed, and apart from all
    others.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions)
        Cluster labels, one partition per column: an array, a list of rows, a pandas or polars DataFrame, a
        memory-mapped array. Labels are whole numbers from 0 on, or names (strings, categories). A C-ordered array
        with one byte per label (uint8; int8 if some are missing) is used without a copy if its columns number their
        clusters by first appearance, as arrays of conclust's generators do. Do not change it afterwards. Such an
        array may be a file larger than the memory, ``Ensemble(np.load("labels.npy", mmap_mode="r"))``; it is read in
        order of the objects, once for each pass of the method. Any other input is copied once. An Ensemble is used as
        it is, with its own weights unless `weights` is given.
    weights : array-like of shape (n_partitions,), default=None
        Weight of each partition, 0 or between 1e-30 and 1e30. A pandas Series indexed by the column names of a frame is matched
        by name. None: all equal.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1, as a number or as the text "-1". "noise" reads it as noise, which is its meaning in HDBSCAN and
        DBSCAN; NaN, "nan", "<NA>" and None remain missing, and -2 and "-2" remain noise.
    names : {"own", "shared"}, default="own"
        Meaning of the names of clusters. "own": each partition has its own, arbitrary names (an Ensemble in `labels` keeps its
        meaning). "shared": a name means the same class in all partitions, as in raters' answers; :class:`conclust.Voting` and
        :class:`conclust.MixtureModel` use it, other methods do not.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_partitions), read-only
        Labels renumbered by first appearance in the smallest unsigned type; the type's largest
        value is missing, the one before it noise.
    cluster_counts : ndarray of shape (n_partitions,)
        Number of clusters in each partition, K_u.
    offsets : ndarray of shape (n_partitions + 1,)
        Column of the indicator at which each partition begins; the last entry is T, the number of all clusters.
    names : tuple of tuples
        The user's label of every cluster of every partition, in the order of the codes.
    weights : ndarray of shape (n_partitions,) or None
        Weight of each partition.
    missing_counts, noise_counts : ndarray of shape (n_partitions,)
        Number of objects that each partition did not observe, and number of its noise objects.

    Notes
    -----
    ``np.asarray(ensemble)`` is `labels`, so any estimator of labels accepts an ensemble.
    ``conclust/ensemble/derived.py`` lists the other quantities of an ensemble: ``labels``, ``present``,
    ``indicator``, ``gram`` and so on, computed at first use.

    Raises
    ------
    InputError
        If the labels are empty, not two-dimensional, ragged, complex, infinite, not whole or
        negative without being a missing code; if there is only one object; if a partition is
        missing everywhere; if the weights are not numbers of their range, one per partition.
    ParameterError
        If `missing` is neither of its two values, or is "noise" for an Ensemble, whose labels have already been read.

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
        "_soft",
        "cluster_counts",
        "codes",
        "missing_counts",
        "names",
        "noise_counts",
        "offsets",
        "weights",
    )

    names: Names

    def __init__(
        self,
        labels: Any,
        *,
        weights: ArrayLike | None = None,
        missing: Missing = "unobserved",
        names: Naming = "own",
    ) -> None:
        check_option(missing, "missing", "Ensemble", Missing)
        check_option(names, "names", "Ensemble", Naming)
        if isinstance(labels, Ensemble):
            if missing != "unobserved":
                advice = "Pass Ensemble(ensemble.labels, missing='noise'), the plain labels."
                refuse("missing", "Ensemble", "'unobserved' with an Ensemble", missing, advice)
            partition_weights = labels.weights if weights is None else weights
            self._set(_named(labels._coded(), names), partition_weights, labels._soft)
            return
        ordered = derived.weights_by_name(weights, lambda: column_names(labels))
        coded = code_labels(labels, missing=missing)
        refuse_twins(coded.names)
        self._set(_named(coded, names), ordered, None)
        if isinstance(labels, CodedTable):
            return
        if runs_in_a_list(labels):
            warn(runs_hint(*self.shape), OrientationWarning)
        elif draws_in_rows(labels, *self.shape):
            warn(draws_hint(*self.shape), OrientationWarning)
        elif (columns := answers_in_rows(self.codes, self.cluster_counts)) is not None:
            warn(answers_hint(self.n_samples, columns), OrientationWarning)
        elif (first := first_indicators(self.codes, coded.names)) > 1:
            warn(
                f"The labels are read as {self.n_partitions} partitions, but blocks of the columns hold one 1 in each row (columns "
                f"0 to {first - 1}), as indicators of clusters do. If each block is a partition, pass the blocks: "
                f"Ensemble.from_memberships([labels[:, :{first}], ...]).",
                OrientationWarning,
            )

    @classmethod
    def from_memberships(
        cls, memberships: Iterable[ArrayLike], *, weights: ArrayLike | None = None
    ) -> Ensemble:
        """Make an ensemble of soft partitions.

        Parameters
        ----------
        memberships : iterable of array-like, each of shape (n_samples, n_clusters_u)
            One matrix per partition: row i holds the probabilities of object i over the clusters,
            summing to 1. Rounded rows are scaled to sum to 1: their sum may differ from it by n_clusters_u / 2 units of the
            last of two or more decimals, and by .01. A row of NaN or of zeros, or one that is masked, is missing.
        weights : array-like of shape (n_partitions,), default=None
            Weight of each partition, 0 or between 1e-30 and 1e30. None: all equal.

        Returns
        -------
        Ensemble
            With ``is_soft`` true; ``codes`` hold the most probable cluster (ties to the first).

        Raises
        ------
        InputError
            If there is no matrix of numbers, the matrices have a single row or differ in the number
            of rows, hold negative or infinite values, or rows that do not sum to 1 up to rounding.

        Examples
        --------
        >>> from conclust import Ensemble
        >>> Ensemble.from_memberships([[[0.5, 0.5], [0.0, 1.0]], [[1.0], [1.0]]])
        Ensemble(2 objects, 2 soft partitions of 1 to 2 clusters)
        """
        from conclust.ensemble.memberships import code_memberships, read_memberships

        coded, soft = code_memberships(read_memberships(memberships))
        return cls._make(coded, weights, soft)

    @classmethod
    def from_q_files(cls, paths: Any, *, weights: ArrayLike | None = None) -> Ensemble:
        r"""Make an ensemble of the membership matrices (Q) in files of population genetics.

        Parameters
        ----------
        paths : path-like, or iterable of path-like
            Files of ADMIXTURE (``.Q``), fastSTRUCTURE (``.meanQ``), STRUCTURE (``_f``), or of CLUMPP: its indfile and
            popfile hold several runs. Numbers are separated by blanks or commas. All populations of a popfile have equal
            weight, however many individuals they have.
        weights : array-like of shape (n_partitions,), default=None
            Weight of each run, 0 or between 1e-30 and 1e30. None: all equal.

        Returns
        -------
        Ensemble
            One soft partition per run; see `from_memberships`.

        Raises
        ------
        InputError
            If a file has no rows of memberships, a row has something other than numbers, or runs are of different
            individuals.
        OSError
            If a file cannot be read.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from conclust import Ensemble
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "run.2.Q"
        ...     size = path.write_text("0.9 0.1\n0.2 0.8\n")
        ...     Ensemble.from_q_files([path])
        Ensemble(2 objects, 1 soft partition of 2 clusters)
        """
        from conclust.ensemble.memberships import read_q_files

        return cls.from_memberships(read_q_files(paths), weights=weights)

    @classmethod
    def from_communities(
        cls,
        communities: Iterable[Any],
        nodes: Iterable[Hashable] | None = None,
        *,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Make an ensemble of communities of a graph, found by several runs.

        Parameters
        ----------
        communities : iterable of runs
            A run is an iterable of sets or lists of nodes (as ``networkx.community.louvain_communities``
            returns them), an object with such ``communities`` (a NodeClustering of cdlib) or a dict of
            nodes to labels. A node that a run lacks, or whose label is None, NaN or -1, is missing in it; the label -2
            is noise.
        nodes : iterable of hashable, default=None
            The nodes in the order of the objects; or a networkx graph. None: all nodes that are in
            a community, sorted.
        weights : array-like of shape (n_runs,), default=None
            Weight of each run. None: all equal.

        Returns
        -------
        Ensemble
            One object per node and one partition per run; clusters are named by their numbers in the run.

        Raises
        ------
        InputError
            If the input is not communities, communities of a run overlap, a node is not among `nodes`, or nodes
            without an order are not given.

        Examples
        --------
        >>> from conclust import Ensemble
        >>> Ensemble.from_communities([[{"a", "b"}, {"c", "d"}], [{"b", "a", "c"}]]).labels
        array([[ 0,  0],
               [ 0,  0],
               [ 1,  0],
               [ 1, -1]])
        """
        from conclust.ensemble.communities import read_communities

        return cls(read_communities(communities, nodes), weights=weights)

    @classmethod
    def from_draws(
        cls,
        draws: Any,
        *,
        variable: str | None = None,
        burn: int = 0,
        thin: int = 1,
        weights: ArrayLike | None = None,
        missing: Missing = "unobserved",
    ) -> Self:
        """Make an ensemble of draws of a partition, for instance of a posterior by MCMC.

        In ``Ensemble(labels)`` a row is an object; here a row is a draw.

        Parameters
        ----------
        draws : array-like of shape (n_draws, n_samples) or (n_chains, n_draws, n_samples)
            Labels of every object in every draw. Also a DataArray of xarray with a dimension "draw" (and
            "chain"), in any order; an xarray data set, or an ``InferenceData`` or ``DataTree`` of ArviZ, whose group
            ``posterior`` is read; a dict of such arrays.
        variable : str, default=None
            Variable of a data set that holds the labels. None: the only one that holds whole numbers for
            several objects.
        burn : int, default=0
            Number of draws to discard at the beginning of each chain.
        thin : int, default=1
            Every `thin`-th of the remaining draws of each chain is kept.
        weights : array-like of shape (n_draws,) or (n_chains, n_draws), default=None
            Weight of each draw, including discarded ones. None: all equal.
        missing : {"unobserved", "noise"}, default="unobserved"
            Meaning of -1; see :class:`conclust.Ensemble`.

        Returns
        -------
        Ensemble
            One partition per draw, chain after chain.

        Raises
        ------
        InputError
            If the variable of the labels is ambiguous, the draws have wrong dimensions, the weights have a wrong
            length, or the labels are invalid.
        ParameterError
            If `variable` is not in the data set, or `burn` leaves no draw.

        Warns
        -----
        OrientationWarning
            If an array has more chains than draws per chain: the axes may be in another order.

        Examples
        --------
        >>> from conclust import Ensemble
        >>> Ensemble.from_draws([[1, 1, 3], [7, 7, 7]]).labels
        array([[0, 0],
               [0, 0],
               [1, 0]])
        """
        from conclust.ensemble.draws import read_draws

        labels, kept_weights = read_draws(draws, variable, burn, thin, weights)
        if not np.ma.isMaskedArray(labels):  # otherwise the mask would be lost
            labels = np.ascontiguousarray(labels)
        return cls(labels, weights=kept_weights, missing=missing)

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
        refuse_absent(coded.n_missing, n)
        self._fill(coded, derived.read_weights(weights, m), soft)

    def _fill(self, coded: CodedLabels, weights: Floats | None, soft: sp.csr_array | None) -> None:
        for array in (coded.codes, coded.cluster_counts, coded.n_missing, coded.n_noise):
            array.flags.writeable = False
        offsets = np.concatenate([[0], np.cumsum(coded.cluster_counts)]).astype(np.int64)
        offsets.flags.writeable = False
        values = {
            "codes": coded.codes,
            "cluster_counts": coded.cluster_counts,
            "offsets": offsets,
            "names": coded.names,
            "weights": weights,
            "missing_counts": coded.n_missing,
            "noise_counts": coded.n_noise,
            "_soft": soft,
            "_derived": {},
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"An Ensemble is frozen: {name!r} cannot be set. Make a new one.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"An Ensemble is frozen: {name!r} cannot be deleted.")

    # -- equal rows

    def distinct_rows(self, *, noise: Noise = "equal") -> DistinctRows:
        """Find the objects with equal rows of labels (of probabilities, if soft).

        A result that depends only on the labels can be computed for one object of each distinct row, which counts as
        often as the row occurs. Then ``rows.ensemble`` and ``rows.counts`` are the input, and ``found[rows.inverse]``
        is the result for all objects.

        Parameters
        ----------
        noise : {"equal", "apart"}, default="equal"
            Whether objects with equal rows that are noise in some partition are combined. A noise object is apart
            from all others, including other noise; "apart" makes each of them a separate row.

        Returns
        -------
        DistinctRows
            ``first``, ``inverse`` and ``counts``, as in numpy.unique but numbered by first appearance, and
            ``ensemble``, with one object for each row. A missing label equals only a missing label.

        Examples
        --------
        >>> from conclust import Ensemble
        >>> rows = Ensemble([[0, 5], [0, 6], [0, 5], [1, -1]]).distinct_rows()
        >>> rows.inverse, rows.counts
        (array([0, 1, 0, 2]), array([2, 1, 1]))
        >>> rows.ensemble
        Ensemble(3 objects, 2 partitions of 2 clusters, 16.7% missing)
        """
        check_option(noise, "noise", "distinct_rows", Noise)
        equal = self._equal_rows
        rows = DistinctRows(equal.first, equal.inverse, equal.counts, self)
        if noise == "equal" or not self.has_noise:
            return rows
        noisy = (self.codes[rows.first] == noise_code(self.codes.dtype)).any(axis=1)
        return rows.apart(np.asarray(noisy))

    @derived.once
    def _equal_rows(self) -> EqualRows:
        # Stored without the ensemble: a reference to itself would keep it in memory.
        return EqualRows.of(self.codes if self._soft is None else self._soft.toarray())

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
            Clusters without objects are removed; names and weights are kept.

        Raises
        ------
        InputError
            If an index is out of range, fewer than two objects are kept, or a partition that is
            kept observed none of the objects that are kept.
        """
        rows = derived.read_index(samples, self.n_samples, "samples")
        columns = derived.read_index(partitions, self.n_partitions, "partitions")
        weights = None if self.weights is None else self.weights[columns]
        if self._soft is not None:
            dense = self._soft[rows].toarray()
            blocks = [dense[:, self.offsets[u] : self.offsets[u + 1]] for u in columns]
            return Ensemble(Ensemble.from_memberships(blocks, weights=weights), names=self.naming)
        if samples is None and columns.size:  # the clusters are unchanged
            counts = self.cluster_counts[columns]
            codes = recoded(self.codes[:, columns], code_type(int(counts.max())))
            coded = CodedLabels(
                np.ascontiguousarray(codes),
                counts,
                self.missing_counts[columns],
                self.noise_counts[columns],
                type(self.names)(self.names[u] for u in columns),
            )
            return Ensemble._make(coded, weights, None)
        coded = code_labels(derived.labels_of(self.codes[np.ix_(rows, columns)]))
        names = type(self.names)(
            tuple(self.names[u][k] for k in clusters)
            for u, clusters in zip(columns, coded.names, strict=True)
        )
        return Ensemble._make(replace(coded, names=names), weights, None)

    def observed_only(self) -> Ensemble:
        """Return the ensemble of the objects that at least one partition observed."""
        rows = self.observed
        if rows.all():
            return self
        # Rows that are missing everywhere contain no first appearance, so the codes stay canonical.
        coded = CodedLabels(
            self.codes[rows],
            self.cluster_counts,
            self.missing_counts - np.count_nonzero(~rows),
            self.noise_counts,
            self.names,
        )
        return Ensemble._make(coded, self.weights, None if self._soft is None else self._soft[rows])

    def part(self, objects: Ints) -> Ensemble:
        """Return some objects with the same cluster numbers, including empty clusters.

        This is for methods that start with a part of the objects: sums per cluster stay comparable, and labels keep
        their meaning. A partition may have observed none of these objects. `subset`, in contrast, makes an ensemble
        with its own numbers of clusters.

        Parameters
        ----------
        objects : ndarray of int of shape (n_part,)
            Objects, in this order.

        Returns
        -------
        Ensemble
            An ensemble with the same ``offsets``, ``names`` and ``weights``; missing and noise are counted again.

        Examples
        --------
        >>> import numpy as np
        >>> from conclust import Ensemble
        >>> Ensemble([[0, 1], [1, -1], [2, 1]]).part(np.array([0, 2])).labels
        array([[0, 0],
               [2, 0]])
        """
        soft = None if self._soft is None else self._soft[objects]
        return Ensemble.numbered(self.codes[objects], self.names, self.weights, soft)

    @staticmethod
    def numbered(
        codes: NDArray[Any], names: Names, weights: Floats | None, soft: sp.csr_array | None = None
    ) -> Ensemble:
        """Return the ensemble of some objects' codes, clusters numbered as in an ensemble of more objects.

        Parameters
        ----------
        codes : ndarray of shape (n_part, n_partitions)
            Numbers in `names`, or the codes of missing and noise.
        names : tuple of tuples
            The user's label of every cluster of every partition; a cluster may have no object here.
        weights : ndarray of shape (n_partitions,) or None
            Weight of each partition.
        soft : csr_array of shape (n_part, T), default=None
            Posteriors. None: the partitions are hard.
        """
        codes = np.ascontiguousarray(codes)
        counts = np.array([len(cluster_names) for cluster_names in names], dtype=np.int64)
        part = Ensemble.__new__(Ensemble)
        part._fill(CodedLabels(codes, counts, *reserved_counts(codes), names), weights, soft)
        return part

    @staticmethod
    def concat(ensembles: Sequence[Ensemble]) -> Ensemble:
        """Return one ensemble with the partitions of several over the same objects.

        Parameters
        ----------
        ensembles : sequence of Ensemble
            Ensembles with the same number of objects, all hard or all soft. If some have weights, the partitions of
            the others get weight 1.

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
        ensembles = derived.read_list(ensembles, Ensemble)
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
            weights = np.concatenate([e.partition_weights for e in ensembles])
        largest = max(int(e.cluster_counts.max()) for e in ensembles)
        dtype = code_type(largest)
        coded = CodedLabels(
            np.ascontiguousarray(np.hstack([recoded(e.codes, dtype) for e in ensembles])),
            np.concatenate([e.cluster_counts for e in ensembles]),
            np.concatenate([e.missing_counts for e in ensembles]),
            np.concatenate([e.noise_counts for e in ensembles]),
            tuple(names for e in ensembles for names in e.names),
        )
        coded = _named(coded, min((e.naming for e in ensembles), key=["own", "shared"].index))
        parts = [e._soft for e in ensembles if e._soft is not None]
        return Ensemble._make(coded, weights, sp.csr_array(sp.hstack(parts)) if parts else None)

    def most_probable(self) -> Ensemble:
        """Return the most probable clusters of soft partitions, as hard partitions; hard ones as they are.

        Methods that compare objects read soft partitions in this way. If two equal mixed objects draw their clusters
        independently, they share one with a small probability: by the product of memberships, a mixed object is far from all
        others, even from equal ones, so copies of one soft partition would not reproduce its clusters.
        """
        if self._soft is None:
            return self
        return Ensemble._make(_named(code_labels(self.labels), self.naming), self.weights, None)

    def reweighted(self, weights: ArrayLike | None) -> Ensemble:
        """Return the same partitions with other `weights` (None: all equal)."""
        return Ensemble._make(self._coded(), weights, self._soft)

    def encode(self, labels: Any, *, missing: Missing = "unobserved") -> tuple[NDArray[Any], int]:
        """Read the labels of new objects with this ensemble's names.

        Parameters
        ----------
        labels : array-like of shape (n_new, n_partitions)
            Labels of the new objects from the same partitions.
        missing : {"unobserved", "noise"}, default="unobserved"
            Meaning of -1.

        Returns
        -------
        codes : ndarray of shape (n_new, n_partitions)
            Codes of the type of ``codes``; a label that no object of this ensemble has is noise.
        n_unseen : int
            Number of labels that were not seen in ``fit``.

        Raises
        ------
        InputError
            If the labels are malformed or of another number of partitions.
        ParameterError
            If `missing` is neither.
        """
        check_option(missing, "missing", "Ensemble.encode", Missing)
        read = read_new_labels(labels, missing=missing)
        return encode_labels(read, self.names, self.codes.dtype, missing=missing)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the labels (n_samples, n_partitions), -1 missing and -2 noise, for ``np.asarray``."""
        return derived.labels_as_array(self, dtype, copy)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ensemble):
            return NotImplemented
        return self.shape == other.shape and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return int(self.fingerprint[:15], 16)

    def __reduce__(self) -> tuple[Any, ...]:
        return Ensemble._make, (self._coded(), self.weights, self._soft)

    def packed(self) -> dict[str, Any]:
        """Return arrays and names of clusters, from which `unpacked` makes the ensemble again."""
        arrays, names = _ensemble_file.pack(self._coded(), self.weights, self._soft)
        return {"names": names, **arrays}

    @staticmethod
    def unpacked(parts: dict[str, Any]) -> Ensemble:
        """Undo `packed`, validating each part."""
        arrays = {name: part for name, part in parts.items() if name != "names"}
        part = "its ensemble"
        return made_of(part, _ensemble_file.unpack_checked(part, arrays, parts["names"]))

    def _coded(self) -> CodedLabels:
        return CodedLabels(
            self.codes, self.cluster_counts, self.missing_counts, self.noise_counts, self.names
        )

    def __repr__(self) -> str:
        return f"Ensemble({count(self.n_samples, 'object')}, {self.described})"

    @property
    def described(self) -> str:
        """The partitions in words: "40 partitions of 2 to 12 clusters"."""
        low, high = int(self.cluster_counts.min()), int(self.cluster_counts.max())
        partitions = count(self.n_partitions, "soft " * self.is_soft + "partition")
        facts = [f"{partitions} of {count_range(low, high, 'cluster')}"]
        cells = self.n_samples * self.n_partitions
        for absent, what in ((self.missing_counts, "missing"), (self.noise_counts, "noise")):
            if absent.any():
                facts.append(f"{100 * absent.sum() / cells:.1f}% {what}")
        facts += ["weighted"] * (self.weights is not None)
        facts += ["names shared"] * (self.naming == "shared")
        return ", ".join(facts)

    def _repr_html_(self) -> str:
        from conclust.words.card import Card

        numbers, times = np.unique(self.cluster_counts, return_counts=True)
        return Card(
            count(self.n_partitions, "clustering"),
            f"{count(self.n_samples, 'object')}, Ensemble",
            "",
            [(count(int(K), "cluster"), int(n)) for K, n in zip(numbers, times, strict=True)],
            [("Next steps", "conclust.AutoConsensus().fit(ensemble) combines the clusterings.")],
        ).html()

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ensemble to one NPZ file (never a pickle), atomically.

        Parameters
        ----------
        path : str or path-like
            Path of the file; an existing one is replaced.

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
            If the file is not an ensemble, is damaged, or has a later format.
        OSError
            If the file cannot be read.
        """
        return made_of(path, _ensemble_file.read(path))


def _named(coded: CodedLabels, names: Naming) -> CodedLabels:
    return replace(coded, names=SharedNames(coded.names)) if names == "shared" else coded


def made_of(path: str | os.PathLike[str], parts: tuple[CodedLabels, Any, Any]) -> Ensemble:
    try:
        return Ensemble._make(*parts)
    except InputError as error:
        raise FileFormatError(f"{os.fspath(path)} is damaged: {error}") from error


@dataclass(frozen=True, eq=False)
class DistinctRows(EqualRows):
    """The distinct rows of labels of an ensemble (`Ensemble.distinct_rows`).

    Attributes
    ----------
    first : ndarray of int64 of shape (n_rows,)
        The first object with each row.
    inverse : ndarray of int64 of shape (n_objects,)
        The row of each object.
    counts : ndarray of int64 of shape (n_rows,)
        Number of objects with each row.
    whole : Ensemble
        The ensemble of the objects.
    """

    whole: Ensemble = field(repr=False)

    @classmethod
    def each_object(cls, whole: Ensemble) -> DistinctRows:
        """Return one row per object, without combining equal rows."""
        alone = EqualRows.each_alone(whole.n_samples)
        return cls(alone.first, alone.inverse, alone.counts, whole)

    @property
    def n_objects(self) -> int:
        """Number of objects that the rows represent."""
        return len(self.inverse)

    @property
    def cells(self) -> int:
        """Number of labels in the rows."""
        return int(self.ensemble.codes.size)

    @cached_property
    def ensemble(self) -> Ensemble:
        """One object for each row, with clusters numbered as in the whole ensemble."""
        everything = np.array_equal(self.first, np.arange(self.whole.n_samples))
        return self.whole if everything else self.whole.part(self.first)

    @cached_property
    def degrees(self) -> Floats:
        """Sum of the co-associations of each row with all objects, including itself."""
        ensemble = self.ensemble
        if ensemble.is_soft:
            sizes = ensemble.indicator.T @ self.masses
            degrees = ensemble.indicator @ (ensemble.column_weights * sizes)
        else:
            sizes = np.empty((int(ensemble.offsets[-1]), 1))
            cluster_sums(ensemble.label_view, self.masses, None, sizes)
            weighed = ensemble.column_weights[:, None] * sizes
            degrees = np.empty((len(self), 1))
            indicator_rows(ensemble.label_view, weighed, 0, False, degrees)
            degrees = degrees[:, 0]
        if ensemble.has_noise:
            degrees += ensemble.noise @ ensemble.partition_weights
        return np.asarray(degrees)

    def some(self, objects: Ints) -> tuple[DistinctRows, Ints]:
        """Return the rows of some objects, in their order here, and their indices."""
        rows, inverse, counts = np.unique(
            self.inverse[objects], return_inverse=True, return_counts=True
        )
        return DistinctRows(self.first[rows], inverse, counts, self.whole), rows


def with_weight(ensemble: Ensemble) -> Ensemble:
    """Return the ensemble without partitions of weight 0, which would split rows of equal labels."""
    if ensemble.weights is None or ensemble.weights.all():
        return ensemble
    return ensemble.subset(partitions=ensemble.weights > 0)


def as_ensemble(labels: Any, *, missing: Missing = "unobserved") -> Ensemble:
    """Return `labels` if they are an Ensemble, else make one, with a hint if they look transposed."""
    if isinstance(
        labels, derived.Derived
    ):  # or labels in blocks, which provide all sums over objects
        return cast("Ensemble", labels)
    labels = collected(labels)
    ensemble = Ensemble(labels, missing=missing)
    n, m = ensemble.shape
    if runs_in_a_list(labels) or draws_in_rows(labels, n, m):
        return ensemble  # which has given the hint
    if clusterings_as_rows(labels, n, m):
        warn(
            f"The labels have {n} rows and {m} columns, and are read as {n} objects in {m} partitions. "
            f"If each row is a clustering of {m} objects, pass the transpose: numpy.transpose(labels). "
            "If the rows are objects, conclust.Ensemble(labels) is read without this hint.",
            OrientationWarning,
        )
    return ensemble


# Names in at most this number of rows, with three times more columns or beyond, look like clusterings given
# as rows.
_FEW_ROWS = 5
# Smaller tables may have different pairs of labels by chance.
_FEW_ANSWERS = 20
_MOST_COLUMNS = 6  # of tables of answers
# Smaller matrices may number the clusters of all rows by first appearance by chance.
FEW_DRAWS = 10


def clusterings_as_rows(labels: Any, n: int, m: int) -> bool:
    """Return whether the rows of a label matrix (n, m) are probably clusterings.

    It does if it has far fewer rows than columns (lists of lists: fewer), every row numbers its clusters without a gap from
    the smallest label of all on, as clusterers do, and not every column does.
    """
    if m < (n + 1 if isinstance(labels, list | tuple) else 3 * n):
        return False
    array = np.asarray(labels)
    if array.dtype.kind not in "biuf":
        return n <= _FEW_ROWS and m > 2 * n
    clusters = array >= 0  # missing and noise are not clusters
    if not clusters.any():
        return False
    base = array[clusters].min()
    array = np.where(clusters, array, np.nan)
    return all(_is_dense(row, base) for row in array) and not all(
        _is_dense(column, base) for column in array.T
    )


def runs_in_a_list(labels: Any) -> bool:
    """Return whether labels are a list of vectors, each longer than the list: clusterings, given as rows."""
    if not isinstance(labels, list | tuple) or not labels:
        return False
    return all(
        hasattr(one, "__array__") and np.ndim(one) == 1 and len(one) > len(labels) for one in labels
    )


def draws_in_rows(labels: Any, n: int, m: int) -> bool:
    """Return whether each row of a label matrix (n, m) numbers its clusters by first appearance, as draws of a partition do.

    Then the first column is constant: a partition in one cluster, if rows were objects. A constant first row is an object
    in the first cluster of every partition, as in columns numbered by first appearance: it does not count as draws.
    """
    if n < FEW_DRAWS or m < FEW_DRAWS:
        return False
    array = np.asarray(labels)
    if array.dtype.kind not in "iu" or array.shape != (n, m) or array[0, 0] not in (0, 1):
        return False
    if (array[:, 0] != array[0, 0]).any() or (array[0] == array[0, 0]).all():
        return False
    highest = np.maximum.accumulate(array, axis=1)
    by_appearance = (array[:, 1:] <= highest[:, :-1] + 1).all() and array.min() >= array[0, 0]
    return bool(by_appearance and (highest[:, -1] > array[0, 0] + 1).any())


def draws_hint(n: int, m: int) -> str:
    """Return the hint about such a matrix, read as n objects in m partitions."""
    return (
        f"The labels are read as {n} objects in {m} partitions, but each of the {n} rows numbers its clusters by first "
        f"appearance, as draws of a partition of {m} objects do. If each row is a draw, use Ensemble.from_draws(labels)."
    )


def first_indicators(codes: NDArray[Any], names: Names) -> int:
    """Return the number of columns in the first block of columns of 0 and 1 that sum to 1 in each row; 0 unless all are in such."""
    if len(names) < 4 or any({0, 1} != {*one} for one in names):
        return 0
    ones, first, start = np.zeros(len(codes), dtype=np.int64), 0, 0
    for at, column in enumerate(codes.T, 1):
        ones += column == names[at - 1].index(1)
        if ones.max() > 1:
            return 0
        if ones.min() == 1:
            first, start, ones = first or at, at, np.zeros_like(ones)
    return first if start == len(names) else 0


def answers_in_rows(codes: NDArray[Any], cluster_counts: Ints) -> tuple[int, int] | None:
    """Return two of three columns whose pairs of values are all different, as in a table with one answer per row.

    Such a table has columns of objects, of raters and of labels, and further names of these. Two partitions with few clusters
    have equal pairs.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_partitions)
        Labels of each column from 0 on.
    cluster_counts : ndarray of int64 of shape (n_partitions,)
        Number of labels of each column.
    """
    n, m = codes.shape
    if not 3 <= m <= _MOST_COLUMNS or n < _FEW_ANSWERS:
        return None
    alike = [any((codes[:, i] == codes[:, j]).all() for i in range(j)) for j in range(m)]
    columns = [j for j in range(m) if not alike[j]]
    for first, second in combinations(columns, 2) if len(columns) == 3 else ():
        numbers = int(cluster_counts[first]), int(cluster_counts[second])
        # Each value occurs three times on average, at least; the missing labels have large codes.
        if not n <= numbers[0] * numbers[1] or max(numbers) > n / 3:
            continue
        pairs = codes[:, first].astype(np.int64) * (int(codes.max()) + 1) + codes[:, second]
        if len(np.unique(pairs)) == n:
            return first, second
    return None


def answers_hint(n: int, columns: tuple[int, int]) -> str:
    """Return the warning about such a table, read as n objects in three partitions."""
    return (
        f"The labels are read as {n} objects, one per row, but all pairs of values of the columns {columns[0]} and "
        f"{columns[1]} are different, as in a table with an object, a rater and a label in each row. If it is one, use "
        "Ensemble.from_long; in the shell, --rows answers."
    )


def runs_hint(n: int, m: int) -> str:
    """Return the warning about such a list, read as n objects in m partitions."""
    return (
        f"A list of {n} vectors of {m} labels is read as {n} objects in {m} partitions: one row per object. If each "
        "vector is a clustering, pass numpy.column_stack(labels)."
    )


def _is_dense(labels: Floats, base: float) -> bool:
    """Return whether the labels are all of base, base + 1, ..., their largest."""
    values = np.unique(labels[~np.isnan(labels)])
    return len(values) > 0 and bool((values == base + np.arange(len(values))).all())
