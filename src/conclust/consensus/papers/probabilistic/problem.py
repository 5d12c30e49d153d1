"""The pair objective: the problem of a solver, when it stops, how it runs, and the solution it returns.

    f(Y) = sum over pairs {i, j} with N_ij > 0 of N_ij d(c_ij / N_ij, y_i'y_j)

is minimised over memberships Y (n, K) with rows y_i on the simplex; c_ij is how often the
partitions put i and j together, N_ij how often they observed both, d a double-convex divergence
(``conclust.divergences``). Squared l2 needs no pair of objects: f then follows from the sums of Y over
the clusters of the ensemble.

To read further: the solvers are in ``solvers/``, each with its mathematics in the C++ header that it
names. ``search/`` has the starts (``starts.py``, ``multistart.py``), the improvement of solutions
(``search/multistart.py``, ``solvers/pairwise.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats, Ints
from conclust.divergences import Divergence, is_squared
from conclust.ensemble import Ensemble
from conclust.evidence import DenseEvidence, SparseEvidence

PairEvidence: TypeAlias = SparseEvidence | DenseEvidence
"""Evidence of some pairs, or of all."""


# Function that takes a line of progress, and for rounds their number and maximum.
Report: TypeAlias = Callable[..., None]


def silent(message: str, done: int = 0, at_most: int = 0) -> None:
    """Report nothing."""


# An objective below this share of that of a membership which explains nothing is 0 for the stopping criteria: copies of one
# soft partition have the objective 0, which sweeps only approach.
EXACT = 1e-4


@dataclass(frozen=True)
class Problem:
    """The problem: find the membership with the lowest f.

    Attributes
    ----------
    ensemble : Ensemble
        Objects that at least one partition observed.
    n_clusters : int
        K, the number of columns of Y.
    divergence : Divergence
        d.
    evidence : SparseEvidence, DenseEvidence or None
        c and N of the pairs that count. None: all pairs count, and none has been formed.
    """

    ensemble: Ensemble
    n_clusters: int
    divergence: Divergence
    evidence: PairEvidence | None = None

    @property
    def pairs(self) -> PairEvidence:
        """The evidence, for solvers that form all pairs (``Solver.forms_pairs``)."""
        if self.evidence is None:
            raise ValueError("The evidence of this problem has not been formed.")
        return self.evidence

    @property
    def is_squared(self) -> bool:
        """Whether the divergence is a multiple of squared l2."""
        return is_squared(self.divergence)

    def part(self, objects: Ints) -> Problem:
        """Return the same problem for some of the objects, on all their pairs."""
        return replace(self, ensemble=self.ensemble.part(objects), evidence=None)


@dataclass(frozen=True)
class Stopping:
    """Stopping criteria of a solver.

    Attributes
    ----------
    max_iter : int
        Maximum number of sweeps over all objects.
    tol : float
        Stop when a sweep lowers f by less than this share of it.
    tol_kkt : float
        Stop when no object's gap, per unit of its evidence, is above this.
    """

    max_iter: int = 200
    tol: float = 1e-5
    tol_kkt: float = 1e-8

    def roughly(self, tol: float) -> Stopping:
        """Return the same with a tolerance of at least `tol`."""
        return replace(self, tol=max(self.tol, tol))


@dataclass(frozen=True)
class Run:
    """Settings of a solver's run.

    Attributes
    ----------
    seed : SeedSequence
        Source of all random choices.
    n_init : int
        Number of random starts, if a solver makes its own.
    threads : int
        The result does not depend on it.
    report : callable
        Function that takes lines of progress, and for rounds their number and maximum.
    """

    seed: np.random.SeedSequence
    n_init: int = 5
    threads: int = 1
    report: Report = silent

    def silently(self) -> Run:
        """Return the same settings without a report."""
        return replace(self, report=silent)


class Placement(Protocol):
    """Places objects that were not fitted: each is a separate convex problem."""

    def reordered(self, clusters: Ints) -> Placement:
        """Return the same with these clusters only, in this order."""

    def place(self, codes: NDArray[Any], tol: float, threads: int) -> Floats:
        """Return the memberships of objects from their codes (n, m), each to a gap of `tol`."""


@dataclass(frozen=True)
class Solution:
    """A stationary membership, and how it was reached.

    Attributes
    ----------
    membership : ndarray of shape (n_samples, n_clusters)
        Y: rows on the simplex.
    objective : float
        The minimised sum: f, or where counting takes too long, f plus a constant.
    residual : float
        Largest over the objects of ``(max_{k: y_ik > 0} g_ik - min_k g_ik) / sum_j N_ij``, with g the
        gradient of f (KKT residual): 0 at a stationary point.
    n_iter : int
        Number of sweeps over the objects; for the greedy solver, of steps.
    converged : bool
        Whether a tolerance ended the iteration rather than the maximum number of iterations.
    trace : ndarray of shape (n_rows, 2)
        Objective and residual at some iterations; the first row is the start.
    constant : float or None
        Constant that `objective` omits, a sum over partitions that does not depend on the membership; None if
        nothing is omitted, or it was not computed.
    placement : Placement or None
        Placement of new objects, if the solver has one; otherwise ``placements.placement_of`` makes it.
    spent : int
        Approximate number of multiplications and additions, by which searches measure their effort. The same with
        any number of threads; 0 if the solver does not count.
    """

    membership: Floats
    objective: float
    residual: float
    n_iter: int
    converged: bool
    trace: Floats
    constant: float | None = None
    placement: Placement | None = None
    spent: int = 0


class Solver(Protocol):
    """A way to minimise f."""

    forms_pairs: bool
    """Whether ``Problem.evidence`` is to hold the pairs."""

    draws_starts: bool
    """Whether the solver compares `n_init` random starts of its own if it is given none."""

    def solve(
        self, problem: Problem, start: Floats | None, stopping: Stopping, run: Run
    ) -> Solution:
        """Return the solution from a start; None: the solver's best start."""
