"""The leaderboard as one picture: quality against cost, the ten best methods labelled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.text import Text

from experiments.leaderboard.tables import FINDS
from experiments.output import Row

__all__ = ["draw"]

_BEST, _OTHER, _INK = "#0072B2", "#B8BDC1", "#222222"
_SHOWN = 0.72  # share of the best mean NMI below which methods are not drawn
_LABELLED = 10
_HEIGHTS = (
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    4,
    -4,
    5,
    -5,
)  # where a label may stand, in lines above its point


def draw(ranked: list[Row], path: Path) -> None:
    """Draw mean NMI against CPU seconds; the ten best methods have labels, the others are grey.

    Methods that find their own number of clusters are hollow.
    """
    there = [row for row in ranked if row["NMI"] is not None and row["CPU s"]]
    if not there:
        return
    lowest = _SHOWN * there[0]["NMI"]
    shown = [row for row in there if row["NMI"] >= lowest]
    best = shown[:_LABELLED]
    figure, ax = plt.subplots(figsize=(8.4, 4.6), layout="constrained")
    for row in shown:
        colour = _BEST if row in best else _OTHER
        hollow = row["method"].endswith(FINDS)
        ax.scatter(
            row["CPU s"],
            row["NMI"],
            s=26,
            facecolor="white" if hollow else colour,
            edgecolor=colour,
            linewidth=1.2,
            zorder=3 if row in best else 2,
        )
    ax.set_xscale("log")
    ax.set_xlim(min(row["CPU s"] for row in shown) / 1.6, 7.0 * max(row["CPU s"] for row in shown))
    ax.set_ylim(top=best[0]["NMI"] + 0.025)
    ax.set_xlabel("CPU seconds of a fit, mean over the pools")
    ax.set_ylabel("mean NMI with the known classes")
    left_out = len(there) - len(shown)
    more = f"; {left_out} with an NMI below {lowest:.2f} not shown" if left_out else ""
    ax.set_title(
        f"{len(there)} methods and settings on ten published pools, ten partitions at a time{more}",
        fontsize=9.5,
        loc="left",
    )
    ax.grid(color="#E3E7E9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    _label(ax, best)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _label(ax: Any, rows: list[Row]) -> None:
    """Write the name of each method right of its point, moved up or down until no label covers another."""
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    points = [ax.transData.transform((row["CPU s"], row["NMI"])) for row in rows]
    placed: list[Any] = []
    for row, (x, y) in zip(rows, points, strict=True):
        for offset in _offsets():
            text = ax.annotate(
                f"{row['method']}  {row['NMI']:.3f}".replace("0.", "."),
                (row["CPU s"], row["NMI"]),
                xytext=offset,
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=_INK,
                arrowprops={
                    "arrowstyle": "-",
                    "color": _BEST,
                    "linewidth": 0.6,
                    "shrinkB": 3,
                    "relpos": (0, 0.5),
                }
                if abs(offset[1]) > 1
                else None,
                zorder=4,
            )
            text.set_in_layout(False)
            text.update_positions(renderer)
            box = Text.get_window_extent(text, renderer).padded(2)  # without its line
            covers = any(box.overlaps(other) for other in placed) or any(
                box.contains(*point) for point in points if tuple(point) != (x, y)
            )
            if not covers:
                placed.append(box)
                break
            text.remove()


def _offsets() -> Iterator[tuple[float, float]]:
    for lines in _HEIGHTS:
        yield 7.0 + 3.0 * abs(lines), 11.0 * lines
