"""Random starts on a part of the objects, and escapes from the best of them.

Descents end in local minima that differ by which true groups share a cluster. An escape merges the two clusters that cost
least to merge, splits one with much disagreement inside, and descends again; another random start would have to hit that
by luck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from conclust._kernels import FactoredSolver
from conclust._threads import side_by_side
from conclust._types import Floats
from conclust.consensus.papers.probabilistic.placements.factored_model import (
    FactoredModel,
    padded,
    whole_grams,
)
from conclust.consensus.papers.probabilistic.problem import EXACT
from conclust.consensus.papers.probabilistic.search.starts import random_membership
from conclust.ensemble import Ensemble

_POWER_STEPS = 8
# Number of splits tried with each merge.
_SPLITS = 3

T = TypeVar("T")


def escape(
    best: T,
    ways: Callable[[T], Iterator[Floats]],
    descend: Callable[[Floats, T], T],
    better: Callable[[T, T], bool],
    patience: int,
) -> T:
    """Descend from the escapes until `patience` in a row have not helped; return the best solution.

    ``descend(membership, best)`` may stop early if its end will not be better than the best.
    """
    tries = ways(best)
    failures = 0
    while failures < patience:
        membership = next(tries, None)
        if membership is None:
            break
        other = descend(membership, best)
        if better(other, best):
            best, tries, failures = other, ways(other), 0
        else:
            failures += 1
    return best


def ways_out(
    Y: Floats,
    cost: Floats,
    inside: Floats,
    counted: Callable[[Floats], Floats],
    generator: np.random.Generator,
) -> Iterator[Floats]:
    """Yield memberships with two clusters merged and a third split, the most promising first.

    If a cluster is empty, also those with another split into it.

    Parameters
    ----------
    Y : ndarray of shape (n, K)
        Membership to escape from.
    cost : ndarray of shape (K, K)
        The cost of a merge of two clusters.
    inside : ndarray of shape (K,)
        Share of the evidence within each cluster that contradicts it.
    counted : callable
        Multiplies vectors of length n by the matrix of counts c_ij.
    generator : Generator
        Draws the starting points of splits.
    """
    k = Y.shape[1]
    nonempty = np.flatnonzero(Y.any(axis=0)).tolist()
    pairs = [(a, b) for a in nonempty for b in nonempty if a < b]
    pairs.sort(key=lambda pair: (cost[pair], pair))
    # If a cluster is empty, no merge is needed.
    empty = [c for c in range(k) if c not in nonempty][:1]
    pairs = [(c, c) for c in empty] + pairs[:k]
    splits = sorted(nonempty, key=lambda c: (-inside[c], c))
    options = [
        (i + j, pair, c)
        for i, pair in enumerate(pairs)
        for j, c in enumerate([c for c in splits if c not in pair][:_SPLITS])
    ]
    options.sort()
    sides: dict[int, Floats] = {}
    for _, (a, b), c in options:
        merged = Y.copy()
        if a != b:
            merged[:, a] += merged[:, b]
        if c not in sides:
            sides[c] = _two_sides(Y[:, c], counted, generator)
        merged[:, b] = merged[:, c] * sides[c]
        merged[:, c] -= merged[:, b]
        yield merged


def _two_sides(
    mass: Floats, counted: Callable[[Floats], Floats], generator: np.random.Generator
) -> Floats:
    """Share of each object's mass that goes to the new cluster: along the largest disagreement."""
    total = max(mass.sum(), 1e-300)
    direction = generator.standard_normal(len(mass))
    for _ in range(_POWER_STEPS):
        direction -= (mass * direction).sum() / total
        direction = counted(mass * direction)
        length = np.sqrt((mass * direction**2).sum())
        if not length > 0:
            return generator.random(len(mass))
        direction /= length
    direction -= (mass * direction).sum() / total
    return np.where(direction > 0, 0.9, 0.1)


