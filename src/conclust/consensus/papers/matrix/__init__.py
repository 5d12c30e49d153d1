"""Models of the matrix of pairs: factors and fuzzy clusters of the co-association."""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
