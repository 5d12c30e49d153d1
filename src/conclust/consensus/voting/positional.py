"""PositionalVoting: partitions rank the clusters for every object; Borda's and Condorcet's counts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from conclust._arrays.rows import shares_of_rows
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.voting.alignment import align
from conclust.consensus.voting.ballots import VotingClusterer, tally
from conclust.ensemble import Ensemble, Missing

Count: TypeAlias = Literal["borda", "condorcet"]

# Maximum number of values in memory: memberships of a block of objects in all partitions.
_BLOCK = 1 << 20
# A lead below this share of the weight of the observing partitions is a rounding error.
_ROUNDING = 1e-12


@dataclass(eq=False, repr=False)
class PositionalVoting(VotingClusterer):
    """Positional voting: every partition ranks the clusters for each object.

    The clusters of every partition are matched one to one with those of the consensus of
    :class:`conclust.Voting`, which does not depend on the order of the partitions. Each
    partition then ranks the clusters for an object by its memberships, and the rankings are counted
    as ballots [1]_.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters of the consensus, at most n_samples. Fewer are found if fewer win the vote of any object.
        Required: ``fit`` refuses None.
    count : {"borda", "condorcet"}, default="borda"
        "borda": the cluster at place t of a ranking gets K - t + 1 points; their sum counts.
        "condorcet": a cluster beats another one if more than half of the partitions that observed the
        object rank it higher; the clusters it beats count (Copeland's count). Clusters of equal
        membership share their places: the mean of the points, half a vote each.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the starts of the reference, the consensus of ``Voting``.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Cluster with the highest count, consecutive from 0 by first appearance; -1: missing in every
        partition.
    membership_ : ndarray of shape (n_samples, n_held)
        Counts divided by their sum; rows sum to 1. Uniform if no cluster beats another.
        A column for each cluster that is not empty; the clusters of ``labels_`` come first.
    votes_ : ndarray of shape (n_clusters_of_all_partitions, n_clusters)
        1 if a cluster of a partition (in the order of ``Ensemble.indicator``) stands for a cluster of the consensus: the
        columns of ``membership_``, then empty clusters.
    n_clusters_ : int
        Clusters found.
    n_features_in_ : int
        Number of partitions.

    Notes
    -----
    A hard partition ranks one cluster first and all others equally. Borda's count is then K/2 for each partition plus K/2 for
    each vote, and a cluster beats clusters with fewer votes. Both counts
    choose the cluster with the most votes, **plurality voting**, and so does
    :class:`conclust.Voting`. The methods differ for soft members only.

    A partition has no ballot for objects that it did not observe. Noise, and unmatched clusters of a partition with more than
    `n_clusters`, rank all clusters equally. Weights of the partitions multiply
    their ballots. O(n N K^2) for soft members, O(n (N + K^2)) for hard ones.

    References
    ----------
    .. [1] X. Sevillano, J. C. Socoró and F. Alías, "Fuzzy clusterers combination by positional
       voting for robust document clustering", Procesamiento del Lenguaje Natural 43, 2009.

    Examples
    --------
    >>> from conclust import PositionalVoting
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = PositionalVoting(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.membership_.round(3)
    array([[0.667, 0.333],
           [0.667, 0.333],
           [0.444, 0.556],
           [0.333, 0.667]])
    """

    method = Method(
        title="Positional voting (Borda, Condorcet)",
        n_clusters="exact",
        fewer=True,
        membership=True,
        soft_members=True,
        cost="n N^2 + n N K^2",
        citation="Sevillano, Socoró and Alías 2009, Proc. Leng. Nat. 43",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    count: Count = "borda"
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        seed = seed_sequence(self.random_state, "PositionalVoting")
        with one_library_thread():
            votes = align(
                ensemble,
                self.n_clusters,
                n_init=10,
                max_iter=100,
                tol=1e-8,
                generators=spawn_generators(seed, 10),
            )[0].votes
            self._keep(ensemble, votes)
            if not ensemble.is_soft:
                return self._count_votes(tally(ensemble, votes), ensemble.observed_weights)
            return self._count_ballots(ensemble, votes)

    def _count_votes(self, sums: Floats, observed_weight: Floats) -> Floats:
        """Count hard ballots, of which only the votes matter."""
        k = sums.shape[1]
        if self.count == "borda":
            # A vote ranks one cluster first and ties the other k - 1; a lost vote ties all k.
            lost = observed_weight - sums.sum(axis=1)
            rest = observed_weight[:, None] - lost[:, None] - sums
            return shares_of_rows(k * sums + k / 2.0 * rest + (k + 1) / 2.0 * lost[:, None])
        scores = np.zeros_like(sums)
        for a in range(k):
            for b in range(k):
                if a != b:
                    scores[:, a] += sums[:, a] - sums[:, b] > _ROUNDING * observed_weight
        return shares_of_rows(scores)

    def _count_ballots(self, ensemble: Ensemble, votes: Floats) -> Floats:
        m, k = ensemble.n_partitions, votes.shape[1]
        weights = ensemble.partition_weights
        # Columns (u, k) of memberships in the clusters as numbered in the consensus.
        matched = sp.csr_array(votes)
        partition_of = ensemble.column_partitions
        stands = np.repeat(np.arange(len(partition_of)), np.diff(matched.indptr))
        renamed = sp.csr_array(
            (np.ones(len(stands)), (stands, partition_of[stands] * k + matched.indices)),
            shape=(len(partition_of), m * k),
        )
        result = np.empty((ensemble.n_samples, k))
        step = max(1, _BLOCK // (m * k))
        for begin in range(0, ensemble.n_samples, step):
            rows = slice(begin, min(begin + step, ensemble.n_samples))
            values = (ensemble.indicator[rows] @ renamed).toarray().reshape(-1, m, k)
            result[rows] = self._count_block(values, ensemble.present[rows] * weights)
        return result

    def _count_block(self, values: Floats, weights: Floats) -> Floats:
        observed_weight = weights.sum(axis=1)
        k = values.shape[2]
        points = np.zeros((len(values), k))
        for a in range(k):
            if self.count == "borda":
                points[:, a] = observed_weight  # points for being ranked
            for b in range(k):
                if a == b:
                    continue
                higher = values[:, :, a] > values[:, :, b]
                level = values[:, :, a] == values[:, :, b]
                preferred = ((higher + 0.5 * level) * weights).sum(axis=1)
                if self.count == "borda":
                    points[:, a] += preferred
                else:
                    points[:, a] += preferred - observed_weight / 2.0 > _ROUNDING * observed_weight
        return shares_of_rows(points)

    def _read_votes(self, indicator: sp.csr_array, observed: Bools) -> Floats:
        sums = np.asarray(indicator @ (self._column_weights[:, None] * self.votes_))
        observed_weight = np.asarray(observed @ self._partition_weights, dtype=np.float64)
        # Empty clusters are ranked too: they count among the clusters that another one beats.
        return shares_of_rows(self._count_votes(sums, observed_weight)[:, : self._n_held])
