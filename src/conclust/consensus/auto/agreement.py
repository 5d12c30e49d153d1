"""How much the partitions agree, and whether they are attributes of the objects rather than clusterings."""

from __future__ import annotations

import math

import numpy as np

from conclust._types import Floats
from conclust.ensemble import Ensemble
from conclust.similarity import cluster_uncertainty

# Settled by experiments/attributes/classes.py. Attributes of objects have an agreement up to .25, and clusterings of the same
# objects from .4.
_LITTLE = 0.3


def agreement(ensemble: Ensemble) -> float:
    """Return the share of the entropy of a partition that another partition explains, averaged over all pairs.

    It is 1 for equal partitions, and about 0 for independent ones: what independent partitions of this size would explain is
    subtracted. Pairs count by the product of their weights and by the entropy to be explained.
    """
    weights = ensemble.partition_weights / ensemble.partition_weights.sum()
    partition_of = ensemble.column_partitions
    sizes = ensemble.cluster_sizes
    observed = np.maximum(_observed(ensemble), 1.0)
    shares = sizes / observed[partition_of]
    # The means over all other partitions, times the weight of these.
    left = float(weights[partition_of] @ (shares * cluster_uncertainty(ensemble)))
    positive = shares > 0
    bits = np.zeros(len(shares))
    bits[positive] = -shares[positive] * np.log2(shares[positive])
    n_partitions = ensemble.n_partitions
    in_clusters = np.bincount(partition_of, weights=sizes, minlength=n_partitions)
    noise = np.maximum(observed - in_clusters, 0.0)  # clusters of one object
    of_clusters = np.bincount(partition_of, weights=bits, minlength=n_partitions)
    entropies = of_clusters + noise / observed * np.log2(observed)
    total = float(weights @ entropies) - float(np.square(weights) @ entropies)
    if total <= 0:
        return 1.0
    # Two partitions observe a b / n objects in common, if which they observe is independent.
    free = (ensemble.cluster_counts - 1) * weights * math.sqrt(ensemble.n_samples) / observed
    by_chance = (float(free.sum()) ** 2 - float(np.square(free).sum())) / (2.0 * math.log(2.0))
    return 1.0 - (left + by_chance) / total


def _observed(ensemble: Ensemble) -> Floats:
    """Return the number of objects that each partition observed."""
    if ensemble.has_missing:
        return np.asarray(ensemble.present.sum(axis=0), dtype=np.float64)
    return np.full(ensemble.n_partitions, float(ensemble.n_samples))


def are_classes(ensemble: Ensemble, decided: bool | None = None) -> bool:
    """Return whether latent classes explain the partitions: these agree so little that they may be independent within clusters.

    `decided`: the decision, if it was taken before. Soft partitions and fewer than three have no latent classes.
    """
    if ensemble.is_soft or ensemble.n_partitions < 3:
        return False
    return agreement(ensemble) < _LITTLE if decided is None else decided
