"""CSPA and METIS on planted ensembles of many kinds: CPU seconds, cuts and adjusted Rand indices.

python -m benchmarks.cuts [ENSEMBLES]    # in the environment of make peers

Ensemble number s has 1,000, 1,500 or 2,000 objects, 3, 5, 7 or 10 clusters of equal or of different probabilities, 10 or
20 partitions of as many or twice as many clusters, and 20 to 70 % of the labels at random. METIS cuts the
co-association as in ``benchmarks.peers``. One thread each.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.peers import metis
from benchmarks.timing import timed
from conclust import CSPA, coassociation
from conclust.metrics import adjusted_rand_index

Labels = NDArray[np.int64]


def ensemble(seed: int) -> tuple[Labels, Labels, int]:
    """Return the labels, the planted clusters and their number."""
    rng = np.random.default_rng(seed)
    n, k, m = (1000, 1500, 2000)[seed % 3], (3, 5, 10, 7)[seed % 4], (10, 20)[seed % 2]
    wrong = (0.2, 0.4, 0.5, 0.6, 0.7)[seed % 5]
    truth = rng.choice(k, n, p=np.full(k, 1 / k) if seed % 3 else rng.dirichlet(np.full(k, 8)))
    halves = 1 + seed // 2 % 2
    right = truth[:, np.newaxis] * halves + rng.integers(0, halves, (n, m))
    at_random = rng.integers(0, k * halves, (n, m))
    return np.where(rng.random((n, m)) < wrong, at_random, right), truth, k


def main(ensembles: int = 80) -> None:
    rows = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for seed in range(ensembles):
            labels, truth, k = ensemble(seed)
            rows.append((len(labels), k, labels.shape[1], *_pair(labels, truth, k, seed)))
    table = np.array(rows)
    times, cuts, right = table[:, 3], table[:, 4], table[:, 5:]
    large, slower = table[:, 0] == 2000, times < 1
    print(f"METIS takes {np.median(times):.2f} times the CPU seconds of CSPA (median)")
    print(
        f"at 2,000 objects {np.median(times[large]):.2f}; at least twice in {np.mean(times[large] >= 2):.0%}"
    )
    print(f"less in {slower.sum()}: {times[slower].min(initial=1):.2f} times at least")
    print(
        f"its cut is {cuts.mean():.4f} times CSPA's, ARI {right[:, 1].mean():.4f} ({right[:, 0].mean():.4f})"
    )


def _pair(labels: Labels, truth: Labels, k: int, seed: int) -> tuple[float, float, float, float]:
    """Return seconds and cut of METIS as multiples of CSPA's, and the ARI of CSPA and METIS."""
    found: list[Labels] = []

    def ours() -> None:
        found.append(CSPA(k, random_state=seed, n_jobs=1).fit(labels).labels_)

    def theirs() -> None:
        counts = coassociation(labels, n_jobs=1)
        np.fill_diagonal(counts, 0)
        found.append(metis(sp.csr_array(counts), k))

    seconds = [timed(way).cpu for way in (ours, theirs)]
    counts = coassociation(labels)
    cuts = [float(counts[part[:, None] != part].sum()) for part in found]
    right = [
        float(adjusted_rand_index(truth, np.unique(part, return_inverse=True)[1])) for part in found
    ]
    return seconds[1] / seconds[0], cuts[1] / cuts[0], right[0], right[1]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
