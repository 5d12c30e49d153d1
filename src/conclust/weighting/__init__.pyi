from conclust.weighting.granularity import coarsen as coarsen
from conclust.weighting.selection import cluster_and_select as cluster_and_select
from conclust.weighting.selection import joint_criterion as joint_criterion
from conclust.weighting.weights import agreement_weights as agreement_weights
from conclust.weighting.weights import certainty_weights as certainty_weights
from conclust.weighting.weights import degenerate_partitions as degenerate_partitions
from conclust.weighting.weights import relevance_weights as relevance_weights
from conclust.weighting.weights import validity_weights as validity_weights

__all__ = [
    "agreement_weights",
    "certainty_weights",
    "cluster_and_select",
    "coarsen",
    "degenerate_partitions",
    "joint_criterion",
    "relevance_weights",
    "validity_weights",
]
