"""Mixture models of label vectors."""

from conclust.consensus.mixture.multinomial import MixtureModel

__all__ = ["MixtureModel"]
