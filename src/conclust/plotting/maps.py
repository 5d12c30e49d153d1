"""Objects in two dimensions, coloured by cluster, with uncertain ones faded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.containers import (
    check_row_names,
    moderate,
    number_array,
    plain_array,
    point_rows,
    refuse_gaps,
)
from conclust._random import generator
from conclust._types import Floats, Ints
from conclust._validation import check_int
from conclust.confidence import confidences
from conclust.ensemble import Ensemble
from conclust.exceptions import InputError
from conclust.generation.labelling.labelling import scaled
from conclust.generation.points import read_points
from conclust.plotting.canvas.figures import axes
from conclust.plotting.canvas.keys import LONGEST, Box, any_meet, draw_key, note, text_box
from conclust.plotting.canvas.reading import cluster_words
from conclust.plotting.canvas.style import (
    COLUMN,
    GREY,
    INK,
    MARKERS,
    NO_CLUSTER,
    cluster_colours,
    drawn_in_style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_NAME = 6.5  # size of letters in points
_COVERED = 1 / 3  # maximum share of the picture that numbers cover


@dataclass(frozen=True)
class Embedding:
    """Objects in two dimensions.

    Attributes
    ----------
    places : ndarray of shape (n_samples, 2)
        The first two principal components, or the points themselves.
    shares : ndarray of shape (2,)
        Share of the variance along each; NaN for points that were given in two dimensions.
    labels : ndarray of int64 of shape (n_samples,)
        Their clusters; negative: none.
    confidence : ndarray of shape (n_samples,)
        From 0 to 1: how opaque they are drawn.
    """

    places: Floats
    shares: Floats
    labels: Ints
    confidence: Floats


def embedding_of(
    X: Ensemble | ArrayLike, labels: ArrayLike | Any, confidence: ArrayLike | None = None
) -> Embedding:
    """Return the data of the embedding as arrays.

    Parameters
    ----------
    X : Ensemble or array-like of shape (n_samples, n_features)
        Points with two features are drawn unchanged; for others, the first two principal components, in the scale of
        the members if the labels are a fitted :class:`conclust.ConsensusClustering`. For an Ensemble, the principal
        components of its indicator: for complete labels, the places with distances closest to the square root of the
        share of partitions that separate two objects.
    labels : array-like of int of shape (n_samples,) or fitted model
        Clusters from 0 on; negative: none.
    confidence : array-like of shape (n_samples,), default=None
        From 0 to 1; NaN is 0. None: the confidence (:func:`conclust.confidence.confidences`) of a model with memberships, or of
        any model if X is its Ensemble; otherwise 1.

    Returns
    -------
    Embedding
        Places, clusters and confidence.

    Raises
    ------
    InputError
        If the numbers of objects differ, or X or the confidence are not finite numbers.

    Examples
    --------
    >>> from conclust.plotting.maps import embedding_of
    >>> found = embedding_of([[0.0, 1.0, 5.0], [0.0, 1.0, -5.0], [0.0, 0.0, 0.0]], [0, 1, 0])
    >>> abs(found.places[:, 0]).round(2)
    array([5., 5., 0.])
    """
    codes, sure = _read(X, labels, confidence)
    places, shares = _places(_in_scale_of(labels, X), len(codes), slice(None))
    return Embedding(places, shares, codes, sure)


def _read(X: Any, labels: Any, confidence: Any) -> tuple[Ints, Floats]:
    """Return clusters and confidence."""
    check_row_names({"X": X, "labels": labels, "confidence": confidence}, named_only=True)
    sure, cluster_labels = confidence, labels
    if hasattr(labels, "fit"):
        check_is_fitted(labels)
        membership = getattr(labels, "membership_", None)
        if sure is None and membership is not None:
            sure = np.asarray(membership).max(axis=1)
        elif sure is None and isinstance(X, Ensemble):
            sure = confidences(labels, X)
        cluster_labels = getattr(labels, "labels_", None)
    codes = plain_array(cluster_labels, "'labels'")
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise InputError(
            "'labels' must be a whole number for each object, or a fitted model. Got an array of shape "
            f"{codes.shape} and type {codes.dtype}."
        )
    n = len(codes)
    if not n:
        raise InputError("embedding needs at least one object. Got none.")
    opaque = np.ones(n) if sure is None else np.nan_to_num(number_array(sure, "'confidence'"))
    if opaque.shape != (n,) or (opaque < 0).any() or (opaque > 1 + 1e-9).any():
        raise InputError(
            f"'confidence' must be a number from 0 to 1 for each of the {n} objects. Got an array of "
            f"shape {opaque.shape}."
        )
    return codes.astype(np.int64), np.minimum(opaque, 1.0)


def _in_scale_of(model: Any, X: Any) -> Any:
    """Return the points in the scale of a pipeline's members, if it scaled them; two columns are drawn unchanged."""
    generated: Any = getattr(model, "generator_", None)
    scaler = getattr(generated, "scaler_", None)
    if scaler is None or isinstance(X, Ensemble):
        return X
    width = np.shape(X)[1:]
    if width != (generated.n_features_in_,) or width == (2,):
        return X  # coordinates from elsewhere
    return scaled(read_points(generated, X, reset=False), scaler)


