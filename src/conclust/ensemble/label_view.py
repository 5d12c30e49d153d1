"""Labels in the form of the kernels: the only converter to their `LabelView`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._kernels import LabelView
from conclust._types import Floats, Ints


def label_view(
    codes: NDArray[Any],
    offsets: Ints | None = None,
    weights: Floats | None = None,
    soft: sp.csr_array | None = None,
    *,
    complete: bool = False,
) -> LabelView:
    """Return the view of some objects' labels for kernels; ``Ensemble.label_view`` is that of all objects.

    Parameters
    ----------
    codes : ndarray of shape (n_objects, n_partitions)
        Codes of one of the three types, see ``_kernels/labels/codes.h``.
    offsets : ndarray of shape (n_partitions + 1,), default=None
        Column of the indicator at which each partition begins. None: for a kernel that reads codes alone.
    weights : ndarray of shape (n_partitions,), default=None
        Weight of each partition. None: all 1.
    soft : csr_array of shape (n_objects, T), default=None
        Posteriors. None: the partitions are hard.
    complete : bool, default=False
        Whether no label is missing or noise, if known.

    Returns
    -------
    LabelView
        It holds the arrays, and copies of those that are not laid out as the kernels want them.
    """
    if weights is not None:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
    if soft is None:
        return LabelView(np.ascontiguousarray(codes), offsets, weights, complete=complete)
    if not soft.has_sorted_indices:
        soft = soft.copy()
        soft.sort_indices()
    return LabelView(
        np.ascontiguousarray(codes),
        offsets,
        weights,
        soft.indptr.astype(np.int64, copy=False),
        soft.indices.astype(np.int32, copy=False),
        soft.data.astype(np.float64, copy=False),
        complete,
    )
