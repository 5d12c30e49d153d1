"""Dendrograms of any number of objects, with the lifetime of the clusters shaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.containers import number_array, plain_array
from conclust._arrays.rows import cross_counts
from conclust._types import Floats, Ints
from conclust._validation import check_int
from conclust.consensus.linkage import cut, longest_lifetime
from conclust.exceptions import InputError
from conclust.measures.matching import assign
from conclust.plotting.canvas.figures import axes
from conclust.plotting.canvas.keys import bar_below
from conclust.plotting.canvas.style import GREY, INK, PAGE, PALE, cluster_colours, drawn_in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Tree:
    """The upper part of a dendrogram.

    Attributes
    ----------
    order : ndarray of shape (n_leaves,)
        All leaves of the tree from left to right.
    x : ndarray of shape (n_merges, 2)
        Positions of the two parts of each merge, each at the middle of its leaves.
    y : ndarray of shape (n_merges, 3)
        Heights of the two parts, and of the merge.
    cluster : ndarray of shape (n_merges,)
        The cluster that the merge is within, counted from the left; -1 for merges of several.
    ends : ndarray of shape (n_clusters + 1,)
        Positions where the clusters start in the order, and the end of the last one.
    lifetime : tuple of two floats
        Heights between which the tree has this number of clusters.
    labels : ndarray of shape (n_clusters,)
        Label of each cluster, from left to right.
    """

    order: Ints
    x: Floats
    y: Floats
    cluster: Ints
    ends: Ints
    lifetime: tuple[float, float]
    labels: Ints


def tree_of(
    tree: ArrayLike | Any,
    n_clusters: int | None = None,
    *,
    labels: ArrayLike | None = None,
    max_merges: int = 500,
) -> Tree:
    """Return the data of the dendrogram as arrays.

    Parameters
    ----------
    tree : array-like of shape (n_leaves - 1, 4) or fitted model
        A linkage matrix in SciPy's form with rising heights, or a model with ``linkage_matrix_``.
    n_clusters : int, default=None
        Number of clusters that the tree is cut into. None: that of the model, or else the number with the longest lifetime.
    labels : array-like of shape (n_leaves,), default=None
        Labels from 0 on. Clusters of the tree are matched one to one with these clusters, by the number of leaves in common,
        and take their labels. None: the labels of the model; for a matrix, numbers by first appearance, as ``EAC`` gives.
    max_merges : int, default=500
        Maximum number of merges that are returned, the last ones.

    Returns
    -------
    Tree
        Places and heights of the last merges.

    Raises
    ------
    InputError
        If there is no tree, or `labels` are not of its leaves.
    ParameterError
        If there are fewer leaves than clusters.

    Examples
    --------
    >>> from conclust.plotting.trees import tree_of
    >>> found = tree_of([[0, 1, 0.1, 2], [2, 3, 0.9, 3]])
    >>> found.x
    array([[1.5, 2.5],
           [0.5, 2. ]])
    >>> found.lifetime
    (0.1, 0.9)
    """
    matrix, n_clusters = _read(tree, n_clusters)
    n = len(matrix) + 1
    check_int(n_clusters, "n_clusters", "dendrogram", high=n)
    most = check_int(max_merges, "max_merges", "dendrogram")
    # The first position of the leaves of each node, from the root down: the left part comes first.
    size = np.concatenate([np.ones(n), matrix[:, 3]]).astype(np.int64)
    begin = np.zeros(2 * n - 1, dtype=np.int64)
    parts = matrix[:, :2].astype(np.int64)
    for row in range(n - 2, -1, -1):
        left, right = parts[row]
        begin[left] = begin[n + row]
        begin[right] = begin[n + row] + size[left]
    order = np.empty(n, dtype=np.int64)
    order[begin[:n]] = np.arange(n)
    # A node is halfway between its parts, a leaf in the middle of its interval.
    middle = begin + size / 2.0
    for row in range(n - 1):
        middle[n + row] = middle[parts[row]].mean()
    height = np.concatenate([np.zeros(n), matrix[:, 2]])
    top_merges = np.arange(max(0, n - 1 - most), n - 1)
    is_shown = np.zeros(2 * n - 1, dtype=bool)
    is_shown[n + top_merges] = True
    # A truncated branch keeps its interval, with the middle of its leaves as position.
    for merge in top_merges.tolist():
        for part in parts[merge]:
            if not is_shown[part]:
                middle[part] = begin[part] + size[part] / 2.0
        middle[n + merge] = middle[parts[merge]].mean()
    parts_of_leaves = cut(matrix, n_clusters)
    ordered = parts_of_leaves[order]
    ends = np.flatnonzero(np.diff(ordered)) + 1
    number = np.cumsum(np.concatenate([[0], np.diff(ordered) != 0]))
    starts = np.concatenate([[0], ends])
    cluster = np.where(top_merges < n - n_clusters, number[begin[n + top_merges]], -1)
    low = float(height[2 * n - 1 - n_clusters]) if n_clusters < n else 0.0
    high = float(height[2 * n - n_clusters]) if n_clusters > 1 else max(low, 1.0)
    return Tree(
        order,
        middle[parts[top_merges]],
        np.column_stack([height[parts[top_merges]], height[n + top_merges]]),
        cluster,
        np.concatenate([[0], ends, [n]]),
        (low, high),
        _matched(parts_of_leaves, n_clusters, _labels_of_leaves(tree, labels, n))[ordered[starts]],
    )


def _labels_of_leaves(tree: Any, labels: ArrayLike | None, n: int) -> Ints | None:
    if labels is None:
        given = np.asarray(getattr(tree, "labels_", ()))
        # Objects that no partition observed are not in the tree; a tree of some of the objects has no labels.
        seen = given[given >= 0]
        return seen.astype(np.int64) if len(seen) == n else None
    given = plain_array(labels, "'labels'")
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise InputError(
            f"'labels' must be a whole number for each of the {n} leaves of the tree. Got an array of "
            f"shape {given.shape} and type {given.dtype}."
        )
    return given.astype(np.int64)


def _matched(parts: Ints, n_parts: int, labels: Ints | None) -> Ints:
    """Return a label for each part of the tree; parts left over get numbers that no label has."""
    if labels is None or np.array_equal(labels, parts):
        return np.arange(n_parts)
    return assign(
        cross_counts(parts, labels, (n_parts, max(int(labels.max(initial=-1)) + 1, n_parts)))
    )


def _read(tree: Any, n_clusters: int | None) -> tuple[Floats, int]:
    if hasattr(tree, "fit"):
        check_is_fitted(tree)
        model = getattr(tree, "consensus_", tree)
        matrix = getattr(model, "linkage_matrix_", None)
        if matrix is None:
            raise InputError(
                f"dendrogram draws a tree, and {type(model).__name__} keeps none: EAC, LWEA and "
                "MultiEAC do ('linkage_matrix_')."
            )
        n_clusters = int(model.n_clusters_) if n_clusters is None else n_clusters
    else:
        matrix = number_array(tree, "The rows of a tree")
    if matrix.ndim != 2 or matrix.shape[1] != 4 or not len(matrix):
        raise InputError(
            "dendrogram draws a linkage matrix in SciPy's form, of shape (n_leaves - 1, 4). Got an array "
            f"of shape {matrix.shape}."
        )
    if (np.diff(matrix[:, 2]) < -1e-9 * max(1.0, float(matrix[:, 2].max()))).any():
        raise InputError(
            "dendrogram needs merges by rising height. Got one that is lower than before."
        )
    return matrix, longest_lifetime(matrix) if n_clusters is None else n_clusters


@drawn_in_style
def dendrogram(
    tree: ArrayLike | Any,
    n_clusters: int | None = None,
    *,
    labels: ArrayLike | None = None,
    max_merges: int = 500,
    ax: Axes | None = None,
) -> Axes:
    """Draw a dendrogram with coloured clusters and a shaded band for their lifetime.

    Parameters
    ----------
    tree : array-like of shape (n_leaves - 1, 4) or fitted model
        A linkage matrix in SciPy's form with rising heights, or a model with ``linkage_matrix_``.
    n_clusters : int, default=None
        Number of clusters that the tree is cut into. None: that of the model, or else the number with the longest lifetime.
    labels : array-like of shape (n_leaves,), default=None
        Labels from 0 on. Clusters of the tree are matched one to one with these clusters, by the number of leaves in common,
        and take their labels and colours. None: the labels of the model; for a matrix, numbers by first appearance, as ``EAC``
        gives.
    max_merges : int, default=500
        Maximum number of merges that are drawn, the last ones; lower branches are cut off.
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``), 17.5 cm wide.

    Returns
    -------
    Axes
        The axes with the picture.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If there is no tree, or `labels` are not of its leaves.
    ParameterError
        If there are fewer leaves than clusters.

    References
    ----------
    A. L. N. Fred, A. K. Jain: Combining multiple clusterings using evidence accumulation. IEEE TPAMI
    27, 2005.

    Examples
    --------
    >>> from conclust import EAC
    >>> from conclust.plotting import dendrogram
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> ax = dendrogram(EAC(2).fit(labels))
    >>> ax.get_title()
    'Dendrogram of 4 objects: 2 clusters live for 0.50'
    """
    from matplotlib.collections import LineCollection

    picture = tree_of(tree, n_clusters, labels=labels, max_merges=max_merges)
    n, K = len(picture.order), len(picture.ends) - 1
    ax = axes(ax, (PAGE, 0.42 * PAGE))
    low, high = picture.lifetime
    ax.axhspan(low, high, color=PALE, linewidth=0, zorder=0)
    # Each merge is a bracket: up, across, down.
    x, y = picture.x[:, [0, 0, 1, 1]], picture.y[:, [0, 2, 2, 1]]
    palette = cluster_colours(int(picture.labels.max()) + 1)[picture.labels]
    colours = [palette[k] if k >= 0 else INK for k in picture.cluster]
    widths = np.where(picture.cluster >= 0, 0.9, 1.2)
    ax.add_collection(
        LineCollection(list(np.stack([x, y], axis=2)), colors=colours, linewidths=widths, zorder=2)
    )
    for k, (a, b) in enumerate(zip(picture.ends[:-1], picture.ends[1:], strict=True)):
        text, gap = f"{b - a:,}", 0.02 * (b - a)
        fits = (b - a) / n * 72.0 * ax.bbox.width / ax.figure.dpi > 4.0 * len(text) + 2
        bar_below(ax, (a + gap, b - gap), palette[k], text if fits else "")
    top = float(picture.y.max(initial=0.0))
    ax.set(xlim=(0, n), ylim=(0, 1.03 * max(top, high if K > 1 else low, 1e-12)))
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel("objects (numbers: of a cluster)", labelpad=17)
    ax.set_ylabel("height")
    clusters = f"{K} cluster{'s' * (K > 1)} live{'s' * (K == 1)}"
    long = f" for {high - low:.2f}" if K > 1 else ""
    ax.set_title(f"Dendrogram of {n:,} objects: {clusters}{long}")
    if K > 1:
        ax.axhline((low + high) / 2, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    return ax
