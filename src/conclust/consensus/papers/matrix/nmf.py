"""WeightedNMF: consensus by non-negative factors of the co-association, with learned weights.

Its criterion has two steps: factors for given weights, weights for factors. With H, a row for each object, and M_u, the co-membership matrix of partition u, the criterion is::

    |sum_u w_u M_u - HH'|^2 + price sum_u (w_u - v_u)^2 / v_u
        = w'Aw - 2 sum_u w_u |B_u'H|^2 + |H'H|^2 + price ...,        A_uv = <M_u, M_v>

and with missing labels, where w is given, ``sum_u w_u |M_u - HH'|_u^2`` over the pairs that u
observed.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from conclust._arrays.rows import ratio, shares_of_rows
from conclust._parameters import Parameters, Range
from conclust._progress import rounds
from conclust._random import RandomStateLike, generator, seed_sequence
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import SoftConsensusClusterer
from conclust.consensus.label_rows import best_of_restarts
from conclust.consensus.median.search import least_squares_labels
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import DistinctRows, Ensemble, Missing
from conclust.spectra.gram import IndicatorProducts, gram_blocks

# Number of updates of the factors between updates of the weights.
_UPDATES = 6
# Share of the way to the factors that fit the current ones best.
_SHARE = 0.7
# With this exponent of the multiplicative update the criterion always decreases.
_SURE = 0.25
# Up to this number of rows the weighted co-association B diag(w) B' is formed.
_FORMED = 300
# Entries below this become 0: processors are slow with the smallest numbers, and no update makes such an
# entry large again.
_NOTHING = 1e-100


@dataclass(frozen=True)
class Factors:
    """Quantities of H: ``sums`` (T, K), B'H; ``overlaps`` and ``lengths`` (N,), ``|B_u'H|^2`` and ``|HH'|_u^2``."""

    sums: Floats
    overlaps: Floats
    lengths: Floats


@dataclass(frozen=True)
class Criterion:
    """The data of the criterion: products with rows B, their masses, A including the penalty, and given weights.

    ``observed`` (rows, N): which partitions observed each row; None if all did.
    """

    products: IndicatorProducts
    mass: Floats
    observed: Floats | None
    partition: Ints
    table: Floats
    given: Floats
    price: float

    @classmethod
    def of(
        cls, rows: DistinctRows, regularization: float, whole: Ensemble | None = None
    ) -> Criterion:
        """Return the criterion of some rows; rows of a part use B'B of the `whole` ensemble."""
        mass = rows.masses
        m = rows.ensemble.n_partitions
        partition = rows.ensemble.column_partitions
        T = len(partition)
        group = sp.csr_array((np.ones(T), (partition, np.arange(T))), shape=(m, T))
        blocks = gram_blocks(rows.ensemble, mass) if whole is None else gram_blocks(whole)
        table = np.empty((m, m))
        for block in blocks:
            groups = group[block.partitions, block.rows]
            table[block.partitions] = (groups @ block.gram.multiply(block.gram) @ group.T).toarray()
        everything = bool(rows.ensemble.present[:, rows.ensemble.partition_weights > 0].all())
        observed = None if everything else rows.ensemble.present.astype(np.float64)
        weights = rows.ensemble.partition_weights / rows.ensemble.partition_weights.sum()
        used = np.flatnonzero(weights > 0)
        price = regularization * float(weights @ table.diagonal())
        table[used, used] += price / weights[used]
        products = IndicatorProducts.of(rows.ensemble)
        return cls(products, mass, observed, partition, table, weights, price)

    def at(self, H: Floats) -> Factors:
        """Compute the quantities of H."""
        weighted = H * self.mass[:, np.newaxis]
        sums = self.products.sums(weighted)
        squares = np.bincount(self.partition, (sums**2).sum(axis=1), minlength=len(self.given))
        lengths = (self.grams(H, weighted) ** 2).sum(axis=(1, 2))
        return Factors(sums, np.asarray(squares, dtype=np.float64), lengths)

    def grams(self, H: Floats, weighted: Floats) -> Floats:
        """Return H'H over all objects, or over those that each partition observed (1 or N, K, K).

        `weighted` is H times the objects of each row.
        """
        if self.observed is None:
            return np.asarray((H.T @ weighted)[np.newaxis])
        a, b, whole = _triangle(H.shape[1])
        columns = np.ascontiguousarray(H.T)
        return np.asarray(((columns[a] * (columns * self.mass)[b]) @ self.observed).T[:, whole])

    def size(self, weights: Floats) -> float:
        """Return the part of the criterion that does not depend on the factors, including the penalty."""
        if self.observed is None:
            return float(weights @ self.table @ weights)
        return float(weights @ self.table.diagonal())

    def lowers(self, weights: Floats, H: Floats, grams: Floats) -> Floats:
        """Return the terms that lower H, entry by entry."""
        if self.observed is None:
            return np.asarray(H @ grams[0])
        a, b, _ = _triangle(H.shape[1])
        columns = np.ascontiguousarray(H.T)
        of_rows = (grams[:, a, b] * weights[:, np.newaxis]).T @ self.observed.T
        lowers = np.zeros_like(columns)
        for gram, k, other in zip(of_rows, a, b, strict=True):
            lowers[k] += gram * columns[other]
            if k != other:
                lowers[other] += gram * columns[k]
        return lowers.T

    def towards(self, weights: Floats, now: _Reached) -> Floats:
        """Return factors between H and a W that lowers ``sum_u w_u |M_u - WH'|_u^2``.

        W is H after one pass over its columns, each of which takes its best non-negative values given the others.
        """
        columns = np.ascontiguousarray(now.H.T)
        W, raises = columns.copy(), np.ascontiguousarray(now.raises.T)
        if self.observed is not None:
            a, b, whole = _triangle(len(W))
            of_rows = (now.grams[:, a, b] * weights[:, np.newaxis]).T @ self.observed.T
        for k, column in enumerate(W):
            if self.observed is None:
                own, fitted = now.grams[0, k, k], now.grams[0, k] @ W
                step = (raises[k] - fitted) * (1.0 / own if own > 0 else 0.0)
            else:
                own, fitted = of_rows[whole[k, k]], np.einsum("li,li->i", of_rows[whole[k]], W)
                step = ratio(raises[k] - fitted, own)
            np.maximum(column + step, 0.0, out=column)
        return np.ascontiguousarray((columns + _SHARE * (W - columns)).T)

    def scaled(self, H: Floats) -> Floats:
        """Return H scaled to minimise the criterion for the given weights."""
        factors = self.at(H)
        length = float(
            np.sum(factors.lengths if self.observed is None else self.given * factors.lengths)
        )
        share = float(self.given @ factors.overlaps) / length if length > 0 else 0.0
        return np.asarray(H * np.sqrt(share))

    def best_weights(self, weights: Floats, factors: Factors) -> Floats:
        """Return the weights that minimise the criterion, starting from some; no labels may be missing."""
        return _simplex_program(self.table, factors.overlaps, weights, self.given > 0)


