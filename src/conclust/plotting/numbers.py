"""Curves over the number of clusters: distribution functions, area, PAC and RCSI with their null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from conclust._types import Floats, Ints
from conclust._validation import check_int, shown
from conclust.confidence.borders.power import WANTED, BorderPower
from conclust.exceptions import InputError
from conclust.plotting.canvas.figures import axes
from conclust.plotting.canvas.keys import note
from conclust.plotting.canvas.style import COLOURS, COLUMN, DASHES, GREY, PALE, drawn_in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ACCENT, _CHOSEN = COLOURS[4], "#b3421a"
_SIZE = (COLUMN, 0.72 * COLUMN)
_BAND = "without clusters, 9 of 10"
_NAMES = {
    "pac": "share of ambiguous pairs (PAC)",
    "rcsi": "relative stability (RCSI)",
    "delta": "relative change in area",
    "sharp": "sharp score",
    "mean_ari": "mean ARI of two resamples",
    "silhouette_points": "silhouette among the points",
}
_TITLES = {
    "pac": "Ambiguous pairs",
    "rcsi": "More stable than without clusters",
    "delta": "Delta area",
}
_MOST_TICKS = 14


@dataclass(frozen=True)
class Curve:
    """A criterion over the number of clusters, and its values for references without clusters.

    Attributes
    ----------
    criterion : str
        Name of the criterion.
    k : ndarray of shape (n_k,)
        Numbers of clusters, rising.
    values : ndarray of shape (n_k,)
        The criterion.
    error : ndarray of shape (n_k,)
        Its standard error; NaN where there is none.
    null : ndarray of shape (n_references, n_k)
        The criterion of each reference; of shape (0, n_k) without references.
    p_value : float
        P-value of a single cluster; NaN if there is none.
    chosen : int
        Chosen number; 0 if none.
    n_references : int
        References that the p-value rests on: all of `null`, but of a sequential test.
    """

    criterion: str
    k: Ints
    values: Floats
    error: Floats
    null: Floats
    p_value: float
    chosen: int
    n_references: int


def curve_of(given: Any, criterion: str = "pac", *, chosen: int | None = None) -> Curve:
    """Return the data of the pictures of criteria as arrays.

    Parameters
    ----------
    given : Selection or dict of int to float
        Result of :func:`conclust.selection.choose`, or a value for each number of clusters.
    criterion : str, default="pac"
        A column of the table of the Selection, or the name of the values. Only "pac" and "rcsi" of a Selection have references.
    chosen : int, default=None
        The number chosen. A Selection has its own.

    Returns
    -------
    Curve
        The criterion and its references.

    Raises
    ------
    InputError
        If there is no number, or a criterion is not in the table.

    Examples
    --------
    >>> from conclust.plotting.numbers import curve_of
    >>> curve_of({3: 0.5, 2: 0.25}, "sharp").values
    array([0.25, 0.5 ])
    """
    if not isinstance(criterion, str):
        raise InputError(f"'criterion' must be a name. Got {shown(criterion)} instead.")
    check_int(chosen, "chosen", "curve_of", low=0, none=True)
    if not is_selection(given):
        if not isinstance(given, Mapping) or not given:
            raise InputError(
                "Expected a Selection, or a dict of numbers of clusters to values. Got "
                f"{type(given).__name__}."
            )
        k = numbers_of_clusters(given)
        values = np.array([_value_of(given[number], number) for number in k.tolist()])
        none = np.full(len(k), np.nan)
        return Curve(criterion, k, values, none, np.empty((0, len(k))), np.nan, chosen or 0, 0)
    table, null = given.table, given.null
    if criterion not in table:
        raise InputError(
            f"The selection has no criterion {criterion!r}. It has {', '.join(sorted(table))}."
        )
    if criterion == "rcsi":  # the references already include its floor
        logs = np.log(null)
        null = logs.mean(axis=0) - logs
    k = np.asarray(given.k)
    return Curve(
        criterion,
        k,
        np.asarray(table[criterion], dtype=np.float64),
        np.asarray(table.get(f"{criterion}_se", np.full(len(k), np.nan)), dtype=np.float64),
        null if criterion in ("pac", "rcsi") else null[:0],
        float(given.p_value),
        int(given.n_clusters if chosen is None else chosen),
        int(given.n_references),
    )


def is_selection(given: Any) -> bool:
    """Return whether the input is a Selection rather than arrays."""
    return hasattr(given, "table") and hasattr(given, "k") and hasattr(given, "null")


def numbers_of_clusters(given: Mapping[Any, Any]) -> Ints:
    """Return the keys of a dict by number of clusters, in increasing order."""
    if not all(isinstance(k, int | np.integer) and 0 < k < 1 << 53 for k in given):
        raise InputError(
            f"The keys must be numbers of clusters. Got {shown(list(given)[:12])} instead."
        )
    return np.array(sorted(given), dtype=np.int64)


def _value_of(value: Any, k: int) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"Expected one number for each number of clusters. Got {shown(value)} for {k}: the values are of "
            "a criterion, not labels."
        ) from error


@drawn_in_style
def cdf_curves(given: Any, *, chosen: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the consensus of pairs for each number of clusters.

    Clusters that do not depend on the resample have a curve that is flat between 0 and 1: pairs are
    always together or never.

    Parameters
    ----------
    given : Selection
        Result of :func:`conclust.selection.choose`.
    chosen : int, default=None
        Number to be highlighted. None: the one that was chosen.
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
        If it is not a Selection.

    References
    ----------
    S. Monti et al.: Consensus clustering. Machine Learning 52, 2003.

    Examples
    --------
    >>> from conclust.plotting import cdf_curves
    >>> from conclust.selection import choose_from
    >>> ax = cdf_curves(choose_from({2: [[0, 0]] * 9 + [[1, 1]] * 9}))
    >>> ax.get_xlabel()
    'consensus of a pair of objects'
    """
    from matplotlib.colors import LinearSegmentedColormap

    check_int(chosen, "chosen", "cdf_curves", low=0, none=True)
    curves = cdf_of(given)
    chosen = int(given.n_clusters) if chosen is None else chosen
    ax = axes(ax, (COLUMN, 0.8 * COLUMN))
    scale = LinearSegmentedColormap.from_list("conclust", COLOURS)
    shades = scale(np.linspace(0.38, 0.95, len(curves)))  # all dark enough to be visible
    for at, (k, (values, heights)) in enumerate(curves.items()):
        stressed = k == chosen
        ax.step(
            np.concatenate([[0.0], values, [1.0]]),
            np.concatenate([[0.0], heights, [1.0]]),
            where="post",
            color=_CHOSEN if stressed else shades[at],
            linestyle="solid" if stressed else DASHES[at % len(DASHES)],
            linewidth=2.0 if stressed else 1.0,
            zorder=3 if stressed else 2,
            label=f"{k}",
        )
    ax.set(
        xlim=(-0.01, 1.01),
        ylim=(0, 1.02),
        xlabel="consensus of a pair of objects",
        ylabel="share of pairs up to it",
        title="Distribution of the consensus",
    )
    ax.legend(
        title="clusters", loc="lower right", ncols=2 if len(curves) > 5 else 1, columnspacing=1.0
    )
    return ax


