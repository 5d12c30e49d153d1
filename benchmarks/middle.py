"""Small and middle data, where most users are: CPU seconds of one thread, with the clusterers that users would take instead.

python -m benchmarks.middle [points] [million] [borders] [start] [report] [--sizes NxD ...] [--repeats N]

Points of ten clusters, centres uniform in [-10, 10] and noise of 3: `ConsensusClustering()` told nothing and told the
number, fast_plscan where it is installed (it finds the number, too), scikit-learn's HDBSCAN, and KMeans told the number.
A million points, once, with the peak memory of the process. Border tests of 10,000 x 16 points by the number of clusters.
Programs in fresh processes, their imports included. The report of iris, the first and the second one of a process. Medians.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_iris
from threadpoolctl import threadpool_limits

from benchmarks.timing import fresh_process, memory_of, timed
from conclust import AutoConsensus, ConsensusClustering, EnsembleGenerator, confidence, report
from conclust.metrics import adjusted_rand_index

K = 10
SIZES = ("200x100", "1000x16", "10000x16", "10000x100", "100000x16")
MOST_OF_PEERS = 20_000  # objects: beyond, those without centres take minutes
SHELL = """
import contextlib, io
from conclust.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main({words!r})
"""
FRESH = {
    "import numpy": "import numpy",
    "import conclust": "import conclust",
    "import sklearn.base": "import sklearn.base",
    "first HBGF, 200 x 10": """
import numpy as np
from conclust import HBGF
HBGF(3).fit(np.random.default_rng(0).integers(0, 3, (200, 10)))
""",
    "first ConsensusClustering, 150 x 4": """
import numpy as np
from conclust import ConsensusClustering
ConsensusClustering(random_state=0).fit(np.random.default_rng(0).normal(size=(150, 4)))
""",
    **{
        f"conclust {word}": SHELL.format(words=[word])
        for word in ("methods", "--help", "--version")
    },
}


def points(n: int, d: int, k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return points of k clusters, and their clusters."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-10, 10, (k, d))
    labels = rng.integers(0, k, n)
    X = rng.normal(size=(n, d))
    X *= 3.0
    for cluster, center in enumerate(centers):
        X[labels == cluster] += center
    return X, labels


def ours(n_clusters: int | None = None) -> ConsensusClustering:
    return ConsensusClustering(
        AutoConsensus(n_jobs=1),
        EnsembleGenerator(n_jobs=1),
        n_clusters=n_clusters,
        random_state=0,
    )


def plscan() -> Any:
    from fast_plscan import PLSCAN

    return PLSCAN(num_threads=1)


WAYS: dict[str, tuple[Callable[[], Any], int]] = {
    "told nothing": (ours, 1 << 30),
    "told K": (lambda: ours(K), 1 << 30),
    "PLSCAN": (plscan, MOST_OF_PEERS),
    "HDBSCAN": (lambda: HDBSCAN(min_cluster_size=15, n_jobs=1, copy=True), MOST_OF_PEERS),
    "KMeans": (lambda: KMeans(K, n_init=10, random_state=0), 1 << 30),
}


def of_points(sizes: tuple[str, ...] = SIZES, repeats: int = 3) -> None:
    """Print a row for each size: seconds and adjusted Rand index of each way."""
    print(f"{'CPU s (ARI, clusters)':<22}" + "".join(f"{name:>23}" for name in WAYS))
    warm, _ = points(200, 3, 3)
    found = [way for way in WAYS if way != "PLSCAN" or find_spec("fast_plscan")]
    for way in found:
        WAYS[way][0]().fit(warm)  # what a first use imports is not timed
    for size in sizes:
        n, d = map(int, size.split("x"))
        X, truth = points(n, d, K)
        row = f"{f'{n:,} x {d}':<22}"
        for way, (make, most) in WAYS.items():
            if way not in found or n > most:
                row += f"{'-':>23}"
                continue
            model = make()
            seconds = statistics.median(timed(lambda: model.fit(X)).cpu for _ in range(repeats))  # noqa: B023
            labels = np.unique(model.labels_, return_inverse=True)[1]
            right = adjusted_rand_index(truth, labels)
            row += f"{seconds:>10.3f} ({right:.3f}, {len(set(model.labels_) - {-1}):>3})"
        print(row, flush=True)


def of_a_million() -> None:
    """Print the seconds and the peak memory of processes that hold a million points and fit them."""
    prepare = "from benchmarks.middle import *\nX, _ = points(1_000_000, int(sys.argv[1]), K)"
    fit = "with threadpool_limits(1):\n    print(timed(lambda: ours().fit(X)).cpu)"
    for d in (2, 16):
        before, peak, (seconds,) = memory_of(prepare, fit, str(d))
        text = f"{seconds:>6.1f} s, peak {peak:,.0f} MB, {before:,.0f} before the fit"
        print(f"told nothing, 1,000,000 x {d:>2}{text}", flush=True)


def of_borders(sizes: tuple[int, ...] = (8, 16, 32)) -> None:
    """Print the seconds of border tests by the number of clusters."""
    for k in sizes:
        X, labels = points(10_000, 16, k)
        seconds = timed(lambda: confidence.border_tests(X, labels, random_state=0, n_jobs=1))  # noqa: B023
        print(f"border tests, 10,000 x 16, {k:>2} clusters{seconds.cpu:>8.2f}", flush=True)


def of_start(repeats: int = 5) -> None:
    """Print the seconds of programs in fresh processes, imports included."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "iris.csv")
        np.savetxt(table, load_iris().data, "%.1f", ",", header="a,b,c,d", comments="")
        cluster = SHELL.format(words=["cluster", str(table), "--force"])
        for name, program in {**FRESH, "conclust cluster iris.csv": cluster}.items():
            print(f"{name:<38}{fresh_process(program, repeats).cpu:>8.3f}", flush=True)


def of_report() -> None:
    """Print the seconds of the first and the second report of a process."""
    X = load_iris().data
    model = ours().fit(X)
    with tempfile.TemporaryDirectory() as folder:
        for which in ("first", "second"):
            seconds = timed(lambda: report.write(model, Path(folder, f"{which}.html"), X=X))  # noqa: B023
            print(f"report of iris, {which:<22}{seconds.cpu:>8.2f}", flush=True)


def main(parts: list[str] | None = None, sizes: tuple[str, ...] = SIZES, repeats: int = 3) -> None:
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name, part in {
            "points": lambda: of_points(sizes, repeats),
            "million": of_a_million,
            "borders": of_borders,
            "report": of_report,
            "start": lambda: of_start(repeats),
        }.items():
            if not parts or name in parts:
                part()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    main(asked.parts, tuple(asked.sizes), asked.repeats)
