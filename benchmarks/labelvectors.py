"""Methods on label vectors: CPU seconds for 100,000 objects x 20, K = 5, and k-means on a million.

python -m benchmarks.labelvectors [--million]

Two ensembles with default settings: "points", k-means-like partitions of points in Gaussian clusters
(as in the benchmark "factored"), and "noisy", in which a fifth of those labels is drawn at random, so
that nearly no two objects agree in all. DyadicAspect works on all pairs of different rows of labels,
so on fewer objects where those are many; the chain of NonparametricBayesianEnsemble makes 500 sweeps, so on fewer too. Beside QMI: the same
criterion by scikit-learn's k-means on the indicator matrix, with one start where QMI has ten.
The last lines are each of a process of its own that loads a million rows of labels and fits; --million: no
others.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import conclust
from benchmarks.factored import make_labels
from benchmarks.timing import median, memory_of
from conclust import Ensemble

N, M, K = 100_000, 20, 5
SOME = 3_000
# Name, objects, and the CPU seconds that are allowed.
METHODS: tuple[tuple[str, int, float | None], ...] = (
    ("QMI", N, 2.0),
    ("InformationTheoreticKMeans", N, 2.0),
    ("KCC", N, 2.0),
    ("SEC", N, 2.0),
    ("MixtureModel", N, 4.0),
    ("BayesianEnsemble", N, 4.0),
    ("LeftStochastic", N, 4.0),
    ("FuzzyCommunities", N, None),
    ("FuzzyRows", N, None),
    ("DyadicAspect", SOME, None),
    ("NonparametricBayesianEnsemble", 10_000, None),
)


def noisy(labels: NDArray[np.uint8], share: float = 0.2) -> NDArray[np.uint8]:
    """Draw a share of the labels anew, from those that the partition gives."""
    rng = np.random.default_rng(0)
    changed = labels.copy()
    for column in changed.T:
        drawn = np.flatnonzero(rng.random(len(column)) < share)
        column[drawn] = column[rng.integers(0, len(column), len(drawn))]
    return Ensemble(changed).codes


def main(repeats: int = 3) -> None:
    points = make_labels(N, M)
    for kind, labels in (("points", points), ("noisy", noisy(points))):
        different = len(Ensemble(labels).distinct_rows())
        print(
            f"{kind}: {N:,} objects x {M}, {different:,} different rows, K = {K}, median of {repeats}"
        )
        print(f"{'':<32} {'objects':>8} {'CPU s':>7} {'allowed':>8} {'iterations':>11}")
        for name, n, allowed in METHODS:
            whole = n == N or (name == "DyadicAspect" and different <= SOME)
            part = labels if whole else Ensemble(labels[:n]).codes
            estimator = getattr(conclust, name)
            model = estimator(random_state=0)
            if name != "NonparametricBayesianEnsemble":
                model.set_params(n_clusters=K)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                cpu = median(lambda: model.fit(part), repeats).cpu  # noqa: B023
            limit = "" if allowed is None else f"{allowed:g}"
            print(f"{name:<32} {len(part):>8,} {cpu:>7.2f} {limit:>8} {model.n_iter_:>11}")
        B = Ensemble(labels).indicator.toarray().astype(np.float32)
        lloyd = KMeans(K, n_init=1, random_state=0)
        cpu = median(lambda: lloyd.fit(B), repeats).cpu  # noqa: B023
        print(
            f"{'scikit-learn KMeans, one start':<32} {N:>8,} {cpu:>7.2f} {'':>8} {lloyd.n_iter_:>11}"
        )
    million()


def million() -> None:
    """Fit a million objects: seconds, and memory."""
    for kind in ("points", "noisy"):
        labels = make_labels(10 * N, M)
        labels = noisy(labels) if kind == "noisy" else labels
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "labels.npy"
            np.save(path, labels)
            for name in ("QMI", "KCC", "SEC"):
                _, peak, (wall, cpu) = memory_of(
                    "import numpy as np\nimport conclust\nfrom benchmarks.timing import timed\n"
                    f"labels = np.load(sys.argv[1])\nmodel = conclust.{name}({K}, random_state=0)",
                    "seconds = timed(lambda: model.fit(labels))\n"
                    "print(seconds.wall, seconds.cpu, end=' ')",
                    str(path),
                )
                print(
                    f"{name}, {kind}, {len(labels):,} x {M}: {wall:.1f} s, {cpu:.1f} CPU s (allowed: "
                    f"15), peak {peak:.0f} MB (allowed: 1500)"
                )


if __name__ == "__main__":
    million() if "--million" in sys.argv[1:] else main()
