"""Placement of new objects: each is a separate convex problem against some of the fitted ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._random import spawn_generators
from conclust._types import Floats, Ints
from conclust.consensus.probabilistic.descent import place_against
from conclust.consensus.probabilistic.placements.landmarks import LandmarkModel
from conclust.consensus.probabilistic.problem import Placement, Problem, Run
from conclust.divergences import Divergence
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import indicator_of, missing_code

# Number of new objects per block when their counts with the anchors are formed.
_AT_ONCE = 500
# New objects are placed against at most this many fitted ones.
_ANCHORS = 2000


@dataclass(frozen=True)
class Anchors:
    """Some of the fitted objects with their labels and memberships, for a user's divergence."""

    indicator: sp.csr_array  # (anchors, clusters of all partitions), times the weights
    present: Floats  # (anchors, partitions), times the weights
    membership: Floats
    offsets: Ints
    divergence: Divergence

    @classmethod
    def of(cls, few: Ensemble, membership: Floats, divergence: Divergence) -> Anchors:
        """Keep these objects."""
        present = few.present * few.partition_weights
        indicator = sp.csr_array(few.indicator.multiply(few.column_weights))
        return cls(indicator, present, membership, np.asarray(few.offsets), divergence)

    def reordered(self, clusters: Ints) -> Anchors:
        """Return the same with these clusters only, in this order."""
        return replace(self, membership=np.ascontiguousarray(self.membership[:, clusters]))

    def place(self, codes: NDArray[Any], tol: float, threads: int) -> Floats:
        """Return the memberships of new objects from their codes; `threads` is unused, but part of `Placement`."""
        parts = [
            place_against(
                *self._evidence(codes[begin : begin + _AT_ONCE]),
                self.membership,
                self.divergence,
                tol,
            )
            for begin in range(0, len(codes), _AT_ONCE)
        ]
        return np.concatenate(parts)

    def _evidence(self, codes: NDArray[Any]) -> tuple[Floats, Floats]:
        c = (indicator_of(codes, self.offsets) @ self.indicator.T).toarray()
        N = (codes != missing_code(codes.dtype)).astype(np.float64) @ self.present.T
        return np.minimum(c, N), N


def placement_of(problem: Problem, membership: Floats, run: Run) -> Placement:
    """Keep some of the fitted objects, against which new ones are placed."""
    (chooser,) = spawn_generators(run.seed, 1)
    chosen = np.sort(chooser.permutation(problem.ensemble.n_samples)[:_ANCHORS])
    few = problem.ensemble.part(chosen)
    if problem.divergence._kernel is None:
        return Anchors.of(few, membership[chosen], problem.divergence)
    return LandmarkModel.of(few, membership[chosen], problem.divergence)
