"""One-to-one matching of the clusters of partitions with the clusters of the consensus.

The squared distance of a consensus M to the partitions, rows matched by P_u::

    f = sum_u w_u sum_{i observed by u} |M_i - (P_u' b_ui)|^2

The best M (rows on the simplex) is the mean vote, with lost votes spread evenly. At this M, f depends on
the objects only through G = B' diag(1 / v) B (T, T), where v_i is the weight of the partitions that
observed object i: the cost of a step does not depend on n.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._arrays.rows import inverse_or_zero, ratio
from conclust._progress import tracked
from conclust._types import Floats, Ints
from conclust.consensus.voting.ballots import tally
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import Derived
from conclust.ensemble.labels import cluster_range, one_hot_rows
from conclust.measures.matching import assign
from conclust.spectra.gram import is_held

# Maximum total number of clusters for which G is a dense matrix (134 MB).
_DENSE = 4096
# A gain below this share of the total is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Alignment:
    """The matching of all partitions that a descent ended in.

    Attributes
    ----------
    votes : ndarray of shape (T, K)
        1 where a cluster is matched with a cluster of the consensus. Rows of zeros: unmatched.
    objective : float
        The squared distance f.
    converged : bool
        Whether no partition changed its matching.
    trace : list of float
        f at the start and after every sweep.
    start : ndarray of shape (T, K)
        Initial votes of the descent.
    """

    votes: Floats
    objective: float
    converged: bool
    trace: list[float]
    start: Floats


class _Table:
    """The quantities of an ensemble that the descent reads."""

    def __init__(self, ensemble: Ensemble, n_clusters: int) -> None:
        self.k = n_clusters
        self.offsets = ensemble.offsets
        self.weights = ensemble.partition_weights
        self.per_cluster = ensemble.column_weights
        # Total weight of the partitions over the objects that they observed.
        self.observed_weight = float(ensemble.observed_counts @ self.weights)
        self.sizes = ensemble.cluster_sizes
        self.squares = _squared_lengths(ensemble)
        self.overlaps: Any = None
        self.gram: Any = None
        # If B'B is large, its products are computed with B and B', one after the other.
        self.held, self.soft = is_held(ensemble), ensemble.is_soft
        if not self.held:
            self.B = ensemble.indicator
            self.clusters = sp.csr_array(self.B.T)
            self.inverse = inverse_weights(ensemble)
            return
        self.overlaps = _dense(ensemble.gram)
        if not ensemble.has_missing:
            self.gram = self.overlaps / float(self.weights.sum())
        else:
            self.gram = _dense(inverse_gram(ensemble))

    def block(self, u: int) -> slice:
        return cluster_range(self.offsets, u)

    def shared(self, votes: Floats) -> Floats:
        """Return the overlap of each cluster with each cluster of the consensus (T, K)."""
        cast = self.per_cluster[:, None] * votes
        if self.held:
            return np.asarray(self.gram @ cast)
        return np.asarray(self.clusters @ (self.inverse[:, None] * (self.B @ cast)))

    def overlap(self, u: int, chosen: Floats) -> Floats:
        """Return the number of objects that each cluster shares with combinations of the clusters of u (T, .)."""
        if self.held:
            return np.asarray(self.overlaps[:, self.block(u)] @ chosen)
        return np.asarray(self.clusters @ (self._members(u) @ chosen))

    @cached_property
    def own(self) -> list[Any]:
        """The block of each partition with itself, objects counted by the inverse of the weight that observed them."""
        blocks = [self.block(u) for u in range(len(self.weights))]
        if self.held:
            return [self.gram[block, block] for block in blocks]
        if self.soft:
            members = [self._members(u) for u in range(len(self.weights))]
            return [(B.T @ B.multiply(self.inverse[:, None])).toarray() for B in members]
        # Clusters of one partition are disjoint.
        diagonal = np.asarray(self.clusters @ self.inverse)
        return [np.diag(diagonal[block]) for block in blocks]

    def effect(self, u: int, change: Floats) -> Floats:
        """Return the change of `shared` for a change of the weighted votes of u."""
        if self.held:
            return np.asarray(self.gram[:, self.block(u)] @ change)
        moved = self.inverse[:, None] * (self._members(u) @ change)
        return np.asarray(self.clusters @ moved)

    def _members(self, u: int) -> Any:
        return self.clusters[self.block(u)].T

    def objective(self, votes: Floats, shared: Floats) -> float:
        """Return f at the best M for these votes."""
        cast = self.per_cluster[:, None] * votes
        self_votes = float(self.per_cluster @ (self.squares * votes.sum(axis=1)))
        total = cast.sum(axis=1)
        explained = float(np.sum(cast * shared))
        constant = float(total @ shared.sum(axis=1))
        # With M_i = mean_i + (1 - sum of mean_i) / K: f = own - explained + (lost votes)^2 / K.
        lost = self.observed_weight - 2.0 * float(total @ self.sizes) + constant
        return max(self_votes - explained + lost / self.k, 0.0)


def _squared_lengths(ensemble: Ensemble) -> Floats:
    """Return the squared lengths of the columns of B: the sizes of clusters, for hard partitions."""
    if not ensemble.is_soft:
        return np.asarray(ensemble.cluster_sizes)
    B = ensemble.indicator
    return np.asarray(B.multiply(B).sum(axis=0), dtype=np.float64)


def inverse_weights(ensemble: Derived) -> Floats:
    """Return one over the weight that observed each object; 0 where there is none."""
    return inverse_or_zero(ensemble.observed_weights)


def inverse_gram(ensemble: Ensemble) -> sp.csr_array:
    """Return B' diag(1 / v) B, v the weight that observed each object."""
    B = ensemble.indicator
    return sp.csr_array(B.T @ (sp.diags_array(inverse_weights(ensemble)) @ B))


