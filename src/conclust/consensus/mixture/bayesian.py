"""BayesianEnsemble: objects that share several clusters, by variational inference or Gibbs sampling.

The variational inference is here: the mixed-membership model, its rounds, the climb to a maximum.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._kernels import mixed_membership_round
from conclust._parameters import Parameters, Range
from conclust._progress import rounds, stage
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._threads import thread_count
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_real
from conclust.consensus.acceleration import leap
from conclust.consensus.base import PlacingClusterer, spread
from conclust.consensus.label_rows import RowLoss, RowMoves, best_of_restarts, fewer_starts, trusted
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.mixture.chain import LEAST_ALPHA, MOST_ALPHA, Chain, MixedPrior
from conclust.ensemble import DistinctRows, Ensemble, Missing
from conclust.ensemble.labels import (
    indicator_of,
    label_view,
    missing_code,
    over_clusters,
    over_partitions,
)

# A start has _BRIEF iterations, which show how good it is. Alpha is fixed in the first _SETTLING: with a small alpha objects hardly leave their
# first cluster.
_BRIEF, _SETTLING = 1, 10
# The partition at which a start begins: k-means on the rows of labels by relative entropy, whose last pass lowers the loss by less than
# this share.
_PASSES, _LITTLE = 100, 1e-3
# Minimum share of every probability, after two iterations, that a leap keeps.
_LEFT = 0.01
# After an undone leap the next leaps are shorter; they grow again while they succeed.
_SHORTER, _LONGER = 0.25, 2.0
# For new objects: maximum number of iterations, and relative change of a row that ends them.
_PLACING, _PLACED = 200, 1e-8


@dataclass(frozen=True)
class Round:
    """The sums at the best q(z): see ``_kernels/models/mixed_membership.h``."""

    bound: float
    mass: Floats
    use: Floats
    logs: Floats


@dataclass(frozen=True)
class MixedMemberships:
    """Weights (N,), alpha (K,) and the probability of each label in each cluster, (T, K)."""

    offsets: Ints
    weights: Floats
    alpha: Floats
    beta: Floats

    def fits(self, counts: Ints, n_clusters: int) -> bool:
        """Return whether this is a model of the labels of partitions with these numbers of clusters."""
        return (
            np.array_equal(self.offsets, starts_of(counts))
            and holds(self.weights, len(counts))
            and holds(self.alpha, n_clusters)
            and holds(self.beta, counts.sum(), n_clusters)
        )

    def round(
        self, codes: NDArray[Any], counts: Floats, mass: Floats, room: Floats, threads: int
    ) -> Round:
        """Find the best q(z) for q(theta_i) = Dirichlet(alpha + mass_i), and the ELBO of both.

        The new mass is written into `room`.
        """
        from scipy.special import gammaln

        use, logs = np.empty_like(self.beta), np.empty_like(self.alpha)
        bound = mixed_membership_round(
            label_view(codes, self.offsets, self.weights),
            counts,
            self.alpha,
            self.beta,
            mass,
            room,
            use,
            logs,
            threads,
        )
        bound += counts.sum() * (gammaln(self.alpha.sum()) - gammaln(self.alpha).sum())
        return Round(float(bound), room, use, logs)

    def prior(self, smoothing: float) -> float:
        """Return the part of the objective that the pseudo-counts add."""
        per_partition = over_partitions(np.log(self.beta).sum(axis=1), self.offsets)
        return smoothing * float(self.weights @ per_partition)

    def first_mass(self, codes: NDArray[Any]) -> Floats:
        """Return the mass of objects that each belong to a single unknown cluster."""
        B = indicator_of(codes, self.offsets)
        columns = over_clusters(self.weights, self.offsets)
        z = B @ (columns[:, None] * np.log(self.beta)) + np.log(self.alpha / self.alpha.sum())
        z = np.exp(z - z.max(axis=1, keepdims=True))
        z /= z.sum(axis=1, keepdims=True)
        return np.ascontiguousarray((B @ columns)[:, None] * z)

    def likeliest(self, codes: NDArray[Any], membership: Floats) -> NDArray[np.int32]:
        """Return the most probable cluster behind each label, given the memberships (arbitrary without a label)."""
        logs, beta = np.log(membership), np.log(self.beta)
        clusters = np.zeros(codes.shape, dtype=np.int32)
        for u, first in enumerate(self.offsets[:-1]):
            labelled = np.flatnonzero(codes[:, u] < self.offsets[u + 1] - first)
            clusters[labelled, u] = (logs[labelled] + beta[first + codes[labelled, u]]).argmax(
                axis=1
            )
        return clusters

    def placed(self, codes: NDArray[Any]) -> Floats:
        """Return memberships of objects by their labels alone."""
        mass = self.first_mass(codes)
        counts, room = np.ones(len(codes)), np.empty_like(mass)
        for _ in range(_PLACING):
            before, mass = mass, self.round(codes, counts, mass, room, 1).mass
            room = before
            total = self.alpha.sum() + mass.sum(axis=1)
            if (np.abs(mass - before).sum(axis=1) <= _PLACED * total).all():
                break
        return self.membership(mass)

    def membership(self, mass: Floats) -> Floats:
        """Return the mean of q(theta_i)."""
        gamma = self.alpha + mass
        return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Fitted:
    """Final state of the iteration; the trace holds the objective at the start and after each iteration."""

    model: MixedMemberships
    mass: Floats
    trace: list[float]
    converged: bool


@dataclass(frozen=True)
class _Point:
    """A model and mass, the objective there, and what the next iteration makes of them."""

    model: MixedMemberships
    mass: Floats
    value: float
    next_model: MixedMemberships
    next_mass: Floats


@dataclass(frozen=True)
class Search:
    """Climbs to a maximum of the bound, from several starts: see `best_of_restarts`."""

    alpha: Floats
    learn_alpha: bool
    smoothing: float
    max_iter: int
    tol: float
    threads: int

    def begin(self, rows: DistinctRows, start: int, seed: int) -> Fitted:
        """Climb for some iterations, from a partition by k-means."""
        k = len(self.alpha)
        moves = RowMoves(k, RowLoss("entropic"), _PASSES, _LITTLE)
        z = trusted(moves.begin(rows, start, seed).labels, k)
        B = rows.ensemble.indicator
        beta = _normalised(B.T @ (rows.masses[:, None] * z) + self.smoothing, rows)
        model = MixedMemberships(
            rows.ensemble.offsets, np.array(rows.ensemble.partition_weights), self.alpha, beta
        )
        mass = (B @ rows.ensemble.column_weights)[:, None] * z
        return replace(self, max_iter=min(_BRIEF, self.max_iter), threads=1)._climb(
            rows, model, mass, _SETTLING
        )

    def finish(self, result: Fitted, rows: DistinctRows, chosen: Ints) -> Fitted:
        """Continue with all rows."""
        mass = result.model.first_mass(rows.ensemble.codes)
        return self._climb(rows, result.model, mass, 0)

    def carry_on(self, result: Fitted, rows: DistinctRows) -> Fitted:
        """Climb to the maximum from the end of a start on the same rows."""
        done = len(result.trace) - 1
        if result.converged or done >= self.max_iter:
            return result
        left = replace(self, max_iter=self.max_iter - done)
        end = left._climb(rows, result.model, result.mass, max(_SETTLING - done, 0))
        return replace(end, trace=[*result.trace, *end.trace[1:]])

    def loss(self, result: Fitted) -> float:
        """Return the negative bound at the end of a start."""
        return -result.trace[-1]

    def _climb(
        self, rows: DistinctRows, model: MixedMemberships, mass: Floats, settling: int
    ) -> Fitted:
        """Maximise the bound; alpha is fixed for the first `settling` iterations.

        An iteration optimises q(z), alpha, beta and q(theta) in turn, given the others. After two of them
        mass, beta and alpha leap ahead, unless that lowers the bound.
        """
        codes, counts = np.ascontiguousarray(rows.ensemble.codes), rows.masses
        total = counts.sum()
        learns = self.learn_alpha and len(model.alpha) > 1

        def at(model: MixedMemberships, mass: Floats, iteration: int) -> _Point:
            sums = model.round(codes, counts, mass, np.empty_like(mass), self.threads)
            value = sums.bound + model.prior(self.smoothing)
            learning = learns and iteration >= settling
            alpha = _better_alpha(model.alpha, sums.logs, total) if learning else model.alpha
            beta = _normalised(sums.use + self.smoothing, rows)
            return _Point(model, mass, value, replace(model, alpha=alpha, beta=beta), sums.mass)

        here = at(model, mass, 0)
        trace, longest = [here.value], np.inf
        while (done := len(trace) - 1) < self.max_iter:
            rounds("iterations", done, self.max_iter)
            there = at(here.next_model, here.next_mass, done + 1)
            trace.append(there.value)
            small = there.value - here.value <= self.tol * max(abs(there.value), total)
            if small and (not learns or done >= settling):
                return Fitted(there.model, there.mass, trace, True)
            if done <= settling or done + 1 == self.max_iter:
                here = there
                continue
            ahead, mass, length = _leap(here, there, rows, longest)
            here = at(ahead, mass, done + 2)
            if here.value >= there.value:
                longest = max(longest, _LONGER * length)
            else:
                longest = max(1.0, _SHORTER * length)
                here = at(there.next_model, there.next_mass, done + 2)
            trace.append(here.value)
        return Fitted(here.model, here.mass, trace, False)


def _leap(
    first: _Point, second: _Point, rows: DistinctRows, longest: float
) -> tuple[MixedMemberships, Floats, float]:
    """Extrapolate two iterations, at most `longest` steps: mass, and the logarithms of alpha and beta.

    The length is the larger one of those by mass and by alpha: either may be the last to settle.
    """
    third = second.next_model
    alphas = _changes(first.model.alpha, second.model.alpha, third.alpha)
    betas = _changes(first.model.beta, second.model.beta, third.beta)
    curved = float(alphas[1] @ alphas[1])
    by_alpha = float(np.sqrt(alphas[0] @ alphas[0] / curved)) if curved > 0.0 else 1.0
    mass, length = leap(
        first.mass, second.mass, second.next_mass, longest, least=max(by_alpha, 1.0)
    )

    def ahead(now: Floats, change: Floats, bend: Floats) -> Floats:
        # As 2 length change + length^2 bend from the first point.
        further = 2.0 * (length - 1.0) * change + (length**2 - 1.0) * bend
        return np.asarray(now * np.exp(np.clip(further, np.log(_LEFT), -np.log(_LEFT))))

    alpha = np.clip(ahead(third.alpha, *alphas), LEAST_ALPHA, MOST_ALPHA)
    beta = _normalised(ahead(third.beta, *betas), rows)
    return replace(third, alpha=alpha, beta=beta), mass, length


def _changes(first: Floats, second: Floats, third: Floats) -> tuple[Floats, Floats]:
    """Return the first change of the logarithms, and how the second one differs."""
    change = np.log(second / first)
    return change, np.log(third / second) - change


def _normalised(use: Floats, rows: DistinctRows) -> Floats:
    """Return label probabilities: each cluster's use of the labels, scaled to sum 1 within each partition."""
    sums = over_partitions(use, rows.ensemble.offsets)
    shares: Floats = use / over_clusters(sums, rows.ensemble.offsets)
    return shares


