"""Probabilistic consensus: inner products of memberships explain the co-associations."""

from conclust.consensus.papers.probabilistic.baum_eagon import BaumEagon
from conclust.consensus.papers.probabilistic.pcc import PCC
from conclust.consensus.papers.probabilistic.peace import PEACE
from conclust.consensus.papers.probabilistic.weighted import WeightedPCC

__all__ = [
    "PCC",
    "PEACE",
    "BaumEagon",
    "WeightedPCC",
]
