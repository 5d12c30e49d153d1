"""The graph of clusters: how large they are, and how far they lie in each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._validation import check_real
from conclust.membership import cluster_similarity
from conclust.plotting.figures import axes
from conclust.plotting.orders import dendrogram_order
from conclust.plotting.reading import read_membership
from conclust.plotting.style import COLUMN, GREY, INK, cluster_colours, drawn_in_style, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ClusterGraph", "cluster_graph", "cluster_graph_of"]

_LABELS = 24  # edges up to which numbers are written on them


@dataclass(frozen=True)
class ClusterGraph:
    """Clusters, and how far they lie in each other.

    Attributes
    ----------
    sizes : ndarray of shape (n_clusters,)
        Objects of which each cluster is the most probable one.
    overlap : ndarray of shape (n_clusters, n_clusters)
        m_ab: the probability that an object drawn from cluster a falls into b when it is drawn again
        (:func:`conclust.membership.cluster_similarity`).
    places : ndarray of shape (n_clusters, 2)
        Where they are drawn: on a circle, those that overlap side by side.
    """

    sizes: NDArray[np.int64]
    overlap: NDArray[np.float64]
    places: NDArray[np.float64]


def cluster_graph_of(membership: ArrayLike | Any) -> ClusterGraph:
    """Return what the graph of clusters shows, as arrays.

    Parameters
    ----------
    membership : array-like of shape (n_samples, n_clusters) or fitted model
        Rows are probabilities. Of a model ``membership_`` is shown.

    Returns
    -------
    ClusterGraph
        Of the clusters that are the most probable one of some object.

    Raises
    ------
    InputError
        If the rows are no probabilities, or the model has none.

    Examples
    --------
    >>> from conclust.plotting import cluster_graph_of
    >>> cluster_graph_of([[1.0, 0.0], [1.0, 0.0], [0.4, 0.6]]).overlap.round(2)
    array([[0.9, 0.1],
           [0.4, 0.6]])
    """
    rows = read_membership(membership, "cluster_graph")
    sizes = np.bincount(rows.argmax(axis=1), minlength=rows.shape[1])
    kept = np.flatnonzero(sizes)
    overlap = cluster_similarity(rows)[np.ix_(kept, kept)]
    K = len(kept)
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
    return ClusterGraph(sizes[kept].astype(np.int64), overlap, places)


@drawn_in_style
def cluster_graph(
    membership: ArrayLike | Any, *, least: float = 0.01, ax: Axes | None = None
) -> Axes:
    r"""Draw clusters as circles, as large as they are, and lines where they lie in each other.

    The number on a line near a cluster is the probability that an object drawn from that cluster
    falls into the other one when it is drawn again.

    Parameters
    ----------
    membership : array-like of shape (n_samples, n_clusters) or fitted model
        Rows are probabilities. Of a model ``membership_`` is shown.
    least : float, default=0.01
        A line is left out if both its numbers are below this; in [0, 1].
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``), 8.5 cm wide.

    Returns
    -------
    Axes
        The axes with the picture. :func:`cluster_graph_of` returns its data as arrays.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If the rows are no probabilities, or the model has none.
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
    found = cluster_graph_of(membership)
    K = len(found.sizes)
    ax = axes(ax, (COLUMN, 0.95 * COLUMN))
    palette = cluster_colours(K)
    larger = np.maximum(found.overlap, found.overlap.T)
    pairs = [(a, b) for a in range(K) for b in range(a + 1, K) if larger[a, b] >= limit]
    room = 72.0 * min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi
    biggest = min(42.0, 1.6 * room / max(4, K))
    across = np.maximum(7.0, biggest * np.sqrt(found.sizes / found.sizes.max()))
    per_unit = room / 3.1  # points of a unit of the picture
    for a, b in sorted(pairs, key=lambda pair: larger[pair]):
        strength = float(larger[a, b])
        ax.plot(
            *found.places[[a, b]].T,
            color=GREY,
            alpha=min(1.0, 0.35 + 1.5 * strength),
            linewidth=0.6 + 12.0 * strength,
            solid_capstyle="butt",
            zorder=1,
        )
        if len(pairs) > _LABELS:
            continue
        for one, other in ((a, b), (b, a)):
            step = found.places[other] - found.places[one]
            length = float(np.hypot(*step))
            # Just outside of the circle, never beyond the middle.
            away = min(0.42 * length, (across[one] / 2 + 9.0) / per_unit)
            at = (found.places[one] + step / length * away).tolist()
            ax.text(
                at[0],
                at[1],
                f"{found.overlap[one, other]:.2f}".removeprefix("0"),
                ha="center",
                va="center",
                fontsize=6.0,
                bbox={"boxstyle": "round,pad=0.12", "facecolor": "#ffffff", "edgecolor": "none"},
                zorder=3,
            )
    ax.scatter(
        found.places[:, 0],
        found.places[:, 1],
        s=across**2,
        c=palette,
        edgecolors=INK,
        linewidths=0.8,
        zorder=4,
    )
    for k in range(K):
        text = f"{k}\n{found.sizes[k]:,}"
        inside = across[k] > 4.0 * max(map(len, text.split("\n"))) + 6
        outward = found.places[k] * (across[k] / 2 + 9.0)
        ax.annotate(
            text,
            found.places[k],
            xytext=(0, 0) if inside else tuple(outward),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=6.5,
            linespacing=1.0,
            color=ink_on(palette[k]) if inside else INK,
            zorder=5,
        )
    ax.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5) if K > 2 else (-0.8, 0.8), aspect="equal")
    ax.set_axis_off()
    ax.set_title(f"{K} cluster{'s' * (K > 1)}, and how far they lie in each other")
    return ax
