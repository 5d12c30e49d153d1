"""PCC: probabilistic consensus clustering (Lourenço et al., Machine Learning 2013)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from conclust._labels import canonical_labels, missing_code
from conclust._progress import reporter
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._threads import thread_count
from conclust._validation import check_int, check_option, check_real, refuse
from conclust.consensus.base import SoftConsensusClusterer
from conclust.consensus.probabilistic import factored
from conclust.consensus.probabilistic.objective import squared, together
from conclust.ensemble import Ensemble
from conclust.exceptions import EvidenceWarning, ParameterError

__all__ = ["PCC"]

# Up to this many objects the part of the objective that no membership changes is counted too.
_COUNTED = 20_000
_ROW_SUM_TOLERANCE = 1e-6


class PCC(SoftConsensusClusterer):
    """Probabilistic consensus clustering by evidence accumulation.

    Finds a membership Y, one distribution over clusters per object, whose inner products y_i'y_j
    (the probability that two objects drawn from Y fall together) are as close as possible to how
    often the partitions put them together::

        f(Y) = sum over pairs of N_ij d(c_ij / N_ij, y_i'y_j)

    with c_ij the partitions that put i and j together and N_ij those that observed both. Clusters
    that the evidence does not need empty out: `n_clusters` is an upper bound.

    Parameters
    ----------
    n_clusters : int, default=None
        Upper bound of the number of clusters. None: the largest number of clusters in any
        partition, at most n_samples.
    divergence : {"l2"}, default="l2"
        d(p, q). "l2" is (p - q)^2.
    solver : {"auto", "factored"}, default="auto"
        "factored" takes all pairs into account exactly without ever forming one: a sweep costs
        O(n_samples (n_partitions K + K^2)).
    init : {"random"} or array-like of shape (n_samples, n_clusters) or (n_samples,), default="random"
        Where to start: random memberships, a given membership, or a given partition.
    n_init : int, default=5
        Random starts; they are compared on at most 4,000 objects and the best is carried on.
    max_iter : int, default=200
        The most sweeps over all objects.
    tol : float, default=1e-5
        Stop when a sweep lowers the objective by less than this share of it.
    tol_kkt : float, default=1e-8
        Stop when ``kkt_residual_`` falls below this.
    missing : {"unobserved", "noise"}, default="unobserved"
        What the label -1 means (see :class:`conclust.Ensemble`).
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Source of all random choices.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.
    verbose : int, default=0
        1: a line per sweep on standard error.

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
        f(Y). Its part that no membership changes takes all pairs to count: above 20,000 objects
        it is left in (``objective_constant_`` is then None), and ``objective_`` is the sum over
        partitions and pairs of (1[together] - y_i'y_j)^2, which exceeds f by that constant.
    objective_constant_ : float or None
        The sum over pairs of c_ij - c_ij^2 / N_ij, where it was counted.
    kkt_residual_ : float
        Largest violation of the first-order optimality conditions of any object, per pair that
        the object is in: 0 at a stationary point.
    n_iter_ : int
        Sweeps over all objects.
    converged_ : bool
        Whether a tolerance ended the iteration, not `max_iter`.
    solver_ : str
        The solver used and why.
    trace_ : ndarray of shape (n_iter_ + 1, 2)
        Objective after each sweep (the first row: at the start), and the largest violation met
        during it (NaN in the first row).

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed.

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

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        divergence: str = "l2",
        solver: str = "auto",
        init: str | ArrayLike = "random",
        n_init: int = 5,
        max_iter: int = 200,
        tol: float = 1e-5,
        tol_kkt: float = 1e-8,
        missing: str = "unobserved",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.divergence = divergence
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.tol_kkt = tol_kkt
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self, ensemble: Ensemble) -> None:
        check_int(self.n_clusters, "n_clusters", "PCC", none=True)
        if self.divergence == "kl":
            raise ParameterError(
                "The 'divergence' parameter of PCC does not offer 'kl' yet: it arrives with the pairwise "
                "solvers. Use divergence='l2'."
            )
        check_option(self.divergence, "divergence", "PCC", ("l2",))
        check_option(self.solver, "solver", "PCC", ("auto", "factored"))
        check_int(self.n_init, "n_init", "PCC")
        check_int(self.max_iter, "max_iter", "PCC")
        check_real(self.tol, "tol", "PCC")
        check_real(self.tol_kkt, "tol_kkt", "PCC")

    def _fit_membership(self, ensemble: Ensemble) -> NDArray[np.float64]:
        threads = thread_count(self.n_jobs, "PCC")
        seed = seed_sequence(self.random_state, "PCC")
        k = self.n_clusters
        if k is None:
            k = max(1, min(ensemble.n_samples, int(ensemble.cluster_counts.max())))
        self.n_clusters_max_ = int(k)
        start = self._start(ensemble, self.n_clusters_max_, seed)
        solution = factored.solve(
            ensemble,
            self.n_clusters_max_,
            start=start,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            tol_kkt=self.tol_kkt,
            seed=seed,
            threads=threads,
            report=reporter(self.verbose, "PCC"),
        )
        constant = None
        if ensemble.n_samples <= _COUNTED:
            constant = together(ensemble) - squared(ensemble, threads)
        self.objective_constant_ = constant
        self.objective_ = solution.loss - (constant or 0.0)
        self.trace_ = np.array(solution.trace) - [constant or 0.0, 0.0]
        self.kkt_residual_ = solution.residual
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.converged
        self.solver_ = "factored: exact for l2 over all pairs"
        self._model = solution.model
        if not solution.converged:
            warnings.warn(
                f"PCC stopped after max_iter={self.max_iter} sweeps with a KKT residual of "
                f"{solution.residual:.3g}. Raise max_iter, or tol if this is close enough.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return solution.membership

    def _start(
        self, ensemble: Ensemble, k: int, seed: np.random.SeedSequence
    ) -> NDArray[np.float64] | None:
        if isinstance(self.init, str):
            check_option(self.init, "init", "PCC", ("random",))
            return None
        start: NDArray[Any] = np.asarray(self.init)
        n = ensemble.n_samples
        if start.ndim == 1 and start.shape == (n,) and start.dtype.kind in "iu":
            labels = canonical_labels(start)
            if labels.min() < 0 or labels.max() >= k:
                refuse("init", "PCC", f"labels of at most {k} clusters, none missing", self.init)
            return np.eye(k)[labels]
        start = start.astype(np.float64) if start.dtype.kind in "fiu" else start
        if start.shape != (n, k):
            refuse(
                "init",
                "PCC",
                f"'random', {n} labels or a membership of shape ({n}, {k})",
                f"an array of shape {start.shape}",
            )
        if not (
            np.isfinite(start).all()
            and (start >= 0).all()
            and (np.abs(start.sum(axis=1) - 1) <= _ROW_SUM_TOLERANCE).all()
        ):
            refuse("init", "PCC", "a membership: rows at least 0 that sum to 1", self.init)
        start = start / start.sum(axis=1, keepdims=True)
        if k > 1 and (start == start[0]).all():
            warnings.warn(
                "All objects start with the same membership, which is a stationary point of the "
                "objective: it was perturbed by 1 % at random.",
                EvidenceWarning,
                stacklevel=6,
            )
            noise = factored.random_membership(n, k, spawn_generators(seed, 1)[0])
            start = 0.99 * start + 0.01 * noise
        return start

    def _reorder(self, order: NDArray[np.int64]) -> None:
        self._model.reorder(order)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Memberships of new objects from their labels in the same partitions.

        Each new object gets the distribution that best explains how often it falls together with
        the objects of ``fit``: a convex problem of its own, so that new objects do not influence
        each other.

        Parameters
        ----------
        X : array-like of shape (n_new, n_partitions)
            Labels of the new objects, by the names used in ``fit``. A label that no object of
            ``fit`` had is read as noise, with a warning.

        Returns
        -------
        ndarray of shape (n_new, n_clusters_max_)
            Rows sum to 1. An object missing everywhere gets a uniform row.
        """
        return self._place(self._encode(X))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Most probable clusters of new objects (see ``predict_proba``).

        Parameters
        ----------
        X : array-like of shape (n_new, n_partitions)
            Labels of the new objects, by the names used in ``fit``.

        Returns
        -------
        ndarray of shape (n_new,)
            Cluster of each object; -1 for an object missing everywhere.
        """
        codes = self._encode(X)
        labels: NDArray[np.int64] = self._place(codes).argmax(axis=1)
        labels[(codes == missing_code(codes.dtype)).all(axis=1)] = -1
        return labels

    def _place(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        threads = thread_count(self.n_jobs, "PCC")
        return self._model.place(codes, min(1e-9, self.tol_kkt), threads)
