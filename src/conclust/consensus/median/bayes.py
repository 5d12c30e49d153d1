"""BayesEstimate: the partition with the least expected loss over draws of a partition.

The search has starts, descents and rebuilt clusters. A unit is a distinct row of labels, and equal draws are one draw with a weight. If there are many units, starts run
on a part of them, and the best is finished on all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.rows import EqualRows
from conclust._kernels import LossSearch
from conclust._parameters import Parameters, Range
from conclust._progress import stage, tracked
from conclust._random import RandomStateLike, seed_sequence, spawn_generators, spawn_seeds
from conclust._threads import side_by_side, thread_count
from conclust._types import Bools, Ints
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.method import Method
from conclust.ensemble import DistinctRows, Ensemble, Missing
from conclust.ensemble.derived import within_range
from conclust.ensemble.labels import MISSING, NOISE, canonical_labels
from conclust.measures.losses import (
    LOSSES,
    Loss,
    PartitionRows,
    check_loss,
    draw_shares,
    expected_losses,
    mean_losses,
)
from conclust.trees.agglomeration import cut, dense_tree

_T = TypeVar("_T")

# Number of labels (units x draws) up to which every start runs on all units.
_CELLS = 4_000_000
# Minimum number of units of a part.
_PART = 1_000
# Difference of losses that is rounding.
_SAME = 1e-12
# Number of units in the average-linkage tree, which needs all pairs of them.
_TREE = 3_000
# Number of labels compared to find the best draw: more draws are thinned evenly.
_COMPARED = 2_500_000_000
# Number of starts continued by rebuilding clusters, and number of rounds without a change that end
# it: minimum values, which are larger if there are few labels.
_CARRIED_ON, _FRUITLESS = 3, 2
_MOST_FRUITLESS = 6
_CHEAP = 200_000
# Number of random reassignments of clusters, and their maximum work: labels times clusters.
_TURNS, _SHAKEN = 100, 10_000_000
# Maximum work of rounds of rebuilding beyond the first two.
_REBUILT = 100_000_000
# Number of labels up to which several starts are continued.
_FEW = 1_000_000
# Proxies of losses that are not plain sums over tables, whose single moves are expensive.
_LEADS: dict[Loss, Loss] = {"omari": "binder", "nvi": "vi", "id": "vi", "nid": "vi"}


@dataclass(frozen=True)
class Wanted:
    """Objective and effort of the search; see :class:`conclust.BayesEstimate`."""

    loss: Loss
    split_cost: float
    max_clusters: int | None
    n_init: int
    n_rebuilds: int
    max_iter: int


@dataclass(frozen=True)
class SearchResult:
    """A partition of the units, its expected loss, and the course of the search."""

    labels: Ints
    loss: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class BestDraw:
    """The draw with the lowest expected loss among those compared, its loss, and the next best ones."""

    index: int
    loss: float
    ranking: Ints


@dataclass(frozen=True)
class _Draws:
    """Distinct draws with weights, of the objects of an ensemble."""

    ensemble: Ensemble
    first: Ints

    @classmethod
    def of(cls, ensemble: Ensemble) -> _Draws:
        weights = ensemble.partition_weights
        counted = np.flatnonzero(weights > 0)
        equal = EqualRows.of(ensemble.codes.T[counted])
        first = counted[equal.first]
        summed = np.bincount(equal.inverse, weights[counted], len(equal))
        distinct = ensemble.subset(partitions=first)
        return cls(Ensemble(distinct, weights=within_range(summed / summed.max())), first)


def least_expected_loss(
    ensemble: Ensemble, wanted: Wanted, root: np.random.SeedSequence, threads: int
) -> tuple[Ints, SearchResult, BestDraw]:
    """Return the labels of all objects, the result on the units, and the best draw."""
    distinct = _Draws.of(ensemble)
    draws = distinct.ensemble
    units = draws.distinct_rows(noise="apart")
    generator = spawn_generators(root, 1)[0]
    stage("the best draw")
    drawn = best_draw(draws, wanted.loss, wanted.split_cost, threads)
    # Starts run on some of the units.
    chosen = units.drawn(max(_PART, _CELLS // draws.n_partitions), generator)
    part = _Problem.of(units, chosen, wanted)
    starts = _starts(part, drawn, wanted, generator, threads)
    ends = _best_of_starts(part, starts, wanted, spawn_seeds(root, 2 * len(starts)), threads)
    best = ends[0]
    whole = part
    if len(chosen) < len(units):
        stage(f"the best starts, on all {len(units)} rows")
        whole = _Problem.of(units, np.arange(len(units)), wanted)
        begun = [whole.start_of(draws.labels[units.first, drawn.index]), np.zeros(len(units), int)]
        for end in ends[:_CARRIED_ON]:
            labels = np.full(len(units), -1)
            labels[chosen] = end.labels
            begun.append(labels)
        seeds = spawn_seeds(root, len(begun) + 1)
        ends = _mapped(lambda i: whole.descend(begun[i], seeds[i]), len(begun), threads, "starts")
        best = whole.finish(min(ends, key=lambda end: end.loss), seeds[-1])
    if best.loss > drawn.loss + _SAME:
        best = _not_above(
            best, drawn, whole, draws.labels[units.first, drawn.index], spawn_seeds(root, 1)[0]
        )
    index = int(distinct.first[drawn.index])
    return best.labels[units.inverse], best, BestDraw(index, drawn.loss, drawn.ranking)


def _not_above(
    result: SearchResult, drawn: BestDraw, whole: _Problem, labels: Ints, seed: int
) -> SearchResult:
    """Return what a descent from the best draw finds, if the draw has the lower loss and few enough clusters.

    The starts of a loss that is led by another leave the draws by the other loss.
    """
    start = whole.start_of(np.where(labels == MISSING, NOISE, labels))
    if start.max() >= (whole.wanted.max_clusters or len(start)):
        return result
    end = whole.finish(whole.descended(whole.wanted.loss, start, seed), seed)
    return min(result, end, key=lambda found: found.loss)


def best_draw(draws: Ensemble, loss: Loss, split_cost: float, threads: int) -> BestDraw:
    """Compare the draws with each other; if there are very many, some of them with all.

    As an estimate, a draw has the objects that it did not observe in clusters of their own.
    """
    rows = PartitionRows.of(draws)
    n, m = draws.shape
    candidates = np.arange(m)
    if n * m * m > 2 * _COMPARED:
        count = max(1, min(m, int(_COMPARED / (n * m))))
        candidates = np.unique(np.linspace(0, m - 1, count).astype(np.int64))
    if draws.has_missing:
        labels = draws.labels[:, candidates].T
        estimates = PartitionRows(np.where(labels == MISSING, NOISE, labels))
        terms = estimates.terms(rows, loss, threads)
    elif len(candidates) == m:
        terms = rows.terms(None, loss, threads)
    else:
        terms = rows.some(candidates).terms(rows, loss, threads)
    means = mean_losses(terms, draws.partition_weights, loss, split_cost)
    ranking = candidates[np.argsort(means, kind="stable")]
    return BestDraw(int(ranking[0]), float(means.min()), ranking)


def tree_cuts(ensemble: Ensemble, most: int, threads: int) -> Ints:
    """Return the cuts of the average-linkage tree into 1 to `most` clusters, as rows."""
    n = ensemble.n_samples
    if n < 2:
        return np.zeros((1, n), dtype=np.int64)
    tree, _ = dense_tree(ensemble, "average", max_dense=n, n_jobs=threads)
    return np.array([cut(tree, k) for k in range(1, min(n, most) + 1)])


@dataclass(frozen=True)
class _Problem:
    """Some units of an ensemble, and searches on them."""

    ensemble: Ensemble
    mass: Ints
    wanted: Wanted
    idle: list[LossSearch] = field(default_factory=list)

    @classmethod
    def of(cls, units: DistinctRows, chosen: Ints, wanted: Wanted) -> _Problem:
        all_units = len(chosen) == len(units)
        ensemble = units.ensemble if all_units else units.ensemble.part(chosen)
        return cls(ensemble, units.counts[chosen], wanted)

    @contextmanager
    def search(self, loss: Loss) -> Iterator[LossSearch]:
        """Return a search on these units by a loss, which skips passes from optima that it has met.

        Searches by losses that are linear in the counts are used again: others depend on their earlier moves.
        """
        search = self.idle.pop() if self.idle else self._new_search(loss)
        yield search
        if self.wanted.loss not in _LEADS:
            self.idle.append(search)

    def _new_search(self, loss: Loss) -> LossSearch:
        ensemble = self.ensemble
        observed = self.mass @ ensemble.present
        split_cost = self.wanted.split_cost if loss == self.wanted.loss else 1.0
        return LossSearch(
            ensemble.label_view,
            np.ascontiguousarray(self.mass, dtype=np.int64),
            draw_shares(ensemble.partition_weights, observed, loss),
            LOSSES.index(loss),
            split_cost,
            self.wanted.max_clusters or 0,
        )

    def start_of(self, labels: Ints) -> Ints:
        """Return a draw as a start: noise alone, missing units in no cluster."""
        start = np.where(labels >= 0, labels, -1)
        noise = np.flatnonzero(labels == -2)
        start[noise] = int(labels.max(initial=-1)) + 1 + np.arange(len(noise))
        return start

    def descend(self, start: Ints, seed: int) -> SearchResult:
        """Descend from a start; -1 marks units in no cluster yet."""
        return self.descended(self.wanted.loss, self.led(start, seed), seed)

    def led(self, start: Ints, seed: int) -> Ints:
        """Descend by the proxy loss, if there is one."""
        lead = _LEADS.get(self.wanted.loss)
        return start if lead is None else self.descended(lead, start, seed).labels

    def descended(self, loss: Loss, start: Ints, seed: int) -> SearchResult:
        """Descend by this loss."""
        with self.search(loss) as search:
            _set(search, start)
            n_iter, converged = search.descend(seed, self.wanted.max_iter, False)
            return _read(search, len(start), n_iter, converged)

    def finish(self, result: SearchResult, seed: int) -> SearchResult:
        """Reassign clusters at random and rebuild them while the loss decreases, for at most `n_rebuilds` rounds."""
        with self.search(self.wanted.loss) as search:
            _set(search, result.labels)
            n_iter, converged, most = result.n_iter, result.converged, self.wanted.max_iter
            work = self.ensemble.codes.size * max(1, search.n_clusters)
            n_iter += search.shake(
                seed + 2 * self.wanted.n_rebuilds, min(_TURNS, _SHAKEN // work), most
            )
            patience = max(_FRUITLESS, min(_MOST_FRUITLESS, _CHEAP // self.ensemble.codes.size))
            fruitless = 0
            for turn in range(min(self.wanted.n_rebuilds, max(_FRUITLESS, _REBUILT // work))):
                if search.rebuild(seed + 2 * turn) > 0:
                    passes, converged = search.descend(seed + 2 * turn + 1, most, False)
                    n_iter, fruitless = n_iter + passes, 0
                else:
                    fruitless += 1
                if fruitless == patience:
                    break
            if self.wanted.loss in _LEADS:
                passes, converged = search.descend(
                    seed + 2 * self.wanted.n_rebuilds + 1, most, True
                )
                n_iter += passes
            return _read(search, len(result.labels), n_iter, converged)


def _set(search: LossSearch, labels: Ints) -> None:
    search.set(np.ascontiguousarray(labels, dtype=np.int64), int(labels.max(initial=-1)) + 1)


def _read(search: LossSearch, n: int, n_iter: int, converged: bool) -> SearchResult:
    labels = np.empty(n, dtype=np.int64)
    search.read(labels)
    return SearchResult(canonical_labels(labels), search.loss(), n_iter, converged)


def _starts(
    part: _Problem, drawn: BestDraw, wanted: Wanted, generator: np.random.Generator, threads: int
) -> list[Ints]:
    """Return partitions to start from: of every four, one draw, one cut of the tree, two empty ones."""
    ensemble, n = part.ensemble, part.ensemble.n_samples
    some = (wanted.n_init + 3) // 4
    starts = [part.start_of(ensemble.labels[:, s]) for s in drawn.ranking[:some]]
    stage("the average-linkage tree")
    leaves = np.arange(n)
    if n > _TREE:
        leaves = np.sort(generator.permutation(n)[:_TREE])
    few = ensemble if n <= _TREE else ensemble.part(leaves)
    most = wanted.max_clusters or 2 * int(ensemble.cluster_counts.max()) + 10
    cuts = tree_cuts(few, most, threads)
    means = expected_losses(PartitionRows(cuts), few, wanted.loss, wanted.split_cost, threads)
    for k in np.argsort(means, kind="stable")[:some]:
        start = np.full(n, -1)
        start[leaves] = cuts[k]
        starts.append(start)
    empty = np.full(n, -1)
    starts += [empty] * max(0, wanted.n_init - len(starts))
    return starts[: max(2, wanted.n_init)]


def _best_of_starts(
    part: _Problem, starts: list[Ints], wanted: Wanted, seeds: list[int], threads: int
) -> list[SearchResult]:
    """Descend from all starts, and continue the best ones; return these, best first."""
    if wanted.loss in _LEADS:
        stage("starts by the proxy loss")
        led = _mapped(lambda i: part.led(starts[i], seeds[i]), len(starts), threads, "starts")
        starts = list(np.unique(led, axis=0))
    stage("starts")
    ends = _mapped(
        lambda i: part.descended(wanted.loss, starts[i], seeds[i]), len(starts), threads, "starts"
    )
    ends.sort(key=lambda found: found.loss)  # stable sort: the first one if tied
    carried = ends[:1]
    size = part.ensemble.codes.size
    most = max(_CARRIED_ON if size <= _FEW else 1, min(len(ends), _CHEAP // size))
    for end in ends[1:]:
        if len(carried) < most and end.loss > carried[-1].loss + _SAME:
            carried.append(end)
    stage("rebuilding clusters")
    carried = _mapped(
        lambda i: part.finish(carried[i], seeds[len(starts) + i]),
        len(carried),
        threads,
        "partitions",
    )
    return sorted(carried, key=lambda found: found.loss)


def _mapped(work: Callable[[int], _T], count: int, threads: int, what: str) -> list[_T]:
    if threads == 1 or count == 1:
        return list(tracked(map(work, range(count)), what, count))
    with side_by_side(min(threads, count)) as mapped:
        return list(tracked(mapped(work, range(count)), what, count))


@dataclass(eq=False, repr=False)
class BayesEstimate(ConsensusClusterer):
    r"""Bayes estimate of a partition: minimum expected loss over draws, for instance from MCMC.

    Finds the partition c that minimises

    .. math::

        \sum_{\text{draws } s} \text{share}_s\, L(c, c_s)

    with c_s the partition of draw s: the point estimate of a posterior distribution whose draws are the
    partitions of the ensemble [1]_ [2]_. The number of clusters emerges.

    Parameters
    ----------
    loss : {"vi", "binder", "omari", "nvi", "id", "nid"}, default="vi"
        Loss of estimating a draw. With H the entropy in bits, c the estimate and s the draw:

        - "vi": variation of information, a H(c | s) + (2 - a) H(s | c);
        - "binder": pairs of objects, a for each that c wrongly separates and 2 - a for each that it
          wrongly puts together, times 2 / n^2;
        - "omari": 1 - adjusted Rand index, its mean over draws and not an approximation from pairs;
        - "nvi": variation of information over the joint entropy H(c, s);
        - "id": information distance, max(H(c), H(s)) - I(c, s), with I the mutual information;
        - "nid": information distance over max(H(c), H(s)).

        "binder" tends to give many small clusters, "vi" fewer; both have fast single moves.
    split_cost : float, default=1.0
        For "vi" and "binder": the cost a, in (0, 2), of separating objects that belong together; the cost of putting together
        objects that do not is 2 - a. Values below 1 give more clusters, values above 1 fewer. It is
        the argument ``a`` of R's salso.
    max_clusters : int or None, default=None
        Maximum number of clusters of the estimate. None: any.
    n_init : int, default=16
        Number of starts: of every four, one is a draw, one a cut of the average-linkage tree, and two are empty
        partitions to which objects are added in random order.
    n_rebuilds : int, default=30
        Maximum number of rounds in which clusters are destroyed and rebuilt, at least 0; two to six consecutive rounds that
        change nothing end the search. Fewer rounds if objects times draws times clusters exceed 3 million.
    max_iter : int, default=100
        Maximum number of passes over the objects in one descent.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of the order in which objects are visited.
    n_jobs : int, default=None
        Threads; None: as many as there are processors (or ``OMP_NUM_THREADS``). The result does not depend
        on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    expected_loss_ : float
        The expected loss of the estimate, see :func:`conclust.metrics.expected_loss`.
    objective_ : float
        The same.
    best_draw_ : int
        Draw with the minimum expected loss. If comparing all pairs of draws takes more than 2.5e9 labels, it is the best of an
        evenly spaced subset.
    best_draw_loss_ : float
        Its expected loss, as an estimate in which objects that it did not observe are clusters of their own. The
        gain of the search is ``best_draw_loss_ - expected_loss_``.
    n_iter_ : int
        Number of passes over the objects from the best start.
    converged_ : bool
        Whether no move of an object and no merge was left that would lower the loss.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or `split_cost` is given with a loss that does not have it.
    InputError
        If the labels are malformed.
    UnsupportedEnsembleError
        If the partitions are soft.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the search.

    See Also
    --------
    conclust.Ensemble.from_draws : reads draws that are rows.
    conclust.confidence.credible_ball : the spread of the posterior around the estimate.
    conclust.confidence.modes : several estimates, where the draws disagree in more than one way.

    Notes
    -----
    The search visits objects in random order and moves each to the existing or new cluster with the lowest loss;
    merges clusters; destroys clusters, one or two at a time, and reassigns their objects; splits clusters in two;
    and, with few labels, reassigns the objects of some clusters at random. It works on counts
    per cluster and draw: a visit costs O(N K). Losses other than "vi" and "binder" are compared by their slopes
    first (with 250 objects or more), and exactly at the end. Objects with the same labels in all draws move
    together, and
    equal draws count as one with a weight. With more than 4 million distinct labels (objects times draws) the
    starts are compared on a part of the objects.

    A draw counts by its weight times the number of objects that it observed (for "binder" the pairs); others are
    ignored. Noise objects are clusters of one object. The problem is NP-hard: the search ends
    at a partition that none of its moves improves.

    References
    ----------
    .. [1] S. Wade, Z. Ghahramani: Bayesian cluster analysis: point estimation and credible balls.
       Bayesian Analysis 13, 2018.
    .. [2] D. B. Dahl, D. J. Johnson, P. Müller: Search algorithms and loss functions for Bayesian clustering.
       Journal of Computational and Graphical Statistics 31, 2022.

    Examples
    --------
    >>> from conclust import BayesEstimate, Ensemble
    >>> draws = Ensemble.from_draws([[0, 0, 1, 1, 1], [0, 0, 1, 1, 2], [0, 1, 2, 2, 2]])
    >>> model = BayesEstimate(random_state=0).fit(draws)
    >>> model.labels_, round(model.expected_loss_, 3)
    (array([0, 0, 1, 1, 1]), 0.317)
    """

    expected_loss_: float = field(init=False)
    best_draw_: int = field(init=False)
    best_draw_loss_: float = field(init=False)

    method = Method(
        title="Bayes estimate of a partition (SALSO)",
        n_clusters="emerges",
        soft_members=False,
        cost="n N K per pass",
        citation="Wade & Ghahramani 2018, Bayesian Analysis 13; Dahl, Johnson & Müller 2022, JCGS 31",
        use="the clusterings are draws of a posterior",
    )
    _for_draws: ClassVar[bool] = True
    parameters: ClassVar[Parameters] = {
        "split_cost": Range(above=0, below=2),
        "n_rebuilds": Range(at_least=0),
    }

    _: KW_ONLY
    loss: Loss = "vi"
    split_cost: float = 1.0
    max_clusters: int | None = None
    n_init: int = 16
    n_rebuilds: int = 30
    max_iter: int = 100
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def _check_parameters(self, ensemble: Ensemble) -> None:
        check_loss(self.loss, self.split_cost, "BayesEstimate")

    def _fit(self, ensemble: Ensemble, observed: Bools) -> NDArray[Any]:
        labels, best, drawn = least_expected_loss(
            ensemble,
            Wanted(
                self.loss,
                float(self.split_cost),
                None if self.max_clusters is None else min(self.max_clusters, ensemble.n_samples),
                self.n_init,
                int(self.n_rebuilds),
                self.max_iter,
            ),
            seed_sequence(self.random_state, "BayesEstimate"),
            thread_count(self.n_jobs, "BayesEstimate"),
        )
        self.expected_loss_ = best.loss
        self.best_draw_, self.best_draw_loss_ = drawn.index, drawn.loss
        self._keep_end(best.loss, best.n_iter, best.converged)
        return labels
