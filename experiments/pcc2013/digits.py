"""Section 7.4, Figures 7 and 8: the ways in which people write the digit 2, and how they run into each other.

python -m experiments.pcc2013.digits [--quick] [--out FOLDER]

PenDigits holds eight pen positions of each digit. Of a sub-sample of the digit 2, the paper shows a co-association matrix with
five blocks, the memberships by PCC-KL, and the five soft centroids as pen strokes in a graph whose edges are m_kl, the
probability that an object of cluster k is drawn into l; the largest it prints is 0.48. It tells neither size of the sample
nor the ensemble. Here: 300 objects at random, 150 k-means partitions with 2 to 10 clusters, coordinates as they
are (all in the same unit), K = 5.
"""

from __future__ import annotations

import argparse
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from conclust import PCC, EnsembleGenerator, coassociation
from conclust.datasets import load
from conclust.membership import cluster_similarity, soft_centroids, vat_order
from experiments.drawing import save
from experiments.output import Row, options, show, write

DIGIT, SIZE, BOUND, PARTITIONS = "2", 300, 5, 150
_LEAST = 0.05  # edges of less than this are not drawn


def twos(size: int, seed: int) -> NDArray[np.float64]:
    """Return some objects of the digit: x and y of eight positions."""
    data = load("pendigits")
    rows = np.flatnonzero(data.y == data.target_names.index(DIGIT))
    rows = np.random.default_rng(seed).choice(rows, min(size, len(rows)), replace=False)
    return np.asarray(data.X[np.sort(rows)], dtype=np.float64)


def in_blocks(membership: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the objects by their cluster, the surest first."""
    own, sure = membership.argmax(axis=1), membership.max(axis=1)
    return np.lexsort((-sure, own))


def draw_matrices(
    shares: NDArray[np.float64], membership: NDArray[np.float64], arguments: argparse.Namespace
) -> None:
    """Draw Figure 7: the co-association in VAT order and in order of the clusters, and the memberships."""
    order = in_blocks(membership)
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    for ax, chosen, words in (
        (axes[0], vat_order(1.0 - shares), "in VAT order"),
        (axes[1], order, "in order of the clusters"),
    ):
        image = ax.imshow(shares[np.ix_(chosen, chosen)], cmap="gray", vmin=0, vmax=1)
        ax.set_title(f"co-association, objects {words}", fontsize=10)
        ax.set_xlabel("objects")
    figure.colorbar(image, ax=axes[1], label="share that joins a pair", shrink=0.85)
    k = membership.shape[1]
    image = axes[2].imshow(
        membership[order].T, cmap="gray_r", vmin=0, vmax=1, aspect="auto", interpolation="nearest"
    )
    axes[2].set_yticks(range(k), [str(c + 1) for c in range(k)])
    axes[2].set_ylabel("cluster")
    axes[2].set_xlabel("objects, in order of the clusters")
    axes[2].set_title("memberships, PCC-KL", fontsize=10)
    figure.colorbar(image, ax=axes[2], label="probability", shrink=0.85)
    save(figure, arguments.out, "figure_7")


def draw_graph(
    centroids: NDArray[np.float64], M: NDArray[np.float64], arguments: argparse.Namespace
) -> None:
    """Draw Figure 8: centroids as pen strokes on a circle, clockwise from the top, m_kl on the edges."""
    k = len(centroids)
    angle = np.pi / 2 - 2 * np.pi * np.arange(k) / k
    places = np.column_stack([np.cos(angle), np.sin(angle)])
    figure, ax = plt.subplots(figsize=(8, 8))
    ax.set_xlim(-1.75, 1.75)
    ax.set_ylim(-1.35, 1.6)
    ax.set_aspect("equal")
    ax.axis("off")
    for a in range(k):
        for b in range(k):
            if a == b or M[a, b] < _LEAST:
                continue
            along = (places[b] - places[a]) / np.linalg.norm(places[b] - places[a])
            aside = 0.035 * np.array([-along[1], along[0]])
            begin, end = places[a] + 0.32 * along + aside, places[b] - 0.32 * along + aside
            ax.annotate(
                "", end, begin, arrowprops={"arrowstyle": "-|>", "linewidth": 0.5 + 5 * M[a, b], "color": "#555555"}
            )  # fmt: skip
            ax.text(
                *(0.6 * begin + 0.4 * end + 1.6 * aside), f"{M[a, b]:.2f}", ha="center", va="center", fontsize=9,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            )  # fmt: skip
    low, high = centroids.min(), centroids.max()
    for c, (place, stroke) in enumerate(zip(places, centroids, strict=True)):
        points = 0.42 * ((stroke.reshape(-1, 2) - low) / (high - low) - 0.5) + place
        ax.plot(*points.T, "-", color="black", linewidth=2)
        for at, point in enumerate(points):
            ax.text(
                *point, str(at + 1), fontsize=7, ha="center", va="center",
                bbox={"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": "black"},
            )  # fmt: skip
        ax.text(*(1.47 * place), f"cluster {c + 1}", ha="center", va="center", fontsize=10)
    ax.set_title(f"soft centroids of the digit {DIGIT}; numbers: m_kl, from k to l", fontsize=11)
    save(figure, arguments.out, "figure_8")


def run(arguments: argparse.Namespace) -> None:
    X = twos(60 if arguments.quick else SIZE, arguments.seed)
    generator = EnsembleGenerator(
        "kmeans",
        n_partitions=20 if arguments.quick else PARTITIONS,
        n_clusters=range(2, 11),
        init="random",
        random_state=arguments.seed,
        n_jobs=arguments.jobs,
    )
    labels: NDArray[Any] = generator.fit_transform(X)
    model = PCC(BOUND, random_state=arguments.seed, n_jobs=arguments.jobs).fit(labels)
    Y = model.membership_
    M = cluster_similarity(Y)
    rows: list[Row] = [
        {"cluster": str(c + 1), "share": float(Y[:, c].mean())}
        | {f"m to {d + 1}": float(M[c, d]) for d in range(len(M))}
        for c in range(len(M))
    ]
    off = M[~np.eye(len(M), dtype=bool)]
    show(
        rows,
        f"The digit {DIGIT}, {len(X)} objects: m_kl of the clusters (paper: the largest is 0.48)",
    )
    print(f"  {model.n_clusters_} clusters of at most {BOUND}; largest m_kl {off.max():.2f}")
    write(rows, "digits", arguments)
    draw_matrices(coassociation(labels, normalize=True), Y, arguments)
    draw_graph(soft_centroids(Y, X), M, arguments)


def main(given: list[str] | None = None) -> None:
    run(options(__doc__).parse_args(given))


if __name__ == "__main__":
    main()
