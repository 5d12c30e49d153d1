"""When columns are standardised by default: ``scale="auto"`` beside both other answers.

python -m experiments.default.scale [--quick] [--out FOLDER]

Sets of different units (wine, cells of breast cancer, customers with income and age by formula), of one unit
(digits, plane coordinates, expression, principal components), and between the two (two durations, a row of round clusters). For each: the share of columns that are narrow, the
effective number of columns that decide squared distances, the choice, the share of 50 random halves of the objects
that lead to the same choice, and the adjusted Rand index of `ConsensusClustering`, given the number of classes, on
columns as they are, standardised, and by "auto". Constants were settled on the sets marked "settled" and the seeds 0
to 2 of the formula, and confirmed on the others and the seeds 3 to 5. Known classes serve for scoring only.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, make_blobs
from sklearn.decomposition import PCA
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from conclust import ConsensusClustering, EnsembleGenerator
from conclust.datasets import load
from conclust.generation.scaling import _spread, fitted_scaling
from conclust.metrics import adjusted_rand_index
from experiments.output import Row, options, show, write

SETTLED = ("wine", "iris", "optdigits_1000", "standin_image_c_aggregation", "su_multitissue")
CONFIRMED = (
    "seeds",
    "glass",
    "steel_plates",
    "yeast_uci",
    "pendigits",
    "usps_11000",
    "standin_rings_1000",
    "khan_srbct",
    "golub_leukemia",
    "hgsc_tcga",
)
HALVES = 50
MOST = 1500


class Points(NamedTuple):
    """A set: on which side it stood, its name, points and classes."""

    side: str
    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]


def customers(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Three segments in age and visits; the income, in euros, and a card are the same in all."""
    rng = np.random.default_rng(seed)
    X, y = make_blobs(300, 2, centers=[(0, 0), (8, 0), (0, 8)], random_state=seed)
    income = rng.lognormal(10.5, 0.4, 300)
    return np.column_stack([40 + 2 * X[:, 0], 9 + X[:, 1], income, rng.random(300) < 0.3]), y


def durations(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two clusters of two durations in minutes, such as those of a geyser: one of them varies twelve times as much."""
    rng = np.random.default_rng(seed)
    y = (rng.random(300) < 0.64).astype(np.int64)
    duration = np.where(y, 4.3, 2.05) + np.where(y, 0.4, 0.3) * rng.normal(size=300)
    wait = np.round(np.where(y, 80, 54.5) + 5.9 * rng.normal(size=300))
    return np.column_stack([duration.round(3), wait]), y


def row_of_clusters(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Twenty round clusters in a strip of the plane that is ten times as long as wide."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-1, 1, (20, 2)) * (120, 12)
    y = rng.integers(0, 20, 1000)
    return centres[y] + rng.normal(size=(1000, 2)), y


def sets(quick: bool) -> Iterator[Points]:
    """Yield the sets."""
    rng = np.random.default_rng(0)
    for seed in range(1 if quick else 6):
        side = "settled" if seed < 3 else "confirmed"
        for name, make in (
            ("customers", customers),
            ("durations", durations),
            ("a row of clusters", row_of_clusters),
        ):
            yield Points(side, f"{name}, seed {seed}", *make(seed))
    cells = load_breast_cancer()
    yield Points("settled", "cells of breast cancer", cells.data, cells.target)
    for side, names in (("settled", SETTLED), ("confirmed", CONFIRMED)):
        for name in ("wine", "iris") * (side == "settled") if quick else names:
            data = load(name)
            X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
            if len(X) > MOST:
                some = np.sort(rng.permutation(len(X))[:MOST])
                X, y = X[some], y[some]
            yield Points(side, name, X, y)
            if name in ("optdigits_1000", "khan_srbct", "wine"):
                parts = PCA(min(30, *X.shape), random_state=0).fit_transform(X)
                yield Points(side, f"{name}, components", parts, y)


def row_of(points: Points, seed: int, jobs: int | None) -> Row:
    """Return what is known of a set."""
    X = points.X
    spread = _spread(StandardScaler().fit(X), MinMaxScaler().fit(X))
    chosen = fitted_scaling("auto", [X]).scale
    rng = np.random.default_rng(seed)
    halves = [rng.permutation(len(X))[: len(X) // 2] for _ in range(HALVES)]
    same = np.mean([fitted_scaling("auto", [X[half]]).scale == chosen for half in halves])
    row: Row = {
        "": points.side,
        "set": points.name,
        "columns": X.shape[1],
        "narrow": float(spread.narrow().sum() / spread.varying.sum()),
        "deciding": float(spread.deciding),
        "auto": chosen or "as they are",
        "halves agree": float(same),
    }
    for scale in (None, "standard", "auto"):
        generator = EnsembleGenerator("kmeans", n_partitions=50, scale=scale, n_jobs=jobs)
        model = ConsensusClustering(
            generator=generator, n_clusters=len(np.unique(points.y)), random_state=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            labels = model.fit_predict(X)
        row[f"ARI {scale or 'as they are'}"] = adjusted_rand_index(points.y, labels)
    return row


def main(argv: Sequence[str] | None = None) -> None:
    arguments = options(__doc__).parse_args(argv)
    rows = [row_of(points, arguments.seed, arguments.jobs) for points in sets(arguments.quick)]
    show(rows, "When columns are standardised, and what comes of it")
    write(rows, "scale", arguments)


if __name__ == "__main__":
    main()
