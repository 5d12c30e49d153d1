"""Votes of the clusters of an ensemble for the clusters of a consensus."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from conclust._arrays.rows import shares_of_rows
from conclust._kernels import cluster_sums
from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import within_range
from conclust.similarity.certainty import ClusterSpread, mean_certainty
from conclust.spectra.gram import IndicatorProducts

# The constants of the default on labels: experiments/labels/README.md says what they were settled on.
# Jeffreys' prior of each label in a distribution of labels.
PRIOR = 0.5
# Members are independent within clusters if fewer than this number count as one.
REPEATS = 1.8
# A cut of the tree fails if its likelihood, relative to one cluster, is below this share of that of the most probable partition.
ENOUGH = 0.75
# Clusters above the median number count if the cut explains this share of them.
SEEN = 0.6
# Maximum number of rounds of EM.
ROUNDS = 10
# Support of a number in the trees from which it is clear; .08 to .15 give nearly the same.
CLEAR = 0.1
# Maximum number of entries of a table of the clusters of all members by those of a partition, for the largest number considered.
ENTRIES = 1 << 23
# Partitions are weighted by this power of their certainty (experiments/default/weights.py).
STEEPNESS = 2
# All objects enter the trees if they have few distinct rows of labels, up to this multiple of max_samples.
EQUAL_ROWS = 10
# Pieces of the clusters that constraints move, and the rank from which an object is typical of its piece (experiments/answers).
PIECES, TYPICAL = 30, 0.7
# Dissimilarities of pieces without votes are in [0, 2], and up to this value most pairs of objects are in the same cluster.
SAME_CLUSTER = 1.5
# What most votes for two pieces to be together add to a similarity, of which a common cluster adds 1.
VOTE = 2.0


def certain_clusters(ensemble: Ensemble, objects: Ints | None = None) -> tuple[Ensemble, Floats]:
    """Return the ensemble, partitions weighted by their certainty, and the certainty of its clusters (T,).

    objects: the objects that are used, and kept; None: all.
    """
    spread = ClusterSpread(part_of(ensemble, objects))
    part = spread.members
    certainty = mean_certainty(part, spread.certainty(part.partition_weights))
    steep = part.partition_weights * certainty**STEEPNESS
    # Weights are set on the whole ensemble, because a partition may have observed no object of the part.
    weighted = part_of(ensemble.reweighted(within_range(steep)), objects)
    return weighted, spread.certainty(weighted.partition_weights)


def with_relative_weights(ensemble: Ensemble) -> Ensemble:
    """Return the ensemble with weights of mean 1, without those of 0: only their ratios count."""
    if (weights := ensemble.weights) is None:
        return ensemble
    counting = weights[weights > 0]
    if (counting == counting[0]).all():
        return ensemble.reweighted((weights > 0).astype(np.float64))
    return ensemble.reweighted(within_range(weights / counting.mean()))


def part_of(ensemble: Ensemble, objects: Ints | None) -> Ensemble:
    """Return some objects of an ensemble, or the ensemble itself if they are all."""
    if objects is None or len(objects) == ensemble.n_samples:
        return ensemble
    return ensemble.part(objects)


def shared_with(ensemble: Ensemble, labels: Ints, shares: Floats | None = None) -> Floats:
    """Return the membership, times the shares of the objects, that clusters of the ensemble have in those of a partition (T, K)."""
    K = int(labels.max()) + 1
    if ensemble.is_soft:
        weights = np.ones(len(labels)) if shares is None else shares
        held = sp.csr_array((weights, labels, np.arange(len(labels) + 1)), shape=(len(labels), K))
        return np.asarray((ensemble.indicator.T @ held).toarray())
    sums = np.empty((int(ensemble.offsets[-1]), K))
    cluster_sums(ensemble.label_view, shares, labels, sums)
    return sums


def votes_for(ensemble: Ensemble, labels: Ints, counting: Floats) -> Floats:
    """Return how much membership in each cluster adds to the mean similarity with the clusters of the consensus (T, K).

    `counting` (T,): weight of co-clustering in each cluster.
    """
    shares = 1.0 / np.bincount(labels)[labels]
    return shared_with(ensemble, labels, shares) * counting[:, np.newaxis]


def clusters_with_most_votes(ensemble: Ensemble, votes: Floats) -> Ints:
    """Return the cluster of the consensus with the largest mean similarity to each object (n,)."""
    sums = IndicatorProducts.of(ensemble).times(votes)
    return np.asarray(shares_of_rows(sums).argmax(axis=1), dtype=np.int64)
