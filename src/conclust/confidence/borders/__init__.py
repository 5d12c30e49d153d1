"""Is there a border between two clusters? A p-value that is valid whatever made the clusters."""

from conclust.confidence.borders.result import BorderTests, Merge
from conclust.confidence.borders.testing import border_tests
from conclust.confidence.borders.tree import ConsensusTree, Split, consensus_tree

__all__ = ["BorderTests", "ConsensusTree", "Merge", "Split", "border_tests", "consensus_tree"]
