"""Consensus by agglomerative linkage on accumulated evidence."""

from conclust.consensus.linkage.dendrogram import cut, lifetimes, longest_lifetime
from conclust.consensus.linkage.eac import EAC

__all__ = ["EAC", "cut", "lifetimes", "longest_lifetime"]
