"""Models of the matrix of pairs: factors and fuzzy clusters of the co-association."""

from conclust.consensus.matrix.communities import FuzzyCommunities
from conclust.consensus.matrix.dyadic import DyadicAspect
from conclust.consensus.matrix.left_stochastic import LeftStochastic
from conclust.consensus.matrix.nmf import WeightedNMF

__all__ = ["DyadicAspect", "FuzzyCommunities", "LeftStochastic", "WeightedNMF"]
