"""Landmarks: some solved objects, pooled, against which all others are placed.

Landmarks with nearly the same membership are pooled into prototypes, so that placing an object costs
O(m G + G K^2), G the prototypes (``_kernels/pair_objective/landmark/placing.h``). Objects with equal labels
are placed once.

New objects are placed here too: each is a separate convex problem against some of the fitted ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._arrays.rows import EqualRows
from conclust._kernels import LandmarkTable
from conclust._progress import tracked
from conclust._random import spawn_generators
from conclust._types import Floats, Ints
from conclust._validation import refuse
from conclust.consensus.papers.probabilistic.descent import place_against
from conclust.consensus.papers.probabilistic.problem import Placement, Problem, Report, Run, silent
from conclust.divergences import Divergence
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import (
    canonical_labels,
    indicator_of,
    label_view,
    missing_code,
    noise_code,
)

# Number of prototypes that represent the memberships of the landmarks.
N_PROTOTYPES = 128
_LLOYD_STEPS = 8
# Number of objects placed between checks for Ctrl-C.
_AT_ONCE = 20_000
# Number of objects among which equal rows of labels are found: placed once, they get the same bits.
_GROUPED = 1 << 19


@dataclass(frozen=True)
class LandmarkModel:
    """The model that places objects: prototypes of the landmarks and counts of their labels.

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
        Amount of each cluster of the ensemble in each group of landmarks.
    present : ndarray of shape (n_groups, n_prototypes)
        Number of landmarks of each group that were observed.
    divergence : Divergence
        A built-in one.
    """

    offsets: Ints
    weights: Floats | None
    group_of: NDArray[np.int32]
    prototypes: Floats
    sums: Floats
    present: Floats
    divergence: Divergence

    @classmethod
    def of(
        cls,
        landmarks: Ensemble,
        membership: Floats,
        divergence: Divergence,
        n_prototypes: int = N_PROTOTYPES,
    ) -> LandmarkModel:
        """Pool solved landmarks into at most `n_prototypes` prototypes."""
        if divergence._kernel is None:
            refuse(
                "divergence",
                "landmarks",
                "a built-in divergence (solver='pairwise' takes the user's own)",
                divergence,
            )
        pool = pooled(membership, n_prototypes)
        size = np.bincount(pool)
        rows = np.arange(len(pool))
        member = sp.csr_array((np.ones(len(pool)), (rows, pool)), shape=(len(pool), len(size)))
        groups = landmarks.presence_groups
        observed = landmarks.present[:, np.sort(groups.first)].T.astype(np.float64)
        return cls(
            offsets=landmarks.offsets,
            weights=landmarks.weights,
            group_of=canonical_labels(groups.of_partition).astype(np.int32),
            prototypes=np.asarray(member.T @ membership) / size[:, None],
            sums=np.ascontiguousarray((landmarks.indicator.T @ member).toarray()),
            present=np.ascontiguousarray(observed @ member.toarray()),
            divergence=divergence,
        )

    def fits(self, counts: Ints, n_clusters: int) -> bool:
        """Return whether the model is one of partitions with these numbers of clusters."""
        m, (n_groups, n_prototypes) = len(counts), self.present.shape
        return (
            np.array_equal(self.offsets, starts_of(counts))
            and (self.weights is None or holds(self.weights, m))
            and holds(self.group_of, m)
            and bool((self.group_of >= 0).all() and (self.group_of < n_groups).all())
            and holds(self.prototypes, n_prototypes, n_clusters)
            and holds(self.sums, counts.sum(), n_prototypes)
            and holds(self.present, n_groups, n_prototypes)
        )

    def reordered(self, clusters: Ints) -> LandmarkModel:
        """Return the model with these clusters only, in this order."""
        return replace(self, prototypes=np.ascontiguousarray(self.prototypes[:, clusters]))

    def place(self, codes: NDArray[Any], tol: float, threads: int) -> Floats:
        """Return the memberships of objects from their codes, each to a gap of `tol`."""
        return self.placed(codes, tol, threads)[0]

    def placed(
        self,
        codes: NDArray[Any],
        tol: float,
        threads: int,
        *,
        objects: Ints | None = None,
        soft: sp.csr_array | None = None,
        report: Report = silent,
    ) -> tuple[Floats, float, float]:
        """Return the memberships of objects, their loss and the largest gap per unit of evidence.

        Parameters
        ----------
        codes : ndarray of shape (n, m)
            The objects' labels in the model's numbering (reserved codes: ``_kernels/labels/codes.h``).
        tol : float
            Maximum gap of a placed object.
        threads : int
            The result does not depend on it.
        objects : ndarray of int64, default=None
            Objects to place. None: all.
        soft : csr_array of shape (n, T), default=None
            Their posteriors, if the ensemble is soft.
        report : callable
            Takes lines of progress.
        """
        n = len(codes) if objects is None else len(objects)
        Y = np.empty((n, self.prototypes.shape[1]))
        total, worst = 0.0, 0.0
        for begin in range(0, n, _GROUPED):
            part = slice(begin, min(n, begin + _GROUPED))
            indices = part if objects is None else objects[part]
            some = None if soft is None else sp.csr_array(soft[indices])
            Y[part], loss, gap = self._placed_once(codes[indices], some, tol, threads)
            total += loss
            worst = max(worst, gap)
            report(f"placed {part.stop:,} of {n:,} objects")
        return Y, total, worst

    def _placed_once(
        self, codes: NDArray[Any], soft: sp.csr_array | None, tol: float, threads: int
    ) -> tuple[Floats, float, float]:
        """Place one of several objects with equal labels, for all of them."""
        rows = EqualRows.of(codes) if soft is None else EqualRows.each_alone(len(codes))
        kernel = self.divergence._kernel
        assert kernel is not None
        table = LandmarkTable(
            self.group_of,
            self.prototypes,
            self.sums,
            self.present,
            kernel.code,
            kernel.parameter,
        )
        Y = np.empty((len(rows), self.prototypes.shape[1]))
        total, worst = 0.0, 0.0
        for begin in tracked(range(0, len(rows), _AT_ONCE), "parts of the objects placed"):
            part = slice(begin, begin + _AT_ONCE)
            block = codes[rows.first[part]]
            labels = label_view(
                block,
                self.offsets,
                self.weights,
                None if soft is None else soft[rows.first[part]],
                complete=not (block >= noise_code(block.dtype)).any(),
            )
            loss, gap = table.place(labels, tol / kernel.scale, rows.masses[part], Y[part], threads)
            total += kernel.scale * loss
            worst = max(worst, kernel.scale * gap)
        return Y[rows.inverse], total, worst


def pooled(membership: Floats, most: int) -> Ints:
    """Group rows that are equal or, if more than `most` are distinct, close to each other."""
    rows, inverse = np.unique(membership, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    if len(rows) <= most:
        return inverse.astype(np.int64)
    # Repeatedly choose the row farthest from those chosen so far, then make Lloyd's steps.
    weights = np.bincount(inverse).astype(np.float64)
    norms = (rows**2).sum(axis=1)

    def distances(centers: Floats) -> Floats:
        return np.asarray(norms[:, None] - 2 * rows @ centers.T + (centers**2).sum(axis=1))

    medoids = [int(np.argmax(weights))]
    nearest = distances(rows[medoids])[:, 0]
    while len(medoids) < most:
        medoids.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, distances(rows[medoids[-1:]])[:, 0])
    centers = rows[medoids]
    for _ in range(_LLOYD_STEPS):
        of = distances(centers).argmin(axis=1)
        mass = np.bincount(of, weights, minlength=most)
        sums = np.column_stack(
            [np.bincount(of, weights * column, minlength=most) for column in rows.T]
        )
        nonempty = mass > 0
        centers[nonempty] = sums[nonempty] / mass[nonempty, None]
    _, of = np.unique(distances(centers).argmin(axis=1), return_inverse=True)
    return of[inverse].astype(np.int64)


# Number of new objects per block when their counts with the anchors are formed.
_NEW_AT_ONCE = 500
# New objects are placed against at most this many fitted ones.
_ANCHORS = 2000


@dataclass(frozen=True)
class Anchors:
    """Some of the fitted objects with their labels and memberships, for a user's divergence."""

    indicator: sp.csr_array  # (anchors, clusters of all partitions), times the weights
    present: Floats  # (anchors, partitions), times the weights
    membership: Floats
    offsets: Ints
    divergence: Divergence

    @classmethod
    def of(cls, few: Ensemble, membership: Floats, divergence: Divergence) -> Anchors:
        """Keep these objects."""
        present = few.present * few.partition_weights
        indicator = sp.csr_array(few.indicator.multiply(few.column_weights))
        return cls(indicator, present, membership, np.asarray(few.offsets), divergence)

    def reordered(self, clusters: Ints) -> Anchors:
        """Return the same with these clusters only, in this order."""
        return replace(self, membership=np.ascontiguousarray(self.membership[:, clusters]))

    def place(self, codes: NDArray[Any], tol: float, threads: int) -> Floats:
        """Return the memberships of new objects from their codes; `threads` is unused, but part of `Placement`."""
        parts = [
            place_against(
                *self._evidence(codes[begin : begin + _NEW_AT_ONCE]),
                self.membership,
                self.divergence,
                tol,
            )
            for begin in range(0, len(codes), _NEW_AT_ONCE)
        ]
        return np.concatenate(parts)

    def _evidence(self, codes: NDArray[Any]) -> tuple[Floats, Floats]:
        c = (indicator_of(codes, self.offsets) @ self.indicator.T).toarray()
        N = (codes != missing_code(codes.dtype)).astype(np.float64) @ self.present.T
        return np.minimum(c, N), N


def placement_of(problem: Problem, membership: Floats, run: Run) -> Placement:
    """Keep some of the fitted objects, against which new ones are placed."""
    (chooser,) = spawn_generators(run.seed, 1)
    chosen = np.sort(chooser.permutation(problem.ensemble.n_samples)[:_ANCHORS])
    few = problem.ensemble.part(chosen)
    if problem.divergence._kernel is None:
        return Anchors.of(few, membership[chosen], problem.divergence)
    return LandmarkModel.of(few, membership[chosen], problem.divergence)
