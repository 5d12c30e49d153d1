"""Pictures of the evidence, of a soft consensus and of a concept lattice. Needs the extra "plot" (matplotlib)."""

from conclust.plotting.diagram import line_diagram
from conclust.plotting.heatmaps import coassociation_heatmap, membership_heatmap

__all__ = ["coassociation_heatmap", "line_diagram", "membership_heatmap"]


def __dir__() -> list[str]:
    return __all__
