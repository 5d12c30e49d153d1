"""Contributions of the points to a consensus of their clusterings: the number of clusters, and a final refinement."""

from conclust.points.chooser import decide_by_points, refined_by_points
from conclust.points.doubts import doubts_of_fit
from conclust.points.number import BorderDecision, number_by_borders
from conclust.points.refinement import Refinement, objects_to_refine, refine_by_centers

__all__ = [
    "BorderDecision",
    "Refinement",
    "decide_by_points",
    "doubts_of_fit",
    "number_by_borders",
    "objects_to_refine",
    "refine_by_centers",
    "refined_by_points",
]


def __dir__() -> list[str]:
    return __all__
