"""The only door to the C++ extension: nothing else in conclust imports ``_core``.

The kernels hold no policy and check nothing: their preconditions are in the headers beside them,
and the callers on the floors above guarantee them.
"""

from conclust._kernels._core import (
    BitSlices,
    Relabeller,
    bitslice_forms,
    continues_canonical,
    count_reserved,
    group_rows,
)

__all__ = [
    "BitSlices",
    "Relabeller",
    "bitslice_forms",
    "continues_canonical",
    "count_reserved",
    "group_rows",
]
