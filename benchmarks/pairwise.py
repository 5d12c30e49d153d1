"""The pairwise solver against greedy: what each needs to come as near to converged greedy.

python -m benchmarks.pairwise            (--quick: smaller, half a minute)

Kullback-Leibler, CPU seconds on one core. First each in its own way: greedy from a random start, as
the papers have it; the pairwise solver from the least-squares solution moved inside the simplex, the
seconds of that start included. Then both from that same start, which neither has to pay for.

Greedy is stopped now and then to see how far it is: its seconds are those to the first such moment
within the share of where it ends. The pairwise solver is run at ever smaller tolerances: its seconds
are those of the first run within the share. Labels as in benchmarks.factored.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.factored import make_labels
from benchmarks.greedy import PER_OBJECT, least_squares, make_ensemble
from benchmarks.timing import timed
from conclust import Ensemble
from conclust._kernels import GreedySolver
from conclust.consensus.probabilistic import factored, pairwise
from conclust.consensus.probabilistic.pairwise import PairEvidence
from conclust.consensus.probabilistic.solution import PairSolution
from conclust.consensus.probabilistic.starts import inside
from conclust.divergences import Divergence, kl
from conclust.evidence import SparseEvidence, evidence, sample_pairs

# Greedy stops for a look after so many steps per object and cluster.
LOOKS = 0.1
TOL = 1e-5
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


@dataclass(frozen=True)
class Look:
    """Where a solver was after some CPU seconds."""

    seconds: float
    objective: float


def follow_greedy(known: PairEvidence, Y0: NDArray[np.float64]) -> tuple[list[Look], float]:
    """Run greedy to its end; return looks on the way and nanoseconds a visit of a pair."""
    n, k = Y0.shape
    kernel = kl._kernel
    assert kernel is not None
    if isinstance(known, SparseEvidence):
        arrays = (known.counts, known.copresence, known.indptr, known.indices)
        partners = len(known.indices) / n
    else:
        arrays = (*known, None, None)
        partners = n - 1
    looks, seconds = [], 0.0
    begun = time.process_time()
    solver = GreedySolver(*arrays, Y0, kernel.code, kernel.parameter, TOL, 100 * n * k)
    seconds = time.process_time() - begun
    work = pairwise._Work(known, Y0, kl)
    Y, gradients = np.empty_like(Y0), np.empty_like(Y0)
    ended = False
    while not ended:
        begun = time.process_time()
        ended = solver.run(int(LOOKS * n * k * partners))
        seconds += time.process_time() - begun
        solver.read(Y, gradients)
        work.Y[:, :k] = Y
        work.solver.take(work.Y)
        looks.append(Look(seconds, work.objective()))
    return looks, seconds / solver.visits * 1e9


class Race:
    """Greedy's way to its end, and the pairwise solver's to within a share of there."""

    def __init__(
        self, name: str, known: PairEvidence, greedy_start: NDArray[np.float64], share: float
    ) -> None:
        looks, visit = follow_greedy(known, greedy_start)
        self.known, self.share, self.end = known, share, looks[-1].objective
        near = next(look for look in looks if self.within(look.objective))
        self.greedy = near.seconds
        print(f"\n{name}: greedy {visit:.1f} ns a pair visit")
        print(f"{'':<44} {'CPU s':>8} {'objective':>16} {'above the end':>14} {'times':>7}")
        self.row("greedy to its end", looks[-1])
        self.row(f"greedy to within {share:g} of it", near)

    def within(self, objective: float) -> bool:
        """Whether an objective is near enough to greedy's last."""
        return objective <= (1 + self.share) * self.end

    def row(self, what: str, look: Look) -> None:
        """Print where a solver was."""
        above = look.objective / self.end - 1
        faster = self.greedy / look.seconds
        print(
            f"{what:<44} {look.seconds:>8.2f} {look.objective:>16.3f} {above:>14.1e} {faster:>7.1f}",
            flush=True,
        )

    def run(self, Y0: NDArray[np.float64], before: float) -> None:
        """Let the pairwise solver run, after `before` seconds for its start."""
        for tol in TOLERANCES:
            seconds, found = run_pairwise(self.known, Y0, kl, tol)
            what = f"pairwise, tol={tol:g}: {found.n_iter} sweeps"
            what += f" after {before:.2f} s" * (before > 0)
            self.row(what, Look(before + seconds, found.objective))
            if self.within(found.objective):
                return


def run_pairwise(
    known: PairEvidence, Y0: NDArray[np.float64], divergence: Divergence, tol: float
) -> tuple[float, PairSolution]:
    """Return the CPU seconds and the solution."""
    found: list[PairSolution] = []
    how = {"max_iter": 500, "tol": tol, "tol_kkt": 1e-8}
    seconds = timed(lambda: found.append(pairwise.solve(known, Y0, divergence, **how)))
    return seconds.cpu, found[0]


def compare_with_own(known: PairEvidence, Y0: NDArray[np.float64]) -> None:
    """Print what the same divergence costs when it is the user's."""
    own = Divergence(kl.value, kl.derivative, kl.curvature, name="own")
    built_in, first = run_pairwise(known, Y0, kl, TOL)
    mine, second = run_pairwise(known, Y0, own, TOL)
    apart = abs(second.objective / first.objective - 1)
    print(
        f"KL as the user's own: {mine / built_in:.1f} times as long, objectives {apart:.0e} apart"
    )


def race(name: str, ensemble: Ensemble, known: PairEvidence, k: int, share: float) -> None:
    """Run both, from their own starts and from one."""
    found: list[NDArray[np.float64]] = []
    before = timed(lambda: found.append(inside(least_squares(ensemble, k).membership)))
    start = found[0]
    random = factored.random_membership(ensemble.n_samples, k, np.random.default_rng(0))
    print(f"\n{name}, K = {k}")
    Race("own starts", known, random, share).run(start, before.cpu)
    Race("one start", known, start, share).run(start, 0.0)
    compare_with_own(known, start)


def dense(n: int, k: int) -> None:
    """All pairs of few objects."""
    ensemble = Ensemble(make_labels(n, 100))
    race(f"All pairs of {n:,} objects", ensemble, evidence(ensemble, n_jobs=1), k, 1e-3)


def sampled(n: int, k: int) -> None:
    """A sample of the pairs of many objects, half of their labels missing."""
    ensemble = make_ensemble(n)
    known = sample_pairs(ensemble, PER_OBJECT, random_state=0, n_jobs=1)
    race(f"{known.n_pairs:,} pairs of {n:,} objects", ensemble, known, k, 1e-5)


def main(quick: bool = False) -> None:
    dense(1000 if quick else 2000, 8)
    for k in (3, 10):
        sampled(12_000 if quick else 120_000, k)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
