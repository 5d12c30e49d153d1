"""Pictures of the evidence, of a soft consensus and of a concept lattice. Needs the extra "plot" (matplotlib)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from conclust._random import generator
from conclust._validation import check_int, check_option, missing_extra
from conclust.ensemble import Ensemble
from conclust.evidence import evidence, frequencies
from conclust.exceptions import InputError
from conclust.lattice import ConceptLattice
from conclust.membership import check_membership, vat_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["coassociation_heatmap", "line_diagram", "membership_heatmap"]

_MAX_OBJECTS = 4000
_DIAGRAM_STARTS = 40
# Ever darker, so that it also reads in grey print and to the colour-blind.
_COLOURS = ("#fafcfb", "#d5ebe4", "#8fcdc2", "#439fab", "#276691", "#1d2f62", "#0b0f2b")
_NO_EVIDENCE = "#f0d9c8"


def coassociation_heatmap(
    ensemble_or_matrix: Ensemble | ArrayLike,
    *,
    order: str | None = "vat",
    max_pixels: int = 1000,
    random_state: Any = 0,
    ax: Axes | None = None,
) -> Axes:
    """Show how often each pair of objects was put together.

    Parameters
    ----------
    ensemble_or_matrix : Ensemble or array-like of shape (n_samples, n_samples)
        An ensemble, or a symmetric matrix of shares between 0 and 1 (NaN: no evidence).
    order : {"vat", None}, default="vat"
        "vat" puts objects that belong together side by side, so that clusters are dark squares on
        the diagonal (see `conclust.membership.vat_order`). None keeps the order given.
    max_pixels : int, default=1000
        Above this many objects, square blocks of them are averaged to one pixel.
    random_state : int, Generator or None, default=0
        Of more than 4,000 objects, 4,000 are drawn with it; the title says so.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure (``ax.figure``), unknown to pyplot.

    Returns
    -------
    Axes
        With the picture; ``ax.figure.savefig(path)`` writes it.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        The matrix is not square, not symmetric or not between 0 and 1.

    References
    ----------
    Fred, Jain: Combining multiple clusterings using evidence accumulation. IEEE Transactions on
    Pattern Analysis and Machine Intelligence 27 (2005).

    Examples
    --------
    >>> from conclust import Ensemble
    >>> from conclust.plotting import coassociation_heatmap
    >>> ax = coassociation_heatmap(Ensemble([[0, 0], [1, 1], [0, 1], [1, 1]]))
    >>> ax.get_title()
    'Co-association of 4 objects'
    """
    check_option(order, "order", "coassociation_heatmap", ("vat", None))
    pixels = check_int(max_pixels, "max_pixels", "coassociation_heatmap") or 1
    given: Ensemble | NDArray[np.float64]
    if isinstance(ensemble_or_matrix, Ensemble):
        given = ensemble_or_matrix
        n_samples = given.n_samples
    else:
        given = _check_shares(ensemble_or_matrix)
        n_samples = len(given)
    drawn = None
    if n_samples > _MAX_OBJECTS:
        rng = generator(random_state, "coassociation_heatmap")
        drawn = np.sort(rng.choice(n_samples, _MAX_OBJECTS, replace=False))
    if isinstance(given, Ensemble):
        shares = frequencies(*evidence(given if drawn is None else given.subset(samples=drawn)))
    else:
        shares = given if drawn is None else given[np.ix_(drawn, drawn)]
    if order == "vat":
        # A pair without evidence is as far apart as can be, as in evidence accumulation.
        placed = vat_order(1.0 - np.where(np.isnan(shares), 0.0, shares))
        shares = shares[np.ix_(placed, placed)]
    n = len(shares)
    picture = _average(shares, pixels, pixels)

    ax = _axes(ax, (6.6, 5.6))
    image = _show(ax, picture, (0, n, n, 0), aspect="equal")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    _colour_bar(ax, image, "share of the partitions that put the pair together", 28)
    along = "object, in VAT order" if order == "vat" else "object, in the order given"
    ax.set(xlabel=along, ylabel=along)
    title = f"Co-association of {n_samples:,} objects"
    if drawn is not None:
        title = f"Co-association of {n:,} objects drawn from {n_samples:,}"
    ax.set_title(title, pad=10)
    if np.isnan(picture).any():
        _explain_grey(ax)
    return ax


def membership_heatmap(
    membership: ArrayLike,
    *,
    order: str | ArrayLike | None = "cluster",
    max_pixels: int = 1000,
    ax: Axes | None = None,
) -> Axes:
    """Show the probability of every cluster for every object.

    Parameters
    ----------
    membership : array-like of shape (n_samples, n_clusters)
        Rows are probabilities.
    order : {"cluster", None} or array-like of int of shape (n_samples,), default="cluster"
        "cluster" sorts objects by their most probable cluster, the surest first; None keeps the
        order given; an array gives the objects from top to bottom.
    max_pixels : int, default=1000
        Above this many objects, neighbours are averaged to one row of pixels.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure (``ax.figure``), unknown to pyplot.

    Returns
    -------
    Axes
        With the picture; ``ax.figure.savefig(path)`` writes it.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        Rows are no probabilities, or `order` does not hold every object once.

    Examples
    --------
    >>> from conclust.plotting import membership_heatmap
    >>> ax = membership_heatmap([[0.9, 0.1], [0.2, 0.8]])
    >>> ax.get_xlabel()
    'cluster'
    """
    pixels = check_int(max_pixels, "max_pixels", "membership_heatmap") or 1
    rows = check_membership(membership)
    n_samples, n_clusters = rows.shape
    along = "object"
    if isinstance(order, str):
        check_option(order, "order", "membership_heatmap", ("cluster", None))
        best = rows.argmax(axis=1)
        rows = rows[np.lexsort((-rows.max(axis=1), best))]
        along = "object, by cluster, the surest first"
    elif order is not None:
        chosen = np.asarray(order)
        whole = chosen.dtype.kind in "iu" and chosen.shape == (n_samples,)
        if not whole or not np.array_equal(np.sort(chosen), np.arange(n_samples)):
            raise InputError(
                f"'order' must hold each of the {n_samples} objects once. Got an array of shape "
                f"{chosen.shape} and dtype {chosen.dtype} that does not."
            )
        rows = rows[chosen]
    picture = _average(rows, pixels, n_clusters)

    ax = _axes(ax, (max(3.6, min(9.0, 2.6 + 0.45 * n_clusters)), 5.6))
    image = _show(ax, picture, (-0.5, n_clusters - 0.5, n_samples, 0), aspect="auto")
    _colour_bar(ax, image, "probability", 36)
    if n_clusters <= 30:
        ax.set_xticks(range(n_clusters))
        ax.set_xticks(np.arange(n_clusters - 1) + 0.5, minor=True)
        ax.grid(which="minor", axis="x", color="#c4c9cc", linewidth=0.8)
    ax.tick_params(which="both", axis="x", length=0)
    ax.set(xlabel="cluster", ylabel=along)
    ax.set_title(f"Membership of {n_samples:,} objects", pad=10)
    return ax


def line_diagram(
    lattice: ConceptLattice,
    *,
    labels: str | Sequence[str] | None = "reduced",
    ax: Axes | None = None,
) -> Axes:
    """Draw the line diagram of a concept lattice.

    A concept stands above the ones that it covers, with a line to each; within a level concepts are
    put in an order that keeps lines short.

    Parameters
    ----------
    lattice : ConceptLattice
        From ``FormalContext.lattice()``.
    labels : {"reduced", None} or sequence of str of length n_concepts, default="reduced"
        "reduced" names every attribute once, above the highest concept that has it, and every
        object once, below the lowest concept that holds it. A sequence gives the text below each
        concept. None: no text.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure (``ax.figure``), unknown to pyplot.

    Returns
    -------
    Axes
        With the picture; ``ax.figure.savefig(path)`` writes it.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        There are not as many texts as concepts.

    References
    ----------
    A. Bocharov et al.: A lattice-based consensus clustering algorithm. CLA 2016, Figure 1.

    Examples
    --------
    >>> from conclust.lattice import FormalContext
    >>> from conclust.plotting import line_diagram
    >>> ax = line_diagram(FormalContext.of_partitions(4).lattice())
    >>> ax.get_title()
    'Lattice of 15 concepts'
    """
    above, below = _diagram_texts(lattice, labels)
    x, y = _diagram_places(lattice)
    widest = int(np.bincount(lattice.levels).max())
    width = max(4.2, min(20.0, 1.0 + 1.1 * widest))
    ax = _axes(ax, (width, max(0.8 + 1.15 * float(y.max() + 1), 0.42 * width)))
    from matplotlib.collections import LineCollection

    apart = 72.0 * width / (widest + 0.5)  # points from one concept to the next
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
        c=np.where(named, _COLOURS[4], "#ffffff"),
        edgecolors=_COLOURS[4],
        linewidths=1.2,
        zorder=3,
    )
    for texts, way, side, fill in ((above, 1, "bottom", "#e4f1ed"), (below, -1, "top", "#ffffff")):
        for place, text in zip(places, texts, strict=True):
            if text:
                ax.annotate(
                    text,
                    place,
                    xytext=(0, way * (size / 2 + 0.45 * font)),
                    textcoords="offset points",
                    ha="center",
                    va=side,
                    fontsize=font,
                    color="#16302e",
                    bbox={
                        "boxstyle": "round,pad=0.2",
                        "facecolor": fill,
                        "edgecolor": "#9db4b8",
                        "linewidth": 0.6,
                    },
                    zorder=4,
                )
    reach = float(np.abs(x).max())
    ax.set(xlim=(-reach - 0.6, reach + 0.6), ylim=(-0.3, float(y.max()) + 0.3))
    ax.set_axis_off()
    ax.set_title(f"Lattice of {len(lattice):,} concepts", pad=6)
    return ax


def _diagram_texts(
    lattice: ConceptLattice, labels: str | Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """Return the texts above and below every concept."""
    nothing = [""] * len(lattice)
    if labels is None:
        return nothing, nothing
    if isinstance(labels, str):
        check_option(labels, "labels", "line_diagram", ("reduced", None))
        texts = []
        for names, places in (
            (lattice.context.attributes, lattice.attribute_concepts),
            (lattice.context.objects, lattice.object_concepts),
        ):
            here: list[list[str]] = [[] for _ in range(len(lattice))]
            for name, place in zip(names, places, strict=True):
                here[place].append(str(name))
            texts.append([_shorten(held) for held in here])
        return texts[0], texts[1]
    given = [str(text) for text in labels]
    if len(given) != len(lattice):
        raise InputError(
            f"'labels' must be one text for each of the {len(lattice)} concepts. Got {len(given)}."
        )
    return nothing, given


def _shorten(names: list[str]) -> str:
    """Return the names in one line, or the first of them and how many there are."""
    whole = ", ".join(names)
    if len(whole) <= 24 or len(names) == 1:
        return whole
    shown = 1
    while len(", ".join(names[: shown + 1])) <= 14:
        shown += 1
    return f"{', '.join(names[:shown])} … ({len(names)})"


def _diagram_places(lattice: ConceptLattice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return x and y of every concept: levels, ordered so that the squares of the lines are short.

    The best order of one level, the others held, is an assignment problem; levels take turns until
    none gets better, from a few starts.
    """
    levels, covers = lattice.levels, lattice.covers
    members = [np.flatnonzero(levels == level) for level in range(int(levels.max()) + 1)]
    widest = max(map(len, members))
    # Narrow levels are drawn a little wider, so that fewer lines run flat.
    seats = [
        (widest / len(held)) ** 0.25 * (np.arange(len(held)) - (len(held) - 1) / 2)
        for held in members
    ]
    degrees = np.bincount(covers.ravel(), minlength=len(lattice))
    lower, upper = covers.T
    rng = generator(0, "line_diagram")
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


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        missing_extra("matplotlib", "plot", "Plotting")
    if ax is not None:
        return ax
    # A figure of its own: pyplot would keep it alive, and choose a window system.
    return Figure(figsize=size, dpi=150, layout="constrained").add_subplot()


