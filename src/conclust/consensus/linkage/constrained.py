"""Agglomeration with constraints: must-link groups are merged first, cannot-link pairs are never merged.

The rest of a tree, where no pair of clusters may be merged any more, is completed at the top, so that it can be
cut like any other; it keeps the constraints down to a smallest number of clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from conclust._progress import advance, stage
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust._validation import check_dense
from conclust.consensus.constraints import Bounds, Constraints
from conclust.consensus.linkage.fewer import rows_in_fewer
from conclust.ensemble import Ensemble
from conclust.trees.agglomeration import (
    Linkage,
    cluster_dissimilarities,
    expand,
    starting_clusters,
)
from conclust.trees.clusterwise import pairs_of
from conclust.trees.dendrogram import (
    common_number,
    cut,
    from_merges,
    height_of,
    lifetimes,
    number_by_lifetime,
)

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
