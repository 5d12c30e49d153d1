"""The graph of clusters: sizes and overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.containers import check_row_names, plain_array
from conclust._types import Floats, Ints
from conclust._validation import check_real, count, shown
from conclust.exceptions import InputError
from conclust.membership import cluster_similarity
from conclust.plotting.canvas.figures import axes
from conclust.plotting.canvas.keys import LONGEST, Box, draw_key, text_box
from conclust.plotting.canvas.orders import dendrogram_order
from conclust.plotting.canvas.reading import (
    cluster_words,
    objects_in_clusters,
    read_membership,
)
from conclust.plotting.canvas.style import (
    COLUMN,
    GREY,
    INK,
    cluster_colours,
    drawn_in_style,
    ink_on,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = 24  # maximum number of edges with written numbers
_NAME, _NUMBER = 6.5, 6.0  # font sizes in points


@dataclass(frozen=True)
class ClusterGraph:
    """Clusters and their overlaps.

    Attributes
    ----------
    sizes : ndarray of shape (n_clusters,)
        Number of objects for which each cluster is the most probable one.
    overlap : ndarray of shape (n_clusters, n_clusters)
        m_ab: the probability that an object drawn from cluster a falls into b when it is drawn again
        (:func:`conclust.membership.cluster_similarity`).
    places : ndarray of shape (n_clusters, 2)
        Positions on a circle, with overlapping clusters next to each other.
    """

    sizes: Ints
    overlap: Floats
    places: Floats


def cluster_graph_of(
    membership: ArrayLike | Any, *, labels: ArrayLike | None = None
) -> ClusterGraph:
    """Return the data of the graph of clusters as arrays.

    Parameters
    ----------
    membership : array-like of shape (n_samples, n_clusters) or fitted model
        Rows are probabilities. Of a model ``membership_`` is shown, without the objects that no partition observed.
    labels : array-like of int of shape (n_samples,), default=None
        The cluster of each object, from 0 on, which gives the sizes. None: its most probable one.

    Returns
    -------
    ClusterGraph
        Graph of the clusters of some object.

    Raises
    ------
    InputError
        If the rows are not probabilities, the model has none, or there is not a cluster for each row.

    Examples
    --------
    >>> from conclust.plotting import cluster_graph_of
    >>> cluster_graph_of([[1.0, 0.0], [1.0, 0.0], [0.4, 0.6]]).overlap.round(2)
    array([[0.9, 0.1],
           [0.4, 0.6]])
    """
    rows, clusters = _placed(membership, labels)
    sizes = np.bincount(clusters, minlength=rows.shape[1])
    used = np.flatnonzero(sizes)
    overlap = cluster_similarity(rows)[np.ix_(used, used)]
    K = len(used)
    order = np.arange(K)
    if K > 3:
        apart = 1.0 - (overlap + overlap.T) / 2
        np.fill_diagonal(apart, 0.0)
        order = dendrogram_order(apart)
    turn = np.pi / 2 - 2 * np.pi * np.arange(K) / K
    places = np.zeros((K, 2))
    if K > 1:
        places[order] = np.column_stack([np.cos(turn), np.sin(turn)])
    if K == 2:
        places = np.array([[-1.0, 0.0], [1.0, 0.0]])
    return ClusterGraph(sizes[used].astype(np.int64), overlap, places)


@drawn_in_style
def cluster_graph(
    membership: ArrayLike | Any,
    *,
    least: float = 0.01,
    labels: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw clusters as circles with areas by size, and overlaps as lines.

    The number on a line near a cluster is the probability that an object drawn from that cluster
    falls into the other one when it is drawn again. What would lie over something else is left out,
    smaller numbers first. Names that do not fit are in a key below, and clusters have their numbers in it.

    Parameters
    ----------
    membership : array-like of shape (n_samples, n_clusters) or fitted model
        Rows are probabilities. Of a model ``membership_`` is shown.
    least : float, default=0.01
        A line is left out if both its numbers are below this; in [0, 1].
    labels : array-like of int of shape (n_samples,), default=None
        The cluster of each object, from 0 on, which gives the sizes. None: its most probable one.
    names : sequence of str, default=None
        Names of the clusters. None: their numbers from 0.
    ax : matplotlib Axes, default=None
        Axes to draw in. None makes a new figure (``ax.figure``), 8.5 cm wide.

    Returns
    -------
    Axes
        The axes with the picture. :func:`cluster_graph_of` returns its data as arrays.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If the rows are not probabilities, the model has none, or there is not a cluster for each row.
    ParameterError
        If `least` is out of its range.

    References
    ----------
    A. Lourenço et al.: Probabilistic consensus clustering using evidence accumulation. Machine Learning
    98, 2015, section 7.4.

    Examples
    --------
    >>> from conclust.plotting import cluster_graph
    >>> ax = cluster_graph([[1.0, 0.0], [1.0, 0.0], [0.4, 0.6]])
    >>> sorted(text.get_text() for text in ax.texts)
    ['.10', '.40', '0\n2', '1\n1']
    """
    limit = check_real(least, "least", "cluster_graph", high=1.0)
    rows, clusters = _placed(membership, labels)
    graph = cluster_graph_of(rows, labels=clusters)
    words = cluster_words(names, rows.shape[1], "cluster_graph")
    used = np.unique(clusters).tolist()
    words = [words[k] for k in used]
    K = len(graph.sizes)
    own = ax is None
    ax = axes(ax, (COLUMN, 0.95 * COLUMN))
    palette = cluster_colours(K)
    larger = np.maximum(graph.overlap, graph.overlap.T)
    pairs = [(a, b) for a in range(K) for b in range(a + 1, K) if larger[a, b] >= limit]
    pairs.sort(key=lambda pair: larger[pair])
    numbered = len(pairs) <= _LABELS
    room = 72.0 * min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi
    places = graph.places * room / 3.1  # in points, like all lengths below
    across = _diameters(graph.sizes, places, room, numbered=numbered)
    for a, b in pairs:
        strength = float(larger[a, b])
        ax.plot(
            *graph.places[[a, b]].T,
            color=GREY,
            alpha=min(1.0, 0.35 + 1.5 * strength),
            linewidth=0.6 + 12.0 * strength,
            solid_capstyle="butt",
            zorder=1,
        )
    ax.scatter(
        graph.places[:, 0],
        graph.places[:, 1],
        s=across**2,
        c=palette,
        edgecolors=INK,
        linewidths=0.8,
        zorder=4,
    )
    circles = [Box(x, y, size / 2, size / 2) for (x, y), size in zip(places, across, strict=True)]
    placed, all_named = _names(words, graph.sizes, places, across)
    numbers_only = [str(k + 1) for k in range(K)]
    in_key = not all_named and any(not word.isdigit() for word in words)
    if in_key:
        placed, _ = _names(numbers_only, graph.sizes, places, across)
    # Larger numbers are placed first.
    numbers = _numbers(graph.overlap, pairs[::-1], places, across) if numbered else []
    for text, k, box in placed:
        inside = (box.x, box.y) == tuple(places[k])
        ax.annotate(
            text,
            graph.places[k],
            xytext=(box.x - places[k, 0], box.y - places[k, 1]),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=_NAME,
            linespacing=1.0,
            color=ink_on(palette[k]) if inside else INK,
            parse_math=False,
            zorder=5,
        )
    _write_numbers(ax, numbers, circles + [box for _, _, box in placed], room)
    height = 1.5 if K > 2 else 0.8
    ax.set(xlim=(-1.5, 1.5), ylim=(-height, height), aspect="equal")
    ax.set_axis_off()
    # The title stands above the highest name, whose distance from its circle is in points: the layout may shrink the axes.
    _, highest, box = max(placed, key=lambda name: name[2].y + name[2].half_height)
    beyond = box.y + box.half_height - float(places[highest, 1])
    above: dict[str, Any] = {}
    if beyond > across[highest] / 2:
        share = 0.5 + float(graph.places[highest, 1]) / (2 * height)
        above = {"y": share, "pad": beyond + 5.0}
    ax.set_title(f"{count(K, 'cluster')} and their overlap", **above)
    if in_key:
        whole = cluster_words(names, rows.shape[1], "cluster_graph", LONGEST)
        entries = [f"{number} {whole[k]}" for number, k in zip(numbers_only, used, strict=True)]
        draw_key(ax, entries, palette, markers=["o"] * K, below=4.0, own=own)
    return ax


