"""Clusters of a given number and a final refinement by the points, further partitions of them, and doubts about them."""

from conclust.points.doubts import doubts_of_fit
from conclust.points.given import decide_given
from conclust.points.refinement import (
    Refinement,
    objects_to_refine,
    refine_by_centers,
    refined_by_points,
)

__all__ = [
    "Refinement",
    "decide_given",
    "doubts_of_fit",
    "objects_to_refine",
    "refine_by_centers",
    "refined_by_points",
]


def __dir__() -> list[str]:
    return __all__