def _places(X: Any, n: int, rows: Any) -> tuple[Floats, Floats]:
    """Return the coordinates of some of the n objects, and the variance along either axis."""
    if isinstance(X, Ensemble):
        if X.n_samples != n:
            raise InputError(
                f"X must have a row for each of the {n} objects of the labels. Got {X.n_samples} rows."
            )
        share = np.sqrt(X.column_weights / X.partition_weights.sum())
        return _components(sp.csr_array(X.indicator[rows] * share[np.newaxis, :]))
    points = point_rows(X, n, also=", or be an Ensemble")[rows].astype(np.float64)
    refuse_gaps(points, X)
    points, unit = moderate(points)
    if points.shape[1] == 2:
        return points * unit, np.full(2, np.nan)
    places, shares = _components(points)
    return places * unit, shares


def _components(rows: Any) -> tuple[Floats, Floats]:
    """Return the first two principal components, each turned so that its largest entry is positive."""
    n, d = rows.shape
    mean = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
    sparse: Any = sp.csr_array(rows)
    total = float((sparse.data**2).sum()) - n * float(mean @ mean)
    places, shares = np.zeros((n, 2)), np.zeros(2)
    if min(n, d) <= 50:
        dense = sparse.toarray() - mean
        U, s, _ = np.linalg.svd(dense, full_matrices=False)
    else:
        transposed = rows.T
        centred = LinearOperator(
            (n, d),
            matvec=lambda v: rows @ np.ravel(v) - float(mean @ np.ravel(v)),
            rmatvec=lambda u: transposed @ np.ravel(u) - mean * float(np.sum(u)),
            dtype=np.float64,
        )
        U, s, _ = svds(centred, k=2, v0=generator(0, "embedding").normal(size=min(n, d)))
        U, s = U[:, ::-1], s[::-1]
    n_components = min(2, len(s))
    places[:, :n_components] = U[:, :n_components] * s[:n_components]
    shares[:n_components] = s[:n_components] ** 2 / total if total > 0 else 0.0
    for column in places.T:
        if column[np.argmax(np.abs(column))] < 0:
            column *= -1.0
    return places, shares


