"""Clusters of points around centres, further partitions of them, and doubts about them."""

from conclust.points.centers import ClusterCenters
from conclust.points.doubts import doubts_of_fit

__all__ = ["ClusterCenters", "doubts_of_fit"]
