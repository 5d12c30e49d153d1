"""How many clusters the points have, and which."""

from conclust.number.centers import ClusterCenters
from conclust.number.decision import decide_by_points

__all__ = ["ClusterCenters", "decide_by_points"]


def __dir__() -> list[str]:
    return __all__