def _show(
    ax: Axes, picture: NDArray[np.float64], extent: tuple[float, float, float, float], aspect: Any
) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("conclust", _COLOURS).with_extremes(
        bad=_NO_EVIDENCE
    )
    image = ax.imshow(
        np.ma.masked_invalid(picture),
        cmap=colours,
        vmin=0.0,
        vmax=1.0,
        extent=extent,
        aspect=aspect,
        interpolation="nearest",
    )
    for spine in ax.spines.values():
        spine.set_color("#999999")
        spine.set_linewidth(0.8)
    ax.tick_params(color="#999999")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    return image


def _colour_bar(ax: Axes, image: Any, label: str, aspect: float) -> None:
    ticks = [0, 0.25, 0.5, 0.75, 1]
    bar = ax.figure.colorbar(image, ax=ax, pad=0.03, aspect=aspect, ticks=ticks, format="%g")
    bar.set_label(label)
    bar.outline.set_visible(False)


def _explain_grey(ax: Axes) -> None:
    from matplotlib.patches import Patch

    ax.legend(
        handles=[Patch(facecolor=_NO_EVIDENCE, label="never in one partition together")],
        loc="upper right",
        bbox_to_anchor=(1.0, -0.11),
        frameon=False,
        borderaxespad=0.0,
    )


