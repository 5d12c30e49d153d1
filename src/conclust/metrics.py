"""Measures of agreement between partitions, memberships and the members of an ensemble.

The public interface of ``chance``, ``classes``, ``comparison``, ``agreement``, ``contingency``, ``matching`` and
``losses``. Objects that are missing from a partition (-1, NaN, None) are left out, where scikit-learn takes -1 for a
cluster.
"""

from conclust.measures.agreement import anmi, partition_similarities
from conclust.measures.comparison import (
    PairConfusion,
    adjusted_mutual_information,
    adjusted_rand_index,
    bcubed_f1,
    class_f1,
    consistency_index,
    element_centric_similarity,
    fowlkes_mallows_index,
    js_divergence,
    mirkin_distance,
    normalized_mutual_information,
    pair_confusion,
    pairwise_f1,
    pairwise_precision,
    pairwise_recall,
    purity,
    rand_index,
    variation_of_information,
)
from conclust.measures.contingency import Contingency, contingency
from conclust.measures.losses import expected_loss
from conclust.measures.matching import ClusterNames, labels_like, match, names_from, relabel

__all__ = [
    "ClusterNames",
    "Contingency",
    "PairConfusion",
    "adjusted_mutual_information",
    "adjusted_rand_index",
    "anmi",
    "bcubed_f1",
    "class_f1",
    "consistency_index",
    "contingency",
    "element_centric_similarity",
    "expected_loss",
    "fowlkes_mallows_index",
    "js_divergence",
    "labels_like",
    "match",
    "mirkin_distance",
    "names_from",
    "normalized_mutual_information",
    "pair_confusion",
    "pairwise_f1",
    "pairwise_precision",
    "pairwise_recall",
    "partition_similarities",
    "purity",
    "rand_index",
    "relabel",
    "variation_of_information",
]
