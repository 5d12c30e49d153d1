"""ConsensusClusterPlus' example choices on gene expressions: its numbers, and conclust's beside them.

python -m experiments.ccp2010.examples [--quick] [--sets hgsc_tcga golub_leukemia] [--reps 50]
    [--max-k 6] [--genes 5000] [--out FOLDER]

The choices of the package's vignette (Wilkerson and Hayes 2010): the 5,000 genes of the largest median absolute
deviation, each less its median; 1 less Pearson's correlation of samples; average linkage of 80 % of the samples, 50
times; average linkage of the consensus. "theirs" are the package's formulas, written from what its sources do, in
loops over draws; "ours" is `conclust.selection.choose_from` of the same draws. The random numbers are not R's, so
that draws differ from R's. Known classes are read by the scores alone.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from scipy.stats import median_abs_deviation

from conclust.confidence import cluster_confidence, item_consensus
from conclust.datasets import load
from conclust.metrics import adjusted_rand_index
from conclust.selection import Selection, choose_from
from experiments.output import Row, options, show, stopwatch, write

SETS = ("hgsc_tcga", "golub_leukemia")
Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]

_FORMATS = dict.fromkeys(("area", "area, exact", "delta", "delta, exact", "PAC"), ".3f")


def distances(name: str, X: Matrix, genes: int) -> Matrix:
    """Return 1 less the correlation of samples, over the genes that vary most, each less its median."""
    if name == "golub_leukemia":  # intensities, as Dudoit, Fridlyand and Speed (2002) have them
        X = np.log2(np.clip(X, 100.0, 16000.0))
    most = np.argsort(-median_abs_deviation(X, axis=0), kind="stable")[:genes]
    kept = X[:, most]
    found: Matrix = 1.0 - np.corrcoef(kept - np.median(kept, axis=0))
    return found


def tree_of(D: Matrix) -> Matrix:
    tree: Matrix = linkage(squareform(D, checks=False), "average")
    return tree


def resampled(D: Matrix, ks: range, reps: int, share: float, seed: int) -> dict[int, Labels]:
    """Return the labels of each draw for each K; -1 is a sample that was not drawn."""
    n = len(D)
    rng = np.random.default_rng(seed)
    labels = {k: np.full((n, reps), -1, dtype=np.int64) for k in ks}
    for b in range(reps):
        drawn = np.sort(rng.choice(n, int(n * share), replace=False))
        cuts = cut_tree(tree_of(D[np.ix_(drawn, drawn)]), n_clusters=list(ks))
        for k, cut in zip(ks, cuts.T, strict=True):
            labels[k][drawn, b] = cut
    return labels


@dataclass
class Theirs:
    """What ConsensusClusterPlus and its calcICL give for one K."""

    matrix: Matrix
    labels: Labels
    area: float
    pac: float
    cluster_consensus: Matrix
    item_consensus: Matrix


def theirs(labels: Labels, k: int) -> Theirs:
    """Count as ConsensusClusterPlus does: a pair that no draw had counts as never together."""
    n = len(labels)
    together, drawn = np.zeros((n, n)), np.zeros((n, n))
    for column in labels.T:
        seen = np.flatnonzero(column >= 0)
        drawn[np.ix_(seen, seen)] += 1
        for cluster in np.unique(column[seen]):
            own = np.flatnonzero(column == cluster)
            together[np.ix_(own, own)] += 1
    matrix = np.divide(together, drawn, out=np.zeros((n, n)), where=drawn > 0)
    found = cut_tree(tree_of(1.0 - matrix), n_clusters=k).ravel().astype(np.int64)
    # Of a histogram of 100 bins that hold their right ends: the heights at the right ends.
    values = matrix[np.triu_indices(n, 1)]
    ends = np.arange(1, 101) / 100
    heights = np.array([np.mean(values <= end + 1e-9) for end in ends])
    clusters = np.array([_mean_of_pairs(matrix[np.ix_(found == c, found == c)]) for c in range(k)])
    items = np.array(
        [
            [matrix[i, (found == c) & (np.arange(n) != i)].mean() if _others(found, c, i) else 0.0]
            for c in range(k)
            for i in range(n)
        ]
    ).reshape(k, n)
    return Theirs(matrix, found, heights.mean(), heights[89] - heights[9], clusters, items.T)


def _others(labels: Labels, cluster: int, i: int) -> bool:
    return int((labels == cluster).sum()) > int(labels[i] == cluster)


def _mean_of_pairs(block: Matrix) -> float:
    values = block[np.triu_indices(len(block), 1)]
    return float(values.mean()) if len(values) else float("nan")


def compared(found: Selection, k: int, their: Theirs, y: Labels) -> Row:
    """Return a row: both sides of one K. The classes are read here, and decide nothing."""
    ensemble, labels = found.ensembles[k], found.labels[k]
    at = int(np.flatnonzero(found.k == k)[0])
    matrix = found.consensus_matrix(k)
    seen = ~np.isnan(matrix)
    item = item_consensus(their.labels, ensemble)
    cluster = cluster_confidence(their.labels, ensemble).consensus
    # Clusters of one have no pair: 1 here, nothing there.
    ours = cluster[~np.isnan(their.cluster_consensus)]
    own = their.cluster_consensus[~np.isnan(their.cluster_consensus)]
    differs = [np.abs(matrix - their.matrix)[seen].max(), np.abs(ours - own).max(initial=0.0)]
    several = np.bincount(their.labels) > 1
    differs.append(np.nanmax(np.abs(item - their.item_consensus)[:, several]))
    return {
        "K": k,
        "area": their.area,
        "area, exact": float(found.table["area"][at]),
        "delta": None,
        "delta, exact": float(found.table["delta"][at]),
        "PAC": their.pac,
        "PAC, exact": float(found.table["pac"][at]),
        "smallest": int(np.bincount(their.labels).min()),
        "largest": int(np.bincount(their.labels).max()),
        "classes alike": adjusted_rand_index(their.labels, labels),
        "means differ by": max(map(float, differs)),
        "ARI": adjusted_rand_index(y, their.labels),
    }


def of_set(name: str, arguments: argparse.Namespace) -> tuple[list[Row], Selection]:
    """Return a row for each K."""
    data: Any = load(name)
    D = distances(name, np.asarray(data.X, dtype=np.float64), arguments.genes)
    ks = range(2, arguments.max_k + 1)
    labels = resampled(D, ks, arguments.reps, arguments.share, arguments.seed)
    found = choose_from(labels)
    rows = [compared(found, k, theirs(labels[k], k), data.y) for k in ks]
    for row, before in zip(rows[1:], rows[:-1], strict=True):
        row["delta"] = (row["area"] - before["area"]) / before["area"]
    rows[0]["delta"] = rows[0]["area"]
    return rows, found


def run(arguments: argparse.Namespace) -> None:
    sets = arguments.sets or SETS
    if arguments.quick:
        arguments.reps, arguments.max_k = min(arguments.reps, 20), min(arguments.max_k, 4)
        sets = arguments.sets or ("golub_leukemia",)
    formats = {
        **_FORMATS,
        "PAC, exact": ".3f",
        "ARI": ".3f",
        "means differ by": ".0e",
        "classes alike": ".3f",
    }
    for name in sets:
        with stopwatch() as taken:
            rows, found = of_set(name, arguments)
        title = f"{name}: {arguments.reps} draws"
        show(rows, title, formats)
        print(f"  {found.reason} CPU seconds: {taken.cpu:.1f}")
        write(rows, f"{name}_{arguments.reps}", arguments, formats, note=f"{title}. {found.reason}")


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, help="data sets")
    parser.add_argument("--reps", type=int, default=50, help="draws")
    parser.add_argument("--max-k", type=int, default=6, help="the largest number of clusters")
    parser.add_argument("--share", type=float, default=0.8, help="of the samples, in a draw")
    parser.add_argument("--genes", type=int, default=5000, help="that vary most")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
