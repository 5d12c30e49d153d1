"""Borders between pieces of points, and the number of points along them."""

from conclust.borders.valleys import (
    BorderGeometry,
    ValleyCounts,
    border_geometry,
    leading_components,
    stratified_part,
    valley_counts,
)

__all__ = [
    "BorderGeometry",
    "ValleyCounts",
    "border_geometry",
    "leading_components",
    "stratified_part",
    "valley_counts",
]
