"""Cuts of a tree in which specks, branches of a few objects, are not counted as clusters."""

from __future__ import annotations

import numpy as np

from conclust._types import Floats, Ints
from conclust.trees.dendrogram import clusters_at

# Least size of a cluster, as a share of the mean size of n_clusters clusters.
_LEAST_SHARE = 0.1


def counted_cut(tree: Floats, n_clusters: int) -> Ints:
    """Cut a tree into a number of clusters, of which none is a speck.

    A speck is a branch with fewer than a tenth of the objects that a cluster has on average. The tree is cut at the
    first level with `n_clusters` other branches. If more specks than clusters are met on the way, the user's clusters
    are that small: the cut is the usual one, and nothing is a speck.

    Parameters
    ----------
    tree : ndarray of shape (n_objects - 1, 4)
        A dendrogram in SciPy's format.
    n_clusters : int
        Number of clusters, at most that of the objects.

    Returns
    -------
    ndarray of int64 of shape (n_objects,)
        Clusters by first appearance; -1 for the objects of specks.
    """
    least = _least(len(tree) + 1, n_clusters)
    for level in range(n_clusters, min(2 * n_clusters, len(tree) + 1) + 1):
        labels = clusters_at(tree, level)
        counted = np.bincount(labels) >= least
        if np.count_nonzero(counted) == n_clusters:
            number = np.where(counted, np.cumsum(counted) - 1, -1)
            return np.asarray(number[labels], dtype=np.int64)
    return clusters_at(tree, n_clusters)


def has_specks(labels: Ints) -> bool:
    """Return whether a cluster has fewer than a tenth of the objects that a cluster has on average."""
    sizes = np.bincount(labels)
    return bool(sizes.min() < _least(len(labels), len(sizes)))


def _least(n: int, n_clusters: int) -> float:
    return _LEAST_SHARE * n / n_clusters
