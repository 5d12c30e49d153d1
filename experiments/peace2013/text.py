"""Tables 2 and 3, Figure 4: newsgroups and university pages, as the text of k-means by the cosine and by mini-batches.

python -m experiments.peace2013.text [--quick] [--sets miniN webkb] [--out FOLDER]

Section 5.2 of the paper: 1,700 posts of 17 newsgroups in 7 groups of groups, 1,041 pages in 4 classes; stop words out,
stems, tf-idf, words of few documents and of low variance out; ensembles of k-means with the cosine (E1a) and of mini-batch
k-means (E1b), the number of clusters drawn between half the square root of the documents and the root. For PEACE and
Baum-Eagon it prints CI and F1 of the run with the best criterion ("selected"), and average, standard deviation, largest
and least value of the runs. What was chosen is in ``settings.py``.

Results are kept in FOLDER/text.json as they come; a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from math import isqrt
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfTransformer

from conclust import EnsembleGenerator, coassociation
from conclust.datasets import available, load
from conclust.exceptions import EnsembleWarning
from conclust.metrics import class_f1, consistency_index, pairwise_f1
from experiments.drawing import save
from experiments.kept import Kept, fill, opened
from experiments.output import Row, options, show, write
from experiments.paper_sets import PARTITIONS
from experiments.peace2013.printed import TEXT
from experiments.peace2013.settings import (
    DIMENSIONS,
    LEAST_DOCUMENTS,
    RUNS,
    TEXT_LATER,
    TEXT_METHODS,
)
from experiments.peace2013.stemmer import stem

__all__ = ["documents", "spread"]

FILES = {"miniN": "mini_newsgroups", "webkb": "webkb_1041"}
# Groups without a clear concept, as the paper says.
DROPPED = ("talk.politics.misc", "talk.religion.misc", "comp.os.ms-windows.misc")
KINDS = ("E1a", "E1b")
SCORES = {"CI": consistency_index, "pair F1": pairwise_f1, "class F1": class_f1}


def documents(name: str) -> tuple[NDArray[np.float64], NDArray[Any], int]:
    """Return tf-idf of the words that stay, the classes, and how many documents have no such word.

    Those are left out: they have no direction.
    """
    data = load(FILES[name])
    counts, y, classes = sp.csr_array(data.X), data.y, np.array(data.target_names)
    if name == "miniN":
        stays = ~np.isin(classes[y], DROPPED)
        counts, y = counts[np.flatnonzero(stays)], y[stays]
        y = np.unique([group.split(".")[0] for group in classes[y]], return_inverse=True)[1]
    counts = _stemmed(counts, data.feature_names)
    often = np.asarray((counts > 0).sum(axis=0)).ravel() >= LEAST_DOCUMENTS
    weights = TfidfTransformer().fit_transform(counts[:, np.flatnonzero(often)]).toarray()
    varied = np.sort(np.argsort(-weights.var(axis=0), kind="stable")[: DIMENSIONS[name]])
    X = np.ascontiguousarray(weights[:, varied])
    some = X.any(axis=1)
    return X[some], y[some], int(np.count_nonzero(~some))


def _stemmed(counts: sp.csr_array, words: tuple[str, ...]) -> sp.csr_array:
    """Return the counts of stems, without stop words."""
    stays = [k for k, word in enumerate(words) if word not in ENGLISH_STOP_WORDS]
    stems = [stem(words[k]) for k in stays]
    number = {one: k for k, one in enumerate(sorted(set(stems)))}
    columns = [number[one] for one in stems]
    joined = sp.csr_array((np.ones(len(stays)), (stays, columns)), (len(words), len(number)))
    return sp.csr_array(counts @ joined)


def members(kind: str, X: NDArray[np.float64], n_partitions: int, seed: int) -> NDArray[Any]:
    """Return the labels of an ensemble."""
    root = isqrt(len(X))
    method = "spherical" if kind == "E1a" else MiniBatchKMeans(n_init=1)
    generator = EnsembleGenerator(
        method, n_partitions, n_clusters=range(root // 2, root + 1), random_state=seed
    )
    labels: NDArray[Any] = generator.fit_transform(X)
    return labels


def measure(unit: str, names: list[str], few: bool) -> dict[str, Any]:
    """Return scores and criterion of methods from many random starts on one ensemble."""
    name, kind = unit.split("/")
    X, y, _ = documents(name)
    labels = members(kind, X, 20 if few else PARTITIONS, seed=0)
    found: dict[str, Any] = {}
    for method in names:
        values: dict[str, list[float]] = {key: [] for key in (*SCORES, "criterion")}
        make = {**TEXT_METHODS, **TEXT_LATER}[method]
        for start in range(1 if method in TEXT_LATER else 2 if few else RUNS):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", EnsembleWarning)
                model = make(len(np.unique(y)), start).fit(labels)
            for key, score in SCORES.items():
                values[key].append(float(score(y, model.labels_)))
            if method in TEXT_METHODS:
                values["criterion"].append(float(model.objective_))
        found[method] = values
    return found


def spread(values: dict[str, list[float]], score: str) -> tuple[float, ...]:
    """Return the score of the run with the least objective, average, sd, largest and least."""
    scores = np.array(values[score])
    best = scores[int(np.argmin(values["criterion"]))]
    return tuple(map(float, (best, scores.mean(), scores.std(), scores.max(), scores.min())))


def later(kept: Kept, sets: list[str]) -> list[Row]:
    """Return a line for each method that is not the paper's, and the selected runs of those that are."""
    rows: list[Row] = []
    for method in (*TEXT_METHODS, *TEXT_LATER):
        for score in SCORES:
            row: Row = {"method": method, "score": score}
            for kind in KINDS:
                for name in sets:
                    values = kept.found[f"{name}/{kind}"][method]
                    told = method in TEXT_METHODS
                    row[f"{kind}, {name}"] = (
                        spread(values, score)[0] if told else float(values[score][0])
                    )
            rows.append(row)
    return rows


