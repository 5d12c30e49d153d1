"""The k-means-like estimators on label vectors that are read in blocks: Lloyd's iterations.

In memory, single objects move one after the other; here all move to the nearest centroid at once. A fixed point of
single moves is one of these iterations, but they may end elsewhere. A noise object, similar to no other, is placed
like a new object, by the partitions in which it is in a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats, Ints
from conclust.blocks.facts import Part
from conclust.blocks.finishing import Answer
from conclust.blocks.labels import LabelBlocks
from conclust.consensus.label_rows import ON_A_PART, Centroids, nearest
from conclust.consensus.label_vectors.estimator import LabelVectorKMeans
from conclust.ensemble.labels import canonical_labels, one_hot_rows


@dataclass(frozen=True)
class _Lloyd:
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


def fit(model: LabelVectorKMeans, labels: LabelBlocks, seed: np.random.SeedSequence) -> Answer:
    """Iterate from the clusters of a sample until the loss no longer decreases.

    Parameters
    ----------
    model : LabelVectorKMeans
        Estimator, whose attributes are set.
    labels : LabelBlocks
        The objects.
    seed : SeedSequence
        Seed of the sample and of the starts.
    """
    counting = model._counting_as(labels)
    weighed = labels if counting is None else labels.reweighted(counting)
    sample = weighed.sample(ON_A_PART, seed)
    started = canonical_labels(model._clustered(sample, seed).labels)
    constant = 0.0  # the part of the loss that is not a cost of an object
    if model._loss().spread == "quadratic":  # the squared lengths of all rows
        inside = float(weighed.column_weights @ weighed.cluster_sizes)
        constant = inside + float(weighed.partition_weights @ weighed.noise_counts)

    def looked(centroids: Centroids, n_iter: int) -> _Lloyd:
        costs = model._costs(weighed, centroids)
        sums, present, noise, loss = weighed.total(f"k-means, pass {n_iter}", _sums, *costs)
        return _Lloyd(sums, present, noise, float(loss) + constant, n_iter, False)

    state = looked(Centroids.of(sample, started), 0)
    while not state.done and state.n_iter < model.max_iter:
        following = looked(state.centroids(weighed), state.n_iter + 1)
        gain = state.loss - following.loss
        state = replace(following, done=bool(gain <= model.tol * abs(following.loss)))
    model._offsets = labels.offsets
    centroids = state.centroids(weighed)
    loss = _loss_at(state, centroids, weighed, constant)
    value = model._value(weighed, centroids, loss)
    model._label_cost, model._block_cost = model._costs(weighed, centroids)
    model._keep_end(value, state.n_iter, state.done, "passes")
    return Answer(_nearest, (model._label_cost, model._block_cost))


def _loss_at(state: _Lloyd, centroids: Centroids, labels: LabelBlocks, constant: float) -> float:
    """Return the quadratic or, if `constant` is 0, the entropic loss at some centroids, noise included."""
    present = state.present[:, state.present.any(axis=0)]
    if constant:
        inside = centroids.lengths
    else:
        inside = centroids.sums_of(lambda m: m * np.log(np.where(m > 0, m, 1.0)))
    return constant - float(labels.partition_weights @ (present * inside).sum(axis=1))


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


def _nearest(part: Part, stored: None, cost: Floats, block: Floats) -> Ints:
    """Return the cluster with the lowest cost for each object of a block."""
    return nearest(part.ensemble.codes, part.ensemble.offsets, cost, block)
