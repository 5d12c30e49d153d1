"""Heatmaps of co-association and of memberships, with strips of the clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.rows import ratio
from conclust._random import generator
from conclust._types import Floats, Ints
from conclust._validation import check_int
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import over_partitions
from conclust.plotting.canvas import figures
from conclust.plotting.canvas.keys import below_labels
from conclust.plotting.canvas.orders import ALONG, check_order, placed_by
from conclust.plotting.canvas.reading import Pairs, read_pairs
from conclust.plotting.canvas.strips import Strip, read_strips
from conclust.plotting.canvas.style import COLUMN, drawn_in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_OBJECTS = 4000
_LONG_NUMBERS = 50_000  # maximum number of objects with names along the axis
_TREES = ("dendrogram", "vat")


@drawn_in_style
def coassociation_heatmap(
    ensemble: Ensemble | ArrayLike | Any,
    *,
    labels: Any = None,
    order: str | ArrayLike | None = "dendrogram",
    max_pixels: int = 1000,
    random_state: Any = 0,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show the co-association of objects as a heatmap.

    Parameters
    ----------
    ensemble : Ensemble, array-like or fitted model
        Evidence to draw: an ensemble or labels of shape (n_samples, n_partitions); evidence
        (`conclust.evidence.evidence`); a symmetric matrix of shape (n_samples, n_samples) of shares
        between 0 and 1 (NaN: no evidence); a
        fitted `conclust.ConsensusClustering`: its ensemble and clusters are shown; or a fitted
        consensus with memberships: the probability that two objects are in one cluster. A square
        symmetric array is taken for a matrix: write ``Ensemble(labels)`` where it holds labels.
    labels : array-like of shape (n_samples,), fitted model or dict, default=None
        Clusters or known classes, shown as strips of colours next to the plot; negative labels and
        NaN are grey. A dict from names to such labels gives one strip per entry; a cluster has the colour of the cluster in the
        first strip that shares most objects with it. None: the clusters of the model, if one is given.
    order : {"dendrogram", "vat", "cluster", None} or array-like of int, default="dendrogram"
        "dendrogram" and "vat" put objects that belong together side by side, so that clusters are dark squares on the diagonal:
        in the order of the leaves of average linkage, or of `conclust.membership.vat_order`. "cluster" sorts
        by the first of `labels`, and within a cluster (of up to 4,000 objects) by the dendrogram. None keeps the order
        given; an array gives the objects from top to bottom.
    max_pixels : int, default=1000
        Maximum number of pixels per side; with more objects, square blocks are averaged.
    random_state : int, Generator or None, default=0
        If there are more than 4,000 objects, "dendrogram" and "vat" draw 4,000 of them with it, and the title says so. In other
        orders, all objects of an ensemble are shown, as means of blocks, for which no pairs are formed; for a matrix or
        memberships, 4,000 objects are drawn in any order.
    names : sequence of str, default=None
        Names of the clusters in the first strip, whose labels are their numbers from 0. None: the labels.
    ax : matplotlib Axes, default=None
        Axes to draw in. None makes a new figure (``ax.figure``): pyplot's current one if pyplot has been imported, so that
        ``plt.savefig`` writes it; otherwise one that pyplot does not manage.

    Returns
    -------
    Axes
        The axes with the picture; ``ax.figure.savefig(path)`` writes it.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        The matrix is not symmetric, or not of shares; the labels are malformed;
        `labels` or `order` do not fit the objects; the model keeps no ensemble and has no memberships.
    ParameterError
        A parameter is out of its range.

    References
    ----------
    Fred, Jain: Combining multiple clusterings using evidence accumulation. IEEE Transactions on
    Pattern Analysis and Machine Intelligence 27 (2005).

    Examples
    --------
    >>> from conclust.plotting import coassociation_heatmap
    >>> labels = [[0, 0], [1, 1], [0, 1], [1, 1]]
    >>> ax = coassociation_heatmap(labels, labels=[0, 1, 0, 1])
    >>> ax.get_title()
    'Co-association of 4 objects'
    """
    owner = "coassociation_heatmap"
    pixels = check_int(max_pixels, "max_pixels", owner)
    pairs = read_pairs(ensemble, owner)
    n_samples = pairs.n_samples
    given = pairs.labels if labels is None else labels
    strips = read_strips(given, n_samples, owner, beside={"ensemble": ensemble}, names=names)
    options = ("dendrogram", "vat", "cluster") if strips else ("dendrogram", "vat")
    chosen = check_order(order, options, n_samples, owner)
    picture, placed, drawn = _picture(pairs, chosen, strips, pixels, random_state)
    n = len(placed)

    own = ax is None
    ax = figures.axes(ax, (1.4 * COLUMN, 1.19 * COLUMN))
    image = figures.show_image(ax, picture, (0, n, n, 0), aspect="equal")
    figures.count_along(ax.xaxis)
    figures.colour_bar(ax, image, pairs.what, 28, len(strips))
    along = ALONG[chosen if isinstance(chosen, str) else None]
    ax.set(xlabel=along, ylabel=along)
    if n >= _LONG_NUMBERS:
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(4))
    above, lacking = figures.draw_strips(ax, [strip.of(placed) for strip in strips], above=True)
    title = f"Co-association of {n_samples:,} objects"
    if drawn:
        title = f"Co-association of {n:,} objects drawn from {n_samples:,}"
    ax.set_title(title, pad=10 + above)
    empty = bool(np.isnan(picture).any())
    if empty:
        figures.explain_no_evidence(ax)
    figures.draw_keys(ax, lacking, below=below_labels(ax) + 12.0 * empty, own=own)
    return ax


