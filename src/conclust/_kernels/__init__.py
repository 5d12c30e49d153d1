"""The only door to the C++ extension: nothing else in conclust imports ``_core``.

The kernels hold no policy and check nothing: their preconditions are in the headers beside them,
and the callers on the floors above guarantee them.
"""

from conclust._kernels._core import (
    BitSlices,
    FactoredSolver,
    Relabeller,
    bitslice_forms,
    cluster_sizes,
    continues_canonical,
    count_reserved,
    factored_stride,
    group_rows,
    presence_signatures,
    squared_evidence,
)

__all__ = [
    "BitSlices",
    "FactoredSolver",
    "Relabeller",
    "bitslice_forms",
    "cluster_sizes",
    "continues_canonical",
    "count_reserved",
    "factored_stride",
    "group_rows",
    "presence_signatures",
    "squared_evidence",
]