@drawn_in_style
def embedding(
    X: Ensemble | ArrayLike,
    labels: ArrayLike | Any,
    confidence: ArrayLike | None = None,
    *,
    max_samples: int = 20_000,
    random_state: Any = 0,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw objects in two dimensions, coloured by cluster, with uncertain ones faded.

    Parameters
    ----------
    X : Ensemble or array-like of shape (n_samples, n_features)
        Points with two features are drawn unchanged; for others, the first two principal components, in the scale
        of the members if the labels are a fitted :class:`conclust.ConsensusClustering`. For an Ensemble, the principal
        components of its indicator: objects that the partitions put together are close to each other.
    labels : array-like of int of shape (n_samples,) or fitted model
        Clusters from 0 on; negative: none, grey.
    confidence : array-like of shape (n_samples,), default=None
        From 0, nearly transparent, to 1; NaN is 0. None: the confidence (:func:`conclust.confidence.confidences`) of a model
        with memberships, or of any model if X is its Ensemble; otherwise 1.
    max_samples : int, default=20000
        Maximum number of objects in the plot; if there are more, this number is sampled, and the title mentions it.
    random_state : int, Generator or None, default=0
        Draws the objects.
    names : sequence of str, default=None
        Names of the clusters. None: their numbers from 0. If names would overlap, clusters are numbered, and a key below has
        the names. If the numbers would cover more than a third of the picture, only those of the largest clusters are written,
        and the key has only these clusters.
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
        If the numbers of objects differ, or X or the confidence are not finite numbers.
    ParameterError
        If `max_samples` is out of its range.

    Examples
    --------
    >>> from conclust.plotting import embedding
    >>> ax = embedding([[0.0, 1.0], [3.0, 1.0], [3.0, 0.0]], [0, 1, 1], [1.0, 0.5, 1.0])
    >>> ax.get_title()
    '3 objects, uncertain ones faded'
    """
    from matplotlib.colors import to_rgb

    most = check_int(max_samples, "max_samples", "embedding")
    codes, sure = _read(X, labels, confidence)
    n = len(codes)
    drawn = np.arange(n)
    if n > most:
        drawn = np.sort(generator(random_state, "embedding").permutation(n)[:most])
    places, shares = _places(_in_scale_of(labels, X), n, drawn)
    picture = Embedding(places, shares, codes[drawn], sure[drawn])
    K = int(picture.labels.max(initial=-1)) + 1
    words = cluster_words(names, K, "embedding")
    palette = np.vstack([cluster_colours(K), to_rgb(NO_CLUSTER)])
    own = ax is None
    ax = axes(ax, (COLUMN, 0.85 * COLUMN))

    _scatter(ax, picture, K, palette)
    shown = [k for k in range(K) if (picture.labels == k).any()]
    middles = [np.median(picture.places[picture.labels == k], axis=0) for k in shown]
    boxes = [
        text_box(_points_of(ax, at), words[k], _NAME) for k, at in zip(shown, middles, strict=True)
    ]
    area = ax.bbox.width * ax.bbox.height * (72.0 / ax.figure.dpi) ** 2
    covered = sum(4.0 * (box.half_width + 1.6) * (box.half_height + 1.6) for box in boxes)
    # Names cover each other, or a fifth of the picture.
    crowded = any_meet(boxes) or covered > area / 5
    # Numbers take no less space than numbers.
    in_key = crowded and any(len(words[k]) > (3 if words[k].isdigit() else 2) for k in shown)
    written = [str(i + 1) for i in range(len(shown))] if in_key else [words[k] for k in shown]
    steps = np.zeros((len(shown), 2))
    if crowded:
        numbers = [
            text_box(_points_of(ax, at), "0" * max(2, *map(len, written)), _NAME + 2)
            for at in middles
        ]
        (x0, y0), (x1, y1) = ax.bbox.get_points() * 72.0 / ax.figure.dpi
        room = Box((x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / 2, (y1 - y0) / 2)
        across = 2.0 * max(numbers[0].half_width, numbers[0].half_height)
        most = max(1, int(_COVERED * 4.0 * room.half_width * room.half_height / across**2))
        if len(shown) > most:
            sizes = np.bincount(picture.labels[picture.labels >= 0], minlength=K)[shown]
            largest = np.sort(np.argsort(-sizes, kind="stable")[:most])
            shown, written, middles, numbers = (
                [items[at] for at in largest] for items in (shown, written, middles, numbers)
            )
        steps = _apart(numbers, room)
    _write_names(ax, written, middles, steps, palette[shown])
    some = f"{n:,}" if len(drawn) == n else f"{len(drawn):,} of {n:,}"
    ax.set_title(f"{some} objects, uncertain ones faded")
    if np.isnan(picture.shares).all():
        ax.set(xlabel="first feature", ylabel="second feature")
    else:
        ax.set(
            xlabel=f"first component ({picture.shares[0]:.0%} of the variance)",
            ylabel=f"second component ({picture.shares[1]:.0%})",
        )
    if in_key:
        whole = cluster_words(names, K, "embedding", LONGEST)
        entries = [f"{number} {whole[k]}" for number, k in zip(written, shown, strict=True)]
        shapes = [MARKERS[k % len(MARKERS)] for k in shown]
        draw_key(ax, entries, palette[shown], markers=shapes, own=own)
    return ax


def _scatter(ax: Axes, picture: Embedding, K: int, palette: Floats) -> None:
    """Draw the objects; uncertain ones first, so that they do not cover others."""
    order = np.argsort(picture.confidence, kind="stable")
    size = float(np.clip(9000.0 / max(len(order), 1), 1.5, 16.0))
    for k in range(-1, K):
        rows = order[np.maximum(picture.labels[order], -1) == k]
        colours = np.column_stack(
            [np.tile(palette[k], (len(rows), 1)), 0.12 + 0.88 * picture.confidence[rows]]
        )
        ax.scatter(
            picture.places[rows, 0],
            picture.places[rows, 1],
            s=size,
            c=colours,
            marker=MARKERS[k % len(MARKERS)] if k >= 0 else ".",
            linewidths=0,
            rasterized=len(order) > 2000,
        )


def _write_names(
    ax: Axes, texts: list[str], middles: list[Any], steps: Floats, colours: Floats
) -> None:
    """Write a name for each cluster, moved from the middle of its objects by a step in points."""
    line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkA": 0.0, "shrinkB": 0.0}
    for at, step in zip(middles, steps, strict=True):
        if np.hypot(*step) > 6.0:  # below all numbers
            ax.annotate("", at, xytext=tuple(step), textcoords="offset points", arrowprops=line)
    for text, at, step, colour in zip(texts, middles, steps, colours, strict=True):
        box = {
            "boxstyle": "circle,pad=0.25" if len(text) < 3 else "round,pad=0.25",
            "facecolor": (1, 1, 1, 0.85),
            "edgecolor": colour,
            "linewidth": 1.0,
        }
        note(ax, text, at, tuple(step), fontsize=_NAME, fontweight="bold", color=INK, bbox=box)


def _points_of(ax: Axes, at: Floats) -> Floats:
    """Return a place in points; before the layout, so that it is about right."""
    return np.asarray(ax.transData.transform(at)) * 72.0 / ax.figure.dpi


def _apart(boxes: Sequence[Box], room: Box) -> Floats:
    """Return steps in points after which small boxes of one size do not meet, if there is space for all in the room."""
    start = np.array([(box.x, box.y) for box in boxes]).reshape(-1, 2)
    places = start.copy()
    across = 2.0 * max(boxes[0].half_width, boxes[0].half_height)
    turn = 2.4 * np.arange(len(boxes))
    sides = np.column_stack([np.cos(turn), np.sin(turn)])  # in which equal places part
    middle = np.array([room.x, room.y])
    half = np.array([room.half_width, room.half_height]) - across / 2
    for _ in range(200):
        away = places[:, None] - places
        distance = np.hypot(away[..., 0], away[..., 1])
        near = (distance < across) & ~np.eye(len(boxes), dtype=bool)
        if not near.any():
            break
        equal = distance < 1e-9
        unit = np.where(
            equal[..., None], sides[:, None], away / np.where(equal, 1.0, distance)[..., None]
        )
        push = np.where(near, (across - distance) / 2 + 0.05, 0.0)
        places += (unit * push[..., None]).sum(axis=1)
        places = np.clip(places, middle - half, middle + half)
    steps: Floats = places - start
    return steps
