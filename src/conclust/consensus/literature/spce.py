"""SPCE: a graph close to all partitions whose components are the clusters, learned from certain pairs first."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from conclust._arrays.rows import EqualRows, inverse_or_zero
from conclust._progress import stage, tracked
from conclust._random import RandomStateLike, generator, seed_sequence, spawn_sequences
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_dense
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.graph.kmeans import Points, kmeans_labels
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import DistinctRows, Ensemble, with_weight
from conclust.ensemble.labels import over_partitions
from conclust.evidence import evidence
from conclust.spectra.bipartite import some_eigenpairs
from conclust.spectra.transfer_cut import graph_embedding
from conclust.trees.agglomeration import cut, linkage_of

# Pairs count in full from a co-association at least as far from 1/2 as this, stage by stage.
_STAGES = (0.9, 0.8, 0.7, 0.6, 0.5)
_STEPS, _LAST_STEPS = 5, 20
# Minimum disagreement of a partition, relative to an equal share: without it the graph would become the first
# partition that it equals.
_LEAST_SHARE = 1e-3
_ROUNDING = 1e-12


@dataclass(eq=False, repr=False)
class SPCE(ConsensusClusterer):
    """Self-paced clustering ensemble.

    The method learns a sparse graph S of the objects that is near the co-membership matrices A_u of all partitions and has K
    connected components, first from pairs that most partitions agree on, and later from all pairs [1]_. Pairs that all
    partitions put together stay joined, and pairs that none puts together stay apart; a partition is weighted by the inverse of
    its disagreement with S.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. Required: ``fit`` refuses None.
    gamma : float, default=0.5
        Cost of an edge, non-negative: larger values make S sparser.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Seed of those starts.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters; fewer than K where there are fewer distinct rows of labels.
    n_components_ : int
        Number of components of the final S (each row is one if there are at most K distinct rows). If it is not K,
        the clusters differ from them: see Notes.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If there are more than 3,000 distinct rows of labels.

    See Also
    --------
    LWEA : reaches more on published ensembles, in less time.

    Notes
    -----
    Everything is computed on the distinct rows of labels with their counts, with the same result as on objects. The
    search may end with a number of components that is not K: fewer are cut into K by the normalised cut of
    S; more (no partition puts objects of them together) are joined by average linkage on the
    co-association. As published, a partition that equals S gets an infinite weight and wins for good; here no partition counts
    more than 1,000 times an equal share.

    Missing labels: disagreement, must and cannot are over the partitions that observed both objects. Weights
    of the partitions multiply theirs here, relative to the mean. O(n^3) time for n distinct rows, up to 40
    times.

    References
    ----------
    .. [1] P. Zhou, L. Du, X. Liu, Y.-D. Shen, M. Fan and X. Li, "Self-paced clustering ensemble", IEEE
       Transactions on Neural Networks and Learning Systems 32(4), 2021.

    Examples
    --------
    >>> from conclust import SPCE
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = SPCE(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_, model.n_components_
    (array([0, 0, 1, 1]), 2)
    """

    n_components_: int = field(init=False)

    max_dense: ClassVar[int] = 3000
    method = Method(
        title="Self-paced clustering ensemble",
        n_clusters="exact",
        soft_members=False,
        cost="n^3",
        citation="Zhou, Du, Liu, Shen, Fan and Li 2021, IEEE TNNLS 32",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    gamma: float = 0.5
    random_state: RandomStateLike = None

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        embedding, starts = spawn_sequences(seed_sequence(self.random_state, "SPCE"), 2)
        ensemble = with_weight(ensemble)
        start = ensemble.distinct_rows(noise="apart")
        n, k = len(start), int(self.n_clusters)
        if n <= k:
            self.n_components_ = n
            return start.inverse
        instead = "LWEA or LWGP, which need no such matrix"
        check_dense(
            n, self.max_dense, "SPCE finds eigenvectors of a matrix of", instead, fixed=True
        )
        with one_library_thread():
            pairs = _Pairs(start)
            S = learned_graph(pairs, k, self.gamma)
            self.n_components_, parts = _components(S)
            if self.n_components_ == k:
                return parts[start.inverse]
            if self.n_components_ > k:
                return _joined(pairs, parts, k)
            graph = S * pairs.masses[:, None] * pairs.masses
            stage("embedding of the graph")
            rows = graph_embedding(graph, k, generator(embedding))
            points = Points(rows, pairs.masses)
            return kmeans_labels(points, k, starts)[start.inverse]


class _Pairs:
    """Pairs of distinct rows, together or apart in each partition, weighted by their objects."""

    def __init__(self, start: DistinctRows) -> None:
        self.start, self.rows = start, start.ensemble
        self.masses = start.masses
        weights = self.rows.partition_weights
        self.weights = weights / weights.mean()
        self.both = np.outer(self.masses, self.masses)
        np.fill_diagonal(self.both, 0.0)  # a row and itself always agree
        self.present = self.rows.present.astype(np.float64) if self.rows.has_missing else None
        observed = self._observed(self.both) / (self.both.sum() or 1.0)
        # A partition that observed no pair disagrees with none.
        self.shares = inverse_or_zero(np.sqrt(observed))
        counts, copresence = self.evidence(self.weights)
        self.apart = counts == 0.0
        self.together = (counts >= copresence * (1.0 - _ROUNDING)) & ~self.apart
        self.coassociation = np.divide(counts, copresence, out=counts, where=~self.apart)

    def evidence(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the sums over the partitions that put a pair together, and that observed it."""
        counts, copresence = evidence(self.rows.reweighted(weights), max_dense=None)
        diagonal = np.arange(len(counts))
        copresence[diagonal, diagonal] = counts[diagonal, diagonal] = float(weights.sum())
        return counts, copresence

    def disagreements(self, S: Floats, W: Floats) -> Floats:
        """Return the norms of (S - A_u) o W over the objects, as if all partitions observed all."""
        weighed = W * W * self.both
        total = self._observed(weighed * S * S)
        B = self.rows.indicator
        inside = B.multiply((B.T @ (weighed * (1.0 - 2.0 * S))).T).sum(axis=0)
        total += over_partitions(np.asarray(inside).ravel(), self.rows.offsets)
        return np.sqrt(np.maximum(total, 0.0)) * self.shares

    def _observed(self, M: Floats) -> Floats:
        """Return the sum of M over the pairs that each partition observed."""
        if self.present is None:
            return np.full(len(self.weights), M.sum())
        return np.asarray((self.present * (M @ self.present)).sum(axis=0))


def learned_graph(pairs: _Pairs, k: int, gamma: float) -> Floats:
    """Return S of the distinct rows, with k components if the search ends there.

    Parameters
    ----------
    pairs : _Pairs
        The partitions.
    k : int
        Number of components to find.
    gamma : float
        Cost of an edge.
    """
    S, weights = pairs.coassociation.copy(), pairs.weights
    total = float(weights.sum())
    shares = np.full(len(weights), 1.0 / total)
    if _components(S)[0] >= k:  # pairs that no partition puts together stay apart
        return S
    F, strength, cost = _smoothest(S, pairs.masses, k), 1.0, np.sqrt(gamma)
    stage("learning the graph")
    for q in tracked(_STAGES, "paces"):
        Q, R = pairs.evidence(weights / shares)
        spread = S * S * R - 2.0 * S * Q + Q
        W = np.ones_like(S)
        pace = q * (1.0 - q) * total**2
        np.divide(pace, spread, out=W, where=spread > pace)
        for step in range(_LAST_STEPS if q == _STAGES[-1] else _STEPS):
            Q, R = pairs.evidence(weights / shares)
            squares = (F * F).sum(axis=1)
            distances = np.maximum(squares[:, None] + squares - 2.0 * (F @ F.T), 0.0)
            S = Q - strength * distances / (2.0 * W * W)
            np.divide(S, R, out=S, where=R > 0)
            S[np.sqrt(R) * W * S < cost] = 0.0
            S = np.clip(0.5 * (S + S.T), 0.0, 1.0)
            S[pairs.together] = 1.0
            S[pairs.apart] = 0.0
            before, F = F, _smoothest(S, pairs.masses, k)
            disagreements = pairs.disagreements(S, W)
            least = _LEAST_SHARE / total
            shares = np.full(len(weights), 1.0 / total)
            if disagreements.any():
                shares = np.maximum(disagreements / float(weights @ disagreements), least)
            n_components = _components(S)[0]
            if n_components < k:
                strength *= 2.0
            elif n_components > k:
                strength, F = strength / 2.0, before
            elif step:
                break
    return S


def _components(S: Floats) -> tuple[int, Ints]:
    count, parts = connected_components(sp.csr_array(S), directed=False)
    return int(count), parts.astype(np.int64)


def _smoothest(S: Floats, masses: Floats, k: int) -> Floats:
    """Return the k eigenvectors of the Laplacian of all objects that change least along S, on the rows."""
    root = np.sqrt(masses)
    L = np.diag(S @ masses) - S * root[:, None] * root
    return np.asarray(some_eigenpairs(L, 0, k)[1] / root[:, None])


def _joined(pairs: _Pairs, parts: Ints, k: int) -> Ints:
    """Join components into k clusters of objects by average linkage on the co-association."""
    groups = EqualRows.of(parts[pairs.start.inverse][:, None])
    member = np.eye(len(groups))[groups.inverse[pairs.start.first]] * pairs.masses[:, None]
    sums = member.T @ pairs.coassociation @ member
    D = 1.0 - sums / np.outer(groups.masses, groups.masses)
    np.fill_diagonal(D, 0.0)
    return cut(linkage_of(D, groups, "average"), k)
