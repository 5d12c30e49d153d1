"""k-means on label vectors: objects of a cluster have similar labels."""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
