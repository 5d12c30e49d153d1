"""Evidence: the number of partitions that put two objects together, c_ij, and that observed both, N_ij.

Counts come from the bit-sliced kernels and are kept as counts: the frequency c_ij / N_ij is formed
when it is needed (`frequencies`), and is undefined where N_ij is 0. Weights turn counts into sums
of weights, soft members into sums of products of memberships, C = B diag(w) B'.

The package is not called coassociation, because a module would hide the function of the same name.
"""

from conclust.evidence.dense import (
    DenseEvidence,
    Evidence,
    EvidenceBlock,
    Rows,
    coassociation,
    coassociation_blocks,
    copresence,
    evidence,
    frequencies,
)
from conclust.evidence.edges import edge_evidence
from conclust.evidence.nearest import nearest_pairs
from conclust.evidence.pairs import SparseEvidence, pair_counts, sample_pairs
from conclust.evidence.tree import SpanningTree, spanning_tree

__all__ = [
    "DenseEvidence",
    "Evidence",
    "EvidenceBlock",
    "Rows",
    "SpanningTree",
    "SparseEvidence",
    "coassociation",
    "coassociation_blocks",
    "copresence",
    "edge_evidence",
    "evidence",
    "frequencies",
    "nearest_pairs",
    "pair_counts",
    "sample_pairs",
    "spanning_tree",
]
