"""Consensus by links between clusters: similarities of clusters through other clusters."""

from conclust.consensus.links.ecpcs import ECPCS
from conclust.consensus.links.lce import LCE

__all__ = ["ECPCS", "LCE"]
