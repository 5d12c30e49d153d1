"""Measures of agreement between partitions, memberships and the members of an ensemble.

The public interface of ``chance``, ``classes``, ``comparison``, ``agreement``, ``contingency``, ``matching`` and
``membership``. Measures of scikit-learn go by its names too: ``adjusted_rand_score`` is ``adjusted_rand_index``,
``rand_score`` is ``rand_index``, ``adjusted_mutual_info_score`` is ``adjusted_mutual_information``,
``fowlkes_mallows_score`` is ``fowlkes_mallows_index``, ``homogeneity_score``, ``completeness_score`` and
``v_measure_score`` are ``homogeneity``, ``completeness`` and ``v_measure``, and ``normalized_mutual_info_score`` has
scikit-learn's default. Here objects that are
missing from a partition (-1, NaN, None) are left out, where scikit-learn takes -1 for a cluster.
"""

from conclust.measures.agreement import anmi, partition_similarities
from conclust.measures.chance import adjusted_mutual_info_score, adjusted_mutual_information
from conclust.measures.classes import (
    bcubed_f1,
    bcubed_precision,
    bcubed_recall,
    completeness,
    fowlkes_mallows_index,
    homogeneity,
    inverse_purity,
    purity,
    v_measure,
)
from conclust.measures.comparison import (
    PairConfusion,
    adjusted_rand_index,
    class_f1,
    consistency_index,
    element_centric_similarity,
    js_divergence,
    mirkin_distance,
    normalized_mutual_info_score,
    normalized_mutual_information,
    pair_confusion,
    pairwise_f1,
    pairwise_precision,
    pairwise_recall,
    rand_index,
    variation_of_information,
)
from conclust.measures.contingency import Contingency, contingency
from conclust.measures.losses import expected_loss
from conclust.measures.matching import ClusterNames, labels_like, match, names_from, relabel
from conclust.membership import entropy, vat_order

adjusted_rand_score = adjusted_rand_index
rand_score = rand_index
fowlkes_mallows_score = fowlkes_mallows_index
homogeneity_score = homogeneity
completeness_score = completeness
v_measure_score = v_measure

__all__ = [
    "ClusterNames",
    "Contingency",
    "PairConfusion",
    "adjusted_mutual_info_score",
    "adjusted_mutual_information",
    "adjusted_rand_index",
    "adjusted_rand_score",
    "anmi",
    "bcubed_f1",
    "bcubed_precision",
    "bcubed_recall",
    "class_f1",
    "completeness",
    "completeness_score",
    "consistency_index",
    "contingency",
    "element_centric_similarity",
    "entropy",
    "expected_loss",
    "fowlkes_mallows_index",
    "fowlkes_mallows_score",
    "homogeneity",
    "homogeneity_score",
    "inverse_purity",
    "js_divergence",
    "labels_like",
    "match",
    "mirkin_distance",
    "names_from",
    "normalized_mutual_info_score",
    "normalized_mutual_information",
    "pair_confusion",
    "pairwise_f1",
    "pairwise_precision",
    "pairwise_recall",
    "partition_similarities",
    "purity",
    "rand_index",
    "rand_score",
    "relabel",
    "v_measure",
    "v_measure_score",
    "variation_of_information",
    "vat_order",
]
