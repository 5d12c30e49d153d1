"""The pictures of the page on borders between clusters: what is projected, and what is tested."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.cluster import KMeans

from conclust.borders import BorderGeometry, border_geometry
from conclust.confidence import border_tests
from conclust.plotting.canvas.style import GREY, INK, PALE, cluster_colours

__all__ = ["border_argument", "border_one_mode"]


def _cloud(kind: str) -> np.ndarray:
    rng = np.random.default_rng(4)
    if kind == "square":
        return rng.uniform(-2, 2, size=(900, 2))
    centres = np.array([[-2.5, 0.0], [2.5, 0.0], [0.0, 4.3]])
    return rng.normal(size=(900, 2)) + centres[np.arange(900) % 3]


def _split(X: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which points are in part A, and its clusters, from left to right and up."""
    first = np.zeros(len(X), dtype=bool)
    first[np.random.default_rng(0).permutation(len(X))[: len(X) // 3]] = True
    model = KMeans(K, n_init=5, random_state=0).fit(X[first])
    order = np.lexsort((model.cluster_centers_[:, 0], np.round(model.cluster_centers_[:, 1] / 3)))
    return first, np.argsort(order)[model.labels_].astype(np.int64)


def _places(geometry: BorderGeometry, first: np.ndarray) -> np.ndarray:
    """Return the position along the border of pieces 0 and 1 of each point; NaN in part A and outside of the region."""
    t = np.full(len(first), np.nan)
    for at in np.flatnonzero(~first):
        t[at] = next(iter(geometry.places(np.arange(len(t)) != at, np.array([[0, 1]]))[0]), np.nan)
    return t


def border_argument() -> Figure:
    """Draw part A with its clusters, and part B in the region of a border."""
    X = _cloud("three")
    first, clusters = _split(X, 3)
    geometry = border_geometry(X, first, clusters, 3, estimated=True)
    t = _places(geometry, first)
    figure = Figure(figsize=(6.3, 2.1), layout="constrained")
    left, middle, right = np.ravel(figure.subplots(1, 3))
    colours = cluster_colours(3)
    left.scatter(*X[first].T, s=4, color=colours[clusters], linewidths=0)
    centres = np.array([X[first][clusters == k].mean(axis=0) for k in range(3)])
    for ax in (left, middle):
        ax.plot(*centres[:2].T, color=INK, linewidth=1.2, marker="o", markersize=4)
        ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-6, 6), ylim=(-3.5, 7.5))
    inside = ~np.isnan(t)
    middle.scatter(*X[~first & ~inside].T, s=4, color=PALE, linewidths=0)
    middle.scatter(*X[~first & inside].T, s=4, color=GREY, linewidths=0)
    left.set_title("a third, clustered by itself", fontsize=8, color=INK)
    middle.set_title("the others, in the region", fontsize=8, color=INK)
    _histogram(right, t[~first & inside], "their places on the line")
    return figure


def border_one_mode() -> Figure:
    """Draw the places of points between two clusters, and between halves of one square."""
    figure = Figure(figsize=(6.3, 2.1), layout="constrained")
    left, middle, right = np.ravel(figure.subplots(1, 3))
    X = _cloud("square")
    labels = KMeans(2, n_init=5, random_state=0).fit_predict(X)
    left.scatter(*X.T, s=4, color=cluster_colours(2)[labels], linewidths=0)
    left.set(xticks=[], yticks=[], aspect="equal")
    left.set_title("one square, cut in two", fontsize=8, color=INK)
    first, clusters = _split(X, 2)
    t = _places(border_geometry(X, first, clusters, 2, estimated=True), first)
    p = border_tests(X, labels, random_state=0).p_value[0, 1]
    _histogram(middle, t[~first], f"places on the line: p = {p:.2g}")
    centres = np.array([X[labels == k].mean(axis=0) for k in range(2)])
    along = X @ (centres[1] - centres[0])
    right.hist(
        [along[labels == 0], along[labels == 1]], bins=24, stacked=True, color=cluster_colours(2)
    )
    right.set(xticks=[], yticks=[])
    right.set_title("by label: they look apart", fontsize=8, color=INK)
    return figure


def _histogram(ax: Axes, values: np.ndarray, title: str) -> None:
    ax.hist(values, bins=24, color=GREY)
    ax.set(yticks=[], xticks=[0, 1])
    ax.tick_params(labelsize=7)
    ax.set_title(title, fontsize=8, color=INK)
