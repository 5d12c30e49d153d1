"""Confidence of a consensus in each object, cluster and partition, compared with random partitions.

The classes are what the functions return, importable for annotations.
"""

from conclust.confidence.borders.dips import dip
from conclust.confidence.borders.power import BorderPower as BorderPower
from conclust.confidence.borders.power import power
from conclust.confidence.borders.result import BorderTests as BorderTests
from conclust.confidence.borders.testing import border_tests
from conclust.confidence.borders.tree import ConsensusTree as ConsensusTree
from conclust.confidence.borders.tree import Split as Split
from conclust.confidence.borders.tree import consensus_tree
from conclust.confidence.calibration import Calibration as Calibration
from conclust.confidence.calibration import ChanceConfidence as ChanceConfidence
from conclust.confidence.calibration import calibrated, chance_confidence
from conclust.confidence.clusters import ClusterConfidence as ClusterConfidence
from conclust.confidence.clusters import cluster_confidence
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
from conclust.confidence.posterior.ball import BallBound as BallBound
from conclust.confidence.posterior.ball import CorePartition as CorePartition
from conclust.confidence.posterior.ball import CredibleBall as CredibleBall
from conclust.confidence.posterior.ball import core_partition, credible_ball
from conclust.confidence.posterior.modes import Modes as Modes
from conclust.confidence.posterior.modes import modes
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
    "power",
    "questions",
]


def __dir__() -> list[str]:
    return __all__