@dataclass(frozen=True)
class Solution:
    """Factors and weights, the criterion at the start and after each round, and how it ended."""

    H: Floats
    weights: Floats
    trace: list[float]
    n_iter: int
    converged: bool


def solve(
    criterion: Criterion,
    H: Floats,
    weights: Floats,
    *,
    learn_weights: bool,
    max_iter: int,
    tol: float,
) -> Solution:
    """Minimise the criterion by rounds of updates of H, each followed by one of the weights.

    Parameters
    ----------
    criterion : Criterion
        Criterion to minimise.
    H : ndarray of shape (n_rows, K)
        Initial factors.
    weights : ndarray of shape (n_partitions,)
        Initial weights, or the fixed ones.
    learn_weights : bool
        Whether the weights are learned.
    max_iter : int
        Maximum number of updates.
    tol : float
        Stop when a round lowers the criterion by less than this share of its size.
    """
    round_of = _Round.of(criterion, weights)
    now = round_of.at(H)
    trace = [now.value]
    n_iter, converged = 0, False
    while not converged and n_iter < max_iter:
        for _ in range(min(_UPDATES, max_iter - n_iter)):
            rounds("updates", n_iter, max_iter)
            then = round_of.at(criterion.towards(weights, now))
            if then.value > now.value:
                then = round_of.at(_multiplied(now.H, round_of.ratio(now)))
            now = then
            n_iter += 1
        if learn_weights:
            weights = criterion.best_weights(weights, criterion.at(now.H))
            round_of = _Round.of(criterion, weights)
            now = round_of.at(now.H)
        trace.append(now.value)
        converged = trace[-2] - trace[-1] <= tol * criterion.size(weights)
    return Solution(now.H, weights, trace, n_iter, converged)


def _multiplied(H: Floats, ratio: Floats) -> Floats:
    updated = H * ratio**_SURE
    updated[updated < _NOTHING] = 0.0
    return np.asarray(updated)


