"""The greedy solver on sampled pairs: nanoseconds a pair visit, time and objective to convergence.

python -m benchmarks.greedy [n_samples]

The papers' large setting: 120,000 objects in 100 partitions of which each observed half, 1.8 million
sampled pairs, 3 and 10 clusters. Labels as in benchmarks.factored. Beside it the pairwise solver on
the same evidence, from the same start (the least-squares solution moved inside the simplex) and with
its defaults, and greedy from a random start as the papers have it. A step visits the pairs of one
object: when it moves (ns/pair: all time by these visits alone), and in each evaluation of the line
search (ns/visit: by both).
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from benchmarks.factored import make_labels
from benchmarks.timing import timed
from conclust import Ensemble
from conclust._kernels import GreedySolver, PairCounts
from conclust.consensus.papers.probabilistic import descent
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Solution, Stopping
from conclust.consensus.papers.probabilistic.search import starts
from conclust.consensus.papers.probabilistic.search.starts import inside
from conclust.consensus.papers.probabilistic.solvers.factored import Factored
from conclust.divergences import Divergence, kl, l2
from conclust.evidence import SparseEvidence, sample_pairs

N, M, PER_OBJECT = 120_000, 100, 15
# Steps per object and cluster; it goes on until it has converged.
CHECKPOINTS = (1.0, 2.0, 3.0, 5.0, 50.0)
TOL = 1e-5


def make_ensemble(n: int = N, m: int = M) -> Ensemble:
    """Half of all labels missing."""
    labels = make_labels(n, m).astype(np.int16)
    labels[np.random.default_rng(0).random(labels.shape) < 0.5] = -1
    return Ensemble(labels)


def run_greedy(
    sample: SparseEvidence, Y0: NDArray[np.float64], divergence: Divergence, name: str
) -> None:
    n, k = Y0.shape
    kernel = divergence._kernel
    assert kernel is not None
    pairs = PairCounts(sample.counts, sample.copresence, sample.indptr, sample.indices)
    for steps in CHECKPOINTS:
        most = int(steps * n * k)
        solver = GreedySolver(pairs, Y0, kernel.code, kernel.parameter, None, TOL, most)
        seconds = timed(lambda: finish(solver))  # noqa: B023
        _, objective, residual = solver.trace[-1]
        print(
            f"{name:<28} {solver.steps / n / k:>8.2f} {seconds.cpu:>8.2f} "
            f"{seconds.cpu / solver.visits * 1e9:>9.1f} "
            f"{seconds.cpu / (solver.visits + solver.evaluations) * 1e9:>9.1f} "
            f"{objective:>14.1f} {residual:>10.1e}",
            flush=True,
        )
        if residual <= TOL:
            break


def finish(solver: GreedySolver) -> None:
    while not solver.run(10_000_000):
        pass


def run_pairwise(sample: SparseEvidence, Y0: NDArray[np.float64], divergence: Divergence) -> None:
    found: list[Solution] = []
    seconds = timed(lambda: found.append(descent.descend(sample, Y0, divergence, Stopping())))
    print(
        f"{divergence.name + ', pairwise':<28} {'':>8} {seconds.cpu:>8.2f} {'':>9} {'':>9} "
        f"{found[0].objective:>14.1f} {found[0].residual:>10.1e}  {found[0].n_iter} sweeps"
    )


def least_squares(ensemble: Ensemble, k: int) -> Solution:
    run = Run(np.random.SeedSequence(0))
    return Factored(counted=0).solve(Problem(ensemble, k, l2), None, Stopping(), run)


def compare(ensemble: Ensemble, sample: SparseEvidence, k: int) -> None:
    print(f"\nK = {k}")
    print(
        f"{'':<28} {'steps/nK':>8} {'CPU s':>8} {'ns/pair':>9} {'ns/visit':>9} {'objective':>14} {'residual':>10}"
    )
    found: list[Solution] = []
    seconds = timed(lambda: found.append(least_squares(ensemble, k)))
    print(f"{'least squares, all pairs':<28} {'':>8} {seconds.cpu:>8.2f}")
    start = inside(found[0].membership)
    random = starts.random_membership(ensemble.n_samples, k, np.random.default_rng(0))
    for divergence in (l2, kl):
        run_pairwise(sample, start, divergence)
        run_greedy(sample, start, divergence, f"{divergence.name}, greedy, same start")
        run_greedy(sample, random, divergence, f"{divergence.name}, greedy, random start")


def main(n: int = N) -> None:
    ensemble = make_ensemble(n)
    sample = sample_pairs(ensemble, PER_OBJECT, random_state=0)
    print(
        f"{n:,} objects, {sample.n_pairs:,} pairs. Greedy's seconds hold both passes from scratch, at "
        "the start and at the end."
    )
    for k in (3, 10):
        compare(ensemble, sample, k)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else N)
