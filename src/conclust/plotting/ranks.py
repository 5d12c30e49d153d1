"""Mean ranks of methods over several data sets, and which of them differ: the critical difference diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from conclust._arrays.containers import column_names
from conclust._types import Floats
from conclust._validation import check_option, check_real
from conclust.confidence.borders.result import holm
from conclust.exceptions import InputError
from conclust.plotting.canvas.figures import axes
from conclust.plotting.canvas.keys import note
from conclust.plotting.canvas.reading import shortened
from conclust.plotting.canvas.style import COLUMN, GREY, INK, drawn_in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RankTest = Literal["nemenyi", "wilcoxon"]


@dataclass(frozen=True)
class MeanRanks:
    """Mean ranks of methods, the best first, and which of them differ.

    Attributes
    ----------
    methods : tuple of str
        Their names.
    ranks : ndarray of shape (n_methods,)
        Mean rank over the data sets; 1 is the best.
    p_value : float
        P-value of Friedman's test, with the correction for ties: that all methods are the same.
    p_values : ndarray of shape (n_methods, n_methods)
        P-values of all pairs, adjusted for their number.
    critical_difference : float
        Difference of mean ranks from which on two methods differ by Nemenyi's test; NaN with Wilcoxon's.
    groups : tuple of (int, int)
        First and last method of each of the largest groups of neighbours of which no two differ, if there are at least two.
    n_sets : int
        Data sets.
    """

    methods: tuple[str, ...]
    ranks: Floats
    p_value: float
    p_values: Floats
    critical_difference: float
    groups: tuple[tuple[int, int], ...]
    n_sets: int


def mean_ranks(
    scores: Any, *, test: RankTest = "nemenyi", largest: bool = True, alpha: float = 0.05
) -> MeanRanks:
    """Return the data of the critical difference diagram; see `critical_difference` for the parameters.

    Parameters
    ----------
    scores, test, largest, alpha : object
        See there.

    Returns
    -------
    MeanRanks
        Mean ranks and p-values.

    Raises
    ------
    InputError
        If there are not at least two methods and two data sets, or a score is missing.
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from conclust.plotting.ranks import mean_ranks
    >>> found = mean_ranks({"EAC": [0.5, 0.7, 0.4], "HBGF": [0.6, 0.8, 0.5], "KCC": [0.4, 0.6, 0.3]})
    >>> found.methods, found.ranks
    (('HBGF', 'EAC', 'KCC'), array([1., 2., 3.]))
    >>> round(found.p_value, 4)
    0.0498
    """
    from scipy.stats import chi2, rankdata, studentized_range, wilcoxon

    check_option(test, "test", "critical_difference", RankTest)
    check_real(alpha, "alpha", "critical_difference", high=1.0, closed="neither")
    names, table = _read_scores(scores)
    n, k = table.shape
    each = rankdata(-table if largest else table, axis=1)
    order = np.argsort(each.mean(axis=0), kind="stable")
    table, ranks, apart = table[:, order], each.mean(axis=0)[order], each - (k + 1) / 2.0
    # Friedman's statistic; no method is better in any set: 0
    statistic = (k - 1) * (apart.sum(axis=0) ** 2).sum() / max((apart**2).sum(), 0.5)
    p_values, critical = np.ones((k, k)), np.nan
    if test == "nemenyi":
        error = np.sqrt(k * (k + 1) / (12.0 * n))
        critical = float(studentized_range.ppf(1.0 - alpha, k, np.inf) * error)
        p_values = studentized_range.sf(np.abs(ranks - ranks[:, None]) / error, k, np.inf)
    else:
        a, b = np.triu_indices(k, 1)
        differences = (table[:, a] - table[:, b]).T
        pairs = np.array([wilcoxon(d).pvalue if d.any() else 1.0 for d in differences])
        p_values[a, b] = p_values[b, a] = holm(pairs)
    alike = p_values > alpha
    ends = [max(b for b in range(a, k) if alike[a : b + 1, a : b + 1].all()) for a in range(k)]
    groups = tuple((a, b) for a, b in enumerate(ends) if b > a and (a == 0 or ends[a - 1] < b))
    methods, p_value = tuple(str(names[at]) for at in order), float(chi2.sf(statistic, k - 1))
    return MeanRanks(methods, ranks, p_value, p_values, critical, groups, n)


def _read_scores(scores: Any) -> tuple[Sequence[Any], Floats]:
    """Return the names of the methods, and the scores (n_sets, n_methods)."""
    named = isinstance(scores, Mapping)
    try:
        table = np.array([*scores.values()] if named else scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("The scores must be a number for each data set and method.") from error
    table = table.T if named else table
    missing = np.count_nonzero(~np.isfinite(table))
    if table.ndim != 2 or min(table.shape) < 2 or missing:
        raise InputError(
            "critical_difference needs a score of each of at least two methods (columns) on each of at least two data sets "
            f"(rows). Got {table.shape} scores, {missing} of them missing."
        )
    if named or hasattr(scores, "columns"):
        return list(scores) if named else column_names(scores), table
    return range(table.shape[1]), table


@drawn_in_style
def critical_difference(
    scores: Any,
    *,
    test: RankTest = "nemenyi",
    largest: bool = True,
    alpha: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw the mean ranks of methods over several data sets, with a bar over methods that do not differ.

    In each data set the best method has rank 1; ties share the mean of their ranks. The title has the p-value of Friedman's
    test of the hypothesis that all methods are equal: if it is large, the picture does not show a difference.

    Parameters
    ----------
    scores : DataFrame, dict of str to sequence, or array-like of shape (n_sets, n_methods)
        A score of each method (column) on each data set (row). Several runs on one data set are not several data sets: pass
        their mean.
    test : {"nemenyi", "wilcoxon"}, default="nemenyi"
        Two methods differ if their mean ranks are further apart than Nemenyi's critical difference, which a line above the axis shows
        [1]_; or by Wilcoxon's signed-rank test of the pair, adjusted by Holm's method, which does not depend on the other
        methods [2]_.
    largest : bool, default=True
        Whether the largest score is the best; False for errors and seconds.
    alpha : float, default=0.05
        Level of the test.
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
        If there are not at least two methods and two data sets, or a score is missing.
    ParameterError
        If a parameter is out of its range.

    References
    ----------
    .. [1] J. Demsar: Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research 7, 2006.
    .. [2] A. Benavoli, G. Corani and F. Mangili: Should we really use post-hoc tests based on mean-ranks? Journal of Machine
       Learning Research 17, 2016.

    Examples
    --------
    >>> from conclust.plotting import critical_difference
    >>> ax = critical_difference({"EAC": [0.5, 0.7, 0.4], "HBGF": [0.6, 0.8, 0.5], "KCC": [0.4, 0.6, 0.3]})
    >>> ax.get_title()
    'Mean ranks, 3 data sets\nFriedman: p = 0.05'
    """
    found = mean_ranks(scores, test=test, largest=largest, alpha=alpha)
    k, words = len(found.methods), shortened(list(found.methods), 22)
    left, below = (k + 1) // 2, 0.6 * len(found.groups) + 0.5
    ax = axes(ax, (COLUMN, 0.17 * (left + below + 4.5)))
    ax.set_axis_off()
    ax.set(xlim=(1, k), ylim=(-(left + below), 2.2 if test == "nemenyi" else 1.0))
    line: dict[str, Any] = {"color": INK, "linewidth": 0.8, "clip_on": False}
    ax.plot((1, k), (0, 0), **line)
    ax.vlines(range(1, k + 1), 0, 0.25, **line)
    for rank in range(1, k + 1):
        note(ax, str(rank), (rank, 0.25), (0, 2), va="bottom")
    for at, (rank, word) in enumerate(zip(found.ranks, words, strict=True)):
        y, side = -(min(at, k - 1 - at) + below + 0.5), 1 if at < left else k
        ax.plot((rank, rank, side), (0, y, y), **line)
        if at < left:
            note(ax, f"{word}  {rank:.2f}", (side, y), (-3, 0), ha="right")
        else:
            note(ax, f"{rank:.2f}  {word}", (side, y), (3, 0), ha="left")
    for row, group in enumerate(found.groups):
        ends = found.ranks[list(group)] + [-0.03, 0.03]
        ax.plot(ends, 2 * [-0.6 * row - 0.5], color=INK, linewidth=3, solid_capstyle="butt")
    if test == "nemenyi":
        end = min(1.0 + found.critical_difference, k)
        ax.plot((1, end), (1.8, 1.8), color=GREY, linewidth=1.5, marker="|")
        text = f"critical difference {found.critical_difference:.2f}"
        note(ax, text, (end, 1.8), (4, 0), ha="left")
    ax.set_title(f"Mean ranks, {found.n_sets} data sets\nFriedman: p = {found.p_value:.2g}")
    return ax
