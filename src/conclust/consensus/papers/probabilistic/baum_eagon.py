"""BaumEagon: the first solver of the least-squares consensus (Rota Bulò et al., SSPR 2010)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass

import numpy as np

from conclust._arrays.rows import ratio
from conclust._kernels import grow_rows, own_rows
from conclust._progress import tracked
from conclust._random import RandomStateLike, spawn_generators
from conclust._threads import one_library_thread, side_by_side
from conclust._types import Bools, Floats, Ints
from conclust.consensus.acceleration import Path, follow
from conclust.consensus.base import SoftConsensusClusterer
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.papers.probabilistic.estimator import bound_of, run_of
from conclust.consensus.papers.probabilistic.objective import squared, squared_of_clusters
from conclust.consensus.papers.probabilistic.problem import Run
from conclust.consensus.papers.probabilistic.search.starts import random_membership
from conclust.ensemble import Ensemble, Missing
from conclust.evidence import evidence
from conclust.measures.comparison import adjusted_rand_index
from conclust.spectra.gram import IndicatorProducts

# Change of memberships below which the iteration ends: steps are short, and thousands of times it may be left.
_STILL = 3e-7
# Tolerance of starts that begin near their end, as a share of `tol`.
_NEAR = 0.1
# Number of objects on which starts are compared: per cluster, and at least.
_PER_CLUSTER, _LEAST = 30, 300
# Such a start ends with a step that lowers the objective by less than this share of it and of its fall so far.
_LITTLE = 1e-4
# Number of starts that must lead to the same partition, and the adjusted Rand index from which it is the same.
_AGREE, _SAME = 3, 0.95
# Minimum membership at the start on all objects, because zeros would stay zeros.
_FLOOR = 0.01
# Number of objects times clusters times presence groups in a block.
_CELLS = 1 << 18
# Maximum number of objects for which all pairs are formed.
_FEW = 2000
# Below this share of its value without any clusters the objective counts as zero.
_NOTHING = 1e-6


@dataclass(eq=False, repr=False)
class BaumEagon(SoftConsensusClusterer):
    """Least-squares consensus by growth transformations.

    Minimises the objective of :class:`conclust.PCC` with divergence "l2",

        f(Y) = sum over pairs of N_ij (c_ij / N_ij - y_i'y_j)^2,

    by multiplying memberships: with h_ik = sum over j != i of N_ij ((c_ij / N_ij - y_i'y_j) y_jk +
    1), every y_ik becomes y_ik h_ik / sum_l y_il h_il, all at once. The objective never rises. These
    steps are short, and thousands of them are common; leaps save most of them (`accelerate`). PCC
    finds the same solution in a fraction of the time: this estimator is for comparison.

    Parameters
    ----------
    n_clusters : int, default=None
        Upper bound of the number of clusters. None: the largest number of clusters in any
        partition, at most n_samples.
    n_init : int, default=5
        Number of random starts; the best solution is kept. If `accelerate`, three or more starts are compared on
        few objects first; see Notes.
    max_iter : int, default=2000
        Maximum number of iterations of a start: steps and leaps. Iterations on few objects are counted separately.
    tol : float, default=1e-7
        Stop when a step lowers the objective by less than this share of it, or changes no
        membership by more than 3e-7: the last stretch is slow.
    diagonal : bool, default=False
        Whether each object also counts, by half, as a pair with itself: adds ``N_ii (c_ii / N_ii - |y_i|^2)^2 / 2`` for
        every object, which favours certain memberships.
    accelerate : bool, default=True
        Whether to extrapolate after every two steps [2]_, unless that raises the objective, and to compare starts
        on few objects. False: only the published steps, of all starts on all objects.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of the starts.
    n_jobs : int, default=None
        Number of starts that run at the same time. None: ``OMP_NUM_THREADS`` or all processors. The result
        does not depend on it.
    verbose : int, default=0
        1: print one line per start to standard error.

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
        f(Y) over pairs of distinct objects, and with `diagonal` half of each object's own.
    n_iter_ : int
        Number of iterations of the best start on all objects.
    converged_ : bool
        Whether a tolerance ended the best start, not `max_iter`.
    trace_ : ndarray of shape (n_iter + 1,)
        Objective of the best start on all objects, at its beginning and after each iteration.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed.

    See Also
    --------
    PCC : the same objective, one object at a time.

    Notes
    -----
    Published in [1]_, after Baum and Eagon (1967). Their inequality needs a polynomial with
    non-negative coefficients: the "+ 1" makes it one, since the memberships of an object sum to 1.
    Pairs are weighted by N_ij, so that labels may be missing. The paper does not say whether its
    Frobenius norm includes the diagonal; PCC leaves it out.

    No pair is formed in an iteration: c is B B' of the partitions' clusters, and the products y_i'y_j
    add up to K x K sums, one for each set of partitions that observed the same objects. (With many
    such sets and at most 2,000 objects, matrices of all pairs cost less.) The constant part of the objective is also summed
    over the partitions' clusters or, if labels are missing, once over all pairs. 100,000
    objects x 20 take 2 CPU seconds, and with a tenth of the labels missing 15, 10 of them for that sum.

    Most starts end at the same solution. If there are at least twice as many objects, starts therefore run in turn on 30
    objects per cluster (at least 300) drawn at random, until three of them have led to the partition of the best so far
    (adjusted Rand index at least 0.95). The best is continued with all objects, from the memberships
    that fit it in least squares, with `tol` / 10. If starts do not agree, all are continued, and the best of
    them is continued with `tol` / 10.

    References
    ----------
    .. [1] S. Rota Bulò, A. Lourenço, A. Fred, M. Pelillo: Pairwise probabilistic clustering using
       evidence accumulation. SSPR 2010.
    .. [2] R. Varadhan, C. Roland: Simple and globally convergent methods for accelerating the
       convergence of any EM algorithm. Scandinavian Journal of Statistics 35, 2008.

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
        soft_members=True,
        cost="n (N K + K^2) per iteration; with missing labels n N K^2, and one pass over all pairs",
        citation="Rota Bulò, Lourenço, Fred and Pelillo 2010, SSPR",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    n_init: int = 5
    max_iter: int = 2000
    tol: float = 1e-7
    diagonal: bool = False
    accelerate: bool = True
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        run = run_of(self)
        threads = run.threads
        self.n_clusters_max_ = bound_of(self, ensemble)
        generators = spawn_generators(run.seed, self.n_init)
        few = max(_LEAST, _PER_CLUSTER * self.n_clusters_max_)
        race = self.accelerate and self.n_init >= _AGREE and ensemble.n_samples >= 2 * few
        # Products of one thread each: BLAS may sum in another order with more.
        with one_library_thread():
            pairs = _pairs_of(ensemble, self.diagonal, threads, self.n_clusters_max_)
            if race:
                best = self._raced(ensemble, pairs, generators, few, run)
            else:

                def grow(generator: np.random.Generator) -> Path:
                    start = random_membership(ensemble.n_samples, self.n_clusters_max_, generator)
                    return self._grown(pairs, start)

                with _mapping(threads, len(generators)) as mapped:
                    best = _lowest(self._reported(mapped(grow, generators), run))
        self._keep_course(best.trace, best.converged)
        return best.point

    def _grown(self, pairs: _Pairs, start: Floats) -> Path:
        return _grow(pairs, start, self.max_iter, self.tol, accelerate=self.accelerate)

    def _raced(
        self,
        ensemble: Ensemble,
        pairs: _Pairs,
        generators: list[np.random.Generator],
        few: int,
        run: Run,
    ) -> Path:
        """Compare starts on few objects; continue the best, or all if they do not agree."""
        n, k = ensemble.n_samples, self.n_clusters_max_
        chosen = spawn_generators(run.seed, self.n_init + 1)[-1].choice(n, few, replace=False)
        part = ensemble.part(chosen)
        some = _pairs_of(part, self.diagonal, run.threads, k)

        def begin(generator: np.random.Generator) -> Path:
            return _brief(some, random_membership(few, k, generator), self.max_iter)

        def extended(path: Path) -> Floats:
            return _extended(path.point, part, ensemble, chosen)

        with _mapping(run.threads, len(generators)) as mapped:
            starts, agreed = _until_agreed(mapped(begin, generators), self.n_init)
        if agreed:
            run.report(f"{len(starts)} starts on {few} objects, of which {_AGREE} agree")
            return self._nearer(pairs, extended(_lowest(starts)), [])
        with _mapping(run.threads, len(generators)) as mapped:
            paths = mapped(lambda path: self._grown(pairs, extended(path)), starts)
            best = _lowest(self._reported(paths, run))
        return self._nearer(pairs, best.point, best.trace[:-1]) if best.converged else best

    def _nearer(self, pairs: _Pairs, start: Floats, trace: list[float]) -> Path:
        """Continue with a smaller tolerance; `trace` is that before the start."""
        left, tol = self.max_iter - len(trace), _NEAR * self.tol
        near = _grow(pairs, start, left, tol, accelerate=True)
        return Path(near.point, [*trace, *near.trace], near.converged)

    def _reported(self, paths: Iterable[Path], run: Run) -> list[Path]:
        """Collect the results of all starts, printing a line for each."""
        results = []
        for path in tracked(paths, "starts", self.n_init):
            run.report(f"objective {path.trace[-1]:.10g} after {len(path.trace) - 1} iterations")
            results.append(path)
        return results


class _Pairs(ABC):
    """Sums over all ordered pairs."""

    def __init__(self, ensemble: Ensemble, diagonal: bool, threads: int) -> None:
        B, weights = ensemble.indicator, ensemble.column_weights
        c = B.multiply(B) @ weights
        groups = ensemble.presence_groups
        # The objects that each presence group observed, and the groups' weights.
        self.present = ensemble.present[:, groups.first].astype(np.float64)
        self.group_weights = np.bincount(groups.of_partition, weights=ensemble.partition_weights)
        N = self.present @ self.group_weights
        # sum of c^2 / N over ordered pairs: twice the objective without any clusters.
        pairs = ensemble.has_missing or ensemble.n_samples <= _FEW
        self.ceiling = 2.0 * (
            squared(ensemble, threads) if pairs else squared_of_clusters(ensemble)
        )
        if diagonal:
            self.ceiling += float(ratio(c**2, N).sum())
        self.c, self.N = c, N  # pairs of each object with itself

    def step(self, Y: Floats) -> tuple[float, Floats]:
        """Return f(Y), and the memberships after a step: y_ik h_ik, in rows that sum to 1.

        An object without evidence has no sums h and is not changed.
        """
        observed, fitted = self.sums(Y)
        grown = np.empty_like(Y)
        grow_rows(Y, self.degree, self.own_c, observed, fitted, grown)
        total = self.ceiling - 2.0 * float(np.vdot(observed, Y)) + float(np.vdot(fitted, Y))
        # Non-negative up to rounding.
        return max(0.5 * total, 0.0), grown

    # c_ii of the pairs of objects with themselves, where sums contain them but the objective does not; or 0.
    own_c: Floats
    degree: Floats

    @abstractmethod
    def sums(self, Y: Floats) -> tuple[Floats, Floats]:
        """Return the sums over j of c_ij y_jk and of N_ij y_i'y_j y_jk; the former with c_ii of `own_c`."""


class _ByClusters(_Pairs):
    """Sums by the partitions' clusters, without forming pairs."""

    def __init__(self, ensemble: Ensemble, diagonal: bool, threads: int) -> None:
        super().__init__(ensemble, diagonal, threads)
        self.missing = ensemble.has_missing
        self.products = IndicatorProducts.of(ensemble, ensemble.column_weights)
        self.degree = self.present @ (self.group_weights * self.present.sum(axis=0))
        self.own_c = np.zeros_like(self.c) if diagonal else self.c
        self.own_N = np.zeros_like(self.N) if diagonal else self.N
        self.degree -= self.own_N

    def sums(self, Y: Floats) -> tuple[Floats, Floats]:
        observed = self.products.times(self.products.sums(Y))
        fitted = np.empty_like(Y)
        own_rows(Y, self.own_N, fitted)
        if not self.missing:  # the one group observed all
            fitted += Y @ (self.group_weights[0] * (Y.T @ Y))
            return observed, fitted
        step = max(1, _CELLS // Y.size)
        some, part, sums = np.empty_like(Y), np.empty_like(Y), np.zeros_like(Y)
        for begin in range(0, len(self.group_weights), step):
            sums = sums if step > 1 else fitted
            for weight, present in zip(
                self.group_weights[begin : begin + step],
                self.present.T[begin : begin + step],
                strict=True,
            ):
                np.multiply(Y, present[:, None], out=some)
                np.matmul(some, weight * (some.T @ some), out=part)
                sums += part
            if step > 1:
                fitted += sums
                sums[...] = 0.0
        return observed, fitted


class _ByMatrices(_Pairs):
    """Sums by matrices of all pairs, for few objects."""

    def __init__(self, ensemble: Ensemble, diagonal: bool, threads: int) -> None:
        super().__init__(ensemble, diagonal, threads)
        every = evidence(ensemble, max_dense=None, n_jobs=threads)
        self.counts = every.counts.astype(np.float64)
        self.copresence = every.copresence.astype(np.float64)
        np.fill_diagonal(self.counts, self.c if diagonal else 0.0)
        np.fill_diagonal(self.copresence, self.N if diagonal else 0.0)
        self.degree = self.copresence.sum(axis=1)
        self.own_c = np.zeros(ensemble.n_samples)

    def sums(self, Y: Floats) -> tuple[Floats, Floats]:
        return self.counts @ Y, (self.copresence * (Y @ Y.T)) @ Y


def _pairs_of(ensemble: Ensemble, diagonal: bool, threads: int, n_clusters: int) -> _Pairs:
    """Return the form of the sums with the cheaper iteration: n K^2 per presence group, or n^2 K."""
    n, groups = ensemble.n_samples, ensemble.presence_groups
    few = n <= _FEW and n < n_clusters * len(groups.first)
    return (_ByMatrices if few else _ByClusters)(ensemble, diagonal, threads)


def _grow(
    pairs: _Pairs,
    Y: Floats,
    max_iter: int,
    tol: float,
    *,
    accelerate: bool,
) -> Path:
    """Multiply memberships until they no longer change.

    Parameters
    ----------
    pairs : _Pairs
        Sums over pairs.
    Y : ndarray of shape (n, K)
        Initial memberships.
    max_iter : int
        Maximum number of steps and leaps.
    tol : float
        Share of the objective by which the last step lowers it.
    accelerate : bool
        Whether to leap.
    """

    def done(before: float, f: float, moved: float) -> bool:
        small = tol * max(f, 0.5 * _NOTHING * pairs.ceiling)
        return moved <= _STILL or before - f <= small

    return follow(pairs.step, Y, done, max_iter, accelerate=accelerate)


def _brief(pairs: _Pairs, Y: Floats, max_iter: int) -> Path:
    """Multiply memberships until the objective falls slowly.

    Random memberships are near a saddle point, so that it hardly falls at first either.
    """
    first = pairs.step(Y)[0]

    def done(before: float, f: float, moved: float) -> bool:
        return moved <= _STILL or before - f <= _LITTLE * min(f, first - f)

    return follow(pairs.step, Y, done, max_iter)


def _extended(Y: Floats, part: Ensemble, ensemble: Ensemble, chosen: Ints) -> Floats:
    """Return memberships of all objects that fit those of some in least squares."""
    weights = ensemble.column_weights
    sums = IndicatorProducts.of(part, weights).sums(Y)
    evidence_of_each = IndicatorProducts.of(ensemble).times(sums)
    observed = ensemble.present @ ensemble.partition_weights
    shares = evidence_of_each / np.where(observed > 0, observed, 1.0)[:, None]
    extended = shares @ np.linalg.pinv(Y.T @ Y, hermitian=True)
    extended[chosen] = Y
    extended = np.maximum(extended, _FLOOR)
    return np.asarray(extended / extended.sum(axis=1, keepdims=True))


def _until_agreed(paths: Iterable[Path], count: int) -> tuple[list[Path], bool]:
    """Collect starts until `_AGREE` of them have the partition of the best so far; return whether they do."""
    starts: list[Path] = []
    for path in tracked(paths, "starts", count, at_most=True):
        starts.append(path)
        labels = _lowest(starts).point.argmax(axis=1)
        alike = [adjusted_rand_index(labels, one.point.argmax(axis=1)) >= _SAME for one in starts]
        if sum(alike) == _AGREE:
            return starts, True
    return starts, False


def _lowest(paths: Iterable[Path]) -> Path:
    return min(paths, key=lambda path: path.trace[-1])


@contextmanager
def _mapping(threads: int, count: int) -> Iterator[Callable[..., Iterator[Path]]]:
    """Yield a ``map`` that works in threads, if there are several and several items."""
    if threads == 1 or count == 1:
        yield map
        return
    with side_by_side(min(threads, count)) as mapped:
        yield mapped
