"""WeightedPCC: consensus that learns a weight for each partition (EMMCVPR 2013)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from conclust import divergences
from conclust._arrays.simplex import project_simplex
from conclust._parameters import Parameters, Range
from conclust._random import RandomStateLike
from conclust._types import Bools, Floats
from conclust._validation import refuse
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.papers.probabilistic import estimator
from conclust.consensus.papers.probabilistic.distances import AllPairs, PairPattern, PairSet
from conclust.consensus.papers.probabilistic.placements.factored_model import FactoredModel
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Stopping
from conclust.consensus.papers.probabilistic.search.starts import given_start
from conclust.consensus.papers.probabilistic.solvers.factored import Factored
from conclust.ensemble import Ensemble, Missing
from conclust.ensemble.derived import Derived, within_range
from conclust.evidence import SparseEvidence
from conclust.exceptions import EvidenceWarning, warn

Regularization: TypeAlias = Literal["simplex", "l2"]

# Maximum number of sweeps of the first membership step, and of the later ones, which start from the last result;
# and the share of its sum by which the last sweep of a step may still lower it.
_FIRST_SWEEPS = 200
_SWEEPS = 20
_STEP_TOL = 1e-7
# Number of objects on which starts are compared: per cluster, and its bounds.
_PER_CLUSTER, _FEW = 40, (400, 4000)
# Share of the partitions that carry the weights with rho=None.
_KEPT = 0.8
# Rounds end when the total change of the weights is smaller.
_WEIGHTS_TOL = 1e-4
# Distances that differ by less, in units of n^2, differ by rounding.
_TIE = 1e-12


def capped_weights(d: Floats, caps: Floats, tie: float = 0.0) -> Floats:
    """Minimise alpha'd over the simplex with alpha <= caps (sum of caps at least 1).

    The nearest partitions are filled up to their caps; the remainder goes to the next one. (The
    paper's Proposition 1 gives it to a partition that is full already: its index must be
    floor(1/rho) + 1.) Partitions within `tie` of their neighbour in distance share in proportion to
    their caps, so that the order of equal partitions does not matter.
    """
    alpha = np.zeros(len(d))
    order = np.argsort(d, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(d[order]) > tie) + 1)
    left = 1.0
    for group in groups:
        room = caps[group].sum()
        # A remainder from rounding is not a weight: 1/rho may differ from an integer by an ulp.
        if left <= 1e-9 * room:
            break
        alpha[group] = caps[group] * min(1.0, left / room)
        left -= room
    return np.asarray(alpha / alpha.sum())


def ridge_weights(d: Floats, strength: float, shares: Floats) -> Floats:
    """Minimise alpha'd + strength/2 sum alpha_u^2 / (m shares_u) over the simplex.

    Proposition 2 of the paper where all m shares are 1/m.
    """
    with np.errstate(over="ignore"):  # -inf for a tiny strength
        near = -(d - d.min()) / strength
    return project_simplex(near, scale=len(d) * shares)


@dataclass(eq=False, repr=False)
class WeightedPCC(estimator.PairObjectiveClusterer):
    r"""Probabilistic consensus that learns a weight for every partition.

    Finds a membership Y and weights alpha (at least 0, with sum 1) of the partitions together:

    .. math::

        f(Y, \alpha) &= \sum_u \alpha_u\, d_u(Y) \\
        d_u(Y) &= \sum_{i \neq j} \left(1[u \text{ puts } i \text{ and } j \text{ together}] - y_i^\top y_j\right)^2

    so that partitions far from the consensus of the others lose their influence. A cap,
    alpha_u <= ρ (`rho`), or a penalty, λ/2 sum alpha_u^2 (`lam`), prevents alpha from concentrating on a single partition.

    Parameters
    ----------
    n_clusters : int, default=None
        Upper bound of the number of clusters. None: the largest number of clusters in any
        partition, at most n_samples.
    regularization : {"simplex", "l2"}, default="simplex"
        "simplex": the cap ρ. "l2": the penalty λ.
    rho : float, default=None
        ρ, the largest weight, between 1/m for m partitions (all weights equal: PCC with l2) and 1
        (one partition is the consensus). None: 1 / (0.8 m), so that 80 % of the partitions have weights. Not used with "l2".
    lam : float, default=0.5
        λ, the penalty, in units of n_samples^2, above 0 (``lambda`` is a Python keyword):
        towards 0 one partition is the consensus, towards infinity all weights are equal. If the
        distances spread evenly over a range delta n_samples^2, about sqrt(2 λ m / delta) weights
        are positive. Not used with "simplex".
    pairs : int, float or SparseEvidence, default=None
        Compare partitions and consensus over only some pairs of objects. An int: at least this number of random partners of
        each object. A float: about this random share of all pairs, rounded to whole partners per object. A SparseEvidence
        (:func:`conclust.evidence.sample_pairs`): its
        pairs; its counts are not used. None: all pairs; none of them is formed, which is faster too.
    granularity : {"given", "matched"}, default="given"
        "given": the partitions as they are, as in the paper. "matched": each is weighted by the certainty of its clusters
        (:func:`conclust.weighting.certainty_weights`), and its clusters are merged into at most `n_clusters`, guided by the
        other partitions (:func:`conclust.weighting.coarsen`); for partitions with many more clusters than the consensus.
    init : "auto" or array-like, default="auto"
        Start of the alternation. "auto": the l2 consensus with the weights of the ensemble. Or a membership (n_samples,
        n_clusters) or a partition (n_samples,): Y(0) of the paper's Algorithm 1, from which the first weights are found.
    n_init : int, default=5
        Random starts; they are compared, with equal weights, over all pairs of 40 objects per cluster, at least 400
        and at most 4,000.
    max_iter : int, default=200
        Maximum number of rounds of a membership step and a weight step.
    tol : float, default=1e-6
        Stop when a round lowers the objective by less than this share of it, and the weights
        change by less than 1e-4 altogether.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.
    verbose : int, default=0
        1: a line per round, on standard error.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The most probable cluster of each object; -1 for an object missing everywhere.
    membership_ : ndarray of shape (n_samples, n_held)
        Probabilities over clusters, rows sum to 1. A column for each cluster that is not empty (with
        a probability above 1e-9): first the ``n_clusters_`` clusters of ``labels_``, then the
        clusters that are not the most probable one of any object. Empty ones of the ``n_clusters_max_`` allowed
        are left out.
    weights_ : ndarray of shape (n_partitions,)
        alpha: at least 0, sum 1.
    effective_n_partitions_ : float
        1 / sum alpha_u^2: the number of equal weights that would be as concentrated.
    distances_ : ndarray of shape (n_partitions,)
        d_u of ``membership_``; NaN for a partition that
        observed fewer than two objects.
    n_clusters_ : int
        Clusters found: those that are the most probable one of some object.
    n_clusters_max_ : int
        The upper bound used: `n_clusters`, at most the number of objects.
    objective_ : float
        f(Y, alpha), with the penalty if there is one.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the tolerances ended the rounds, not `max_iter`.
    trace_ : ndarray of shape (n_iter + 1,)
        Objective at the start, with the weights of the ensemble, and after every round. It never
        rises.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed.

    Warns
    -----
    EnsembleWarning
        If the consensus merged groups of objects that the partitions with the most clusters separate, or
        many partitions have far more clusters than `n_clusters` or nearly all objects in one. The
        warning names methods that suit such an ensemble.

    Notes
    -----
    The pairs of an object with itself are left out of d_u in both steps: with them, as the paper
    prints it, the membership step would not be the problem that its solver minimises. Distances come
    from cluster sums and Grams: no pair is ever formed. With `pairs`, d_u runs over those pairs
    instead, scaled in the same way.

    Missing labels: the sum of d_u runs over the pairs that u observed, and is scaled by
    ``n (n - 1) / n_u (n_u - 1)`` to be comparable between partitions that observed different
    numbers n_u of objects; the membership step uses the same factor, so that f never rises. If all
    partitions that observed an object lose their weight, there is no information about it: its membership is
    uniform over the clusters of the others. `distances_` counts it so; f does not depend on it.

    Weights w_u of the ensemble stand for repetitions: with q_u = w_u / sum w the cap is m ρ q_u,
    the penalty λ/2 sum alpha_u^2 / (m q_u), m the number of positive weights, and the paper's equal
    weights become q.

    d_u grows with the number of pairs that u puts together. If the partitions differ much in their number of clusters, a random
    partition of many clusters can be nearer to the consensus than
    a good one of few clusters. If the consensus merged clusters, a partition with nearly all objects
    in one cluster can be nearer to it than any good one. Weights therefore separate good partitions from
    bad ones only among partitions with similar numbers of clusters: leave degenerate ones out
    (:func:`conclust.weighting.degenerate_partitions`), and merge fine ones with ``granularity="matched"``.

    The alternation finds a local optimum that depends on the start: equal weights (q), and the l2
    consensus of all partitions.

    Equal weights give the same labels as no weights; memberships may differ within the tolerances (6e-5 in trials).

    References
    ----------
    Lourenço, Rota Bulò, Fred, Pelillo: Consensus clustering with robust evidence accumulation.
    EMMCVPR 2013, equations (4) and (5), Propositions 1 (with the index of the remainder corrected)
    and 2, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import WeightedPCC
    >>> good = np.repeat([0, 1], 10)
    >>> bad = np.random.default_rng(0).integers(0, 2, 20)
    >>> model = WeightedPCC(2, random_state=0).fit(np.column_stack([good] * 4 + [bad]))
    >>> model.weights_
    array([0.25, 0.25, 0.25, 0.25, 0.  ])
    >>> bool((model.labels_ == good).all())
    True
    """

    _placement: FactoredModel = field(init=False)

    method = Method(
        title="Robust evidence accumulation (weighted partitions)",
        n_clusters="upper bound",
        membership=True,
        soft_members=True,
        cost="n (N K + K^2) per sweep",
        citation="Lourenço et al. 2013, EMMCVPR",
    )
    parameters: ClassVar[Parameters] = {"rho": None, "lam": Range(above=0)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    regularization: Regularization = "simplex"
    rho: float | None = None
    lam: float = 0.5
    pairs: int | float | SparseEvidence | None = None
    granularity: estimator.Granularity = "given"
    init: Literal["auto"] | ArrayLike = "auto"
    n_init: int = 5
    max_iter: int = 200
    tol: float = 1e-6
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def _check_parameters(self, ensemble: Ensemble) -> None:
        super()._check_parameters(ensemble)
        if self.rho is None:
            return
        m = ensemble.n_partitions
        if ensemble.weights is not None:
            m = int(np.count_nonzero(ensemble.weights))
        least = 1.0 / m
        # The user may have rounded 1 / m differently.
        if not (_is_real(self.rho) and least * (1 - 1e-12) <= self.rho <= 1):
            refuse(
                "rho",
                "WeightedPCC",
                f"a float in the range [1/{m}, 1] ({m} partitions) or None",
                self.rho,
            )

    def _fit(self, ensemble: Ensemble, observed: Bools) -> NDArray[Any]:
        try:
            labels = super()._fit(ensemble, observed)
            if self._without_weight(ensemble):
                # Their rows have become uniform: measure the distances of the returned memberships.
                pairs = self._measured_pairs
                Y = np.zeros((len(labels), self.n_clusters_max_))
                Y[:, : self.membership_.shape[1]] = self.membership_
                self.distances_ = np.where(pairs.scale > 0, pairs.distances(Y), np.nan)
        finally:
            self.__dict__.pop("_measured_pairs", None)
        return labels

    def _without_weight(self, ensemble: Ensemble) -> bool:
        """Return whether some object was observed only by partitions without weight."""
        if not ensemble.has_missing or self._counted is None:
            return False
        return bool((~ensemble.present[:, self._counted].any(axis=1)).any())

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        k = self.n_clusters_max_ = estimator.bound_of(self, ensemble)
        ensemble = self._counted_partitions(ensemble, k)
        run = estimator.run_of(self)
        everyone = AllPairs(ensemble, k, run.threads)
        pairs = self._pattern(ensemble, observed, run) or everyone
        shares = self._shares(ensemble, pairs)
        weights = shares * pairs.scale
        # With equal weights this is PCC itself, on few objects to the bit. (All are 0 if there are no pairs.)
        equal = ensemble.weights is None and np.ptp(pairs.scale) == 0
        plain = equal or not weights.any()
        weighted = ensemble if plain else ensemble.reweighted(within_range(weights))
        squares = Problem(weighted, k, divergences.l2)
        if isinstance(self.init, str):
            solver = Factored(counted=0, per_cluster=_PER_CLUSTER, bounds=_FEW)
            Y = solver.solve(squares, None, Stopping(_FIRST_SWEEPS), run).membership
            if pairs is not everyone and weights.any():
                Y = pairs.descend(Y, weights, _FIRST_SWEEPS, _STEP_TOL)
        else:
            Y = given_start(self.init, squares, run, "WeightedPCC", Literal["auto"])
        Y, weights = self._learn(pairs, Y, shares, run)
        self._measured_pairs: PairSet = pairs
        if pairs is not everyone:
            everyone.distances(Y)  # leaves the sums of Y in the model
        self._placement = replace(everyone.model, weights=weights)
        return Y

    def _learn(self, pairs: PairSet, Y: Floats, shares: Floats, run: Run) -> tuple[Floats, Floats]:
        """Alternate from a membership; return the last one, and the weights used for new objects."""
        Y, alpha, d = self._alternate(pairs, Y, shares, run.report)
        self.weights_ = alpha
        self.effective_n_partitions_ = float(1.0 / (alpha @ alpha))
        self.distances_ = np.where(pairs.scale > 0, d, np.nan)
        if not self.converged_:
            warn(
                f"WeightedPCC stopped after max_iter={self.max_iter} rounds with the objective "
                f"still falling or the weights still moving ({np.count_nonzero(alpha[shares > 0])} "
                "of them positive). Raise max_iter, or tol if this is close enough.",
                ConvergenceWarning,
            )
        return Y, alpha * pairs.scale

    def _pattern(self, ensemble: Ensemble, observed: Bools, run: Run) -> PairPattern | None:
        """Return the pattern of `pairs`, if there is one."""
        if ensemble.n_samples == 1:
            return None
        pairs = self._some_pairs(ensemble, observed, run)
        return None if pairs is None else PairPattern(ensemble, pairs, run.threads)

    def _shares(self, ensemble: Derived, pairs: PairSet) -> Floats:
        """Return the initial weights, 0 for a partition that observed no pair."""
        mute = pairs.scale == 0
        w = ensemble.partition_weights
        shares = np.where(mute, 0.0, w)
        if (mute & (w > 0)).any():
            warn(
                f"{np.count_nonzero(mute & (w > 0))} partitions (the first is partition "
                f"{np.argmax(mute & (w > 0))}) observed no pair of objects: they carry no information, and get "
                "the weight 0.",
                EvidenceWarning,
            )
        if not shares.any():  # no pair was observed
            shares = w
        return np.asarray(shares / shares.sum())

    def _alternate(
        self, pairs: PairSet, Y: Floats, shares: Floats, report: Any
    ) -> tuple[Floats, Floats, Floats]:
        """Return the membership, the weights and the distances."""
        n = len(Y)
        counted = np.flatnonzero(shares)
        m, q = len(counted), shares[counted]
        alpha = shares
        trace: list[tuple[float, float]] = []
        self.converged_ = False
        while True:
            d = pairs.distances(Y)
            before = alpha
            reached = self._objective(alpha[counted], d[counted], q, n)
            alpha = np.zeros_like(shares)
            alpha[counted] = self._weights(d[counted], q, n)
            value = self._objective(alpha[counted], d[counted], q, n)
            last = trace[-1][1] if trace else np.inf
            trace.append((reached, value))
            moved = float(np.abs(alpha - before).sum())
            report(
                f"round {len(trace)}: objective {value:.10g}, weights moved by {moved:.3g}, "
                f"{1 / (alpha @ alpha):.1f} of {m} partitions effective",
                len(trace),
                self.max_iter,
            )
            settled = len(trace) == 1 or last - value <= self.tol * value + _TIE * float(n) ** 2
            self.converged_ = moved < _WEIGHTS_TOL and settled
            if self.converged_ or len(trace) >= self.max_iter:
                break
            Y = pairs.descend(Y, alpha * pairs.scale, _SWEEPS, _STEP_TOL)
        self.n_iter_ = len(trace)
        self.trace_ = np.array([trace[0][0], *(value for _, value in trace)])
        self.objective_ = trace[-1][1]
        return Y, alpha, d

    def _weights(self, d: Floats, shares: Floats, n: int) -> Floats:
        m = len(d)
        if self.regularization == "l2":
            return ridge_weights(d, self.lam * float(n) ** 2, shares)
        rho = 1.0 / (_KEPT * m) if self.rho is None else max(self.rho, 1.0 / m)
        return capped_weights(d, m * min(rho, 1.0) * shares, _TIE * float(n) ** 2)

    def _objective(self, alpha: Floats, d: Floats, shares: Floats, n: int) -> float:
        value = float(alpha @ d)
        if self.regularization == "l2":
            value += (
                0.5 * self.lam * float(n) ** 2 * float(np.sum(alpha**2 / (len(alpha) * shares)))
            )
        return value

    def _counting(self, ensemble: Ensemble) -> Bools | None:
        counted = self._placement.weights
        return None if counted is None else counted > 0


def _is_real(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
