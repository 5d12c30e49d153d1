"""What the figures of the experiments have in common: readable in black and white, saved as PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["GREYS", "MARKERS", "bars", "save", "scatter"]

# From dark to light, so that they differ in print; hatches where there are more.
GREYS = ("#1A1A1A", "#0072B2", "#E69F00", "#D9D9D9", "#FFFFFF")
_HATCHES = ("", "", "", "", "///")
MARKERS = "osD^vP*X<>"


def bars(
    ax: Axes,
    groups: Sequence[str],
    heights: Mapping[str, Sequence[float | None]],
    spreads: Mapping[str, Sequence[float | None]] | None = None,
) -> None:
    """Draw a bar for each series in each group; `spreads`: the length of a whisker on each side."""
    width = 0.8 / len(heights)
    for at, (name, values) in enumerate(heights.items()):
        places = [g + (at - (len(heights) - 1) / 2) * width for g in range(len(groups))]
        ax.bar(
            places,
            [0.0 if value is None else value for value in values],
            width,
            label=name,
            color=GREYS[at % len(GREYS)],
            hatch=_HATCHES[at % len(GREYS)],
            edgecolor="black",
            linewidth=0.5,
        )
        if spreads is not None:
            whiskers = [0.0 if value is None else value for value in spreads[name]]
            centres = [0.0 if value is None else value for value in values]
            ax.errorbar(places, centres, whiskers, fmt="none", ecolor="#666666", elinewidth=0.8)
    ax.set_xticks(range(len(groups)), groups, rotation=35, ha="right", rotation_mode="anchor")
    ax.spines[["top", "right"]].set_visible(False)


def scatter(ax: Axes, X: Any, y: Any, title: str) -> None:
    """Draw points of the plane, a marker and a grey for each class."""
    for c in sorted(set(y.tolist())):
        some = X[y == c]
        colour = str(0.75 * (c % 4) / 4)
        ax.scatter(some[:, 0], some[:, 1], s=6, marker=MARKERS[c % len(MARKERS)], color=colour)
    ax.set_title(title, fontsize=10)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])


def save(figure: Figure, folder: Path | None, name: str) -> None:
    """Save a figure as NAME.png, if there is a folder, and close it."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / f"{name}.png", dpi=130)
    plt.close(figure)
