"""The method without required parameters: the ensemble determines the number of clusters and the tree."""

from conclust.consensus.auto.estimator import AutoConsensus

__all__ = ["AutoConsensus"]
