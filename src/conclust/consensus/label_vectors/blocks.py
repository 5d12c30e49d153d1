"""Lloyd's iterations on label vectors that are read in blocks.

In memory, single objects move one after the other; here all move to the nearest centroid at once. A fixed point of
single moves is one of these iterations, but they may end elsewhere. A noise object, similar to no other, is placed
like a new object, by the partitions in which it is in a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats, Ints
from conclust.blocks.facts import Part
from conclust.blocks.labels import LabelBlocks
from conclust.consensus.label_rows import Centroids, nearest
from conclust.ensemble.labels import one_hot_rows


@dataclass(frozen=True)
class Lloyd:
    """State of the iterations.

    Attributes
    ----------
    sums : ndarray of shape (T, K)
        Number of objects of each cluster with each label.
    present, noise : ndarray of shape (N, K)
        Number of objects that each partition observed, and that are noise in it.
    loss : float
        Sum of the costs of all objects, by the previous centroids.
    n_iter : int
        Number of passes over all objects.
    done : bool
        Whether the last pass lowered the loss by less than the tolerance.
    """

    sums: Floats
    present: Floats
    noise: Floats
    loss: float
    n_iter: int
    done: bool

    def centroids(self, labels: LabelBlocks) -> Centroids:
        """Return the centroids of non-empty clusters."""
        nonempty = self.present.any(axis=0)
        held = (self.sums, self.present, self.noise)
        sums, present, noise = (each[:, nonempty] for each in held)
        return Centroids.of_sums(sums, present, noise, labels.offsets)


Costs = Callable[[Centroids], tuple[Floats, Floats]]


def iterate(
    labels: LabelBlocks, first: Centroids, costs: Costs, constant: float, max_iter: int, tol: float
) -> Lloyd:
    """Iterate from some centroids until the loss no longer decreases.

    Parameters
    ----------
    labels : LabelBlocks
        The objects.
    first : Centroids
        Initial centroids.
    costs : callable
        Function that returns the cost of each label (T, K) and of being observed (N, K), from centroids.
    constant : float
        Part of the loss that is not in the costs.
    max_iter : int
        Maximum number of passes over all objects.
    tol : float
        Stop when a pass lowers the loss by less than this share of it.
    """

    def looked(centroids: Centroids, n_iter: int) -> Lloyd:
        block_sums = labels.total(f"k-means, pass {n_iter}", _sums, *costs(centroids))
        sums, present, noise, loss = block_sums
        return Lloyd(sums, present, noise, float(loss) + constant, n_iter, False)

    state = looked(first, 0)
    while not state.done and state.n_iter < max_iter:
        following = looked(state.centroids(labels), state.n_iter + 1)
        gain = state.loss - following.loss
        state = replace(following, done=bool(gain <= tol * abs(following.loss)))
    return state


def _sums(part: Part, cost: Floats, block: Floats) -> tuple[NDArray[Any], ...]:
    """Return the sums over the objects of a block, each in the cluster with the lowest cost."""
    ensemble = part.ensemble
    present = ensemble.present.astype(np.float64)
    total = ensemble.indicator @ cost + present @ block
    chosen = total.argmin(axis=1)
    member = one_hot_rows(chosen, cost.shape[1])
    noise = ensemble.noise.astype(np.float64)
    return (
        np.asarray(ensemble.indicator.T @ member),
        present.T @ member,
        noise.T @ member,
        np.asarray(total[np.arange(len(chosen)), chosen].sum()),
    )


def nearest_in_block(part: Part, stored: None, cost: Floats, block: Floats) -> Ints:
    """Return the cluster with the lowest cost for each object of a block."""
    return nearest(part.ensemble.codes, part.ensemble.offsets, cost, block)
