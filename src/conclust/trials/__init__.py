"""Compares several consensus methods on one ensemble."""

from conclust.trials.result import Comparison, Trial
from conclust.trials.running import compare

__all__ = ["Comparison", "Trial", "compare"]


def __dir__() -> list[str]:
    return __all__
