"""FuzzyRows: fuzzy k-means on the rows of the evidence, and fuzzy k-medoids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from conclust._arrays.rows import ratio
from conclust._parameters import Parameters, Range
from conclust._progress import rounds
from conclust._random import RandomStateLike
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import SoftConsensusClusterer
from conclust.consensus.label_rows import normalized_rows, start_labels
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import one_hot_rows
from conclust.spectra.gram import is_held

Kind: TypeAlias = Literal["cmeans", "cmedoids", "weighted_medoids"]

# Exponent of the weights of medoids: near 1 one object has nearly all the weight in a cluster.
_MEDOID_FUZZINESS = 1.5
# Starts of InformationTheoreticKMeans, whose partition is the first Y.
_STARTS = 5
# Number of rows of the evidence in one pass.
_AT_ONCE = 1 << 12
# Number of entries of a block of AA' or A'A if the latter is not stored.
_CELLS = 1 << 24


@dataclass(eq=False, repr=False)
class FuzzyRows(SoftConsensusClusterer):
    r"""Fuzzy k-means or fuzzy k-medoids on the evidence: a baseline with memberships.

    With s_ij the share of the partitions that put i and j together, "cmeans" groups the rows of s
    around centroids; "cmedoids" groups objects around K of them by the dissimilarity r_ij = 1 - s_ij
    (0 for an object with itself) [1]_; "weighted_medoids" represents each cluster by all objects, with weights v_jk
    of sum 1 [2]_. All minimise

    .. math::

        J(Y) = \sum_{i, k} y_{ik}^{\text{fuzziness}}\, d_{ik}

    with d_ik the mean over all j of the squared difference of s_ij from the centroid, the
    dissimilarity to the medoid, or the sum over j of v_jk^1.5 r_ij.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. Required: ``fit`` refuses None.
    kind : {"cmeans", "cmedoids", "weighted_medoids"}, default="cmeans"
        Representatives of the clusters.
    fuzziness : float, default=1.2
        Exponent above 1: near 1 memberships are nearly labels; larger values make them more even. If many clusters
        are hard to distinguish, 1.5 or 2, usual in a few dimensions, makes centroids coincide, and fewer than
        `n_clusters` are found [3]_.
    max_iter : int, default=500
        Maximum number of iterations.
    tol : float, default=1e-8
        Stop when an iteration lowers J by less than this share of it.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The cluster of the largest membership; -1: missing in every partition.
    membership_ : ndarray of shape (n_samples, n_held)
        Y, rows sum to 1. A column for each cluster that is not empty; the clusters of ``labels_`` come first.
    medoids_ : ndarray of int64 of shape (n_held,) or None
        For "cmedoids", the medoids of the clusters; for "weighted_medoids", the objects with the largest weights.
    medoid_weights_ : ndarray of shape (n_samples, n_held) or None
        For "weighted_medoids": v; columns sum to 1.
    n_clusters_ : int
        Number of clusters that are the most probable one of some object.
    objective_ : float
        J. The partitions' weights are divided by their sum.
    trace_ : ndarray of shape (n_iter + 1,)
        J of the start and after each iteration. It never rises.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether `tol` ended the iteration, not `max_iter`.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    UnsupportedEnsembleError
        For medoids, if the ensemble has missing labels: "cmeans" takes them.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the iteration.

    Notes
    -----
    No matrix of pairs is formed, even for centroids: rows of s are rows of labels times one matrix, and their distances need
    only the contingency tables of the partitions. :class:`QMI`
    groups the rows of labels themselves. If partitions have more clusters than the consensus, these
    rows are nearly as far from each other within a cluster as between clusters: their fuzzy centroids
    fall together at much lower fuzziness.

    With missing labels s_ij is c_ij / (v_i v_j), for "cmeans": c_ij the share of all partitions that put
    them together, v_i the share that observed i. Where labels are missing independently that is c_ij
    over the share that observed both, on average. A medoid, however, represents its cluster only by its own labels: with few of
    them, either nearly all objects are close to it or none. Noise is apart from all
    objects, itself included.

    References
    ----------
    .. [1] J. C. Bezdek: Pattern recognition with fuzzy objective function algorithms. 1981.
    .. [2] J.-P. Mei, L. Chen: Fuzzy clustering with weighted medoids for relational data. Pattern
       Recognition 43, 2010; with the exponents of their "Fuzzy relational clustering around medoids: a
       unified view", Fuzzy Sets and Systems 183, 2011, of which "cmedoids" is the limit.
    .. [3] J. Yu, Q. Cheng, H. Huang: Analysis of the weighting exponent in the FCM. IEEE Transactions
       on Systems, Man, and Cybernetics B 34(1), 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import FuzzyRows
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> FuzzyRows(2, random_state=0).fit(ensemble).labels_
    array([0, 0, 1, 1])
    """

    medoids_: Ints | None = field(init=False)
    medoid_weights_: Floats | None = field(init=False)

    method = Method(
        title="Fuzzy k-means or k-medoids on the evidence",
        n_clusters="exact",
        fewer=True,
        membership=True,
        cost="n N K per iteration, n N^2 once",
        citation="Bezdek 1981, Plenum; Mei and Chen 2010, Pattern Recognition 43",
        missing_with="kind='cmeans'",
    )
    parameters: ClassVar[Parameters] = {"fuzziness": Range(above=1)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    kind: Kind = "cmeans"
    fuzziness: float = 1.2
    max_iter: int = 500
    tol: float = 1e-8
    random_state: RandomStateLike = None

    def _takes_missing(self) -> bool:
        return isinstance(self.kind, str) and self.kind == "cmeans"

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        k, power = self.n_clusters, self.fuzziness
        labels = start_labels(ensemble, k, _STARTS, self.random_state, "FuzzyRows")
        rows = _Rows.of(ensemble)
        Y = one_hot_rows(labels, k)
        empty = np.flatnonzero(~Y.any(axis=0))  # fewer distinct rows than clusters
        Y[:, empty] = 1.0 / k
        Y /= Y.sum(axis=1, keepdims=True)
        trace: list[float] = []
        self.medoids_ = self.medoid_weights_ = None
        converged = False
        with one_library_thread():
            while not converged and len(trace) <= self.max_iter:
                rounds("iterations", len(trace), self.max_iter)
                shares = Y**power
                if self.kind == "cmeans":
                    distances = rows.to_centroids(shares)
                elif self.kind == "weighted_medoids":
                    # The optimal weights for given memberships, found like memberships for given weights.
                    weights = _memberships(rows.to_all(shares).T, _MEDOID_FUZZINESS).T
                    self.medoid_weights_ = np.ascontiguousarray(weights)
                    self.medoids_ = weights.argmax(axis=0)
                    distances = rows.to_all(weights**_MEDOID_FUZZINESS)
                else:
                    self.medoids_ = rows.medoids(shares)
                    distances = rows.to_objects(self.medoids_)
                if not trace:
                    trace.append(float((shares * distances).sum()))
                Y = _memberships(distances, power)
                trace.append(float((Y**power * distances).sum()))
                converged = len(trace) > 2 and trace[-2] - trace[-1] <= self.tol * trace[-2]
        self._keep_course(trace, converged)
        return Y

    def _keep_clusters(self, clusters: Ints) -> None:
        if self.medoids_ is not None:
            self.medoids_ = self.medoids_[clusters]
        if self.medoid_weights_ is not None:
            self.medoid_weights_ = np.ascontiguousarray(self.medoid_weights_[:, clusters])


def _memberships(distances: Floats, power: float) -> Floats:
    """Return the memberships that minimise J, uniform over clusters at distance 0."""
    least = distances.min(axis=1, keepdims=True)
    ratio = np.divide(least, distances, out=np.ones_like(distances), where=distances > 0)
    Y = np.where(least > 0, ratio ** (1.0 / (power - 1.0)), distances == 0)
    return np.asarray(Y / Y.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class _Rows:
    """A, so that AA' are the shares s, and the squared lengths of its rows."""

    A: sp.csr_array
    own: Floats
    held: bool

    @classmethod
    def of(cls, ensemble: Ensemble) -> _Rows:
        A = normalized_rows(ensemble)
        if ensemble.has_missing:
            partition_weights = ensemble.partition_weights
            observed_weight = ensemble.present @ (partition_weights / partition_weights.sum())
            A = sp.csr_array(
                sp.diags_array(1.0 / np.where(observed_weight > 0, observed_weight, 1.0)) @ A
            )
        return cls(A, _lengths(A), is_held(ensemble))

    @cached_property
    def gram(self) -> sp.csr_array | None:
        """A'A / n, the metric in which rows of A have the distances of the rows of AA', over n. None if it is too large."""
        return sp.csr_array(self.A.T @ self.A / self.A.shape[0]) if self.held else None

    def turned(self, centers: Floats) -> Floats:
        """Return the product of A'A / n with some columns."""
        if self.gram is None:
            return np.asarray(self.A.T @ (self.A @ centers)) / self.A.shape[0]
        return np.asarray(self.gram @ centers)

    @cached_property
    def evidence(self) -> Floats:
        """The squared lengths of the rows of AA', over n."""
        n, T = self.A.shape
        if self.gram is not None:
            return self._in_metric(self.gram, slice(0, T))
        transposed = sp.csr_array(self.A.T)
        if n <= T:
            return np.concatenate(
                [_lengths(self.A[rows] @ transposed) / n for rows in _slices(n, _CELLS // n)]
            )
        lengths = np.zeros(n)
        for columns in _slices(T, _CELLS // T):
            lengths += self._in_metric(sp.csr_array(transposed[columns] @ self.A / n), columns)
        return lengths

    def _in_metric(self, gram: sp.csr_array, columns: slice) -> Floats:
        """Return the contribution of these rows to the lengths of the rows of A in the metric `gram`."""
        part = self.A if columns == slice(0, self.A.shape[1]) else sp.csr_array(self.A[:, columns])
        return np.concatenate(
            [_lengths(self.A[rows], part[rows] @ gram) for rows in _slices(len(self.own), _AT_ONCE)]
        )

    def to_centroids(self, shares: Floats) -> Floats:
        """Return squared distances, over n, of the rows of AA' to their means with these shares."""
        centers = ratio(np.asarray(self.A.T @ shares), shares.sum(axis=0))
        turned = self.turned(centers)
        lengths = (centers * turned).sum(axis=0)
        return _cleaned(self.evidence[:, np.newaxis] - 2.0 * (self.A @ turned) + lengths)

    def medoids(self, shares: Floats) -> Ints:
        """Return the objects with the least shared dissimilarity to all others."""
        near = self.A @ (self.A.T @ shares) + (1.0 - self.own)[:, np.newaxis] * shares
        return np.asarray(near.argmax(axis=0), dtype=np.int64)

    def to_all(self, shares: Floats) -> Floats:
        """Return the sums of the dissimilarities to all objects with these shares."""
        apart = shares.sum(axis=0) - np.asarray(self.A @ (self.A.T @ shares))
        return _cleaned(apart - (1.0 - self.own)[:, np.newaxis] * shares)

    def to_objects(self, objects: Ints) -> Floats:
        """Return the dissimilarities to some objects, each 0 to itself."""
        dissimilarities = 1.0 - (self.A @ self.A[objects].T).toarray()
        dissimilarities[objects, np.arange(len(objects))] = 0.0
        return _cleaned(dissimilarities)


def _slices(n: int, step: int) -> Iterator[slice]:
    return (slice(first, min(n, first + max(1, step))) for first in range(0, n, max(1, step)))


def _lengths(A: sp.csr_array, other: sp.csr_array | None = None) -> Floats:
    """Return the inner product of each row of A with the same row of `other`, by default A itself."""
    return np.asarray(A.multiply(A if other is None else other).sum(axis=1)).ravel()


def _cleaned(distances: Floats) -> Floats:
    """Set distances that are 0 up to rounding to 0 (distances are at most about 2)."""
    return np.where(distances < 1e-13, 0.0, distances)
