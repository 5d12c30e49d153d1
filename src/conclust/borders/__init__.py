"""Borders between pieces of points, and the number of points along them."""

from conclust.borders.valleys import (
    BorderGeometry,
    ValleyCounts,
    border_geometry,
    leading_components,
    stratified_part,
    valley_counts,
    valley_ratios,
)

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
