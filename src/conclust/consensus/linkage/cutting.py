"""What all methods that cut a dendrogram have in common."""

from __future__ import annotations

from conclust._types import Floats, Ints
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.linkage.constrained import ConstrainedTree
from conclust.ensemble import Ensemble
from conclust.trees.clusterwise import ClusterTree


class TreeClusterer(ConsensusClusterer):
    """Base of the methods that cut a dendrogram."""

    linkage_matrix_: Floats
    lifetimes_: Floats

    def _cut_tree(self, tree: ClusterTree | ConstrainedTree, ensemble: Ensemble) -> Ints:
        """Keep a tree of the objects of an ensemble, and return its clusters."""
        self.linkage_matrix_, self.lifetimes_ = tree.matrix, tree.lifetimes()
        return tree.cut(self.n_clusters, ensemble, type(self).__name__)
