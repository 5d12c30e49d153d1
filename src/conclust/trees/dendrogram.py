"""Dendrograms as SciPy's linkage matrices: from merges, cut at K, and the lifetime criterion."""

from __future__ import annotations

import numpy as np

from conclust._arrays.containers import number_array
from conclust._kernels import cut_tree, label_merges
from conclust._types import Floats, Ints
from conclust._validation import check_int, shown
from conclust.ensemble import Ensemble
from conclust.exceptions import EnsembleWarning, InputError, warn

# Lifetimes are differences of heights, so equal ones differ in their last bits.
_SAME = 1e-9
# Fewer partitions with the same number of clusters may have it by coincidence.
_FEW = 3


def from_merges(left: Ints, right: Ints, heights: Floats) -> Floats:
    """Return the linkage matrix of n - 1 merges given in any order.

    Parameters
    ----------
    left, right : ndarray of int64 of shape (n - 1,)
        A leaf of either cluster of each merge; as edges they form a spanning tree of the n leaves.
    heights : ndarray of shape (n - 1,)
        Height of each merge. Equal heights keep the given order.

    Returns
    -------
    ndarray of shape (n - 1, 4)
        SciPy's form: the two clusters joined (leaf i is cluster i, row t forms cluster n + t), the
        height, and the number of leaves.
    """
    tree = np.empty((len(heights), 4))
    label_merges(left, right, heights, tree)
    return tree


def cut(linkage_matrix: Floats, n_clusters: int) -> Ints:
    """Cut a dendrogram into exactly `n_clusters` clusters.

    The first n - `n_clusters` merges are made, in the order of the matrix: the number of clusters is
    exact even where heights are equal.

    Parameters
    ----------
    linkage_matrix : ndarray of shape (n_samples - 1, 4)
        As in ``EAC.linkage_matrix_`` or ``scipy.cluster.hierarchy.linkage``.
    n_clusters : int
        Number of clusters, from 1 to n_samples.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Labels, consecutive from 0 by first appearance.

    Raises
    ------
    ParameterError
        If `n_clusters` is not an int from 1 to n_samples.
    InputError
        If `linkage_matrix` is not a linkage matrix.

    Examples
    --------
    >>> from conclust import EAC
    >>> from conclust.consensus.linkage import cut
    >>> tree = EAC().fit([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]).linkage_matrix_
    >>> cut(tree, 3)
    array([0, 0, 1, 2])
    """
    tree = np.ascontiguousarray(number_array(linkage_matrix, "A linkage matrix"))
    _refuse_other_matrices(tree)
    return clusters_at(tree, check_int(n_clusters, "n_clusters", "cut", high=len(tree) + 1))


def clusters_at(tree: Floats, n_clusters: int) -> Ints:
    """Return what `cut` returns, without its checks, for a dendrogram made by this package."""
    labels = np.empty(len(tree) + 1, dtype=np.int64)
    cut_tree(tree, n_clusters, labels)
    return labels


def _joins_each_once(joined: Floats) -> bool:
    n = len(joined) + 1
    if not ((joined >= 0) & (joined < np.arange(n, 2 * n - 1)[:, np.newaxis])).all():
        return False
    clusters = joined.astype(np.int64)
    return bool((clusters == joined).all() and (np.bincount(clusters.ravel()) == 1).all())


def _refuse_other_matrices(tree: Floats) -> None:
    """Refuse a matrix whose rows do not join each cluster once, after it was formed."""
    if tree.ndim != 2 or tree.shape[1] != 4 or not _joins_each_once(tree[:, :2]):
        raise InputError(
            "A linkage matrix must have a row for each merge, as EAC.linkage_matrix_ and "
            f"scipy.cluster.hierarchy.linkage have. Got {shown(tree)} instead."
        )


