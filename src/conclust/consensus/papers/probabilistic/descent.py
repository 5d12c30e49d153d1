"""The pairwise solver: block coordinate descent over the objects, for any divergence.

The mathematics and the kernel are in ``_kernels/pair_objective/pairwise/solver.h``. This module decides
the order of the visits, how many are made at once and when to stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import PairCounts, PairwiseSolver
from conclust._types import Floats, Ints
from conclust.consensus.papers.probabilistic.placements.factored_model import padded
from conclust.consensus.papers.probabilistic.problem import (
    PairEvidence,
    Problem,
    Report,
    Run,
    Solution,
    Stopping,
    silent,
)
from conclust.divergences import Divergence
from conclust.evidence import SparseEvidence
from conclust.evidence.dense import unsigned

# Number of entries of evidence visited between checks for Ctrl-C: some tenths of a second.
_AT_ONCE = 1 << 25
# From this number of objects on, a sweep is cut into slots (Jacobi batches): the objects of a slot move at
# the same time, each against the others as they were. A slot has 1/32 of the objects, in short runs from
# all over the order.
_MANY = 1000
_SLOTS = 32
_RUN = 8
# With fewer entries of evidence a sweep takes a few milliseconds; on a busy machine, threads that
# wait for each other then cost more time than they save.
_FEW_ENTRIES = 1 << 20
# f may seem to rise by this share, through rounding.
_ROUNDING = 1e-12
# After the sweeps, objects whose gap exceeds this multiple of the median are finished one by one.
_STUCK = 20.0
_FINISHES = 5
# After every fourth sweep a longer step in the direction of the last one is tried. Its length is
# the sum of all later steps if each shrinks by the same factor, which is limited to _MOST_SHRINK.
_LEAP_EVERY = 4
_MOST_SHRINK = 0.95
# f is next to 0 below this value per observation of a pair. Copies of one soft partition have an f of 0, which sweeps
# only approach.
_NEGLIGIBLE = 1e-4
# Overhead of a call of the kernel, in multiplications and additions: most of the cost for few objects.
_CALL = 150_000


def descend(
    evidence: PairEvidence,
    Y0: Floats,
    divergence: Divergence,
    stopping: Stopping,
    *,
    threads: int = 1,
    report: Report = silent,
) -> Solution:
    """Minimise f(Y) = sum over pairs of N_ij d(c_ij / N_ij, y_i'y_j) from Y0.

    Ends when a sweep over all objects lowers f by less than ``stopping.tol`` of it (of `negligible`, if that is more), or
    when no gap met in it is above ``stopping.tol_kkt``. Now and then the step of a whole sweep is tried at greater length. Objects that are stuck are
    then finished, largest gap first. f is computed, and stored in the trace, at the start, at every fourth sweep and at
    the end. It never rises there: if moving many objects at the same time raised it, they return to the last such point
    and move one by one from then on. `Y0` should lie inside the simplex unless the divergence is l2
    (``starts.inside``).

    Parameters
    ----------
    evidence : SparseEvidence or DenseEvidence
        c and N of the pairs that count.
    Y0 : ndarray of shape (n_samples, K)
        Starting membership.
    divergence : Divergence
        d.
    stopping : Stopping
        When to stop.
    threads : int, default=1
        The result does not depend on it.
    report : callable
        Takes lines of progress.
    """
    tol, tol_kkt, max_iter = stopping.tol, stopping.tol_kkt, stopping.max_iter
    work = _Work(evidence, Y0, divergence, threads)
    f = work.objective()
    trace = [(f, np.nan)]
    compared_f, compared_Y = f, work.Y.copy()  # after the same sweeps for every divergence
    converged, n_iter, last = False, 0, np.inf
    least = negligible(evidence, divergence)
    while n_iter < max_iter and not converged:
        n_iter += 1
        leap = n_iter % _LEAP_EVERY == 0
        before_sweep = work.Y.copy() if leap else work.Y
        enough = tol * max(compared_f, least)
        largest_gap, about = work.visit(work.everyone, 0.1 * tol_kkt, enough / work.n, work.slot)
        converged = about <= enough or largest_gap <= tol_kkt
        leap = leap and not converged
        if leap or converged or n_iter == max_iter:
            f = work.objective()
            if work.slot > 1 and f > compared_f + _ROUNDING * abs(compared_f):
                f, converged = compared_f, False
                work.go_back(compared_Y)
                report("f rose: objects move one by one from here on")
            elif leap:
                f = work.leap(before_sweep, f, about / last)
            compared_f, compared_Y = f, work.Y.copy()
            trace.append((f, largest_gap))
        report(
            f"sweep {n_iter}: objective lowered by about {about:.3g}, residual {largest_gap:.3g}",
            n_iter,
            max_iter,
        )
        last = about
    f, residual = _finish(work, f, tol_kkt, report)
    trace[-1] = (f, residual) if n_iter else (f, np.nan)
    Y = work.Y[:, : work.k]
    Y = Y / Y.sum(axis=1, keepdims=True)
    converged = converged or residual <= tol_kkt
    return Solution(Y, f, residual, n_iter, converged, np.array(trace), spent=work.spent)


def _finish(work: _Work, f: float, tol_kkt: float, report: Report) -> tuple[float, float]:
    """Finish the objects that are stuck, one by one; return f and the largest gap."""
    residual = work.measure()
    for _ in range(_FINISHES):
        stuck = work.stuck(tol_kkt)
        if not len(stuck):
            break
        aim = max(tol_kkt, float(np.median(work.gaps)))
        f -= work.visit(stuck, aim, 0.0, finish=True)[1]
        before, residual = residual, work.measure_around(stuck)
        report(f"finished {len(stuck)} objects that were stuck: residual {residual:.3g}")
        if residual > 0.5 * before:
            break
    return f, residual


def solved_from(problem: Problem, Y0: Floats, stopping: Stopping, run: Run) -> Solution:
    """Return the solution of a problem, whose evidence is formed, from Y0; see `descend`."""
    d = problem.divergence
    return descend(problem.pairs, Y0, d, stopping, threads=run.threads, report=run.report)


def negligible(evidence: PairEvidence, divergence: Divergence) -> float:
    """Return the f that counts as 0; 0 for a divergence of the user's, whose scale is not known."""
    kernel = divergence._kernel
    if kernel is None:
        return 0.0
    return _NEGLIGIBLE * kernel.scale * 0.5 * float(evidence.copresence.sum(dtype=np.float64))


def objective(evidence: PairEvidence, Y: Floats, divergence: Divergence, threads: int = 1) -> float:
    """Return f(Y)."""
    return _Work(evidence, Y, divergence, threads).objective()


class _Work:
    """The kernel with its membership, called in portions between which Ctrl-C takes effect."""

    def __init__(
        self, evidence: PairEvidence, Y0: Floats, divergence: Divergence, threads: int = 1
    ) -> None:
        self.n, self.k = Y0.shape
        kernel = divergence._kernel
        self.scale = 1.0 if kernel is None else kernel.scale
        self.lengths = evidence.lengths
        self.starts: Ints | None
        self.partners: NDArray[np.int32] | None
        self.starts, self.partners = evidence.pattern
        c, N = _narrowest(evidence.counts, evidence.copresence)
        self.solver = PairwiseSolver(
            PairCounts(c, N, self.starts, self.partners),
            self.k,
            0 if kernel is None else kernel.code,
            2.0 if kernel is None else kernel.parameter,
            divergence._called() if kernel is None else None,
            threads if self.lengths.sum() >= _FEW_ENTRIES else 1,
        )
        self.Y = padded(Y0)
        self.solver.take(self.Y)
        self.slot, self.everyone = _slots(self.n)
        self.gaps = np.zeros(self.n)
        self.spent = 0

    def visit(
        self,
        objects: NDArray[np.int32],
        tol: float,
        negligible: float,
        slot: int = 1,
        *,
        finish: bool = False,
    ) -> tuple[float, float]:
        """Visit objects in this order; return the largest gap and the approximate decrease of f.

        `slot` objects at a time move together; where it is 1, f falls with every object.
        """
        largest_gap, fell = 0.0, 0.0
        for part in self._parts(self.lengths[objects]):
            with np.errstate(all="ignore"):
                gap, lowered, spent = self.solver.visit(
                    self.Y,
                    objects[part],
                    slot,
                    tol / self.scale,
                    negligible / self.scale,
                    finish,
                    self.gaps,
                )
            largest_gap, fell = max(largest_gap, gap), fell + lowered
            self.spent += spent + _CALL
        return largest_gap * self.scale, fell * self.scale

    def leap(self, before: Floats, f: float, ratio: float) -> float:
        """Extend the last sweep's step if that lowers f; return f.

        Sweeps converge linearly: if each step is r = sqrt(ratio) of the one before, r / (1 - r) times
        the last step remain. No membership falls below a tenth of itself.
        """
        shrink = min(float(np.sqrt(ratio)), _MOST_SHRINK)
        reached = self.Y.copy()
        for further in (shrink / (1 - shrink), 0.25 * shrink / (1 - shrink)):
            np.maximum(reached + further * (reached - before), 0.1 * reached, out=self.Y)
            self.Y /= self.Y.sum(axis=1, keepdims=True)
            self.solver.take(self.Y)
            f_after = self.objective()
            if f_after < f:
                return f_after
        self.Y[:] = reached
        self.solver.take(self.Y)
        return f

    def go_back(self, Y: Floats) -> None:
        """Return to an earlier Y; objects move one by one from here on."""
        self.Y[:] = Y
        self.solver.take(self.Y)
        self.slot, self.everyone = 1, np.arange(self.n, dtype=np.int32)

    def objective(self) -> float:
        """Return f."""
        total = 0.0
        for part in self._parts(self.lengths):
            total += self.solver.objective(self.Y, part.start, part.stop)
            self._spend(part)
        return self.scale * total

    def _spend(self, part: slice) -> None:
        """Count a pass over the pairs of some objects."""
        self.spent += int(self.lengths[part].sum()) * self.k + _CALL

    def measure(self) -> float:
        """Measure the gaps of all objects; return the largest."""
        for part in self._parts(self.lengths):
            self.solver.residuals(self.Y, part.start, part.stop, self.gaps)
            self._spend(part)
        return self.scale * float(self.gaps.max(initial=0.0))

    def measure_around(self, moved: NDArray[np.int32]) -> float:
        """Measure the gaps again where some objects moved, theirs and their partners'; return the largest."""
        if self.partners is None or self.starts is None:
            return self.measure()
        near = np.zeros(self.n, dtype=bool)
        near[moved] = True
        for i in moved:
            near[self.partners[self.starts[i] : self.starts[i + 1]]] = True
        # With an infinite tolerance no object moves: the visits only measure the gaps.
        self.visit(np.flatnonzero(near).astype(np.int32), np.inf, 0.0, self.n)
        return self.scale * float(self.gaps.max(initial=0.0))

    def stuck(self, tol_kkt: float) -> NDArray[np.int32]:
        """Return the objects with outstanding gaps, largest first."""
        high = max(_STUCK * float(np.median(self.gaps)), tol_kkt / self.scale)
        stuck = np.flatnonzero(self.gaps > high).astype(np.int32)
        return stuck[np.argsort(-self.gaps[stuck], kind="stable")]

    @staticmethod
    def _parts(lengths: Ints) -> Iterator[slice]:
        total = np.cumsum(lengths)
        begin = 0
        while begin < len(lengths):
            done = int(total[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(total, done + _AT_ONCE, side="right")))
            yield slice(begin, end)
            begin = end


def _slots(n: int) -> tuple[int, NDArray[np.int32]]:
    """Return the number of objects that move at a time, and the order of all."""
    everyone = np.arange(n, dtype=np.int32)
    if n < _MANY:
        return 1, everyone
    slot_of = everyone // _RUN % _SLOTS
    return -(-n // _SLOTS), everyone[np.argsort(slot_of, kind="stable")]


def _narrowest(c: NDArray[Any], N: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return counts in the fewest bytes that hold them: every sweep reads them all."""
    c, N = unsigned(c), unsigned(N)
    if c.dtype.kind == "u" and N.dtype.kind == "u":
        fits = np.min_scalar_type(int(N.max(initial=0)))  # c is at most N
        if fits.itemsize < N.dtype.itemsize:
            c, N = c.astype(fits), N.astype(fits)
    return np.ascontiguousarray(c), np.ascontiguousarray(N)


def place_against(
    c: Floats, N: Floats, membership: Floats, divergence: Divergence, tol: float
) -> Floats:
    """Return the memberships of new objects against fixed ones, each on its own.

    c and N are (new, fixed). An object without evidence gets a uniform row.
    """
    new, fixed = c.shape
    k = membership.shape[1]
    starts = np.full(new + fixed + 1, new * fixed, dtype=np.int64)
    starts[: new + 1] = np.arange(new + 1) * fixed
    partners = np.tile(np.arange(new, new + fixed, dtype=np.int32), new)
    pattern = SparseEvidence._of(starts, partners, c.ravel(), N.ravel())
    Y0 = np.vstack([np.full((new, k), 1.0 / k), membership])
    work = _Work(pattern, Y0, divergence)
    work.visit(np.arange(new, dtype=np.int32), tol, 0.0, finish=True)
    Y = work.Y[:new, :k]
    return np.ascontiguousarray(Y / Y.sum(axis=1, keepdims=True))
