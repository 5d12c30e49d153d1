from conclust.consensus.graph.cspa import CSPA as CSPA
from conclust.consensus.graph.hbgf import HBGF as HBGF
from conclust.consensus.graph.hgpa import HGPA as HGPA
from conclust.consensus.graph.lwgp import LWGP as LWGP
from conclust.consensus.graph.mcla import MCLA as MCLA
from conclust.consensus.graph.partition import GraphPartition as GraphPartition
from conclust.consensus.graph.partition import partition_graph as partition_graph
from conclust.consensus.graph.supra import Supraconsensus as Supraconsensus
from conclust.consensus.graph.supra import best_by_anmi as best_by_anmi

__all__ = [
    "CSPA",
    "HBGF",
    "HGPA",
    "LWGP",
    "MCLA",
    "GraphPartition",
    "Supraconsensus",
    "best_by_anmi",
    "partition_graph",
]
