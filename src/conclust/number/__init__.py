"""How many clusters the points have, and which."""

from conclust.number.centers import Discriminants
from conclust.number.decision import decide_by_points

__all__ = ["Discriminants", "decide_by_points"]


def __dir__() -> list[str]:
    return __all__
