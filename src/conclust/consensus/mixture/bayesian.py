"""BayesianEnsemble: objects that share several clusters, by variational inference."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln, polygamma, psi
from sklearn.exceptions import ConvergenceWarning

from conclust._labels import missing_code
from conclust._random import RandomStateLike, seed_sequence, spawn_generators, spawn_seeds
from conclust._threads import thread_count
from conclust._validation import check_bool, check_int, check_real
from conclust.consensus.base import Method, PlacingClusterer
from conclust.consensus.kmeans.label_rows import new_indicator, seeded
from conclust.consensus.kmeans.restarts import Rows, best_start, distinct_rows, few_rows
from conclust.ensemble import Ensemble

__all__ = ["BayesianEnsemble"]

# How far a start trusts its first clusters, and for how many iterations alpha is left alone: with a
# small alpha objects hardly leave the cluster that they began in.
_TRUST = 0.8
_SETTLING = 10
# A component that nobody needs would send its alpha to 0, where digamma has no value.
_LEAST_ALPHA = 1e-3
# Objects that all have one distribution would send alpha to infinity.
_MOST_ALPHA = 1e4
_CELLS_AT_ONCE = 1 << 22


class BayesianEnsemble(PlacingClusterer):
    """Bayesian cluster ensembles: a mixed-membership model of label vectors.

    Each object has a distribution theta_i over K clusters, drawn from Dirichlet(alpha). For every
    partition u it first draws a cluster z_iu from theta_i, then its label from beta_u(. | z_iu)
    [1]_. Unlike in :class:`MixtureModel`, one object can so follow different clusters in different
    partitions. theta and z are integrated over approximately, by distributions that factorise;
    alpha and beta are fitted to the bound on the likelihood (ELBO) that this gives.

    Parameters
    ----------
    n_clusters : int, default=2
        Clusters, K. Those that are nobody's most probable one are not counted in ``n_clusters_``.
    alpha : float, default=None
        Where alpha begins for each cluster: small values ask for objects of one cluster. None:
        1 / n_clusters.
    learn_alpha : bool, default=True
        Whether alpha is fitted too, one value a cluster, or stays what it is.
    smoothing : float, default=1e-3
        Pseudo-count of every label in every cluster (a Dirichlet prior on beta).
    n_init : int, default=5
        Starts (from k-means++ on the labels). Where more than 5,000 rows of labels differ they are
        run on 5,000 objects drawn at random, and the best is carried on with all.
    max_iter : int, default=1000
        The most iterations.
    tol : float, default=1e-5
        Stop when an iteration raises ``objective_`` by at most this share of its size, or by this
        many nats an object.
    missing : {"unobserved", "noise"}, default="unobserved"
        What the label -1 means (see :class:`conclust.Ensemble`).
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Source of all random choices.
    n_jobs : int, default=None
        Threads; starts run side by side. None: ``OMP_NUM_THREADS`` or all processors. The result
        does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The most probable cluster of each object; -1: missing in every partition.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Mean of theta_i under the approximate posterior; rows sum to 1.
    n_clusters_ : int
        Clusters that are the most probable one of some object.
    alpha_ : ndarray of shape (n_clusters,)
        Parameters of the Dirichlet distribution of the memberships.
    label_probabilities_ : list of ndarray, each of shape (n_clusters, n_clusters_u)
        beta_u, one row a cluster, for each partition; labels in the order of their first
        appearance.
    elbo_ : float
        Lower bound of the log-likelihood of all labels, in nats.
    objective_ : float
        What the iteration raises: ``elbo_`` plus ``smoothing`` times the (weighted) sum of
        log beta.
    n_iter_ : int
        Iterations on all objects.
    converged_ : bool
        Whether `tol` ended the iteration, not `max_iter`.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed.
    UnsupportedEnsembleError
        In ``fit``, if the partitions are soft.

    Notes
    -----
    One iteration updates all factors once, each to its best for the others, so that the bound
    never falls; it costs O(n_samples n_partitions n_clusters), equal rows of labels are worked on
    once. The authors' program solves for each object to the end before it touches beta; the fixed
    points are the same.

    A partition that did not observe an object has no z there. Noise is a label that no other
    object has: it tells clusters not apart, and drops out likewise. A partition of weight 2 counts
    as the same partition twice.

    References
    ----------
    .. [1] H. Wang, H. Shan, A. Banerjee: Bayesian cluster ensembles. Statistical Analysis and Data
       Mining 4, 2011 (SDM 2009).

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import BayesianEnsemble
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, -1]])
    >>> model = BayesianEnsemble(2, random_state=0).fit(ensemble)
    >>> model.labels_
    array([0, 0, 1, 1, 1])
    >>> model.predict([[-1, 0, 0], [1, -1, -1]])
    array([0, 1])
    """

    method = Method(
        title="Bayesian cluster ensembles (variational)",
        n_clusters="exact",
        membership=True,
        missing=True,
        weights=True,
        soft_members=False,
        cost="n N K an iteration",
        citation="Wang, Shan and Banerjee 2011, Statistical Analysis and Data Mining 4",
    )

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        alpha: float | None = None,
        learn_alpha: bool = True,
        smoothing: float = 1e-3,
        n_init: int = 5,
        max_iter: int = 1000,
        tol: float = 1e-5,
        missing: str = "unobserved",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.learn_alpha = learn_alpha
        self.smoothing = smoothing
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self, ensemble: Ensemble) -> None:
        owner = "BayesianEnsemble"
        check_int(self.n_clusters, "n_clusters", owner, high=ensemble.n_samples)
        if self.alpha is not None:
            check_real(self.alpha, "alpha", owner, low=_LEAST_ALPHA, high=_MOST_ALPHA)
        check_bool(self.learn_alpha, "learn_alpha", owner)
        check_real(self.smoothing, "smoothing", owner, closed="neither")
        check_int(self.n_init, "n_init", owner)
        check_int(self.max_iter, "max_iter", owner)
        check_real(self.tol, "tol", owner)

    def _fit_membership(self, ensemble: Ensemble) -> NDArray[np.float64]:
        seed = seed_sequence(self.random_state, "BayesianEnsemble")
        threads = thread_count(self.n_jobs, "BayesianEnsemble")
        rows, inverse = distinct_rows(ensemble)
        few, _ = few_rows(rows, inverse, spawn_generators(seed, 1)[0])
        seeds = spawn_seeds(seed, self.n_init + 1)[1:]
        k = self.n_clusters
        alpha = np.full(k, 1.0 / k if self.alpha is None else float(self.alpha))

        def begin(start: int) -> _Fitted:
            z = _TRUST * np.eye(k)[seeded(few, k, seeds[start])] + (1.0 - _TRUST) / k
            B = few.ensemble.indicator
            beta = _normalised(B.T @ (few.counts[:, None] * z) + self.smoothing, few)
            state = _Model(few.ensemble.offsets, few.column_weights, alpha, beta)
            return self._climb(few, state, alpha + _observed(few) * z, _SETTLING)

        best = best_start(begin, lambda fitted: -fitted.trace[-1], self.n_init, few, threads)
        if few is not rows:
            gamma = best.model.placed(rows.ensemble.indicator)
            best = self._climb(rows, best.model, gamma, 0)
        self._model = best.model
        self.objective_ = best.trace[-1]
        self.elbo_ = best.trace[-1] - best.model.prior(self.smoothing)
        self.n_iter_ = len(best.trace) - 1
        self.converged_ = best.converged
        if not best.converged:
            warnings.warn(
                f"BayesianEnsemble stopped after max_iter={self.max_iter} iterations. Raise "
                "max_iter, or tol if this is close enough.",
                ConvergenceWarning,
                stacklevel=4,
            )
        membership = best.gamma / best.gamma.sum(axis=1, keepdims=True)
        return np.asarray(membership[inverse])

    def _climb(
        self, rows: Rows, model: _Model, gamma: NDArray[np.float64], settling: int
    ) -> _Fitted:
        """Raise the bound to the end; alpha stays for the first `settling` iterations."""
        B, counts = rows.ensemble.indicator, rows.counts
        total = counts.sum()
        learns = self.learn_alpha and len(model.alpha) > 1
        found = model.evidence(B, gamma)
        trace = [model.bound(counts, gamma, found) + model.prior(self.smoothing)]
        converged = False
        for iteration in range(self.max_iter):
            gamma = model.alpha + found.mass
            use = (found.plain.T @ (counts[:, None] * found.odds)) * model.beta + self.smoothing
            alpha = model.alpha
            learning = learns and iteration >= settling
            if learning:
                alpha = _better_alpha(alpha, gamma, counts)
            model = replace(model, alpha=alpha, beta=_normalised(use, rows))
            found = model.evidence(B, gamma)
            trace.append(model.bound(counts, gamma, found) + model.prior(self.smoothing))
            small = trace[-1] - trace[-2] <= self.tol * max(abs(trace[-1]), total)
            if small and (learning or not learns):
                converged = True
                break
        return _Fitted(model, gamma, trace, converged)

    def _reorder(self, order: NDArray[np.int64]) -> None:
        parts = self._model
        beta = np.ascontiguousarray(parts.beta[:, order])
        self._model = replace(parts, alpha=parts.alpha[order], beta=beta)
        self.alpha_ = self._model.alpha
        self.label_probabilities_ = [
            block.T.copy() for block in np.split(beta, self._model.offsets[1:-1])
        ]

    def _place(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        gamma = self._model.placed(new_indicator(codes, self._model.offsets))
        gamma /= gamma.sum(axis=1, keepdims=True)
        gamma[(codes == missing_code(codes.dtype)).all(axis=1)] = 1.0 / gamma.shape[1]
        return gamma


@dataclass(frozen=True)
class _Evidence:
    """The best q(z) for a q(theta): q(z_iu = k) = odds_ik beta_tk / (odds_i . beta_t).

    ``plain`` is B with 1 / (odds_i . beta_t) in place of 1; ``mass`` the sum over u of w_u q(z_iu).
    """

    odds: NDArray[np.float64]
    plain: sp.csr_array
    mass: NDArray[np.float64]
    logs: NDArray[np.float64]  # sum over u of w_u log(exp E[log theta_i] . beta_t)


@dataclass(frozen=True)
class _Model:
    """Alpha (K,) and the probability of each label in each cluster, (T, K)."""

    offsets: NDArray[np.int64]
    column_weights: NDArray[np.float64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]

    def evidence(self, B: sp.csr_array, gamma: NDArray[np.float64]) -> _Evidence:
        """Return the best q(z) for q(theta_i) = Dirichlet(gamma_i)."""
        logs = psi(gamma)
        top = logs.max(axis=1)
        odds = np.exp(logs - top[:, None])
        object_of = np.repeat(np.arange(len(gamma)), np.diff(B.indptr))
        chance = np.empty(len(object_of))
        step = max(1, _CELLS_AT_ONCE // len(self.alpha))
        for start in range(0, len(chance), step):
            part = slice(start, start + step)
            np.einsum(
                "ek,ek->e", odds[object_of[part]], self.beta[B.indices[part]], out=chance[part]
            )
        weights = self.column_weights[B.indices]
        plain = sp.csr_array((1.0 / chance, B.indices, B.indptr), B.shape)
        each = np.log(chance) + (top - psi(gamma.sum(axis=1)))[object_of]
        total = np.bincount(object_of, weights * each, len(gamma)).astype(np.float64)
        mass = (plain @ (self.column_weights[:, None] * self.beta)) * odds
        return _Evidence(odds, plain, mass, total)

    def bound(
        self, counts: NDArray[np.float64], gamma: NDArray[np.float64], found: _Evidence
    ) -> float:
        """Return the ELBO at q(theta) and the q(z) that is best for it."""
        total = gamma.sum(axis=1)
        logs = psi(gamma) - psi(total)[:, None]
        each = found.logs + ((self.alpha - gamma) * logs + gammaln(gamma)).sum(axis=1)
        each += gammaln(self.alpha.sum()) - gammaln(self.alpha).sum() - gammaln(total)
        return float((counts * each).sum())

    def prior(self, smoothing: float) -> float:
        """Return the part of the objective that the pseudo-counts add."""
        return smoothing * float((self.column_weights[:, None] * np.log(self.beta)).sum())

    def placed(self, B: sp.csr_array) -> NDArray[np.float64]:
        """Return gamma of objects by their labels alone, begun at the best single cluster."""
        weighted = sp.csr_array((self.column_weights[B.indices], B.indices, B.indptr), B.shape)
        z = weighted @ np.log(self.beta) + np.log(self.alpha / self.alpha.sum())
        z = np.exp(z - z.max(axis=1, keepdims=True))
        z /= z.sum(axis=1, keepdims=True)
        labelled: NDArray[np.float64] = B @ self.column_weights
        gamma: NDArray[np.float64] = self.alpha + labelled[:, None] * z
        for _ in range(200):
            before, gamma = gamma, self.alpha + self.evidence(B, gamma).mass
            if (np.abs(gamma - before).sum(axis=1) <= 1e-8 * gamma.sum(axis=1)).all():
                break
        return gamma


@dataclass(frozen=True)
class _Fitted:
    """Where the iteration ended; the trace holds the objective at the start and after each."""

    model: _Model
    gamma: NDArray[np.float64]
    trace: list[float]
    converged: bool


def _observed(rows: Rows) -> NDArray[np.float64]:
    """Return the weight of the labels of each row, as a column."""
    labelled = rows.ensemble.indicator @ rows.column_weights
    return np.asarray(labelled, dtype=np.float64)[:, None]


def _normalised(use: NDArray[np.float64], rows: Rows) -> NDArray[np.float64]:
    """Return label probabilities: what each cluster used, to sum 1 within each partition."""
    sums = np.add.reduceat(use, rows.ensemble.offsets[:-1], axis=0)
    shares: NDArray[np.float64] = use / np.repeat(sums, rows.ensemble.cluster_counts, axis=0)
    return shares


def _better_alpha(
    alpha: NDArray[np.float64], gamma: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """One Newton step (the Hessian is a diagonal plus a constant), shortened until it helps."""
    n = counts.sum()
    logs = counts @ (psi(gamma) - psi(gamma.sum(axis=1))[:, None])

    def value(a: NDArray[np.float64]) -> float:
        return float(n * (gammaln(a.sum()) - gammaln(a).sum()) + (a * logs).sum())

    g = logs + n * (psi(alpha.sum()) - psi(alpha))
    h = -n * polygamma(1, alpha)
    z = n * polygamma(1, alpha.sum())
    c = (g / h).sum() / (1.0 / z + (1.0 / h).sum())
    step = (g - c) / h
    before = value(alpha)
    for halvings in range(30):
        tried: NDArray[np.float64] = np.clip(
            alpha - step / 2.0**halvings, _LEAST_ALPHA, _MOST_ALPHA
        )
        if value(tried) > before:
            return tried
    return alpha
