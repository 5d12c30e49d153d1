"""MixtureModel: each cluster has its own label distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._kernels import lower_rows, share_rows
from conclust._progress import rounds
from conclust._random import RandomStateLike, seed_sequence
from conclust._threads import thread_count
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import NamedClusterer
from conclust.consensus.label_rows import RowLoss, RowMoves, best_of_restarts, fewer_starts, trusted
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import DistinctRows, Ensemble, Missing, Naming
from conclust.ensemble.labels import indicator_of, missing_code, over_clusters, over_partitions
from conclust.spectra.gram import IndicatorProducts

# Product of the indicator and a table (T, K).
Times: TypeAlias = Callable[[Floats], Floats]
# A start has _BRIEF iterations of EM, which show how good it is.
_BRIEF = 1
# The hard clusters at which a start begins: maximum number of passes, and the share of the loss that ends them.
_PASSES, _LITTLE = 100, 1e-6


@dataclass(eq=False, repr=False)
class MixtureModel(NamedClusterer):
    r"""Mixture of multinomials over label vectors, fitted by EM.

    Each object belongs to one of K components, and each component has a distribution over the
    labels of every partition; the labels of an object are independent given its component [1]_:

    .. math::

        P(\text{labels of } i) = \sum_k a_k \prod_u \theta_u(\text{label of } i \text{ in } u \mid k)

    A partition that did not observe an object is left out of its product: missing labels need no
    imputation.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of components. ``n_clusters_`` does not count components that are not the most probable one of any
        object. Required with ``names="own"``: ``fit`` refuses None.
    smoothing : float, default=1e-3
        Pseudo-count of every label in every component (a Dirichlet prior): a label that no object of
        the component has stays possible. 0 gives maximum likelihood.
    n_init : int, default=10
        Number of starts, from hard clusters of maximum likelihood (k-means on the rows of labels, by relative
        entropy); fewer if a cluster has fewer than two different rows. They end after one iteration of EM, and the
        best is continued. With more than 5,000 distinct rows they are run on 5,000 objects drawn at random, and
        the best is continued on all.
    names : {"own", "shared"}, default="own"
        Meaning of the names of clusters. "own": those of each partition are arbitrary, unless ``Ensemble(...,
        names="shared")`` says otherwise. "shared": a name is the same class in all partitions, as in answers of
        raters. There is then a component for each name, and EM starts from the shares of the answers: the model of Dawid and
        Skene [2]_. `n_clusters` must be None, and `n_init` has no effect.
    max_iter : int, default=500
        Maximum number of iterations of EM.
    tol : float, default=1e-6
        Stop when an iteration raises ``objective_`` by at most this share of its size, or by this many nats per object.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.
    n_jobs : int, default=None
        Threads; starts run in parallel. None: ``OMP_NUM_THREADS`` or all processors. The result
        does not depend on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The most probable component of each object; -1: missing in every partition.
    membership_ : ndarray of shape (n_samples, n_held)
        Probability of each component given the labels of the object; rows sum to 1. A column for each component that is
        not empty; the clusters of ``labels_`` come first.
    n_clusters_ : int
        Number of components that are the most probable one of some object.
    mixing_ : ndarray of shape (n_held,)
        a, the share of each component.
    label_probabilities_ : list of ndarray, each of shape (n_held, n_clusters_u)
        theta_u for each partition, one row per component; labels in the order of their first
        appearance.
    classes_ : ndarray of shape (n_classes,)
        With ``names="shared"``: the names, first those of the columns of ``membership_``. ``classes_[labels_]`` are the answers
        of objects whose label is not -1.
    confusion_ : ndarray of shape (n_partitions, n_held, n_classes)
        With ``names="shared"``: probability that a partition answers each class (last axis), given the true class (middle
        axis).
    log_likelihood_ : float
        Log-likelihood of all labels, in nats.
    objective_ : float
        The sum that EM raises: the log-likelihood plus ``smoothing`` times the (weighted) sum of
        log theta.
    bic_ : float
        -2 ``log_likelihood_`` + log(n_samples) x free parameters; lower is better.
    icl_ : float
        ``bic_`` + 2 x entropy of the memberships, which favours clusters that do not overlap; lower is better.
    entropy_r2_ : float
        Separation of the components: 1 minus the entropy of the memberships as a share of the largest possible
        one. It is 1 if each object belongs to one component for certain, and NaN for a single component.
    trace_ : ndarray of shape (n_iter + 1,)
        The log-likelihood with the term of the pseudo-counts, at the start and after each iteration on
        all objects. It never falls.
    n_iter_ : int
        Number of iterations on all objects.
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
    Time is O(n_samples n_partitions n_clusters) per iteration; equal rows of labels are computed once.
    Noise is a label that no other object has: its probability cannot differ between components, so it drops out like a missing
    label. A weight is an exponent. Weights are first scaled so that their
    sum is the effective number of partitions, (sum w)^2 / sum w^2: only their ratios matter, and equal weights change nothing.

    If labels depend on each other within a true cluster, BIC may select more components than there are clusters.

    References
    ----------
    .. [1] A. Topchy, A. K. Jain, W. Punch: A mixture model for clustering ensembles. SDM 2004.
    .. [2] A. P. Dawid and A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
       Applied Statistics 28(1), 1979.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import MixtureModel
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, -1], [1, 1, 1]])
    >>> model = MixtureModel(2, random_state=0).fit(ensemble)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.predict_proba([[-1, 0, 0], [1, -1, -1]]).round(2)
    array([[1., 0.],
           [0., 1.]])
    """

    method = Method(
        title="Mixture of multinomials (EM)",
        n_clusters="exact",
        fewer=True,
        membership=True,
        soft_members=False,
        cost="n N K per iteration",
        citation="Topchy, Jain and Punch 2004, SDM",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    smoothing: float = 1e-3
    n_init: int = 10
    names: Naming = "own"
    max_iter: int = 500
    tol: float = 1e-6
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0
    _components: Components = field(init=False)
    _votes: Floats = field(init=False)

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        seed = seed_sequence(self.random_state, "MixtureModel")
        threads = thread_count(self.n_jobs, "MixtureModel")
        ensemble = ensemble.reweighted(ensemble.relative_weights)
        rows = ensemble.distinct_rows()
        if self._by_name:
            self._votes = self._votes_by_name(ensemble)
        k = self._votes.shape[1] if self._by_name else self.n_clusters
        search = _Search(k, float(self.smoothing), self.max_iter, self.tol)
        if self._by_name:
            from conclust.consensus.voting.ballots import spread, tally  # the default needs neither

            shares = spread(tally(rows.ensemble, self._votes), rows.ensemble.observed_weights)
            best = search._climb(rows, _maximised(rows, shares, search.smoothing))
        else:
            n_init = fewer_starts(self.n_init, rows, k)
            best = best_of_restarts(search, rows, n_init, seed, threads, search.carry_on)
        self._components = best.components
        self._keep_course(best.trace, best.converged, "iterations of EM")
        self.log_likelihood_ = best.log_likelihood
        counted = ensemble.cluster_counts[ensemble.partition_weights > 0]
        free = k - 1 + k * int((counted - 1).sum())
        self.bic_ = -2.0 * best.log_likelihood + math.log(ensemble.n_samples) * free
        entropy = float(rows.masses @ _entropies(best.membership))
        self.icl_ = self.bic_ + 2.0 * entropy
        self.entropy_r2_ = 1.0 - entropy / (ensemble.n_samples * math.log(k)) if k > 1 else math.nan
        return best.membership[rows.inverse]

    def _keep_clusters(self, clusters: Ints) -> None:
        self._components = self._components.keep(clusters)
        self.mixing_ = self._components.mixing
        cuts = self._components.offsets[1:-1]
        self.label_probabilities_ = [
            block.T.copy() for block in np.split(self._components.theta, cuts)
        ]
        super()._keep_clusters(clusters)
        if self._by_name:
            self._votes = np.hstack([self._votes[:, clusters], np.delete(self._votes, clusters, 1)])
            parts = zip(self.label_probabilities_, np.split(self._votes, cuts), strict=True)
            self.confusion_ = np.array([theta @ votes for theta, votes in parts])

    def _fits(self, counts: Ints) -> bool:
        return self._components.fits(counts, self.membership_.shape[1])

    def _place(self, codes: NDArray[Any]) -> Floats:
        return self._components.place(codes)


@dataclass(frozen=True)
class Components:
    """Shares of the components (K,), and the probability of each label in each, (T, K)."""

    offsets: Ints
    column_weights: Floats
    mixing: Floats
    theta: Floats

    def fits(self, counts: Ints, n_clusters: int) -> bool:
        """Return whether these are components of the labels of partitions with these numbers of clusters."""
        return (
            np.array_equal(self.offsets, starts_of(counts))
            and holds(self.column_weights, counts.sum())
            and holds(self.mixing, n_clusters)
            and holds(self.theta, counts.sum(), n_clusters)
        )

    def posterior(self, times: Times, counts: Floats) -> tuple[Floats, float]:
        """Return the probabilities of the components of each row, and the log-likelihood; `times` multiplies by B."""
        with np.errstate(divide="ignore"):
            log_mixing = np.log(self.mixing)
        z = times(self._weighted_logs)
        top, total = np.empty(len(z)), np.empty(len(z))
        lower_rows(z, log_mixing, top)
        np.exp(z, out=z)
        share_rows(z, total)
        return z, float(counts @ (top + np.log(total)))

    def keep(self, clusters: Ints) -> Components:
        """Return some of the components, in a given order."""
        theta = np.ascontiguousarray(self.theta[:, clusters])
        return replace(self, mixing=self.mixing[clusters], theta=theta)

    def place(self, codes: NDArray[Any]) -> Floats:
        """Return the probabilities of the components of objects with given labels; uniform without any label."""
        B = indicator_of(codes, self.offsets)
        z, _ = self.posterior(lambda table: np.asarray(B @ table), np.ones(len(codes)))
        z[(codes == missing_code(codes.dtype)).all(axis=1)] = 1.0 / z.shape[1]
        return z

    def nearest(self, times: Times) -> Ints:
        """Return the most probable component of each row (n,); `times` multiplies by B."""
        z = times(self._weighted_logs) + np.log(self.mixing)
        return np.asarray(z.argmax(axis=1), dtype=np.int64)

    def prior(self, smoothing: float) -> float:
        """Return the part of the objective that the pseudo-counts add."""
        return smoothing * float(self._weighted_logs.sum()) if smoothing else 0.0

    @cached_property
    def _weighted_logs(self) -> Floats:
        weights = self.column_weights[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(weights > 0, weights * np.log(self.theta), 0.0)


@dataclass(frozen=True)
class _Fitted:
    """Final state of EM; the trace holds the objective at the start and after each iteration."""

    components: Components
    membership: Floats
    log_likelihood: float
    trace: list[float]
    converged: bool


@dataclass(frozen=True)
class _Search:
    """Runs EM from several starts: see `best_of_restarts`."""

    n_clusters: int
    smoothing: float
    max_iter: int
    tol: float

    def begin(self, rows: DistinctRows, start: int, seed: int) -> _Fitted:
        """Run EM for some iterations, from hard clusters."""
        moves = RowMoves(self.n_clusters, RowLoss("entropic"), _PASSES, _LITTLE)
        brief = replace(self, max_iter=min(_BRIEF, self.max_iter))
        z = trusted(moves.begin(rows, start, seed).labels, self.n_clusters)
        return brief._climb(rows, _maximised(rows, z, self.smoothing))

    def finish(self, result: _Fitted, rows: DistinctRows, chosen: Ints) -> _Fitted:
        """Continue EM with all rows."""
        return self._climb(rows, result.components)

    def carry_on(self, result: _Fitted, rows: DistinctRows) -> _Fitted:
        """Run EM from the end of a start, on the same rows, until it converges."""
        done = len(result.trace) - 1
        if result.converged or done >= self.max_iter:
            return result
        left = replace(self, max_iter=self.max_iter - done)
        end = left._climb(rows, result.components)
        return replace(end, trace=[*result.trace, *end.trace[1:]])

    def loss(self, result: _Fitted) -> float:
        """Return the negative objective at the end of a start."""
        return -result.trace[-1]

    def _climb(self, rows: DistinctRows, components: Components) -> _Fitted:
        """Run EM from some components until it converges."""
        times = IndicatorProducts.of(rows.ensemble).times
        total = rows.masses.sum()
        z, log_likelihood = components.posterior(times, rows.masses)
        trace = [log_likelihood + components.prior(self.smoothing)]
        for done in range(self.max_iter):
            rounds("iterations of EM", done, self.max_iter)
            components = _maximised(rows, z, self.smoothing)
            z, log_likelihood = components.posterior(times, rows.masses)
            trace.append(log_likelihood + components.prior(self.smoothing))
            if trace[-1] - trace[-2] <= self.tol * max(abs(trace[-1]), total):
                return _Fitted(components, z, log_likelihood, trace, True)
        return _Fitted(components, z, log_likelihood, trace, False)


def _entropies(z: Floats) -> Floats:
    """Return the entropy of each row, in nats."""
    logs = np.log(z, out=np.zeros_like(z), where=z > 0)
    return np.asarray(-(z * logs).sum(axis=1))


def _maximised(rows: DistinctRows, z: Floats, smoothing: float) -> Components:
    """Return the components that are best for memberships: the M step."""
    mass = rows.masses[:, None] * z
    theta: Floats = IndicatorProducts.of(rows.ensemble).sums(mass) + smoothing
    offsets, mixing = rows.ensemble.offsets, mass.sum(axis=0)
    sums = over_partitions(theta, offsets)
    # Without smoothing, a component that has no label of a partition carries no information about it.
    if (sums <= 0).any():
        theta[over_clusters(sums <= 0, offsets)] = 1.0
        sums = over_partitions(theta, offsets)
    theta /= over_clusters(sums, offsets)
    return Components(offsets, rows.ensemble.column_weights, mixing / mixing.sum(), theta)
