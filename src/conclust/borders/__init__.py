"""Borders between pieces of points: the number of points in the valley and at the peaks on both sides.

The axis and the region of a border come from one part of the points, the counts from another, so that a
valley is not an artefact of the clustering that made the pieces.
"""

from conclust.borders.geometry import BorderGeometry, border_geometry, leading_components
from conclust.borders.valleys import ValleyCounts, stratified_part, valley_counts, valley_ratios

__all__ = [
    "BorderGeometry",
    "ValleyCounts",
    "border_geometry",
    "leading_components",
    "stratified_part",
    "valley_counts",
    "valley_ratios",
]


def __dir__() -> list[str]:
    return __all__
