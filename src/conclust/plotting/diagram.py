"""Line diagrams of concept lattices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from conclust._random import generator
from conclust._types import Floats
from conclust._validation import check_option
from conclust.exceptions import InputError
from conclust.lattice import ConceptLattice, FormalContext
from conclust.plotting.canvas.figures import axes
from conclust.plotting.canvas.keys import note
from conclust.plotting.canvas.style import COLOURS, drawn_in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DIAGRAM_STARTS = 40


@drawn_in_style
def line_diagram(
    lattice: ConceptLattice | FormalContext,
    *,
    labels: Literal["reduced"] | None = "reduced",
    ax: Axes | None = None,
) -> Axes:
    """Draw the line diagram of a concept lattice.

    A concept stands above the ones that it covers, with a line to each; within a level concepts are
    put in an order that keeps lines short.

    Parameters
    ----------
    lattice : ConceptLattice or FormalContext
        Lattice from ``FormalContext.lattice()``, or a context, whose lattice is computed.
    labels : {"reduced", None}, default="reduced"
        "reduced" names every attribute once, above the highest concept that has it, and every
        object once, below the lowest concept that holds it. None: no text.
    ax : matplotlib Axes, default=None
        Axes to draw in. None makes a new figure (``ax.figure``): pyplot's current one if pyplot has been imported,
        so that ``plt.savefig`` writes it; otherwise one that pyplot does not manage.

    Returns
    -------
    Axes
        The axes with the picture; ``ax.figure.savefig(path)`` writes it.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    InputError
        If the first argument is neither a lattice nor a context.
    ParameterError
        If `labels` is neither of these.

    References
    ----------
    A. Bocharov et al.: A lattice-based consensus clustering algorithm. CLA 2016, Figure 1.

    Examples
    --------
    >>> from conclust.lattice import FormalContext
    >>> from conclust.plotting import line_diagram
    >>> ax = line_diagram(FormalContext.of_partitions(4))
    >>> ax.get_title()
    'Lattice of 15 concepts'
    """
    if isinstance(lattice, FormalContext):
        lattice = lattice.lattice()
    if not isinstance(lattice, ConceptLattice):
        raise InputError(
            "line_diagram draws a ConceptLattice or the lattice of a FormalContext, and got "
            f"{type(lattice).__name__}: FormalContext.from_ensemble(labels) makes a context of labels."
        )
    above, below = _diagram_texts(lattice, labels)
    x, y = _diagram_places(lattice)
    widest = int(np.bincount(lattice.levels).max())
    width = max(4.2, min(20.0, 1.0 + 1.1 * widest))
    ax = axes(ax, (width, max(0.8 + 1.15 * float(y.max() + 1), 0.42 * width)))
    from matplotlib.collections import LineCollection

    apart = 72.0 * width / (widest + 0.5)  # distance in points from one concept to the next
    longest = max(map(len, [*above, *below]))
    font = max(4.0, min(10.0, 1.5 * apart / (longest + 1)))
    size = max(4.0, min(9.0, apart / 6))
    places = np.column_stack([x, y])
    ax.add_collection(
        LineCollection(list(places[lattice.covers]), colors="#9db4b8", linewidths=1.0, zorder=1)
    )
    named = np.array([bool(a or b) for a, b in zip(above, below, strict=True)])
    ax.scatter(
        x,
        y,
        s=size**2,
        c=np.where(named, COLOURS[4], "#ffffff"),
        edgecolors=COLOURS[4],
        linewidths=1.2,
        zorder=3,
    )
    for texts, way, side, fill in ((above, 1, "bottom", "#e4f1ed"), (below, -1, "top", "#ffffff")):
        for place, text in zip(places, texts, strict=True):
            if text:
                box = {"boxstyle": "round,pad=0.2", "facecolor": fill, "edgecolor": "#9db4b8"}
                more = {"fontsize": font, "color": "#16302e", "zorder": 4}
                step = (0, way * (size / 2 + 0.45 * font))
                note(ax, text, place, step, va=side, bbox={**box, "linewidth": 0.6}, **more)
    reach = float(np.abs(x).max())
    ax.set(xlim=(-reach - 0.6, reach + 0.6), ylim=(-0.3, float(y.max()) + 0.3))
    ax.set_axis_off()
    ax.set_title(f"Lattice of {len(lattice):,} concepts", pad=6)
    return ax


def _diagram_texts(lattice: ConceptLattice, labels: str | None) -> tuple[list[str], list[str]]:
    """Return the labels above and below every concept."""
    check_option(labels, "labels", "line_diagram", ("reduced", None))
    texts = []
    for names, places in (
        (lattice.context.attributes, lattice.attribute_concepts),
        (lattice.context.objects, lattice.object_concepts),
    ):
        here: list[list[str]] = [[] for _ in range(len(lattice))]
        for name, place in zip(names, places, strict=True) if labels else ():
            here[place].append(str(name))
        texts.append([_shorten(held) for held in here])
    return texts[0], texts[1]


def _shorten(names: list[str]) -> str:
    """Return the names in one line, or the first of them and their number."""
    whole = ", ".join(names)
    if len(whole) <= 24 or len(names) == 1:
        return whole
    n_shown = 1
    while len(", ".join(names[: n_shown + 1])) <= 14:
        n_shown += 1
    return f"{', '.join(names[:n_shown])} … ({len(names)})"


def _diagram_places(lattice: ConceptLattice) -> tuple[Floats, Floats]:
    """Return x and y of every concept: levels, ordered to minimise the squared lengths of the lines.

    The best order of one level, the others held, is an assignment problem; levels take turns until
    none gets better, from a few starts.
    """
    levels, covers = lattice.levels, lattice.covers
    members = [np.flatnonzero(levels == level) for level in range(int(levels.max()) + 1)]
    widest = max(map(len, members))
    # Narrow levels are drawn a little wider, so that fewer lines are nearly horizontal.
    seats = [
        (widest / len(held)) ** 0.25 * (np.arange(len(held)) - (len(held) - 1) / 2)
        for held in members
    ]
    degrees = np.bincount(covers.ravel(), minlength=len(lattice))
    lower, upper = covers.T
    rng = generator(0, "line_diagram")
    from scipy.optimize import linear_sum_assignment  # a tenth of a second, for diagrams only

    best, shortest = np.zeros(len(lattice)), np.inf
    for start in range(_DIAGRAM_STARTS if len(lattice) <= 300 else 1):
        x = np.empty(len(lattice))
        for held, places in zip(members, seats, strict=True):
            x[held] = places if start == 0 else rng.permutation(places)
        length, before = np.inf, np.inf
        while length == np.inf or length < before - 1e-9:
            before = length
            for held, places in zip(members, seats, strict=True):
                pull = np.bincount(lower, x[upper], minlength=len(lattice))
                pull += np.bincount(upper, x[lower], minlength=len(lattice))
                cost = np.outer(degrees[held], places**2) - 2 * np.outer(pull[held], places)
                x[held] = places[linear_sum_assignment(cost)[1]]
            length = float(np.square(x[lower] - x[upper]).sum())
        if length < shortest - 1e-9:
            best, shortest = x, length
    return best, levels.astype(np.float64)
