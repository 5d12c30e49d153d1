"""The leaderboard as one picture: quality against cost."""

from __future__ import annotations

from math import ceil
from pathlib import Path

import matplotlib.pyplot as plt

from experiments.leaderboard.tables import FINDS
from experiments.output import Row

__all__ = ["draw"]

_BEST, _OTHER = "#0072B2", "#D9D9D9"
_SHOWN = 0.6  # of the best mean NMI: lower ones are named below the axis
_COLUMNS = 2  # of the key


def draw(ranked: list[Row], path: Path) -> None:
    """Draw mean NMI against CPU seconds, a numbered point a method; the best for their cost are joined.

    Methods that find their own number of clusters are hollow, and not compared with those told it.
    """
    there = [row for row in ranked if row["NMI"] is not None and row["CPU s"]]
    if not there:
        return
    low = _SHOWN * there[0]["NMI"]
    best: list[Row] = []
    for row in sorted(there, key=lambda row: (row["CPU s"], -row["NMI"])):
        told = not row["method"].endswith(FINDS)
        if told and row["NMI"] >= low and (not best or row["NMI"] > best[-1]["NMI"]):
            best.append(row)
    front = {row["method"] for row in best}
    figure, (ax, key) = plt.subplots(
        1, 2, figsize=(13, 6.2), width_ratios=(3, 2.7), layout="constrained"
    )
    key.axis("off")
    lines = ceil(len(there) / _COLUMNS)
    ax.plot([r["CPU s"] for r in best], [r["NMI"] for r in best], color=_BEST, zorder=1)
    for number, row in enumerate(there, 1):
        name, at = row["method"], (row["CPU s"], row["NMI"])
        column, line = divmod(number - 1, lines)
        said = f"{number}  {name}  {row['NMI']:.3f}" + (" (below)" if row["NMI"] < low else "")
        key.text(
            0.46 * column,
            1 - line / lines,
            said,
            fontsize=7,
            va="top",
            color=_BEST if name in front else "black",
            transform=key.transAxes,
        )
        if row["NMI"] < low:
            continue
        face = _BEST if name in front else "white" if name.endswith(FINDS) else _OTHER
        ax.scatter(*at, s=150, color=face, edgecolor="black", linewidth=0.6, zorder=2)
        ink = "white" if name in front else "black"
        ax.annotate(str(number), at, ha="center", va="center", fontsize=7, color=ink, zorder=3)
    ax.set_xscale("log")
    ax.set_xlabel("CPU seconds of a fit (mean over the pools)")
    ax.set_ylabel("mean NMI with the known classes")
    ax.set_title("Published pools of k-means partitions, ten partitions at a time", fontsize=11)
    figure.savefig(path, dpi=150)
    plt.close(figure)
