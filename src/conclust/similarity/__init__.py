"""Quantities of clusters, computed from the overlaps of the clusters of all partitions.

Weights of clusters (T,), and similarities W of clusters (T, T), sparse if they are between the clusters of
one partition only. With B the indicator, evidence accumulation forms B W B' of them.
"""

from conclust.similarity.bottleneck import information_bottleneck
from conclust.similarity.certainty import cluster_certainty, cluster_uncertainty
from conclust.similarity.jaccard import cluster_jaccard
from conclust.similarity.mutual import approximate_simrank, simrank
from conclust.similarity.trajectories import trajectory_similarity
from conclust.similarity.triples import common_neighbours, connected_triples, triple_quality

__all__ = [
    "approximate_simrank",
    "cluster_certainty",
    "cluster_jaccard",
    "cluster_uncertainty",
    "common_neighbours",
    "connected_triples",
    "information_bottleneck",
    "simrank",
    "trajectory_similarity",
    "triple_quality",
]
