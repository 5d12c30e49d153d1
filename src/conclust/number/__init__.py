"""How many clusters the points have."""

from conclust.number.decision import decide_by_points

__all__ = ["decide_by_points"]


def __dir__() -> list[str]:
    return __all__
