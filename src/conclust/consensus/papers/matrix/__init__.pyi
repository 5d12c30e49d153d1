from conclust.consensus.papers.matrix.communities import FuzzyCommunities as FuzzyCommunities
from conclust.consensus.papers.matrix.dyadic import DyadicAspect as DyadicAspect
from conclust.consensus.papers.matrix.left_stochastic import LeftStochastic as LeftStochastic
from conclust.consensus.papers.matrix.nmf import WeightedNMF as WeightedNMF

__all__ = [
    "DyadicAspect",
    "FuzzyCommunities",
    "LeftStochastic",
    "WeightedNMF",
]