def _write_numbers(ax: Axes, numbers: list[tuple[str, Box]], taken: list[Box], room: float) -> None:
    """Write numbers where nothing else is; `room`: points for 3.1 units of the axes."""
    for text, box in numbers:
        if any(box.meets(other) for other in taken):
            continue
        taken.append(box)
        ax.text(
            box.x * 3.1 / room,
            box.y * 3.1 / room,
            text,
            ha="center",
            va="center",
            fontsize=_NUMBER,
            bbox={"boxstyle": "round,pad=0.12", "facecolor": "#ffffff", "edgecolor": "none"},
            zorder=3,
        )


def _placed(membership: Any, labels: ArrayLike | None) -> tuple[Floats, Ints]:
    """Return the memberships of the objects that are in a cluster, and their clusters."""
    rows = read_membership(membership, "cluster_graph")
    check_row_names({"membership": membership, "labels": labels}, named_only=True)
    if labels is None:
        rows = rows[objects_in_clusters(membership, len(rows))]
        return rows, np.asarray(rows.argmax(axis=1), dtype=np.int64)
    codes = plain_array(labels, "'labels'")
    sound = codes.shape == (len(rows),) and codes.dtype.kind in "iu"
    if not sound or (len(codes) and not 0 <= codes.min() <= codes.max() < rows.shape[1]):
        raise InputError(
            f"The 'labels' of cluster_graph must be a cluster from 0 to {rows.shape[1] - 1} for each of the {len(rows)} "
            f"rows. Got {shown(labels)} instead."
        )
    return rows, codes.astype(np.int64)


