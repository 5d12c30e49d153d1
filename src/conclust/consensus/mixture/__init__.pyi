from conclust.consensus.mixture.bayesian import BayesianEnsemble as BayesianEnsemble
from conclust.consensus.mixture.multinomial import MixtureModel as MixtureModel
from conclust.consensus.mixture.nonparametric import (
    NonparametricBayesianEnsemble as NonparametricBayesianEnsemble,
)
from conclust.consensus.mixture.nonparametric import (
    posterior_coclustering as posterior_coclustering,
)

__all__ = [
    "BayesianEnsemble",
    "MixtureModel",
    "NonparametricBayesianEnsemble",
    "posterior_coclustering",
]