@dataclass(frozen=True)
class _Reached:
    """Factors, the terms that raise them, entry by entry, the Gram matrices, and the criterion."""

    H: Floats
    raises: Floats
    grams: Floats
    value: float


@dataclass(frozen=True)
class _Round:
    """The criterion for given weights; with few rows, ``together`` = B diag(w) B' is formed."""

    criterion: Criterion
    weights: Floats
    column_weights: Floats
    together: Floats | None

    @classmethod
    def of(cls, criterion: Criterion, weights: Floats) -> _Round:
        """Return the round of some weights."""
        columns = weights[criterion.partition]
        together = None
        ensemble = criterion.products.ensemble
        if ensemble.n_samples <= _FORMED:
            B = ensemble.indicator.toarray()
            together = (B * columns) @ B.T
        return cls(criterion, weights, columns, together)

    def at(self, H: Floats) -> _Reached:
        """Compute the quantities of H."""
        criterion = self.criterion
        weighted = H * criterion.mass[:, np.newaxis]
        if self.together is None:
            sums = criterion.products.sums(weighted)
            raises = criterion.products.times(sums * self.column_weights[:, np.newaxis])
        else:
            raises = self.together @ weighted
        grams = criterion.grams(H, weighted)
        lengths = (grams**2).sum(axis=(1, 2))
        fit = lengths.sum() if criterion.observed is None else self.weights @ lengths
        # sum_u w_u |B_u'H|^2 = <H, B diag(w) B'H>
        value = criterion.size(self.weights) - criterion.price
        value += float(fit - 2.0 * np.vdot(weighted, raises))
        return _Reached(H, raises, grams, value)

    def ratio(self, now: _Reached) -> Floats:
        """Return the terms that raise H over the terms that lower it, entry by entry."""
        lowers = self.criterion.lowers(self.weights, now.H, now.grams)
        if lowers.min() > 0:
            return np.asarray(now.raises / lowers)
        return ratio(now.raises, lowers)


def _triangle(k: int) -> tuple[Ints, Ints, Ints]:
    """Return rows and columns of the upper triangle, and the positions of the entries (k, k) in it."""
    a, b = np.triu_indices(k)
    whole = np.empty((k, k), dtype=np.int64)
    whole[a, b] = whole[b, a] = np.arange(len(a))
    return a, b, whole


def _simplex_program(A: Floats, b: Floats, start: Floats, allowed: Bools) -> Floats:
    """Minimise w'Aw - 2b'w on the simplex of the allowed weights, from a start, for A semi-definite."""
    used = np.flatnonzero(allowed)
    A, b = A[np.ix_(used, used)], b[used]
    # An active set: solve with equality on the support, drop weights that turn negative, add weights that
    # would help. Each step lowers the objective, so it ends.
    w = start[used]
    scale = float(np.abs(A).max())
    for _ in range(100 * len(used)):
        slope = A @ w - b
        support = w > 0
        level = float(w @ slope)
        gain = np.where(support, 0.0, level - slope)
        stuck = np.abs(slope[support] - level).max(initial=0.0) <= 1e-12 * scale
        if stuck and gain.max() <= 1e-12 * scale:
            break
        if stuck:
            support[int(gain.argmax())] = True
        direction = _to_minimum(A, slope, support)
        falling = direction < 0
        step = min(1.0, float((w[falling] / -direction[falling]).min(initial=np.inf)))
        if step <= 0.0 or not direction.any():
            break
        hit = falling & (w + step * direction <= 1e-15)
        w = np.where(hit, 0.0, w + step * direction)
        w /= w.sum()
    full = np.zeros(len(start))
    full[used] = w
    return full


def _to_minimum(A: Floats, slope: Floats, support: Bools) -> Floats:
    """Return the shortest move on the support, of sum 0, to the minimum there."""
    inside = np.flatnonzero(support)
    basis = np.eye(len(inside)) - 1.0 / len(inside)
    reduced = basis @ A[np.ix_(inside, inside)] @ basis
    move = np.zeros(len(slope))
    move[inside] = basis @ np.linalg.lstsq(reduced, -(basis @ slope[inside]), rcond=1e-12)[0]
    return move


# Amount by which a starting partition is blurred, because zeros would stay zeros.
_BLUR = 0.2
# Minimum entry of a row at the start, as a share of the mean entry.
_FLOOR = 1e-3


