"""Consensus as a median or least-squares partition."""

from conclust.consensus.median.addremadd import AddRemAdd
from conclust.consensus.median.bayes import BayesEstimate
from conclust.consensus.median.fusion_transfer import MedianPartition
from conclust.consensus.median.kernel_weighted import KernelWeightedPartition

__all__ = ["AddRemAdd", "BayesEstimate", "KernelWeightedPartition", "MedianPartition"]
