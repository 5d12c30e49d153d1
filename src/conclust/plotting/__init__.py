"""Pictures of evidence, consensus, selection and concept lattices. Needs the extra "plot" (matplotlib).

Every picture takes ``ax`` and returns it; its ``..._of`` function returns the data as arrays.
"""

from conclust.plotting.canvas.figures import paper_axes
from conclust.plotting.canvas.style import look
from conclust.plotting.diagram import line_diagram
from conclust.plotting.draws import (
    LossCurve,
    ball_columns,
    expected_loss_curve,
    expected_loss_of,
    similarity_blocks,
)
from conclust.plotting.flows import (
    Flow,
    Tracking,
    flow_diagram,
    flow_of,
    tracking_of,
    tracking_plot,
)
from conclust.plotting.graph import ClusterGraph, cluster_graph, cluster_graph_of
from conclust.plotting.heatmaps import coassociation_heatmap, membership_heatmap
from conclust.plotting.maps import Embedding, embedding, embedding_of
from conclust.plotting.members import (
    PartitionMap,
    partition_map,
    partition_map_of,
    weight_bars,
    weights_of,
)
from conclust.plotting.numbers import (
    Curve,
    area_curve,
    cdf_curves,
    cdf_of,
    criterion_curve,
    curve_of,
    pac_curve,
    rcsi_curve,
)
from conclust.plotting.objects import (
    Bars,
    bars_of,
    membership_bars,
    silhouette_bars,
    silhouettes_of,
)
from conclust.plotting.signatures import signature_heatmap
from conclust.plotting.support import SupportedTree, consensus_tree, consensus_tree_of
from conclust.plotting.traces import objective_trace, trace_of
from conclust.plotting.trees import Tree, dendrogram, tree_of
from conclust.plotting.trials import Ranking, comparison, comparison_of

__all__ = [
    "Bars",
    "ClusterGraph",
    "Curve",
    "Embedding",
    "Flow",
    "LossCurve",
    "PartitionMap",
    "Ranking",
    "SupportedTree",
    "Tracking",
    "Tree",
    "area_curve",
    "ball_columns",
    "bars_of",
    "cdf_curves",
    "cdf_of",
    "cluster_graph",
    "cluster_graph_of",
    "coassociation_heatmap",
    "comparison",
    "comparison_of",
    "consensus_tree",
    "consensus_tree_of",
    "criterion_curve",
    "curve_of",
    "dendrogram",
    "embedding",
    "embedding_of",
    "expected_loss_curve",
    "expected_loss_of",
    "flow_diagram",
    "flow_of",
    "line_diagram",
    "look",
    "membership_bars",
    "membership_heatmap",
    "objective_trace",
    "pac_curve",
    "paper_axes",
    "partition_map",
    "partition_map_of",
    "rcsi_curve",
    "signature_heatmap",
    "silhouette_bars",
    "silhouettes_of",
    "similarity_blocks",
    "trace_of",
    "tracking_of",
    "tracking_plot",
    "tree_of",
    "weight_bars",
    "weights_of",
]


def __dir__() -> list[str]:
    return __all__
