"""The method that needs no choice: number of clusters and tree chosen by what the ensemble shows."""

from conclust.consensus.auto.estimator import AutoConsensus

__all__ = ["AutoConsensus"]
