"""A final refinement of clusters by the points, and further partitions of them."""

from conclust.points.chooser import refined_by_points
from conclust.points.given import decide_given
from conclust.points.refinement import Refinement, objects_to_refine, refine_by_centers

__all__ = [
    "Refinement",
    "decide_given",
    "objects_to_refine",
    "refine_by_centers",
    "refined_by_points",
]


def __dir__() -> list[str]:
    return __all__
