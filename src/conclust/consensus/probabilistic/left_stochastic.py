"""LeftStochastic: the co-association as inner products of distributions, by rotation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import svds
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from conclust._random import RandomStateLike, generator
from conclust._validation import check_int, check_real
from conclust.consensus.base import Method, SoftConsensusClusterer
from conclust.consensus.probabilistic.fuzzy import normalized_rows, warn_unfinished
from conclust.ensemble import Ensemble
from conclust.simplex import project_simplex

__all__ = ["LeftStochastic", "left_stochastic"]

# Clusters of all partitions up to which B'B is decomposed whole.
_DENSE = 3000
# Singular values below this share of the first are rounding.
_RANK = 1e-9


class LeftStochastic(SoftConsensusClusterer):
    """Left-stochastic decomposition of the co-association.

    Looks for a scale c and a membership P, rows on the simplex, with c S = P P', where s_ij is the
    share of the partitions that put i and j together [1]_ [2]_. The K leading eigenvectors of S give
    P up to a rotation; c is such that they lie on a plane, as rows on the simplex do, and the
    rotation is the one that brings them nearest to the simplex. Where S is of this form it is
    recovered exactly.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters, K. Where the co-association has lower rank, the clusters beyond it
        stay empty.
    n_init : int, default=10
        Random rotations to start from, besides the one that brings the most extreme rows to the
        corners.
    max_iter : int, default=1000
        The most steps from one start.
    tol : float, default=1e-12
        Stop when a step lowers the objective by less than this per object.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 means in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Source of the random rotations.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The most probable cluster; consecutive from 0 by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        P.
    scale_ : float
        c.
    residual_ : float
        The squared Frobenius norm of c S - P P', over all ordered pairs and the diagonal.
    n_clusters_ : int
        Clusters found: those that are the most probable one of some object.
    objective_ : float
        Sum of the squared distances of the rotated rows to the simplex.
    trace_ : ndarray of shape (n_iter_,)
        That sum after each step from the start that was kept. It never rises.
    n_iter_ : int
        Steps from the start that was kept.
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
    The eigenvectors come of B'B, or of a sparse singular value decomposition of B where there are
    many clusters in all; no matrix of pairs is formed. A step projects the rotated rows on the
    simplex, and then takes the rotation that fits the projections best (Procrustes), within those
    that keep the plane; the paper searches the same rotations by gradients. s_ii = 1 pulls towards
    certain memberships.

    An object that a partition took for noise is apart from everybody in it, itself included. Soft
    partitions take part with sums of products of probabilities.

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

    scale_: float
    residual_: float
    objective_: float
    trace_: NDArray[np.float64]
    n_iter_: int
    converged_: bool

    method = Method(
        title="Left-stochastic decomposition",
        n_clusters="exact",
        membership=True,
        missing=False,
        weights=True,
        soft_members=True,
        cost="n (N K + K^2) a step, n N^2 + T^3 once",
        citation="Arora, Gupta, Kapila and Fazel 2011, 2013",
    )

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_init: int = 10,
        max_iter: int = 1000,
        tol: float = 1e-12,
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
        check_int(self.n_clusters, "n_clusters", "LeftStochastic", high=ensemble.n_samples)
        check_int(self.n_init, "n_init", "LeftStochastic", low=0)
        check_int(self.max_iter, "max_iter", "LeftStochastic")
        check_real(self.tol, "tol", "LeftStochastic")

    def _fit_membership(self, ensemble: Ensemble) -> NDArray[np.float64]:
        draw = generator(self.random_state, "LeftStochastic")
        A = normalized_rows(ensemble)
        with threadpool_limits(1):
            rows = _leading(A, self.n_clusters)
            found = left_stochastic(rows, self.n_init, self.max_iter, self.tol, draw)
            P = np.zeros((len(rows), self.n_clusters))
            P[:, : rows.shape[1]] = found.membership
            if not rows.shape[1]:
                P[:] = 1.0 / self.n_clusters
            gram = A.T @ A
            across, inner = A.T @ P, P.T @ P
            c = found.scale
            total = c * c * float(gram.multiply(gram).sum())
            total += float((inner * inner).sum()) - 2.0 * c * float((across * across).sum())
        self.scale_, self.residual_ = c, max(0.0, total)
        self.objective_, self.trace_ = found.trace[-1], np.array(found.trace)
        self.n_iter_, self.converged_ = len(found.trace), found.converged
        if not found.converged:
            warn_unfinished("LeftStochastic", self.max_iter)
        return P