def lifetimes(linkage_matrix: Floats) -> Floats:
    """Return the lifetime of each number of clusters when the dendrogram is cut at increasing heights.

    K clusters exist for the thresholds between the merge that leaves K and the one that leaves
    K - 1; the length of that range is the lifetime of K [1]_.

    Parameters
    ----------
    linkage_matrix : ndarray of shape (n_samples - 1, 4)
        As in ``EAC.linkage_matrix_``.

    Returns
    -------
    ndarray of shape (n_samples - 1,)
        Entry k is the lifetime of k + 2 clusters, in units of the heights. One cluster is not
        among them: it lives for ever.

    References
    ----------
    .. [1] A. L. N. Fred and A. K. Jain, "Combining multiple clusterings using evidence
       accumulation", IEEE TPAMI 27(6), 2005.

    Examples
    --------
    >>> from conclust import EAC
    >>> from conclust.consensus.linkage import lifetimes
    >>> tree = EAC().fit([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]).linkage_matrix_
    >>> lifetimes(tree).round(4)
    array([0.5   , 0.3333, 0.    ])
    """
    heights = np.concatenate([[0.0], linkage_matrix[:, 2]])
    return np.ascontiguousarray(np.diff(heights)[::-1])


def longest_lifetime(linkage_matrix: Floats) -> int:
    """Return the number of clusters, at least 2, with the longest lifetime.

    Among equal lifetimes (within 1e-9 of the tallest height) the smallest number of clusters
    is chosen. One cluster is not considered, as its lifetime is infinite; it is returned only if there is no
    choice: a single object, or objects that are all at distance 0.

    Parameters
    ----------
    linkage_matrix : ndarray of shape (n_samples - 1, 4)
        As in ``EAC.linkage_matrix_``.

    Returns
    -------
    int
        Number of clusters.

    Examples
    --------
    >>> from conclust import EAC
    >>> from conclust.consensus.linkage import longest_lifetime
    >>> tree = EAC().fit([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]).linkage_matrix_
    >>> longest_lifetime(tree)
    2
    """
    return longest_of(lifetimes(linkage_matrix), height_of(linkage_matrix))


def height_of(linkage_matrix: Floats) -> float:
    """Return the height of the last merge; 0 for a single object."""
    return float(linkage_matrix[-1, 2]) if len(linkage_matrix) else 0.0


def longest_of(lives: Floats, tallest: float, most: int | None = None) -> int:
    """Return the number of clusters with the longest of the `lifetimes` of a tree of height `tallest`, at most `most`."""
    if tallest == 0.0:
        return 1
    lives = lives if most is None else lives[: most - 1]
    return 2 + int(np.argmax(lives >= lives.max() - _SAME * tallest))


def common_number(ensemble: Ensemble) -> int | None:
    """Return the number of clusters of all partitions, if it is the same.

    Parameters
    ----------
    ensemble : Ensemble
        The members. Partitions without weight do not count.

    Returns
    -------
    int or None
        None: the numbers differ, they are below 2, or there are fewer than three partitions.
    """
    counts = ensemble.cluster_counts[ensemble.partition_weights > 0]
    if len(counts) < _FEW or counts[0] < 2 or (counts != counts[0]).any():
        return None
    return int(counts[0])


def number_by_lifetime(ensemble: Ensemble, lives: Floats, tallest: float, owner: str) -> int:
    """Return the number of clusters with the longest lifetime, limited to the common number of all partitions.

    Parameters
    ----------
    ensemble : Ensemble
        The members of the tree.
    lives : ndarray of shape (n_samples - 1,)
        `lifetimes` of 2, 3, ... clusters.
    tallest : float
        Height of the tree.
    owner : str
        Name of the estimator, used in the warning.

    Warns
    -----
    EnsembleWarning
        The longest lifetime is that of a larger number than any partition has. If all have the same number, a smaller one
        is chosen.
    """
    number, most = longest_of(lives, tallest), common_number(ensemble)
    largest = int(ensemble.cluster_counts[ensemble.partition_weights > 0].max())
    if number <= (most or largest):
        return number
    if most is None:
        warn(
            f"The longest lifetime is that of {number} clusters, and no partition has more than {largest}: {owner} cuts off "
            "objects that few partitions put together. Pass n_clusters, or use AutoConsensus(), which chooses it by other evidence.",
            EnsembleWarning,
        )
        return number
    warn(
        f"All partitions have {most} clusters, so they cannot show more: the longest lifetime is that of "
        f"{number} clusters, and {owner} takes the longest of at most {most}. Pass n_clusters={most} to "
        "choose their number.",
        EnsembleWarning,
    )
    return longest_of(lives, tallest, most)
