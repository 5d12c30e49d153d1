from conclust import blocks as blocks
from conclust import confidence as confidence
from conclust import consensus as consensus
from conclust import datasets as datasets
from conclust import divergences as divergences
from conclust import evidence as evidence
from conclust import exceptions as exceptions
from conclust import generation as generation
from conclust import lattice as lattice
from conclust import membership as membership
from conclust import metrics as metrics
from conclust import neighbours as neighbours
from conclust import networks as networks
from conclust import placing as placing
from conclust import plotting as plotting
from conclust import report as report
from conclust import results as results
from conclust import sc as sc
from conclust import selection as selection
from conclust import similarity as similarity
from conclust import weighting as weighting
from conclust._files.saving import load as load
from conclust.consensus.auto import AutoConsensus as AutoConsensus
from conclust.consensus.graph import CSPA as CSPA
from conclust.consensus.graph import HBGF as HBGF
from conclust.consensus.graph import HGPA as HGPA
from conclust.consensus.graph import LWGP as LWGP
from conclust.consensus.graph import MCLA as MCLA
from conclust.consensus.graph import best_by_anmi as best_by_anmi
from conclust.consensus.label_vectors import KCC as KCC
from conclust.consensus.label_vectors import QMI as QMI
from conclust.consensus.label_vectors import SEC as SEC
from conclust.consensus.label_vectors import (
    InformationTheoreticKMeans as InformationTheoreticKMeans,
)
from conclust.consensus.linkage import EAC as EAC
from conclust.consensus.linkage import LWEA as LWEA
from conclust.consensus.linkage import WEAC as WEAC
from conclust.consensus.linkage import MultiEAC as MultiEAC
from conclust.consensus.linkage import WeightedEAC as WeightedEAC
from conclust.consensus.literature import CEHM as CEHM
from conclust.consensus.literature import DREC as DREC
from conclust.consensus.literature import ECCMS as ECCMS
from conclust.consensus.literature import ECPCS as ECPCS
from conclust.consensus.literature import GPMGLA as GPMGLA
from conclust.consensus.literature import LCE as LCE
from conclust.consensus.literature import MDEC as MDEC
from conclust.consensus.literature import PTA as PTA
from conclust.consensus.literature import PTGP as PTGP
from conclust.consensus.literature import SPCE as SPCE
from conclust.consensus.literature import CEs2 as CEs2
from conclust.consensus.literature import FuzzyRows as FuzzyRows
from conclust.consensus.median import AddRemAdd as AddRemAdd
from conclust.consensus.median import BayesEstimate as BayesEstimate
from conclust.consensus.median import KernelWeightedPartition as KernelWeightedPartition
from conclust.consensus.median import MedianPartition as MedianPartition
from conclust.consensus.method import methods as methods
from conclust.consensus.mixture import BayesianEnsemble as BayesianEnsemble
from conclust.consensus.mixture import MixtureModel as MixtureModel
from conclust.consensus.mixture import (
    NonparametricBayesianEnsemble as NonparametricBayesianEnsemble,
)
from conclust.consensus.mixture import posterior_coclustering as posterior_coclustering
from conclust.consensus.papers.fca import FCAConsensus as FCAConsensus
from conclust.consensus.papers.matrix import DyadicAspect as DyadicAspect
from conclust.consensus.papers.matrix import FuzzyCommunities as FuzzyCommunities
from conclust.consensus.papers.matrix import LeftStochastic as LeftStochastic
from conclust.consensus.papers.matrix import WeightedNMF as WeightedNMF
from conclust.consensus.papers.probabilistic import PCC as PCC
from conclust.consensus.papers.probabilistic import PEACE as PEACE
from conclust.consensus.papers.probabilistic import BaumEagon as BaumEagon
from conclust.consensus.papers.probabilistic import WeightedPCC as WeightedPCC
from conclust.consensus.voting import CumulativeVoting as CumulativeVoting
from conclust.consensus.voting import PositionalVoting as PositionalVoting
from conclust.consensus.voting import Voting as Voting
from conclust.ensemble import Ensemble as Ensemble
from conclust.evidence import coassociation as coassociation
from conclust.evidence import copresence as copresence
from conclust.generation.corruption import corrupt as corrupt
from conclust.generation.generator import EnsembleGenerator as EnsembleGenerator
from conclust.generation.views import MultiViewGenerator as MultiViewGenerator
from conclust.networks import GraphConsensus as GraphConsensus
from conclust.pipeline import ConsensusClustering as ConsensusClustering
from conclust.results.frames import to_frame as to_frame
from conclust.topics import TopicConsensus as TopicConsensus

_HOMES: dict[str, str]
_MODULES: tuple[str, ...]
__version__: str
__all__ = [
    "CEHM",
    "CSPA",
    "DREC",
    "EAC",
    "ECCMS",
    "ECPCS",
    "GPMGLA",
    "HBGF",
    "HGPA",
    "KCC",
    "LCE",
    "LWEA",
    "LWGP",
    "MCLA",
    "MDEC",
    "PCC",
    "PEACE",
    "PTA",
    "PTGP",
    "QMI",
    "SEC",
    "SPCE",
    "WEAC",
    "AddRemAdd",
    "AutoConsensus",
    "BaumEagon",
    "BayesEstimate",
    "BayesianEnsemble",
    "CEs2",
    "ConsensusClustering",
    "CumulativeVoting",
    "DyadicAspect",
    "Ensemble",
    "EnsembleGenerator",
    "FCAConsensus",
    "FuzzyCommunities",
    "FuzzyRows",
    "GraphConsensus",
    "InformationTheoreticKMeans",
    "KernelWeightedPartition",
    "LeftStochastic",
    "MedianPartition",
    "MixtureModel",
    "MultiEAC",
    "MultiViewGenerator",
    "NonparametricBayesianEnsemble",
    "PositionalVoting",
    "TopicConsensus",
    "Voting",
    "WeightedEAC",
    "WeightedNMF",
    "WeightedPCC",
    "__version__",
    "best_by_anmi",
    "blocks",
    "coassociation",
    "confidence",
    "consensus",
    "copresence",
    "corrupt",
    "datasets",
    "divergences",
    "evidence",
    "exceptions",
    "generation",
    "lattice",
    "load",
    "membership",
    "methods",
    "metrics",
    "neighbours",
    "networks",
    "placing",
    "plotting",
    "posterior_coclustering",
    "report",
    "results",
    "sc",
    "selection",
    "similarity",
    "to_frame",
    "weighting",
]
