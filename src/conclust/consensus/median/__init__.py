"""Consensus as a median or least-squares partition."""

from conclust.consensus.median.addremadd import AddRemAdd
from conclust.consensus.median.fusion_transfer import MedianPartition

__all__ = ["AddRemAdd", "MedianPartition"]
