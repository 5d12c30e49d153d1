"""Consensus by what clusters have to do with each other: similarities of clusters, found through others."""

from conclust.consensus.links.ecpcs import ECPCS
from conclust.consensus.links.lce import LCE

__all__ = ["ECPCS", "LCE"]