# A descent ends when a sweep lowers the objective by less than this share of it.
TOL = 1e-4
SWEEPS = 100
# Descents are compared after every PATIENCE sweeps, and given up when HORIZON more sweeps like the last
# one would not bring them below the best.
PATIENCE = 6
HORIZON = 12
# Escapes end when n_init in a row have not helped, or at least TRIES for up to CHEAP objects in all, where
# they are cheap. With fewer than ROOM objects per cluster they cost more and gain less, because two
# clusters then hold few objects that could be divided differently.
TRIES = 15
CHEAP = 1000
ROOM = 4
# An escape must lower the objective by this share of it to be kept, and by more than rounding does.
GAIN = 1e-4
ROUNDING = 1e-12


@dataclass
class Start:
    """A start after its descent: the solver with its sums, the membership, and F without its constant."""

    solver: FactoredSolver
    Y: Floats
    loss: float
    change: float = -np.inf
    sweeps: int = 0
    done: bool = False
    escapes: int = 0

    def hopeless(self, best: float) -> bool:
        """Return whether the value is unlikely to fall below `best`."""
        return self.loss + HORIZON * self.change > best


def best_start(
    few: Ensemble,
    model: FactoredModel,
    n_clusters: int,
    explained: float,
    generators: list[np.random.Generator],
    threads: int,
    *,
    whole: bool,
) -> Start:
    """Return the best random start, after escapes.

    Parameters
    ----------
    few : Ensemble
        The objects.
    model : FactoredModel
        The solver's model of their ensemble.
    n_clusters : int
        K.
    explained : float
        The sum of c^2 / N over the pairs of `few`: loss + explained is the objective.
    generators : list of Generator
        The first one draws the escapes, each of the others one start.
    threads : int
        The result does not depend on it.
    whole : bool
        Whether there are no other objects.
    """
    escaper, *drawers = generators
    descent = _Descent(few, model, n_clusters, explained)

    def begin(generator: np.random.Generator) -> Start:
        return descent.start(random_membership(few.n_samples, n_clusters, generator))

    with side_by_side(min(threads, len(drawers))) as mapped:
        starts = list(mapped(begin, drawers))
        running = starts
        while running:
            # In rounds, so that early stopping does not depend on the timing of threads.
            list(mapped(descent.advance, running))
            best = min(starts, key=lambda start: start.loss)
            running = [start for start in running if not (start.done or start.hopeless(best.loss))]
    # With fewer than two objects per cluster, escapes are most expensive and gain almost nothing.
    alone = few.n_samples < 2 * n_clusters and few.n_samples <= CHEAP
    exact = best.loss + explained <= EXACT * explained
    if n_clusters < 2 or few.n_samples <= 2 or alone or exact:
        return best
    cheap = whole and ROOM * n_clusters <= few.n_samples <= CHEAP
    tries = max(len(drawers), TRIES) if cheap else len(drawers)
    return _escape(best, descent, tries, escaper)


class _Descent:
    """Plain sweeps from a membership of the few objects to near a stationary point."""

    def __init__(
        self, few: Ensemble, model: FactoredModel, n_clusters: int, explained: float
    ) -> None:
        self.few, self.model, self.n_clusters, self.explained = few, model, n_clusters, explained

    def start(self, membership: Floats) -> Start:
        """Return a start at a membership, not yet descended."""
        solver = self.model.solver(self.few.label_view, self.n_clusters)
        Y = padded(membership)
        solver.rebuild(Y, 1)
        return Start(solver, Y, solver.objective())

    def advance(self, start: Start, sweeps: int = PATIENCE) -> None:
        """Descend by a few sweeps, or to the end."""
        for _ in range(sweeps):
            start.change, residual, _ = start.solver.sweep(start.Y, 1e-7, 0.0, 1)
            start.loss += start.change
            start.sweeps += 1
            small = -start.change <= TOL * max(start.loss + self.explained, EXACT * self.explained)
            start.done = small or residual <= 1e-7 or start.sweeps >= SWEEPS
            if start.done:
                break
        if start.done:
            start.loss = start.solver.objective()

    def run(self, membership: Floats, best: float = np.inf) -> Start:
        """Descend to the end, or until the start is unlikely to fall below `best`."""
        start = self.start(membership)
        while not (start.done or (start.sweeps and start.hopeless(best))):
            self.advance(start)
        return start


