"""Changes clusters so that they keep constraints, and otherwise as little as possible.

The tree divides the clusters into pieces. A constraint between objects that are typical of their pieces is a vote for these to be
together or apart: the pieces are merged again by average linkage, first those of one cluster or with votes for it, and never those with
more votes against it. Where this breaks fewer constraints, the pieces move. Then objects with constraints that are still broken move
alone, to the most similar cluster that they may be in.
"""

from __future__ import annotations

import numpy as np

from conclust._types import Bools, Floats, Ints
from conclust.consensus.auto.trees import CERTAIN, Trees
from conclust.consensus.auto.votes import PIECES, SAME_CLUSTER, TYPICAL, VOTE, votes_for
from conclust.consensus.constraints import Constraints, coloured
from conclust.consensus.linkage.constrained import dissolved_to, grown, settled
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import canonical_labels, one_hot
from conclust.spectra.gram import IndicatorProducts
from conclust.trees.agglomeration import cut, from_merges


def repaired(
    trees: Trees, labels: Ints, constraints: Constraints, least: int, most: int | None
) -> Ints:
    """Return clusters changed to keep constraints (n_objects,).

    Parameters
    ----------
    trees : Trees
        The trees of the objects.
    labels : ndarray of int64 of shape (n_objects,)
        The clusters, 0 to K - 1.
    constraints : Constraints
        Constraints on these objects.
    least, most : int, int or None
        Smallest and largest number of clusters. More are returned if no way to `most` is found, and at most as many as there are
        groups of objects that must be together.
    """
    ensemble, counting, groups = trees.ensemble, trees.counting, constraints.groups
    most, least = most or len(labels), min(least, constraints.n_groups)
    pieces = pieces_of(trees.matrices[CERTAIN], labels, max(PIECES, least))
    typical = typical_objects(pieces, ensemble, counting)
    left, right, heights, smallest = merges_of(
        pieces, labels, typical, ensemble, counting, constraints
    )
    shown = smallest + int(np.sum(heights[: len(left) + 1 - smallest] > SAME_CLUSTER))
    number = max(min(max(shown, least), most), smallest)
    order = np.arange(len(left), dtype=np.float64)
    moved = cut(from_merges(left, right, order), number)[pieces]
    if constraints.broken(moved) < constraints.broken(labels):
        labels = moved
    # Units that move: groups of objects with constraints, and the other objects of a piece, or all groups if these are too few.
    units = canonical_labels(np.where(constraints.touched, len(labels) + groups, pieces))
    units = units if units.max() + 1 >= least else groups
    apart = units[np.unique(groups, return_index=True)[1]][constraints.apart]
    similarity, sizes = _similarities(units, labels, ensemble, counting)
    clusters = labels[np.unique(units, return_index=True)[1]]
    return _kept(clusters, similarity, sizes, apart, least, most)[units]


def _kept(
    clusters: Ints, similarity: Floats, sizes: Floats, apart: Ints, least: int, most: int
) -> Ints:
    """Return clusters of units in which those that must be apart are."""
    # Of two units that must be apart, the smaller one leaves.
    pairs = np.take_along_axis(apart, np.argsort(-sizes[apart], axis=1, kind="stable"), axis=1)
    clusters[pairs[clusters[pairs[:, 0]] == clusters[pairs[:, 1]], 1]] = -1
    clusters = settled(clusters, similarity, sizes, apart)
    while len(left := np.flatnonzero(clusters < 0)):  # no cluster is open to them
        clusters[left[sizes[left].argmax()]] = clusters.max() + 1
        clusters = settled(clusters, similarity, sizes, apart)
    if clusters.max() >= most:
        fewer = dissolved_to(most, clusters, similarity, sizes, apart)
        if fewer is None:
            fewer = coloured(len(sizes), apart, most, similarity)
        if fewer is not None:
            clusters = settled(fewer, similarity, sizes, apart)
    while (K := int(clusters.max()) + 1) < least:  # the unit that fits worst leaves its cluster
        held = one_hot(clusters, K)
        own = (((similarity * sizes) @ held) / (sizes @ held))[np.arange(len(sizes)), clusters]
        own[np.bincount(clusters)[clusters] == 1] = np.inf
        clusters[own.argmin()] = K
    return clusters


def pieces_of(tree: Floats, labels: Ints, n_pieces: int) -> Ints:
    """Return the piece of each object: the clusters, divided by a cut of the tree."""
    columns = np.stack([labels, cut(tree, min(n_pieces, len(labels)))])
    return np.unique(columns, axis=1, return_inverse=True)[1].astype(np.int64).ravel()


def typical_objects(pieces: Ints, ensemble: Ensemble, counting: Floats) -> Bools:
    """Return the objects that are more similar to their piece than most of it are, or as similar."""
    votes = votes_for(ensemble, pieces, counting)
    own = IndicatorProducts.of(ensemble).times(votes)[np.arange(len(pieces)), pieces]
    least = [np.quantile(own[pieces == piece], TYPICAL) for piece in range(votes.shape[1])]
    return np.asarray(own >= np.array(least)[pieces])


def merges_of(
    pieces: Ints,
    labels: Ints,
    typical: Bools,
    ensemble: Ensemble,
    counting: Floats,
    constraints: Constraints,
) -> tuple[Ints, Ints, Floats, int]:
    """Return merges of pieces, and the number of clusters before those that more votes are against than for.

    Each constraint is a vote of the typical objects for their pieces to be together or apart; pieces of one cluster are similar.
    """
    similarity, sizes = _similarities(pieces, labels, ensemble, counting)
    speak = np.flatnonzero(constraints.touched & typical)
    holds = np.zeros((constraints.n_groups, len(sizes)))
    holds[constraints.groups[speak], pieces[speak]] = 1.0
    one, other = constraints.apart.T
    apart = holds[one].T @ holds[other]
    votes = holds.T @ holds - apart - apart.T
    np.fill_diagonal(votes, 0.0)
    likely = similarity + VOTE * np.maximum(votes, 0.0) / max(1.0, float(votes.max()))
    closed = np.argwhere(np.triu(votes < 0))
    return grown(2.0 - likely, sizes, "average", np.arange(len(sizes)), closed)


def _similarities(
    units: Ints, labels: Ints, ensemble: Ensemble, counting: Floats
) -> tuple[Floats, Floats]:
    """Return the mean similarity of units, the largest of an object with itself being 1, plus the share of pairs in one cluster.

    The second array has their sizes.
    """
    sizes = np.bincount(units).astype(np.float64)
    means = votes_for(ensemble, units, np.ones(len(counting)))
    similarity = (means * counting[:, np.newaxis]).T @ means
    largest = float(IndicatorProducts.of(ensemble).times(counting[:, np.newaxis]).max()) or 1.0
    shares = np.zeros((len(sizes), int(labels.max()) + 1))
    np.add.at(shares, (units, labels), 1.0)
    shares /= sizes[:, np.newaxis]
    return (similarity + similarity.T) / (2.0 * largest) + shares @ shares.T, sizes
