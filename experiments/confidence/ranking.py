"""How well each measure of confidence ranks the objects that a consensus gets wrong.

python -m experiments.confidence.ranking [--quick] [--seed 0] [--jobs 1] [--out FOLDER]

Settled before the first run, and not changed since:

- Sets: those below, with known classes and at most 1,000 objects. Columns scaled to [0, 1]; with more columns than objects
  standardised and reduced to the first ten principal components.
- Members: 100 k-means of the default range of k ("default"), and 100 k-means with the number of
  classes on 80 % of the objects each ("resampled"); two seeds.
- Methods, told the number of classes: AutoConsensus, PCC (l2), EAC (average linkage), HBGF.
- An object is wrong if its cluster is not the one matched to its class, one to one. A consensus with
  fewer than five objects that are wrong, or right, is left out.
- Ranking: the area under the ROC curve (AUC) of "less confident" for "wrong"; 0.5 is chance. Mean over
  seeds and methods, then over the sets.
- Calibration: the mean over ten equally wide classes of confidence of how far the share of right
  objects is from the mean confidence, weighted by how many there are (ECE), and the mean squared
  difference of confidence and right (1) or wrong (0) (Brier). The silhouette is moved from [-1, 1] to
  [0, 1].
- Noise: mean confidence in clouds without clusters, told four, and in partitions drawn at random.
- Rule: the measure with the highest mean AUC gets the name "confidence", if it beats the largest
  membership, which has the name until now, by more than two standard errors of the difference over
  the sets; of measures within two standard errors of the best, the one with the least mean ECE.

Known classes are read by `scores` only.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from conclust import EAC, HBGF, PCC, AutoConsensus, Ensemble, EnsembleGenerator
from conclust.confidence import item_consensus, object_confidence
from conclust.confidence.objects import agreement_of
from conclust.confidence.reading import read_consensus
from conclust.datasets import load
from conclust.measures.matching import best_matching
from conclust.metrics import contingency
from experiments.default.sets import clouds
from experiments.output import Row, options, show, write

SETS = (
    "iris",
    "wine",
    "seeds",
    "breast_cancer",
    "breast_cancer_683",
    "glass",
    "ionosphere",
    "house_votes_232",
    "std_yeast_cell",
    "optdigits_1000",
    "zoo",
    "cigar",
    "half_rings",
    "spiral",
    "standin_image_c_aggregation",
    "standin_rings_1000",
    "golub_leukemia",
    "khan_srbct",
    "hgsc_tcga",
    "su_multitissue",
    "sc_yan",
    "sc_treutlein",
)
METHODS: dict[str, Callable[[int], Any]] = {
    "AutoConsensus": lambda k: AutoConsensus(k, random_state=0),
    "PCC l2": lambda k: PCC(k, divergence="l2", random_state=0),
    "EAC": lambda k: EAC(k),
    "HBGF": lambda k: HBGF(k, random_state=0),
}
KINDS = ("default", "resampled")
FEWEST = 5
SEEDS = 2
BINS = 10


def points_of(name: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return points, scaled, and the classes."""
    data = load(name)
    X = np.asarray(data.X, dtype=np.float64)
    if X.shape[1] > X.shape[0]:
        spread = X.std(axis=0) > 0
        X = PCA(10, random_state=0).fit_transform(StandardScaler().fit_transform(X[:, spread]))
        return X, data.y
    return MinMaxScaler().fit_transform(X), data.y


def members_of(X: NDArray[np.float64], k: int, kind: str, seed: int) -> Ensemble:
    """Return 100 k-means partitions of one of the two kinds."""
    given: dict[str, Any] = {}
    if kind == "resampled":
        given = {"n_clusters": k, "sample_fraction": 0.8}
    return Ensemble(EnsembleGenerator("kmeans", random_state=seed, **given).fit_transform(X))


def measures_of(model: Any, ensemble: Ensemble) -> dict[str, NDArray[np.float64]]:
    """Return the measures that are compared: 1 is sure, 0 is not."""
    sure = object_confidence(model, ensemble)
    items = np.nan_to_num(item_consensus(model.labels_, ensemble))
    own = items[np.arange(len(items)), model.labels_]
    total = items.sum(axis=1)
    share = np.divide(own, total, out=np.full_like(own, 1.0 / items.shape[1]), where=total > 0)
    one_to_one = agreement_of(read_consensus(model.labels_, ensemble, ""), "one_to_one")
    return {
        "largest membership": sure.confidence,
        "margin": sure.margin,
        "1 - entropy": 1.0 - sure.entropy,
        "company": sure.company,
        "item consensus": own,
        "share of item consensus": share,
        "silhouette": (1.0 + sure.silhouette) / 2.0,
        "agreement": sure.agreement,
        "agreement, one to one": one_to_one,
    }


