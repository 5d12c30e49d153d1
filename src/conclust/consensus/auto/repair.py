"""Changes a partition so that it keeps constraints, and otherwise as little as possible.

The tree divides the clusters into pieces. An object with a constraint represents its piece if it is typical of the piece, unless
a more typical object or at least as many constraints contradict this; otherwise it stands alone. Pieces with objects that must be
together are joined. The resulting units are merged (`merging`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise, product

import numpy as np

from conclust._types import Bools, Floats, Ints
from conclust.consensus.auto.merging import (
    Merges,
    Units,
    merged,
    merged_by_colours,
    merged_settled,
    merged_to,
)
from conclust.consensus.auto.number import PIECES, TYPICAL
from conclust.consensus.auto.votes import votes_for
from conclust.consensus.constraints import Constraints
from conclust.ensemble import Ensemble
from conclust.spectra.gram import IndicatorProducts
from conclust.trees.dendrogram import cut, from_merges


@dataclass(frozen=True, eq=False)
class Repair:
    """A dendrogram that keeps constraints.

    Attributes
    ----------
    tree : ndarray of shape (n_objects - 1, 4)
        The dendrogram, in SciPy's form.
    smallest, largest : int
        Numbers of clusters into which it can be cut without breaking a constraint.
    n_clusters : int
        Number of clusters if only constraints split and join the clusters of the partition.
    """

    tree: Floats
    smallest: int
    largest: int
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
        Number of clusters that a cut should give. If the merges end with more clusters, units of the smallest clusters
        move to others. If that is not enough, objects with constraints represent no pieces, and finally a colouring
        assigns these objects. None: the number at which the merges end that join no clusters of the partition.
    max_clusters : int, default=None
        Largest number if none is given. None: no limit.

    Notes
    -----
    Many constraints lead the merges of the most similar clusters astray. At the number, units therefore move to the most
    similar cluster where they may be, until none moves.
    """
    pieces, ranks = pieces_of(tree, labels, ensemble, counting)
    represents = ranks >= TYPICAL
    represents[_outvoted(pieces, labels, represents, constraints)] = False
    merges = None
    for each in (represents, np.zeros_like(represents)):
        of_objects, apart = _units(pieces, each, ranks, constraints)
        alone = np.ones(int(of_objects.max()) + 1, dtype=np.bool_)
        alone[of_objects[~constraints.touched]] = False
        described = _similarities(of_objects, labels, ensemble, counting)
        units = Units(*described, alone=alone, apart=apart)
        found = merged(units)
        if n_clusters is not None and found.smallest > n_clusters:
            found = merged_to(n_clusters, units, found)
        if merges is None or (n_clusters is not None and found.smallest <= n_clusters):
            unit_of, best_units, merges = of_objects, units, found
        if n_clusters is None or merges.smallest <= n_clusters:
            break
    else:
        assert n_clusters is not None
        found = merged_by_colours(n_clusters, units, found)
        if found.smallest <= n_clusters:
            unit_of, best_units, merges = of_objects, units, found
    assert merges is not None
    number = n_clusters or min(merges.n_clusters, max_clusters or merges.n_clusters)
    merges = merged_settled(number, best_units, merges)
    return Repair(
        tree=_grown(tree, unit_of, merges, constraints),
        smallest=merges.smallest,
        largest=constraints.n_groups,
        n_clusters=merges.n_clusters,
    )


def _grown(tree: Floats, units: Ints, merges: Merges, constraints: Constraints) -> Floats:
    """Return the dendrogram of the objects, first within units and then of the units."""
    _, first = np.unique(units, return_index=True)
    inner = _merges_within(tree, units, constraints)
    top = float(inner[2].max(initial=0.0))
    allowed = len(merges.left) + 1 - merges.smallest
    outer = np.maximum.accumulate(np.maximum(merges.heights - 1.0, top))
    outer[allowed:] = max(1.0, top)
    whole = (first[merges.left], first[merges.right], outer)
    return from_merges(*(np.concatenate(both) for both in zip(inner, whole, strict=True)))


