from conclust.consensus.median.addremadd import AddRemAdd as AddRemAdd
from conclust.consensus.median.bayes import BayesEstimate as BayesEstimate
from conclust.consensus.median.fusion_transfer import MedianPartition as MedianPartition
from conclust.consensus.median.kernel_weighted import (
    KernelWeightedPartition as KernelWeightedPartition,
)

__all__ = [
    "AddRemAdd",
    "BayesEstimate",
    "KernelWeightedPartition",
    "MedianPartition",
]
