"""The common style of all plots: widths, fonts, lines, and colours that suit colour-blind readers."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from conclust._types import Floats
from conclust._validation import optional
from conclust.exceptions import InputError

CM = 1.0 / 2.54
COLUMN, PAGE = 8.5 * CM, 17.5 * CM  # inches: one column of a paper, and two

INK = "#222222"
GREY = "#7a7f83"
PALE = "#e3e7e9"
NO_CLUSTER = "#c4c9cc"
NO_EVIDENCE = "#f0d9c8"
# Steadily darker, so that it is legible in greyscale and for colour-blind readers.
COLOURS = ("#fafcfb", "#d5ebe4", "#8fcdc2", "#439fab", "#276691", "#1d2f62", "#0b0f2b")
# Colours of clusters: distinct for colour-blind readers (a test states how distinct), after Okabe
# and Ito's palette; adjacent colours differ in lightness, for greyscale.
_CLUSTERS = ("#e69f00", "#0072b2", "#009e73", "#5b3a8c", "#56b4e9", "#b3421a", "#cc79a7", "#f0e442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = (
    "solid",
    (0, (5, 1.5)),
    (0, (2.5, 1.2)),
    (0, (1, 1)),
    (0, (6, 1.2, 1, 1.2)),
)

_LOOK: dict[str, Any] = {
    # The ink is dark, and lines of a grid would be in front of matrices.
    "figure.facecolor": "#ffffff",
    "figure.edgecolor": "#ffffff",
    "axes.facecolor": "#ffffff",
    "axes.grid": False,
    "font.size": 7.5,
    "axes.titlesize": 8.0,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "legend.title_fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "axes.titlepad": 5.0,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#555555",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.0,
    "grid.color": PALE,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "savefig.bbox": None,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
}


@contextmanager
def look() -> Iterator[None]:
    """Apply the style of conclust's plots; the settings of matplotlib are restored, except for the interactive mode."""
    matplotlib = optional("matplotlib", "plot", "Plotting")
    settings: Any = _LOOK
    interactive = matplotlib.is_interactive()
    try:
        with matplotlib.rc_context(settings):
            try:
                yield
            finally:
                # The first figure loads the backend. The backend of notebooks turns on this mode, and shows no figure without it.
                interactive = matplotlib.is_interactive()
    finally:
        matplotlib.interactive(interactive)


P = ParamSpec("P")
R = TypeVar("R")


def drawn_in_style(picture: Callable[P, R]) -> Callable[P, R]:
    """Give a plotting function the style, unless it draws into the user's axes."""

    @wraps(picture)
    def draw(*args: P.args, **kwargs: P.kwargs) -> R:
        ax: Any = kwargs.get("ax")
        # A Figure has the attribute as well.
        if ax is not None and not (hasattr(ax, "figure") and hasattr(ax, "transData")):
            raise InputError(f"'ax' must be axes of matplotlib. Got {type(ax).__name__} instead.")
        if ax is not None:
            return picture(*args, **kwargs)
        with look():
            return picture(*args, **kwargs)

    return draw


def cluster_colours(n: int) -> Floats:
    """Return a colour for each of n clusters (n, 3): the first eight are safe for the colour-blind."""
    from matplotlib.colors import to_rgb

    more = [
        colorsys.hls_to_rgb((0.07 + 0.618034 * k) % 1.0, (0.35, 0.6, 0.75)[k % 3], 0.55)
        for k in range(n - len(_CLUSTERS))
    ]
    return np.array([*map(to_rgb, _CLUSTERS[:n]), *more]).reshape(n, 3)


def ink_on(colour: Any) -> str:
    """Return the text colour that is legible on another colour."""
    from matplotlib.colors import to_rgb

    return "#ffffff" if float(np.dot(to_rgb(colour), (0.3, 0.6, 0.1))) < 0.55 else INK
