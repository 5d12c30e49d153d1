"""Choosing the number of clusters, beside a plain loop in scikit-learn and NumPy.

One K at 2,000 x 10 with 50 resamples: clustering, consensus matrix, PAC; and all that `choose` reports of
it. The plain loop is Monti et al. (2003) as one writes it down: KMeans on each draw, counts of pairs
added up in matrices of n x n, PAC of the shares. Beside it the peer of pip, inmoose, if somebody has put it
there: its licence is the GPL, so nothing of ours asks for it. Then resampled k-means alone, beside the generator of
ensembles; the test of one cluster at n = 150; 100,000 objects, from points to the report.

python -m benchmarks.selection
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from benchmarks.timing import median, memory_of, timed
from conclust import EnsembleGenerator
from conclust._random import seed_sequence, spawn_generators, spawn_seeds
from conclust.generation.runs import draw_objects, run_kmeans
from conclust.selection import choose

RESAMPLES = 50
LARGE = """
import tempfile, time
from pathlib import Path
import numpy as np
from conclust import report
from conclust.selection import choose
rng = np.random.default_rng(0)
X = rng.normal(size=(100_000, 10)) + 4 * rng.normal(size=(4, 10))[np.arange(100_000) % 4]
"""
REPORT = """
wall, cpu = time.perf_counter(), time.process_time()
found = choose(X, range(2, 7), n_resamples=20, random_state=0, n_jobs=1)
with tempfile.TemporaryDirectory() as folder:
    page = report.write(found, Path(folder) / "report.html", X=X)
    print(time.perf_counter() - wall, time.process_time() - cpu, page.stat().st_size / 1e6)
"""


def plain_loop(X: NDArray[np.float64], k: int) -> float:
    n = len(X)
    rng = np.random.default_rng(0)
    together, seen = np.zeros((n, n)), np.zeros((n, n))
    for seed in range(RESAMPLES):
        rows = rng.choice(n, size=int(0.8 * n), replace=False)
        labels = KMeans(k, n_init=1, random_state=seed).fit_predict(X[rows])
        square = np.ix_(rows, rows)
        together[square] += labels[:, None] == labels[None]
        seen[square] += 1.0
    shares = (together / np.maximum(seen, 1.0))[np.triu_indices(n, 1)]
    return float(((shares > 0.1) & (shares <= 0.9)).mean())


def inmoose_loop(X: NDArray[np.float64], k: int) -> None:
    from inmoose.consensus_clustering.consensus_clustering import consensusClustering

    peer = consensusClustering(
        KMeans, mink=k, maxk=k, nb_resampling_iteration=RESAMPLES, resample_proportion=0.8
    )
    peer.compute_consensus_clustering(X, random_state=0)


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10)) + 3 * rng.normal(size=(5, 10))[np.arange(2000) % 5]
    print("one K at 2,000 x 10, 50 resamples")
    print(f"{'':<44} {'wall s':>8} {'CPU s':>8} {'ratio':>7}")
    loop = timed(lambda: plain_loop(X, 5))
    ours = median(lambda: choose(X, [5], null=None, random_state=0, n_jobs=1), 3)
    lines = [("plain loop", loop), ("choose, all criteria", ours)]
    if find_spec("inmoose") is None:
        print("inmoose, the peer, is not installed here")
    else:
        lines.append(("inmoose", timed(lambda: inmoose_loop(X, 5))))
    for name, found in lines:
        print(f"{name:<44} {found.wall:>8.2f} {found.cpu:>8.2f} {found.cpu / loop.cpu:>7.3f}")

    print("\nmilliseconds of CPU a member, 150 x 10, K = 5, 100 members on 80 % of the objects")
    small = rng.normal(size=(150, 10))
    root = seed_sequence(0)
    drawn = draw_objects(150, 120, spawn_generators(root, 100))
    seeds = np.array(spawn_seeds(root, 100), dtype=np.uint64)
    generator = EnsembleGenerator(
        "kmeans", n_clusters=5, sample_fraction=0.8, random_state=0, n_jobs=1
    )
    members = median(lambda: generator.fit_transform(small), 3)
    runs = median(lambda: run_kmeans(small, 5, drawn, seeds), 9)
    for name, found in (("EnsembleGenerator", members), ("run_kmeans", runs)):
        print(f"{name:<44} {10 * found.cpu:>8.3f}")

    print("\nthe test of one cluster at 150 x 10: 99 references, K = 2 to 10, 50 resamples")
    found = timed(lambda: choose(small, random_state=0, n_jobs=1))
    print(f"{'choose':<44} {found.wall:>8.2f} {found.cpu:>8.2f}")

    print("\n100,000 x 10, K = 2 to 6, 20 resamples, 99 references, from points to the report")
    before, after, (wall, cpu, page) = memory_of(LARGE, REPORT)
    print(
        f"{'choose, report.write':<44} {wall:>8.2f} {cpu:>8.2f}   {after:.0f} MB at the peak, "
        f"{after - before:.0f} above the points; a page of {page:.1f} MB"
    )


if __name__ == "__main__":
    main()