def pieces_of(
    tree: Floats, labels: Ints, ensemble: Ensemble, counting: Floats
) -> tuple[Ints, Floats]:
    """Return the piece of each object, and its rank: how many objects of the piece are less similar to the piece, in [0, 1]."""
    pieces = _numbered(np.stack([labels, cut(tree, min(PIECES, len(labels)))]))
    return pieces, _ranks(pieces, ensemble, counting)


def _numbered(columns: Ints) -> Ints:
    """Return the number of each object's combination of labels, (n_labels, n_objects), in lexicographic order."""
    _, numbers = np.unique(columns, axis=1, return_inverse=True)
    return np.asarray(numbers, dtype=np.int64).ravel()


def _ranks(pieces: Ints, ensemble: Ensemble, counting: Floats) -> Floats:
    """Return how many objects of its piece have less similarity with the piece than an object, relative to the largest number (n,).

    It is 1 for all objects of a piece if they have the same similarity.
    """
    votes = votes_for(ensemble, pieces, counting)
    own = IndicatorProducts.of(ensemble).times(votes)[np.arange(len(pieces)), pieces]
    order = np.lexsort((own, pieces))
    sizes = np.bincount(pieces)
    begins = np.cumsum(sizes) - sizes
    ranks = np.empty(len(pieces))
    for begin, size in zip(begins.tolist(), sizes.tolist(), strict=True):
        inside = order[begin : begin + size]
        lower = np.searchsorted(own[inside], own[inside], side="left")
        ranks[inside] = lower / lower[-1] if lower[-1] > 0 else 1.0
    return ranks


