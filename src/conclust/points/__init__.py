"""Contributions of the points to a consensus of their clusterings: the number of clusters, and a final refinement."""

from conclust.points.chooser import ChooserByPoints, RefinerByPoints
from conclust.points.number import BorderDecision, number_by_borders
from conclust.points.refinement import Refinement, objects_to_refine, refine_by_centers

__all__ = [
    "BorderDecision",
    "ChooserByPoints",
    "Refinement",
    "RefinerByPoints",
    "number_by_borders",
    "objects_to_refine",
    "refine_by_centers",
]


def __dir__() -> list[str]:
    return __all__
