"""Mixture models of label vectors."""

from conclust.consensus.mixture.bayesian import BayesianEnsemble
from conclust.consensus.mixture.multinomial import MixtureModel
from conclust.consensus.mixture.nonparametric import (
    NonparametricBayesianEnsemble,
    posterior_coclustering,
)

__all__ = [
    "BayesianEnsemble",
    "MixtureModel",
    "NonparametricBayesianEnsemble",
    "posterior_coclustering",
]