def right_of(y: NDArray[Any], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which objects are in the cluster that is matched to their class."""
    table = contingency(y, labels)
    rows, columns = best_matching(table)
    class_of = {
        table.column_labels[c]: table.row_labels[r] for r, c in zip(rows, columns, strict=True)
    }
    return np.array([class_of.get(int(k)) == int(c) for k, c in zip(labels, y, strict=True)])


def calibration(values: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the expected calibration error, and the Brier score."""
    values = np.clip(values, 0.0, 1.0)  # a margin of labels alone can be below 0
    bins = np.minimum((values * BINS).astype(int), BINS - 1)
    off = np.bincount(bins, weights=values - right, minlength=BINS)
    return float(np.abs(off).sum() / len(values)), float(np.mean((values - right) ** 2))


def scores(
    y: NDArray[Any], model: Any, ensemble: Ensemble
) -> dict[str, tuple[float, float, float]] | None:
    """Return AUC, ECE and Brier score of each measure; None where too few are wrong, or right."""
    right = right_of(y, model.labels_)
    if min(np.count_nonzero(right), np.count_nonzero(~right)) < FEWEST:
        return None
    return {
        name: (float(roc_auc_score(right, values)), *calibration(values, right))
        for name, values in measures_of(model, ensemble).items()
    }


def noise(seed: int) -> Iterator[tuple[str, Ensemble]]:
    """Yield ensembles in which there is nothing to be sure of, and one in which there is."""
    for points in clouds(1):
        X = MinMaxScaler().fit_transform(points.X)
        name = points.name.rsplit(",", 1)[0]
        yield name, members_of(X, 4, "default", seed)
        yield f"{name}, resampled", members_of(X, 4, "resampled", seed)
    rng = np.random.default_rng(seed)
    yield "partitions at random", Ensemble(rng.integers(0, 4, (500, 100)))
    apart = rng.normal(size=(500, 5)) + 12.0 * np.eye(5)[rng.integers(0, 4, 500)]
    yield "four clusters far apart", members_of(apart, 4, "resampled", seed)


def run(name: str, seeds: tuple[int, ...]) -> list[Row]:
    """Return a line for each kind of members, seed, method and measure of a set."""
    lines: list[Row] = []
    X, y = points_of(name)
    k = len(np.unique(y))
    for kind in KINDS:
        for seed in seeds:
            ensemble = members_of(X, k, kind, seed)
            for method, make in METHODS.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    model = make(k).fit(ensemble)
                for measure, (auc, ece, brier) in (scores(y, model, ensemble) or {}).items():
                    lines.append(
                        {
                            "set": name,
                            "members": kind,
                            "seed": seed,
                            "method": method,
                            "measure": measure,
                            "AUC": auc,
                            "ECE": ece,
                            "Brier": brier,
                        }
                    )
    return lines


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    arguments: argparse.Namespace = parser.parse_args(argv)
    names = ("iris", "std_yeast_cell") if arguments.quick else SETS
    seeds = range(arguments.seed, arguments.seed + (1 if arguments.quick else SEEDS))
    jobs = arguments.jobs or 1
    runs = Parallel(n_jobs=jobs)(delayed(run)(name, tuple(seeds)) for name in names)
    lines: list[Row] = [line for found in runs for line in found]
    means: dict[tuple[str, str], list[NDArray[np.float64]]] = defaultdict(list)
    of_sets: list[Row] = []
    for name in names:
        both: dict[str, list[NDArray[np.float64]]] = defaultdict(list)
        for kind in KINDS:
            found: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
            for line in lines:
                if (line["set"], line["members"]) == (name, kind):
                    found[line["measure"]].append((line["AUC"], line["ECE"], line["Brier"]))
            for measure, values in found.items():
                mean = np.mean(values, axis=0)
                means[kind, measure].append(mean)
                both[measure].append(mean)
            if found:
                aucs = {measure: float(means[kind, measure][-1][0]) for measure in found}
                runs_told = len(next(iter(found.values())))
                of_sets.append({"set": name, "members": kind, "runs": runs_told, **aucs})
        for measure, parts in both.items():
            means["both", measure].append(np.mean(parts, axis=0))
    rows = table_of(means)
    show(rows, "Ranking of wrong objects and calibration, mean over sets")
    quiet = noise_rows(arguments)
    show(quiet, "Mean confidence where there is nothing, and where there is")
    note = (
        "AUC: chance that a wrong object is less confident than a right one. '- largest': how much more "
        "than the largest membership, with the standard error of that over the sets."
    )
    write(rows, "ranking", arguments, note=note)
    show(by_method(lines), "AUC by method, mean over sets")
    write(by_method(lines), "methods", arguments)
    write(of_sets, "sets", arguments)
    write(quiet, "noise", arguments)


def table_of(means: dict[tuple[str, str], list[NDArray[np.float64]]]) -> list[Row]:
    """Return a line for each kind of members and measure."""
    rows: list[Row] = []
    for kind, measure in sorted(means, key=lambda key: ("both", *KINDS).index(key[0])):
        values = np.array(means[kind, measure])
        before = np.array(means[kind, "largest membership"])
        more = values[:, 0] - before[:, 0]
        error = float(more.std(ddof=1) / np.sqrt(len(more))) if len(more) > 1 else None
        rows.append(
            {
                "members": kind,
                "measure": measure,
                "sets": len(values),
                "AUC": float(values[:, 0].mean()),
                "- largest": float(more.mean()),
                "standard error": error,
                "ECE": float(values[:, 1].mean()),
                "Brier": float(values[:, 2].mean()),
            }
        )
    return rows


def by_method(lines: list[Row]) -> list[Row]:
    """Return the mean AUC of each measure by kind of members and method."""
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        found[line["members"], line["method"]][line["measure"]].append(line["AUC"])
    return [
        {"members": kind, "method": method, **{m: float(np.mean(v)) for m, v in values.items()}}
        for (kind, method), values in found.items()
    ]


def noise_rows(arguments: argparse.Namespace) -> list[Row]:
    """Return the mean of each measure over objects and methods, in each ensemble."""
    rows: list[Row] = []
    for name, ensemble in noise(arguments.seed):
        if arguments.quick and len(rows) == 2:
            break
        runs: dict[str, list[float]] = defaultdict(list)
        for make in METHODS.values():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                model = make(4).fit(ensemble)
            for measure, values in measures_of(model, ensemble).items():
                runs[measure].append(float(np.nanmean(values)))
        rows.append({"ensemble": name, **{m: float(np.mean(v)) for m, v in runs.items()}})
    return rows


if __name__ == "__main__":
    main()
