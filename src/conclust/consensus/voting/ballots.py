"""Votes of the clusters of an ensemble for the clusters of a consensus.

`votes` is a matrix (T, K): the vote of each of the T clusters of all partitions for each of the K
clusters of the consensus. A row of zeros abstains or, where its cluster was observed, is lost.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._arrays.rows import ratio
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import PlacingClusterer
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import Derived
from conclust.ensemble.labels import (
    cluster_range,
    indicator_of,
    missing_code,
    noise_code,
    one_hot_rows,
)
from conclust.measures.matching import assign
from conclust.spectra.gram import IndicatorProducts

Scheme: TypeAlias = Literal["urcv", "rcv", "acv", "cvote", "bvote", "lwcv"]

FIXED = ("urcv", "rcv")


def tally(ensemble: Ensemble, votes: Floats) -> Floats:
    """Return the weighted sum of the votes on each object (n, K)."""
    return IndicatorProducts.of(ensemble).times(ensemble.column_weights[:, None] * votes)


def spread(sums: Floats, observed_weight: Floats) -> Floats:
    """Divide sums of votes by the weight of the partitions that observed the object; lost votes are spread evenly.

    This is the point of the simplex nearest to the mean vote: the sums are at least 0, and a row
    of them is at most the weight that observed the object.
    """
    shares = ratio(sums, observed_weight[:, None])
    shares += np.maximum(1.0 - shares.sum(axis=1, keepdims=True), 0.0) / sums.shape[1]
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


class VotingClusterer(PlacingClusterer):
    """Base of the voting estimators: keeps the votes of all clusters, and counts them for new objects.

    The votes for clusters of the consensus that hold nothing come last: they are counted, but
    memberships have no column for them.
    """

    votes_: Floats
    _n_held: int
    _partition_weights: Floats
    _column_weights: Floats
    _offsets: Ints

    def _read_votes(self, indicator: sp.csr_array, observed: Bools) -> Floats:
        """Return the memberships of new objects from the indicator of their labels: the mean of the votes, noise abstains."""
        voting = self._column_weights * (self.votes_.sum(axis=1) > 0)
        return self._mean_votes(indicator, np.asarray(indicator @ voting))

    def _keep(self, ensemble: Derived, votes: Floats, certainty: Floats | None = None) -> None:
        self.votes_ = votes
        self._partition_weights = ensemble.partition_weights
        self._column_weights = ensemble.column_weights
        if certainty is not None:
            self._column_weights = self._column_weights * certainty
        self._offsets = ensemble.offsets

    def _keep_clusters(self, clusters: Ints) -> None:
        self._n_held = len(clusters)
        self.votes_ = np.ascontiguousarray(self.votes_[:, self._all_clusters(clusters)])

    def _all_clusters(self, clusters: Ints) -> Ints:
        """Return the clusters kept, then the others."""
        return np.concatenate([clusters, np.setdiff1d(np.arange(self.votes_.shape[1]), clusters)])

    def _fits(self, counts: Ints) -> bool:
        return (
            np.array_equal(self._offsets, starts_of(counts))
            and 0 < self._n_held == self.membership_.shape[1] <= self.votes_.shape[1]
            and holds(self.votes_, counts.sum(), self.votes_.shape[1])
            and holds(self._column_weights, counts.sum())
            and holds(self._partition_weights, len(counts))
        )

    def _place(self, codes: NDArray[Any]) -> Floats:
        observed = np.asarray(codes != missing_code(codes.dtype))
        return self._read_votes(indicator_of(codes, self._offsets), observed)

    def _mean_votes(self, indicator: sp.csr_array, observed_weight: Floats) -> Floats:
        votes = self.votes_[:, : self._n_held]
        return spread(
            np.asarray(indicator @ (self._column_weights[:, None] * votes)), observed_weight
        )


def reference_clusters(ensemble: Derived, order: Ints, scheme: Scheme) -> int:
    """Return the number of clusters that receive votes."""
    counts = ensemble.cluster_counts
    return max(1, int(counts.max() if scheme == "bvote" else counts[order[0]]))


def votes_of_reference(columns: slice, k: int) -> Floats:
    """Return the votes of the reference's clusters, each for itself."""
    return np.eye(columns.stop - columns.start, k)


def votes_for(shared: Floats, observed: Floats, sizes: Floats, scheme: Scheme) -> Floats:
    """Return the votes of some clusters; rows of zeros have no shared objects.

    Parameters
    ----------
    shared : ndarray of shape (T_u, k)
        Mass of each cluster in each cluster of the reference; overwritten.
    observed : ndarray of shape (T_u,)
        Number of its objects with a place in the reference.
    sizes : ndarray of shape (k,)
        Mass of all objects in each cluster of the reference.
    scheme : {"urcv", "rcv", "acv", "cvote", "bvote", "lwcv"}
        Voting scheme.
    """
    if scheme == "bvote":
        votes = one_hot_rows(assign(shared), shared.shape[1])
        votes[observed == 0] = 0.0
        return votes
    if scheme == "rcv":
        np.divide(shared, sizes, out=shared, where=sizes > 0)
    total = shared.sum(axis=1, keepdims=True)
    np.divide(shared, total, out=shared, where=total > 0)
    return shared