def _better_alpha(alpha: Floats, logs: Floats, n: float) -> Floats:
    """One Newton step (the Hessian is a diagonal plus a constant), shortened until it helps.

    `logs` holds the sums over the `n` objects of E[log theta].
    """
    from scipy.special import gammaln, psi, zeta

    def value(a: Floats) -> float:
        return float(n * (gammaln(a.sum()) - gammaln(a).sum()) + (a * logs).sum())

    g = logs + n * (psi(alpha.sum()) - psi(alpha))
    h = -n * zeta(2.0, alpha)
    z = n * zeta(2.0, alpha.sum())
    c = (g / h).sum() / (1.0 / z + (1.0 / h).sum())
    step = (g - c) / h
    before = value(alpha)
    for halvings in range(30):
        tried: Floats = np.clip(alpha - step / 2.0**halvings, LEAST_ALPHA, MOST_ALPHA)
        if value(tried) > before:
            return tried
    return alpha


MixedSolver: TypeAlias = Literal["variational", "gibbs"]

# Default pseudo-counts: without one for absent labels, chains hardly move.
_SMOOTHING = {"variational": 1e-3, "gibbs": 0.1}
# Lower bound below which products of odds would underflow.
_LEAST_SMOOTHING = 1e-100


@dataclass(eq=False, repr=False)
class BayesianEnsemble(PlacingClusterer):
    """Bayesian cluster ensembles: a mixed-membership model of label vectors.

    Each object has a distribution theta_i over K clusters, drawn from Dirichlet(alpha). For every
    partition u it first draws a cluster z_iu from theta_i, then its label from beta_u(. | z_iu) [1]_.
    Unlike in :class:`MixtureModel`, one object can follow different clusters in different partitions.
    Variational inference integrates out theta and z approximately, with distributions that factorise, and fits alpha and beta
    to the resulting bound on the likelihood (ELBO). Gibbs sampling integrates out theta and beta exactly, and draws the z of
    all objects and partitions from their posterior.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. ``n_clusters_`` does not count clusters that are not the most probable one of any object.
        Required: ``fit`` refuses None.
    solver : {"variational", "gibbs"}, default="variational"
        "gibbs": collapsed Gibbs sampling, started from the variational solution. Slower, but its draws show the uncertainty of the memberships.
    alpha : float, default=None
        Alpha of each cluster, in [1e-3, 1e4]: small values favour objects that belong to one cluster. None: one value per
        cluster is fitted, from 1 / n_clusters; by Gibbs sampling drawn, with an exponential prior of that mean.
    smoothing : float, default=None
        Pseudo-count of every label in every cluster: the parameter of a symmetric Dirichlet prior on
        beta, minus 1 where beta is fitted. None: 1e-3, by Gibbs sampling 0.1.
    n_init : int, default=5
        Number of starts, from k-means on the rows of labels by relative entropy; fewer if a cluster has fewer than two
        different rows. They end after one iteration, and the best is continued. With more than 5,000 distinct rows
        all this is done on 5,000 objects drawn at random, before all rows.
    max_iter : int, default=1000
        Maximum number of iterations: steps and leaps.
    tol : float, default=1e-5
        Stop when a step raises ``objective_`` by at most this share of its size, or by this
        number of nats per object.
    n_burn_in : int, default=200
        For Gibbs sampling: number of sweeps over all labels before draws are kept, at least 0.
    n_draws : int, default=300
        With Gibbs sampling, number of draws kept, one per sweep.
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
        The most probable cluster of each object; -1: missing in every partition.
    membership_ : ndarray of shape (n_samples, n_held)
        Mean of theta_i under the (approximate) posterior; rows sum to 1. A column for each cluster that is not empty;
        the clusters of ``labels_`` come first.
    n_clusters_ : int
        Number of clusters that are the most probable one of some object.
    alpha_ : ndarray of shape (n_held,)
        Parameters of the Dirichlet distribution of the memberships; by Gibbs sampling their mean.
    label_probabilities_ : list of ndarray, each of shape (n_held, n_clusters_u)
        beta_u for each partition, one row per cluster; labels in the order of their first appearance. With Gibbs
        sampling, its mean.
    elbo_ : float
        Lower bound of the log-likelihood of all labels, in nats. Variational only.
    objective_ : float
        The sum that the iteration raises: ``elbo_`` plus ``smoothing`` times the (weighted) sum of
        log beta. Variational only.
    trace_ : ndarray of shape (n_iter + 1,)
        ``objective_`` at the start and after each iteration on all objects. It never falls.
        Variational only.
    converged_ : bool
        Whether `tol` ended the iteration, not `max_iter`. Variational only.
    draws_ : ndarray of int32 of shape (n_samples, n_draws)
        With Gibbs sampling, a cluster of each object in each draw, drawn from its theta_i, as a column of
        ``membership_``; -1: missing in every partition. :func:`conclust.posterior_coclustering` computes
        co-clustering from them.
    log_probabilities_ : ndarray of shape (n_iter,)
        With Gibbs sampling, log P(labels, z), given alpha, after each sweep, in nats. If it still rises, the chain
        has not converged.
    n_iter_ : int
        Number of iterations on all objects, or of sweeps.
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
    One step updates every factor once, to its best for given others, so that the bound never
    falls. After every two steps the factors are extrapolated [3]_, alpha and beta by their logarithms, unless that lowers
    the bound. A step costs O(n_samples n_partitions n_clusters); equal rows of labels are computed once. The
    authors' program solves each object to the end before it updates beta; the fixed points are the
    same.

    A sweep of Gibbs sampling costs as much, with every object drawn by itself, on one thread: 500 sweeps over 10,000
    objects in 20 partitions, 10 clusters, took 7 s. It draws each z_iu given all others, in proportion to (alpha_k +
    labels of i that follow k) (b + objects with its label that follow k in u) / (b K_u + objects that follow k in u),
    then each alpha_k by slice sampling [2]_. The posterior is the same for any numbering of the clusters, and a chain
    may exchange them: each draw is numbered so that its memberships come nearest to the mean of the variational
    solution and the draws before it. Means of single clusters (``membership_``, ``alpha_``, ``label_probabilities_``)
    depend on that where clusters are hardly separate; how often two objects are together in ``draws_`` does not.

    A partition that did not observe an object has no z there. Noise is a label that no other object
    has: it does not distinguish clusters, and drops out too. Weights are scaled so that their sum is the effective
    number of partitions, (sum w)^2 / sum w^2; then a partition of weight 2 counts as the same partition twice, by Gibbs
    sampling as one whose copies all follow the same z.

    References
    ----------
    .. [1] H. Wang, H. Shan, A. Banerjee: Bayesian cluster ensembles. Statistical Analysis and Data
       Mining 4, 2011 (SDM 2009).
    .. [2] R. M. Neal: Slice sampling. Annals of Statistics 31, 2003.
    .. [3] R. Varadhan, C. Roland: Simple and globally convergent methods for accelerating the
       convergence of any EM algorithm. Scandinavian Journal of Statistics 35, 2008.

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
    >>> model = BayesianEnsemble(2, solver="gibbs", n_draws=100, random_state=0).fit(ensemble)
    >>> model.labels_, model.draws_.shape
    (array([0, 0, 1, 1, 1]), (5, 100))
    """

    draws_: NDArray[np.int32] = field(init=False)

    method = Method(
        title="Bayesian cluster ensembles (variational or Gibbs)",
        n_clusters="exact",
        fewer=True,
        membership=True,
        soft_members=False,
        cost="n N K per iteration or sweep",
        citation="Wang, Shan and Banerjee 2011, Statistical Analysis and Data Mining 4",
    )
    parameters: ClassVar[Parameters] = {
        "alpha": Range(at_least=LEAST_ALPHA, at_most=MOST_ALPHA),
        "smoothing": None,
        "n_burn_in": Range(at_least=0),
    }

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    solver: MixedSolver = "variational"
    alpha: float | None = None
    smoothing: float | None = None
    n_init: int = 5
    max_iter: int = 1000
    tol: float = 1e-5
    n_burn_in: int = 200
    n_draws: int = 300
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def _check_parameters(self, ensemble: Ensemble) -> None:
        if self.smoothing is not None:
            least = 0.0 if self.solver == "variational" else _LEAST_SMOOTHING
            check_real(self.smoothing, "smoothing", "BayesianEnsemble", low=least, closed="neither")

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        seed = seed_sequence(self.random_state, "BayesianEnsemble")
        threads = thread_count(self.n_jobs, "BayesianEnsemble")
        first = 1.0 / self.n_clusters if self.alpha is None else float(self.alpha)
        smoothing = self.smoothing
        search = Search(
            np.full(self.n_clusters, first),
            self.alpha is None,
            _SMOOTHING["variational"] if smoothing is None else float(smoothing),
            self.max_iter,
            self.tol,
            threads,
        )
        ensemble = ensemble.reweighted(ensemble.relative_weights)
        rows = ensemble.distinct_rows()
        n_init = fewer_starts(self.n_init, rows, self.n_clusters)
        best = best_of_restarts(search, rows, n_init, seed, threads, search.carry_on)
        if self.solver == "gibbs":
            b = _SMOOTHING["gibbs"] if smoothing is None else float(smoothing)
            return self._sample(
                ensemble, rows, best, MixedPrior(first, self.alpha is None, b), seed
            )
        self._model = best.model
        self._keep_course(best.trace, best.converged)
        self.elbo_ = best.trace[-1] - best.model.prior(search.smoothing)
        return best.model.membership(best.mass)[rows.inverse]

    def _sample(
        self,
        ensemble: Ensemble,
        rows: DistinctRows,
        start: Fitted,
        prior: MixedPrior,
        seed: np.random.SeedSequence,
    ) -> Floats:
        """Run a chain from the variational solution, and store its results."""
        stage("the chain")
        membership = start.model.membership(start.mass)
        clusters = start.model.likeliest(rows.ensemble.codes, membership)
        chain = Chain(ensemble, prior, start.model.alpha, clusters[rows.inverse])
        means = chain.run(
            self.n_burn_in,
            self.n_draws,
            membership[rows.inverse],
            spawn_generators(seed, self.n_init + 2)[-1],
        )
        self._model = replace(start.model, alpha=means.alpha, beta=means.beta)
        self.draws_ = means.draws
        self.log_probabilities_ = means.log_probabilities
        self.n_iter_ = len(means.log_probabilities)
        return means.membership

    def _keep_clusters(self, clusters: Ints) -> None:
        parts = self._model
        beta = np.ascontiguousarray(parts.beta[:, clusters])
        self._model = replace(parts, alpha=parts.alpha[clusters], beta=beta)
        self.alpha_ = self._model.alpha
        self.label_probabilities_ = [
            block.T.copy() for block in np.split(beta, self._model.offsets[1:-1])
        ]
        if self.solver == "gibbs":
            columns = np.full(parts.beta.shape[1], -1, dtype=np.int32)
            columns[clusters] = np.arange(len(clusters))
            self.draws_ = columns[self.draws_]

    def _finish(self, observed: Bools) -> None:
        super()._finish(observed)
        if self.solver == "gibbs":
            self.draws_ = spread(self.draws_, observed, -1)

    def _fits(self, counts: Ints) -> bool:
        return self._model.fits(counts, self.membership_.shape[1])

    def _place(self, codes: NDArray[Any]) -> Floats:
        membership = self._model.placed(np.ascontiguousarray(codes))
        membership[(codes == missing_code(codes.dtype)).all(axis=1)] = 1.0 / membership.shape[1]
        return membership
