"""Changes a partition so that it keeps constraints, and otherwise as little as possible.

The tree divides the clusters into pieces. An object with a constraint represents its piece if it is typical of the piece, unless
a more typical object or at least as many constraints contradict this; otherwise it stands alone. Pieces with objects that must be
together are joined. The resulting units are merged by average linkage, and those that stand alone join the most similar cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import leaves_list
from scipy.stats import rankdata

from conclust._types import Bools, Floats, Ints
from conclust.consensus.auto.votes import PIECES, SAME_CLUSTER, TYPICAL, votes_for
from conclust.consensus.constraints import Bounds, Constraints, coloured
from conclust.consensus.linkage.constrained import dissolved_to, grown, separated, settled
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import canonical_labels
from conclust.spectra.gram import IndicatorProducts
from conclust.trees.agglomeration import cut, from_merges


@dataclass(frozen=True, eq=False)
class Repair:
    """A dendrogram that keeps constraints.

    Attributes
    ----------
    tree : ndarray of shape (n_objects - 1, 4)
        The dendrogram, in SciPy's form.
    bounds : Bounds
        Numbers of clusters into which it can be cut without breaking a constraint.
    n_clusters : int
        Number of clusters if only constraints split and join the clusters of the partition.
    """

    tree: Floats
    bounds: Bounds
    n_clusters: int


def repair(
    tree: Floats,
    labels: Ints,
    ensemble: Ensemble,
    counting: Floats,
    constraints: Constraints,
    n_clusters: int | None = None,
    max_clusters: int | None = None,
) -> Repair:
    """Return a dendrogram that keeps constraints and, as far as they allow, the clusters of a partition.

    Parameters
    ----------
    tree : ndarray of shape (n_objects - 1, 4)
        Dendrogram of the objects, grown without constraints.
    labels : ndarray of int64 of shape (n_objects,)
        The partition.
    ensemble : Ensemble
        The members, for these objects.
    counting : ndarray of shape (n_columns,)
        Weight of co-clustering in each cluster of the ensemble.
    constraints : Constraints
        Constraints on the objects.
    n_clusters : int, default=None
        Number of clusters that a cut should give. If there are more, units of the smallest clusters move to others, or a
        colouring assigns those that must be apart. If that is not enough, objects with constraints represent no pieces.
        None: the number at which the merges end that join no clusters of the partition.
    max_clusters : int, default=None
        Number that they should not exceed if none is given. None: no limit.
    """
    pieces, ranks = pieces_of(tree, labels, ensemble, counting)
    represents = ranks >= TYPICAL
    represents &= ~_outvoted(pieces, labels, represents, constraints)
    for each in (represents, np.zeros_like(represents)):
        units, apart = _units(pieces, each, ranks, constraints)
        alone = np.ones(int(units.max()) + 1, dtype=np.bool_)
        alone[units[~constraints.touched]] = False
        similarity, sizes = _similarities(units, labels, ensemble, counting)
        clusters = _clusters(similarity, sizes, alone, apart, n_clusters, max_clusters)
        number = int(clusters.max()) + 1
        if number <= (n_clusters or number):
            break
    # Units of different clusters are merged after those of one, even if these have nothing in common.
    across = clusters[:, np.newaxis] != clusters
    left, right, heights, smallest = _merges(similarity - 4.0 * across, sizes, apart)
    _, first = np.unique(units, return_index=True)
    within = _merges_within(tree, units, constraints.groups)
    top = float(within[2].max(initial=0.0))
    outer = np.maximum.accumulate(np.maximum(heights / 2.0 - 2.0, top))
    outer[len(sizes) - smallest :] = max(1.0, top)
    both = zip(within, (first[left], first[right], outer), strict=True)
    tree = from_merges(*(np.concatenate(each) for each in both))
    return Repair(tree, Bounds(smallest, constraints.n_groups), number)


def pieces_of(
    tree: Floats, labels: Ints, ensemble: Ensemble, counting: Floats
) -> tuple[Ints, Floats]:
    """Return the piece of each object, and its rank.

    The rank is how many objects of the piece have less similarity with it, relative to the largest number; 1 if all have the same.
    """
    columns = np.stack([labels, cut(tree, min(PIECES, len(labels)))])
    pieces = np.unique(columns, axis=1, return_inverse=True)[1].astype(np.int64).ravel()
    votes = votes_for(ensemble, pieces, counting)
    own = IndicatorProducts.of(ensemble).times(votes)[np.arange(len(pieces)), pieces]
    ranks = np.ones(len(pieces))
    for piece in range(int(pieces.max()) + 1):
        inside = np.flatnonzero(pieces == piece)
        lower = rankdata(own[inside], method="min") - 1.0
        if lower.any():
            ranks[inside] = lower / lower.max()
    return pieces, ranks


def _outvoted(pieces: Ints, labels: Ints, represents: Bools, constraints: Constraints) -> Bools:
    """Return objects whose constraints break the partition, while others between the same two pieces do not.

    Each constraint between objects that represent their pieces is a vote for these two pieces to be together or apart.
    Objects do not represent their piece where as many votes are for the partition as against it.
    """
    groups, (one, other) = constraints.groups, constraints.apart.T
    speak = np.flatnonzero(constraints.touched & represents)
    counts = np.zeros((constraints.n_groups, int(pieces.max()) + 1))
    np.add.at(counts, (groups[speak], pieces[speak]), 1.0)
    holds = (counts > 0).astype(np.float64)
    together = holds.T @ holds
    np.fill_diagonal(together, (counts > 1).sum(axis=0))
    apart = holds[one].T @ holds[other]
    apart += np.triu(apart.T, 1) + np.tril(apart.T, -1)
    of_pieces = labels[np.unique(pieces, return_index=True)[1]]
    same = of_pieces[:, np.newaxis] == of_pieces
    # If nothing else contradicts pairs that join two clusters, those that keep them do.
    stays = (together * same).sum(axis=0) * (len(one) == 0)
    joins = ~same & (together - apart <= np.maximum(stays[:, np.newaxis], stays))
    splits = same & (together - apart >= 0)
    opposed = np.zeros_like(holds)
    np.add.at(opposed, one, holds[other])
    np.add.at(opposed, other, holds[one])
    silent = (holds @ joins + opposed @ splits)[groups, pieces] > 0
    return np.asarray(silent & constraints.touched & represents)


def _units(
    pieces: Ints, represents: Bools, ranks: Floats, constraints: Constraints
) -> tuple[Ints, Ints]:
    """Return the unit of each object, and the pairs of units that must be apart.

    Each object joins its group with its piece, unless these must be apart; typical objects come first.
    """
    touched = np.flatnonzero(constraints.touched)
    names, first, group_of = np.unique(
        constraints.groups[touched], return_index=True, return_inverse=True
    )
    ends = np.searchsorted(names, constraints.apart)
    # Pieces, and then groups; a piece gets the name of the group that it joins.
    n_pieces = int(pieces.max()) + 1
    nodes = np.arange(n_pieces + len(names))
    closed = separated(len(nodes), n_pieces + ends)
    for at in np.lexsort((touched, -ranks[touched])).tolist():
        piece, group = nodes[pieces[touched[at]]], nodes[n_pieces + group_of[at]]
        if represents[touched[at]] and piece != group and not closed[piece, group]:
            nodes[nodes == piece] = group
            closed[group] |= closed[piece]
            closed[:, group] |= closed[:, piece]
    of_objects = pieces.copy()
    of_objects[touched] = n_pieces + group_of
    units = canonical_labels(nodes[of_objects])
    return units, units[touched[first]][ends]


def _similarities(
    units: Ints, labels: Ints, ensemble: Ensemble, counting: Floats
) -> tuple[Floats, Floats]:
    """Return the mean similarity of units, relative to the largest, plus the share of pairs in one cluster; and the sizes."""
    sizes = np.bincount(units).astype(np.float64)
    means = votes_for(ensemble, units, np.ones(len(counting)))
    similarity = (means * counting[:, np.newaxis]).T @ means
    similarity = (similarity + similarity.T) / 2.0
    shares = np.zeros((len(sizes), int(labels.max()) + 1))
    np.add.at(shares, (units, labels), 1.0)
    shares /= sizes[:, np.newaxis]
    largest = float(similarity.max()) or 1.0
    return np.clip(similarity / largest, 0.0, 1.0) + shares @ shares.T, sizes


def _clusters(
    similarity: Floats,
    sizes: Floats,
    alone: Bools,
    apart: Ints,
    n_clusters: int | None,
    max_clusters: int | None,
) -> Ints:
    """Return the clusters of units: those with pieces are merged, those that stand alone join them, and all settle."""
    clusters = np.full(len(sizes), -1, dtype=np.int64)
    for held, wanted in ((~alone, n_clusters), (np.ones_like(alone), None)):
        chosen = np.flatnonzero(held & (clusters < 0))
        if not len(chosen):  # the second time: units that may be in none of the clusters
            continue
        place = np.full(len(sizes), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        ends = place[apart]
        left, right, heights, smallest = _merges(
            similarity[np.ix_(chosen, chosen)], sizes[chosen], ends[(ends >= 0).all(axis=1)]
        )
        shown = len(chosen) - int(np.sum(heights[: len(chosen) - smallest] <= SAME_CLUSTER))
        number = wanted or min(shown, max_clusters or shown)
        order = np.arange(len(left), dtype=np.float64)
        merged = cut(from_merges(left, right, order), min(max(number, smallest), len(chosen)))
        clusters[chosen] = merged + clusters.max() + 1
        clusters = settled(clusters, similarity, sizes, apart)
    most = n_clusters or max_clusters
    if most is not None and clusters.max() >= most:
        fewer = dissolved_to(most, clusters, similarity, sizes, apart)
        if fewer is None:
            fewer = coloured(len(sizes), apart, most, similarity)
        if fewer is not None:
            clusters = settled(fewer, similarity, sizes, apart)
    return clusters


def _merges(similarity: Floats, sizes: Floats, apart: Ints) -> tuple[Ints, Ints, Floats, int]:
    """Return the merges of units by average linkage, those that are apart last, and the number of clusters before these."""
    return grown(2.0 - similarity, sizes, "average", np.arange(len(sizes)), apart)


def _merges_within(tree: Floats, units: Ints, groups: Ints) -> tuple[Ints, Ints, Floats]:
    """Return the merges within units: of groups that must be together, at height 0, then those of the tree."""
    heads = np.unique(groups, return_index=True)[1][groups]
    at_once = np.flatnonzero(heads != np.arange(len(units)))
    # Place of each leaf, and the row of the tree that joins the leaves at each place and the next.
    place = np.argsort(leaves_list(tree))
    begins, joined_by = place.tolist(), np.full(len(units), -1, dtype=np.int64)
    for row, (one, other) in enumerate(tree[:, :2].astype(np.int64).tolist()):
        begins.append(min(begins[one], begins[other]))
        joined_by[max(begins[one], begins[other]) - 1] = row
    inside = np.flatnonzero(heads == np.arange(len(units)))
    inside = inside[np.lexsort((place[inside], units[inside]))]
    left, right = np.stack([inside[:-1], inside[1:]])[:, np.diff(units[inside]) == 0]
    ends = zip(place[left].tolist(), place[right].tolist(), strict=True)
    rows = np.array([joined_by[begin:end].max() for begin, end in ends], dtype=np.int64)
    order = np.argsort(rows, kind="stable")
    return (
        np.concatenate([heads[at_once], left[order]]),
        np.concatenate([at_once, right[order]]),
        np.concatenate([np.zeros(len(at_once)), tree[rows[order], 2]]),
    )
