"""Confidence of a consensus in each object, cluster and partition, compared with random partitions.

The classes are what the functions return, importable for annotations.
"""

from conclust._lazy import attach

_names, __getattr__, _ = attach(__name__)
__all__ = [name for name in _names if name.islower()]


def __dir__() -> list[str]:
    return __all__
