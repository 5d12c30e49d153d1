"""Changes a partition so that it keeps constraints, and otherwise as little as possible.

The tree cuts the clusters into pieces. An object with a constraint represents its piece if it is typical of it, and
no more typical object is against that; otherwise it stands alone. Pieces with objects that must be together are joined.
The resulting units are merged by average linkage, units of the same cluster first, but never units that must be apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from conclust._types import Floats, Ints
from conclust.consensus.auto.votes import votes_for
from conclust.consensus.constraints import Constraints
from conclust.consensus.linkage.constrained import grown
from conclust.ensemble import Ensemble
from conclust.spectra.indicator import IndicatorProducts
from conclust.trees.dendrogram import cut, from_merges

# Settled by experiments/answers: 20 to 60 pieces, and ranks from 0 to .7, hardly differ.
_PIECES = 30
_TYPICAL = 0.3


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
    tree: Floats, labels: Ints, ensemble: Ensemble, counting: Floats, constraints: Constraints
) -> Repair:
    """Return a dendrogram that keeps constraints, and has the clusters of a partition where these allow it.

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
    """
    pieces = _numbered(np.stack([labels, cut(tree, min(_PIECES, len(labels)))]))
    units, apart = _units(pieces, _ranks(pieces, ensemble, counting), constraints)
    dissimilarity, sizes = _dissimilarities(units, labels, ensemble, counting)
    m = len(sizes)
    left, right, heights, smallest = grown(
        dissimilarity, sizes, "average", np.arange(m, dtype=np.int64), apart
    )
    _, first = np.unique(units, return_index=True)
    inner = _merges_within(tree, units, constraints)
    top = float(inner[2].max(initial=0.0))
    outer = np.maximum(heights - 1.0, top)
    outer[m - smallest :] = max(1.0, top)
    merges = (first[left], first[right], outer)
    return Repair(
        tree=from_merges(*(np.concatenate(both) for both in zip(inner, merges, strict=True))),
        smallest=smallest,
        largest=constraints.n_groups,
        n_clusters=m - int(np.count_nonzero(heights[: m - smallest] <= 1.5)),
    )


def _numbered(columns: Ints) -> Ints:
    """Return the number of each object's combination of labels, (n_labels, n_objects), in lexicographic order."""
    _, numbers = np.unique(columns, axis=1, return_inverse=True)
    return np.asarray(numbers, dtype=np.int64).ravel()


def _ranks(pieces: Ints, ensemble: Ensemble, counting: Floats) -> Floats:
    """Return the share of an object's piece that has less similarity with the piece than the object itself (n,)."""
    votes = votes_for(ensemble, pieces, counting)
    own = IndicatorProducts.of(ensemble).times(votes)[np.arange(len(pieces)), pieces]
    order = np.lexsort((own, pieces))
    sizes = np.bincount(pieces)
    begins = np.cumsum(sizes) - sizes
    ranks = np.empty(len(pieces))
    for begin, size in zip(begins.tolist(), sizes.tolist(), strict=True):
        inside = order[begin : begin + size]
        ranks[inside] = np.searchsorted(own[inside], own[inside], side="left") / size
    return ranks


def _units(pieces: Ints, ranks: Floats, constraints: Constraints) -> tuple[Ints, Ints]:
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
        if ranks[at] < _TYPICAL:
            break
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


def _dissimilarities(
    units: Ints, labels: Ints, ensemble: Ensemble, counting: Floats
) -> tuple[Floats, Floats]:
    """Return the dissimilarities of the units, in [0, 2], and their sizes.

    From 2 are subtracted the mean similarity of their objects, relative to the largest, and the share of pairs that
    are in one cluster.
    """
    sizes = np.bincount(units).astype(np.float64)
    means = votes_for(ensemble, units, np.ones(len(counting)))
    similarity = (means * counting[:, np.newaxis]).T @ means
    similarity = (similarity + similarity.T) / 2.0
    shares = np.zeros((len(sizes), int(labels.max()) + 1))
    np.add.at(shares, (units, labels), 1.0)
    shares /= sizes[:, np.newaxis]
    largest = float(similarity.max()) or 1.0
    return 2.0 - np.clip(similarity / largest, 0.0, 1.0) - shares @ shares.T, sizes


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
