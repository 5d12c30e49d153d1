from conclust.consensus.linkage.eac import EAC as EAC
from conclust.consensus.linkage.lwea import LWEA as LWEA
from conclust.consensus.linkage.multi import MultiEAC as MultiEAC
from conclust.consensus.linkage.multi import WeightedEAC as WeightedEAC
from conclust.consensus.linkage.multi import cluster_stability as cluster_stability
from conclust.consensus.linkage.weac import WEAC as WEAC
from conclust.trees.agglomeration import cut as cut
from conclust.trees.agglomeration import lifetimes as lifetimes
from conclust.trees.agglomeration import longest_lifetime as longest_lifetime

__all__ = [
    "EAC",
    "LWEA",
    "WEAC",
    "MultiEAC",
    "WeightedEAC",
    "cluster_stability",
    "cut",
    "lifetimes",
    "longest_lifetime",
]
