"""Axes to draw in, and the common parts of heatmaps: an image, its scale, strips of clusters."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conclust._types import Floats
from conclust._validation import optional
from conclust.plotting.canvas.keys import LONGEST, draw_key
from conclust.plotting.canvas.reading import shortened
from conclust.plotting.canvas.strips import Strip
from conclust.plotting.canvas.style import COLOURS, NO_CLUSTER, NO_EVIDENCE, cluster_colours, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SILENT = frozenset({"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"})
_WIDTH, _GAP = 0.16, 0.06  # width of a strip in inches, and the gap before it


def axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return `ax`, or new axes, in pyplot's current figure if pyplot is in use, or else in a new figure."""
    optional("matplotlib.figure", "plot", "Plotting")
    from conclust.plotting.canvas.own_figure import OwnFigure

    if ax is not None:
        return ax
    new: Any = _figure_of_pyplot if _pyplot_in_use() and not _APART.get() else OwnFigure
    return new(figsize=size, dpi=200, layout="constrained").add_subplot()  # type: ignore[no-any-return]


_APART: ContextVar[bool] = ContextVar("apart", default=False)
_last: weakref.ref[Any] | None = None  # the figure that pyplot holds but does not show


@contextmanager
def apart_from_pyplot(settings: dict[Any, Any]) -> Iterator[None]:
    """Make figures that pyplot does not manage, for pages that save and discard them, by some settings of matplotlib."""
    matplotlib = optional("matplotlib", "plot", "Plotting")
    token = _APART.set(True)
    try:
        with matplotlib.rc_context(settings):
            yield
    finally:
        _APART.reset(token)


def save(figure: Any, to: Any, form: str, **options: Any) -> None:
    """Save a figure as ``figure.savefig`` does, in about half of the time.

    ``savefig`` draws a figure with a layout twice, the first time for the layout alone, which measures all texts twice:
    only the layout is computed here, with texts measured once.
    """
    prepare = getattr(figure, "_get_draw_artists", None)
    engine = figure.get_layout_engine()
    if prepare is None or engine is None:
        figure.savefig(to, format=form, **options)
        return

    def lay_out_and_draw(renderer: Any) -> None:
        if form == "svg":
            renderer.get_text_width_height_descent = partial(_extent_of_text, fonts)
        if renderers:
            type(figure).draw(figure, renderer)
            return
        renderers.append(renderer)
        prepare(renderer)
        for ax in figure.axes:
            ax.get_tightbbox = _measured_once(ax)
        engine.execute(figure)

    import matplotlib

    fonts, renderers = str(matplotlib.rcParams.find_all("font")), list[Any]()
    figure.draw = lay_out_and_draw
    try:
        figure.savefig(to, format=form, **options)
    finally:
        vars(figure).pop("draw", None)
        for ax in figure.axes:
            vars(ax).pop("get_tightbbox", None)


@lru_cache(maxsize=4096)
def _extent_of_text(fonts: str, text: str, font: Any, ismath: Any) -> tuple[float, float, float]:
    """Return the width, height and descent of a text in SVG; `fonts` are the settings by which matplotlib finds them."""
    from matplotlib.textpath import text_to_path

    return text_to_path.get_text_width_height_descent(text, font, ismath)


def _measured_once(ax: Any) -> Callable[..., Any]:
    """Return the method that measures axes with the texts around them, and keeps what it adds to them."""
    from matplotlib.transforms import Bbox

    whole = ax.get_tightbbox
    added: list[Floats] = []

    def measured(renderer: Any, **options: Any) -> Any:
        locator = ax.get_axes_locator()
        ax.apply_aspect(locator(ax, renderer) if locator else None)
        if not added:
            added.append(whole(renderer, **options).extents - ax.bbox.extents)
        return Bbox.from_extents(ax.bbox.extents + added[0])

    return measured


def _figure_of_pyplot(**options: Any) -> Any:
    """Return a new current figure of pyplot, which ``plt.savefig`` and ``plt.gcf`` then use.

    A figure of pyplot stays in memory until it is closed. With a backend that shows no figures, users have no reason to
    close them, so pyplot forgets the last picture when the next one is made: its axes and figure can still be saved,
    and a script that draws many pictures keeps only one in memory.
    """
    global _last
    import matplotlib
    from matplotlib import pyplot

    silent = matplotlib.get_backend().lower() in _SILENT
    before = None if _last is None else _last()
    if silent and before is not None:
        pyplot.close(before)
    from conclust.plotting.canvas.own_figure import OwnFigure

    figure = pyplot.figure(FigureClass=OwnFigure, **options)
    _last = weakref.ref(figure) if silent else None
    return figure


def _pyplot_in_use() -> bool:
    """Return whether the program has imported pyplot, or is a notebook that shows its figures."""
    if "matplotlib.pyplot" in sys.modules:
        return True
    if "ipykernel" not in sys.modules:
        return False
    import matplotlib

    return matplotlib.get_backend().lower() not in _SILENT


def show_image(
    ax: Axes,
    picture: Floats,
    extent: tuple[float, float, float, float],
    aspect: Any,
    colours: Sequence[str] = COLOURS,
) -> Any:
    """Draw values between 0 and 1; NaN has its own colour."""
    from matplotlib.colors import LinearSegmentedColormap

    scale = LinearSegmentedColormap.from_list("conclust", colours).with_extremes(bad=NO_EVIDENCE)
    image = ax.imshow(
        np.ma.masked_invalid(picture),
        cmap=scale,
        vmin=0.0,
        vmax=1.0,
        extent=extent,
        aspect=aspect,
        interpolation="none",
    )
    for spine in ax.spines.values():
        spine.set_color("#999999")
        spine.set_linewidth(0.8)
    ax.tick_params(color="#999999")
    count_along(ax.yaxis)
    for spine in ax.spines.values():
        spine.set_visible(True)
    return image