def _escape(best: Start, descent: _Descent, patience: int, generator: np.random.Generator) -> Start:
    """Merge and split until `patience` tries in a row have not helped."""
    B = descent.few.indicator
    transposed = B.T.tocsr()

    def ways(at: Start) -> Iterator[Floats]:
        Y = at.Y[:, : descent.n_clusters]
        cost, inside = _merge_costs(at, descent), _disagreement(at, descent)
        return ways_out(Y, cost, inside, lambda x: B @ (transposed @ x), generator)

    def descend(membership: Floats, best: Start) -> Start:
        other = descent.run(membership, best.loss)
        other.escapes = best.escapes + 1
        return other

    def better(other: Start, best: Start) -> bool:
        enough = max(GAIN * (best.loss + descent.explained), ROUNDING * descent.explained)
        return other.loss < best.loss - enough

    return escape(best, ways, descend, better, patience)


def _merge_costs(best: Start, descent: _Descent) -> Floats:
    """Return the exact increase of F if columns a and b of Y are added, for all a, b."""
    k, model = descent.n_clusters, descent.model
    Y = best.Y[:, :k]
    stride = best.Y.shape[1]
    weights, column_weights = descent.few.partition_weights, descent.few.column_weights
    group_weights = np.bincount(model.group_of, weights, model.n_groups).astype(np.float64)
    grams = whole_grams(best.solver, k)
    sums = best.solver.sums.reshape(-1, stride)[:, :k]

    # |G|^2 changes by 2 G_a.G_b' summed over the other clusters, and within the merged block.
    products = np.einsum("g,gac,gbc->ab", group_weights, grams, grams)
    squared = np.einsum("g,gab->ab", group_weights, grams**2)
    diagonal = np.einsum("gaa->ga", grams)
    twice = np.einsum("g,ga,gb->ab", group_weights, diagonal, diagonal)
    mixed = np.einsum("g,ga,gab->ab", group_weights, diagonal, grams)
    # With r_a = row a of G: |G'|^2 - |G|^2 = 2 (r_a.r_b over the others) 2-sided + the block.
    others = products - mixed - mixed.T
    grams_change = 4.0 * others + 2.0 * squared + 2.0 * twice + 4.0 * (mixed + mixed.T)
    sums_change = 2.0 * np.einsum("t,ta,tb->ab", column_weights, sums, sums)

    labelled, present = _evidence_per_object(descent, column_weights, group_weights)
    square = (Y**2).sum(axis=1)
    squares_change = 2.0 * np.einsum("i,ia,ib->ab", labelled, Y, Y)
    fourths_change = 4.0 * np.einsum("i,ia,ib->ab", present * square, Y, Y)
    fourths_change += 4.0 * np.einsum("i,ia,ib->ab", present, Y**2, Y**2)
    cost: Floats = 0.5 * (grams_change - fourths_change) - (sums_change - squares_change)
    return cost


def _evidence_per_object(
    descent: _Descent, column_weights: Floats, group_weights: Floats
) -> tuple[Floats, Floats]:
    """Sum of w x^2 over the clusters of each object, and of w over the partitions that observed it."""
    few = descent.few
    total = float(group_weights.sum())
    if few.label_view.complete and not few.is_soft:
        whole = np.full(few.n_samples, total)
        return whole, whole
    B = few.indicator
    labelled = np.asarray(B.multiply(B) @ column_weights).ravel()
    present = np.einsum("iu,u->i", few.present.astype(np.float64), few.partition_weights)
    return labelled, present


def _disagreement(best: Start, descent: _Descent) -> Floats:
    """Return the evidence within each cluster that contradicts it: sum y_ic y_jc (N_ij - c_ij)."""
    k, model = descent.n_clusters, descent.model
    stride = best.Y.shape[1]
    sums = best.solver.sums.reshape(-1, stride)[:, :k]
    together = np.einsum("t,tc,tc->c", descent.few.column_weights, sums, sums)
    present = np.zeros(k)
    for u, weight in enumerate(descent.few.partition_weights):
        part = sums[model.offsets[u] : model.offsets[u + 1]]
        present += weight * part.sum(axis=0) ** 2
    inside: Floats = present - together
    return inside