@dataclass(frozen=True)
class Decomposition:
    """A membership P with scale S = P P', the objective after each step, whether it ended."""

    membership: NDArray[np.float64]
    scale: float
    trace: list[float]
    converged: bool


def _leading(A: sp.csr_array, k: int) -> NDArray[np.float64]:
    """Return rows M with MM' the best approximation of AA' of rank k, or of its own if lower."""
    T = A.shape[1]
    k = min(k, T, A.shape[0])
    if T <= _DENSE or k >= min(A.shape) - 1:
        values, vectors = np.linalg.eigh((A.T @ A).toarray())
        values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    else:
        start = np.full(min(A.shape), 1.0 / np.sqrt(min(A.shape)))
        _, singular, right = svds(A, k=k, v0=start)
        order = np.argsort(-singular)
        values, vectors = singular[order] ** 2, right[order].T
    kept = values > _RANK * values.max(initial=0.0)
    if not kept.any():
        return np.zeros((A.shape[0], 0))
    # Signs of eigenvectors are arbitrary: the largest entry is made positive.
    vectors = vectors[:, kept]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.asarray(A @ (vectors * signs))


def left_stochastic(
    rows: NDArray[np.float64],
    n_init: int,
    max_iter: int,
    tol: float,
    draw: np.random.Generator,
) -> Decomposition:
    """Rotate and scale rows M, with MM' a similarity, to the simplex.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
        M, of full column rank; without columns, nobody is with anybody.
    n_init : int
        Random rotations to start from.
    max_iter, tol : int and float
        When to stop.
    draw : Generator
        Source of the rotations.

    Returns
    -------
    Decomposition
        The nearest membership found.
    """
    n, k = rows.shape
    if k == 0:  # nobody is with anybody
        return Decomposition(np.ones((n, 0)), 1.0, [0.0], True)
    # The plane m'x = 1 that is nearest to the rows; scaled, it is as far from 0 as the simplex.
    normal = np.linalg.solve(rows.T @ rows, rows.sum(axis=0))
    scale = float(normal @ normal) / k
    M = np.sqrt(scale) * rows
    unit = normal / np.linalg.norm(normal)
    height = 1.0 / np.sqrt(k)
    flat = M - np.outer(M @ unit, unit)  # within the plane, seen from its foot
    inside = _complement(unit)  # (k, k - 1)
    simplex = _complement(np.full(k, height))
    points = flat @ inside
    best: Decomposition | None = None
    for rotation in [_corners(points, simplex), *_rotations(k - 1, n_init, draw)]:
        trace: list[float] = []
        converged = False
        while not converged and len(trace) < max_iter:
            placed = points @ rotation @ simplex.T + height * height
            P = project_simplex(placed)
            trace.append(float(((placed - P) ** 2).sum()))
            converged = len(trace) > 1 and trace[-2] - trace[-1] <= tol * n
            if k > 1:
                rotation = _procrustes(points, P @ simplex)
        if best is None or trace[-1] < best.trace[-1] - 1e-9 * n:
            best = Decomposition(P, scale, trace, converged or k == 1)
    assert best is not None
    return best


def _complement(unit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return k - 1 orthonormal columns that are orthogonal to a unit vector (Householder)."""
    first = np.zeros_like(unit)
    first[0] = 1.0 if unit[0] <= 0 else -1.0
    away = unit - first
    away /= np.linalg.norm(away)
    return np.asarray((np.eye(len(unit)) - 2.0 * np.outer(away, away))[:, 1:])


def _procrustes(points: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the orthogonal R with points R nearest to the targets."""
    left, _, right = np.linalg.svd(points.T @ targets)
    return np.asarray(left @ right)


def _corners(points: NDArray[np.float64], simplex: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rotation that brings the most extreme points, one after the other, to corners."""
    k = len(simplex)
    if k == 1:
        return np.zeros((0, 0))
    away = (points**2).sum(axis=1)
    chosen = [int(away.argmax())]
    for _ in range(k - 1):
        distance = np.min([((points - points[c]) ** 2).sum(axis=1) for c in chosen], axis=0)
        chosen.append(int(distance.argmax()))
    return _procrustes(points[chosen], simplex)


def _rotations(size: int, count: int, draw: np.random.Generator) -> list[NDArray[np.float64]]:
    """Return random orthogonal matrices."""
    if size == 0:
        return []
    return [np.asarray(np.linalg.qr(draw.normal(size=(size, size)))[0]) for _ in range(count)]
