"""BaumEagon: the first solver of the least-squares consensus (Rota Bulò et al., SSPR 2010)."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from conclust._progress import reporter
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._threads import one_library_thread, thread_count
from conclust._validation import check_bool, check_int, check_real
from conclust.consensus.base import Method, SoftConsensusClusterer
from conclust.consensus.probabilistic.factored import random_membership
from conclust.ensemble import Ensemble
from conclust.evidence import evidence
from conclust.exceptions import DenseLimitError

__all__ = ["BaumEagon"]

# Rows worked on together, so that a block of products stays in the cache.
_ROWS = 128
# An iteration that changes no membership by more than this is the last.
_STILL = 1e-5
# Below this share of its value without any clusters the objective counts as zero.
_NOTHING = 1e-6


class BaumEagon(SoftConsensusClusterer):
    """Least-squares consensus by growth transformations.

    Minimises what :class:`conclust.PCC` does with divergence "l2",

        f(Y) = sum over pairs of N_ij (c_ij / N_ij - y_i'y_j)^2,

    by multiplying memberships: with h_ik = sum over j != i of
    N_ij ((c_ij / N_ij - y_i'y_j) y_jk + 1), every y_ik becomes y_ik h_ik / sum_l y_il h_il, all at
    once. The objective never rises. An iteration takes all pairs, and hundreds of iterations are
    common: PCC finds the same in a fraction of the time, and on any number of objects. This estimator
    is there to compare with.

    Parameters
    ----------
    n_clusters : int, default=None
        Upper bound of the number of clusters. None: the largest number of clusters in any
        partition, at most n_samples.
    n_init : int, default=5
        Random starts; the best solution is kept.
    max_iter : int, default=2000
        The most iterations of a start.
    tol : float, default=1e-7
        Stop when an iteration lowers the objective by less than this share of it, or changes no
        membership by more than 1e-5: the last stretch is slow.
    diagonal : bool, default=False
        Whether an object is also a pair with itself, of which half is counted: adds
        N_ii (c_ii / N_ii - |y_i|^2)^2 / 2 for every object, which favours certain memberships.
    max_dense : int, default=20000
        Number of objects above which it is refused: it keeps matrices of n x n counts. None: never.
    missing : {"unobserved", "noise"}, default="unobserved"
        What the label -1 means (see :class:`conclust.Ensemble`).
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Source of the starts.
    n_jobs : int, default=None
        Starts that run at the same time. None: ``OMP_NUM_THREADS`` or all processors. The result
        does not depend on it.
    verbose : int, default=0
        1: a line per start on standard error.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The most probable cluster of each object; -1 for an object missing everywhere.
    membership_ : ndarray of shape (n_samples, n_clusters_max_)
        Probabilities over clusters, rows sum to 1. Clusters that are nobody's most probable one
        come last.
    n_clusters_ : int
        Clusters found: those that are the most probable one of some object.
    n_clusters_max_ : int
        The upper bound used.
    objective_ : float
        f(Y) over pairs of distinct objects, and with `diagonal` half of each object's own.
    n_iter_ : int
        Iterations of the best start.
    converged_ : bool
        Whether a tolerance ended the best start, not `max_iter`.
    trace_ : ndarray of shape (n_iter_ + 1,)
        Objective of the best start at its beginning and after each iteration.

    Raises
    ------
    DenseLimitError
        If there are more than `max_dense` objects.
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed.

    See Also
    --------
    PCC : the same objective, without n x n matrices.

    Notes
    -----
    Rota Bulò, Lourenço, Fred and Pelillo, "Pairwise probabilistic clustering using evidence
    accumulation", SSPR 2010, after Baum and Eagon (1967), whose inequality needs a polynomial with
    non-negative coefficients: the "+ 1" makes it one, since the memberships of an object sum to 1.
    Pairs are weighted by N_ij, so that labels may be missing. Whether the paper's Frobenius norm
    has the diagonal in it is not said; PCC leaves it out.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import BaumEagon
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = BaumEagon(2, random_state=0).fit(ensemble)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.membership_.round(2)[2]
    array([0.33, 0.67])
    """

    method = Method(
        title="Baum-Eagon growth transform of the co-association",
        n_clusters="upper bound",
        membership=True,
        missing=True,
        weights=True,
        soft_members=True,
        cost="n^2 K an iteration",
        citation="Rota Bulò, Lourenço, Fred and Pelillo 2010, SSPR",
    )

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_init: int = 5,
        max_iter: int = 2000,
        tol: float = 1e-7,
        diagonal: bool = False,
        max_dense: int | None = 20_000,
        missing: str = "unobserved",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.diagonal = diagonal
        self.max_dense = max_dense
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self, ensemble: Ensemble) -> None:
        check_int(self.n_clusters, "n_clusters", "BaumEagon", none=True)
        check_int(self.n_init, "n_init", "BaumEagon")
        check_int(self.max_iter, "max_iter", "BaumEagon")
        check_real(self.tol, "tol", "BaumEagon")
        check_bool(self.diagonal, "diagonal", "BaumEagon")
        most = check_int(self.max_dense, "max_dense", "BaumEagon", none=True)
        n = ensemble.n_samples
        if most is not None and n > most:
            raise DenseLimitError(
                f"BaumEagon of {n} objects would keep n x n matrices of counts, above "
                f"max_dense={most}. PCC(divergence='l2') minimises the same objective without them; or "
                "raise max_dense if there is the memory."
            )

    def _fit_membership(self, ensemble: Ensemble) -> NDArray[np.float64]:
        threads = thread_count(self.n_jobs, "BaumEagon")
        seed = seed_sequence(self.random_state, "BaumEagon")
        report = reporter(self.verbose, "BaumEagon")
        n, k = ensemble.n_samples, self.n_clusters
        if k is None:
            k = max(1, min(n, int(ensemble.cluster_counts.max())))
        self.n_clusters_max_ = int(k)
        counts = evidence(ensemble, max_dense=None, n_jobs=threads)

        def run(generator: np.random.Generator) -> _Run:
            start = random_membership(n, self.n_clusters_max_, generator)
            found = _grow(pairs, start, self.max_iter, self.tol)
            report(f"objective {found.trace[-1]:.10g} after {len(found.trace) - 1} iterations")
            return found

        generators = spawn_generators(seed, self.n_init)
        # Products of one thread each: BLAS may sum in another order with more.
        with one_library_thread():
            pairs = _Pairs(*counts, self.diagonal)
            if threads > 1 and len(generators) > 1:
                with ThreadPoolExecutor(min(threads, len(generators))) as pool:
                    runs = list(pool.map(run, generators))
            else:
                runs = [run(generator) for generator in generators]
        best = min(runs, key=lambda found: found.trace[-1])
        self.objective_ = best.trace[-1]
        self.n_iter_ = len(best.trace) - 1
        self.converged_ = best.converged
        self.trace_ = np.array(best.trace)
        if not best.converged:
            warnings.warn(
                f"BaumEagon stopped after max_iter={self.max_iter} iterations. Raise max_iter, or tol "
                "if this is close enough.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return best.membership


class _Pairs:
    """Counts of all ordered pairs, taken block of rows by block of rows."""

    def __init__(self, c: NDArray[Any], N: NDArray[Any], diagonal: bool) -> None:
        self.c, self.N = c, N
        if not diagonal:
            np.fill_diagonal(c, 0)
            np.fill_diagonal(N, 0)
        self.degree = N.sum(axis=1, dtype=np.float64)
        # sum of c^2 / N over ordered pairs: twice the objective without any clusters.
        self.ceiling = 0.0
        for rows in self.blocks():
            p = np.divide(c[rows], N[rows], where=N[rows] > 0, out=np.zeros(c[rows].shape))
            self.ceiling += float(np.vdot(p, c[rows].astype(np.float64)))

    def blocks(self) -> list[slice]:
        return [slice(begin, begin + _ROWS) for begin in range(0, len(self.c), _ROWS)]

    def visit(self, Y: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return f(Y) and H, the sums h_ik."""
        H = np.repeat(self.degree[:, None], Y.shape[1], axis=1)
        total = self.ceiling
        for rows in self.blocks():
            A = Y[rows] @ Y.T
            c = self.c[rows].astype(np.float64)
            fitted = self.N[rows] * A
            c -= fitted
            # 2 c A - N A^2, from c - N A
            total -= 2.0 * float(np.vdot(c, A)) + float(np.vdot(fitted, A))
            H[rows] += c @ Y
        return max(0.5 * total, 0.0), H


@dataclass
class _Run:
    membership: NDArray[np.float64]
    trace: list[float]
    converged: bool


def _grow(pairs: _Pairs, Y: NDArray[np.float64], max_iter: int, tol: float) -> _Run:
    f, H = pairs.visit(Y)
    trace = [f]
    converged = False
    while len(trace) <= max_iter and not converged:
        grown = Y * H
        # An object without evidence has no sums: it stays as it is.
        total = grown.sum(axis=1, keepdims=True)
        grown = np.where(total > 0, grown / np.where(total > 0, total, 1.0), Y)
        still = np.abs(grown - Y).max() <= _STILL
        Y = grown
        before = f
        f, H = pairs.visit(Y)
        trace.append(f)
        converged = bool(still or before - f <= tol * max(f, 0.5 * _NOTHING * pairs.ceiling))
    return _Run(Y, trace, converged)
