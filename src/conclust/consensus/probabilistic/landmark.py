"""The landmark solver: a few objects solved on all their pairs, all others placed against them.

A sample of pairs gives each object too few of them: thirty pairs fit K - 1 parameters badly. Here a
sample of objects, the landmarks, is solved on all its pairs; then every other object is a convex
problem of its own against all landmarks. Landmarks with nearly the same membership are pooled into
prototypes (``_kernels/landmark.h``), so that an object costs O(m G + G K^2), G the prototypes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._kernels import place_objects
from conclust._labels import missing_code, noise_code
from conclust._random import spawn_generators
from conclust._validation import refuse
from conclust.consensus.probabilistic import factored, pairwise
from conclust.consensus.probabilistic.solution import PairSolution
from conclust.consensus.probabilistic.starts import inside
from conclust.divergences import Divergence
from conclust.ensemble import Ensemble
from conclust.evidence.dense import narrow_evidence

__all__ = ["LandmarkModel", "LandmarkSolution", "solve"]

# Landmarks: their own solution costs its square a sweep, and all others' accuracy grows with it.
N_LANDMARKS = 2000
# Prototypes: the memberships of the landmarks are told apart this finely.
N_PROTOTYPES = 128
_LLOYD_STEPS = 8
# Objects placed between two looks at Ctrl-C.
_AT_ONCE = 20_000


@dataclass(frozen=True)
class LandmarkModel:
    """What placing an object takes: prototypes of the landmarks and counts of their labels.

    Attributes
    ----------
    offsets : ndarray of shape (n_partitions + 1,)
        Column of the indicator at which each partition begins.
    weights : ndarray of shape (n_partitions,) or None
        Weight of each partition.
    group_of : ndarray of shape (n_partitions,), int32
        Partitions of one group observed the same landmarks.
    prototypes : ndarray of shape (n_prototypes, n_clusters)
        Mean memberships of the groups of landmarks.
    sums : ndarray of shape (T, n_prototypes)
        How much of each cluster of the ensemble each group of landmarks holds.
    present : ndarray of shape (n_groups, n_prototypes)
        How many landmarks of each group were observed.
    divergence : Divergence
        A built-in one.
    """

    offsets: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    group_of: NDArray[np.int32]
    prototypes: NDArray[np.float64]
    sums: NDArray[np.float64]
    present: NDArray[np.float64]
    divergence: Divergence

    @classmethod
    def of(
        cls,
        landmarks: Ensemble,
        membership: NDArray[np.float64],
        divergence: Divergence,
        n_prototypes: int = N_PROTOTYPES,
    ) -> LandmarkModel:
        """Pool solved landmarks into at most `n_prototypes` prototypes."""
        if divergence._kernel is None:
            refuse(
                "divergence",
                "landmark.solve",
                "a built-in divergence (solver='pairwise' takes the user's own)",
                divergence,
            )
        pool = _pool(membership, n_prototypes)
        size = np.bincount(pool)
        rows = np.arange(len(pool))
        member = sp.csr_array((np.ones(len(pool)), (rows, pool)), shape=(len(pool), len(size)))
        observed = landmarks.codes != missing_code(landmarks.codes.dtype)
        patterns, first, inverse = np.unique(
            observed.T, axis=0, return_index=True, return_inverse=True
        )
        # Numbered by first appearance: where all differ, group u is partition u, as the kernel wants.
        order = np.argsort(first)
        group_of = np.argsort(order)[inverse.ravel()]
        return cls(
            offsets=landmarks.offsets,
            weights=landmarks.weights,
            group_of=group_of.astype(np.int32),
            prototypes=np.asarray(member.T @ membership) / size[:, None],
            sums=np.ascontiguousarray((landmarks.indicator.T @ member).toarray()),
            present=np.ascontiguousarray(patterns[order].astype(np.float64) @ member.toarray()),
            divergence=divergence,
        )

    def keep_clusters(self, kept: NDArray[np.int64]) -> LandmarkModel:
        """Return the model with these clusters only, in this order."""
        return replace(self, prototypes=np.ascontiguousarray(self.prototypes[:, kept]))

    def place(
        self,
        codes: NDArray[Any],
        tol: float,
        threads: int,
        *,
        objects: NDArray[np.int64] | None = None,
        soft: sp.csr_array | None = None,
        report: Callable[[str], None] = lambda message: None,
    ) -> tuple[NDArray[np.float64], float, float]:
        """Return the memberships of objects, their loss and the largest gap per unit of evidence.

        `codes` (n, m) are the objects' labels in the model's numbering (reserved codes: see
        ``_kernels/codes.h``), `soft` their posteriors (n, T) where the ensemble is soft. `objects`
        are those to place; None: all.
        """
        kernel = self.divergence._kernel
        assert kernel is not None
        n = len(codes) if objects is None else len(objects)
        Y = np.empty((n, self.prototypes.shape[1]))
        total, worst = 0.0, 0.0
        for begin in range(0, n, _AT_ONCE):
            part = slice(begin, min(n, begin + _AT_ONCE))
            taken = part if objects is None else objects[part]
            block = np.ascontiguousarray(codes[taken])
            posteriors: tuple[Any, Any, Any] = (None, None, None)
            if soft is not None:
                rows = soft[taken]
                posteriors = (
                    rows.indptr.astype(np.int64),
                    rows.indices.astype(np.int32),
                    rows.data,
                )
            loss, residual = place_objects(
                block,
                self.offsets,
                self.weights,
                self.group_of,
                not (block >= noise_code(block.dtype)).any(),
                *posteriors,
                self.prototypes,
                self.sums,
                self.present,
                kernel.code,
                kernel.parameter,
                tol / kernel.scale,
                Y[part],
                threads,
            )
            total += kernel.scale * loss
            worst = max(worst, kernel.scale * residual)
            report(f"placed {part.stop:,} of {n:,} objects")
        return Y, total, worst


@dataclass(frozen=True)
class LandmarkSolution(PairSolution):
    """A membership of all objects, and the model that places further ones.

    Attributes
    ----------
    membership : ndarray of shape (n_samples, n_clusters)
        Rows on the simplex: the landmarks' solution, and each other object placed against it.
    objective : float
        What was minimised: f over the pairs of landmarks, plus for each other object the sum of
        N_g d(c_g / N_g, y'm_g) over the prototypes.
    residual : float
        Largest gap per unit of evidence: of the landmarks among themselves, and of each other object
        against the prototypes.
    n_iter : int
        Iterations for the landmarks.
    converged : bool
        Whether a tolerance ended them.
    trace : ndarray of shape (n_rows, 2)
        Objective and residual of the landmarks now and then.
    model : LandmarkModel
        For ``place``.
    landmarks : ndarray of shape (n_landmarks,), int64
        The objects taken as landmarks, sorted.
    """

    model: LandmarkModel
    landmarks: NDArray[np.int64]


def solve(
    ensemble: Ensemble,
    n_clusters: int,
    divergence: Divergence,
    *,
    seed: np.random.SeedSequence,
    start: NDArray[np.float64] | None = None,
    n_landmarks: int = N_LANDMARKS,
    n_prototypes: int = N_PROTOTYPES,
    n_init: int = 5,
    max_iter: int = 200,
    tol: float = 1e-5,
    tol_kkt: float = 1e-8,
    threads: int = 1,
    report: Callable[[str], None] = lambda message: None,
) -> LandmarkSolution:
    """Minimise the divergence over all pairs of landmarks, then of every object with them.

    `start` is a membership of all objects; None: the landmarks' own least-squares solution with
    `n_init` random starts. Landmarks are drawn uniformly from the objects that some partition
    observed; `tol`, `tol_kkt` and `max_iter` are for their solution.
    """
    n = ensemble.n_samples
    drawer, other = spawn_generators(seed, 2)
    chosen = np.sort(drawer.permutation(n)[: min(n, n_landmarks)]).astype(np.int64)
    landmarks = ensemble._some(chosen)
    if start is None:
        first = factored.solve(
            landmarks,
            n_clusters,
            start=None,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            tol_kkt=tol_kkt,
            seed=np.random.SeedSequence(int(other.integers(2**63))),
            threads=threads,
            report=lambda message: None,
        ).membership
    else:
        first = start[chosen]
    c, N = narrow_evidence(landmarks, threads)
    solved = pairwise.solve(
        (c, N),
        inside(first),
        divergence,
        max_iter=max_iter,
        tol=tol,
        tol_kkt=tol_kkt,
        threads=threads,
        report=report,
    )
    report(
        f"{len(chosen):,} landmarks: objective {solved.objective:.10g}, {solved.n_iter} iterations"
    )
    model = LandmarkModel.of(landmarks, solved.membership, divergence, n_prototypes)
    rest = np.delete(np.arange(n), chosen)
    Y = np.empty((n, n_clusters))
    Y[chosen] = solved.membership
    objective, residual = solved.objective, solved.residual
    soft = ensemble.indicator if ensemble.is_soft else None
    placed, loss, gap = model.place(
        ensemble.codes,
        max(tol_kkt, 1e-9),
        threads,
        objects=rest,
        soft=soft,
        report=report,
    )
    Y[rest] = placed
    return LandmarkSolution(
        membership=Y,
        objective=objective + loss,
        residual=max(residual, gap),
        n_iter=solved.n_iter,
        converged=solved.converged,
        trace=solved.trace,
        model=model,
        landmarks=chosen,
    )


def _pool(membership: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Group rows that are equal, or near each other where more than `most` differ."""
    rows, inverse = np.unique(membership, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    if len(rows) <= most:
        return inverse.astype(np.int64)
    # The rows farthest from those taken, one after the other: then Lloyd's steps.
    weights = np.bincount(inverse).astype(np.float64)
    norms = (rows**2).sum(axis=1)

    def distances(centers: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(norms[:, None] - 2 * rows @ centers.T + (centers**2).sum(axis=1))

    taken = [int(np.argmax(weights))]
    nearest = distances(rows[taken])[:, 0]
    while len(taken) < most:
        taken.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, distances(rows[taken[-1:]])[:, 0])
    centers = rows[taken]
    for _ in range(_LLOYD_STEPS):
        of = distances(centers).argmin(axis=1)
        mass = np.bincount(of, weights, minlength=most)
        sums = np.column_stack(
            [np.bincount(of, weights * column, minlength=most) for column in rows.T]
        )
        held = mass > 0
        centers[held] = sums[held] / mass[held, None]
    _, of = np.unique(distances(centers).argmin(axis=1), return_inverse=True)
    return of[inverse].astype(np.int64)
