"""Draw the pictures of the site's pages: wines for front page and tutorial, twelve points for the explanations.

python -m tools.site_pictures
"""

from __future__ import annotations

from collections.abc import Callable

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import dendrogram
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA

import conclust as cc
from conclust.plotting.canvas.style import GREY, INK, MARKERS, cluster_colours
from tools.border_pictures import border_argument, border_one_mode
from tools.methods_table import PAGE
from tools.tutorial_pictures import wine_choice, wine_map, wine_pairs

FOLDER = PAGE.parent / "_static" / "made"
# The README shows them too: they are kept with the sources.
FRONT = PAGE.parent / "_static" / "front.svg"
FRONT_DARK = FRONT.with_name("front-dark.svg")
_INK_ON_DARK = "#e6e6e6"

# Three groups of four; the fifth point leans from the second group to the first.
POINTS = np.array(
    [
        [0.6, 2.6], [1.1, 3.1], [1.3, 2.3], [1.7, 2.9],
        [2.8, 2.4], [3.8, 2.9], [4.3, 2.3], [4.4, 3.2],
        [2.2, 0.6], [2.8, 1.0], [2.6, 0.2], [3.3, 0.5],
    ]
)  # fmt: skip
# Five clusterings, a column each; the fourth has two clusters only, the last has not seen the last point.
LABELS = np.array(
    [
        [0, 1, 2, 0, 1], [0, 1, 2, 0, 1], [0, 1, 2, 0, 1], [0, 1, 2, 0, 1],
        [0, 2, 2, 0, 0], [1, 2, 0, 0, 0], [1, 2, 0, 0, 0], [1, 2, 0, 0, 0],
        [2, 0, 1, 1, 2], [2, 0, 1, 1, 2], [2, 0, 1, 1, 2], [2, 0, 1, 1, -1],
    ]
)  # fmt: skip


def axes(panels: int, height: float = 1.7) -> tuple[Figure, list[Axes]]:
    """Return axes side by side, without ticks."""
    figure = Figure(figsize=(1.75 * panels, height), layout="constrained")
    found = list(np.ravel(figure.subplots(1, panels)))
    for ax in found:
        ax.set(xticks=[], yticks=[])
    return figure, found


def clustering(ax: Axes, labels: np.ndarray, title: str) -> None:
    """Draw the points by the clusters of one clustering: a colour and a mark each."""
    colours = cluster_colours(3)
    for k in range(3):
        ax.scatter(*POINTS[labels == k].T, s=26, color=colours[k], marker=MARKERS[k])
    ax.scatter(*POINTS[labels < 0].T, s=26, facecolor="none", edgecolor=GREY)
    ax.set(xlim=(0.2, 4.9), ylim=(-0.2, 3.6))
    ax.set_title(title, fontsize=8, color=INK)


def bars(ax: Axes, membership: np.ndarray, title: str) -> None:
    """Draw memberships as bars, an object each."""
    foot = np.zeros(len(membership))
    for k, colour in enumerate(cluster_colours(membership.shape[1])):
        ax.bar(np.arange(1, 13), membership[:, k], 0.85, bottom=foot, color=colour)
        foot += membership[:, k]
    ax.set(xlim=(0.4, 12.6), ylim=(0, 1), xticks=[1, 5, 12], yticks=[0, 1])
    ax.tick_params(labelsize=7)
    ax.set_title(title, fontsize=8, color=INK)


def matrix(ax: Axes, values: np.ndarray, title: str) -> None:
    """Draw a matrix over pairs of the points."""
    ax.imshow(values, vmin=0, vmax=1, cmap="Blues")
    ax.set(xticks=[0, 4, 11], yticks=[0, 4, 11])
    ax.set_xticklabels(["1", "5", "12"], fontsize=7)
    ax.set_yticklabels(["1", "5", "12"], fontsize=7)
    ax.set_title(title, fontsize=8, color=INK)


def memberships(n_clusters: int = 3) -> np.ndarray:
    """Return PCC's memberships of the twelve points."""
    model = cc.PCC(n_clusters, divergence="l2", random_state=0).fit(LABELS)
    found: np.ndarray = model.membership_
    return found


