"""The only door to the C++ extension: nothing else in conclust imports ``_core``.

The kernels hold no policy and check nothing: their preconditions are in the headers beside them,
and the callers on the floors above guarantee them.
"""

from conclust._kernels._core import (
    BitSlices,
    FactoredSolver,
    Relabeller,
    agglomerate_average,
    agglomerate_complete,
    agglomerate_single,
    agglomerate_ward,
    bitslice_forms,
    cluster_sizes,
    continues_canonical,
    count_reserved,
    cut_tree,
    factored_stride,
    group_rows,
    label_merges,
    presence_signatures,
    sparse_average,
    sparse_single,
    squared_evidence,
)

__all__ = [
    "BitSlices",
    "FactoredSolver",
    "Relabeller",
    "agglomerate_average",
    "agglomerate_complete",
    "agglomerate_single",
    "agglomerate_ward",
    "bitslice_forms",
    "cluster_sizes",
    "continues_canonical",
    "count_reserved",
    "cut_tree",
    "factored_stride",
    "group_rows",
    "label_merges",
    "presence_signatures",
    "sparse_average",
    "sparse_single",
    "squared_evidence",
]
