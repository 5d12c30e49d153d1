"""LeftStochastic: the co-association as inner products of distributions, by rotation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from conclust._arrays.rows import ratio
from conclust._kernels import project_rows
from conclust._progress import rounds
from conclust._random import RandomStateLike, generator, seed_sequence
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus import label_rows
from conclust.consensus.base import SoftConsensusClusterer
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import DistinctRows, Ensemble, Missing

# Maximum total number of clusters for which B'B is decomposed completely.
_DENSE = 3000
# Singular values below this share of the first are rounding errors.
_RANK = 1e-9
# Starts are compared once a step lowers the objective by less than this per object. The best is continued.
_ROUGH = 1e-5


@dataclass(eq=False, repr=False)
class LeftStochastic(SoftConsensusClusterer):
    """Left-stochastic decomposition of the co-association.

    Looks for a scale c and a membership P, rows on the simplex, with c S = P P', where s_ij is the
    share of the partitions that put i and j together [1]_ [2]_. The K leading eigenvectors of S give
    P up to a rotation. c is chosen so that their rows lie on a plane, as rows on the simplex do; the
    rotation brings them nearest to the simplex. An S of this form is recovered exactly.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. If the co-association has lower rank, the clusters beyond it stay empty. Required:
        ``fit`` refuses None.
    n_init : int, default=10
        Number of starts: the first brings the most extreme rows to the corners, the others are random rotations.
        All but the best end when they nearly stand still. Fewer if a cluster has fewer than two different rows of
        labels. With more than 5,000 distinct rows they run on 5,000 objects drawn at random, and the best is
        continued with all.
    max_iter : int, default=500
        Maximum number of steps from one start.
    tol : float, default=1e-9
        Stop when a step lowers the objective by less than this per object.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of the random rotations.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The most probable cluster; consecutive from 0 by first appearance.
    membership_ : ndarray of shape (n_samples, n_held)
        P. A column for each cluster that is not empty; the clusters of ``labels_`` come first.
    scale_ : float
        c.
    residual_ : float
        The squared Frobenius norm of c S - P P', over all ordered pairs and the diagonal.
    n_clusters_ : int
        Clusters found: those that are the most probable one of some object.
    objective_ : float
        Sum of the squared distances between the rotated rows and the simplex.
    trace_ : ndarray of shape (n_iter + 1,)
        That sum at the start that was kept and after each step of all objects. It never rises.
    n_iter_ : int
        Number of steps on all objects, for the start that was kept.
    converged_ : bool
        Whether `tol` ended the iteration, not `max_iter`.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    UnsupportedEnsembleError
        If the ensemble has missing labels: FuzzyCommunities and PCC take them.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the iteration.

    Notes
    -----
    The eigenvectors come from B'B, or from a sparse singular value decomposition of B if there are many clusters overall; no
    matrix of pairs is formed. A step projects the rotated rows on the
    simplex, and then takes the rotation that fits the projections best (Procrustes), within those
    that keep the plane; the paper searches the same rotations by gradients. s_ii = 1 pulls towards
    certain memberships.

    Missing labels are refused: eigenvectors need a whole matrix and give all its entries the same
    weight, but nothing is known of a pair that no partition observed, and little of others.
    :class:`FuzzyCommunities` fits the same inner products with weights for the pairs.

    A noise object is apart from all objects in its partition, itself included. Soft partitions count
    with sums of products of probabilities.

    References
    ----------
    .. [1] R. Arora, M. Gupta, A. Kapila, M. Fazel: Clustering by left-stochastic matrix
       factorization. ICML 2011.
    .. [2] R. Arora, M. Gupta, A. Kapila, M. Fazel: Similarity-based clustering by left-stochastic
       matrix factorization. Journal of Machine Learning Research 14, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import LeftStochastic
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> LeftStochastic(2, random_state=0).fit(ensemble).labels_
    array([0, 0, 1, 1])
    """

    scale_: float = field(init=False)
    residual_: float = field(init=False)

    method = Method(
        title="Left-stochastic decomposition",
        n_clusters="exact",
        fewer=True,
        membership=True,
        missing=False,
        soft_members=True,
        cost="n (N K + K^2) per step, n N^2 + T^3 once",
        citation="Arora, Gupta, Kapila and Fazel 2013, JMLR 14",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    n_init: int = 10
    max_iter: int = 500
    tol: float = 1e-9
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        seed = seed_sequence(self.random_state, "LeftStochastic")
        A = label_rows.normalized_rows(ensemble)
        with one_library_thread():
            leading = _leading(A, ensemble, self.n_clusters)
            M = A @ leading
            plane = Plane.through(M.T @ M, M.sum(axis=0))
            to_points = leading @ plane.coordinates

            @lru_cache(maxsize=2)  # the same rows in every start
            def points(rows: DistinctRows) -> Floats:
                return np.asarray(label_rows.normalized_rows(rows.ensemble) @ to_points)

            search = _Search(points, self)
            rows = ensemble.distinct_rows()
            n_init = label_rows.fewer_starts(self.n_init, rows, self.n_clusters)
            best = search.to_the_end(
                label_rows.best_of_restarts(search, rows, n_init, seed, 1), rows
            )
            P = np.zeros((len(M), self.n_clusters))
            P[:, : M.shape[1]] = best.membership[rows.inverse]
            if not M.shape[1]:
                P[:] = 1.0 / self.n_clusters
            self.residual_ = _residual(A, label_rows.normalized_norm(ensemble), plane.scale, P)
        self.scale_ = plane.scale
        self._keep_course(best.trace, best.converged)
        return P


def _residual(A: sp.csr_array, norm: float, scale: float, P: Floats) -> float:
    """Return the squared norm of scale AA' - PP'; `norm` is the squared norm of AA'."""
    across, inner = A.T @ P, P.T @ P
    total = scale * scale * norm + float((inner * inner).sum())
    return max(0.0, total - 2.0 * scale * float((across * across).sum()))


