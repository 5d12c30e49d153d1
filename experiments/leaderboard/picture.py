"""The leaderboard as one picture: quality against cost."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

from experiments.output import Row

__all__ = ["draw"]


def draw(ranked: list[Row], path: Path) -> None:
    """Draw mean NMI against mean CPU seconds of a fit, a point a method, those that are best for their cost joined."""
    there = [row for row in ranked if row["NMI"] is not None and row["CPU s"]]
    if not there:
        return
    figure, ax = plt.subplots(figsize=(9, 6.5), layout="constrained")
    best: list[Row] = []
    for row in sorted(there, key=lambda row: (row["CPU s"], -row["NMI"])):
        if not best or row["NMI"] > best[-1]["NMI"]:
            best.append(row)
    front = {row["method"] for row in best}
    ax.plot([r["CPU s"] for r in best], [r["NMI"] for r in best], color="0.75", zorder=1)
    for row in there:
        on_front = row["method"] in front
        ax.scatter(
            row["CPU s"],
            row["NMI"],
            s=28,
            color="#0072B2" if on_front else "#BBBBBB",
            edgecolor="black",
            linewidth=0.5,
            zorder=2,
        )
        ax.annotate(
            row["method"],
            (row["CPU s"], row["NMI"]),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=7,
            color="black" if on_front else "0.35",
        )
    ax.set_xscale("log")
    ax.set_xlabel("CPU seconds of a fit (mean over the pools)")
    ax.set_ylabel("mean NMI with the known classes")
    ax.set_title("Ten pools of k-means partitions, ten drawn at a time")
    figure.savefig(path, dpi=150)
    plt.close(figure)