def cdf_of(given: Any) -> dict[int, tuple[Floats, Floats]]:
    """Return the distribution functions of the consensus of a Selection.

    For each number of clusters, rising: the values that occur, rising, and the share of pairs up to each.
    """
    if not is_selection(given):
        raise InputError(
            "Expected a Selection, as of conclust.selection.choose. Got "
            f"{type(given).__name__} instead."
        )
    return {int(k): given.cdf(int(k)) for k in given.k}


@drawn_in_style
def criterion_curve(
    given: Any, criterion: str = "pac", *, chosen: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a criterion over the number of clusters, with its standard error and its references without clusters.

    Parameters
    ----------
    given : Selection or dict of int to float
        Result of :func:`conclust.selection.choose`, or a value for each number of clusters.
    criterion : str, default="pac"
        A column of the table of the Selection, such as "sharp"; or the name of the values. "pac": the share of ambiguous pairs.
        "rcsi": the mean log PAC of the references minus log PAC. "delta": the relative growth of the area under the distribution
        function. The band of "pac" and "rcsi" holds nine tenths of the references.
    chosen : int, default=None
        Number to be highlighted. A Selection has its own.
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
        If there is nothing to draw, or no such criterion.

    References
    ----------
    C. R. John et al.: M3C: Monte Carlo reference-based consensus clustering. Scientific Reports 10, 2020.

    Examples
    --------
    >>> from conclust.plotting import criterion_curve
    >>> ax = criterion_curve({2: 14.0, 3: 21.5, 4: 17.2}, "sharp", chosen=3)
    >>> ax.get_ylabel()
    'sharp score'
    """
    curve = curve_of(given, criterion, chosen=chosen)
    ax = axes(ax, _SIZE)
    if criterion == "rcsi":
        ax.axhline(0.0, color=GREY, linewidth=0.6, zorder=1)
    _draw(ax, curve)
    name = _NAMES.get(criterion, criterion)
    ax.set_ylabel(name, parse_math=False)
    ax.set_title(_TITLES.get(criterion, f"{name[:1].upper()}{name[1:]}"), parse_math=False)
    if criterion in ("pac", "delta"):
        ax.set_ylim(bottom=0)
    if criterion == "pac":
        ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1])
    return ax


def _draw(ax: Axes, curve: Curve) -> None:
    """Draw the criterion, the band of its references, and a ring around the number chosen."""
    if len(curve.null):
        low, high = np.quantile(curve.null, (0.05, 0.95), axis=0)
        ax.fill_between(curve.k, low, high, color=PALE, linewidth=0, zorder=1, label=_BAND)
        ax.plot(
            curve.k,
            curve.null.mean(axis=0),
            color=GREY,
            linestyle=(0, (4, 2)),
            linewidth=0.9,
            zorder=2,
            label="their mean",
        )
    ax.errorbar(
        curve.k,
        curve.values,
        yerr=None if np.isnan(curve.error).all() else np.nan_to_num(curve.error),
        color=_ACCENT,
        marker="o",
        capsize=2,
        elinewidth=0.8,
        zorder=3,
        label="found" if len(curve.null) else None,
    )
    at = np.flatnonzero(curve.k == curve.chosen)
    if len(at):
        ax.plot(
            curve.k[at],
            curve.values[at],
            linestyle="none",
            marker="o",
            markersize=9,
            markerfacecolor="none",
            markeredgecolor=_CHOSEN,
            markeredgewidth=1.4,
            clip_on=False,
            zorder=4,
            label=f"chosen: {curve.chosen}",
        )
    ax.set_xticks(_apart(curve.k))
    ax.set_xlabel("number of clusters")
    ax.margins(x=0.05)
    if len(curve.null):
        # Space for the legend above all curves.
        low, high = ax.get_ylim()
        ax.set_ylim(low, low + 1.5 * (high - low))
        text = f"one cluster: p = {curve.p_value:.2g} ({curve.n_references:,} references)"
        title = None if np.isnan(curve.p_value) else text
        ax.legend(loc="upper right", ncols=2, columnspacing=1.2, title=title)
    elif len(at):
        ax.legend(loc="best")


def _apart(k: Ints) -> list[int]:
    """Return the numbers of clusters whose labels do not touch: at least a fourteenth of the axis apart."""
    least = (int(k[-1]) - int(k[0])) / _MOST_TICKS
    ticks: list[int] = []
    for number in k.tolist():
        if not ticks or number - ticks[-1] >= least:
            ticks.append(number)
    return ticks


@drawn_in_style
def power_curves(power: BorderPower, ax: Axes | None = None) -> Axes:
    """Draw the probability that each border holds over the number of objects: of those that need most, at most eight."""
    ax = axes(ax, (COLUMN, 0.72 * COLUMN))
    n, least = power.n_samples, np.sort(power.needed[np.isfinite(power.needed)])
    last = 2.0 * max(n, *least[-1:])
    sizes = np.geomspace(max(n / 8.0, 2.0), last, 200)
    heights = np.array([power.at(size) for size in sizes]).T
    for at, b in enumerate(np.argsort(-power.needed, kind="stable")[:8]):
        label = f"{power.first[b]} | {power.second[b]}"
        ax.plot(sizes, heights[b], color=COLOURS[2 + at % 4], linestyle=DASHES[at % 5], label=label)
    ax.axvline(n, color=GREY, linewidth=0.8)
    ax.axhline(WANTED, color=GREY, linewidth=0.6, linestyle=(0, (2, 2)))
    note(ax, f"you have {n:,}", (n, 1.0), (0, 2), va="bottom")
    ax.set(xscale="log", ylim=(0, 1), xlabel="objects", ylabel="probability that it holds")
    ax.set_title("Objects that borders need", pad=12)
    if last < 200.0 * sizes[0]:
        ax.set_xticks([m * 10**k for k in range(8) for m in (1, 2, 5)])
    ax.set_xlim(sizes[0], last)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.xaxis.set_minor_formatter("")
    ax.legend(title="border")
    return ax
