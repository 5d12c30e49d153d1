"""Pictures of evidence, consensus, selection and concept lattices. Needs the extra "plot" (matplotlib).

Every picture takes ``ax`` and returns it.
"""

from conclust.plotting.diagram import line_diagram
from conclust.plotting.flows import flow_diagram
from conclust.plotting.heatmaps import coassociation_heatmap
from conclust.plotting.maps import embedding
from conclust.plotting.members import partition_map
from conclust.plotting.numbers import cdf_curves, criterion_curve
from conclust.plotting.objects import membership_bars, silhouette_bars
from conclust.plotting.ranks import critical_difference
from conclust.plotting.support import consensus_tree
from conclust.plotting.trees import dendrogram

__all__ = [
    "cdf_curves",
    "coassociation_heatmap",
    "consensus_tree",
    "criterion_curve",
    "critical_difference",
    "dendrogram",
    "embedding",
    "flow_diagram",
    "line_diagram",
    "membership_bars",
    "partition_map",
    "silhouette_bars",
]


def __dir__() -> list[str]:
    return __all__
