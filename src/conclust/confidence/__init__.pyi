from conclust.confidence.asking import questions as questions
from conclust.confidence.borders.dips import dip as dip
from conclust.confidence.borders.power import BorderPower as BorderPower
from conclust.confidence.borders.power import power as power
from conclust.confidence.borders.result import BorderTests as BorderTests
from conclust.confidence.borders.testing import border_tests as border_tests
from conclust.confidence.borders.tree import ConsensusTree as ConsensusTree
from conclust.confidence.borders.tree import Split as Split
from conclust.confidence.borders.tree import consensus_tree as consensus_tree
from conclust.confidence.calibration import Calibration as Calibration
from conclust.confidence.calibration import ChanceConfidence as ChanceConfidence
from conclust.confidence.calibration import calibrated as calibrated
from conclust.confidence.calibration import chance_confidence as chance_confidence
from conclust.confidence.clusters import ClusterConfidence as ClusterConfidence
from conclust.confidence.clusters import cluster_confidence as cluster_confidence
from conclust.confidence.features import ClusterCategories as ClusterCategories
from conclust.confidence.features import ClusterFeatures as ClusterFeatures
from conclust.confidence.features import cluster_categories as cluster_categories
from conclust.confidence.features import cluster_features as cluster_features
from conclust.confidence.gaps import ClusterGaps as ClusterGaps
from conclust.confidence.gaps import cluster_gaps as cluster_gaps
from conclust.confidence.objects import ObjectConfidence as ObjectConfidence
from conclust.confidence.objects import company as company
from conclust.confidence.objects import confidences as confidences
from conclust.confidence.objects import item_consensus as item_consensus
from conclust.confidence.objects import object_confidence as object_confidence
from conclust.confidence.partitions import ClusterSplits as ClusterSplits
from conclust.confidence.partitions import Inconsistency as Inconsistency
from conclust.confidence.partitions import PartitionConfidence as PartitionConfidence
from conclust.confidence.partitions import cluster_splits as cluster_splits
from conclust.confidence.partitions import inconsistency as inconsistency
from conclust.confidence.partitions import partition_confidence as partition_confidence
from conclust.confidence.posterior.ball import BallBound as BallBound
from conclust.confidence.posterior.ball import CorePartition as CorePartition
from conclust.confidence.posterior.ball import CredibleBall as CredibleBall
from conclust.confidence.posterior.ball import core_partition as core_partition
from conclust.confidence.posterior.ball import credible_ball as credible_ball
from conclust.confidence.posterior.modes import Modes as Modes
from conclust.confidence.posterior.modes import modes as modes

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
