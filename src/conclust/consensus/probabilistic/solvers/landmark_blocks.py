"""The landmark solver over blocks of objects: landmarks are solved as in memory, the others placed in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from conclust._types import Floats, Ints
from conclust.blocks.facts import Part
from conclust.blocks.finishing import Answer
from conclust.blocks.labels import LabelBlocks
from conclust.consensus.probabilistic.placements.landmarks import LandmarkModel
from conclust.consensus.probabilistic.problem import Problem, Run, Solution, Stopping
from conclust.consensus.probabilistic.solvers.landmark import Landmark
from conclust.divergences import Divergence


@dataclass(frozen=True)
class _Solved:
    """The landmarks: their objects, their solution, how it was reached, and other state of the method."""

    objects: Ints
    membership: Floats
    objective: float
    residual: float
    n_iter: int
    converged: bool
    trace: Floats
    more: Floats


Among = Callable[[Problem], tuple[Solution, Floats]]


def place_blocks(
    labels: LabelBlocks,
    n_clusters: int,
    divergence: Divergence,
    stopping: Stopping,
    run: Run,
    among: Among | None = None,
) -> tuple[Solution, Answer, Floats]:
    """Minimise f over the pairs of landmarks, then of every object with them.

    Parameters
    ----------
    labels : LabelBlocks
        The objects.
    n_clusters : int
        K.
    divergence : Divergence
        One of the built-in ones.
    stopping : Stopping
        Stopping criteria for the landmarks.
    run : Run
        Seed, starts, lines of progress.
    among : callable, default=None
        Function that solves the landmarks on all their pairs and returns further numbers to store. None: start from
        their least-squares solution, without numbers.

    Returns
    -------
    tuple
        The solution, without a membership, the rule that gives the memberships of a block, and the
        numbers.
    """
    solver = Landmark()
    objects = solver.drawn(labels.facts.n_samples, run)
    part = Problem(labels.rows(objects), n_clusters, divergence)

    def solve() -> _Solved:
        if among is None:
            solved, more = solver.among(part, None, stopping, run), np.empty(0)
        else:
            solved, more = among(part)
        how = (solved.objective, solved.residual, solved.n_iter, solved.converged, solved.trace)
        return _Solved(objects, solved.membership, *how, more)

    solved = labels.stages.state("landmarks", _Solved, solve)
    model = LandmarkModel.of(part.ensemble, solved.membership, divergence, solver.n_prototypes)
    if labels.facts.n_unobserved:
        # Landmarks that no partition observed were dropped.
        objects = np.concatenate(list(labels.each("landmarks", _seen, objects)))
    width = n_clusters * np.dtype(np.float64).itemsize
    memberships = labels.keeping(width, "membership", in_checkpoint=True)
    tol = max(stopping.tol_kkt, 1e-9)
    shared = (model, objects, solved.membership, tol)
    results = labels.visit("placing", _place, memberships, 1, shared=shared)
    solution = Solution(
        membership=np.empty((0, n_clusters)),
        objective=solved.objective + sum(loss for loss, _ in results),
        residual=max([solved.residual, *(gap for _, gap in results)]),
        n_iter=solved.n_iter,
        converged=solved.converged,
        trace=solved.trace,
        placement=model,
    )
    return solution, Answer(_own, kept=memberships, step=1), solved.more


def _numbers(part: Part) -> Ints:
    """Return the indices, among all objects, of the observed objects of a block."""
    if part.observed is None:
        return np.arange(part.begin, part.begin + part.n_objects)
    return part.begin + np.flatnonzero(part.observed)


def _seen(part: Part, objects: Ints) -> Ints:
    return np.intersect1d(_numbers(part), objects, assume_unique=True)


def _place(
    part: Part, stored: None, model: LandmarkModel, objects: Ints, solved: Floats, tol: float
) -> tuple[Floats, tuple[float, float]]:
    """Place the objects of a block; landmarks have their own solution.

    Parameters
    ----------
    part : Part
        The block.
    stored : None
        Unused, as nothing was stored.
    model : LandmarkModel
        Places objects.
    objects : ndarray of int64 of shape (n_landmarks,)
        Landmarks, in increasing order.
    solved : ndarray of shape (n_landmarks, K)
        Their memberships.
    tol : float
        The gap that is small enough.
    """
    numbers = _numbers(part)
    place = np.searchsorted(objects, numbers)
    is_landmark = place < len(objects)
    is_landmark[is_landmark] = objects[place[is_landmark]] == numbers[is_landmark]
    Y = np.empty((len(numbers), solved.shape[1]))
    Y[is_landmark] = solved[place[is_landmark]]
    others = np.flatnonzero(~is_landmark)
    loss, gap = 0.0, 0.0
    if len(others):
        Y[others], loss, gap = model.placed(part.ensemble.codes, tol, 1, objects=others)
    return Y, (loss, gap)


def _own(part: Part, stored: Any) -> Floats:
    return np.array(stored)
