"""Consensus functions: label matrix -> consensus, one file or folder per family.

The estimators are names of ``conclust`` itself; the families load at first use.
"""

from importlib import import_module
from pkgutil import iter_modules

__all__ = [module.name for module in iter_modules(__path__)]


def __getattr__(name: str) -> object:
    if name in __all__:
        return import_module(f"conclust.consensus.{name}")
    raise AttributeError(f"module 'conclust.consensus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
