"""Single linkage from labels: the minimum spanning tree of 1 - c_ij / N_ij, without a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from conclust import _kernels
from conclust._types import Floats, Ints
from conclust.ensemble import as_ensemble
from conclust.exceptions import UnsupportedEnsembleError

# Number of comparisons between checks for interrupts: some tens of milliseconds.
_COMPARISONS = 50_000_000


class SpanningTree(NamedTuple):
    """A minimum spanning tree in the order in which Prim's algorithm visits the objects.

    Every cluster of single linkage is a run of `order`: at any height h, a new cluster begins
    wherever ``heights`` exceeds h.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        Objects in the order of their joining; the first is object 0.
    heights : ndarray of shape (n_samples - 1,)
        Height, 1 - c/N, at which ``order[t + 1]`` joined.
    """

    order: Ints
    heights: Floats


def spanning_tree(
    labels: Any, *, progress: Callable[[int, int], object] | None = None
) -> SpanningTree:
    """Grow the minimum spanning tree of the dissimilarities 1 - c_ij / N_ij.

    Takes O(n_samples) memory beyond the labels and O(n_samples^2) time on one thread; nothing of
    size n x n is formed. Can be interrupted.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_partitions) or Ensemble
        Labels, one partition per column; -1, NaN, None: missing; -2: noise, observed but apart from all.
    progress : callable, default=None
        Function called from time to time with the number of objects in the tree and in total.

    Returns
    -------
    SpanningTree
        ``order`` (int64) and ``heights`` (float64). Pairs that no partition observed together
        have height 1. Ties: the object with the lowest index joins first.

    Raises
    ------
    InputError
        If the labels are malformed.
    UnsupportedEnsembleError
        If the ensemble is soft.

    Notes
    -----
    Prim, "Shortest connection networks and some generalizations", Bell System Technical Journal
    36, 1957. Gower and Ross showed that single linkage has the same edges: "Minimum spanning trees
    and single linkage cluster analysis", Applied Statistics 18, 1969.

    Examples
    --------
    >>> from conclust.evidence import spanning_tree
    >>> tree = spanning_tree([[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]])
    >>> tree.order
    array([0, 2, 1, 3])
    >>> tree.heights
    array([0.25, 0.75, 0.  ])
    """
    ensemble = as_ensemble(labels)
    if ensemble.is_soft:
        raise UnsupportedEnsembleError(
            "The spanning tree grows from labels, and this ensemble is soft. Form the dense "
            "evidence of its memberships with conclust.evidence.evidence instead."
        )
    n = ensemble.n_samples
    tree = _kernels.SpanningTree(ensemble.label_view)
    left = n - 1
    while left:
        left = tree.grow(max(1, _COMPARISONS // left))
        if progress is not None:
            progress(n - left, n)
    order, heights = np.empty(n, dtype=np.int64), np.empty(n - 1)
    tree.read(order, heights)
    return SpanningTree(order, heights)