def _dense(matrix: sp.csr_array) -> Any:
    return matrix.toarray() if matrix.shape[0] <= _DENSE else matrix


def align(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    n_init: int,
    max_iter: int,
    tol: float,
    generators: list[np.random.Generator],
) -> list[Alignment]:
    """Match all partitions from several starts; the best alignment first.

    The first starts are partitions of the ensemble, drawn without repetition; when there are no
    more of them, random matchings. Each descent matches one partition after the other as is best
    given all others, until none changes.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    n_clusters : int
        K.
    n_init : int
        Starts.
    max_iter : int
        Maximum number of sweeps of each.
    tol : float
        Stop when a sweep lowers f by less than this share of it.
    generators : list of Generator
        A generator for each start; the first one also draws the partitions.
    """
    table = _Table(ensemble, n_clusters)
    m = ensemble.n_partitions
    # Drawn at random regardless of the weights, but a partition of weight 0 is never a start.
    candidates = generators[0].permutation(np.flatnonzero(table.weights))
    alignments = []
    for start in tracked(range(n_init), "starts"):
        if start < len(candidates):
            votes = _start_from(table, int(candidates[start]), m)
        else:
            votes = _random_votes(table, m, generators[start])
        alignments.append(_descend(table, votes, m, max_iter, tol))
    # Objectives that differ by rounding only are equal: of these starts the first is the best.
    least = min(one.objective for one in alignments)
    equal = least + _ROUNDING * table.observed_weight
    return sorted(alignments, key=lambda one: max(one.objective, equal))


def match_to_first(ensemble: Ensemble, n_clusters: int) -> Floats:
    """Match every partition to the largest clusters of the first one; return the votes (T, K)."""
    return _start_from(_Table(ensemble, n_clusters), 0, ensemble.n_partitions)


def _start_from(table: _Table, u: int, m: int) -> Floats:
    """Match every partition to the largest clusters of partition u."""
    self_block = table.block(u)
    largest = np.argsort(-table.sizes[self_block], kind="stable")[: table.k]
    reference = np.zeros((self_block.stop - self_block.start, table.k))
    reference[largest, np.arange(len(largest))] = 1.0
    shared = table.overlap(u, reference)
    votes = np.zeros((len(table.sizes), table.k))
    for v in range(m):
        block = table.block(v)
        benefit = 2.0 * shared[block] - table.squares[block, None]
        votes[block] = one_hot_rows(assign(benefit), table.k)
    votes[self_block] = reference
    return votes


def _random_votes(table: _Table, m: int, rng: np.random.Generator) -> Floats:
    votes = np.zeros((len(table.sizes), table.k))
    for v in range(m):
        block = table.block(v)
        votes[block] = one_hot_rows(
            assign(rng.random((block.stop - block.start, table.k))), table.k
        )
    return votes


def _descend(table: _Table, votes: Floats, m: int, max_iter: int, tol: float) -> Alignment:
    start = votes.copy()
    scale = table.observed_weight
    shared = table.shared(votes)
    value = table.objective(votes, shared)
    blocks = [table.block(u) for u in range(m)]
    # The rest of G is needed only when a partition changes, and few do.
    self_blocks = table.own
    trace = [value]
    converged = False
    while not converged and len(trace) <= max_iter:
        moved = False
        for u, block in enumerate(blocks):
            benefit = _benefit(table, self_blocks[u], votes[block], shared[block], u)
            change = one_hot_rows(assign(benefit), table.k) - votes[block]
            if float((benefit * change).sum()) > _ROUNDING * scale:
                votes[block] += change
                shared += table.effect(u, table.weights[u] * change)
                moved = True
        shared = table.shared(votes)
        reached = table.objective(votes, shared)
        converged = not moved or value - reached <= tol * max(value, _ROUNDING * scale)
        value = reached
        trace.append(value)
    return Alignment(votes, value, converged, trace, start)


