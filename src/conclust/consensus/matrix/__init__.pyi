from conclust.consensus.matrix.communities import FuzzyCommunities as FuzzyCommunities
from conclust.consensus.matrix.dyadic import DyadicAspect as DyadicAspect
from conclust.consensus.matrix.left_stochastic import LeftStochastic as LeftStochastic
from conclust.consensus.matrix.nmf import WeightedNMF as WeightedNMF

__all__ = [
    "DyadicAspect",
    "FuzzyCommunities",
    "LeftStochastic",
    "WeightedNMF",
]
