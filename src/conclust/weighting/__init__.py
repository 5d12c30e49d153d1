"""Weights for the partitions of an ensemble, selections of partitions, and coarser partitions.

Weights go to ``Ensemble.reweighted``, selections (indices, in increasing order) to
``Ensemble.subset(partitions=...)``; every consensus takes the resulting ensemble. ``coarsen`` merges the clusters of partitions.
"""

from conclust.weighting.granularity import coarsen
from conclust.weighting.relevance import relevance_weights
from conclust.weighting.selection import (
    cluster_and_select,
    joint_criterion,
    moderate_diversity,
    resampled_selection,
)
from conclust.weighting.similarity import degenerate_partitions
from conclust.weighting.stability import perturbed_stability
from conclust.weighting.weights import agreement_weights, certainty_weights, validity_weights

__all__ = [
    "agreement_weights",
    "certainty_weights",
    "cluster_and_select",
    "coarsen",
    "degenerate_partitions",
    "joint_criterion",
    "moderate_diversity",
    "perturbed_stability",
    "relevance_weights",
    "resampled_selection",
    "validity_weights",
]
