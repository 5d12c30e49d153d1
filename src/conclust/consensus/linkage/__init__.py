"""Consensus by agglomerative linkage on accumulated evidence."""

from conclust.consensus.linkage.eac import EAC
from conclust.consensus.linkage.lwea import LWEA
from conclust.consensus.linkage.multi import MultiEAC, WeightedEAC, cluster_stability
from conclust.consensus.linkage.weac import WEAC
from conclust.trees.dendrogram import cut, lifetimes, longest_lifetime

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
