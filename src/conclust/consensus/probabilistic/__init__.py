"""Probabilistic consensus: inner products of memberships explain the co-associations."""

from conclust.consensus.probabilistic.baum_eagon import BaumEagon
from conclust.consensus.probabilistic.pcc import PCC
from conclust.consensus.probabilistic.peace import PEACE
from conclust.consensus.probabilistic.weighted import WeightedPCC

__all__ = [
    "PCC",
    "PEACE",
    "BaumEagon",
    "WeightedPCC",
]
