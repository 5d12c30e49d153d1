"""Mixture models of label vectors."""

from conclust.consensus.mixture.bayesian import BayesianEnsemble
from conclust.consensus.mixture.multinomial import MixtureModel

__all__ = ["BayesianEnsemble", "MixtureModel"]
