"""The method without required parameters: the ensemble determines the number of clusters and the tree."""

from conclust.consensus.auto.decision import Decision, Division, decide, decision_on
from conclust.consensus.auto.estimator import AutoConsensus, Growth
from conclust.consensus.auto.model import place
from conclust.consensus.auto.trees import Trees, grow
from conclust.consensus.auto.votes import evidence_for

__all__ = [
    "AutoConsensus",
    "Decision",
    "Division",
    "Growth",
    "Trees",
    "decide",
    "decision_on",
    "evidence_for",
    "grow",
    "place",
]
