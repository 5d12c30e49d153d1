"""The pairwise solver against greedy: what each needs to come as near to converged greedy.

python -m benchmarks.pairwise            (--quick: smaller, under a minute)

Kullback-Leibler, CPU seconds on one core. First each in its own way: greedy from a random start, as
the papers have it; the pairwise solver from PCC's own start, the least-squares solution moved inside
the simplex, the seconds of that start included. Then both from that same start, which neither has to
pay for.

Greedy is stopped now and then to see how far it is; it is compared at the first such moment within the
share of where it ends, and at its end. It visits the pairs of an object when the object moves and in each
evaluation of the line search, as in benchmarks.greedy. The pairwise solver is run for 1, 2, 3 ... sweeps,
from ten on in steps of a tenth, each time from the start again, until it is within the share or at an
end of its own. Its seconds are the seconds of the last run, its final work included. Greedy has no use
for a second thread; the pairwise solver is also timed on two. Then its default run on one thread and on
two, wall seconds, and the user's own KL beside the built-in one. Labels as in benchmarks.factored.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.factored import make_labels
from benchmarks.greedy import PER_OBJECT, make_ensemble
from benchmarks.timing import Seconds, median, timed
from conclust import Ensemble
from conclust._kernels import GreedySolver, PairCounts
from conclust.consensus.papers.probabilistic import descent
from conclust.consensus.papers.probabilistic.problem import (
    PairEvidence,
    Problem,
    Run,
    Solution,
    Stopping,
)
from conclust.consensus.papers.probabilistic.search import starts
from conclust.consensus.papers.probabilistic.search.starts import inside
from conclust.consensus.papers.probabilistic.solvers.factored import near_solution
from conclust.divergences import Divergence, kl, l2
from conclust.evidence import SparseEvidence, evidence, sample_pairs

# Greedy stops for a look after this number of steps per object and cluster.
LOOKS = 0.1
TOL = 1e-5
MOST_SWEEPS = 200
REPEATS = 3


@dataclass(frozen=True)
class Look:
    """Where a solver was after some CPU seconds."""

    seconds: float
    objective: float


def follow_greedy(known: PairEvidence, Y0: NDArray[np.float64]) -> tuple[list[Look], str]:
    """Run greedy to its end; return looks on the way, and nanoseconds a visit of a pair in words."""
    n, k = Y0.shape
    kernel = kl._kernel
    assert kernel is not None
    if isinstance(known, SparseEvidence):
        pairs = PairCounts(known.counts, known.copresence, known.indptr, known.indices)
        partners = len(known.indices) / n
    else:
        pairs = PairCounts(*known)
        partners = n - 1
    looks, seconds = [], 0.0
    begun = time.process_time()
    solver = GreedySolver(pairs, Y0, kernel.code, kernel.parameter, None, TOL, 100 * n * k)
    seconds = time.process_time() - begun
    work = descent._Work(known, Y0, kl)
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
    moves, all_visits = solver.visits, solver.visits + solver.evaluations
    pace = (
        f"{seconds / all_visits * 1e9:.1f} ns a visit ({seconds / moves * 1e9:.1f} by moves alone)"
    )
    return looks, pace


class Race:
    """Greedy's way to its end, and the pairwise solver's to within a share of there."""

    def __init__(
        self, name: str, known: PairEvidence, greedy_start: NDArray[np.float64], share: float
    ) -> None:
        looks, pace = follow_greedy(known, greedy_start)
        self.known, self.share, self.end = known, share, looks[-1]
        self.near = next(look for look in looks if self.within(look.objective))
        print(f"\n{name}: greedy {pace}; times are to within {share:g} of its end, and to its end")
        print(f"{'':<40} {'CPU s':>8} {'objective':>16} {'above end':>10} {'times':>7} {'end':>7}")
        self.row("greedy to its end", self.end)
        self.row(f"greedy to within {share:g} of it", self.near)

    def within(self, objective: float) -> bool:
        """Whether an objective is near enough to greedy's last."""
        return objective <= (1 + self.share) * self.end.objective

    def row(self, what: str, look: Look) -> None:
        """Print where a solver was, and how many times longer greedy took."""
        above = look.objective / self.end.objective - 1
        print(
            f"{what:<40} {look.seconds:>8.2f} {look.objective:>16.3f} {above:>10.1e} "
            f"{self.near.seconds / look.seconds:>7.1f} {self.end.seconds / look.seconds:>7.1f}",
            flush=True,
        )

    def run(
        self,
        Y0: NDArray[np.float64],
        before: float = 0.0,
        begin: Callable[[int], NDArray[np.float64]] | None = None,
    ) -> None:
        """Let the pairwise solver run, after `before` seconds for its start.

        `begin` makes this start on a given number of threads: both are then timed on two as well.
        """
        sweeps, near, ended = 0, False, False
        while not (near or ended):
            sweeps = max(sweeps + 1, round(1.1 * sweeps))
            seconds, found = run_pairwise(self.known, Y0, kl, max_iter=sweeps, tol=1e-8)
            near, ended = self.within(found.objective), found.n_iter < sweeps
        what = (
            f"pairwise{'' if near else ' to its end'}: {found.n_iter} sweeps"
            + f" after {before:.2f} s" * (before > 0)
        )
        self.row(what, Look(before + seconds.cpu, found.objective))
        if begin is not None:
            until = Stopping(sweeps, 1e-8, 1e-8)
            both = median(
                lambda: descent.descend(self.known, begin(2), kl, until, threads=2), REPEATS
            )
            self.row("the same on two threads, wall s", Look(both.wall, found.objective))


