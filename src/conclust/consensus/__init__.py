"""Consensus functions: label matrix -> consensus, one file or folder per family.

The estimators are names of ``conclust`` itself; the families load at first use.
"""

from importlib import import_module

__all__ = [
    "acceleration",
    "auto",
    "base",
    "blockwise",
    "constraints",
    "fca",
    "graph",
    "label_rows",
    "label_vectors",
    "linkage",
    "links",
    "matrix",
    "median",
    "mixture",
    "names",
    "pairs",
    "probabilistic",
    "refinement",
    "registry",
    "restarts",
    "suitability",
    "trajectories",
    "voting",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        return import_module(f"conclust.consensus.{name}")
    raise AttributeError(f"module 'conclust.consensus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
