"""Methods that need no pairs: seconds and memory at 100,000 and 1,000,000 objects in 20 partitions.

python -m benchmarks.consensus

The labels are made as for the benchmark of the factored solver (k-means-like partitions of overlapping
Gaussian clusters), K = 5. Every fit runs in a process of its own that holds the labels (one byte
each) and does nothing else. At 100,000 its second fit is timed: the first one loads modules. The
peak memory is taken of the process; "agreement" is the mean NMI of the consensus with the partitions,
on 10,000 objects. Beside HBGF stands scikit-learn's spectral co-clustering of the same objects and
clusters, which cuts the same graph.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.factored import make_labels
from benchmarks.timing import memory_of

M, K = 20, 5
# n -> the estimators that run, with the CPU seconds that each may take.
RUNS: dict[int, tuple[tuple[str, float | None], ...]] = {
    100_000: (
        ("HBGF({k}, random_state=0)", 2.0),
        ("MCLA({k}, random_state=0)", 2.0),
        ("Voting({k}, random_state=0)", 2.0),
        ("CumulativeVoting({k})", 2.0),
        ("CSPA({k}, pairs=20, random_state=0, n_jobs=1)", None),
        ("MedianPartition(random_state=0)", None),
    ),
    1_000_000: (("HBGF({k}, random_state=0)", 15.0), ("Voting({k}, random_state=0)", 15.0)),
}

PREPARE = """
import warnings
import numpy as np
from benchmarks.timing import timed
from conclust import *
from conclust.metrics import normalized_mutual_information
labels = np.load(sys.argv[1])
n = len(labels)
"""
FIT = """
model = {model}
if n <= 100_000:
    model.fit(labels)
seconds = timed(lambda: model.fit(labels))
some = slice(None, None, max(1, n // 10_000))
agreement = np.mean([normalized_mutual_information(model.labels_[some], u) for u in labels[some].T])
print(seconds.wall, seconds.cpu, model.n_clusters_, agreement, end=" ")
"""
COCLUSTERING = """
from sklearn.cluster import SpectralCoclustering
warnings.simplefilter("ignore")
class Model:
    def fit(self, labels):
        found = SpectralCoclustering({k}, random_state=0).fit(Ensemble(labels).indicator)
        self.labels_ = found.row_labels_
        self.n_clusters_ = len(np.unique(self.labels_))
"""


def main() -> None:
    for n, runs in RUNS.items():
        labels = make_labels(n, M)
        print(f"\n{n:,} objects x {M} partitions, K = {K}; labels {labels.nbytes / 2**20:.0f} MB")
        print(
            f"{'':<48} {'wall s':>7} {'CPU s':>7} {'asked':>6} {'MB':>6} {'clusters':>8} "
            f"{'agreement':>9}"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "labels.npy"
            np.save(path, labels)
            for model, asked in runs:
                row(model.format(k=K), PREPARE, FIT.format(model=model.format(k=K)), asked, path)
            if n <= 100_000:
                prepare = PREPARE + COCLUSTERING.format(k=K)
                row(
                    "scikit-learn: SpectralCoclustering",
                    prepare,
                    FIT.format(model="Model()"),
                    None,
                    path,
                )


def row(name: str, prepare: str, run: str, asked: float | None, labels: Path) -> None:
    _, peak, (wall, cpu, clusters, agreement) = memory_of(prepare, run, str(labels))
    limit = "-" if asked is None else f"{asked:.0f}"
    print(
        f"{name:<48} {wall:>7.2f} {cpu:>7.2f} {limit:>6} {peak:>6.0f} {clusters:>8.0f} "
        f"{agreement:>9.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
