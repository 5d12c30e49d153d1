"""Landmarks against sampled pairs: time, and the loss on pairs that neither has seen.

python -m benchmarks.landmark [n_samples]

A million objects in 100 partitions, 8 clusters, Kullback-Leibler: k-means-like labels, complete and half of
them missing, and planted clusters with three of ten labels at random, where no two rows are equal. The loss is the mean over held-out
pairs of N_ij d(c_ij / N_ij, y_i'y_j); each membership is smoothed by the one of four shares of the
uniform that is best for it, so that one pair with probability 0 does not decide.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.factored import make_labels, planted_labels
from benchmarks.greedy import least_squares
from benchmarks.timing import timed
from conclust import Ensemble
from conclust.consensus.papers.probabilistic import descent
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Stopping
from conclust.consensus.papers.probabilistic.search.starts import inside
from conclust.consensus.papers.probabilistic.solvers.landmark import Landmark
from conclust.divergences import kl
from conclust.evidence import pair_counts, sample_pairs

N, M, K = 1_000_000, 100, 8
HELD_OUT = 1_000_000
SHARES = (0.0, 1e-4, 1e-3, 1e-2)


class HeldOut:
    """Pairs drawn anew, and the loss on them."""

    def __init__(self, ensemble: Ensemble) -> None:
        rng = np.random.default_rng(99)
        n = ensemble.n_samples
        self.i = rng.integers(0, n, HELD_OUT)
        self.j = (self.i + rng.integers(1, n, HELD_OUT)) % n
        c, present = pair_counts(ensemble, self.i, self.j)
        self.c, self.present = c.astype(np.float64), present.astype(np.float64)

    def loss(self, Y: NDArray[np.float64]) -> float:
        """Return the mean loss at the best of the shares."""
        known = self.present > 0
        p = self.c[known] / self.present[known]
        a = np.einsum("ij,ij->i", Y[self.i[known]], Y[self.j[known]])
        k = Y.shape[1]
        losses = []
        for share in SHARES:
            # Inner products of rows (1 - s) y + s / k.
            smooth = (1 - share) ** 2 * a + (1 - (1 - share) ** 2) / k
            q = np.clip(smooth, 1e-12, 1 - 1e-12)
            losses.append(float(self.present[known] @ kl.value(p, q)) / int(known.sum()))
        return min(losses)


def main(n: int = N) -> None:
    for missing in (0.0, 0.5):
        labels = make_labels(n, M).astype(np.int16)
        labels[np.random.default_rng(0).random(labels.shape) < missing] = -1
        print(f"\n{n:,} objects x {M} partitions, {missing:.0%} missing, K = {K}, one thread")
        compare(Ensemble(labels))
    print(f"\n{n:,} objects x {M} partitions, planted clusters, 30% at random, K = {K}, one thread")
    compare(Ensemble(planted_labels(n, M)))


def compare(ensemble: Ensemble) -> None:
    held = HeldOut(ensemble)
    print(f"{'':<44} {'CPU s':>8} {'held-out loss':>14}")

    def row(name: str, run: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        found: list[NDArray[np.float64]] = []
        seconds = timed(lambda: found.append(run()))
        print(f"{name:<44} {seconds.cpu:>8.1f} {held.loss(found[0]):>14.4f}", flush=True)
        return found[0]

    def sampled() -> NDArray[np.float64]:
        sample = sample_pairs(ensemble, 15, random_state=0, n_jobs=1)
        return descent.descend(sample, inside(first), kl, Stopping()).membership

    def landmarks(count: int, prototypes: int) -> NDArray[np.float64]:
        problem, run = Problem(ensemble, K, kl), Run(np.random.SeedSequence(0))
        return Landmark(count, prototypes).solve(problem, None, Stopping(), run).membership

    first = row("l2, all pairs", lambda: least_squares(ensemble, K).membership)
    row("kl, 30 sampled pairs an object, from that", sampled)
    for count, prototypes in ((2000, 128), (2000, 32), (1000, 128), (2000, 2000)):
        # What pooling costs shows on fewer objects.
        if prototypes < count or ensemble.n_samples <= 100_000:
            name = f"kl, {count} landmarks in {prototypes} prototypes"
            row(name, lambda: landmarks(count, prototypes))  # noqa: B023


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else N)
