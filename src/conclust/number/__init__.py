"""How many clusters the points have, and which."""

from conclust.number.decision import decide_by_points
from conclust.number.halves import Discriminants

__all__ = ["Discriminants", "decide_by_points"]


def __dir__() -> list[str]:
    return __all__