def _diameters(sizes: Ints, places: Floats, room: float, *, numbered: bool) -> Floats:
    """Return the diameters of the circles, which leave space for two numbers between neighbours."""
    K = len(sizes)
    biggest = min(42.0, 1.6 * room / max(4, K))
    if numbered and K > 2:
        between = 2.0 * float(np.hypot(*places[0])) * np.sin(np.pi / K) - 28.0
        biggest = min(biggest, between) if between > 10.0 else biggest
    return np.asarray(np.maximum(7.0, biggest * np.sqrt(sizes / sizes.max())))


def _names(
    words: list[str], sizes: Ints, places: Floats, across: Floats
) -> tuple[list[tuple[str, int, Box]], bool]:
    """Return names and sizes of clusters inside their circles or outside, and whether they are all there.

    Sizes are left out if circles are close together. A name does not meet another name or another cluster's circle.
    """
    K = len(sizes)
    circles = [Box(x, y, r, r) for (x, y), r in zip(places, across / 2, strict=True)]
    free_names: list[tuple[str, int, Box]] = []
    for sized in (True, False):
        free_names = []
        for k in range(K):
            text = f"{words[k]}\n{sizes[k]:,}" if sized else words[k]
            taken = [circle for j, circle in enumerate(circles) if j != k]
            taken += [name[2] for name in free_names]
            for away in (2.0,) if sized else (2.0, 11.0, 20.0):
                box = _beside(places[k], text, across[k], away, inside=sized)
                if not any(box.meets(other) for other in taken):
                    free_names.append((text, k, box))
                    break
        if len(free_names) == K:
            return free_names, True
    return free_names, False


def _beside(place: Floats, text: str, across: float, away: float, *, inside: bool) -> Box:
    """Return the box of a text that is inside of a circle, if it may be and fits, or else outside in its direction."""
    box = text_box(place, text, _NAME)
    if inside and np.hypot(box.half_width, box.half_height) <= across / 2:
        return box
    outward = place / max(float(np.hypot(*place)), 1e-9)
    reach = np.abs(outward) @ (box.half_width, box.half_height)
    return text_box(place + outward * (across / 2 + away + reach), text, _NAME)


def _numbers(
    overlap: Floats, pairs: list[tuple[int, int]], places: Floats, across: Floats
) -> list[tuple[str, Box]]:
    """Return the numbers on lines, each just outside of its circle; none on a line that cannot hold two."""
    texts = []
    for a, b in pairs:
        both = []
        for one, other in ((a, b), (b, a)):
            step = places[other] - places[one]
            length = float(np.hypot(*step))
            text = f"{overlap[one, other]:.2f}".removeprefix("0")
            away = min(0.42 * length, across[one] / 2 + 7.5)
            both.append((text, text_box(places[one] + step / length * away, text, _NUMBER)))
        if not both[0][1].meets(both[1][1]):
            texts += both
    return texts
