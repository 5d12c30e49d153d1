"""Consensus functions: label matrix -> consensus, one file or folder per family.

The estimators are names of ``conclust`` itself; the families load at first use.
"""

from importlib import import_module

__all__ = [
    "base",
    "fca",
    "graph",
    "kmeans",
    "linkage",
    "median",
    "mixture",
    "probabilistic",
    "registry",
    "restarts",
    "voting",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        return import_module(f"conclust.consensus.{name}")
    raise AttributeError(f"module 'conclust.consensus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
