"""Whether the calibrated confidence is the share of pairs that hold in a fresh sample.

python -m experiments.calibration.replicates [--quick] [--seeds 725 735 ...] [--jobs 1] [--out FOLDER]

Planted mixtures of unit Gaussians at the corners of a simplex, 1.5 to 5 standard deviations apart, 200 to 5,000 points (others:
`--sizes`), 2 to 100 features, 2 to 4 classes of random sizes; the same, told the number; one Gaussian, round or long, cut in
two by a model that is told two; real sets. The default is fitted to a sample, and `confidence.calibrated` says from this
sample alone how often the pairs of each object hold. Then four fresh samples of the same size are drawn from the same law
(of a real set: its other half), their own consensus, which is not told the number, is carried to the objects of the first, and the
share of pairs that do hold is counted. ECE: the mean distance between what was said and what happened, in ten classes of
what was said; each sample counts as one. Beside it the ECE that a few samples give by luck, if what was said is true, and that of
today's confidence, the share of the members.

Settled with the seeds 700 to 702: which pairs count, and the groups of similar confidence; with some of 740 to 759: that halves are
compared with the clusters of the model; with 700 to 715 and 720 to 724, also of other sizes: the probability that the number is found
again; with 700 to 711, 725 and 735: the root of 2 for one cluster.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust import ConsensusClustering
from conclust.confidence import calibrated, confidences
from conclust.confidence.calibration import kept_shares
from conclust.datasets import load
from experiments.drawing import GREYS, plt, save
from experiments.kept import fill, opened
from experiments.output import Row, options, show, write

KINDS = {
    "mixture": "planted mixtures",
    "told": "planted mixtures, told the number",
    "Gaussian": "one Gaussian cut in two",
    "real": "real sets, split in two",
}
SETS = {"mixture": 6, "told": 2, "Gaussian": 2, "real": 6}  # of each seed
REAL = ("iris", "wine", "seeds", "breast_cancer", "glass", "optdigits_1000")
OVERLAPS = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0)
FEATURES = (2, 5, 20, 100)
FRESH = 4
FIELDS = ("what", "clusters", "fresh", "largest", "said", "happened", "calibrated", "members")
BINS = 10

Points = NDArray[np.float64]


def samples_of(kind: str, number: int, rng: np.random.Generator, sizes: list[int]) -> Any:
    """Return samples from one law, the number that the model is told, and what they are."""
    if kind == "real":
        name = REAL[number % len(REAL)]
        X = np.asarray(load(name).X, dtype=np.float64)
        order = rng.permutation(len(X))
        return [X[order[::2]], X[order[1::2]]], None, name
    n, d = int(rng.choice(sizes)), int(rng.choice(FEATURES))
    K, distance = int(rng.integers(2, min(d + 1, 4) + 1)), float(rng.choice(OVERLAPS))
    if kind == "Gaussian":
        stretch = np.ones(d)
        stretch[0] = rng.choice([1.0, 2.0, 5.0])
        drawn = [rng.normal(size=(n, d)) * stretch for _ in range(1 + FRESH)]
        return drawn, 2, f"{n} x {d}, {stretch[0]:g} : 1"
    corners = np.eye(K) * distance / np.sqrt(2)
    corners -= corners.mean(axis=0)
    centres = np.zeros((K, d))
    centres[:, : K - 1] = corners @ np.linalg.svd(corners)[2][: K - 1].T
    shares = rng.dirichlet(np.full(K, 5.0))
    drawn = [
        rng.normal(size=(n, d)) + centres[rng.choice(K, n, p=shares)] for _ in range(1 + FRESH)
    ]
    return drawn, K if kind == "told" else None, f"{n} x {d}, {K} at {distance:g} sd"


def measure(unit: str, names: list[str]) -> dict[str, Any]:
    """Return what was said and what happened on the samples of a law."""
    kind, seed, number, *sizes = unit.split(" ")
    rng = np.random.default_rng([int(seed), list(KINDS).index(kind), int(number)])
    samples, told, what = samples_of(kind, int(number), rng, [int(size) for size in sizes])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = ConsensusClustering(n_clusters=told, random_state=int(seed)).fit(samples[0])
        fresh = [ConsensusClustering(random_state=int(seed)).fit(X) for X in samples[1:]]
        said = calibrated(model, samples[0], random_state=int(seed)).kept
    placed = [np.asarray(one.predict(samples[0])) for one in fresh]
    happened = np.mean([kept_shares(model.labels_, one) for one in placed], axis=0)
    return {
        "what": what,
        "clusters": model.n_clusters_,
        "fresh": [one.n_clusters_ for one in fresh],
        "largest": float(said.max()),
        "said": float(said.mean()),
        "happened": float(happened.mean()),
        "calibrated": in_bins(said, happened),
        "members": in_bins(confidences(model), happened),
    }


def in_bins(said: Points, happened: Points) -> list[list[float]]:
    """Return for each class of what was said: the share of the objects, and the sums of both, divided by their number."""
    at = np.minimum((said * BINS).astype(int), BINS - 1)
    sums = [
        np.bincount(at, each, BINS) / len(said) for each in (np.ones(len(said)), said, happened)
    ]
    return np.transpose(sums).tolist()


def pooled(rows: list[dict[str, Any]], which: str) -> tuple[float, NDArray[np.float64]]:
    """Return the ECE, and for each class its weight, what was said and what happened."""
    sums = np.mean([row[which] for row in rows], axis=0)
    sums = sums[sums[:, 0] > 0]
    return float(np.abs(sums[:, 1] - sums[:, 2]).sum()), sums


def by_luck(rows: list[dict[str, Any]]) -> float:
    """Return the mean ECE if what was said of each sample is true, and a fresh sample holds either all pairs or half of them."""
    rng, eces = np.random.default_rng(0), []
    said = np.array([row["said"] for row in rows])
    at = np.minimum((said * BINS).astype(int), BINS - 1)
    for _ in range(1000):
        held = [rng.binomial(len(row["fresh"]), max(0.0, 2.0 * row["said"] - 1.0)) for row in rows]
        happened = 0.5 + 0.5 * np.array(held) / [len(row["fresh"]) for row in rows]
        eces.append(np.abs(np.bincount(at, said - happened)).sum() / len(rows))
    return float(np.mean(eces))


def row_of(name: str, rows: list[dict[str, Any]]) -> Row:
    """Return the line of a kind."""
    return {
        "samples": name,
        "number": len(rows),
        "said": float(np.mean([row["said"] for row in rows])),
        "happened": float(np.mean([row["happened"] for row in rows])),
        "ECE": pooled(rows, "calibrated")[0],
        "ECE by luck": by_luck(rows),
        "ECE of the members": pooled(rows, "members")[0],
        "largest": max(row["largest"] for row in rows),
    }


def draw(parts: dict[str, list[dict[str, Any]]], path: Any) -> None:
    """Draw what happened by what was said, for the calibrated confidence and for the share of the members."""
    fig, axes = plt.subplots(1, len(parts), figsize=(3.1 * len(parts), 3.4), sharey=True)
    for ax, (name, rows) in zip(np.atleast_1d(axes), parts.items(), strict=True):
        ax.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
        for which, marker, colour in (("members", "s", GREYS[2]), ("calibrated", "o", GREYS[1])):
            ece, sums = pooled(rows, which)
            said, happened = sums[:, 1] / sums[:, 0], sums[:, 2] / sums[:, 0]
            words = "calibrated" if which == "calibrated" else "share of the members"
            ax.plot(said, happened, color=colour, linewidth=0.8)
            ax.scatter(
                said, happened, s=12 + 160 * sums[:, 0], marker=marker, color=colour,
                edgecolor="black", linewidth=0.4, label=f"{words}, ECE {ece:.3f}", zorder=3,
            )  # fmt: skip
        ax.set_title(f"{name} ({len(rows)})", fontsize=9)
        ax.set_xlabel("said")
        ax.set_xlim(0.2, 1.03)
        ax.set_ylim(0.2, 1.03)
        ax.legend(fontsize=7, loc="lower right" if name != KINDS["Gaussian"] else "upper left")
        ax.spines[["top", "right"]].set_visible(False)
    np.atleast_1d(axes)[0].set_ylabel("pairs that held")
    fig.tight_layout()
    save(fig, path, "reliability")


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[*range(810, 820)])
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 200, 400, 400, 1000, 5000])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    arguments: argparse.Namespace = parser.parse_args(argv)
    seeds = arguments.seeds[: 1 if arguments.quick else None]
    sizes = [100] if arguments.quick else arguments.sizes
    kept = opened(arguments, "replicates.kept.json", {"sizes": sizes})
    units = [
        (kind, " ".join([kind, str(seed), str(number), *map(str, sizes)]))
        for seed in seeds
        for kind in arguments.kinds
        for number in range(1 if arguments.quick else SETS[kind])
        if not (arguments.quick and kind == "real")
    ]
    fill(kept, {unit: list(FIELDS) for _, unit in units}, measure, arguments.jobs or 1)
    parts: dict[str, list[dict[str, Any]]] = {}
    for kind, unit in units:
        parts.setdefault(KINDS[kind], []).append(kept.found[unit])
    planted = parts.get(KINDS["mixture"], [])
    rows = [row_of(name, part) for name, part in parts.items()]
    several = [row for row in planted if row["clusters"] > 1]
    if several:
        rows.insert(1, row_of("of these, several clusters found", several))
    show(rows, "What was said, and the share of pairs that held in fresh samples")
    write(rows, "replicates", arguments)
    listed = [
        {"samples": name}
        | {key: row[key] for key in ("what", "clusters")}
        | {"fresh": ", ".join(map(str, row["fresh"]))}
        | {key: row[key] for key in ("said", "happened")}
        for name, part in parts.items()
        for row in part
    ]
    write(listed, "samples", arguments)
    if arguments.out is not None:
        draw(parts, arguments.out)


if __name__ == "__main__":
    main()
