"""Flow of clusters over the number of clusters."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from conclust._arrays.containers import check_row_names
from conclust._arrays.rows import cross_counts
from conclust._types import Floats, Ints
from conclust.exceptions import InputError
from conclust.measures.contingency import read_labels
from conclust.measures.matching import assign
from conclust.plotting.canvas import style
from conclust.plotting.canvas.figures import axes
from conclust.plotting.canvas.keys import note
from conclust.plotting.numbers import numbers_of_clusters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = 5.5 / 7.5  # font size of the numbers of objects, relative to the other text
_FAINT = 0.05  # an edge with a smaller share of its target cluster is omitted


@dataclass(frozen=True)
class Flow:
    """Clusters at every number of clusters, and the flow of objects between them.

    Attributes
    ----------
    k : ndarray of shape (n_nodes,)
        The number of clusters at which each node is one of them.
    colour : ndarray of shape (n_nodes,)
        Number of a colour. Clusters of one number are matched one to one with the clusters of the number before and take over
        their colours; others have a new one.
    size : ndarray of shape (n_nodes,)
        Objects.
    x : ndarray of shape (n_nodes,)
        Horizontal position, from 0 to 1.
    edges : ndarray of shape (n_edges, 2)
        Nodes: from one of the smaller number to one of the next.
    count : ndarray of shape (n_edges,)
        Number of common objects.
    share : ndarray of shape (n_edges,)
        Share of the objects of the later cluster that come from the earlier one.
    """

    k: Ints
    colour: Ints
    size: Ints
    x: Floats
    edges: Ints
    count: Ints
    share: Floats


def tracks_of(partitions: Any) -> tuple[Ints, Ints]:
    """Return the numbers of clusters, rising, and the colour of every object at each of them; -1: in no cluster."""
    by_number = getattr(partitions, "labels", partitions)
    if not isinstance(by_number, Mapping) or not by_number:
        raise InputError(
            "Expected a Selection, or a dict of numbers of clusters to labels. Got "
            f"{type(partitions).__name__}."
        )
    k = numbers_of_clusters(by_number)
    check_row_names({f"partitions[{number}]": by_number[number] for number in k}, named_only=True)
    codes = [
        np.maximum(read_labels(by_number[number], f"partitions[{number}]")[0], -1) for number in k
    ]
    if len({len(labels) for labels in codes}) > 1:
        raise InputError(
            f"The partitions must be of the same objects. Got {sorted({len(c) for c in codes})} labels."
        )
    colours = [codes[0]]
    for labels in codes[1:]:
        colours.append(_recoloured(labels, colours[-1]))
    return k, np.array(colours)


def _recoloured(labels: Ints, before: Ints) -> Ints:
    """Give clusters the colours of the previous clusters with which they share most objects, or else new ones."""
    mine, theirs = int(labels.max(initial=-1)) + 1, int(before.max(initial=-1)) + 1
    table = cross_counts(labels, before, (mine, theirs))
    colour = assign(table) if mine and theirs else np.full(mine, -1)
    # The colour of a cluster without common objects would mislead.
    shared = table[np.arange(mine), np.maximum(colour, 0)] if theirs else np.zeros(mine)
    fresh = (colour < 0) | (shared == 0)
    colour[fresh] = theirs + np.arange(np.count_nonzero(fresh))
    return np.append(colour, -1)[labels].astype(np.int64)  # -1, in no cluster, is the last entry


def flow_of(partitions: Any) -> Flow:
    """Return the data of the flow diagram as arrays.

    Parameters
    ----------
    partitions : Selection or dict of int to array-like of shape (n_samples,)
        Result of :func:`conclust.selection.choose`, or a partition of the same objects for each
        number of clusters; negative labels and NaN are in no cluster.

    Returns
    -------
    Flow
        Nodes and edges.

    Raises
    ------
    InputError
        If there is no partition, or they are not of the same objects.

    Examples
    --------
    >>> from conclust.plotting.flows import flow_of
    >>> found = flow_of({2: [0, 0, 1, 1], 3: [0, 0, 1, 2]})
    >>> found.edges
    array([[0, 2],
           [1, 3],
           [1, 4]])
    >>> found.share
    array([1., 1., 1.])
    """
    numbers, tracks = tracks_of(partitions)
    levels = [np.unique(row[row >= 0], return_counts=True) for row in tracks]
    first = np.concatenate([[0], np.cumsum([len(colours) for colours, _ in levels])])
    edges, counts, shares = [], [], []
    for at in range(len(levels) - 1):
        (mine, _), (theirs, sizes) = levels[at], levels[at + 1]
        now, then = tracks[at], tracks[at + 1]
        colours = int(now.max()) + 1, int(then.max()) + 1
        table = cross_counts(now, then, colours)[np.ix_(mine, theirs)]
        rows, columns = np.nonzero(table)
        edges.append(np.column_stack([first[at] + rows, first[at + 1] + columns]))
        counts.append(table[rows, columns])
        shares.append(table[rows, columns] / sizes[columns])
    size = np.concatenate([level_sizes for _, level_sizes in levels])
    pairs = np.concatenate(edges) if edges else np.empty((0, 2), dtype=np.int64)
    count = np.concatenate(counts) if counts else np.empty(0, dtype=np.int64)
    return Flow(
        np.repeat(numbers, np.diff(first)),
        np.concatenate([colours for colours, _ in levels]),
        size,
        _places(first, pairs, count, size),
        pairs,
        count,
        np.concatenate(shares) if shares else np.empty(0),
    )


def _places(first: Ints, edges: Ints, count: Ints, size: Ints) -> Floats:
    """Return the positions of the nodes of each level: near their origins, with space by size.

    Levels take turns, downwards and upwards, at standing by the mean place of their neighbours.
    """
    x = np.zeros(len(size))
    for a, b in itertools.pairwise(first):
        x[a:b] = _seats(np.arange(b - a), size[a:b])
    n_levels = len(first) - 1
    down = [(level, 1, 0) for level in range(1, n_levels)]
    up = [(level, 0, 1) for level in range(n_levels - 2, -1, -1)]
    for level, column, other in [*down, *up, *down]:
        a, b = int(first[level]), int(first[level + 1])
        inside = (edges[:, column] >= a) & (edges[:, column] < b)
        mine = edges[inside, column] - a
        weight = np.bincount(mine, count[inside], b - a)
        pull = np.bincount(mine, count[inside] * x[edges[inside, other]], b - a)
        wish = np.where(weight > 0, pull / np.maximum(weight, 1e-300), 0.5)
        x[a:b] = _seats(np.argsort(wish, kind="stable"), size[a:b])
    return x


def _seats(order: Ints, size: Ints) -> Floats:
    """Return the middle of the interval of each cluster; larger clusters have longer intervals."""
    if not len(size):  # a level where no object is in a cluster
        return np.empty(0)
    room = np.sqrt(size[order]) + 0.35 * np.sqrt(size.sum() / len(size))
    ends = np.cumsum(room)
    x = np.empty(len(size))
    x[order] = (ends - room / 2) / ends[-1]
    return x


def _written(
    texts: Sequence[str], sizes: Ints, x: Floats, across: Floats, size: float
) -> list[tuple[int, str, tuple[float, float]]]:
    """Return the texts in a row of circles, and the places from the circles' centres to them in points.

    A text is in its circle or to the right of it. If one would meet the next circle or its text, those of the row
    are below, and of texts that meet there the ones of larger clusters are kept.
    """
    width = np.array([0.62 * size * len(text) for text in texts])
    inside = across > width + 2.0
    order = np.argsort(x, kind="stable")
    ends = np.where(inside, x + across / 2, x + across / 2 + 1.5 + width)
    free = ends[order][:-1] < (x - across / 2)[order][1:]
    if free.all():
        return [
            (k, texts[k], (0.0, 0.0) if inside[k] else (across[k] / 2 + 1.5, 0.0))
            for k in range(len(texts))
        ]
    kept: list[int] = []
    for k in np.argsort(-sizes, kind="stable").tolist():
        if inside[k] or all(
            inside[j] or abs(x[k] - x[j]) > (width[k] + width[j]) / 2 + 1.0 for j in kept
        ):
            kept.append(k)
    return [
        (k, texts[k], (0.0, 0.0) if inside[k] else (0.0, -across[k] / 2 - 4.5))
        for k in sorted(kept)
    ]


@style.drawn_in_style
def flow_diagram(partitions: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how clusters split and mix as their number grows.

    There is a row of circles for each number of clusters, with sizes proportional to the clusters. Lines lead to the clusters
    of the next number that receive objects: a broader line means more objects, and a darker line a larger share of the
    receiving cluster. Numbers of objects that would overlap are left out, smaller ones first. Real clusters receive a single
    line; if a cluster receives objects from several, the number is too large.

    Parameters
    ----------
    partitions : Selection or dict of int to array-like of shape (n_samples,)
        Result of :func:`conclust.selection.choose`, or a partition of the same objects for each number of clusters; objects
        with negative labels or NaN are in no cluster.
    ax : matplotlib Axes, default=None
        Axes to draw in. None makes a new figure (``ax.figure``), 8.5 cm wide, or 17.5 with more than five
        clusters in a row.

    Returns
    -------
    Axes
        The axes with the picture. Lines with less than 5 % of
        the cluster that they lead to are left out.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If there is no partition, or they are not of the same objects.

    References
    ----------
    L. Zappia, A. Oshlack: Clustering trees. GigaScience 7, 2018.

    Examples
    --------
    >>> from conclust.plotting import flow_diagram
    >>> ax = flow_diagram({2: [0, 0, 1, 1], 3: [0, 0, 1, 2]})
    >>> [text.get_text() for text in ax.texts]
    ['2', '2', '2', '1', '1']
    """
    from matplotlib import rcParams
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    flow = flow_of(partitions)
    if not len(flow.size):
        raise InputError("A flow diagram needs a cluster. Got partitions without any.")
    numbers = np.unique(flow.k)
    y = np.searchsorted(numbers, flow.k).astype(np.float64)
    rows, widest = len(numbers), int(np.bincount(y.astype(int)).max())
    own = ax is None
    # At most the width of two adjacent circles.
    ax = axes(ax, (style.PAGE if widest > 5 else style.COLUMN, 0.6 + 0.62 * rows))
    total = float(flow.size[y == 0].sum())
    visible = flow.share >= _FAINT
    a, b = flow.edges[visible].T
    lines = np.stack(
        [np.column_stack([flow.x[a], y[a]]), np.column_stack([flow.x[b], y[b]])], axis=1
    )
    strength = flow.share[visible]
    ax.add_collection(
        LineCollection(
            list(lines),
            linewidths=0.6 + 9.0 * flow.count[visible] / total,
            colors=[to_rgba(style.GREY, 0.25 + 0.75 * value) for value in strength],
            capstyle="round",
            zorder=1,
        )
    )
    inches = ax.bbox.width / ax.figure.dpi
    largest = min(
        2.53 * rcParams["font.size"],
        72.0 * inches / (widest + 0.5),
        0.62 * 72.0 * ax.bbox.height / ax.figure.dpi / rows,
    )
    across = largest * np.sqrt(flow.size / flow.size.max())
    across = np.maximum(across, 3.0)
    fills = style.cluster_colours(int(flow.colour.max()) + 1)[flow.colour]
    ax.scatter(flow.x, y, s=across**2, c=fills, edgecolors=style.INK, linewidths=0.6, zorder=2)
    words = [f"{number}" for number in numbers]
    # Points per unit of x. In a figure of our own, the layout gives the rest to the names of rows.
    unit = 72.0 * inches / 1.08
    if own:
        beside = 26.0 + 3.9 * max(map(len, words))
        unit = (72.0 * ax.figure.bbox.width / ax.figure.dpi - beside) / 1.08
    _write(ax, flow, [f"{size:,}" for size in flow.size], y, across, fills, unit)
    ax.set_yticks(range(rows), words)
    ax.set_ylim(rows - 0.5, -0.5)
    ax.set_xlim(-0.04, 1.04)
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set(
        xlabel="circles: objects of a cluster",
        ylabel="number of clusters",
        title="Where objects go",
    )
    return ax


