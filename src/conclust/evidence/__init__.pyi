from conclust.evidence.dense import DenseEvidence as DenseEvidence
from conclust.evidence.dense import Evidence as Evidence
from conclust.evidence.dense import coassociation as coassociation
from conclust.evidence.dense import coassociation_blocks as coassociation_blocks
from conclust.evidence.dense import copresence as copresence
from conclust.evidence.dense import evidence as evidence
from conclust.evidence.dense import frequencies as frequencies
from conclust.evidence.nearest import nearest_pairs as nearest_pairs
from conclust.evidence.pairs import SparseEvidence as SparseEvidence
from conclust.evidence.pairs import pair_counts as pair_counts
from conclust.evidence.pairs import sample_pairs as sample_pairs
from conclust.evidence.tree import spanning_tree as spanning_tree

__all__ = [
    "DenseEvidence",
    "Evidence",
    "SparseEvidence",
    "coassociation",
    "coassociation_blocks",
    "copresence",
    "evidence",
    "frequencies",
    "nearest_pairs",
    "pair_counts",
    "sample_pairs",
    "spanning_tree",
]
