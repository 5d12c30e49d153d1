"""The greedy pair solver: the papers' Algorithm 1, on all pairs or on a pattern of pairs.

``_kernels/pair_objective/greedy/solver.h`` describes a step and its cost. This solver is the reference for
the faster ones: each step is the best one by the paper's rule, and it ends at a stationary point, however
slowly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conclust._kernels import GreedySolver, PairCounts
from conclust._types import Floats
from conclust.consensus.papers.probabilistic.problem import (
    PairEvidence,
    Problem,
    Report,
    Run,
    Solution,
    Stopping,
    silent,
)
from conclust.consensus.papers.probabilistic.search.starts import inside
from conclust.consensus.papers.probabilistic.solvers.factored import near_solution
from conclust.divergences import Divergence
from conclust.evidence.dense import unsigned

# The kernel returns after this number of visits of a pair, about 0.2 s, for Ctrl-C and progress.
_VISITS = 10_000_000
# The same for a divergence that is a user's function.
_VISITS_OUTSIDE = 200_000


@dataclass(frozen=True)
class Greedy:
    """Minimise f by the papers' Algorithm 1.

    For ``stopping``, n steps are a sweep, and the larger of its two tolerances applies to the gaps.
    Without a start it begins near the least-squares solution.
    """

    forms_pairs = True
    draws_starts = False

    def solve(
        self, problem: Problem, start: Floats | None, stopping: Stopping, run: Run
    ) -> Solution:
        """Return the solution that a start leads to."""
        if start is None:
            start = near_solution(problem, run)
            start = start if problem.is_squared else inside(start)
        return steps(
            problem.pairs,
            start,
            problem.divergence,
            tol=max(stopping.tol, stopping.tol_kkt),
            max_iter=stopping.max_iter * problem.ensemble.n_samples,
            report=run.report,
        )


def steps(
    evidence: PairEvidence,
    Y0: Floats,
    divergence: Divergence,
    *,
    tol: float = 1e-6,
    max_iter: int | None = None,
    report: Report = silent,
) -> Solution:
    """Minimise f(Y) = sum over pairs with N_ij > 0 of N_ij d(c_ij / N_ij, y_i'y_j).

    Parameters
    ----------
    evidence : tuple of two ndarrays of shape (n_samples, n_samples), or SparseEvidence
        Counts c_ij and N_ij, symmetric; the diagonal is ignored. Unsigned integers or float64.
    Y0 : ndarray of shape (n_samples, n_clusters)
        Initial membership: rows on the simplex. Values below 1e-12 start as zeros. With divergences
        that are infinite at 0 or 1 the start should be inside of the simplex.
    divergence : Divergence
        d. A user's own is called twice for all partners of an object in each evaluation of a line search.
    tol : float, default=1e-6
        Stop when no object's gap per unit of evidence is above this.
    max_iter : int, default=None
        Maximum number of steps. None: 50 n_samples n_clusters.
    report : callable, default: nothing
        Function that receives a line of progress several times a second.

    Returns
    -------
    Solution
        ``n_iter`` counts steps, each of one object and two clusters. ``trace`` has a row at the
        start, at the end, and each time all was computed from scratch between.

    Notes
    -----
    Algorithm 1 of Lourenço et al., "Probabilistic consensus clustering using evidence
    accumulation", Machine Learning 98 (2015), with its section 5.4 for a pattern of pairs; the line
    search is Newton's method within a bracket in place of the dichotomic search of equation (10).

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.consensus.papers.probabilistic.solvers.greedy import steps
    >>> from conclust.divergences import l2
    >>> from conclust.evidence import evidence
    >>> known = evidence([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> start = np.array([[0.6, 0.4], [0.6, 0.4], [0.5, 0.5], [0.3, 0.7]])
    >>> steps(known, start, l2, tol=1e-9).membership.round(3)[2]
    array([0.333, 0.667])
    """
    kernel = divergence._kernel
    scale = 1.0 if kernel is None else kernel.scale
    Y = np.ascontiguousarray(Y0, dtype=np.float64)
    n, k = Y.shape
    steps = 50 * n * k if max_iter is None else max_iter
    solver = GreedySolver(
        PairCounts(
            unsigned(np.ascontiguousarray(evidence.counts)),
            unsigned(np.ascontiguousarray(evidence.copresence)),
            *evidence.pattern,
        ),
        Y,
        0 if kernel is None else kernel.code,
        2.0 if kernel is None else kernel.parameter,
        divergence._called() if kernel is None else None,
        tol / scale,
        steps,
    )
    visits = _VISITS_OUTSIDE if kernel is None else _VISITS
    with np.errstate(all="ignore"):
        while not solver.run(visits):
            residual = scale * solver.residual
            report(f"step {solver.steps:,}: residual {residual:.3g}", solver.steps, steps)
    trace = scale * np.array([values for _, *values in solver.trace])
    membership, gradients = np.empty_like(Y), np.empty_like(Y)
    solver.read(membership, gradients)
    objective, residual = trace[-1]
    return Solution(
        membership=membership,
        objective=float(objective),
        residual=float(residual),
        n_iter=solver.steps,
        converged=bool(residual <= tol * (1 + 1e-12)),
        trace=trace,
    )