def run_pairwise(
    known: PairEvidence,
    Y0: NDArray[np.float64],
    divergence: Divergence,
    *,
    max_iter: int = MOST_SWEEPS,
    tol: float = TOL,
) -> tuple[Seconds, Solution]:
    """Return the seconds on one thread and the solution."""
    found: list[Solution] = []
    until = Stopping(max_iter, tol, 1e-8)
    seconds = timed(lambda: found.append(descent.descend(known, Y0, divergence, until)))
    return seconds, found[0]


def compare_threads(known: PairEvidence, Y0: NDArray[np.float64]) -> None:
    """Print the wall seconds of the default run on one thread and on two, which give the same bits."""
    until = Stopping(MOST_SWEEPS, TOL, 1e-8)
    one, two = (
        median(lambda: descent.descend(known, Y0, kl, until, threads=threads), REPEATS)  # noqa: B023
        for threads in (1, 2)
    )
    print(
        f"the default run: {one.wall:.2f} s on one thread, {two.wall:.2f} s on two (CPU {one.cpu:.2f}, "
        f"{two.cpu:.2f}): {one.wall / two.wall:.2f} times as fast"
    )


def compare_with_own(known: PairEvidence, Y0: NDArray[np.float64]) -> None:
    """Print what the same divergence costs when it is the user's."""
    own = Divergence(kl.value, kl.derivative, kl.curvature, name="own")
    built_in, first = run_pairwise(known, Y0, kl)
    mine, second = run_pairwise(known, Y0, own)
    apart = abs(second.objective / first.objective - 1)
    print(
        f"KL as the user's own: {mine.cpu / built_in.cpu:.1f} times as long, objectives {apart:.0e} apart"
    )


def race(name: str, ensemble: Ensemble, known: PairEvidence, k: int, share: float) -> None:
    """Run both, from their own starts and from one."""
    problem = Problem(ensemble, k, l2)

    def begin(threads: int) -> NDArray[np.float64]:
        return inside(near_solution(problem, Run(np.random.SeedSequence(0), threads=threads)))

    start = begin(1)
    before = median(lambda: begin(1), REPEATS)
    random = starts.random_membership(ensemble.n_samples, k, np.random.default_rng(0))
    print(f"\n{name}, K = {k}")
    Race("own starts", known, random, share).run(start, before.cpu, begin)
    Race("one start", known, start, share).run(start)
    compare_threads(known, start)
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
