"""Distances between partitions and a consensus of objects in blocks, and descents among them.

The distances need what all objects add up to (``distances.py``): one pass over the blocks after each
descent. What a descent with other weights goes on from follows from the same sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conclust._types import Floats
from conclust.blocks.facts import Part
from conclust.blocks.finishing import Answer
from conclust.blocks.labels import LabelBlocks, added
from conclust.blocks.own import Kept
from conclust.consensus.probabilistic.distances import (
    distances_of,
    of_self_pairs,
    scale_of,
    together,
)
from conclust.consensus.probabilistic.placements.factored_model import FactoredModel
from conclust.consensus.probabilistic.problem import Run, Stopping
from conclust.consensus.probabilistic.solvers.blocked import (
    Descent,
    State,
    read_memberships,
    rule_of,
    sums_of_block,
)


@dataclass(frozen=True)
class Measured:
    """Sums of a membership that the distances need.

    Attributes
    ----------
    sums, grams, sizes : ndarray
        S, G and the sizes of the groups, added up again.
    fourths, own : ndarray of shape (n_partitions,)
        Sums over the objects that a partition observed of ``|y_i|^4``, and that it put into a cluster of
        ``|y_i|^2``.
    """

    sums: Floats
    grams: Floats
    sizes: Floats
    fourths: Floats
    own: Floats


@dataclass(frozen=True)
class Reached:
    """A membership stored by the blocks: the end of a descent, and its measurements."""

    state: State
    measured: Measured
    kept: Kept
    n_samples: int

    def __len__(self) -> int:
        """Number of objects."""
        return self.n_samples


class BlockPairs:
    """All pairs of objects in blocks, as a `PairSet`.

    Parameters
    ----------
    labels : LabelBlocks
        The objects.
    n_clusters : int
        K.
    run : Run
        Seed, starts, lines of progress.
    """

    def __init__(self, labels: LabelBlocks, n_clusters: int, run: Run) -> None:
        self.labels, self.n_clusters, self.run = labels, n_clusters, run
        groups = labels.presence_groups
        # Unweighted: each partition has its own distance.
        self.model = FactoredModel(labels.offsets, None, groups.of_partition, len(groups.first))
        observed = labels.observed_counts.astype(np.float64)
        self.scale = scale_of(labels.n_samples, observed * (observed - 1))
        self._together = together(labels)
        self._round = 0

    def first(self, labels: LabelBlocks, stopping: Stopping) -> Reached:
        """Return the end of a descent with the labels and some weights."""
        descent = Descent(labels, self.n_clusters, stopping, self.run)
        return self._measured(descent, descent.descend("sweeps_0", descent.begin))

    def distances(self, Y: Reached) -> Floats:
        """Return d_u(Y) of every partition; 0 for one that observed no pair."""
        at = self.placing(Y)
        self_pairs = Y.measured.fourths, Y.measured.own
        return distances_of(self.labels, at, self_pairs, self._together) * self.scale

    def expected(self, Y: Reached) -> Floats:
        """Not available, because a previous membership may have to be restored."""
        raise ValueError("The corrected distance is not measured in blocks.")

    def descend(self, Y: Reached, weights: Floats, max_iter: int, tol: float) -> Reached:
        """Sweep over the blocks, from where an earlier descent ended."""
        self._round += 1
        stopping = Stopping(max_iter, tol, 1e-9)
        weighted = self.labels.reweighted(weights)
        descent = Descent(weighted, self.n_clusters, stopping, self.run.silently(), Y.kept)
        measured = Y.measured
        before = replace(Y.state, sums=measured.sums, grams=measured.grams, sizes=measured.sizes)
        squares, fourths = float(weights @ measured.own), float(weights @ measured.fourths)
        return self._measured(
            descent,
            descent.descend(
                f"sweeps_{self._round}", lambda: descent.again(before, squares, fourths)
            ),
        )

    def placing(self, Y: Reached) -> FactoredModel:
        """Return the model with the sums of a membership."""
        measured = Y.measured
        return replace(
            self.model, sums=measured.sums, grams=measured.grams, group_sizes=measured.sizes
        )

    def answer(self, Y: Reached) -> Answer:
        """Return the rule that gives the memberships of a block."""
        return rule_of(Y.kept, Y.state)

    def _measured(self, descent: Descent, state: State) -> Reached:
        def measure() -> Measured:
            block_sums = self.labels.look(
                "distances", _measure, descent.kept, (state.step,), self.model, self.n_clusters
            )
            return Measured(*added(block_sums))

        stage = f"distances_{self._round}"
        measured = self.labels.stages.state(stage, Measured, measure)
        return Reached(state, measured, descent.kept, self.labels.n_samples)


# -- tasks of blocks


def _measure(part: Part, stored: Any, model: FactoredModel, k: int) -> tuple[Floats, ...]:
    """Return the contribution of a block to `Measured`."""
    Y = read_memberships(stored)
    sums, grams, sizes, _, _ = sums_of_block(part.ensemble, Y, model, k)
    fourths, own_squares = of_self_pairs(part.ensemble, (Y**2).sum(axis=1))
    return sums, grams, sizes, fourths, own_squares