def _units(
    pieces: Ints, represents: Bools, ranks: Floats, constraints: Constraints
) -> tuple[Ints, Ints]:
    """Return the unit of each object, and the pairs of units that must be apart.

    Each object joins its group with its piece, unless these must be apart; typical objects come first.
    """
    touched = np.flatnonzero(constraints.touched)
    n_pieces = int(pieces.max()) + 1
    groups = {
        group: n_pieces + at
        for at, group in enumerate(np.unique(constraints.groups[touched]).tolist())
    }
    parent = list(range(n_pieces + len(groups)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    against: dict[int, set[int]] = {node: set() for node in range(len(parent))}
    for one, other in constraints.apart.tolist():
        against[groups[one]].add(groups[other])
        against[groups[other]].add(groups[one])
    for at in touched[np.lexsort((touched, -ranks[touched]))].tolist():
        if not represents[at]:
            continue
        group, piece = root(groups[int(constraints.groups[at])]), root(int(pieces[at]))
        if group != piece and all(root(other) != piece for other in against[group]):
            parent[piece] = group
            against[group] |= against[piece]
    nodes = pieces.copy()
    nodes[touched] = [groups[group] for group in constraints.groups[touched].tolist()]
    roots = np.array([root(node) for node in range(len(parent))])
    _, units = np.unique(roots[nodes], return_inverse=True)
    unit_of = np.empty(len(parent), dtype=np.int64)
    unit_of[roots[nodes]] = units
    ends = np.array([[groups[a], groups[b]] for a, b in constraints.apart.tolist()], dtype=np.int64)
    return units.astype(np.int64), unit_of[roots[ends.reshape(-1, 2)]]


def _similarities(
    units: Ints, labels: Ints, ensemble: Ensemble, counting: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the mean similarity of units, relative to the largest, the share of pairs in one cluster, and the sizes."""
    sizes = np.bincount(units).astype(np.float64)
    means = votes_for(ensemble, units, np.ones(len(counting)))
    similarity = (means * counting[:, np.newaxis]).T @ means
    similarity = (similarity + similarity.T) / 2.0
    shares = np.zeros((len(sizes), int(labels.max()) + 1))
    np.add.at(shares, (units, labels), 1.0)
    shares /= sizes[:, np.newaxis]
    largest = float(similarity.max()) or 1.0
    return np.clip(similarity / largest, 0.0, 1.0), shares @ shares.T, sizes


def _outvoted(pieces: Ints, labels: Ints, represents: Bools, constraints: Constraints) -> Ints:
    """Return objects whose constraints break the partition, while others between the same two pieces do not.

    Each constraint between objects that represent their pieces is a vote for these two pieces to be together or apart.
    Objects do not represent their piece where as many votes are for the partition as against it.
    """
    inside: dict[int, dict[int, list[int]]] = {}
    for at in np.flatnonzero(constraints.touched & represents).tolist():
        inside.setdefault(int(constraints.groups[at]), {}).setdefault(int(pieces[at]), []).append(
            at
        )
    votes: Counter[tuple[int, int]] = Counter()
    together = [
        (pair, held[pair[0]] + held[pair[1]])
        for held in inside.values()
        for pair in combinations_with_replacement(sorted(held), 2)
        if pair[0] != pair[1] or len(held[pair[0]]) > 1
    ]
    separate = [
        ((min(one, other), max(one, other)), first[one] + second[other])
        for a, b in constraints.apart.tolist()
        for first, second in [(inside.get(a, {}), inside.get(b, {}))]
        for one, other in product(first, second)
    ]
    votes.update(pair for pair, _ in together)
    votes.subtract(pair for pair, _ in separate)
    cluster_of = dict(zip(pieces.tolist(), labels.tolist(), strict=True))
    same = {pair: cluster_of[pair[0]] == cluster_of[pair[1]] for pair in votes}
    stays: Counter[int] = Counter()
    if not len(constraints.apart):
        # Nothing else contradicts pairs that join two clusters.
        stays.update(piece for pair, _ in together if same[pair] for piece in set(pair))
    outvoted = [
        objects
        for pair, objects in together
        if not same[pair] and votes[pair] <= max(stays[piece] for piece in pair)
    ]
    outvoted += [objects for pair, objects in separate if same[pair] and votes[pair] >= 0]
    return np.unique(np.array([at for objects in outvoted for at in objects], dtype=np.int64))


def _merges_within(
    tree: Floats, units: Ints, constraints: Constraints
) -> tuple[Ints, Ints, Floats]:
    """Return the merges within units: of groups that must be together, at height 0, then those of the tree."""
    n = len(units)
    _, head = np.unique(constraints.groups, return_index=True)
    heads = head[constraints.groups]
    others = np.flatnonzero(heads != np.arange(n))
    position, joined_by = _leaf_order(tree)
    ones, two, rows = [], [], []
    inside = np.setdiff1d(np.arange(n), others)
    ordered = inside[np.lexsort((position[inside], units[inside]))]
    for members in np.split(ordered, np.flatnonzero(np.diff(units[ordered])) + 1):
        if len(members) > 1:
            ones.append(members[:-1])
            two.append(members[1:])
            places = pairwise(position[members].tolist())
            rows.append(np.array([joined_by[begin:end].max() for begin, end in places]))
    row = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    order = np.argsort(row, kind="stable")
    left, right = (np.concatenate(side)[order] if side else row for side in (ones, two))
    return (
        np.concatenate([heads[others], left]),
        np.concatenate([others, right]),
        np.concatenate([np.zeros(len(others)), tree[row[order], 2]]),
    )


def _leaf_order(tree: Floats) -> tuple[Ints, Ints]:
    """Return the position of each leaf, and the row of the tree that joins the leaves at each position and the next."""
    n = len(tree) + 1
    sizes = np.concatenate([np.ones(n), tree[:, 3]]).astype(np.int64).tolist()
    begins = [0] * (2 * n - 1)
    joined_by = np.full(n, -1, dtype=np.int64)
    for row in range(n - 2, -1, -1):
        left, right = int(tree[row, 0]), int(tree[row, 1])
        begins[left] = begins[n + row]
        begins[right] = begins[n + row] + sizes[left]
        joined_by[begins[right] - 1] = row
    return np.array(begins[:n], dtype=np.int64), joined_by
