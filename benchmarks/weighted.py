"""WeightedPCC beside PCC on the same labels: seconds, rounds, cost of a round against a sweep.

python -m benchmarks.weighted

The labels are made as for the benchmark of the factored solver (k-means-like partitions of overlapping
Gaussian clusters), with the last fifth of the partitions replaced by random ones; with complete
labels, and with half of them missing.
"""

from __future__ import annotations

import numpy as np

from benchmarks.factored import make_labels
from benchmarks.timing import timed
from conclust import PCC, Ensemble, WeightedPCC, corrupt

N, M, K = 100_000, 100, 8


def main() -> None:
    clean = Ensemble(make_labels(N, M))
    spoilt, where = corrupt(clean, 0.2, random_state=0, return_indices=True)
    rng = np.random.default_rng(0)
    halves = Ensemble(np.where(rng.random((N, M)) < 0.5, -1, spoilt.labels))
    print(f"{N:,} objects, {M} partitions of which 20 % random, K = {K}, one thread")
    print(f"{'':<32} {'wall s':>8} {'CPU s':>8} {'rounds':>7} {'random weight':>14}")
    for name, ensemble in (("complete", spoilt), ("half missing", halves)):
        plain = PCC(K, divergence="l2", random_state=0, n_jobs=1)
        taken = timed(lambda: plain.fit(ensemble))  # noqa: B023
        print(f"{'PCC l2, ' + name:<32} {taken.wall:>8.2f} {taken.cpu:>8.2f} {plain.n_iter_:>7}")
        for regularization in ("simplex", "l2"):
            model = WeightedPCC(K, regularization=regularization, random_state=0, n_jobs=1)
            taken = timed(lambda: model.fit(ensemble))  # noqa: B023
            weight = model.weights_[where].sum()
            print(
                f"{f'WeightedPCC {regularization}, {name}':<32} {taken.wall:>8.2f} "
                f"{taken.cpu:>8.2f} {model.n_iter_:>7} {weight:>14.1e}"
            )


if __name__ == "__main__":
    main()