def _leading(A: sp.csr_array, ensemble: Ensemble, k: int) -> Floats:
    """Return V with AV (AV)' the best approximation of AA' of rank k, or of its own if lower."""
    T = A.shape[1]
    k = min(k, T, A.shape[0])
    if T <= _DENSE or (A.shape[0] >= T and k >= T - 1):
        values, vectors = np.linalg.eigh(label_rows.normalized_gram(ensemble).toarray())
        values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    elif k >= A.shape[0] - 1:  # few more objects than directions, so AA' is the smaller matrix
        values, left = np.linalg.eigh((A @ A.T).toarray())
        values, left = values[::-1][:k], left[:, ::-1][:, :k]
        length = np.sqrt(np.maximum(values, 0.0))
        vectors = ratio(np.asarray(A.T @ left), length)
    else:
        start = np.full(min(A.shape), 1.0 / np.sqrt(min(A.shape)))
        _, singular, right = svds(A, k=k, v0=start)
        order = np.argsort(-singular)
        values, vectors = singular[order] ** 2, right[order].T
    above_rank = values > _RANK * values.max(initial=0.0)
    if not above_rank.any():
        return np.zeros((T, 0))
    # Signs of eigenvectors are arbitrary: the largest entry is made positive.
    vectors = vectors[:, above_rank]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.asarray(vectors * signs)


@dataclass(frozen=True)
class Plane:
    """The plane that rows of a similarity MM' = S are near to, where cS = PP' with P on the simplex.

    ``scale`` is c. ``coordinates`` (k, k - 1) gives a row its place within the plane, as seen from its
    foot, at the scale of the simplex.
    """

    scale: float
    coordinates: Floats

    @classmethod
    def through(cls, gram: Floats, sums: Floats) -> Plane:
        """Return the plane m'x = 1 closest to the rows, given M'M (of full rank) and M'1."""
        k = len(sums)
        if k == 0:  # no two objects share a cluster
            return cls(1.0, np.zeros((0, 0)))
        normal = np.linalg.solve(gram, sums)
        # Scaled to be as far from 0 as the simplex.
        scale = float(normal @ normal) / k
        return cls(scale, np.sqrt(scale) * _complement(normal / np.linalg.norm(normal)))


@dataclass(frozen=True)
class Rotated:
    """A rotation within the plane, the resulting memberships, and the course of the search."""

    rotation: Floats
    membership: Floats
    trace: list[float]
    converged: bool
    rough: bool = False


