"""Scores of several methods on one ensemble, one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from conclust._types import Floats, Ints
from conclust._validation import count, refuse
from conclust.exceptions import InputError
from conclust.plotting.canvas.figures import axes
from conclust.plotting.canvas.style import CM, COLOURS, COLUMN, GREY, PALE, drawn_in_style
from conclust.trials import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TITLES = {
    "ari": "ARI with the truth",
    "nmi": "NMI with the truth",
    "h": "H with the truth",
    "anmi": "mean NMI with the members",
    "certainty": "mean certainty",
}
_LINE = 0.42 * CM  # height of a method in inches


@dataclass(frozen=True)
class Ranking:
    """Methods in the order of a score.

    Attributes
    ----------
    score : str
        Name of the score.
    methods : list of str
        The methods that found a consensus, best first.
    values : ndarray of shape (n_methods,)
        Their scores.
    n_clusters : ndarray of int64 of shape (n_methods,)
        Clusters found.
    cpu_seconds : ndarray of shape (n_methods,)
        CPU time of the fit.
    without : list of str
        The methods without a result, in the order of the comparison.
    """

    score: str
    methods: list[str]
    values: Floats
    n_clusters: Ints
    cpu_seconds: Floats
    without: list[str]


def comparison_of(trials: Comparison, *, score: str | None = None) -> Ranking:
    """Return the data of the picture of a comparison.

    Parameters
    ----------
    trials : Comparison
        Result of :func:`conclust.compare`.
    score : str, default=None
        The score that methods are ordered by, one of ``trials.score_names``. None: the first.

    Returns
    -------
    Ranking
        The methods, best first.

    Raises
    ------
    ParameterError
        If `trials` is not a comparison.
    InputError
        If there is no such score, or no method found a consensus.

    Examples
    --------
    >>> import conclust as cc
    >>> from conclust.plotting.trials import comparison_of
    >>> found = cc.compare([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]], ["EAC", "MCLA"])
    >>> comparison_of(found, score="certainty").methods
    ['EAC', 'MCLA']
    """
    if not isinstance(trials, Comparison):
        refuse("trials", "comparison", "the result of conclust.compare", trials)
    ranked = trials.ranked(score)
    if not ranked:
        raise InputError(
            "No method of this comparison found a consensus: there is nothing to draw."
        )
    name = trials.score_names[0] if score is None else score
    return Ranking(
        name,
        [one.method for one in ranked],
        np.array([one.scores[name] for one in ranked]),
        np.array([one.n_clusters for one in ranked], dtype=np.int64),
        np.array([one.cpu_seconds for one in ranked]),
        [one.method for one in trials if not one.has_result],
    )


@drawn_in_style
def comparison(trials: Comparison, *, score: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the score of each method, best first, with its number of clusters and its CPU time.

    Parameters
    ----------
    trials : Comparison
        Result of :func:`conclust.compare`.
    score : str, default=None
        The score to draw, one of ``trials.score_names``. None: the first.
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
    ParameterError
        If `trials` is not a comparison.
    InputError
        If there is no such score, or no method found a consensus.

    Examples
    --------
    >>> import conclust as cc
    >>> found = cc.compare([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]], ["EAC", "MCLA"])
    >>> ax = cc.plotting.comparison(found)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['EAC', 'MCLA']
    """
    ranking = comparison_of(trials, score=score)
    names = [*ranking.methods, *ranking.without]
    places = np.arange(len(names))
    ax = axes(ax, (COLUMN, 1.9 * CM + _LINE * max(4, len(names))))
    best = len(ranking.methods)
    low = min(0.0, float(np.nanmin(ranking.values, initial=0.0)))
    ax.hlines(places[:best], low, ranking.values, color=PALE, linewidth=1.2, zorder=1)
    ax.plot(ranking.values, places[:best], "o", color=COLOURS[4], markersize=3.6, clip_on=False)
    text_style: dict[str, Any] = {
        "xycoords": ax.get_yaxis_transform(),
        "textcoords": "offset points",
        "va": "center",
        "fontsize": 6.0,
        "color": GREY,
        "annotation_clip": False,
    }
    for place, number, seconds in zip(
        places, ranking.n_clusters, ranking.cpu_seconds, strict=False
    ):
        ax.annotate(f"{number:,}", (1.0, place), (30, 0), ha="right", **text_style)
        ax.annotate(_seconds(seconds), (1.0, place), (62, 0), ha="right", **text_style)
    for place in places[best:]:
        ax.annotate("no result", (0.0, place), (3, 0), ha="left", **text_style)
    for text, right in (("clusters", 30), ("CPU s", 62)):
        ax.annotate(text, (1.0, -1.0), (right, 0), ha="right", **text_style)
    ax.set_yticks(places, names)
    ax.set(xlim=(low, 1.0), ylim=(len(names) - 0.4, -1.4), xlabel=_TITLES[ranking.score])
    ax.set_title(f"{count(len(names), 'method')} on the same partitions")
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=True, axis="x")
    return ax


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"
