"""Confidence of a consensus in each object, cluster and partition, compared with random partitions."""

from conclust.confidence.borders import (
    BorderTests,
    ConsensusTree,
    Split,
    border_tests,
    consensus_tree,
)
from conclust.confidence.borders.dips import dip
from conclust.confidence.categories import ClusterCategories, cluster_categories
from conclust.confidence.chance import ChanceConfidence, chance_confidence
from conclust.confidence.clusters import ClusterConfidence, cluster_confidence, stability_over_k
from conclust.confidence.features import ClusterFeatures, cluster_features
from conclust.confidence.gaps import ClusterGaps, cluster_gaps
from conclust.confidence.inconsistency import Inconsistency, inconsistency
from conclust.confidence.items import company, item_consensus, member_agreement
from conclust.confidence.objects import ObjectConfidence, confidences, object_confidence
from conclust.confidence.partitions import PartitionConfidence, partition_confidence
from conclust.confidence.posterior import (
    BallBound,
    CorePartition,
    CredibleBall,
    Modes,
    core_partition,
    credible_ball,
    modes,
)
from conclust.confidence.questions import questions
from conclust.confidence.resampled import OtherMembers, other_members
from conclust.confidence.splits import ClusterSplits, cluster_splits
from conclust.confidence.stability import SampleStability, object_ambiguity, sample_stability

__all__ = [
    "BallBound",
    "BorderTests",
    "ChanceConfidence",
    "ClusterCategories",
    "ClusterConfidence",
    "ClusterFeatures",
    "ClusterGaps",
    "ClusterSplits",
    "ConsensusTree",
    "CorePartition",
    "CredibleBall",
    "Inconsistency",
    "Modes",
    "ObjectConfidence",
    "OtherMembers",
    "PartitionConfidence",
    "SampleStability",
    "Split",
    "border_tests",
    "chance_confidence",
    "cluster_categories",
    "cluster_confidence",
    "cluster_features",
    "cluster_gaps",
    "cluster_splits",
    "company",
    "confidences",
    "consensus_tree",
    "core_partition",
    "credible_ball",
    "dip",
    "inconsistency",
    "item_consensus",
    "member_agreement",
    "modes",
    "object_ambiguity",
    "object_confidence",
    "other_members",
    "partition_confidence",
    "questions",
    "sample_stability",
    "stability_over_k",
]


def __dir__() -> list[str]:
    return __all__
