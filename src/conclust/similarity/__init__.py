"""Quantities of clusters, from what the clusters of all partitions share."""

from conclust.similarity.bottleneck import information_bottleneck
from conclust.similarity.certainty import cluster_certainty, cluster_uncertainty

__all__ = ["cluster_certainty", "cluster_uncertainty", "information_bottleneck"]
