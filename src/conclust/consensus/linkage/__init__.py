"""Consensus by agglomerative linkage on accumulated evidence."""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
