"""WeightedNMF: consensus by non-negative factors of the co-association, with learned weights."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from conclust._random import RandomStateLike, generator
from conclust._validation import check_bool, check_int, check_real
from conclust.consensus.base import Method, SoftConsensusClusterer
from conclust.consensus.median.search import least_squares_labels
from conclust.ensemble import Ensemble

__all__ = ["WeightedNMF"]

# Updates of the factors between two updates of the weights.
_UPDATES = 20
# What a partition is blurred by to be a start: zeros would stay zeros.
_BLUR = 0.2
_TINY = 1e-300


class WeightedNMF(SoftConsensusClusterer):
    """Weighted consensus by non-negative matrix factorisation.

    Finds a non-negative H with a column per cluster, and weights w of the partitions, with ::

        | sum_u w_u M_u - H H' |^2 + price sum_u (w_u - v_u)^2 / v_u      (Frobenius norm)

    as small as possible, where M_u has 1 for the pairs that partition u puts together, w is at least
    0 with sum 1, and v are the given weights, divided by their sum [1]_ [2]_. Partitions that
    contradict the others get less weight, some none. No matrix of pairs is formed.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters, K.
    learn_weights : bool, default=True
        Whether w is learned. False: the weights of the ensemble, divided by their sum; all alike if
        it has none. This is the unweighted consensus by NMF.
    regularization : float, default=0.02
        Of the price of leaving the given weights: the price is this times the mean of |M_u|^2. At 0
        the criterion can collapse: any one partition with at most K clusters has norm 0 by itself.
    n_init : int, default=5
        Random starts of the search for the least-squares partition at which the factors start.
    max_iter : int, default=2000
        The most updates of H.
    tol : float, default=1e-7
        Stop when 20 updates, and one of the weights, lower the objective by less than this share of
        the squared norm of sum_u w_u M_u.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 means in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Source of all random choices.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The cluster of the largest entry of each row of H; consecutive from 0 by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Rows of H divided by their sums; uniform where a row is 0.
    factors_ : ndarray of shape (n_samples, n_clusters)
        H.
    weights_ : ndarray of shape (n_partitions,)
        w.
    n_clusters_ : int
        Clusters found: those that are the most probable one of some object.
    objective_ : float
        The sum above, over all ordered pairs, an object with itself among them.
    trace_ : ndarray of shape (n_rounds + 1,)
        The objective at the start and after each round of 20 updates. It never rises.
    n_iter_ : int
        Updates of H.
    converged_ : bool
        Whether `tol` ended the iteration, not `max_iter`.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    UnsupportedEnsembleError
        If the ensemble has missing labels: a pair that was not observed would count as apart. PCC
        takes them.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the iteration.

    Notes
    -----
    The update is H <- H (MH / HH'H)^(1/4), with M = sum_u w_u M_u; MH is B diag(w) (B'H), so that
    it costs O(n N K + n K^2). The fourth root comes of an auxiliary function, so that the objective
    falls at every step, which the square root of the papers does not ensure. The papers also ask for
    H'H = I, or for QSQ' with orthonormal Q in place of HH'; here the scale is free and overlap is
    allowed, so that rows of H can be read as memberships. That is also why weights have a price
    here. They are the solution of the quadratic program min w'Aw - 2b'w on the simplex, with
    A_uv = |contingency table of u and v|^2, b_u = |B_u'H|^2 and the price on the diagonal.

    An object that a partition took for noise is with nobody in it, not even itself. Partitions of
    weight 0 are left out. Soft partitions take part with sums of products of probabilities.

    References
    ----------
    .. [1] T. Li, C. Ding: Weighted consensus clustering. SIAM Data Mining, 2008.
    .. [2] T. Li, C. Ding, M. I. Jordan: Solving consensus and semi-supervised clustering problems
       using nonnegative matrix factorization. ICDM 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import WeightedNMF
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = WeightedNMF(2, random_state=0).fit(ensemble)
    >>> model.labels_, model.weights_.round(2)
    (array([0, 0, 1, 1]), array([0.41, 0.41, 0.17]))
    """

    factors_: NDArray[np.float64]
    weights_: NDArray[np.float64]
    objective_: float
    trace_: NDArray[np.float64]
    n_iter_: int
    converged_: bool

    method = Method(
        title="Weighted consensus by non-negative matrix factorisation",
        n_clusters="exact",
        membership=True,
        missing=False,
        weights=True,
        soft_members=True,
        cost="n (N K + K^2) an update, n N^2 once",
        citation="Li and Ding 2008; Li, Ding and Jordan 2007",
    )

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        learn_weights: bool = True,
        regularization: float = 0.02,
        n_init: int = 5,
        max_iter: int = 2000,
        tol: float = 1e-7,
        missing: str = "unobserved",
        random_state: RandomStateLike = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.learn_weights = learn_weights
        self.regularization = regularization
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.missing = missing
        self.random_state = random_state

    def _check_parameters(self, ensemble: Ensemble) -> None:
        check_int(self.n_clusters, "n_clusters", "WeightedNMF", high=ensemble.n_samples)
        check_bool(self.learn_weights, "learn_weights", "WeightedNMF")
        check_real(self.regularization, "regularization", "WeightedNMF")
        check_int(self.n_init, "n_init", "WeightedNMF", low=0)
        check_int(self.max_iter, "max_iter", "WeightedNMF")
        check_real(self.tol, "tol", "WeightedNMF")

    def _fit_membership(self, ensemble: Ensemble) -> NDArray[np.float64]:
        draw = generator(self.random_state, "WeightedNMF")
        k = self.n_clusters
        labels = least_squares_labels(ensemble, k, self.n_init, draw)
        with threadpool_limits(1):
            model = _Model.of(ensemble, self.regularization if self.learn_weights else 0.0)
            # Clusters without objects, where there are too few different rows, begin at random.
            H = _BLUR * (1.0 + 0.01 * draw.random((ensemble.n_samples, k)))
            H[np.arange(len(H)), labels] += 1.0
            weights = model.given
            mean, square = model.mixed(weights, H), (H.T @ H)
            scale = float((H * mean).sum() / (square**2).sum())
            H *= np.sqrt(scale)
            trace = [model.objective(weights, H)]
            n_iter, converged = 0, False
            while not converged and n_iter < self.max_iter:
                for _ in range(min(_UPDATES, self.max_iter - n_iter)):
                    over = H @ (H.T @ H)
                    ratio = model.mixed(weights, H) / np.maximum(over, _TINY)
                    H *= np.sqrt(np.sqrt(ratio))
                    n_iter += 1
                if self.learn_weights:
                    weights = _simplex_program(
                        model.table, model.overlaps(H), weights, model.given > 0
                    )
                trace.append(model.objective(weights, H))
                size = float(weights @ model.table @ weights)
                converged = trace[-2] - trace[-1] <= self.tol * size
        self.objective_, self.trace_ = trace[-1], np.array(trace)
        self.n_iter_, self.converged_ = n_iter, converged
        self.weights_ = weights
        self.factors_ = H
        if not converged:
            warnings.warn(
                f"WeightedNMF stopped after max_iter={self.max_iter} updates with the objective still "
                "falling. Raise max_iter, or tol if this is close enough.",
                ConvergenceWarning,
                stacklevel=5,
            )
        sums = H.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(H, sums, out=np.full_like(H, 1.0 / k), where=sums > 0))

    def _reorder(self, order: NDArray[np.int64]) -> None:
        self.factors_ = np.ascontiguousarray(self.factors_[:, order])


@dataclass(frozen=True)
class _Model:
    """The rows B, the partition of each column, squared norms and price, the given weights."""

    B: sp.csr_array
    partition: NDArray[np.int64]
    table: NDArray[np.float64]
    given: NDArray[np.float64]
    price: float

    @classmethod
    def of(cls, ensemble: Ensemble, regularization: float) -> _Model:
        m = ensemble.n_partitions
        partition = np.repeat(np.arange(m), ensemble.cluster_counts)
        T = len(partition)
        group = sp.csr_array((np.ones(T), (partition, np.arange(T))), shape=(m, T))
        squared = ensemble.gram.multiply(ensemble.gram)
        table = (group @ squared @ group.T).toarray()
        weights = np.ones(m) if ensemble.weights is None else ensemble.weights
        weights = weights / weights.sum()
        used = np.flatnonzero(weights > 0)
        price = regularization * float(weights @ table.diagonal())
        table[used, used] += price / weights[used]
        return cls(ensemble.indicator, partition, table, weights, price)

    def mixed(self, weights: NDArray[np.float64], H: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sum_u w_u M_u H."""
        inner = (self.B.T @ H) * weights[self.partition][:, np.newaxis]
        return np.asarray(self.B @ inner)

    def overlaps(self, H: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return b_u = |B_u'H|^2."""
        inner = ((self.B.T @ H) ** 2).sum(axis=1)
        return np.asarray(np.bincount(self.partition, inner, minlength=len(self.given)))

    def objective(self, weights: NDArray[np.float64], H: NDArray[np.float64]) -> float:
        """Return the squared norm and the price of the weights."""
        own = float(weights @ self.table @ weights) - self.price
        own -= 2.0 * float(weights @ self.overlaps(H))
        return max(0.0, own + float(((H.T @ H) ** 2).sum()))


def _simplex_program(
    A: NDArray[np.float64],
    b: NDArray[np.float64],
    start: NDArray[np.float64],
    allowed: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Lower w'Aw - 2b'w on the simplex of the allowed, from a start, for A semi-definite."""
    used = np.flatnonzero(allowed)
    A, b = A[np.ix_(used, used)], b[used]
    # An active set: solve with equality on the support, let go what turns negative, take in what
    # would help; each step lowers the objective, so that it ends.
    w = start[used]
    scale = float(np.abs(A).max())
    for _ in range(100 * len(used)):
        slope = A @ w - b
        support = w > 0
        level = float(w @ slope)
        gain = np.where(support, 0.0, level - slope)
        stuck = np.abs(slope[support] - level).max(initial=0.0) <= 1e-12 * scale
        if stuck and gain.max() <= 1e-12 * scale:
            break
        if stuck:
            support[int(gain.argmax())] = True
        direction = _to_minimum(A, slope, support)
        falling = direction < 0
        step = min(1.0, float((w[falling] / -direction[falling]).min(initial=np.inf)))
        if step <= 0.0 or not direction.any():
            break
        hit = falling & (w + step * direction <= 1e-15)
        w = np.where(hit, 0.0, w + step * direction)
        w /= w.sum()
    full = np.zeros(len(start))
    full[used] = w
    return full


def _to_minimum(
    A: NDArray[np.float64], slope: NDArray[np.float64], support: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the move on the support, of sum 0, to the least value there (the shortest such)."""
    inside = np.flatnonzero(support)
    basis = np.eye(len(inside)) - 1.0 / len(inside)
    reduced = basis @ A[np.ix_(inside, inside)] @ basis
    move = np.zeros(len(slope))
    move[inside] = basis @ np.linalg.lstsq(reduced, -(basis @ slope[inside]), rcond=1e-12)[0]
    return move
