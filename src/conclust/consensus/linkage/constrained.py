"""Agglomeration with constraints: must-link groups are merged first, cannot-link pairs are never merged.

The rest of a tree, where no pair of clusters may be merged any more, is completed at the top, so that it can be
cut like any other; it keeps the constraints down to a smallest number of clusters.

Where merges are stuck because units must be apart, units of the smallest clusters move to others until there are few
enough. `TreeClusterer` is what all methods that cut a dendrogram have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from conclust._progress import advance, stage
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_dense
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.constraints import Bounds, Constraints, coloured
from conclust.ensemble import Ensemble
from conclust.trees.agglomeration import (
    Linkage,
    cluster_dissimilarities,
    common_number,
    cut,
    expand,
    from_merges,
    height_of,
    lifetimes,
    number_by_lifetime,
    starting_clusters,
)
from conclust.trees.clusterwise import ClusterTree, pairs_of

_PASSES = 100
# Differences of mean similarities up to this are rounding errors.
_LEAST_GAIN = 1e-9


def separated(n_units: int, apart: Ints) -> Bools:
    """Return which units must not be together, (n_units, n_units), of the pairs that must be apart."""
    matrix = np.zeros((n_units, n_units), dtype=np.bool_)
    matrix[apart[:, 0], apart[:, 1]] = True
    matrix[apart[:, 1], apart[:, 0]] = True
    return matrix


def dissolved_to(
    n_clusters: int, clusters: Ints, similarity: Floats, sizes: Floats, apart: Ints
) -> Ints | None:
    """Return fewer clusters of units: the smallest ones are dissolved until the number is reached.

    The cluster of the fewest objects is dissolved whose units may all be in other clusters; each moves to the most
    similar one, the largest unit first. The result is None if no cluster can be dissolved.

    Parameters
    ----------
    n_clusters : int
        The number to reach.
    clusters : ndarray of int64 of shape (m,)
        Clusters of the units, numbered in any way.
    similarity : ndarray of shape (m, m)
        Mean similarity of the objects of two units.
    sizes : ndarray of shape (m,)
        Number of objects of each unit.
    apart : ndarray of int64 of shape (n_pairs, 2)
        Units that must be in different clusters.
    """
    closed = separated(len(sizes), apart)
    while len(names := np.unique(clusters)) > n_clusters:
        masses = np.array([sizes[clusters == name].sum() for name in names.tolist()])
        for cluster in names[np.argsort(masses, kind="stable")].tolist():
            moved = _dissolved(cluster, clusters, similarity, sizes, closed)
            if moved is not None:
                clusters = moved
                break
        else:
            return None
    return clusters


def settled(clusters: Ints, similarity: Floats, sizes: Floats, apart: Ints) -> Ints:
    """Move units, the largest first, to the most similar cluster where they may be, until none moves.

    Parameters
    ----------
    clusters : ndarray of int64 of shape (m,)
        Clusters of the units, numbered in any way; -1 for a unit that is in none yet. No cluster is left empty.
    similarity : ndarray of shape (m, m)
        Mean similarity of the objects of two units.
    sizes : ndarray of shape (m,)
        Number of objects of each unit.
    apart : ndarray of int64 of shape (n_pairs, 2)
        Units that must be in different clusters.
    """
    names = np.unique(clusters[clusters >= 0])
    K = len(names)
    # The last column stands for no cluster: a unit that may be in another leaves it.
    clusters = np.where(clusters < 0, K, np.searchsorted(names, clusters))
    held = np.zeros((len(sizes), K + 1))
    held[np.arange(len(sizes)), clusters] = 1.0
    closed = separated(len(sizes), apart).astype(np.float64)
    weighted = similarity * sizes
    np.fill_diagonal(weighted, 0.0)  # a unit counts neither where it is nor where it could be
    sums, masses = weighted @ held, sizes @ held
    blocked, n_units = closed @ held, held.sum(axis=0)
    blocked[:, K] = masses[K] = n_units[K] = np.inf
    order = np.argsort(-sizes, kind="stable").tolist()
    for _ in range(_PASSES):
        moved = False
        for unit in order:
            own = int(clusters[unit])
            if n_units[own] == 1:
                continue
            others = masses.copy()
            others[own] -= sizes[unit]
            means = np.where(blocked[unit] > 0, -np.inf, sums[unit] / others)
            best = int(means.argmax())
            if means[best] <= means[own] + _LEAST_GAIN:
                continue
            clusters[unit], moved = best, True
            for state, column in ((sums, weighted[:, unit]), (blocked, closed[:, unit])):
                state[:, own] -= column
                state[:, best] += column
            for totals, amount in ((masses, float(sizes[unit])), (n_units, 1.0)):
                totals[own] -= amount
                totals[best] += amount
        if not moved:
            break
    return np.where(clusters == K, -1, clusters).astype(np.int64)


def rows_in_fewer(
    n_clusters: int,
    clusters: Ints,
    groups: Ints,
    apart: Ints,
    sizes: Floats,
    dissimilarities: Callable[[], Floats],
) -> Ints | None:
    """Return fewer clusters of rows that keep the constraints, or the parts of them that constraints determine.

    The units are the groups with constraints, and the other rows of each cluster. Units of the smallest clusters move
    to others; if that is not enough, a colouring assigns the groups, and the other rows stand alone. None: neither way
    reaches the number.

    Parameters
    ----------
    n_clusters : int
        The number to reach.
    clusters : ndarray of int64 of shape (n_rows,)
        Clusters that keep the constraints.
    groups : ndarray of int64 of shape (n_rows,)
        The group of each row; rows of a group are together.
    apart : ndarray of int64 of shape (n_pairs, 2)
        Groups that must be in different clusters.
    sizes : ndarray of shape (n_rows,)
        Number of objects of each row.
    dissimilarities : callable
        Computes the dissimilarities of the rows, (n_rows, n_rows).
    """
    touched = np.isin(groups, np.unique(apart))
    # The other rows of a cluster are one unit, after all groups.
    of_rows = np.where(touched, groups, int(groups.max()) + 1 + clusters)
    names, first, units = np.unique(of_rows, return_index=True, return_inverse=True)
    pairs = np.searchsorted(names, apart)
    masses = np.bincount(units, weights=sizes).astype(np.float64)
    shares = sizes / masses[units]
    held = sp.csr_array((shares, (units, np.arange(len(units)))), shape=(len(names), len(units)))
    similarity = 1.0 - np.asarray((held @ dissimilarities()) @ held.T)
    fewer = dissolved_to(n_clusters, clusters[first], similarity, masses, pairs)
    if fewer is not None:
        return settled(fewer, similarity, masses, pairs)[units]
    colours = coloured(len(names), pairs, n_clusters, similarity)
    if colours is None:
        return None
    alone = n_clusters + np.unique(groups, return_inverse=True)[1]
    return np.where(touched, colours[units], alone).astype(np.int64)


def _dissolved(
    cluster: int, clusters: Ints, similarity: Floats, sizes: Floats, closed: Bools
) -> Ints | None:
    """Return the clusters without one of them; None if a unit may be in no other."""
    after = clusters.copy()
    inside = np.flatnonzero(clusters == cluster)
    others = np.setdiff1d(clusters, [cluster])
    for unit in inside[np.argsort(-sizes[inside], kind="stable")].tolist():
        best = -1.0
        for other in others.tolist():
            held = after == other
            if not closed[unit, held].any():
                mean = float(np.average(similarity[unit, held], weights=sizes[held]))
                if mean > best:
                    best, after[unit] = mean, other
        if best < 0:
            return None
    return after


# Grid of dissimilarities: values that are equal on paper are ties, whatever the order of summation.
_DIGITS = 12
_STEPS = 256  # merges between two checks for an interrupt
# Added to the dissimilarity of rows in different clusters that are to be merged last.
_ACROSS = 2.0


@dataclass(frozen=True)
class ConstrainedTree:
    """A dendrogram, and the height up to which it keeps the constraints.

    Attributes
    ----------
    matrix : ndarray of shape (n_samples - 1, 4)
        In SciPy's form.
    bounds : Bounds
        Numbers of clusters into which it can be cut without breaking a constraint.
    born : float
        Height from which single objects live: the largest dissimilarity of one with itself.
    """

    matrix: Floats
    bounds: Bounds
    born: float

    def lifetimes(self) -> Floats:
        """Return the lifetimes of 2, 3, ... clusters."""
        return lifetimes(self.matrix)

    def cut(self, n_clusters: int | None, ensemble: Ensemble, owner: str) -> Ints:
        """Cut into that number of clusters; None: the possible one with the longest lifetime.

        It is more than the number that all partitions have only if the constraints require it.

        Raises
        ------
        InputError
            If the tree cannot be cut into this number.
        """
        return cut(self.matrix, self._number(n_clusters, ensemble, owner))

    def _number(self, n_clusters: int | None, ensemble: Ensemble, owner: str) -> int:
        """Return the number of clusters of the cut."""
        if n_clusters is not None:
            self.bounds.check(n_clusters, owner)
            return n_clusters
        smallest, largest = self.bounds
        if smallest >= largest:
            return largest
        if smallest >= (common_number(ensemble) or largest):
            return smallest
        heights = np.maximum(self.matrix[:, 2], self.born)
        lives = np.diff(np.concatenate([[self.born], heights]))[::-1].copy()
        lives[: max(0, smallest - 2)] = 0.0
        lives[largest - 1 :] = 0.0
        return max(smallest, number_by_lifetime(ensemble, lives, height_of(self.matrix), owner))


def constrained_tree(
    ensemble: Ensemble,
    certainty: Floats,
    constraints: Constraints,
    *,
    linkage: Linkage,
    n_clusters: int | None,
    max_dense: int,
    owner: str,
    normalized: bool = False,
    n_jobs: int | None = None,
) -> ConstrainedTree:
    """Grow a tree on 1 - S that keeps the constraints.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions.
    certainty : ndarray of shape (n_columns,)
        Weights of the clusters of the partitions; all 1: S is c_ij / N_ij.
    constraints : Constraints
        Pairs of objects that are together, and pairs that are not.
    linkage : {"single", "average", "complete"}
        Linkage that merges clusters.
    n_clusters : int or None
        Number of clusters that a cut should give. If merges of the nearest clusters end with more, constrained objects of
        the smallest clusters move to others, or a colouring assigns them, and merges within these clusters are first.
    max_dense : int
        Maximum number of distinct rows and constrained objects.
    owner : str
        Name of the estimator in errors.
    normalized : bool, default=False
        Whether similarities are divided by the largest one.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Raises
    ------
    DenseLimitError
        If there are more distinct rows and constrained objects than `max_dense`.
    """
    start = constraints.alone(starting_clusters(ensemble))
    instead = "AutoConsensus, which grows its trees on a part of the objects"
    check_dense(len(start), max_dense, f"{owner} with constraints needs a matrix of", instead)
    self_similarity = pairs_of(ensemble, sp.csr_array(sp.diags_array(certainty))).own
    if normalized:  # divided by the largest entry of S, which is on the diagonal
        largest_entry = float(self_similarity.max()) or 1.0
        certainty, self_similarity = certainty / largest_entry, self_similarity / largest_entry
    stage("linkage")
    groups, apart, masses = constraints.groups[start.first], constraints.apart, start.masses
    n_forced = len(groups) - len(np.unique(groups))
    largest = len(start.inverse) - n_forced

    def rounded() -> Floats:
        with one_library_thread():
            matrix = cluster_dissimilarities(ensemble, certainty, None, start, n_jobs=n_jobs)[0]
        return np.round(matrix, _DIGITS, out=matrix)

    left, right, heights, smallest = grown(rounded(), masses, linkage, groups, apart)
    if n_clusters is not None and smallest > n_clusters:
        order = np.arange(len(left), dtype=np.float64)
        clusters = cut(from_merges(left, right, order), smallest)
        fewer = rows_in_fewer(n_clusters, clusters, groups, apart, masses, rounded)
        if fewer is not None:
            matrix = rounded()
            matrix += _ACROSS * (fewer[:, np.newaxis] != fewer)
            left, right, heights, smallest = grown(matrix, masses, linkage, groups, apart)
            heights = np.minimum(heights, 1.0)
            smallest = max(smallest, n_clusters)
    # Groups are merged before objects with equal labels, so that no cut breaks them.
    matrix = expand(start, (left, right, heights), n_forced)
    born = max(0.0, 1.0 - float(self_similarity.min()))
    return ConstrainedTree(matrix, Bounds(smallest, largest), born)


def grown(
    matrix: Floats, sizes: Floats, linkage: str, groups: Ints, apart: Ints
) -> tuple[Ints, Ints, Floats, int]:
    """Return the merges of m starting clusters, and the number of clusters where no more merges are allowed.

    Parameters
    ----------
    matrix : ndarray of shape (m, m)
        Dissimilarities, overwritten.
    sizes : ndarray of shape (m,)
        Number of objects of each.
    linkage : {"single", "average", "complete"}
        Linkage that merges clusters.
    groups : ndarray of int64 of shape (m,)
        Clusters of the same group are merged first, at height 0.
    apart : ndarray of int64 of shape (n_pairs, 2)
        Pairs of groups that are not merged.
    """
    m = len(matrix)
    mass = sizes.astype(np.float64).copy()
    alive = np.ones(m, dtype=np.bool_)
    merges: list[tuple[int, int, float]] = []
    np.fill_diagonal(matrix, np.inf)

    def merge(i: int, j: int, height: float) -> None:
        """Merge j into i; merges forbidden to either (infinity) are forbidden to both."""
        rows = matrix[i], matrix[j]
        forbidden = np.isinf(rows[0]) | np.isinf(rows[1])
        if linkage == "average":
            joined = (mass[i] * rows[0] + mass[j] * rows[1]) / (mass[i] + mass[j])
        else:
            joined = (np.minimum if linkage == "single" else np.maximum)(*rows)
        joined[forbidden] = np.inf
        joined[i] = joined[j] = np.inf
        matrix[i], matrix[:, i] = joined, joined
        matrix[j], matrix[:, j] = np.inf, np.inf
        mass[i] += mass[j]
        alive[j] = False
        merges.append((i, j, height))

    head: dict[int, int] = {}
    for place, group in enumerate(groups.tolist()):
        if group in head:
            merge(head[group], place, 0.0)
        else:
            head[group] = place
    ends = np.array([[head[a], head[b]] for a, b in apart.tolist()], dtype=np.int64).reshape(-1, 2)
    matrix[ends[:, 0], ends[:, 1]] = matrix[ends[:, 1], ends[:, 0]] = np.inf

    nearest = matrix.argmin(axis=1)
    least = matrix[np.arange(m), nearest]
    top = 0.0
    for count in range(len(merges), m - 1):
        if count % _STEPS == 0:
            advance(count, m)
        i = int(least.argmin())
        if np.isinf(least[i]):
            break
        j, top = int(nearest[i]), float(least[i])
        i, j = min(i, j), max(i, j)
        merge(i, j, top)
        least[j] = np.inf
        stale = alive & ((nearest == i) | (nearest == j))
        stale[i] = True
        # A row whose nearest cluster was not one of the two keeps it, unless the merged cluster is nearer.
        nearer = alive & ~stale & (matrix[i] < least)
        least[nearer], nearest[nearer] = matrix[i][nearer], i
        again = np.flatnonzero(stale)
        nearest[again] = matrix[again].argmin(axis=1)
        least[again] = matrix[again, nearest[again]]
    rest = np.flatnonzero(alive)
    smallest = len(rest)
    top = max(1.0, top)
    merges += [(int(rest[0]), int(other), top) for other in rest[1:]]
    left, right = (np.array([one[k] for one in merges], dtype=np.int64) for k in (0, 1))
    return left, right, np.array([one[2] for one in merges]), smallest


class TreeClusterer(ConsensusClusterer):
    """Base of the methods that cut a dendrogram."""

    linkage_matrix_: Floats
    lifetimes_: Floats

    def _cut_tree(self, tree: ClusterTree | ConstrainedTree, ensemble: Ensemble) -> Ints:
        """Keep a tree of the objects of an ensemble, and return its clusters."""
        self.linkage_matrix_, self.lifetimes_ = tree.matrix, tree.lifetimes()
        return tree.cut(self.n_clusters, ensemble, type(self).__name__)
