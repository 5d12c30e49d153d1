"""Placement of objects that were not fitted: by sums over clusters, by landmarks, or by fitted objects."""

from __future__ import annotations

import numpy as np

from conclust._random import spawn_generators
from conclust._types import Floats
from conclust.consensus.probabilistic.placements.anchors import Anchors
from conclust.consensus.probabilistic.placements.factored_model import FactoredModel
from conclust.consensus.probabilistic.placements.landmarks import LandmarkModel
from conclust.consensus.probabilistic.problem import Placement, Problem, Run

__all__ = ["Anchors", "FactoredModel", "LandmarkModel", "placement_of"]

# New objects are placed against at most this many fitted ones.
_ANCHORS = 2000


def placement_of(problem: Problem, membership: Floats, run: Run) -> Placement:
    """Keep some of the fitted objects, against which new ones are placed."""
    (chooser,) = spawn_generators(run.seed, 1)
    chosen = np.sort(chooser.permutation(problem.ensemble.n_samples)[:_ANCHORS])
    few = problem.ensemble.part(chosen)
    if problem.divergence._kernel is None:
        return Anchors.of(few, membership[chosen], problem.divergence)
    return LandmarkModel.of(few, membership[chosen], problem.divergence)
