"""PCC: probabilistic consensus clustering (Lourenço et al., Machine Learning 98, 2015)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from conclust._parameters import Parameters
from conclust._random import RandomStateLike
from conclust._types import Bools, Floats
from conclust._validation import check_option
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.papers.probabilistic import estimator
from conclust.consensus.papers.probabilistic.placements.landmarks import placement_of
from conclust.consensus.papers.probabilistic.problem import (
    PairEvidence,
    Problem,
    Run,
    Solution,
    Stopping,
)
from conclust.consensus.papers.probabilistic.search.starts import StartName, starts_of
from conclust.consensus.papers.probabilistic.solvers import SOLVERS, SolverName, choose
from conclust.consensus.papers.probabilistic.solvers.linked import linked
from conclust.divergences import Divergence, DivergenceName, is_squared, read_divergence
from conclust.ensemble import Ensemble, Missing
from conclust.evidence import SparseEvidence
from conclust.exceptions import InputError


@dataclass(eq=False, repr=False)
class PCC(estimator.PairObjectiveClusterer):
    r"""Probabilistic consensus clustering by evidence accumulation.

    Finds a membership Y: one distribution over clusters per object. Its inner products :math:`y_i^\top y_j`, the
    probability that objects i and j fall together when each draws its cluster, are as close as possible to the
    shares of partitions that put them together:

    .. math::

        f(Y) = \sum_{i < j} N_{ij}\; d\left(\frac{c_{ij}}{N_{ij}},\; y_i^\top y_j\right)

    with :math:`c_{ij}` the number of partitions that put i and j together, and :math:`N_{ij}` the number that observed
    both. Clusters that the evidence does not need become empty: `n_clusters` is an upper bound.

    Parameters
    ----------
    n_clusters : int, default=None
        Upper bound of the number of clusters. None: the largest number of clusters in any
        partition, at most n_samples.
    divergence : {"kl", "l2", "mahalanobis", "i", "power"} or Divergence, default="kl"
        d(p, q): "kl" (binomial likelihood), "l2" ((p - q)^2), "mahalanobis" (l2, scaled), "i" (the
        generalised I-divergence: kl), "power" (between the two), or one of your own: see
        :mod:`conclust.divergences`.
    solver : {"auto", "factored", "pairwise", "landmark", "greedy"}, default="auto"
        "factored": the exact l2 objective over all pairs, without a matrix of pairs. "pairwise": any divergence, object
        by object, on all pairs or on the given `pairs`. "landmark": 2,000 objects on all their pairs,
        the others placed relative to them. "greedy": the paper's algorithm, slow. "auto": factored for l2; pairwise if `pairs`
        is given, for divergences of your own, and as long as n_samples squared times n_clusters is at most 125 million (and
        n_samples 8,000); otherwise landmark.
    pairs : int, float, SparseEvidence or None, default=None
        None: all pairs. An int: partners that each object draws at random. A float in (0, 1]: about
        this fraction of all pairs, rounded to whole partners per object. Or evidence from
        :func:`conclust.evidence.sample_pairs`.
    granularity : {"given", "matched"}, default="given"
        "given": the partitions as they are, as in the paper. "matched": each is weighted by the certainty of its clusters
        (:func:`conclust.weighting.certainty_weights`), and its clusters are merged into at most `n_clusters`, guided by the
        other partitions (:func:`conclust.weighting.coarsen`); for partitions with many more clusters than the consensus.
    init : {"auto", "random", "spectral"} or array-like, default="auto"
        Start. "auto": for l2, `n_init` random memberships. For other divergences, a
        membership near the l2 solution, moved inside the simplex, or the mean of soft partitions that agree; if
        `n_init` is above 1 and the partitions are hard, also random memberships, and escapes (the best solution with two clusters merged and a third split) while
        they lower the objective. `n_init` and a fixed amount of work limit these tries; small problems get the most. With more
        than 1,000 objects, the problem is first solved for some of them, which gives the start for all. "random": `n_init`
        random memberships; the best solution is kept. "spectral": a step away from the uniform membership, which is stationary,
        in the direction in which the objective falls most. Or a membership (n_samples, n_clusters), or a partition
        (n_samples,): taken as it is, but for
        divergences other than l2 a partition is mixed with 2 % of the uniform membership, and 0 in a membership
        becomes 1e-9.
    n_init : int, default=5
        Number of random starts. For l2 they are compared on at most 4,000 objects, and the best is continued with
        all. For other divergences it is the maximum, and the work on further tries is proportional to it.
    max_iter : int, default=200
        Maximum number of sweeps over all objects; for "greedy" each counts for n_samples steps.
    tol : float, default=1e-5
        Stop when a sweep lowers the objective by less than this share of it ("greedy": when
        ``kkt_residual_`` falls below it).
    tol_kkt : float, default=1e-8
        Stop when ``kkt_residual_``, the largest violation of the conditions of Karush, Kuhn and Tucker (KKT) for an optimum,
        falls below this.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.
    verbose : int, default=0
        1: print one line per sweep to standard error.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The most probable cluster of each object; -1 for an object missing everywhere.
    membership_ : ndarray of shape (n_samples, n_held)
        Probabilities over clusters, rows sum to 1. A column for each cluster that is not empty (with
        a probability above 1e-9): first the ``n_clusters_`` clusters of ``labels_``, then the
        clusters that are not the most probable one of any object. Empty ones of the ``n_clusters_max_`` allowed
        are left out.
    n_clusters_ : int
        Clusters found: those that are the most probable one of some object.
    n_clusters_max_ : int
        The upper bound used: `n_clusters`, at most the number of objects.
    objective_ : float
        f(Y) over the pairs used. "factored": computing the part that does not depend on the membership takes all pairs; above
        20,000 objects, and with labels in blocks, it is not subtracted (``objective_constant_`` is then None), and
        ``objective_`` is the sum over partitions and pairs of (1[together] - y_i'y_j)^2, which exceeds f by that constant.
        "landmark": f over the pairs of landmarks, and over the pairs of each other object with them.
    objective_constant_ : float or None
        The sum over pairs of c_ij - c_ij^2 / N_ij, if "factored" computed it.
    kkt_residual_ : float
        Largest violation of the first-order optimality conditions of any object, per pair that
        the object is in: 0 at a stationary point.
    n_iter_ : int
        Number of sweeps over all objects ("greedy": steps).
    converged_ : bool
        Whether a tolerance ended the iteration, not `max_iter`.
    solver_ : str
        Solver used.
    trace_ : ndarray of shape (n_values,)
        Objective at the start and whenever it was computed: after every sweep ("factored"), after every fourth and the last
        ("pairwise"), each time that everything is computed from scratch ("greedy"). It never rises, and ends at ``objective_``.
    residuals_ : ndarray of shape (n_values,)
        Largest violation of the optimality conditions at the same points (as ``kkt_residual_``); NaN if unknown, as
        at the start of a descent.

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

    References
    ----------
    Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo, Pelillo: Probabilistic consensus clustering
    using evidence accumulation. Machine Learning 98 (2015), equations (1), (2) and (4). For "l2"
    the factor 2 of the paper's Table 1 is left out, as in its equation (4).

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import PCC
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = PCC(2, random_state=0).fit(ensemble)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.membership_.round(3)[2]
    array([0.333, 0.667])
    """

    method = Method(
        title="Probabilistic consensus clustering",
        n_clusters="upper bound",
        membership=True,
        soft_members=True,
        cost="n (N K + K^2) per sweep for l2; n^2 K up to 125 million, then n K^2 for others",
        citation="Lourenço et al. 2015, Machine Learning 98",
        blocks="conclust.blocks.methods.factored",
    )

    parameters: ClassVar[Parameters] = {
        "divergence": read_divergence,
        "solver": lambda value, owner: check_option(value, "solver", owner, ("auto", *SOLVERS)),
    }

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    divergence: DivergenceName | Divergence = "kl"
    solver: SolverName = "auto"
    pairs: int | float | SparseEvidence | None = None
    granularity: estimator.Granularity = "given"
    init: StartName | ArrayLike = "auto"
    n_init: int = 5
    max_iter: int = 200
    tol: float = 1e-5
    tol_kkt: float = 1e-8
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def _check_parameters(self, ensemble: Ensemble) -> None:
        divergence = read_divergence(self.divergence, "PCC")
        super()._check_parameters(ensemble)
        k = estimator.bound_of(self, ensemble)
        choose(self.solver, divergence, self.pairs, ensemble.n_samples, k, "PCC")

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        k = self.n_clusters_max_ = estimator.bound_of(self, ensemble)
        ensemble = self._counted_partitions(ensemble, k)
        run = estimator.run_of(self)
        divergence = read_divergence(self.divergence, "PCC")
        n = ensemble.n_samples
        name = self.solver_ = choose(self.solver, divergence, self.pairs, n, k, "PCC")
        pair_evidence: PairEvidence | None = self._some_pairs(ensemble, observed, run)
        if pair_evidence is None and SOLVERS[name].forms_pairs:
            pair_evidence = self._all_pairs(ensemble, run)
        problem = Problem(ensemble, k, divergence, pair_evidence)
        solution = self._solve(name, problem, run)
        if self._constraints is not None:
            self._refuse_unseen(ensemble)
            stopping = Stopping(self.max_iter, self.tol, self.tol_kkt)
            solution = linked(problem, solution, self._constraints, stopping, run)
        self.objective_constant_ = solution.constant
        Y = solution.membership
        self._placement = solution.placement or placement_of(problem, Y, run)
        self._store(solution)
        return Y

    def _takes_constraints(self) -> bool:
        squares = is_squared(read_divergence(self.divergence, "PCC"))
        return squares and self.solver in ("auto", "factored") and self.pairs is None

    def _refuse_unseen(self, ensemble: Ensemble) -> None:
        """Refuse constraints on objects that only partitions of weight 0 observed: their rows are uniform."""
        assert self._constraints is not None
        observed = ensemble.present[:, ensemble.partition_weights > 0].any(axis=1)
        unseen = np.flatnonzero(self._constraints.touched & ~observed)
        if len(unseen):
            raise InputError(
                f"{len(unseen)} objects in must_link or cannot_link are observed by partitions of weight 0 only. Leave "
                "these pairs out."
            )

    def _solve(self, name: str, problem: Problem, run: Run) -> Solution:
        """Return the solution with the lowest objective over the requested starts."""
        stopping = Stopping(self.max_iter, self.tol, self.tol_kkt)
        solver = SOLVERS[name]
        starts = starts_of(self.init, problem, run, "PCC", own=solver.draws_starts)
        solutions = (solver.solve(problem, start, stopping, run) for start in starts)
        return min(solutions, key=lambda solution: solution.objective)
