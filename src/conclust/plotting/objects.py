"""Memberships of objects as bars, and their silhouettes on the consensus."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Floats, Ints
from conclust._validation import check_int
from conclust.confidence import ObjectConfidence, object_confidence
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import over_partitions
from conclust.plotting.canvas import style
from conclust.plotting.canvas.figures import axes, count_along, inches_of
from conclust.plotting.canvas.keys import LONGEST, draw_key, note
from conclust.plotting.canvas.reading import cluster_words, objects_by_cluster

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_BARS = 2000
_LINE = (
    8.5  # height of a line of text beside bars, in points; the layout makes axes lower than here
)
_ABOVE = 12.0  # height of the names of clusters above bars, in points


@dataclass(frozen=True)
class Bars:
    """One or several values per object, in the order of the picture.

    Attributes
    ----------
    order : ndarray of shape (n_shown,)
        Objects by cluster, the most certain first.
    clusters : ndarray of shape (n_shown,)
        Their clusters.
    values : ndarray of shape (n_shown,) or (n_shown, n_clusters)
        Values drawn for each object.
    """

    order: Ints
    clusters: Ints
    values: Floats


def bars_of(membership: ArrayLike | Any, *, labels: ArrayLike | None = None) -> Bars:
    """Return the data of the membership bars as arrays.

    Parameters
    ----------
    membership : array-like of shape (n_samples, n_clusters) or fitted model
        Rows are probabilities. For a model, ``membership_`` is shown, without the objects that no partition observed.
    labels : array-like of int of shape (n_samples,), default=None
        The cluster of each object, from 0 on, by which objects are sorted. None: its most probable one.

    Returns
    -------
    Bars
        Memberships of the objects, by cluster and within a cluster the most certain first.

    Raises
    ------
    InputError
        If the rows are not probabilities, the model has none, or `labels` do not fit the rows and columns.

    Examples
    --------
    >>> from conclust.plotting.objects import bars_of
    >>> bars_of([[0.2, 0.8], [0.9, 0.1], [1.0, 0.0]]).order
    array([2, 1, 0])
    """
    rows, clusters, held = objects_by_cluster(membership, labels, "membership_bars")
    own = np.take_along_axis(rows, clusters[:, None], axis=1)[:, 0]
    order = np.lexsort((-own, clusters)).astype(np.int64)
    return Bars(held[order], clusters[order], rows[order])


@style.drawn_in_style
def membership_bars(
    membership: ArrayLike | Any,
    *,
    labels: ArrayLike | None = None,
    max_bars: int = 600,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the memberships of objects as adjacent bars.

    Objects are sorted by cluster, the most certain first; each bar has height 1 and shows the shares of the clusters from
    bottom to top, the object's own first.

    Parameters
    ----------
    membership : array-like of shape (n_samples, n_clusters) or fitted model
        Rows are probabilities. For a model, ``membership_`` is shown, without the objects that no partition observed.
    labels : array-like of int of shape (n_samples,), default=None
        The cluster of each object, from 0 on, by which objects are sorted. None: its most probable one.
    max_bars : int, default=600
        Maximum number of bars; with more objects, neighbours of a cluster are averaged.
    names : sequence of str, default=None
        Names of the clusters; those of small clusters are in a key below. None: their numbers from 0.
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
        If the rows are not probabilities, the model has none, or `labels` do not fit the rows and columns.
    ParameterError
        If `max_bars` is out of its range.

    Examples
    --------
    >>> from conclust.plotting import membership_bars
    >>> ax = membership_bars([[0.2, 0.8], [0.9, 0.1], [1.0, 0.0]])
    >>> ax.get_ylabel()
    'membership'
    """
    limit = check_int(max_bars, "max_bars", "membership_bars")
    bars = bars_of(membership, labels=labels)
    n, K = bars.values.shape
    words = cluster_words(names, K, "membership_bars")
    own = ax is None
    ax = axes(ax, (style.PAGE, 0.24 * style.PAGE))
    edges = np.unique(np.arange(min(n, limit) + 1) * n // min(n, limit))
    # Bars end at the borders of clusters.
    ends = np.flatnonzero(np.diff(bars.clusters)) + 1
    edges = np.union1d(edges, ends).astype(np.int64)
    means = over_partitions(bars.values, edges) / np.diff(edges)[:, None]
    clusters = bars.clusters[edges[:-1]]
    palette = style.cluster_colours(K)
    # An object's own cluster is at the bottom, the others are stacked on it in order.
    floor = np.where(
        np.arange(K) == clusters[:, None], 0.0, means[np.arange(len(clusters)), clusters][:, None]
    )
    below = np.zeros(len(clusters))
    for k in range(K):
        mine = clusters == k
        start = np.where(mine, 0.0, floor[:, k] + below)
        height = means[:, k]
        _steps(ax, edges, start, start + height, palette[k], words[k])
        below += np.where(mine, 0.0, height)
    starts = np.concatenate([[0], ends, [n]])
    # Matplotlib places titles of users above axes within the axes, too.
    above = ax.inset_axes((0.0, 1.0, 1.0, _ABOVE / 72.0 / inches_of(ax, 1)), xlim=(0, n))
    above.set_label("clusters")
    above.set_axis_off()
    all_named = True
    for a, b in itertools.pairwise(starts):
        if a:
            ax.axvline(a, color="#ffffff", linewidth=1.6)
            ax.axvline(a, color=style.INK, linewidth=0.6)
        own_word, colour = words[bars.clusters[a]], palette[bars.clusters[a]]
        all_named &= _name(above, own_word, (a + b) / 2, (b - a) / n, colour)
    ax.set(
        xlim=(0, n),
        ylim=(0, 1),
        xlabel="objects, by cluster, the most certain first",
        ylabel="membership",
    )
    count_along(ax.xaxis)
    ax.set_title(f"Membership of {n:,} objects", pad=6 + _ABOVE)
    if names is not None and not all_named:
        held = np.unique(bars.clusters)
        whole = cluster_words(names, K, "membership_bars", LONGEST)
        draw_key(ax, [whole[k] for k in held], palette[held], own=own)
    return ax


def _steps(ax: Axes, edges: Ints, low: Floats, high: Floats, colour: Any, label: str) -> None:
    """Fill bars between two heights.

    Parameters
    ----------
    ax : Axes
        Where.
    edges : ndarray of shape (n + 1,)
        Edges of the bars.
    low, high : ndarray of shape (n,)
        Their heights.
    colour, label
        Colour and label of all.
    """
    ax.fill_between(
        np.repeat(edges, 2)[1:-1],
        np.repeat(low, 2),
        np.repeat(high, 2),
        color=colour,
        linewidth=0,
        label=label,
    )


def _name(ax: Axes, text: str, x: float, share: float, colour: Any) -> bool:
    """Write the name of a cluster above its objects, in its colour; return whether there is space for it."""
    points = share * 72.0 * ax.bbox.width / ax.figure.dpi
    if points < 4.5 * len(text) + 3:
        return False
    box = {"boxstyle": "round,pad=0.25", "facecolor": colour, "edgecolor": "none"}
    more = {"xycoords": ("data", "axes fraction"), "color": style.ink_on(colour), "bbox": box}
    note(ax, text, (x, 0.0), (0, _ABOVE / 2), **more)
    return True


def silhouettes_of(consensus: Any, ensemble: Ensemble | ArrayLike | None = None) -> Bars:
    """Return the data of the silhouette bars as arrays.

    Parameters
    ----------
    consensus : array-like of shape (n_samples,), fitted model or ObjectConfidence
        The clusters; objects with negative labels or NaN are in none. Or their silhouettes, as
        :func:`conclust.confidence.object_confidence` returns them.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        The partitions. None: those of a `conclust.ConsensusClustering`.

    Returns
    -------
    Bars
        Silhouettes on 1 - c / N, by cluster, the largest first, of the objects that are in a cluster.

    Raises
    ------
    InputError
        If the consensus and the ensemble are not of the same objects.

    Examples
    --------
    >>> from conclust.plotting.objects import silhouettes_of
    >>> silhouettes_of([0, 0, 1, 1], [[0, 0], [0, 0], [1, 0], [1, 1]]).values
    array([1. , 1. , 0.5, 0. ])
    """
    sure = consensus
    if not isinstance(consensus, ObjectConfidence):
        sure = object_confidence(consensus, ensemble)
    held = np.flatnonzero(sure.labels >= 0)
    order = held[np.lexsort((-sure.silhouette[held], sure.labels[held]))]
    return Bars(order, sure.labels[order], sure.silhouette[order])


@style.drawn_in_style
def silhouette_bars(
    consensus: Any,
    ensemble: Ensemble | ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the silhouettes of all objects on the consensus, cluster by cluster.

    Long bars: the partitions put the object with its own cluster and not with the next. Bars to the
    left: they put it more often into another one. If there are too many clusters for their names, the largest are named.

    Parameters
    ----------
    consensus : array-like of shape (n_samples,), fitted model or ObjectConfidence
        The clusters; objects with negative labels or NaN are in none. Or their silhouettes, as
        :func:`conclust.confidence.object_confidence` returns them.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        The partitions. None: those of a `conclust.ConsensusClustering`.
    names : sequence of str, default=None
        Names of the clusters. None: their numbers from 0.
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``), 8.5 cm wide.

    Returns
    -------
    Axes
        The axes with the picture.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If the consensus and the ensemble are not of the same objects.

    References
    ----------
    P. J. Rousseeuw: Silhouettes. Journal of Computational and Applied Mathematics 20, 1987.

    Examples
    --------
    >>> from conclust.plotting import silhouette_bars
    >>> ax = silhouette_bars([0, 0, 1, 1], [[0, 0], [0, 0], [1, 0], [1, 1]])
    >>> ax.get_title()
    'Silhouette on the consensus, mean 0.62'
    """
    bars = silhouettes_of(consensus, ensemble)
    n = len(bars.order)
    ax = axes(ax, (style.COLUMN, 1.05 * style.COLUMN))
    clusters, first, sizes = np.unique(bars.clusters, return_index=True, return_counts=True)
    K = int(clusters.max()) + 1
    palette, words = style.cluster_colours(K), cluster_words(names, K, "silhouette_bars")
    gap = 0.02 * n
    mean = float(bars.values.mean())
    longest = 0
    middles = first + np.arange(len(clusters)) * gap + sizes / 2
    named = _far_enough(middles, sizes, (n + len(clusters) * gap) * _LINE / 72.0 / inches_of(ax, 1))
    for at, (k, a, size) in enumerate(zip(clusters, first, sizes, strict=True)):
        values = bars.values[a : a + size]
        # With very many objects, adjacent ones are averaged into one bar.
        count = min(size, max(1, _MOST_BARS * size // n))
        edges = np.arange(count + 1) * size // count
        means = over_partitions(values, edges) / np.diff(edges)
        y = a + at * gap + np.repeat(edges, 2)[1:-1]
        ax.fill_betweenx(y, 0, np.repeat(means, 2), color=palette[k], linewidth=0)
        if not named[at]:
            continue
        text = f"{words[k]}: {values.mean():.2f} ({size:,})"
        longest = max(longest, len(text))
        note(ax, text, (1.0, middles[at]), (3, 0), xycoords=("axes fraction", "data"), ha="left")
    ax.axvline(0, color=style.INK, linewidth=0.6)
    ax.axvline(mean, color=style.GREY, linewidth=0.9, linestyle=(0, (4, 2)))
    low = min(0.0, float(bars.values.min()))
    ax.set(
        xlim=(max(-1.0, low - 0.02), 1.0),
        ylim=(n + (len(clusters) - 1) * gap + gap, -gap),
        xlabel="silhouette (right: mean, objects)",
        # Long names leave little space above the bars.
        title=f"Silhouette on the consensus,{chr(10) if longest > 18 else ' '}mean {mean:.2f}",
    )
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_ylabel("objects, by cluster")
    return ax


def _far_enough(places: Floats, sizes: Ints, least: float) -> list[bool]:
    """Return which texts are written so that no two are closer than `least`; those of large clusters first."""
    written: list[float] = []
    shown = [False] * len(places)
    for at in np.argsort(-sizes, kind="stable").tolist():
        if all(abs(places[at] - other) >= least for other in written):
            written.append(float(places[at]))
            shown[at] = True
    return shown
