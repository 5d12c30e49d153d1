"""Confidence of a consensus in each object, cluster and partition, compared with random partitions.

The classes are what the functions return, importable for annotations.
"""

from conclust.confidence.borders import BorderTests as BorderTests
from conclust.confidence.borders import ConsensusTree as ConsensusTree
from conclust.confidence.borders import Split as Split
from conclust.confidence.borders import (
    border_tests,
    consensus_tree,
)
from conclust.confidence.borders.dips import dip
from conclust.confidence.calibration import Calibration as Calibration
from conclust.confidence.calibration import ChanceConfidence as ChanceConfidence
from conclust.confidence.calibration import calibrated, chance_confidence
from conclust.confidence.clusters import ClusterConfidence as ClusterConfidence
from conclust.confidence.clusters import cluster_confidence, stability_over_k
from conclust.confidence.features import ClusterCategories as ClusterCategories
from conclust.confidence.features import ClusterFeatures as ClusterFeatures
from conclust.confidence.features import cluster_categories, cluster_features
from conclust.confidence.gaps import ClusterGaps as ClusterGaps
from conclust.confidence.gaps import cluster_gaps
from conclust.confidence.objects import ObjectConfidence as ObjectConfidence
from conclust.confidence.objects import company, confidences, item_consensus, object_confidence
from conclust.confidence.partitions import ClusterSplits as ClusterSplits
from conclust.confidence.partitions import Inconsistency as Inconsistency
from conclust.confidence.partitions import PartitionConfidence as PartitionConfidence
from conclust.confidence.partitions import cluster_splits, inconsistency, partition_confidence
from conclust.confidence.posterior import BallBound as BallBound
from conclust.confidence.posterior import CorePartition as CorePartition
from conclust.confidence.posterior import CredibleBall as CredibleBall
from conclust.confidence.posterior import Modes as Modes
from conclust.confidence.posterior import (
    core_partition,
    credible_ball,
    modes,
)
from conclust.confidence.questions import questions

__all__ = [
    "border_tests",
    "calibrated",
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
    "modes",
    "object_confidence",
    "partition_confidence",
    "questions",
    "stability_over_k",
]


def __dir__() -> list[str]:
    return __all__