def rotated(points: Floats, counts: Floats, rotation: Floats, max_iter: int, tol: float) -> Rotated:
    """Rotate points of a plane as close to the simplex as possible.

    Parameters
    ----------
    points : ndarray of shape (n, k - 1)
        Coordinates within the plane.
    counts : ndarray of shape (n,)
        Number of objects at each point.
    rotation : ndarray of shape (k - 1, k - 1)
        Initial rotation.
    max_iter, tol : int and float
        Stopping criteria.

    Returns
    -------
    Rotated
        The trace holds the sum of squared distances to the simplex after each step.
    """
    k = points.shape[1] + 1
    simplex = _complement(np.full(k, 1.0 / np.sqrt(k)))
    weighted = points * counts[:, np.newaxis]
    trace: list[float] = []
    converged = False
    prices, P = np.ones(k), np.empty((len(points), k))
    while not converged and len(trace) <= max_iter:
        rounds("rotations", len(trace), max_iter)
        placed = points @ (rotation @ simplex.T)
        placed += 1.0 / k
        project_rows(placed, prices, P)
        placed -= P
        trace.append(float(counts @ np.einsum("ik,ik->i", placed, placed)))
        converged = k == 1 or (
            len(trace) > 1 and trace[-2] - trace[-1] <= tol * float(counts.sum())
        )
        if not converged:
            rotation = _procrustes(weighted, P @ simplex)
    return Rotated(rotation, P, trace, converged)


@dataclass(frozen=True)
class _Search:
    """Rotates from several starts: see `best_of_restarts`."""

    points: Callable[[DistinctRows], Floats]
    limits: LeftStochastic

    def begin(self, rows: DistinctRows, start: int, seed: int) -> Rotated:
        """Rotate the most extreme points to the corners in the first start, and randomly in the others."""
        points = self.points(rows)
        first = corners(points) if start == 0 else _random(points.shape[1], seed)
        limits = self.limits
        rotation = rotated(points, rows.masses, first, limits.max_iter, max(limits.tol, _ROUGH))
        return replace(rotation, rough=limits.tol < _ROUGH)

    def finish(self, result: Rotated, rows: DistinctRows, chosen: Ints) -> Rotated:
        """Continue the rotation with all points."""
        limits = self.limits
        return rotated(self.points(rows), rows.masses, result.rotation, limits.max_iter, limits.tol)

    def to_the_end(self, result: Rotated, rows: DistinctRows) -> Rotated:
        """Continue from the rough end of a start, unless it was already continued with all points."""
        limits = self.limits
        left = limits.max_iter - len(result.trace) + 1
        if not result.rough or left < 1:
            return replace(result, converged=result.converged and not result.rough)
        more = rotated(self.points(rows), rows.masses, result.rotation, left, limits.tol)
        return replace(more, trace=result.trace + more.trace[1:])

    def loss(self, result: Rotated) -> float:
        """Return the distance to the simplex."""
        return result.trace[-1]


def _complement(unit: Floats) -> Floats:
    """Return k - 1 orthonormal columns that are orthogonal to a unit vector (Householder)."""
    first = np.zeros_like(unit)
    first[0] = 1.0 if unit[0] <= 0 else -1.0
    away = unit - first
    away /= np.linalg.norm(away)
    return np.asarray((np.eye(len(unit)) - 2.0 * np.outer(away, away))[:, 1:])


def _procrustes(points: Floats, targets: Floats) -> Floats:
    """Return the orthogonal R with points R nearest to the targets."""
    left, _, right = np.linalg.svd(points.T @ targets)
    return np.asarray(left @ right)


def corners(points: Floats) -> Floats:
    """Return the rotation that brings the most extreme points, one after the other, to corners."""
    k = points.shape[1] + 1
    if k == 1:
        return np.zeros((0, 0))
    distance = (points**2).sum(axis=1)
    chosen = [int(distance.argmax())]
    distance[:] = np.inf
    for _ in range(k - 1):
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(distance.argmax()))
    return _procrustes(points[chosen], _complement(np.full(k, 1.0 / np.sqrt(k))))


def _random(size: int, seed: int) -> Floats:
    """Return a random orthogonal matrix."""
    normal = generator(seed).normal(size=(size, size))
    return np.asarray(np.linalg.qr(normal)[0])
