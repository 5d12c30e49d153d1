"""Quantities of clusters, computed from the overlaps of the clusters of all partitions.

Weights of clusters (T,), and similarities W of clusters (T, T), sparse if they are between the clusters of
one partition only. With B the indicator, evidence accumulation forms B W B' of them.
"""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
