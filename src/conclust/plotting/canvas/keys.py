"""Keys of names below a picture, where they do not fit into it, and the boxes that texts take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from conclust._types import Floats
from conclust.plotting.canvas.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FONT, _LINE = 6.5, 10.2  # size of the letters, and height of a line, in points
_MOST = 60  # maximum number of entries
LONGEST = 30
"""Maximum number of characters of a name in a key."""


def note(ax: Axes, text: str, at: Any, step: tuple[float, float] = (0.0, 0.0), **look: Any) -> None:
    """Write a small text, never read as a formula, at a place of the axes moved by a step in points; by default centred."""
    look = {"ha": "center", "va": "center", "fontsize": 6.0, "annotation_clip": False, **look}
    ax.annotate(text, at, xytext=step, textcoords="offset points", parse_math=False, **look)


def bar_below(ax: Axes, ends: tuple[float, float], colour: Any, text: str) -> None:
    """Draw a bar below the horizontal axis, from one end to the other, with a text below it; none if it is empty."""
    along = ax.get_xaxis_transform()
    bar = {"color": colour, "linewidth": 4.0, "solid_capstyle": "butt", "clip_on": False}
    ax.plot(ends, (-0.02, -0.02), transform=along, **bar)
    if text:
        note(ax, text, (sum(ends) / 2, -0.02), (0, -4), xycoords=along, va="top")


class Box(NamedTuple):
    """The bounding box of a text or a circle, in points: its centre, and half of its width and height."""

    x: float
    y: float
    half_width: float
    half_height: float

    def meets(self, other: Box) -> bool:
        """Return whether two boxes overlap."""
        return (
            abs(self.x - other.x) < self.half_width + other.half_width
            and abs(self.y - other.y) < self.half_height + other.half_height
        )


def text_box(at: Floats, text: str, size: float) -> Box:
    """Return the bounding box of a text; the width of a digit is just under two thirds of the font size."""
    lines = text.split("\n")
    x, y = at.tolist()
    return Box(x, y, 0.32 * size * max(map(len, lines)) + 0.5, 0.54 * size * len(lines))


def any_meet(boxes: Sequence[Box]) -> bool:
    """Return whether any two boxes overlap."""
    return any(box.meets(other) for k, box in enumerate(boxes) for other in boxes[:k])


def draw_key(
    ax: Axes,
    words: Sequence[str],
    colours: Any,
    *,
    markers: Sequence[str] | None = None,
    title: str = "",
    below: float | None = None,
    own: bool = False,
) -> float:
    """Draw the names of colours in columns below a picture; return their height in points.

    Parameters
    ----------
    ax : Axes
        The axes.
    words : sequence of str
        The names.
    colours : sequence of colours
        A colour for each name.
    markers : sequence of str, default=None
        A marker for each name. None: squares.
    title : str, default=""
        Name of the whole.
    below : float, default=None
        Distance from the axes in points, for a figure that the caller made. None: below the labels of the horizontal axis.
    own : bool, default=False
        Whether the figure was made for this picture: it grows by the height of the key, which is as wide as the figure.
    """
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.transforms import offset_copy

    shapes = ["s"] * len(words) if markers is None else list(markers)
    handles = [
        Line2D([], [], linestyle="", marker=shape, markersize=5.0, color=colour, markeredgewidth=0)
        for shape, colour in zip(shapes[:_MOST], colours, strict=False)
    ]
    texts = list(words[:_MOST])
    if len(words) > _MOST:
        handles.append(Line2D([], [], linestyle=""))
        texts.append(f"and {len(words) - _MOST:,} more")
    figure: Any = ax.figure
    width, tall = 72.0 * figure.get_size_inches()
    room = width if own else ax.bbox.width * 72.0 / figure.dpi
    n_columns = int(np.clip(room // (3.7 * max(map(len, texts)) + 17.0), 1, len(texts)))
    height = _LINE * (-(-len(texts) // n_columns) + bool(title)) + 6.0
    engine = figure.get_layout_engine() if own else None
    if engine is not None:
        # Keys stand on each other at the bottom of the figure, outside of what the layout distributes.
        base = engine.get()["rect"][1] * tall
        _grow(figure, height / 72.0)
        share = (base + height) / (tall + height)
        engine.set(rect=(0.0, share, 1.0, 1.0 - share))
        loc: Any = "lower center"
        home, up = figure.transFigure, base + 3.0
    else:
        loc, home = "upper center", ax.transAxes
        up = -(below_labels(ax) if below is None else below)
    key: Any = Legend(
        ax,
        handles,
        texts,
        title=title or None,
        ncols=n_columns,
        fontsize=_FONT,
        title_fontsize=_FONT,
        labelcolor=INK,
        frameon=False,
        handletextpad=0.2,
        handlelength=1.2,
        columnspacing=0.9,
        labelspacing=0.35,
        borderpad=0.0,
        borderaxespad=0.0,
        loc=loc,
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=offset_copy(home, figure, y=up, units="points"),
    )
    for text in key.get_texts():
        text.set_parse_math(False)
    key.set_label("key")
    ax.add_artist(key)
    key.set_clip_on(False)  # so that the layout makes room for it
    key.set_in_layout(engine is None)
    return height


def below_labels(ax: Axes) -> float:
    """Return the distance of the end of the horizontal labels from the axes, in points."""
    ticks = max((label.get_fontsize() for label in ax.get_xticklabels()), default=0.0)
    return 12.0 + 1.3 * (float(ticks) + float(ax.xaxis.label.get_fontsize()))


def _grow(figure: Any, inches: float) -> None:
    """Add space at the bottom of a figure, whose axes keep their size: the layout starts from there."""
    width, before = figure.get_size_inches()
    figure.set_size_inches(width, before + inches)
    share = before / (before + inches)
    for ax in figure.axes:
        place = ax.get_position(original=True)
        ax.set_position(
            (place.x0, 1.0 - share * (1.0 - place.y0), place.width, share * place.height)
        )
        ax.set_in_layout(True)  # which a position takes away
