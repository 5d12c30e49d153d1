"""Fuzzy communities, and fuzzy clusters of the rows of the evidence."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from conclust._random import RandomStateLike, generator
from conclust._validation import check_int, check_option, check_real
from conclust.consensus.base import Method, SoftConsensusClusterer
from conclust.consensus.median.search import least_squares_labels
from conclust.ensemble import Ensemble
from conclust.exceptions import UnsupportedEnsembleError
from conclust.membership import bridgeness
from conclust.simplex import project_simplex

__all__ = ["FuzzyCommunities", "FuzzyRows"]

# How sure of the start: corners of the simplex are hard to leave.
_SURE = 0.8
# Steps in a row that must gain next to nothing.
_PATIENCE = 3


def normalized_rows(ensemble: Ensemble) -> sp.csr_array:
    """Return A with AA' the share of the (weighted) partitions that put two objects together."""
    each = np.ones(ensemble.n_partitions) if ensemble.weights is None else ensemble.weights
    scale = np.sqrt(np.repeat(each / each.sum(), ensemble.cluster_counts))
    return sp.csr_array(ensemble.indicator.multiply(scale))


def blurred(labels: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Return a membership that is rather sure of the labels."""
    U = np.full((len(labels), k), (1.0 - _SURE) / k)
    U[np.arange(len(labels)), labels] += _SURE
    return U


def warn_unfinished(owner: str, max_iter: int) -> None:
    """Say that `max_iter` ended the iteration."""
    warnings.warn(
        f"{owner} stopped after max_iter={max_iter} iterations with the objective still falling. "
        "Raise max_iter, or tol if this is close enough.",
        ConvergenceWarning,
        stacklevel=6,
    )


class FuzzyCommunities(SoftConsensusClusterer):
    """Fuzzy communities of the co-association, and how much each object is a bridge.

    Finds a membership U, rows on the simplex, whose inner products are the co-association::

        f(U) = sum over i, j of (s_ij - u_i'u_j)^2

    with s_ij the share of the partitions that put i and j together and s_ii = 1, so that every
    object is asked to belong somewhere for sure [1]_. That is the least-squares PCC with the
    diagonal counted. Objects between communities have a high bridgeness.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of communities, K.
    n_init : int, default=5
        Random starts of the search for the least-squares partition at which U starts.
    max_iter : int, default=1000
        The most steps.
    tol : float, default=1e-9
        Stop when three steps in a row lower the objective by less than this share of the sum of
        squares of the co-association.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 means in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Source of all random choices.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The most probable community; consecutive from 0 by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        U.
    bridgeness_ : ndarray of shape (n_samples,)
        0 for an object of one community, 1 for one that all share evenly: see
        :func:`conclust.membership.bridgeness`.
    n_clusters_ : int
        Communities found: those that are the most probable one of some object.
    objective_ : float
        f(U).
    trace_ : ndarray of shape (n_iter_ + 1,)
        f at the start and after each step. It never rises.
    n_iter_ : int
        Steps.
    converged_ : bool
        Whether `tol` ended the iteration, not `max_iter`.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    UnsupportedEnsembleError
        If the ensemble has missing labels: PCC takes them.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the iteration.

    Notes
    -----
    Projected gradient steps of Barzilai and Borwein's length; along each the objective is a
    polynomial of fourth degree, whose least value is taken. Everything is read from products with
    the indicator of the ensemble: O(n (N K + K^2)) a step, no matrix of pairs.

    An object that a partition took for noise is apart from everybody in it. Soft partitions take
    part with sums of products of probabilities.

    References
    ----------
    .. [1] T. Nepusz, A. Petróczi, L. Négyessy, F. Bazsó: Fuzzy communities and the concept of
       bridgeness in complex networks. Physical Review E 77, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import FuzzyCommunities
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = FuzzyCommunities(2, random_state=0).fit(ensemble)
    >>> model.labels_, model.bridgeness_.argmax()
    (array([0, 0, 1, 1]), np.int64(2))
    """

    bridgeness_: NDArray[np.float64]
    objective_: float
    trace_: NDArray[np.float64]
    n_iter_: int
    converged_: bool

    method = Method(
        title="Fuzzy communities",
        n_clusters="exact",
        membership=True,
        missing=False,
        weights=True,
        soft_members=True,
        cost="n (N K + K^2) a step",
        citation="Nepusz, Petróczi, Négyessy and Bazsó 2008",
    )

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_init: int = 5,
        max_iter: int = 1000,
        tol: float = 1e-9,
        missing: str = "unobserved",
        random_state: RandomStateLike = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.missing = missing
        self.random_state = random_state

    def _check_parameters(self, ensemble: Ensemble) -> None:
        check_int(self.n_clusters, "n_clusters", "FuzzyCommunities", high=ensemble.n_samples)
        check_int(self.n_init, "n_init", "FuzzyCommunities", low=0)
        check_int(self.max_iter, "max_iter", "FuzzyCommunities")
        check_real(self.tol, "tol", "FuzzyCommunities")

    def _fit_membership(self, ensemble: Ensemble) -> NDArray[np.float64]:
        draw = generator(self.random_state, "FuzzyCommunities")
        k = self.n_clusters
        labels = least_squares_labels(ensemble, k, self.n_init, draw)
        with threadpool_limits(1):
            U = self._descend(normalized_rows(ensemble), blurred(labels, k))
        self.bridgeness_ = bridgeness(U)
        if not self.converged_:
            warn_unfinished("FuzzyCommunities", self.max_iter)
        return U

    def _descend(self, A: sp.csr_array, U: NDArray[np.float64]) -> NDArray[np.float64]:
        own = np.asarray(A.multiply(A).sum(axis=1)).ravel()
        lift = (1.0 - own)[:, np.newaxis]
        gram = A.T @ A
        total = float(gram.multiply(gram).sum()) - float(own @ own) + len(own)

        def times(V: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(A @ (A.T @ V) + lift * V)

        S, P = times(U), U.T @ U
        value = total - 2.0 * float((U * S).sum()) + float((P * P).sum())
        trace, idle = [max(value, 0.0)], 0
        G = 4.0 * (U @ P - S)
        step = 1.0 / (4.0 * max(float(np.linalg.norm(P, 2)), 1e-12))
        while idle < _PATIENCE and len(trace) <= self.max_iter:
            D = project_simplex(U - step * G) - U
            SD, Q, R = times(D), U.T @ D, D.T @ D
            Q = Q + Q.T
            c1 = -4.0 * float((U * SD).sum()) + 2.0 * float((P * Q).sum())
            c2 = -2.0 * float((D * SD).sum()) + float((Q * Q).sum()) + 2.0 * float((P * R).sum())
            c3, c4 = 2.0 * float((Q * R).sum()), float((R * R).sum())
            far, change = _least(c1, c2, c3, c4)
            U, S = U + far * D, S + far * SD
            P = U.T @ U
            new = 4.0 * (U @ P - S)
            bend = float((D * (new - G)).sum())
            length = far * float((D * D).sum())
            step = length / bend if bend > 0 < length else 2.0 * step
            step = min(max(step, 1e-12), 1e6)
            G = new
            trace.append(max(trace[-1] + change, 0.0))
            idle = idle + 1 if -change <= self.tol * total else 0
        U = project_simplex(U)
        S, P = times(U), U.T @ U
        self.objective_ = max(0.0, total - 2.0 * float((U * S).sum()) + float((P * P).sum()))
        self.trace_ = np.array(trace)
        self.n_iter_ = len(trace) - 1
        self.converged_ = idle >= _PATIENCE
        return U


def _least(c1: float, c2: float, c3: float, c4: float) -> tuple[float, float]:
    """Return where in [0, 1] the polynomial c1 e + ... + c4 e^4 is least, and its value there."""
    roots = np.roots([4.0 * c4, 3.0 * c3, 2.0 * c2, c1]) if c4 > 0 else np.zeros(0)
    real = roots.real[np.abs(roots.imag) <= 1e-9 * (1.0 + np.abs(roots.real))]
    tried = np.concatenate([[0.0, 1.0], np.clip(real, 0.0, 1.0)])
    values = tried * (c1 + tried * (c2 + tried * (c3 + tried * c4)))
    best = int(values.argmin())
    return float(tried[best]), float(values[best])


class FuzzyRows(SoftConsensusClusterer):
    """Fuzzy k-means or fuzzy k-medoids on the evidence: a baseline with memberships.

    "cmeans" groups the rows of labels, as indicators of all clusters of all partitions, around
    centroids; "cmedoids" groups objects around K of them by the dissimilarity 1 - s_ij, with s_ij
    the share of the partitions that put i and j together [1]_ [2]_. Both lower ::

        J(Y) = sum over objects i and clusters k of y_ik^fuzziness d_ik

    with d_ik the squared distance to the centroid, or the dissimilarity to the medoid.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters, K.
    kind : {"cmeans", "cmedoids"}, default="cmeans"
        What clusters are gathered around.
    fuzziness : float, default=1.5
        Above 1: near 1 memberships are nearly labels, the larger the evener they are.
    n_init : int, default=5
        Random starts of the search for the least-squares partition at which Y starts.
    max_iter : int, default=500
        The most iterations.
    tol : float, default=1e-8
        Stop when an iteration lowers J by less than this share of it.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 means in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Source of all random choices.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The cluster of the largest membership; -1: missing in every partition.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Y, rows sum to 1.
    medoids_ : ndarray of int64 of shape (n_clusters,) or None
        For "cmedoids": the objects that the clusters are gathered around.
    n_clusters_ : int
        Clusters found: those that are the most probable one of some object.
    objective_ : float
        J. The partitions' weights are divided by their sum.
    trace_ : ndarray of shape (n_iter_,)
        J after each iteration. It never rises.
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
        For "cmedoids", if the ensemble has missing labels: "cmeans" takes them.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the iteration.

    Notes
    -----
    No matrix of pairs is formed, for medoids neither: O(n N K) an iteration. "cmeans" leaves
    partitions that did not observe an object out of its distances, and the object out of what its
    cluster's centroid says of them. Noise is a row of zeros in that partition: apart from everybody.

    References
    ----------
    .. [1] J. C. Bezdek: Pattern recognition with fuzzy objective function algorithms. 1981.
    .. [2] J.-P. Mei, L. Chen: Fuzzy clustering with weighted medoids for relational data. Pattern
       Recognition 43, 2010; here with one medoid a cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import FuzzyRows
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> FuzzyRows(2, random_state=0).fit(ensemble).labels_
    array([0, 0, 1, 1])
    """

    medoids_: NDArray[np.int64] | None
    objective_: float
    trace_: NDArray[np.float64]
    n_iter_: int
    converged_: bool

    method = Method(
        title="Fuzzy k-means or k-medoids on the evidence",
        n_clusters="exact",
        membership=True,
        missing=True,
        weights=True,
        soft_members=True,
        cost="n N K an iteration",
        citation="Bezdek 1981; Mei and Chen 2010",
    )

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        kind: str = "cmeans",
        fuzziness: float = 1.5,
        n_init: int = 5,
        max_iter: int = 500,
        tol: float = 1e-8,
        missing: str = "unobserved",
        random_state: RandomStateLike = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kind = kind
        self.fuzziness = fuzziness
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.missing = missing
        self.random_state = random_state

    def _check_parameters(self, ensemble: Ensemble) -> None:
        check_int(self.n_clusters, "n_clusters", "FuzzyRows", high=ensemble.n_samples)
        check_option(self.kind, "kind", "FuzzyRows", ("cmeans", "cmedoids"))
        check_real(self.fuzziness, "fuzziness", "FuzzyRows", low=1.0, closed="neither")
        check_int(self.n_init, "n_init", "FuzzyRows", low=0)
        check_int(self.max_iter, "max_iter", "FuzzyRows")
        check_real(self.tol, "tol", "FuzzyRows")
        if self.kind == "cmedoids" and ensemble.has_missing:
            raise UnsupportedEnsembleError(
                "FuzzyRows(kind='cmedoids') takes no missing labels, and the ensemble has them. "
                "kind='cmeans' does; conclust.methods() says which others."
            )

    def _fit_membership(self, ensemble: Ensemble) -> NDArray[np.float64]:
        draw = generator(self.random_state, "FuzzyRows")
        k, power = self.n_clusters, self.fuzziness
        labels = least_squares_labels(ensemble, k, self.n_init, draw)
        rows = _Rows.of(ensemble)
        Y = np.zeros((ensemble.n_samples, k))
        Y[np.arange(len(Y)), labels] = 1.0
        empty = np.flatnonzero(~Y.any(axis=0))  # fewer different rows than clusters
        Y[:, empty] = 1.0 / k
        Y /= Y.sum(axis=1, keepdims=True)
        trace: list[float] = []
        self.medoids_ = None
        converged = False
        with threadpool_limits(1):
            while not converged and len(trace) < self.max_iter:
                shares = Y**power
                if self.kind == "cmeans":
                    distances = rows.to_centroids(shares)
                else:
                    self.medoids_ = rows.medoids(shares)
                    distances = rows.to_objects(self.medoids_)
                Y = _memberships(distances, power)
                trace.append(float((Y**power * distances).sum()))
                converged = len(trace) > 1 and trace[-2] - trace[-1] <= self.tol * trace[-2]
        self.objective_, self.trace_ = trace[-1], np.array(trace)
        self.n_iter_, self.converged_ = len(trace), converged
        if not converged:
            warn_unfinished("FuzzyRows", self.max_iter)
        return Y

    def _reorder(self, order: NDArray[np.int64]) -> None:
        if self.medoids_ is not None:
            self.medoids_ = self.medoids_[order]


def _memberships(distances: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Return the memberships that lower J most: even among clusters at distance 0."""
    least = distances.min(axis=1, keepdims=True)
    ratio = np.divide(least, distances, out=np.ones_like(distances), where=distances > 0)
    Y = np.where(least > 0, ratio ** (1.0 / (power - 1.0)), distances == 0)
    return np.asarray(Y / Y.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class _Rows:
    """Rows A of all objects, squared by partition; who saw whom; the partition of each column."""

    A: sp.csr_array
    own: NDArray[np.float64]
    seen: NDArray[np.float64]
    group: NDArray[np.int64]

    @classmethod
    def of(cls, ensemble: Ensemble) -> _Rows:
        A = normalized_rows(ensemble)
        own = np.asarray(A.multiply(A).sum(axis=1)).ravel()
        if ensemble.has_missing:
            group = np.repeat(np.arange(ensemble.n_partitions), ensemble.cluster_counts)
            return cls(A, own, ensemble.present.astype(np.float64), group)
        return cls(A, own, np.ones((len(own), 1)), np.zeros(A.shape[1], dtype=np.int64))

    def to_centroids(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return squared distances to the means of the rows with these shares."""
        mass = (self.seen.T @ shares)[self.group]
        sums = np.asarray(self.A.T @ shares)
        centers = np.divide(sums, mass, out=np.zeros_like(sums), where=mass > 0)
        squares = np.zeros((self.seen.shape[1], shares.shape[1]))
        np.add.at(squares, self.group, centers**2)
        found = self.own[:, np.newaxis] - 2.0 * (self.A @ centers) + self.seen @ squares
        return _cleaned(found)

    def medoids(self, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the objects with the least shared dissimilarity to all others."""
        near = self.A @ (self.A.T @ shares) + (1.0 - self.own)[:, np.newaxis] * shares
        return np.asarray(near.argmax(axis=0), dtype=np.int64)

    def to_objects(self, objects: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the dissimilarities to some objects, each 0 to itself."""
        found = 1.0 - (self.A @ self.A[objects].T).toarray()
        found[objects, np.arange(len(objects))] = 0.0
        return _cleaned(found)


def _cleaned(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Make what rounding left of a distance of 0 a 0 (distances are at most about 2)."""
    return np.where(distances < 1e-13, 0.0, distances)
