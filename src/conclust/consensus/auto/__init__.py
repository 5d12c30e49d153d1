"""The method without required parameters: the ensemble determines the number of clusters and the tree."""

from conclust.consensus.auto.estimator import AutoConsensus, Refiner
from conclust.consensus.auto.trees import ChosenNumber, GrownTrees, NumberChooser
from conclust.consensus.auto.votes import evidence_for

__all__ = [
    "AutoConsensus",
    "ChosenNumber",
    "GrownTrees",
    "NumberChooser",
    "Refiner",
    "evidence_for",
]