def _picture(
    pairs: Pairs, chosen: Any, strips: list[Strip], pixels: int, random_state: Any
) -> tuple[Floats, Ints, bool]:
    """Return the image, the objects from top to bottom, and whether they are a sample."""
    n_samples = pairs.n_samples
    by_name = isinstance(chosen, str)
    if pairs.blocks is not None and n_samples > _MAX_OBJECTS and not (by_name and chosen in _TREES):
        # No pairs are formed, so all objects are shown.
        order = np.arange(n_samples) if chosen is None else chosen
        if by_name:
            colours = strips[0].colours
            order = np.argsort(np.where(colours < 0, colours.max() + 1, colours), kind="stable")
        return pairs.blocks(order, pixels), order, False
    drawn = None
    if n_samples > _MAX_OBJECTS:
        rng = generator(random_state, "coassociation_heatmap")
        drawn = np.sort(rng.choice(n_samples, _MAX_OBJECTS, replace=False))
    shares = pairs.of(drawn)
    objects = np.arange(n_samples) if drawn is None else drawn
    placed = np.arange(len(objects))
    if by_name:
        # A pair without evidence has the maximum distance, as in evidence accumulation.
        placed = placed_by(chosen, 1.0 - np.where(np.isnan(shares), 0.0, shares))
        if chosen == "cluster":
            placed = placed[np.argsort(strips[0].colours[objects[placed]], kind="stable")]
    elif chosen is not None:
        placed = chosen if drawn is None else np.argsort(np.argsort(chosen)[drawn])
    picture = _averaged(shares[np.ix_(placed, placed)], pixels, pixels)
    return picture, objects[placed], drawn is not None


def _averaged(values: Floats, rows: int, columns: int) -> Floats:
    """Average blocks of neighbours to at most (rows, columns) pixels, leaving out NaN."""
    finite = ~np.isnan(values)
    summed, weight = np.where(finite, values, 0.0), finite.astype(np.float64)
    for axis, most in enumerate((rows, columns)):
        n = values.shape[axis]
        if n > most:
            edges = np.arange(most + 1) * n // most
            summed = over_partitions(summed, edges, axis=axis)
            weight = over_partitions(weight, edges, axis=axis)
    return ratio(summed, weight, np.nan)
