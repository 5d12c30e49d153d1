"""Consensus by cutting graphs of objects and clusters."""

from conclust.consensus.graph.cspa import CSPA
from conclust.consensus.graph.hbgf import HBGF
from conclust.consensus.graph.hgpa import HGPA
from conclust.consensus.graph.lwgp import LWGP
from conclust.consensus.graph.mcla import MCLA
from conclust.consensus.graph.partition import GraphPartition, partition_graph
from conclust.consensus.graph.supra import Supraconsensus, best_by_anmi
from conclust.consensus.graph.usenc import USENC

__all__ = [
    "CSPA",
    "HBGF",
    "HGPA",
    "LWGP",
    "MCLA",
    "USENC",
    "GraphPartition",
    "Supraconsensus",
    "best_by_anmi",
    "partition_graph",
]
