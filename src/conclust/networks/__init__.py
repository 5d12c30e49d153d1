"""Consensus of the communities of a network: its edges are weighted by the runs, and clustered once more."""

from conclust.networks.estimator import GraphConsensus
from conclust.networks.reading import to_communities

__all__ = ["GraphConsensus", "to_communities"]
