"""Votes of the clusters of an ensemble for the clusters of a consensus.

`votes` is a matrix (T, K): the vote of each of the T clusters of all partitions for each of the K
clusters of the consensus. A row of zeros abstains or, where its cluster was observed, is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._arrays.rows import ratio
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import PlacingClusterer
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import Derived
from conclust.ensemble.labels import indicator_of, missing_code
from conclust.spectra.gram import IndicatorProducts


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