def merge_columns(values: Floats, numbers: Ints, k: int) -> Floats:
    """Add up the columns that have one number, of k."""
    merged = np.zeros((len(values), k))
    for source, target in enumerate(numbers):
        merged[:, target] += values[:, source]
    return merged


class Count:
    """The mean votes on some objects, counted one partition after the other.

    Parameters
    ----------
    ensemble : Ensemble
        The objects.
    k : int
        Clusters of the reference.
    fixed : bool, default=False
        Whether partitions vote for the first one counted rather than for the mean of the previous ones.
    certainty : ndarray of shape (T,), default=None
        Weight of the vote of each cluster, multiplied by the weight of its partition; noise then has no vote. None:
        all equal.

    Attributes
    ----------
    means : ndarray of shape (n, k)
        The mean votes of the partitions counted.
    weight : ndarray of shape (n,)
        Total weight of the partitions that voted on the object.
    """

    def __init__(
        self, ensemble: Ensemble, k: int, *, fixed: bool = False, certainty: Floats | None = None
    ) -> None:
        self.ensemble, self.k, self.fixed, self.certainty = ensemble, k, fixed, certainty
        n = ensemble.n_samples
        self.means, self.weight = np.zeros((n, k)), np.zeros(n)
        self._first: tuple[Floats, Floats] | None = None
        self._columns = ensemble.indicator.tocsc() if ensemble.is_soft else None

    def carry_on(self, means: Floats, weight: Floats) -> None:
        """Continue a count that is not fixed from its previous state."""
        self.means, self.weight, self._first = means, weight, (means, weight)

    @property
    def reference(self) -> tuple[Floats, Floats]:
        """Reference of the votes, (n, k), and a positive number for objects that have a cluster in it, (n,)."""
        if self.fixed and self._first is not None:
            return self._first
        return self.means, self.weight

    def members(self, u: int) -> sp.csr_array:
        """Return the indicator of the clusters of a partition, (n, T_u)."""
        columns = cluster_range(self.ensemble.offsets, u)
        if self._columns is not None:
            return sp.csr_array(self._columns[:, columns])
        offsets = np.array([0, columns.stop - columns.start])
        return indicator_of(np.ascontiguousarray(self.ensemble.codes[:, u : u + 1]), offsets)

    def shared(self, u: int) -> tuple[Floats, Floats, Floats]:
        """Return the arguments of `votes_for` for a partition: shared objects, known objects, all sizes."""
        target, weight = self.reference
        part, observed = self.members(u), weight > 0
        whole = observed.all()
        shared = np.asarray(part.T @ (target if whole else target * observed[:, None]))
        sizes = (target if whole else target[observed]).sum(axis=0)
        return shared, np.asarray(part.T @ observed.astype(np.float64)), sizes

    def add(self, u: int, votes: Floats) -> None:
        """Count the votes of the clusters of a partition; the first one is the reference."""
        weight = float(self.ensemble.partition_weights[u])
        part = self.members(u)
        voters = (votes.sum(axis=1) > 0).astype(np.float64)
        if self.certainty is not None:
            voters *= self.certainty[cluster_range(self.ensemble.offsets, u)]
            votes = voters[:, None] * votes
        partition_votes = np.asarray(part @ votes)
        counted = np.asarray(part @ voters)
        begun = self._first is not None
        if self.ensemble.has_noise and self.certainty is None:
            alone = self.ensemble.codes[:, u] == noise_code(self.ensemble.codes.dtype)
            if begun:
                target, observed = self.reference
                alone &= observed > 0
                partition_votes[alone] = target[alone]
            else:
                partition_votes[alone] = 1.0 / self.k
            counted[alone] = 1.0
        if begun:
            if weight > 0:
                _blend(self.means, self.weight, partition_votes, counted, weight)
            return
        if self.certainty is not None:
            np.divide(
                partition_votes, counted[:, None], out=partition_votes, where=counted[:, None] > 0
            )
        # A fixed reference includes the objects that it observed, whatever its weight.
        self._first = (
            (partition_votes.copy(), counted) if self.fixed else (partition_votes, counted)
        )
        self.means, self.weight = partition_votes, weight * counted

    def mean(self) -> Floats:
        """Return the mean votes, in rows that sum to 1; the memory is reused."""
        U, nowhere = self.means, self.weight == 0
        if nowhere.any():
            U[nowhere] = 1.0 / self.k
        U /= U.sum(axis=1, keepdims=True)
        return U


def _blend(
    U: Floats, observed_weight: Floats, changes: Floats, counted: Floats, weight: float
) -> None:
    """Move the running means U, of weight `observed_weight`, by the votes of one more partition."""
    observed_weight += weight * counted
    share = np.zeros_like(observed_weight)
    np.divide(weight, observed_weight, out=share, where=observed_weight > 0)
    changes -= counted[:, None] * U
    changes *= share[:, None]
    U += changes
