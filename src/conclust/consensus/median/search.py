"""Local search for the partition that maximises a sum over clusters of the similarity inside.

The similarity of two objects is a_ij = sum_t v_t r_it r_jt with sparse rows r. Their columns are the
clusters of the ensemble; columns of negative weight v_t subtract the shift. The kernel works on sums of
rows per cluster, so that no pair is formed. A unit is a distinct row of labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._kernels import PartitionSearch, ResemblanceSearch
from conclust._progress import rounds, stage, tracked
from conclust._types import Floats, Ints
from conclust.consensus.constraints import coloured
from conclust.ensemble import DistinctRows, Ensemble
from conclust.ensemble.labels import canonical_labels
from conclust.exceptions import InputError

Criterion: TypeAlias = Literal["additive", "averaged", "explained"]
# Their numbers in ``_kernels/search/median.h`` are their positions here.
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
# Starts are compared on at most this many units; the best is refined on all. Fewer than in
# `consensus/label_rows.py`, because one start fuses single units pair by pair, in quadratic time.
SUBSET = 1000
# Maximum number of clusters for which pairs of clusters are considered for a fusion.
_FUSED = 2000
# Number of units visited between checks for interrupts.
_VISITS = 4096


@dataclass(frozen=True)
class Evidence:
    """Similarities of units, factored: rows, and a weight for each of their columns.

    Attributes
    ----------
    rows : csr_array of shape (n_units, n_columns)
        One row per unit.
    weights : ndarray of shape (n_columns,)
        Weight of each column.
    mass : ndarray of shape (n_units,)
        Number of objects of each unit.
    apart : ndarray of int64 of shape (n_pairs, 2)
        Pairs of units that are not put into one cluster.
    """

    rows: sp.csr_array
    weights: Floats
    mass: Floats
    apart: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))

    def some(self, units: Ints) -> Evidence:
        """Return the similarities among some units, those that are kept apart among them."""
        place = np.full(len(self.mass), -1, dtype=np.int64)
        place[units] = np.arange(len(units))
        return Evidence(
            sp.csr_array(self.rows[units]), self.weights, self.mass[units], place[self.apart]
        )

    def dense(self) -> Floats:
        """Return the similarities of objects of all pairs of units."""
        similarities = np.empty((len(self.mass), len(self.mass)))
        self.search("additive", None).similarities(similarities)
        return similarities

    def search(self, criterion: Criterion, n_clusters: int | None) -> PartitionSearch:
        """Return a local search on these units."""
        search = PartitionSearch(
            self.rows.indptr.astype(np.int64),
            self.rows.indices.astype(np.int32),
            self.rows.data.astype(np.float64),
            self.weights,
            self.mass,
            CRITERIA.index(criterion),
            n_clusters is not None,
        )
        if len(self.apart):
            one, other = self.apart.T
            ends = np.concatenate([one, other]), np.concatenate([other, one])
            pairs = sp.csr_array((np.ones(len(ends[0])), ends), shape=(len(self.mass),) * 2)
            search.keep_apart(pairs.indptr.astype(np.int64), pairs.indices.astype(np.int64))
        return search


@dataclass(frozen=True)
class SearchResult:
    """A partition of the units, its objective, and the course of the search."""

    labels: Ints
    objective: float
    n_iter: int
    converged: bool


def interchangeable(ensemble: Ensemble) -> DistinctRows:
    """Return the groups of objects that some optimal partition keeps together: the units of the search.

    Objects with the same labels everywhere belong together, unless they are noise somewhere (the same
    noise does not put them together) or the labels are soft.
    """
    if ensemble.is_soft:
        return DistinctRows.each_object(ensemble)
    return ensemble.distinct_rows(noise="apart")


def evidence_of(
    ensemble: Ensemble, units: DistinctRows, together: Floats, shift: float | None
) -> Evidence:
    """Return sum_u w_u (together_t [both in cluster t of u] - shift [both observed by u]).

    `together` has a weight for every cluster of every partition, without w_u; a shift of None is
    the mean: the similarities of all pairs of objects then sum to 0.
    """
    partition_weights = ensemble.partition_weights
    voting = np.flatnonzero(partition_weights > 0)
    rows = ensemble.indicator[units.first]
    weights = ensemble.column_weights * together
    if ensemble.has_missing:
        observed = sp.csr_array(ensemble.present[np.ix_(units.first, voting)].astype(np.float64))
        votes = partition_weights[voting]
    else:
        observed = sp.csr_array(np.ones((len(units), 1)))
        votes = np.array([partition_weights.sum()])
    used = np.flatnonzero(weights > 0)
    rows, weights = rows[:, used], weights[used]
    if shift is None:
        total = _all_pairs(Evidence(rows, weights, units.masses))
        pairs = _all_pairs(Evidence(observed, votes, units.masses))
        shift = total / pairs if pairs > 0 else 0.0
    if shift:
        rows = sp.hstack([rows, observed])
        weights = np.concatenate([weights, -shift * votes])
    return Evidence(sp.csr_array(rows), weights, units.masses)


def _all_pairs(evidence: Evidence) -> float:
    """Sum the similarities of all ordered pairs of different objects."""
    sums = evidence.rows.T @ evidence.mass
    squares = evidence.rows.multiply(evidence.rows).T @ evidence.mass
    return float(evidence.weights @ (sums**2 - squares))


def degrees(evidence: Evidence) -> Floats:
    """Sum the similarities of an object of each unit to all other objects."""
    rows, weights = evidence.rows, evidence.weights
    all_objects = rows @ (weights * (rows.T @ evidence.mass))
    return np.asarray(all_objects - rows.multiply(rows) @ weights)


def sample(
    units: DistinctRows, generator: np.random.Generator, least: int = 0, among: Ints | None = None
) -> Ints:
    """Return the units of random objects: at most SUBSET units, or `least` if that is more, and those `among` them."""
    chosen = units.drawn(max(SUBSET, least), generator)
    return chosen if among is None else np.union1d(chosen, among)


def best_partition(
    ensemble: Ensemble,
    units: DistinctRows,
    evidence: Evidence,
    generator: np.random.Generator,
    chosen: Ints,
    given: Ints | None = None,
    *,
    criterion: Criterion,
    n_clusters: int | None = None,
    n_init: int,
    max_iter: int = 100,
) -> SearchResult:
    """Return the best partition that the local search finds from all starts on the chosen units.

    The starts: single objects, fused; the `n_init` best partitions of the ensemble; `n_init`
    random ones; and a given partition of the chosen units. Units that are kept apart are among the chosen.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    units : DistinctRows
        Units to move.
    evidence : Evidence
        Evidence of all units.
    generator : Generator
        Draws the random starts.
    chosen : ndarray of int64
        Units on which the search runs.
    given : ndarray of int64 or None, default=None
        A partition of them to start from.
    criterion : {"additive", "averaged", "explained"}
        See ``_kernels/search/median.h``.
    n_clusters : int, default=None
        Number of clusters. None: the one with the best criterion.
    n_init : int
        Number of partitions of the ensemble, and of random ones, to start from.
    max_iter : int, default=100
        Maximum number of passes from one start.
    """
    part = evidence.some(chosen)
    search = part.search(criterion, n_clusters)
    m = len(chosen)
    k = None if n_clusters is None else min(n_clusters, m)
    most = k or max(1, min(m, int(ensemble.cluster_counts.max())))
    best: SearchResult | None = None
    starts = [np.arange(m), *member_starts(ensemble, units.first[chosen], search, n_init, k)]
    starts += [_random(m, most, generator) for _ in range(n_init)]
    if k is not None and len(part.apart):
        colours = coloured(m, part.apart, k)
        starts += [] if colours is None else [colours]
    stage("local search")
    for start in tracked(starts if given is None else [given, *starts], "starts"):
        begin = _freed(start, part.apart)
        descended = _descend(search, begin, k, max_iter, generator.permutation(m))
        if descended is not None and (
            best is None or descended.objective > best.objective + 1e-9 * abs(best.objective)
        ):
            best = descended
    # Single objects can be fused to any number of clusters, unless they are kept apart.
    if best is None:
        raise InputError(
            f"The search found no assignment to {k} clusters that keeps all pairs of 'cannot_link' apart. Increase "
            "n_clusters or remove constraints."
        )
    if m == len(units):
        return best
    stage(f"the best start, on all {len(units)} rows")
    whole = evidence.search(criterion, n_clusters)
    labels = np.full(len(units), -1)
    labels[chosen] = best.labels
    full = _descend(whole, labels, k, max_iter, generator.permutation(len(units)))
    assert full is not None
    return full


def _random(m: int, k: int, generator: np.random.Generator) -> Ints:
    """Return a random partition into k clusters, none of them empty."""
    labels = generator.integers(0, k, m)
    labels[generator.permutation(m)[:k]] = np.arange(k)
    return labels


def _freed(start: Ints, apart: Ints) -> Ints:
    """Return a start in which units that are kept apart do not share a cluster: the later one is in none."""
    wrong = apart[(start[apart[:, 0]] == start[apart[:, 1]]) & (start[apart[:, 0]] >= 0)]
    if not len(wrong):
        return start
    freed = start.copy()
    for one, other in wrong.tolist():
        if freed[one] == freed[other]:
            freed[other] = -1
    held = freed >= 0
    freed[held] = canonical_labels(freed[held])
    return freed


def member_starts(
    ensemble: Ensemble,
    objects: Ints,
    search: PartitionSearch | ResemblanceSearch,
    n_best: int,
    k: int | None,
) -> list[Ints]:
    """Return the partitions of the ensemble of highest objective, as starts."""
    scored: list[tuple[float, Ints]] = []
    counts = ensemble.cluster_counts
    for u in np.flatnonzero(counts <= _FUSED):
        labels = ensemble.labels[objects, u]
        noise = np.flatnonzero(labels == -2)
        start = np.where(labels >= 0, labels, -1)
        start[noise] = counts[u] + np.arange(len(noise))
        assigned = start >= 0
        if not assigned.any() or (k is not None and len(np.unique(start[assigned])) < k):
            continue
        start[assigned] = canonical_labels(start[assigned])
        search.set(start, int(start.max()) + 1)
        scored.append((search.objective(), start))
    scored.sort(key=lambda each: -each[0])  # stable sort: the first one if tied
    return [start for _, start in scored[:n_best]]


def _descend(
    search: PartitionSearch, start: Ints, k: int | None, max_iter: int, order: Ints
) -> SearchResult | None:
    """Transfer and fuse from a start until no move raises the objective; None if it has too few clusters."""
    search.set(np.ascontiguousarray(start, dtype=np.int64), int(start.max()) + 1)
    if k is not None:
        if search.n_clusters < k:
            return None
        if search.n_clusters > k:
            search.fuse(k)
        if search.n_clusters > k:  # the remaining clusters must be kept apart
            return None
    elif len(start) == search.n_clusters <= _FUSED:
        search.fuse(0)
    converged, n_iter = False, 0
    while not converged and n_iter < max_iter:
        rounds("passes", n_iter, max_iter)
        n_iter += 1
        converged = not sweep(search, order)
        if converged and k is None and search.n_clusters <= _FUSED:
            converged = search.fuse(0) == 0
    labels = np.empty(len(start), dtype=np.int64)
    search.read(labels)
    if (labels < 0).any():  # every cluster has a unit that these must be kept apart from
        return None
    labels = canonical_labels(labels)
    # Recomputed to remove the rounding errors of many moves.
    search.set(labels, int(labels.max()) + 1)
    return SearchResult(labels, search.objective(), n_iter, converged)


def sweep(search: PartitionSearch | ResemblanceSearch, order: Ints) -> int:
    """Visit all units once; return the number of moves."""
    moves = 0
    for begin in range(0, len(order), _VISITS):
        moves += search.transfer(np.ascontiguousarray(order[begin : begin + _VISITS]))
    return moves


def semi_average(ensemble: Ensemble, labels: NDArray[Any], together: Floats) -> float:
    """Sum the similarity of all pairs within clusters, including objects with themselves, per object."""
    weights = ensemble.column_weights * together
    k = int(labels.max()) + 1
    ones = np.ones(len(labels))
    member = sp.csr_array((ones, (labels, np.arange(len(labels)))), shape=(k, len(labels)))
    sums = member @ ensemble.indicator
    inside = sums.multiply(sums) @ weights
    return float((inside / np.bincount(labels, minlength=k)).sum())


def extended(evidence: Evidence, chosen: Ints, labels: Ints) -> SearchResult:
    """Assign the remaining units to the cluster with the most similar objects.

    Only clusters of several chosen units are considered, unchanged; units similar to none stay single.
    """
    m, k = len(evidence.mass), int(labels.max()) + 1
    start = np.full(m, -1)
    start[chosen] = labels
    size = np.bincount(labels, evidence.mass[chosen], minlength=k)
    compared = np.flatnonzero(np.bincount(labels, minlength=k) > 1)
    if len(compared) == 0:
        compared = np.arange(k)
    member = sp.csr_array((evidence.mass[chosen] / size[labels], (labels, chosen)), shape=(k, m))
    means = (member @ evidence.rows)[compared].toarray() * evidence.weights
    others = np.flatnonzero(start < 0)
    for begin in range(0, len(others), _VISITS):
        some = others[begin : begin + _VISITS]
        near = evidence.rows[some] @ means.T
        start[some] = np.where(near.max(axis=1) > 0, compared[near.argmax(axis=1)], k + some)
    whole = evidence.search("explained", None)
    start = canonical_labels(start)
    whole.set(start, int(start.max()) + 1)
    return SearchResult(start, whole.objective(), 1, True)


def least_squares_labels(
    ensemble: Ensemble,
    n_clusters: int,
    n_init: int,
    draw: np.random.Generator,
    counts: Ints | None = None,
) -> Ints:
    """Return the partition with at most `n_clusters` clusters that explains the ensemble best, as a start.

    `counts` is the number of times each object counts, by default once.
    """
    units = interchangeable(ensemble)
    if counts is not None:
        units = units.counted(counts)
    best = best_partition(
        ensemble,
        units,
        evidence_of(ensemble, units, np.ones(int(ensemble.offsets[-1])), 0.0),
        draw,
        sample(units, draw, n_clusters),
        criterion="averaged",
        n_clusters=n_clusters,
        n_init=n_init,
    )
    return best.labels[units.inverse]
