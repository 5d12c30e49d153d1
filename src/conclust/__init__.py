"""conclust: consensus clustering.

Combines many clusterings of the same objects into one partition, with probabilities, at any size.
Names load at first use, so that ``import conclust`` costs nothing: see ``__init__.pyi`` for types.
"""

from importlib import import_module

# Public name -> module that defines it. The stub beside this file lists the same names.
_HOMES = {
    "AddRemAdd": "conclust.consensus.median",
    "AutoConsensus": "conclust.consensus.auto",
    "BaumEagon": "conclust.consensus.probabilistic",
    "BayesEstimate": "conclust.consensus.median",
    "BayesianEnsemble": "conclust.consensus.mixture",
    "CEHM": "conclust.consensus.voting",
    "CEs2": "conclust.consensus.linkage",
    "CSPA": "conclust.consensus.graph",
    "ConsensusClustering": "conclust.pipeline",
    "CumulativeVoting": "conclust.consensus.voting",
    "DREC": "conclust.consensus.refinement",
    "DyadicAspect": "conclust.consensus.matrix",
    "EAC": "conclust.consensus.linkage",
    "ECCMS": "conclust.consensus.refinement",
    "ECPCS": "conclust.consensus.links",
    "Ensemble": "conclust.ensemble",
    "EnsembleGenerator": "conclust.generation",
    "FCAConsensus": "conclust.consensus.fca",
    "FuzzyCommunities": "conclust.consensus.matrix",
    "FuzzyRows": "conclust.consensus.matrix",
    "GPMGLA": "conclust.consensus.graph",
    "GraphConsensus": "conclust.networks",
    "HBGF": "conclust.consensus.graph",
    "HGPA": "conclust.consensus.graph",
    "InformationTheoreticKMeans": "conclust.consensus.label_vectors",
    "KCC": "conclust.consensus.label_vectors",
    "KernelWeightedPartition": "conclust.consensus.median",
    "LCE": "conclust.consensus.links",
    "LWEA": "conclust.consensus.linkage",
    "LWGP": "conclust.consensus.graph",
    "LeftStochastic": "conclust.consensus.matrix",
    "MCLA": "conclust.consensus.graph",
    "MDEC": "conclust.consensus.graph",
    "MedianPartition": "conclust.consensus.median",
    "MixtureModel": "conclust.consensus.mixture",
    "MultiEAC": "conclust.consensus.linkage",
    "MultiViewGenerator": "conclust.generation",
    "NonparametricBayesianEnsemble": "conclust.consensus.mixture",
    "PCC": "conclust.consensus.probabilistic",
    "PEACE": "conclust.consensus.probabilistic",
    "PTA": "conclust.consensus.trajectories",
    "PTGP": "conclust.consensus.trajectories",
    "PositionalVoting": "conclust.consensus.voting",
    "QMI": "conclust.consensus.label_vectors",
    "SEC": "conclust.consensus.label_vectors",
    "SPCE": "conclust.consensus.refinement",
    "TopicConsensus": "conclust.topics",
    "USENC": "conclust.consensus.graph",
    "Voting": "conclust.consensus.voting",
    "WEAC": "conclust.consensus.linkage",
    "WeightedEAC": "conclust.consensus.linkage",
    "WeightedNMF": "conclust.consensus.matrix",
    "WeightedPCC": "conclust.consensus.probabilistic",
    "best_by_anmi": "conclust.consensus.graph",
    "coassociation": "conclust.evidence",
    "compare": "conclust.trials",
    "copresence": "conclust.evidence",
    "corrupt": "conclust.generation",
    "methods": "conclust.consensus.registry",
    "posterior_coclustering": "conclust.consensus.mixture",
    "to_frame": "conclust.frames",
}
_MODULES = (
    "blocks",
    "confidence",
    "consensus",
    "datasets",
    "divergences",
    "evidence",
    "exceptions",
    "generation",
    "lattice",
    "membership",
    "metrics",
    "neighbours",
    "networks",
    "placing",
    "plotting",
    "report",
    "results",
    "sc",
    "selection",
    "similarity",
    "trials",
    "weighting",
)

__all__ = ["__version__", *sorted(_HOMES), *_MODULES]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        if name != "methods":  # first of all: what it keeps SciPy from importing
            import_module("conclust._sklearn")
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"conclust.{name}")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("conclust")
    else:
        raise AttributeError(f"module 'conclust' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
