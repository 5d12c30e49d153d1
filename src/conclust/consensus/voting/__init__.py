"""Consensus by voting: the clusters of partitions are matched, then votes are counted."""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
