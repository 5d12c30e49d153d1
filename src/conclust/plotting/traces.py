"""The course of an iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conclust._types import Floats
from conclust.exceptions import InputError
from conclust.plotting.canvas.figures import axes
from conclust.plotting.canvas.style import COLOURS, COLUMN, drawn_in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def trace_of(model: Any) -> Floats:
    """Return the data of the trace: the objective, entry by entry.

    Parameters
    ----------
    model : fitted model
        With ``trace_``: PCC, WeightedPCC, BaumEagon, Voting and others.

    Returns
    -------
    ndarray of shape (n_entries,)
        Objectives from the first to the last.

    Raises
    ------
    InputError
        If the model keeps no trace.

    Examples
    --------
    >>> from conclust import PCC
    >>> from conclust.plotting import trace_of
    >>> model = PCC(2, random_state=0).fit([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> bool(trace_of(model)[-1] <= trace_of(model)[0])
    True
    """
    if not hasattr(model, "fit"):
        raise InputError(f"objective_trace draws a fitted model. Got {type(model).__name__}.")
    check_is_fitted(model)
    inner = getattr(model, "consensus_", model)
    trace = getattr(inner, "trace_", None)
    if trace is None:
        raise InputError(
            f"objective_trace draws how the objective changed, and {type(inner).__name__} keeps no "
            "trace ('trace_'): it does not iterate, or does not record its objective."
        )
    return np.asarray(trace, dtype=np.float64)


@drawn_in_style
def objective_trace(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the objective of an iteration, entry by entry.

    Parameters
    ----------
    model : fitted model
        With ``trace_``: PCC, WeightedPCC, BaumEagon, Voting and others.
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``), 8.5 cm wide.

    Returns
    -------
    Axes
        The axes with the picture. :func:`trace_of` returns its data as arrays.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If the model keeps no trace.

    Examples
    --------
    >>> from conclust import PCC
    >>> from conclust.plotting import objective_trace
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> objective_trace(PCC(2, random_state=0).fit(labels)).get_ylabel()
    'objective'
    """
    from matplotlib.ticker import MaxNLocator

    values = trace_of(model)
    inner = getattr(model, "consensus_", model)
    ax = axes(ax, (COLUMN, 0.6 * COLUMN))
    marker = "o" if len(values) <= 40 else ""
    ax.plot(np.arange(len(values)), values, color=COLOURS[4], marker=marker, markersize=2.5)
    ax.axhline(values[-1], color="#7a7f83", linewidth=0.6, zorder=1)
    ended = getattr(inner, "converged_", None)
    how = "" if ended is None else ", converged" if ended else ", not converged"
    ax.set(
        xlabel="entry of the trace",
        ylabel="objective",
        title=f"{type(inner).__name__}: {values[-1]:,.6g}{how}",
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.ticklabel_format(axis="y", useOffset=False)
    ax.margins(x=0.02)
    return ax
