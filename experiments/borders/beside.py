"""How many clusters other ways see, of clouds and of Gaussians.

python -m experiments.borders.beside [--quick] [--seed 0] [--sets 10] [--jobs 1] [--out FOLDER]

The clouds of one cluster of `experiments.borders.level`, and three unit Gaussians by distance and number of features,
300 points each. A cell is the share of sets with the right number of clusters: one, or three. The ways:

- default: `ConsensusClustering()`; auto: with ``n_clusters="auto"``;
- merged: `border_tests` of six k-means pieces, those merged whose borders do not hold;
- HDBSCAN: scikit-learn's with its defaults; no cluster at all counts as one;
- silhouette: k-means with the largest mean silhouette, K from 2 to 10, which cannot say one;
- gap: Tibshirani, Walther and Hastie (2001), 50 references in the box of the principal components, k-means with K from 1
  to 10; the smallest K whose gap is at least that of K + 1 less its standard error.

What is done stands in beside.kept.json; a larger `--sets` adds to it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import silhouette_score

from conclust import AutoConsensus, ConsensusClustering, EnsembleGenerator
from conclust.confidence import border_tests
from conclust.generation.runs import run_kmeans
from experiments.borders.sets import CLOUDS, gaussians
from experiments.kept import Kept, fill
from experiments.output import Row, options, show, write

N = 300
PIECES = 6
MOST = 10
REFERENCES = 50
STARTS = 3
BATCH = 5
DISTANCES = (3.0, 4.0, 5.0)
FEATURES = (2, 10)

Points = NDArray[np.float64]


def _by_default(X: Points, number: int) -> int:
    return _consensus(number).fit(X).n_clusters_


def _by_auto(X: Points, number: int) -> int:
    return _consensus(number, n_clusters="auto").fit(X).n_clusters_


def _consensus(number: int, **given: Any) -> ConsensusClustering:
    return ConsensusClustering(
        AutoConsensus(n_jobs=1), EnsembleGenerator(n_jobs=1), random_state=number, **given
    )


def _by_merging(X: Points, number: int) -> int:
    pieces = KMeans(PIECES, n_init=3, random_state=number).fit_predict(X)
    return int(border_tests(X, pieces, random_state=number, n_jobs=1).merged().max()) + 1


def _by_hdbscan(X: Points, number: int) -> int:
    return max(1, int(HDBSCAN(copy=True).fit_predict(X).max()) + 1)


def _by_silhouette(X: Points, number: int) -> int:
    scores = [
        silhouette_score(X, KMeans(k, n_init=STARTS, random_state=number).fit_predict(X))
        for k in range(2, MOST + 1)
    ]
    return 2 + int(np.argmax(scores))


def _by_gap(X: Points, number: int) -> int:
    rng = np.random.default_rng(number)
    Z = X - X.mean(axis=0)
    V = np.linalg.svd(Z, full_matrices=False)[2]
    scores = Z @ V.T
    low, high = scores.min(axis=0), scores.max(axis=0)
    own = _log_dispersions(scores, rng)
    drawn = np.array(
        [_log_dispersions(rng.uniform(low, high, size=Z.shape), rng) for _ in range(REFERENCES)]
    )
    gap = drawn.mean(axis=0) - own
    error = drawn.std(axis=0) * np.sqrt(1 + 1 / REFERENCES)
    for k in range(1, MOST):
        if gap[k - 1] >= gap[k] - error[k]:
            return k
    return MOST


def _log_dispersions(X: Points, rng: np.random.Generator) -> Points:
    """Return the logarithm of the within-cluster sum of squares for 1 to MOST clusters."""
    everything = np.tile(np.arange(len(X), dtype=np.int32), (STARTS, 1))
    found = [float(((X - X.mean(axis=0)) ** 2).sum())]
    for k in range(2, MOST + 1):
        seeds = rng.integers(2**63, size=STARTS, dtype=np.uint64)
        found.append(float(run_kmeans(np.ascontiguousarray(X), k, everything, seeds).inertia.min()))
    return np.log(found)


WAYS: dict[str, Callable[[Points, int], int]] = {
    "default": _by_default,
    "auto": _by_auto,
    "merged": _by_merging,
    "HDBSCAN": _by_hdbscan,
    "silhouette": _by_silhouette,
    "gap": _by_gap,
}


def batch(unit: str, names: list[str]) -> dict[str, Any]:
    """Return the numbers of some sets of a setting, by each way."""
    setting, seed = unit.rsplit(" | ", 1)
    found: dict[str, Any] = {}
    for name in names:
        found[name] = []
        for number in range(BATCH * int(name), BATCH * (int(name) + 1)):
            rng = np.random.default_rng([int(seed), number, *map(ord, setting)])
            if setting in CLOUDS:
                X = CLOUDS[setting](rng, N)
            else:
                distance, d = setting.split(" sd, ")
                X, _ = gaussians(rng, N, float(distance), int(d.split()[0]))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                found[name].append({way: count(X, number) for way, count in WAYS.items()})
    return found


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", type=int, default=10, help="sets of each setting")
    arguments: argparse.Namespace = parser.parse_args(argv)
    settings = dict.fromkeys(CLOUDS, 1)
    settings |= {f"{distance:g} sd, {d} features": 3 for distance in DISTANCES for d in FEATURES}
    if arguments.quick:
        settings = {name: settings[name] for name in ("square", "5 sd, 2 features")}
    path = arguments.out / "beside.kept.json" if arguments.out is not None else None
    kept = Kept(path, {"seed": arguments.seed, "batch": BATCH})
    units = {name: f"{name} | {arguments.seed}" for name in settings}
    for b in range(1 if arguments.quick else -(-arguments.sets // BATCH)):
        fill(kept, {unit: [str(b)] for unit in units.values()}, batch, arguments.jobs or 1)
    rows: list[Row] = []
    for name, right in settings.items():
        sets = [said for part in kept.found[units[name]].values() for said in part]
        shares = {way: float(np.mean([said[way] == right for said in sets])) for way in WAYS}
        rows.append({"set": name, "clusters": right, "sets": len(sets)} | shares)
    show(rows, f"{N} points: share of sets with the right number of clusters")
    write(rows, "beside", arguments)


if __name__ == "__main__":
    main()