def table(kept: Kept, sets: list[str]) -> list[Row]:
    """Return a line for each cell of Tables 2 and 3, and what the paper prints below."""
    rows: list[Row] = []
    names = ("selected", "av", "std", "max", "min")
    for score in SCORES:
        for method in TEXT_METHODS:
            for kind in KINDS:
                for name in sets:
                    head = {"score": score, "method": method, "ensemble": kind, "texts": name}
                    ours = spread(kept.found[f"{name}/{kind}"][method], score)
                    rows.append({**head, **dict(zip(names, ours, strict=True))})
                    printed = TEXT.get(score.split()[-1], {}).get(method, {}).get((kind, name))
                    if printed:
                        said = {**head, "method": "(printed)"}
                        rows.append({**said, **dict(zip(names, printed, strict=True))})
    return rows


def draw(sets: list[str], arguments: argparse.Namespace) -> list[Row]:
    """Draw Figure 4: the co-association of E1a, documents in order of their classes.

    Returns the mean share of a pair in one class, and of a pair in two.
    """
    rows: list[Row] = []
    figure, axes = plt.subplots(
        1, len(sets), figsize=(4.8 * len(sets), 4.4), layout="constrained", squeeze=False
    )
    for ax, name in zip(axes[0], sets, strict=True):
        X, y, _ = documents(name)
        labels = members("E1a", X, 20 if arguments.quick else PARTITIONS, seed=0)
        order = np.argsort(y, kind="stable")
        shares = coassociation(labels, normalize=True)[np.ix_(order, order)]
        same = y[order][:, None] == y[order]
        others = ~np.eye(len(y), dtype=bool)
        rows.append(
            {
                "set": name,
                "in one class": float(shares[same & others].mean()),
                "in two": float(shares[~same].mean()),
            }
        )
        image = ax.imshow(shares, cmap="gray", vmin=0, vmax=1)
        for border in np.cumsum(np.bincount(y))[:-1]:
            ax.axhline(border - 0.5, color="#E69F00", linewidth=0.6)
            ax.axvline(border - 0.5, color="#E69F00", linewidth=0.6)
        ax.set_title(f"{name}, E1a", fontsize=10)
        ax.set_xlabel("documents, in order of their classes (lines)")
    figure.colorbar(image, ax=axes, label="share of the partitions that join a pair", shrink=0.8)
    save(figure, arguments.out, "figure_4")
    return rows


def run(arguments: argparse.Namespace) -> None:
    there = set(available())
    sets = [name for name in arguments.sets if FILES[name] in there]
    if not sets:
        load(FILES[arguments.sets[0]])  # says where it is published
    for name in sets:
        X, y, without = documents(name)
        print(
            f"{name}: {len(X):,} documents in {len(np.unique(y))} classes, {X.shape[1]} words; {without} documents "
            "without any of them left out"
        )
    kept = opened(arguments, "text.json", {"few": arguments.quick})
    wanted = {f"{name}/{kind}": [*TEXT_METHODS, *TEXT_LATER] for name in sets for kind in KINDS}
    fill(kept, wanted, partial(measure, few=arguments.quick), arguments.jobs)
    rows = table(kept, sets)
    show(rows, "Tables 2 and 3")
    write(rows, "tables_2_3", arguments)
    rows = later(kept, sets)
    show(rows, "Later methods beside the selected runs")
    write(rows, "later", arguments)
    rows = draw(sets, arguments)
    show(rows, "Mean share of the partitions of E1a that join two documents")
    write(rows, "blocks", arguments)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", choices=FILES, default=list(FILES), metavar="SET")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