@dataclass(eq=False, repr=False)
class WeightedNMF(SoftConsensusClusterer):
    r"""Weighted consensus by non-negative matrix factorisation.

    Finds a non-negative H with a column per cluster, and weights w of the partitions, with

    .. math::

        \left\lVert \sum_u w_u M_u - H H^\top \right\rVert_F^2 + \text{price} \sum_u \frac{(w_u - v_u)^2}{v_u}

    as small as possible, where M_u has 1 for the pairs that partition u puts together, w is at least
    0 with sum 1, and v are the given weights, divided by their sum [1]_ [2]_. Partitions that contradict the others
    get less weight or none. No matrix of pairs is formed.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. Required: ``fit`` refuses None.
    learn_weights : bool, default=True
        Whether w is learned. False: the weights of the ensemble, divided by their sum; all equal if it has none.
        This is the unweighted consensus by NMF.
    regularization : float, default=0.02
        Price of deviating from the given weights, as a multiple of the mean of ``|M_u|^2``. At 0
        the criterion can collapse: any one partition with at most K clusters has norm 0 by itself.
    n_init : int, default=5
        Random starts of the search for the least-squares partition at which the factors start. With
        more than 5,000 distinct rows of labels, the search and the first descent take 5,000 objects
        drawn at random, and the descent goes on with all. At least 0.
    max_iter : int, default=2000
        Maximum number of updates of H.
    tol : float, default=1e-7
        Stop when six updates, and one of the weights, lower the objective by less than this share of
        the squared norm of sum_u w_u M_u.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The cluster of the largest entry of each row of H; consecutive from 0 by first appearance.
    membership_ : ndarray of shape (n_samples, n_held)
        Rows of H divided by their sums; uniform where a row is 0. A column for each cluster that is not empty; the
        clusters of ``labels_`` come first.
    factors_ : ndarray of shape (n_samples, n_held)
        H, without its empty columns.
    weights_ : ndarray of shape (n_partitions,)
        w.
    n_clusters_ : int
        Clusters found: those that are the most probable one of some object.
    objective_ : float
        The sum above, over all ordered pairs, including an object with itself; with missing labels
        ``sum_u w_u |M_u - HH'|^2``, each over the pairs that u observed.
    trace_ : ndarray of shape (n_rounds + 1,)
        The objective at the start and after each round of six updates. It never rises.
    n_iter_ : int
        Updates of H over all objects.
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
        If the ensemble has missing labels and weights are to be learned.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the iteration.

    Notes
    -----
    An update moves H by .7 of the way to the W that one pass of coordinate descent [3]_ finds for
    ``|M - WH'|^2``, with M = sum_u w_u M_u: each column in turn is set to its best non-negative values. (For one
    object and cluster and half of the way, these are Newton's steps to a square root.) MH is B diag(w) (B'H), so that an
    update costs O(n N K + n K^2). If it raised the objective, it is replaced by H <- H (MH / HH'H)^(1/4), the
    papers' update with a fourth root in place of the square root: by an auxiliary function the objective then falls.
    Multiplication alone ends at the same factors after five times the updates. Objects with the same labels share a row of H.

    The papers also require H'H = I, or for QSQ' with orthonormal Q in place of HH'; here the scale is
    free and overlap is allowed, so that rows of H can be read as memberships. For the same reason
    weights have a price here. They are the solution of the quadratic program min w'Aw - 2b'w on the
    simplex, with A_uv the sum of squares of the contingency table of u and v, ``b_u = |B_u'H|^2`` and
    the price on the diagonal.

    With missing labels and given weights, each M_u is compared with HH' over the pairs that u
    observed, which is the criterion above up to a constant where nothing is missing; an update costs
    O(n N K^2). Weights are not learned then (:class:`conclust.WeightedPCC` learns them): A and b
    would be counted over different objects for every partition, and this sampling error is larger
    than the differences that decide.

    A noise object of a partition is together with no object there, not even itself. Partitions of
    weight 0 are left out. Soft partitions count with sums of products of probabilities.

    References
    ----------
    .. [1] T. Li, C. Ding: Weighted consensus clustering. SIAM Data Mining, 2008.
    .. [2] T. Li, C. Ding, M. I. Jordan: Solving consensus and semi-supervised clustering problems
       using nonnegative matrix factorization. ICDM 2007.
    .. [3] A. Cichocki, R. Zdunek, S. Amari: Hierarchical ALS algorithms for nonnegative matrix and 3D tensor
       factorization. ICA 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import WeightedNMF
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = WeightedNMF(2, random_state=0).fit(ensemble)
    >>> model.labels_, model.weights_.round(2)
    (array([0, 0, 1, 1]), array([0.41, 0.41, 0.17]))
    """

    factors_: Floats = field(init=False)

    method = Method(
        title="Weighted consensus by non-negative matrix factorisation",
        n_clusters="exact",
        fewer=True,
        membership=True,
        missing=False,
        soft_members=True,
        cost="n (N K + K^2) an update (missing: n N K^2), n N^2 once",
        citation="Li and Ding 2008, SDM; Li, Ding and Jordan 2007, ICDM",
        missing_with="learn_weights=False",
    )
    parameters: ClassVar[Parameters] = {"n_init": Range(at_least=0)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    learn_weights: bool = True
    regularization: float = 0.02
    n_init: int = 5
    max_iter: int = 2000
    tol: float = 1e-7
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _takes_missing(self) -> bool:
        return self.learn_weights is not True

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        seed = seed_sequence(self.random_state, "WeightedNMF")
        rows = ensemble.distinct_rows()
        with one_library_thread():
            # One start: the search for its initial partition has several.
            factors = best_of_restarts(_Search(self, ensemble), rows, 1, seed, 1).solution
        self._keep_course(factors.trace, factors.converged, "updates", factors.n_iter)
        self.weights_ = factors.weights
        self.factors_ = factors.H[rows.inverse]
        return shares_of_rows(self.factors_)

    def _keep_clusters(self, clusters: Ints) -> None:
        self.factors_ = np.ascontiguousarray(self.factors_[:, clusters])


@dataclass(frozen=True)
class _Factored:
    """The solution of a start, and its criterion."""

    criterion: Criterion
    solution: Solution


@dataclass(frozen=True)
class _Search:
    """Lowers the criterion: see `best_of_restarts`."""

    model: WeightedNMF
    ensemble: Ensemble

    def begin(self, rows: DistinctRows, start: int, seed: int) -> _Factored:
        """Descend from the partition of least squares, blurred."""
        model, draw = self.model, generator(seed)
        k, n_init = model.n_clusters, model.n_init
        labels = least_squares_labels(rows.ensemble, k, n_init, draw, rows.counts)
        criterion = Criterion.of(rows, self._price)
        H = criterion.scaled(_blurred(labels, k, draw))
        return self._descended(criterion, H, criterion.given)

    def finish(self, result: _Factored, rows: DistinctRows, chosen: Ints) -> _Factored:
        """Fit the factors of the other rows to the rows solved, and descend with all."""
        whole = None if self.ensemble.is_soft else self.ensemble
        criterion = Criterion.of(rows, self._price, whole)
        H = _extended(result.criterion, result.solution, criterion, chosen)
        return self._descended(criterion, H, result.solution.weights)

    def loss(self, result: _Factored) -> float:
        """Return the criterion."""
        return result.solution.trace[-1]

    @property
    def _price(self) -> float:
        return self.model.regularization if self.model.learn_weights else 0.0

    def _descended(self, criterion: Criterion, H: Floats, weights: Floats) -> _Factored:
        model = self.model
        solution = solve(
            criterion,
            H,
            weights,
            learn_weights=model.learn_weights,
            max_iter=model.max_iter,
            tol=model.tol,
        )
        return _Factored(criterion, solution)


def _blurred(labels: Ints, k: int, draw: np.random.Generator) -> Floats:
    """Blur a partition; clusters without objects (if there are too few distinct rows) start at random."""
    H = _BLUR * (1.0 + 0.01 * draw.random((len(labels), k)))
    H[np.arange(len(H)), labels] += 1.0
    return np.asarray(H)


def _extended(few: Criterion, solution: Solution, whole: Criterion, chosen: Ints) -> Floats:
    """Fit the factors of the remaining rows to the rows that were solved, in least squares."""
    factors = few.at(solution.H)
    partition_weights = solution.weights
    total = whole.products.times(factors.sums * partition_weights[few.partition][:, np.newaxis])
    observed_weight = (
        np.full(len(total), partition_weights.sum())
        if whole.observed is None
        else whole.observed @ partition_weights
    )
    total /= np.maximum(observed_weight, _FLOOR)[:, np.newaxis]
    square = solution.H.T @ (solution.H * few.mass[:, np.newaxis])
    H = total @ np.linalg.pinv(square, hermitian=True)
    H = np.maximum(H, _FLOOR * solution.H.mean())  # zeros would stay zeros
    H[chosen] = solution.H
    return np.asarray(H)
