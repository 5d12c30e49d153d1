"""The consensus tree with its support: levels that hold are solid, borders that do not are dashed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from conclust._types import Bools, Floats, Ints
from conclust._validation import shown
from conclust.confidence import ConsensusTree
from conclust.exceptions import InputError
from conclust.plotting.canvas.figures import axes
from conclust.plotting.canvas.keys import bar_below, note
from conclust.plotting.canvas.style import GREY, INK, PAGE, cluster_colours, drawn_in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Minimum width of a leaf in addition to its share of the objects, so that small leaves are visible.
_LEAST = 0.03


@dataclass(frozen=True)
class SupportedTree:
    """Data of the picture of a consensus tree.

    Attributes
    ----------
    x : ndarray of shape (n_splits, 2)
        Positions of the two parts of each split.
    y : ndarray of shape (n_splits, 3)
        Heights of the two parts, and of the split.
    holds : ndarray of bool of shape (n_splits,)
        Whether its border holds.
    ends : ndarray of shape (n_leaves + 1,)
        Positions where the leaves start, from left to right, and the end of the last one; in [0, 1].
    leaves : ndarray of int64 of shape (n_leaves,)
        Their numbers in the tree, from left to right.
    sizes : ndarray of int64 of shape (n_leaves,)
        Their objects.
    clusters : ndarray of int64 of shape (n_leaves,)
        The cluster that each leaf is in where borders hold; without p-values its own.
    """

    x: Floats
    y: Floats
    holds: Bools
    ends: Floats
    leaves: Ints
    sizes: Ints
    clusters: Ints


def consensus_tree_of(tree: ConsensusTree, *, alpha: float | None = None) -> SupportedTree:
    """Return the data of the picture of a consensus tree as arrays.

    Parameters
    ----------
    tree : ConsensusTree
        Tree from :func:`conclust.confidence.consensus_tree`.
    alpha : float, default=None
        The level at which borders hold. None: that of the tree.

    Returns
    -------
    SupportedTree
        Places, heights, and which splits hold.

    Raises
    ------
    InputError
        If the tree has one cluster only.

    Examples
    --------
    >>> from conclust.confidence import consensus_tree
    >>> from conclust.plotting.support import consensus_tree_of
    >>> labels = [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 1, 3], [1, 1, 4], [1, 2, 4]]
    >>> consensus_tree_of(consensus_tree(labels, max_clusters=3)).sizes
    array([3, 2, 1])
    """
    if not isinstance(tree, ConsensusTree) or not tree.splits:
        raise InputError(
            "consensus_tree draws a ConsensusTree with a split, as of conclust.confidence.consensus_tree. "
            f"Got {shown(tree)}."
        )
    order = [0]
    for split in tree.splits:
        at = order.index(split.node)
        order[at : at + 1] = [split.left, split.right]
    leaves = np.array(order)
    counts = np.bincount(tree.leaves[tree.leaves >= 0], minlength=2 * len(tree.splits) + 1)
    sizes = counts[leaves]
    room = sizes / sizes.sum() + _LEAST
    ends = np.concatenate([[0.0], np.cumsum(room / room.sum())])
    place = {int(leaf): (ends[i] + ends[i + 1]) / 2 for i, leaf in enumerate(leaves)}
    nodes = {split.node: split.height for split in tree.splits}
    x, y = np.empty((len(tree.splits), 2)), np.empty((len(tree.splits), 3))
    for s, split in reversed(list(enumerate(tree.splits))):
        x[s] = place[split.left], place[split.right]
        # The branches of leaves end at the bottom.
        y[s] = nodes.get(split.left, 0.0), nodes.get(split.right, 0.0), split.height
        place[split.node] = float(x[s].mean())
    cut = tree.cut(alpha=alpha) if tree.has_p_values else tree.cut(len(tree.splits) + 1)
    leaf_clusters = [
        int(cut[np.argmax(tree.leaves == leaf)]) if n else -1
        for leaf, n in zip(leaves, sizes, strict=True)
    ]
    return SupportedTree(x, y, tree.holds(alpha), ends, leaves, sizes, np.array(leaf_clusters))


@drawn_in_style
def consensus_tree(
    tree: ConsensusTree, *, alpha: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a consensus tree: solid splits hold, dashed ones do not.

    Parameters
    ----------
    tree : ConsensusTree
        Tree from :func:`conclust.confidence.consensus_tree`.
    alpha : float, default=None
        The level at which borders hold. None: that of the tree.
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
        If the tree has one cluster only.

    Notes
    -----
    Below the tree, each of its lowest clusters has a bar whose width is proportional to its size, in the colour of the cluster
    that it belongs to according to the borders that hold. Without p-values, all splits are dashed.

    Examples
    --------
    >>> from conclust.confidence import consensus_tree
    >>> from conclust import plotting
    >>> labels = [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 1, 3], [1, 1, 4], [1, 2, 4]]
    >>> ax = plotting.consensus_tree(consensus_tree(labels, max_clusters=3))
    >>> ax.get_title()
    'Consensus tree of 6 objects, without p-values'
    """
    drawing = consensus_tree_of(tree, alpha=alpha)
    ax = axes(ax, (PAGE, 0.45 * PAGE))
    level = tree.alpha if alpha is None else alpha
    for x, y, holds, split in zip(drawing.x, drawing.y, drawing.holds, tree.splits, strict=True):
        ax.plot(
            [x[0], x[0], x[1], x[1]],
            [y[0], y[2], y[2], y[1]],
            color=INK if holds else GREY,
            linewidth=1.6 if holds else 0.9,
            linestyle="-" if holds else (0, (3, 2)),
            solid_joinstyle="miter",
            zorder=3 if holds else 2,
        )
        if not np.isnan(split.adjusted):
            text = f"p = {split.adjusted:.2g}" if split.adjusted >= 0.001 else "p < .001"
            look = {"ha": "left", "va": "top", "color": INK if holds else GREY, "fontsize": 6.5}
            note(ax, text.replace("0.", "."), (float(np.min(x)), y[2]), (2.5, -2.5), **look)
    palette = cluster_colours(int(drawing.clusters.max()) + 1)
    ends = zip(drawing.ends[:-1], drawing.ends[1:], strict=True)
    for (a, b), n, k in zip(ends, drawing.sizes, drawing.clusters, strict=True):
        bar_below(ax, (a + 0.002, b - 0.002), palette[k] if k >= 0 else GREY, f"{n:,}")
    ax.set(xlim=(0, 1), ylim=(0, 1.1 * max(float(drawing.y.max()), 1e-9)))
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel(
        "objects of the lowest clusters; a colour for each cluster that holds", labelpad=17
    )
    ax.set_ylabel("share of members that separate")
    n = f"{int((tree.leaves >= 0).sum()):,}"
    support = "without p-values"
    if tree.has_p_values:
        held = f"{int(drawing.holds.sum())} of {len(tree.splits)} splits hold"
        support = f"{held} (p < {level:g})".replace("< 0.", "< .")
    else:
        ax.set_xlabel("objects of the lowest clusters", labelpad=17)
    ax.set_title(f"Consensus tree of {n} objects, {support}")
    return ax
