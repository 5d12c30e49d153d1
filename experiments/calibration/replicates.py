"""Whether the calibrated confidence is the share of pairs that hold in a fresh sample.

python -m experiments.calibration.replicates [--quick] [--seeds 870 871 ...] [--jobs 1] [--out FOLDER]

Planted mixtures of unit Gaussians at the corners of a simplex, 1.5 to 5 standard deviations apart, 200 to 5,000 points (others:
`--sizes`), 2 to 100 features, 2 to 4 classes of random sizes; the same, told the number; one Gaussian, round or long, cut in
two by a model that is told two; real sets, or 400 rows of them. The default is fitted to a sample, and `confidence.calibrated` says from this
sample alone how often the pairs of each object hold. Then four fresh samples of the same size are drawn from the same law
(of a real set: its other half), their own consensus, which is not told the number, is carried to the objects of the first, and the
share of pairs that do hold is counted. ECE: the mean distance between what was said and what happened, in ten classes of
what was said; each sample counts as one. Beside it the ECE that as many samples have by luck, where what is said is true: the mean ECE of
samples drawn again from these, of the errors less their means; 95 % of the ECEs of samples drawn again; and the ECE of today's
confidence, the share of the members.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from functools import partial
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
SETS = {"mixture": 6, "told": 2, "Gaussian": 2, "real": 15}  # of each seed
SEEDS = {
    "mixture": [*range(740, 750), *range(810, 850)],
    "told": [*range(740, 750)],
    "Gaussian": [*range(740, 750)],
    "real": [*range(825, 849)],
}
FRESH_FROM = 820  # nothing was settled on seeds from here on
REAL = (
    "iris", "wine", "seeds", "breast_cancer", "glass", "optdigits_5620", "house_votes_232", "ionosphere", "std_yeast_cell",
    "yeast_uci", "hgsc_tcga", "steel_plates", "pendigits", "texture", "usps_11000",
)  # fmt: skip
LARGEST = 400  # rows drawn of a real set: of large ones, other rows each time
OVERLAPS = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0)
SIZES = [200, 200, 400, 400, 1000, 5000]
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
        order = rng.permutation(len(X))[:LARGEST]
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


def measure(unit: str, names: list[str], sizes: list[int]) -> dict[str, Any]:
    """Return what was said and what happened on the samples of a law."""
    kind, seed, number = unit.split(" ")
    rng = np.random.default_rng([int(seed), list(KINDS).index(kind), int(number)])
    samples, told, what = samples_of(kind, int(number), rng, sizes)
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


def drawn_again(rows: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Return the mean ECE by luck, and the ends of 95 % of the ECEs of samples drawn again."""
    errors = np.array([row["calibrated"] for row in rows]) @ [0.0, 1.0, -1.0]
    n = len(rows)
    means = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), 2000) / n @ errors
    luck = np.abs(means - errors.mean(axis=0)).sum(axis=1).mean()
    low, high = np.quantile(np.abs(means).sum(axis=1), [0.025, 0.975])
    return float(luck), float(low), float(high)


def row_of(name: str, rows: list[dict[str, Any]]) -> Row:
    """Return the line of some samples."""
    luck, low, high = drawn_again(rows)
    return {
        "samples": name,
        "number": len(rows),
        "said": float(np.mean([row["said"] for row in rows])),
        "happened": float(np.mean([row["happened"] for row in rows])),
        "ECE": pooled(rows, "calibrated")[0],
        "ECE by luck": luck,
        "drawn again": f"{low:.3f} to {high:.3f}",
        "ECE of the members": pooled(rows, "members")[0],
        "largest": max(row["largest"] for row in rows),
    }


def parts_of(row: dict[str, Any]) -> list[tuple[int, float, str]]:
    """Return the parts of its kind that a sample belongs to, as keys in the order of the table: a real set, or properties of a mixture."""
    if " at " not in row["what"]:
        return [(0, REAL.index(row["what"]), row["what"])]
    n, _, d, K, _, distance, _ = row["what"].replace(",", "").split()
    found = min(row["clusters"], 2)
    return [
        (1, found, ("one cluster found", "several clusters found")[found - 1]),
        *((2 + at, float(each), f"{each} {unit}") for at, (each, unit) in enumerate(
            ((distance, "sd apart"), (n, "points"), (d, "features"), (K, "classes"))
        )),
    ]  # fmt: skip


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
    parser.add_argument("--seeds", type=int, nargs="+", help="of all kinds [a range for each]")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    arguments: argparse.Namespace = parser.parse_args(argv)
    sizes = [100] if arguments.quick else arguments.sizes
    kept = opened(arguments, "replicates.kept.json", {"sizes": sizes})
    units = [
        (kind, f"{kind} {seed} {number}")
        for kind in arguments.kinds
        for seed in (arguments.seeds or SEEDS[kind])[: 1 if arguments.quick else None]
        for number in range(1 if arguments.quick else SETS[kind])
        if not (arguments.quick and kind == "real")
    ]
    wanted = {unit: list(FIELDS) for _, unit in units}
    fill(kept, wanted, partial(measure, sizes=sizes), arguments.jobs or 1)
    parts: dict[str, list[dict[str, Any]]] = {}
    for kind, unit in units:
        parts.setdefault(KINDS[kind], []).append(kept.found[unit])
    rows = [row_of(name, part) for name, part in parts.items()]
    fresh = [
        kept.found[unit]
        for kind, unit in units
        if kind == "mixture" and int(unit.split()[1]) >= FRESH_FROM
    ]
    if fresh:
        rows.insert(1, row_of(f"of these, seeds from {FRESH_FROM} on", fresh))
    show(rows, "What was said, and the share of pairs that held in fresh samples")
    write(rows, "replicates", arguments)
    within: dict[tuple[int, float, str], list[dict[str, Any]]] = {}
    for kind, unit in units:
        for key in parts_of(kept.found[unit]) if kind in ("mixture", "real") else ():
            within.setdefault(key, []).append(kept.found[unit])
    listed = [row_of(key[-1], within[key]) for key in sorted(within)]
    if listed:
        show(
            listed,
            "By set, and of planted mixtures by what was found, overlap, points, features and classes",
        )
        write(listed, "parts", arguments)
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
