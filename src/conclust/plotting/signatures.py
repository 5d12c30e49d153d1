"""Heatmap of the features that distinguish the clusters, for every object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.containers import plain_array
from conclust._arrays.points import column_names
from conclust._types import Floats, Ints
from conclust._validation import check_int, shown
from conclust.confidence import cluster_features
from conclust.confidence.reading import read_features
from conclust.exceptions import InputError
from conclust.plotting.canvas.figures import axes, colour_bar, draw_strips, show_image
from conclust.plotting.canvas.pixels import averaged
from conclust.plotting.canvas.reading import shortened
from conclust.plotting.canvas.strips import read_strips
from conclust.plotting.canvas.style import COLUMN, PAGE, drawn_in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From below the mean to above it, in standard deviations.
_DIVERGING = ("#276691", "#8fb8d8", "#fafcfb", "#f0b27a", "#b3541e")
_LIMIT = 2.0
_MOST_NAMES = 60
_LONGEST = 30  # characters of a feature name


@drawn_in_style
def signature_heatmap(
    X: ArrayLike,
    labels: Any,
    *,
    n_features: int = 8,
    feature_names: Sequence[Any] | None = None,
    max_pixels: int = 1000,
    ax: Axes | None = None,
) -> Axes:
    """Show the values of the features that distinguish each cluster most, for every object.

    Each feature belongs to the cluster that it distinguishes most (`conclust.confidence.cluster_features`). Objects are
    sorted by cluster, features by their cluster and the size of the difference. Values are standard deviations from the
    mean of the feature; the colours saturate at 2.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points; empty cells (NaN) have their own colour.
    labels : array-like of shape (n_samples,) or fitted model
        The clusters; objects with negative labels are left out.
    n_features : int, default=8
        Maximum number of features for each cluster.
    feature_names : sequence, default=None
        Names of the columns of X. None: those of a frame, or else their numbers from 0.
    max_pixels : int, default=1000
        Above this many objects, neighbours are averaged to one row of pixels.
    ax : matplotlib Axes, default=None
        Axes to draw in. None makes a new figure (``ax.figure``).

    Returns
    -------
    Axes
        The axes with the picture; ``ax.figure.savefig(path)`` writes it.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If X is not a row of numbers for each label, `feature_names` does not name each column, no object is in a
        cluster, or no feature distinguishes one.
    ParameterError
        A parameter is out of its range.

    Examples
    --------
    >>> from conclust.plotting import signature_heatmap
    >>> ax = signature_heatmap([[0, 5], [2, 4], [9, 7], [11, 6]], [0, 0, 1, 1], feature_names=["age", "visits"])
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['age', 'visits']
    """
    owner = "signature_heatmap"
    most = check_int(n_features, "n_features", owner)
    pixels = check_int(max_pixels, "max_pixels", owner)
    assert most is not None
    assert pixels is not None
    names = _names(X, feature_names)
    if np.ndim(X) == 0:
        raise InputError(
            f"{owner} needs a row of features for each object. Got {shown(X)} instead."
        )
    n_samples = len(plain_array(X, "'X'", of="numbers"))
    if labels is None or isinstance(labels, dict):
        raise InputError(f"{owner} needs one label for each object. Got {shown(labels)} instead.")
    (strip,) = read_strips(labels, n_samples, owner, beside={"X": X})
    codes = strip.colours
    points = np.asarray(read_features(X, n_samples, empty_cells=True), dtype=np.float64)
    if names is not None and len(names) != points.shape[1]:
        raise InputError(
            f"'feature_names' must be a name for each of the {points.shape[1]} features. Got {len(names)}."
        )
    clustered = np.flatnonzero(codes >= 0)
    if not len(clustered):
        raise InputError(f"{owner} needs an object in a cluster. Got none.")
    numbers, first = np.unique(codes[clustered], return_index=True)
    in_order = np.argsort(np.argsort(first))  # of the numbers, by first appearance
    difference = cluster_features(points, codes).difference[in_order[: len(numbers)]]
    features, starts = _signatures(difference, most)
    if not len(features):
        raise InputError(f"{owner} needs a feature that differs between clusters. Got none.")
    placed = clustered[np.argsort(codes[clustered], kind="stable")]
    scores = _scores(points[np.ix_(placed, features)])
    picture = averaged(scores, pixels, len(features))

    width = min(PAGE, max(COLUMN, 1.9 + 0.16 * len(features)))
    ax = axes(ax, (width, 1.2 * COLUMN))
    extent = (-0.5, len(features) - 0.5, len(placed), 0)
    shares = 0.5 + np.clip(picture, -_LIMIT, _LIMIT) / (2 * _LIMIT)
    image = show_image(ax, shares, extent, aspect="auto", colours=_DIVERGING)
    bar = colour_bar(ax, image, "standard deviations from the mean", 36, 1)
    bar.ax.set_yticklabels(["-2", "-1", "0", "1", "2"])
    ax.vlines(starts - 0.5, 0, len(placed), color="#444444", linewidth=0.6)
    if len(features) <= _MOST_NAMES:
        ax.set_xticks(
            range(len(features)),
            shortened([str(j) if names is None else names[j] for j in features], _LONGEST),
            rotation=90,
        )
    ax.tick_params(axis="x", length=0)
    ax.set(xlabel="features, by the cluster that they distinguish", ylabel="objects, by cluster")
    draw_strips(ax, [strip.of(placed)], above=False)
    ax.set_title(f"Signatures of {len(placed):,} objects", pad=10)
    return ax


def _names(X: Any, feature_names: Sequence[Any] | None) -> list[str] | None:
    if feature_names is not None:
        return [str(name) for name in feature_names]
    return [str(name) for name in column_names(X)] if hasattr(X, "columns") else None


def _signatures(difference: Floats, most: int) -> tuple[Ints, Ints]:
    """Return the features, cluster by cluster, and where those of each cluster but the first begin."""
    size = np.nan_to_num(np.abs(difference), nan=0.0, posinf=np.inf)
    cluster_of = size.argmax(axis=0)
    groups = []
    for cluster in range(len(size)):
        members = np.flatnonzero((cluster_of == cluster) & (size[cluster] > 0))
        groups.append(members[np.argsort(-size[cluster, members], kind="stable")][:most])
    ends = np.cumsum([len(group) for group in groups])
    return np.concatenate(groups), np.unique(ends[(ends > 0) & (ends < ends[-1])])


def _scores(points: Floats) -> Floats:
    """Return columns in standard deviations from their mean, without the empty cells."""
    centred = points - np.nanmean(points, axis=0)
    deviation = np.nanstd(points, axis=0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))
