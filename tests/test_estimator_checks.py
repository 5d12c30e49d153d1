"""scikit-learn's own checks, with every expected failure and its reason."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.registry import public_estimators

from conclust import (
    CSPA,
    EAC,
    HBGF,
    HGPA,
    LWEA,
    LWGP,
    MCLA,
    PCC,
    PEACE,
    QMI,
    AddRemAdd,
    BaumEagon,
    BayesianEnsemble,
    ConsensusClustering,
    CumulativeVoting,
    DyadicAspect,
    EnsembleGenerator,
    FCAConsensus,
    FuzzyCommunities,
    FuzzyRows,
    InformationTheoreticKMeans,
    KernelWeightedPartition,
    LeftStochastic,
    MedianPartition,
    MixtureModel,
    MultiEAC,
    NonparametricBayesianEnsemble,
    PositionalVoting,
    Voting,
    WeightedEAC,
    WeightedNMF,
    WeightedPCC,
)

# check -> why a consensus of label matrices cannot pass it.
OF_LABELS = {
    "check_clustering": "feeds points of blobs where labels belong: real numbers are refused",
    "check_positive_only_tag_during_fit": "makes labels fractional, which are refused before negatives",
}


def expected(estimator):
    if isinstance(estimator, ConsensusClustering):
        return {}
    missing = estimator.__sklearn_tags__().input_tags.allow_nan
    skipped = () if missing else ("check_positive_only_tag_during_fit",)
    return {check: why for check, why in OF_LABELS.items() if check not in skipped}


CHECKED = [
    PCC(),
    PEACE(n_init=1),
    WeightedPCC(),
    WeightedPCC(regularization="l2"),
    BaumEagon(n_init=1, max_iter=20_000),
    EAC(),
    EAC(linkage="single"),
    EAC(n_clusters=2, linkage="ward"),
    QMI(),
    InformationTheoreticKMeans(),
    MixtureModel(),
    BayesianEnsemble(),
    NonparametricBayesianEnsemble(),
    FCAConsensus(),
    HBGF(),
    HBGF(partitioner="internal"),
    MCLA(),
    CSPA(),
    HGPA(),
    AddRemAdd(),
    DyadicAspect(),
    FuzzyCommunities(),
    FuzzyRows(),
    KernelWeightedPartition(),
    LeftStochastic(),
    WeightedNMF(),
    AddRemAdd(2, criterion="combined"),
    MedianPartition(),
    FCAConsensus(threshold="auto", order="size"),
    LWEA(),
    LWGP(),
    MultiEAC(),
    WeightedEAC(),
    CumulativeVoting(),
    CumulativeVoting(scheme="rcv"),
    PositionalVoting(),
    Voting(),
    Voting(hard=True),
    Voting(algorithm="one_pass"),
    ConsensusClustering(generator=EnsembleGenerator(n_partitions=8)),
    ConsensusClustering(EAC(2), EnsembleGenerator(n_partitions=8)),
]


def test_every_public_estimator_is_checked():
    assert set(public_estimators().values()) <= {type(estimator) for estimator in CHECKED}


@parametrize_with_checks(CHECKED, expected_failed_checks=expected)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