def _check_shares(matrix: ArrayLike) -> NDArray[np.float64]:
    shares = np.asarray(matrix)
    if shares.ndim != 2 or shares.shape[0] != shares.shape[1] or shares.shape[0] == 0:
        raise InputError(
            "Expected an Ensemble or a square matrix of shares (n_samples, n_samples). Got an array "
            f"of shape {shares.shape} instead."
        )
    if shares.dtype.kind not in "biuf":
        raise InputError(
            f"Expected shares between 0 and 1. Got an array of {shares.dtype} instead."
        )
    known = shares[~np.isnan(shares)] if shares.dtype.kind == "f" else shares
    if known.size and (known.min() < 0 or known.max() > 1 + 1e-9):
        raise InputError(
            f"Expected shares between 0 and 1. Got values from {known.min()} to {known.max()} "
            "instead: divide counts by the number of partitions that saw both objects "
            "(conclust.evidence.frequencies)."
        )
    if not np.allclose(shares, shares.T, equal_nan=True):
        raise InputError("Expected a symmetric matrix. Got one with M[i, j] != M[j, i].")
    return shares.astype(np.float64, copy=False)


def _average(values: NDArray[np.float64], rows: int, columns: int) -> NDArray[np.float64]:
    """Average blocks of neighbours to at most (rows, columns) pixels, leaving out NaN."""
    known = ~np.isnan(values)
    summed, weight = np.where(known, values, 0.0), known.astype(np.float64)
    for axis, most in enumerate((rows, columns)):
        n = values.shape[axis]
        if n > most:
            edges = np.arange(most) * n // most
            summed = np.add.reduceat(summed, edges, axis=axis)
            weight = np.add.reduceat(weight, edges, axis=axis)
    picture = np.full(summed.shape, np.nan)
    np.divide(summed, weight, out=picture, where=weight > 0)
    return picture
