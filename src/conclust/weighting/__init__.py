"""Weights for the partitions of an ensemble, selections of partitions, and coarser partitions.

Weights go to ``Ensemble.reweighted``, selections (indices, in increasing order) to
``Ensemble.subset(partitions=...)``; every consensus takes the resulting ensemble. ``coarsen`` merges the clusters of partitions.
"""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
