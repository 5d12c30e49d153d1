"""New objects among fitted ones: each a convex problem of its own against some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._labels import missing_code, noise_code
from conclust._random import spawn_generators
from conclust.consensus.probabilistic.pairwise import place_against
from conclust.divergences import Divergence
from conclust.ensemble import Ensemble

__all__ = ["Anchors"]

# New objects are placed against at most this many fitted ones.
_MOST = 2000
# New objects whose counts with the anchors are formed at once.
_AT_ONCE = 500


@dataclass
class Anchors:
    """Some of the fitted objects, drawn at random, with their labels and memberships."""

    indicator: sp.csr_array  # (anchors, clusters of all partitions), times the weights
    present: NDArray[np.float64]  # (anchors, partitions), times the weights
    membership: NDArray[np.float64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(
        cls, ensemble: Ensemble, membership: NDArray[np.float64], seed: np.random.SeedSequence
    ) -> Anchors:
        """Draw the anchors."""
        n, m = ensemble.shape
        (chooser,) = spawn_generators(seed, 1)
        chosen = np.sort(chooser.permutation(n)[:_MOST])
        few = ensemble._some(chosen)
        weights = np.ones(m) if ensemble.weights is None else ensemble.weights
        present = (few.codes != missing_code(few.codes.dtype)) * weights
        scale = np.repeat(weights, np.diff(ensemble.offsets))
        return cls(
            sp.csr_array(few.indicator.multiply(scale)),
            present,
            membership[chosen],
            np.asarray(ensemble.offsets),
        )

    def reorder(self, order: NDArray[np.int64]) -> None:
        """Put the clusters in another order."""
        self.membership = np.ascontiguousarray(self.membership[:, order])

    def place(self, codes: NDArray[Any], divergence: Divergence, tol: float) -> NDArray[np.float64]:
        """Return the memberships of new objects from their codes."""
        parts = [
            place_against(
                *self._evidence(codes[begin : begin + _AT_ONCE]), self.membership, divergence, tol
            )
            for begin in range(0, len(codes), _AT_ONCE)
        ]
        return np.concatenate(parts)

    def _evidence(self, codes: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        labelled = codes < noise_code(codes.dtype)
        columns = (codes.astype(np.int64) + self.offsets[:-1])[labelled]
        starts = np.concatenate([[0], np.cumsum(labelled.sum(axis=1))])
        new = sp.csr_array(
            (np.ones(len(columns)), columns, starts), shape=(len(codes), int(self.offsets[-1]))
        )
        c = (new @ self.indicator.T).toarray()
        N = (codes != missing_code(codes.dtype)).astype(np.float64) @ self.present.T
        return np.minimum(c, N), N