def _benefit(table: _Table, own: Any, votes: Floats, shared: Floats, u: int) -> Floats:
    """Return the benefit of matching each cluster of u to each cluster of the consensus.

    If u has no more clusters than the consensus, all are matched. Their own contribution to M is
    then the same for every matching, and only the votes of the other partitions decide. Where u has
    more, unmatched clusters change the lost votes, and M stays fixed while u is matched again. Neither
    ever raises f.
    """
    if len(votes) <= table.k:
        return np.asarray(2.0 * (shared - own @ (table.weights[u] * votes)))
    block = table.block(u)
    lost = table.sizes[block] - shared.sum(axis=1)
    return np.asarray(2.0 * (shared + lost[:, None] / table.k) - table.squares[block, None])


def harden(ensemble: Ensemble, starts: list[Floats], *, max_iter: int) -> tuple[Alignment, Floats]:
    """Descend from votes with M restricted to partitions; return the best alignment and its M."""
    table = _Objects(ensemble)
    alignments = [_descend_hard(table, votes, max_iter) for votes in starts]
    return min(alignments, key=lambda pair: pair[0].objective)


class _Objects:
    """The quantities of an ensemble that the descent over the objects reads."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.B = ensemble.indicator
        self.clusters = sp.csr_array(self.B.T)
        self.squares = np.asarray(self.B.multiply(self.B).sum(axis=0), dtype=np.float64)
        self.weights = ensemble.column_weights[:, np.newaxis]
        self.observed_weight = float(ensemble.observed_weights.sum())
        ends = ensemble.offsets.tolist()
        self.blocks = [slice(*block) for block in pairwise(ends)]


def _descend_hard(table: _Objects, votes: Floats, max_iter: int) -> tuple[Alignment, Floats]:
    start, k = votes, votes.shape[1]
    rows = np.arange(table.B.shape[0])
    trace: list[float] = []
    while True:
        cast = table.weights * votes
        sums = table.B @ cast
        winners = sums.argmax(axis=1)
        M = one_hot_rows(winners, k)
        self_votes = float(table.squares @ cast.sum(axis=1))
        value = max(
            table.observed_weight - 2.0 * float(sums[rows, winners].sum()) + self_votes, 0.0
        )
        converged = bool(trace) and value >= trace[-1] - _ROUNDING * max(value, 1.0)
        trace.append(value)
        if converged or len(trace) > max_iter:
            return Alignment(votes, value, converged, trace, start), M
        benefit = 2.0 * (table.clusters @ M) - table.squares[:, np.newaxis]
        votes = np.concatenate([one_hot_rows(assign(benefit[u]), k) for u in table.blocks])


def squared_distance(ensemble: Ensemble, votes: Floats, membership: Floats) -> float:
    """Return f of a consensus for given votes (0 or 1, at most one 1 in a row)."""
    observed_weight = ensemble.observed_weights
    squares = _squared_lengths(ensemble)
    weights = ensemble.column_weights
    self_votes = float(weights @ (squares * votes.sum(axis=1)))
    cross = float(np.sum(tally(ensemble, votes) * membership))
    length = float(observed_weight @ np.einsum("ik,ik->i", membership, membership))
    return max(length - 2.0 * cross + self_votes, 0.0)


def one_pass(ensemble: Ensemble, n_clusters: int, order: Ints) -> Floats:
    """Match one partition after the other to the mean of the earlier ones; return the votes (T, K).

    The pass has the number of clusters of the largest partition, and at least `n_clusters`; the
    `n_clusters` clusters with the most votes are kept.
    """
    k = max(n_clusters, int(ensemble.cluster_counts.max()))
    weights = ensemble.partition_weights
    B = ensemble.indicator.tocsc()
    votes = np.zeros((B.shape[1], k))
    sums = np.zeros((ensemble.n_samples, k))
    observed_weight = np.zeros(ensemble.n_samples)
    for position, u in enumerate(order):
        block = cluster_range(ensemble.offsets, u)
        part = B[:, block]
        if position == 0:
            votes[block, : part.shape[1]] = np.eye(part.shape[1])
        else:
            mean = sums
            if ensemble.has_missing:
                mean = ratio(sums, observed_weight[:, None])
            votes[block] = one_hot_rows(assign(np.asarray(part.T @ mean)), k)
        if weights[u] > 0:
            sums += weights[u] * np.asarray(part @ votes[block])
            observed_weight += weights[u] * ensemble.present[:, u]
    leading = np.argsort(-sums.sum(axis=0), kind="stable")[:n_clusters]
    return np.ascontiguousarray(votes[:, np.sort(leading)])