def count_along(axis: Any) -> None:
    """Place ticks at whole numbers only: the coordinate counts objects or partitions."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))
    axis.set_major_formatter("{x:,.0f}")


def colour_bar(ax: Axes, image: Any, label: str, aspect: float, strips: int) -> Any:
    """Draw the colour scale of the image to the right of its strips, and return it."""
    ticks = [0, 0.25, 0.5, 0.75, 1]
    # A constrained layout makes room for the strips by itself.
    free = ax.figure.get_layout_engine() is None
    pad = 0.03 + free * strips * (_GAP + _WIDTH) / inches_of(ax, 0)
    bar = ax.figure.colorbar(image, ax=ax, pad=pad, aspect=aspect, ticks=ticks, format="%g")
    bar.set_label(label)
    bar.outline.set_visible(False)
    return bar


def explain_no_evidence(ax: Axes) -> None:
    """Add a legend entry for the colour of NaN."""
    from matplotlib.patches import Patch

    ax.legend(
        handles=[Patch(facecolor=NO_EVIDENCE, label="never in one partition together")],
        loc="upper right",
        bbox_to_anchor=(1.0, -0.11),
        frameon=False,
        borderaxespad=0.0,
    )


def draw_strips(ax: Axes, strips: list[Strip], *, above: bool) -> tuple[float, list[Strip]]:
    """Draw strips of clusters to the right of a heatmap and above it.

    Return their height in points, and the strips that have clusters without space for their names.
    """
    lacking = []
    for s, strip in enumerate(strips):
        palette = _palette(strip)
        n = len(strip.colours)
        for axis in (0, 1) if above else (0,):
            gap, width = (size / inches_of(ax, axis) for size in (_GAP, _WIDTH))
            begin = 1.0 + s * (gap + width) + gap
            place = (begin, 0.0, width, 1.0) if axis == 0 else (0.0, begin, 1.0, width)
            strip_axes = ax.inset_axes(place)
            strip_axes.set_label("clusters")
            pixels = palette[strip.colours]
            strip_axes.imshow(
                pixels[:, np.newaxis] if axis == 0 else pixels[np.newaxis],
                extent=(0, 1, n, 0) if axis == 0 else (0, n, 1, 0),
                aspect="auto",
                interpolation="none",
            )
            strip_axes.set_axis_off()
            if not _name_runs(strip_axes, strip, n, axis) and axis == int(above):
                lacking.append(strip)
            if strip.name and axis == int(above):
                _name_strip(strip_axes, strip.name, axis)
    return 72.0 * (_GAP + _WIDTH) * len(strips) if above else 0.0, lacking


def draw_keys(ax: Axes, strips: list[Strip], *, below: float, own: bool) -> None:
    """Draw the names of the clusters of strips below a heatmap."""
    for strip in strips[::-1] if own else strips:  # those of our own figures stand on each other
        sizes = np.bincount(strip.colours[strip.colours >= 0])
        held = [at for at in sorted(strip.names) if at < len(sizes) and sizes[at]]
        names = shortened([" ".join(strip.names[at].split()) for at in held], LONGEST)
        title = strip.name if len(strips) > 1 else ""
        below += draw_key(ax, names, _palette(strip)[held], title=title, below=below, own=own)


def inches_of(ax: Axes, axis: int) -> float:
    """Return the width (axis 0) or height of axes; before the layout, so that it is about right."""
    return float((ax.bbox.width, ax.bbox.height)[axis] / ax.figure.dpi)


def _palette(strip: Strip) -> Floats:
    """Return a colour for each number; the last one is for objects without a cluster."""
    from matplotlib.colors import to_rgb

    number = int(strip.colours.max(initial=0)) + 1
    return np.vstack([cluster_colours(number), to_rgb(NO_CLUSTER)])


def _name_runs(beside: Axes, strip: Strip, n: int, axis: int) -> bool:
    """Write the name of each cluster into its longest run, if it fits; return whether all do."""
    all_fit = True
    edges = np.concatenate([[0], np.flatnonzero(np.diff(strip.colours)) + 1, [n]])
    lengths = np.diff(edges)
    room = 0.9 * 72.0 * inches_of(beside, 1 - axis) / n  # typographic points per object
    for colour in np.unique(strip.colours):
        if colour < 0:
            continue
        runs = np.flatnonzero(strip.colours[edges[:-1]] == colour)
        run = runs[np.argmax(lengths[runs])]
        name = strip.names[colour]
        if lengths[run] * room < 3.6 * len(name) + 3.0:
            all_fit = False
            continue
        middle = edges[run] + lengths[run] / 2
        beside.text(
            0.5 if axis == 0 else middle,
            middle if axis == 0 else 0.5,
            name,
            ha="center",
            va="center",
            rotation=90 if axis == 0 and len(name) > 2 else 0,
            fontsize=6.5,
            color=ink_on(_palette(strip)[colour]),
            parse_math=False,
        )
    return all_fit


def _name_strip(beside: Axes, name: str, axis: int) -> None:
    at: dict[str, Any] = {"x": -0.008, "y": 0.5, "ha": "right", "va": "center", "rotation": 0}
    if axis == 0:
        at = {"x": 0.5, "y": -0.008, "ha": "center", "va": "top", "rotation": 90}
    style: dict[str, Any] = {"fontsize": 7, "color": "#555555", "parse_math": False}
    beside.text(s=name, transform=beside.transAxes, **at, **style)
