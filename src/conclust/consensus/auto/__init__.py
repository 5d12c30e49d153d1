"""The method that needs no choice: the ensemble shows the number of clusters and the tree."""

from conclust.consensus.auto.estimator import AutoConsensus

__all__ = ["AutoConsensus"]
