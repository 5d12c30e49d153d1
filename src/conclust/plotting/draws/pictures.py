"""The similarity matrix with the estimate's blocks, a credible ball, expected loss over K."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._random import RandomStateLike, seed_sequence
from conclust._types import Floats, Ints
from conclust._validation import check_int
from conclust.confidence import CredibleBall
from conclust.consensus.median import BayesEstimate
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import InputError
from conclust.measures.losses import Loss
from conclust.plotting.canvas.figures import axes
from conclust.plotting.canvas.strips import read_strips
from conclust.plotting.canvas.style import (
    COLOURS,
    COLUMN,
    NO_CLUSTER,
    cluster_colours,
    drawn_in_style,
)
from conclust.plotting.heatmaps import coassociation_heatmap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ACCENT, _CHOSEN = COLOURS[4], "#b3421a"
_NUMBERS = 20  # maximum number of points of a curve by default
_UNITS = {"vi": " (bits)", "id": " (bits)"}


@drawn_in_style
def similarity_blocks(
    ensemble: Ensemble | ArrayLike, labels: ArrayLike | Any, *, ax: Axes | None = None
) -> Axes:
    """Show the co-association of objects, with the clusters of an estimate as blocks.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The draws, an object a row; draws in rows: ``Ensemble.from_draws``. Of more than 4,000 objects means
        of blocks are shown.
    labels : array-like of shape (n_samples,) or fitted model
        The estimate; negative labels are in no cluster, and come last.
    ax : matplotlib Axes, default=None
        Axes to draw in. None makes a new figure (``ax.figure``).

    Returns
    -------
    Axes
        The axes with the picture.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        The labels do not fit the objects.

    Examples
    --------
    >>> from conclust.plotting import similarity_blocks
    >>> ax = similarity_blocks([[0, 0], [1, 1], [0, 1], [1, 1]], [0, 1, 0, 1])
    >>> len(ax.patches)
    2
    """
    from matplotlib.patches import Rectangle

    draws = as_ensemble(ensemble)
    strips = read_strips(
        labels, draws.n_samples, "similarity_blocks", beside={"ensemble": ensemble}
    )
    if not strips:
        raise InputError("similarity_blocks needs the labels of an estimate. Got None.")
    ax = coassociation_heatmap(draws, labels=labels, order="cluster", ax=ax)
    colours = strips[0].colours
    sizes = np.bincount(colours[colours >= 0])
    ends = np.cumsum(sizes)
    for size, end in zip(sizes, ends, strict=True):
        ax.add_patch(
            Rectangle(
                (end - size, end - size), size, size, fill=False, edgecolor=_CHOSEN, linewidth=0.9
            )
        )
    return ax


@drawn_in_style
def ball_columns(ball: CredibleBall, *, ax: Axes | None = None) -> Axes:
    """Show an estimate and the bounds of its credible ball, one object per row.

    Objects are sorted by the estimate, then by the bounds. A cluster has the colour of the estimate's cluster that it
    shares most objects with; where a column has another colour than its neighbours, the bound differs.

    Parameters
    ----------
    ball : CredibleBall
        Result of :func:`conclust.confidence.credible_ball`. For bounds with several draws the first is shown.
    ax : matplotlib Axes, default=None
        Axes to draw in. None makes a new figure (``ax.figure``).

    Returns
    -------
    Axes
        The axes with the picture.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.

    Examples
    --------
    >>> from conclust.confidence import credible_ball
    >>> from conclust.plotting import ball_columns
    >>> ball = credible_ball([[0, 0, 0], [0, 0, 1], [1, 1, 2]], [0, 0, 1])
    >>> [text.get_text().splitlines()[0] for text in ball_columns(ball).get_xticklabels()]
    ['estimate', 'horizontal', 'upper', 'lower']
    """
    if not isinstance(ball, CredibleBall):
        raise InputError(
            f"ball_columns draws a CredibleBall, which credible_ball returns. Got {type(ball).__name__} instead."
        )
    from matplotlib.colors import to_rgb

    estimate = np.where(ball.labels >= 0, ball.labels, -1)
    bounds = {
        "horizontal": ball.horizontal,
        "upper": ball.upper_vertical,
        "lower": ball.lower_vertical,
    }
    n = len(estimate)
    columns = {"estimate": estimate, **{name: each.labels[0] for name, each in bounds.items()}}
    strips = read_strips(columns, n, "ball_columns")
    order = np.lexsort([strip.colours for strip in reversed(strips)])
    most = max(int(strip.colours.max(initial=0)) for strip in strips) + 1
    palette = np.vstack([cluster_colours(most), to_rgb(NO_CLUSTER)])
    ax = axes(ax, (COLUMN, 1.05 * COLUMN))
    for place, strip in enumerate(strips):
        ax.imshow(
            palette[strip.colours[order]][:, None],
            extent=(place - 0.42, place + 0.42, n, 0),
            aspect="auto",
            interpolation="nearest",
        )
    clusters = [len(np.unique(estimate[estimate >= 0]))]
    clusters += [int(each.n_clusters[0]) for each in bounds.values()]
    distances = [0.0, *(each.distance for each in bounds.values())]
    titles = [
        f"{name}\n{count} clusters\n{distance:.3g} away"
        for name, count, distance in zip(columns, clusters, distances, strict=True)
    ]
    titles[0] = f"estimate\n{clusters[0]} clusters"
    ax.set_xlim(-0.5, len(strips) - 0.5)
    ax.set_xticks(range(len(strips)), titles)
    ax.tick_params(axis="x", length=0)
    ax.set(
        ylabel="objects, by the estimate",
        title=f"Credible ball: {100 * ball.probability:.0f} % within {ball.radius:.3g}",
    )
    return ax


@dataclass(frozen=True)
class LossCurve:
    """The minimum expected loss for each maximum number of clusters.

    Attributes
    ----------
    k : ndarray of int64 of shape (n_k,)
        Maximum numbers of clusters, rising.
    losses : ndarray of shape (n_k,)
        Minimum expected loss found; it does not increase.
    n_clusters : ndarray of int64 of shape (n_k,)
        Clusters of that estimate.
    best_draw_loss : float
        The expected loss of the best draw.
    loss : str
        Name of the loss.
    """

    k: Ints
    losses: Floats
    n_clusters: Ints
    best_draw_loss: float
    loss: str


def expected_loss_of(
    ensemble: Ensemble | ArrayLike,
    k: Iterable[int] | None = None,
    *,
    loss: Loss = "vi",
    split_cost: float = 1.0,
    n_init: int = 8,
    random_state: RandomStateLike = 0,
) -> LossCurve:
    """Return the data of `expected_loss_curve`.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_draws)
        The draws.
    k : iterable of int, default=None
        Maximum numbers of clusters. None: from 1 to two more than the estimate without a bound has; of more than
        20 numbers 20, in steps that grow.
    loss, split_cost, n_init
        See :class:`conclust.BayesEstimate`.
    random_state : int, Generator, SeedSequence or RandomState, default=0
        Seed of the estimates.

    Returns
    -------
    LossCurve
        A value for each number.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If `k` is empty or the labels are malformed.

    Examples
    --------
    >>> from conclust.plotting import expected_loss_of
    >>> curve = expected_loss_of([[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 2]])
    >>> curve.k, curve.losses.round(2)
    (array([1, 2, 3, 4]), array([1.17, 0.17, 0.17, 0.17]))
    """
    draws = as_ensemble(ensemble)
    seed = seed_sequence(random_state, "expected_loss_of")

    def fitted(most: int | None) -> BayesEstimate:
        model = BayesEstimate(
            loss=loss,
            split_cost=split_cost,
            max_clusters=most,
            n_init=n_init,
            random_state=seed,
        )
        return model.fit(draws)

    free = fitted(None)
    if k is not None and not (isinstance(k, Iterable) and getattr(k, "ndim", 1) == 1):
        raise InputError("expected_loss_of needs a list of numbers of clusters as 'k', or None.")
    wanted = sorted(set(_numbers_up_to(free.n_clusters_ + 2) if k is None else k))
    if not wanted:
        raise InputError("expected_loss_of needs a number of clusters. Got none.")
    for each in wanted:
        check_int(each, "k", "expected_loss_of")
    losses, clusters = [], []
    best, held = np.inf, 0
    for most in wanted:
        model = free if most >= free.n_clusters_ else fitted(int(most))
        if model.expected_loss_ < best:
            best, held = model.expected_loss_, model.n_clusters_
        losses.append(best)
        clusters.append(held)
    return LossCurve(
        np.array(wanted), np.array(losses), np.array(clusters), free.best_draw_loss_, loss
    )


def _numbers_up_to(most: int) -> list[int]:
    """Return the numbers 1, 2, ..., or `_NUMBERS` of them in growing steps, because each needs a fit."""
    if most <= _NUMBERS:
        return list(range(1, most + 1))
    return sorted({round(number) for number in np.geomspace(1, most, _NUMBERS).tolist()})


@drawn_in_style
def expected_loss_curve(
    given: LossCurve | Ensemble | ArrayLike, *, ax: Axes | None = None, **options: Any
) -> Axes:
    """Draw the minimum expected loss over the maximum number of clusters.

    Parameters
    ----------
    given : LossCurve, Ensemble or array-like of shape (n_samples, n_draws)
        Result of `expected_loss_of`, or the draws.
    ax : matplotlib Axes, default=None
        Axes to draw in. None makes a new figure (``ax.figure``).
    options : keyword arguments
        Options of `expected_loss_of`, for draws.

    Returns
    -------
    Axes
        The axes with the picture; a ring marks the least loss, a dashed line the best draw's.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    ParameterError, InputError
        As for `expected_loss_of`.

    Examples
    --------
    >>> from conclust.plotting import expected_loss_curve
    >>> ax = expected_loss_curve([[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 2]])
    >>> ax.get_ylabel()
    'expected loss, VI (bits)'
    """
    from matplotlib.ticker import MaxNLocator

    curve = given if isinstance(given, LossCurve) else expected_loss_of(given, **options)
    ax = axes(ax, (COLUMN, 0.72 * COLUMN))
    ax.plot(curve.k, curve.losses, color=_ACCENT, marker="o", zorder=3, label="estimate")
    ax.axhline(
        curve.best_draw_loss,
        color="#7a7f83",
        linestyle=(0, (4, 2)),
        linewidth=0.9,
        label="best draw",
    )
    least = int(np.argmin(curve.losses))
    ax.plot(
        curve.k[least],
        curve.losses[least],
        marker="o",
        markersize=9,
        markerfacecolor="none",
        markeredgecolor=_CHOSEN,
        linestyle="none",
        zorder=4,
    )
    ax.set(
        xlabel="maximum number of clusters",
        ylabel=f"expected loss, {curve.loss.upper()}{_UNITS.get(curve.loss, '')}",
        title=f"Least expected loss: {curve.losses[least]:.3g}, {curve.n_clusters[least]} clusters",
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend()
    return ax
