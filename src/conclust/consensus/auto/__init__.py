"""The method that needs no choice: the ensemble shows the number of clusters and the tree."""

from conclust.consensus.auto.estimator import AutoConsensus
from conclust.consensus.auto.trees import GrownTrees, NumberChooser

__all__ = ["AutoConsensus", "GrownTrees", "NumberChooser"]