def _write(
    ax: Axes,
    flow: Flow,
    texts: Sequence[str],
    y: Floats,
    across: Floats,
    fills: Floats,
    unit: float,
) -> None:
    """Write texts into circles, or next to them.

    Parameters
    ----------
    ax : Axes
        Axes to draw in.
    flow : Flow
        The circles.
    texts : sequence of str
        Their texts.
    y : ndarray of shape (n_nodes,)
        Their rows.
    across : ndarray of shape (n_nodes,)
        Their diameters in points.
    fills : ndarray of shape (n_nodes, 3)
        Their colours.
    unit : float
        Points per unit of x.
    """
    from matplotlib import rcParams
    from matplotlib.patheffects import withStroke

    size = _SIZE * rcParams["font.size"]  # in the user's axes, to the user's letters
    for row in np.unique(y):
        nodes = np.flatnonzero(y == row).tolist()
        places = _written(
            [texts[k] for k in nodes], flow.size[nodes], flow.x[nodes] * unit, across[nodes], size
        )
        for node, text, (right, down) in places:
            k = nodes[node]
            inside = not (right or down)
            note(
                ax,
                text,
                (flow.x[k], row),
                (right, down),
                ha="left" if right else "center",
                fontsize=size,
                color=style.ink_on(fills[k]) if inside else style.INK,
                path_effects=None if inside else [withStroke(linewidth=1.5, foreground="#ffffff")],
                zorder=3,
            )
