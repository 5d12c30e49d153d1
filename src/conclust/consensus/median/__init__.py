"""Consensus as a median or least-squares partition."""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
