"""PEACE: probabilistic evidence accumulation by maximum likelihood, the best of several runs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._random import RandomStateLike, spawn_seeds
from conclust._types import Bools, Floats, Ints
from conclust._validation import refuse
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.papers.probabilistic.descent import objective
from conclust.consensus.papers.probabilistic.estimator import (
    MAX_DENSE,
    Granularity,
    PairObjectiveClusterer,
    bound_of,
    run_of,
)
from conclust.consensus.papers.probabilistic.placements.landmarks import placement_of
from conclust.consensus.papers.probabilistic.problem import (
    PairEvidence,
    Problem,
    Run,
    Solution,
    Stopping,
)
from conclust.consensus.papers.probabilistic.search.starts import (
    StartName,
    given_start,
    inside,
    starts_of,
)
from conclust.consensus.papers.probabilistic.solvers import SOLVERS
from conclust.consensus.papers.probabilistic.solvers.factored import near_solution
from conclust.consensus.papers.probabilistic.solvers.landmark import N_LANDMARKS, Landmark
from conclust.divergences import kl
from conclust.ensemble import Ensemble, Missing
from conclust.evidence import SparseEvidence
from conclust.evidence.dense import narrow_evidence

PeaceSolver: TypeAlias = Literal["auto", "pairwise", "landmark", "greedy"]

# Runs on some of the objects end when a sweep lowers the divergence by less than this share of it.
_ROUGH = 1e-4
# Number of pairs per block when the likelihood is computed.
_AT_ONCE = 1 << 20


@dataclass(eq=False, repr=False)
class PEACE(PairObjectiveClusterer):
    """Probabilistic evidence accumulation for clustering ensembles.

    In the model, each of the N_ij partitions that observed two objects puts them together with
    probability y_i'y_j. The likelihood of the memberships Y is maximised from several starts, and the
    solution with the highest likelihood is selected. This is PCC with the divergence "kl".

    Parameters
    ----------
    n_clusters : int, default=None
        Maximum number of clusters; those that the evidence does not need become empty. None: the largest
        number of clusters in any partition, at most n_samples.
    solver : {"auto", "pairwise", "landmark", "greedy"}, default="auto"
        "pairwise": object by object, each run on all pairs, or on the given `pairs`. "landmark": 2,000 objects drawn at random
        on all their pairs, the others placed relative to the selected solution. "greedy": the paper's algorithm, one object and
        two clusters per step; slow. "auto": pairwise, with all pairs of more than 2,000 objects left to the end, as described
        under `n_init`; above 20,000 objects without `pairs`, landmark.
    pairs : int, float, SparseEvidence or None, default=None
        None: all pairs. An int: partners that each object draws at random. A float in (0, 1]: about
        this fraction of all pairs, rounded to whole partners per object. Or evidence from
        :func:`conclust.evidence.sample_pairs`.
    granularity : {"given", "matched"}, default="given"
        "given": the partitions as they are, as in the paper. "matched": each is weighted by the certainty of its clusters
        (:func:`conclust.weighting.certainty_weights`), and its clusters are merged into at most `n_clusters`, guided by the
        other partitions (:func:`conclust.weighting.coarsen`); for partitions with many more clusters than the consensus.
    init : {"auto", "random", "spectral"} or array-like, default="auto"
        Start of a run. "auto": the least-squares solution from its own random start. "random": the random start itself, as in
        the paper; runs then differ more. For a single run: "spectral", a step away from the uniform membership, which is
        stationary, in the direction in which the likelihood rises most; or a membership (n_samples, n_clusters), or a partition
        (n_samples,).
    n_init : int, default=5
        Number of runs, if `init` is "auto" or "random". All pairs of more than 2,000 objects are left to the end: a run solves
        2,000 objects drawn at random on all their pairs, to `tol` or 1e-4, and places the others relative to them; the selected
        run continues from there on all pairs. With landmarks, all runs solve the same 2,000 objects, to `tol`.
    max_iter : int, default=200
        Maximum number of sweeps over all objects in a run; for "greedy" each counts for n_samples steps.
    tol : float, default=1e-5
        A run stops when a sweep lowers -log-likelihood by less than this share of its excess over
        the bound, its value at y_i'y_j = c_ij / N_ij ("greedy": when ``kkt_residual_`` falls below it).
    tol_kkt : float, default=1e-8
        A run stops when ``kkt_residual_``, the largest violation of the conditions of Karush, Kuhn and Tucker (KKT) for an
        optimum, falls below this.
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
        The number of clusters used: `n_clusters`, at most the number of objects.
    log_likelihood_ : float
        The sum over pairs, each counted once, of c_ij log y_i'y_j + (N_ij - c_ij) log(1 - y_i'y_j).
        By landmarks: over the pairs of the 2,000 objects solved on all their pairs.
    log_likelihoods_ : ndarray of shape (n_runs,)
        The same for each run. If only the selected run continues on all pairs, the others have their value before that.
    objective_ : float
        The divergence: the largest log-likelihood that any y_i'y_j could have, minus
        ``log_likelihood_``. By landmarks, the divergence of the other objects from the
        landmarks is added.
    kkt_residual_ : float
        Largest violation of the first-order optimality conditions of any object, per pair that
        the object is in: 0 at a stationary point.
    n_iter_ : int
        Number of sweeps of the selected run ("greedy": steps).
    converged_ : bool
        Whether a tolerance ended the selected run, not `max_iter`.
    trace_ : ndarray of shape (n_values,)
        Objective of the selected run at its start, after every fourth sweep and after the last ("greedy":
        each time that the objective is computed from scratch).
    residuals_ : ndarray of shape (n_values,)
        Largest violation of the optimality conditions at each entry of `trace_`; NaN at the start.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    DenseLimitError
        If all pairs of more than 20,000 objects are requested, by "pairwise" or "greedy" without `pairs`.
    InputError
        If the labels are malformed.

    Notes
    -----
    Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo, Pelillo: Probabilistic evidence accumulation
    for clustering ensembles, ICPRAM 2013. The paper's likelihood runs over ordered pairs, so it is
    twice the one here; its gradient runs over unordered pairs. In print, the second term of
    rho(epsilon) and of update (9) has the sign of the first term. It must have the opposite sign, as
    in the gradient and in equation (10).

    On 10,000 objects x 20 of ten planted clusters with 20, 50 and 65 % of the labels at random, landmarks give adjusted
    Rand indices of 1.000, .997 and .932 in 2 CPU seconds, and all pairs 1.000, .997 and .931 in 8 to 9; the
    divergence over all pairs is higher by .6 to 1.6 %.

    Equal weights give the same labels as no weights; memberships may differ within the tolerances (3e-5 in trials).

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import PEACE
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = PEACE(2, random_state=0).fit(ensemble)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> round(model.log_likelihood_, 4)  # 3 pairs of 1 and 2 in 3
    -5.7286
    """

    method = Method(
        title="Probabilistic evidence accumulation by maximum likelihood (PEACE)",
        n_clusters="upper bound",
        membership=True,
        soft_members=True,
        cost="n^2 K per sweep up to 20,000 objects, then n K^2; p K for p pairs given or sampled",
        citation="Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo 2013, ICPRAM",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    solver: PeaceSolver = "auto"
    pairs: int | float | SparseEvidence | None = None
    granularity: Granularity = "given"
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
        super()._check_parameters(ensemble)
        if self.solver == "landmark" and self.pairs is not None:
            refuse(
                "pairs",
                "PEACE",
                "None with solver='landmark', which takes all pairs of some objects",
                self.pairs,
                "Use solver='pairwise' for given pairs.",
            )

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        run = run_of(self)
        self.n_clusters_max_ = bound_of(self, ensemble)
        ensemble = self._counted_partitions(ensemble, self.n_clusters_max_)
        many = self.solver == "auto" and self.pairs is None and ensemble.n_samples > MAX_DENSE
        if many or self.solver == "landmark":
            return self._by_landmarks(Problem(ensemble, self.n_clusters_max_, kl), run)
        pair_evidence: PairEvidence | None = self._some_pairs(ensemble, observed, run)
        if pair_evidence is None:
            pair_evidence = self._all_pairs(ensemble, run)
        problem = Problem(ensemble, self.n_clusters_max_, kl, pair_evidence)
        stopping = Stopping(self.max_iter, self.tol, self.tol_kkt)
        solution, losses = _selected(problem, stopping, run, self.solver, self.init)
        best = _best_likelihood(pair_evidence)
        self.log_likelihoods_ = best - losses
        self.log_likelihood_ = best - solution.objective
        self._placement = placement_of(problem, solution.membership, run)
        self._store(solution)
        return solution.membership

    def _by_landmarks(self, problem: Problem, run: Run) -> Floats:
        """Select among runs on the pairs of the landmarks, and place the other objects."""
        stopping = Stopping(self.max_iter, self.tol, self.tol_kkt)
        solver = Landmark()
        chosen = solver.landmarks(problem, run)
        part = problem.part(chosen)
        init = self.init
        if not isinstance(init, str):
            init = given_start(init, problem, run, "PEACE")[chosen]
        best, self.log_likelihoods_ = _among(part, stopping, run, init)
        self.log_likelihood_ = float(self.log_likelihoods_.max())
        solution = solver.with_others(problem, chosen, part, best, stopping, run)
        assert solution.placement is not None
        self._placement = solution.placement
        self._store(solution)
        return solution.membership

    def _review(self, ensemble: Ensemble, labels: Ints) -> None:
        """Give no warning: the failures of squared distances have not been observed with the likelihood."""


def _among(
    part: Problem, stopping: Stopping, run: Run, init: Any = "auto"
) -> tuple[Solution, Floats]:
    """Return the best solution of the landmarks, on all their pairs, and the log-likelihood of each run."""
    pair_evidence = narrow_evidence(part.ensemble, run.threads)
    best, losses = _selected(replace(part, evidence=pair_evidence), stopping, run, init=init)
    return best, _best_likelihood(pair_evidence) - losses


def _selected(
    problem: Problem, stopping: Stopping, run: Run, solver: PeaceSolver = "auto", init: Any = "auto"
) -> tuple[Solution, Floats]:
    """Return the best solution, and the objective of each run."""
    pair_evidence = problem.pairs
    several = isinstance(init, str) and init != "spectral"
    runs = [
        replace(run, seed=np.random.SeedSequence(child), n_init=1)
        for child in spawn_seeds(run.seed, run.n_init if several else 1)
    ]
    starts = [starts_of(init, problem, one, "PEACE", own=False)[0] for one in runs]
    if solver != "auto" or not pair_evidence.of_all_pairs or pair_evidence.n_samples <= N_LANDMARKS:
        chosen = SOLVERS["pairwise" if solver == "auto" else solver]
        solutions = [
            chosen.solve(problem, start, stopping, one)
            for start, one in zip(starts, runs, strict=True)
        ]
        losses = np.array([solution.objective for solution in solutions])
        return solutions[int(losses.argmin())], losses
    return _selected_early(problem, stopping, runs, starts)


def _selected_early(
    problem: Problem, stopping: Stopping, runs: list[Run], starts: list[Floats | None]
) -> tuple[Solution, Floats]:
    """Select among runs that each solve some objects and place the others; finish the selected one."""
    placed = []
    for start, one in zip(starts, runs, strict=True):
        begin = inside(near_solution(problem, one)) if start is None else start
        rough = SOLVERS["landmark"].solve(problem, begin, stopping.roughly(_ROUGH), one)
        placed.append(rough.membership)
    losses = np.array([objective(problem.pairs, Y, kl, runs[0].threads) for Y in placed])
    best = int(losses.argmin())
    finished = SOLVERS["pairwise"].solve(problem, inside(placed[best]), stopping, runs[0])
    losses[best] = finished.objective
    return finished, losses


def _best_likelihood(pair_evidence: PairEvidence) -> float:
    """Return the log-likelihood of y_i'y_j = c_ij / N_ij for all pairs."""
    return sum(_best_terms(counts, N) for counts, N in pair_evidence.entries()) / 2


def _best_terms(counts: NDArray[Any], copresence: NDArray[Any]) -> float:
    """Sum the terms of some pairs; for integer counts, evaluate each distinct pair of counts once."""
    from scipy.special import xlogy

    times: NDArray[Any] | float = 1.0
    most = int(copresence.max(initial=0)) + 1
    if counts.dtype.kind in "ui" and copresence.dtype.kind in "ui" and most**2 < _AT_ONCE:
        times = np.bincount((counts.astype(np.int32) * np.int32(most) + copresence).ravel())
        counts, copresence = np.divmod(np.arange(len(times)), most)
    N = np.asarray(copresence, dtype=np.float64)
    c = np.minimum(counts, N)
    share = c / np.maximum(N, 1e-300)
    return float((times * (xlogy(c, share) + xlogy(N - c, 1 - share))).sum())
