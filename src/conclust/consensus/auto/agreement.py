"""How much the partitions agree, and whether they are attributes of the objects rather than clusterings."""

from __future__ import annotations

import numpy as np

from conclust._types import Floats, Ints
from conclust.consensus.auto.votes import weighted_by_certainty
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import MISSING
from conclust.similarity.certainty import ClusterSpread

# Settled by experiments/attributes/classes.py. Below, classes are better than trees, above, trees;
# attributes of objects have an agreement up to .25.
_LITTLE = 0.5


def agreement(ensemble: Ensemble) -> float:
    """Return the share of the entropy of a partition that another partition explains, averaged over all pairs.

    The entropy is that within clusters of the same sizes drawn at random: the agreement is 1 for equal partitions and about 0 for
    independent ones. One draw, with a fixed seed, takes the place of the expectation. Partitions count by their certainty, so
    that a few random ones among others do not count.
    """
    labels = ensemble.labels
    observed = (labels != MISSING).any(axis=0)
    if not observed.all():
        labels = labels[:, observed]
        ensemble = Ensemble(labels, weights=ensemble.partition_weights[observed])
    spread = ClusterSpread(ensemble)
    weights = weighted_by_certainty(ensemble, spread).partition_weights
    permuted = Ensemble(shuffled(labels, np.random.default_rng(0)))
    by_chance = _unexplained(ClusterSpread(permuted, keep=False), weights)
    return 1.0 - _unexplained(spread, weights) / by_chance if by_chance > 0 else 1.0


def shuffled(labels: Ints, rng: np.random.Generator) -> Ints:
    """Return labels (n_samples, n_partitions) whose columns are permuted independently; missing ones stay in their places."""
    permuted = labels.copy()
    for column in permuted.T:
        observed = np.flatnonzero(column != MISSING)
        column[observed] = column[rng.permutation(observed)]
    return permuted


def agree_little(ensemble: Ensemble) -> bool:
    """Return whether three or more hard partitions agree so little that latent classes are a better consensus than trees."""
    if ensemble.is_soft or ensemble.n_partitions < 3 or ensemble.n_samples < 2:
        return False
    return agreement(ensemble) < _LITTLE


def _unexplained(spread: ClusterSpread, weights: Floats) -> float:
    """Return the mean entropy of the labels of a partition within the clusters of another, in bits."""
    members = spread.members
    partition_of, sizes = members.column_partitions, members.cluster_sizes
    in_clusters = np.bincount(partition_of, weights=sizes, minlength=members.n_partitions)
    shares: Floats = weights[partition_of] * sizes / np.maximum(in_clusters, 1.0)[partition_of]
    return float(shares @ spread.uncertainty(weights)) / float(weights.sum())