def front(ink: str = INK) -> Figure:
    """Draw three runs of k-means on wines that disagree, their consensus, and where it is uncertain."""
    wines = load_wine().data
    model = cc.ConsensusClustering(random_state=0).fit(wines)
    standardised = (wines - wines.mean(axis=0)) / wines.std(axis=0)
    plane = PCA(2).fit_transform(standardised)
    runs = [
        KMeans(4, init="random", n_init=1, random_state=seed).fit_predict(standardised)
        for seed in (1, 3, 5)
    ]
    figure = Figure(figsize=(8.6, 2.35), layout="constrained")
    panels = list(figure.subplots(1, 4, sharex=True, sharey=True))
    for at, (ax, labels) in enumerate(zip(panels, runs, strict=False)):
        scatter(ax, plane, coloured_like(model.labels_, labels), ink)
        ax.set_title(f"k-means, run {at + 1}", fontsize=9, color=ink)
    confidence = cc.confidence.confidences(model)
    scatter(panels[3], plane, model.labels_, ink, uncertain=confidence < 0.9)
    panels[3].set_title("consensus; rings: uncertain", fontsize=9, color=ink)
    return figure


def coloured_like(reference: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Renumber clusters so that each has the number of the reference cluster that it shares most objects with."""
    table = np.zeros((labels.max() + 1, labels.max() + 1))
    np.add.at(table, (labels, reference), 1)
    clusters, numbers = linear_sum_assignment(-table)
    renumbered: np.ndarray = numbers[np.argsort(clusters)][labels]
    return renumbered


def scatter(
    ax: Axes, plane: np.ndarray, labels: np.ndarray, ink: str, uncertain: np.ndarray | None = None
) -> None:
    """Draw points in a plane by cluster: a colour and a mark each, rings around uncertain ones."""
    colours = cluster_colours(4)
    for k in range(labels.max() + 1):
        ax.scatter(*plane[labels == k].T, s=11, color=colours[k], marker=MARKERS[k], linewidth=0)
    if uncertain is not None:
        ax.scatter(*plane[uncertain].T, s=48, facecolor="none", edgecolor=ink, linewidth=0.9)
    ax.set(xticks=[], yticks=[])
    ax.patch.set_alpha(0)
    ax.spines[:].set_color(GREY)


def members() -> Figure:
    """The five clusterings."""
    figure, panels = axes(5)
    for u, ax in enumerate(panels):
        clustering(ax, LABELS[:, u], f"clustering {u + 1}")
    return figure


def numbered() -> Figure:
    """The points, with their numbers."""
    figure, (ax,) = axes(1, 1.9)
    figure.set_size_inches(2.6, 1.9)
    ax.scatter(*POINTS.T, s=8, color=GREY)
    for i, (x, y) in enumerate(POINTS):
        ax.annotate(str(i + 1), (x, y), (3, 3), textcoords="offset points", fontsize=7, color=INK)
    ax.set(xlim=(0.2, 4.9), ylim=(-0.2, 3.6))
    return figure


def evidence() -> Figure:
    """How often two points are together, what memberships explain of it, and what is left."""
    figure, panels = axes(3, 2.0)
    figure.set_size_inches(6.6, 2.4)
    shares = cc.evidence.frequencies(*counts())
    explained = memberships() @ memberships().T
    matrix(panels[0], shares, "together: seen")
    matrix(panels[1], explained, "together: explained")
    left = np.abs(shares - explained)
    np.fill_diagonal(left, 0)
    matrix(panels[2], left, "left over")
    return figure


def counts() -> tuple[np.ndarray, np.ndarray]:
    """Return how often two points are together, and how often both were seen."""
    return cc.coassociation(LABELS), cc.copresence(LABELS)


def soft() -> Figure:
    """The memberships, and the points coloured by the surest cluster."""
    figure, (left, right) = axes(2, 2.0)
    figure.set_size_inches(6.0, 2.1)
    clustering(left, memberships().argmax(axis=1), "the surest cluster")
    bars(right, memberships(), "membership of points 1 to 12")
    return figure


def bound() -> Figure:
    """What is left over for bounds from 1 to 6, and the clusters that hold something."""
    figure, (left, right) = axes(2, 2.0)
    figure.set_size_inches(6.0, 2.2)
    ks = np.arange(1, 7)
    fits = [cc.PCC(int(k), divergence="l2", random_state=0).fit(LABELS) for k in ks]
    for ax, values, title in (
        (left, [fit.objective_ for fit in fits], "what is left over"),
        (right, [fit.n_clusters_ for fit in fits], "clusters used"),
    ):
        ax.plot(ks, values, marker="o", color=cluster_colours(2)[1], markersize=4)
        ax.set(xticks=ks, xlabel="n_clusters", ylim=(0, None))
        ax.yaxis.set_major_locator(mpl.ticker.MaxNLocator(4, integer=ax is right))
        ax.tick_params(labelsize=7)
        ax.xaxis.label.set_size(8)
        ax.set_title(title, fontsize=8, color=INK)
    return figure


def views() -> Figure:
    """The five clusterings as a tree, as a graph, as votes and as probabilities."""
    figure, panels = axes(4, 2.3)
    figure.set_size_inches(8.4, 2.3)
    tree(panels[0])
    graph(panels[1])
    bars(panels[2], cc.Voting(3, random_state=0).fit(LABELS).membership_, "votes: Voting")
    bars(panels[3], memberships(), "probabilities: PCC")
    return figure


def tree(ax: Axes) -> None:
    """Draw the tree of average linkage, points in its order."""
    links = cc.EAC(3).fit(LABELS).linkage_matrix_
    drawn = dendrogram(links, no_plot=True)
    for x, y in zip(drawn["icoord"], drawn["dcoord"], strict=True):
        ax.plot(x, y, color=INK, linewidth=1)
    ax.set_xticks(5 + 10 * np.arange(12), [str(i + 1) for i in drawn["leaves"]])
    ax.set(ylim=(0, 1.02), yticks=[0, 0.5, 1])
    ax.tick_params(labelsize=7)
    ax.set_title("a tree: EAC", fontsize=8, color=INK)


def graph(ax: Axes) -> None:
    """Draw objects, clusters, and a line for each label, by the parts of the cut."""
    model = cc.HBGF(3, random_state=0).fit(LABELS)
    colours = cluster_colours(3)
    ends = [(u, k) for u in range(5) for k in sorted(set(LABELS[LABELS[:, u] >= 0, u]))]
    height = {end: 11 * at / (len(ends) - 1) for at, end in enumerate(ends)}
    for i, u in np.argwhere(LABELS >= 0):
        ax.plot(
            [0, 1], [i, height[u, LABELS[i, u]]], color=colours[model.labels_[i]], linewidth=0.7
        )
    ax.scatter(np.zeros(12), range(12), s=22, color=colours[model.labels_], zorder=3)
    ax.scatter(np.ones(len(ends)), list(height.values()), s=22, marker="s", color=GREY, zorder=3)
    ax.set(xlim=(-0.15, 1.15), ylim=(11.7, -0.7), yticks=[0, 4, 11], xticks=[0, 1])
    ax.set_xticklabels(["points", "clusters"])
    ax.set_yticklabels(["1", "5", "12"])
    ax.tick_params(labelsize=7)
    ax.set_title("a graph: HBGF", fontsize=8, color=INK)


PICTURES: dict[str, Callable[[], Figure]] = {
    draw.__name__: draw
    for draw in (
        numbered,
        members,
        evidence,
        soft,
        bound,
        views,
        border_argument,
        border_one_mode,
        wine_pairs,
        wine_choice,
        wine_map,
    )
}


def main() -> None:
    """Draw all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Letters as paths, and no date: the same on every machine.
    with mpl.rc_context({"svg.hashsalt": "conclust", "font.family": "DejaVu Sans"}):
        for name, draw in PICTURES.items():
            draw().savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
        front().savefig(FRONT, metadata={"Date": None}, transparent=True)
        front(_INK_ON_DARK).savefig(FRONT_DARK, metadata={"Date": None}, transparent=True)


if __name__ == "__main__":
    main()
