"""Consensus of the communities of a network: edges are weighted by the runs, and the network is clustered again."""

from conclust.networks.estimator import GraphConsensus as GraphConsensus
from conclust.networks.reading import to_communities

__all__ = ["to_communities"]
