"""Grows dendrograms from an ensemble: dense, by spanning tree, or on the evidence of some pairs.

They are SciPy's linkage matrices: made from merges, cut at K or by the lifetime criterion, also without counting specks,
branches of a few objects, as clusters.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust import _kernels
from conclust._arrays.containers import number_array
from conclust._arrays.rows import EqualRows
from conclust._progress import advance, stage, tracked
from conclust._threads import thread_count
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_dense, check_int, shown
from conclust.ensemble import DistinctRows, Ensemble
from conclust.ensemble.labels import label_view, missing_code, noise_code
from conclust.evidence import SparseEvidence, coassociation, evidence, spanning_tree
from conclust.evidence.dense import unsigned
from conclust.exceptions import EnsembleWarning, InputError, warn

# Lifetimes are differences of heights, so equal ones differ in their last bits.
_SAME = 1e-9
# Fewer partitions with the same number of clusters may have it by coincidence.
_FEW = 3


def from_merges(left: Ints, right: Ints, heights: Floats) -> Floats:
    """Return the linkage matrix of n - 1 merges given in any order.

    Parameters
    ----------
    left, right : ndarray of int64 of shape (n - 1,)
        A leaf of either cluster of each merge; as edges they form a spanning tree of the n leaves.
    heights : ndarray of shape (n - 1,)
        Height of each merge. Equal heights keep the given order.

    Returns
    -------
    ndarray of shape (n - 1, 4)
        SciPy's form: the two clusters joined (leaf i is cluster i, row t forms cluster n + t), the
        height, and the number of leaves.
    """
    tree = np.empty((len(heights), 4))
    _kernels.label_merges(left, right, heights, tree)
    return tree


def cut(linkage_matrix: Floats, n_clusters: int) -> Ints:
    """Cut a dendrogram into exactly `n_clusters` clusters.

    The first n - `n_clusters` merges are made, in the order of the matrix: the number of clusters is
    exact even where heights are equal.

    Parameters
    ----------
    linkage_matrix : ndarray of shape (n_samples - 1, 4)
        As in ``EAC.linkage_matrix_`` or ``scipy.cluster.hierarchy.linkage``.
    n_clusters : int
        Number of clusters, from 1 to n_samples.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Labels, consecutive from 0 by first appearance.

    Raises
    ------
    ParameterError
        If `n_clusters` is not an int from 1 to n_samples.
    InputError
        If `linkage_matrix` is not a linkage matrix.

    Examples
    --------
    >>> from conclust import EAC
    >>> from conclust.consensus.linkage import cut
    >>> tree = EAC().fit([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]).linkage_matrix_
    >>> cut(tree, 3)
    array([0, 0, 1, 2])
    """
    tree = np.ascontiguousarray(number_array(linkage_matrix, "A linkage matrix"))
    _refuse_other_matrices(tree)
    return clusters_at(tree, check_int(n_clusters, "n_clusters", "cut", high=len(tree) + 1))


def clusters_at(tree: Floats, n_clusters: int) -> Ints:
    """Return what `cut` returns, without its checks, for a dendrogram made by this package."""
    labels = np.empty(len(tree) + 1, dtype=np.int64)
    _kernels.cut_tree(tree, n_clusters, labels)
    return labels


def _joins_each_once(joined: Floats) -> bool:
    n = len(joined) + 1
    if not ((joined >= 0) & (joined < np.arange(n, 2 * n - 1)[:, np.newaxis])).all():
        return False
    clusters = joined.astype(np.int64)
    return bool((clusters == joined).all() and (np.bincount(clusters.ravel()) == 1).all())


def _refuse_other_matrices(tree: Floats) -> None:
    """Refuse a matrix whose rows do not join each cluster once, after it was formed."""
    if tree.ndim != 2 or tree.shape[1] != 4 or not _joins_each_once(tree[:, :2]):
        raise InputError(
            "A linkage matrix must have a row for each merge, as EAC.linkage_matrix_ and "
            f"scipy.cluster.hierarchy.linkage have. Got {shown(tree)} instead."
        )


def lifetimes(linkage_matrix: Floats) -> Floats:
    """Return the lifetime of each number of clusters when the dendrogram is cut at increasing heights.

    K clusters exist for the thresholds between the merge that leaves K and the one that leaves
    K - 1; the length of that range is the lifetime of K [1]_.

    Parameters
    ----------
    linkage_matrix : ndarray of shape (n_samples - 1, 4)
        As in ``EAC.linkage_matrix_``.

    Returns
    -------
    ndarray of shape (n_samples - 1,)
        Entry k is the lifetime of k + 2 clusters, in units of the heights. One cluster is not
        among them: it lives for ever.

    References
    ----------
    .. [1] A. L. N. Fred and A. K. Jain, "Combining multiple clusterings using evidence
       accumulation", IEEE TPAMI 27(6), 2005.

    Examples
    --------
    >>> from conclust import EAC
    >>> from conclust.consensus.linkage import lifetimes
    >>> tree = EAC().fit([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]).linkage_matrix_
    >>> lifetimes(tree).round(4)
    array([0.5   , 0.3333, 0.    ])
    """
    heights = np.concatenate([[0.0], linkage_matrix[:, 2]])
    return np.ascontiguousarray(np.diff(heights)[::-1])


def longest_lifetime(linkage_matrix: Floats) -> int:
    """Return the number of clusters, at least 2, with the longest lifetime.

    Among equal lifetimes (within 1e-9 of the tallest height) the smallest number of clusters
    is chosen. One cluster is not considered, as its lifetime is infinite; it is returned only if there is no
    choice: a single object, or objects that are all at distance 0.

    Parameters
    ----------
    linkage_matrix : ndarray of shape (n_samples - 1, 4)
        As in ``EAC.linkage_matrix_``.

    Returns
    -------
    int
        Number of clusters.

    Examples
    --------
    >>> from conclust import EAC
    >>> from conclust.consensus.linkage import longest_lifetime
    >>> tree = EAC().fit([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]).linkage_matrix_
    >>> longest_lifetime(tree)
    2
    """
    return longest_of(lifetimes(linkage_matrix), height_of(linkage_matrix))


def height_of(linkage_matrix: Floats) -> float:
    """Return the height of the last merge; 0 for a single object."""
    return float(linkage_matrix[-1, 2]) if len(linkage_matrix) else 0.0


def longest_of(lives: Floats, tallest: float, most: int | None = None) -> int:
    """Return the number of clusters with the longest of the `lifetimes` of a tree of height `tallest`, at most `most`."""
    if tallest == 0.0:
        return 1
    lives = lives if most is None else lives[: most - 1]
    return 2 + int(np.argmax(lives >= lives.max() - _SAME * tallest))


def common_number(ensemble: Ensemble) -> int | None:
    """Return the number of clusters of all partitions, if it is the same.

    Parameters
    ----------
    ensemble : Ensemble
        The members. Partitions without weight do not count.

    Returns
    -------
    int or None
        None: the numbers differ, they are below 2, or there are fewer than three partitions.
    """
    counts = ensemble.cluster_counts[ensemble.partition_weights > 0]
    if len(counts) < _FEW or counts[0] < 2 or (counts != counts[0]).any():
        return None
    return int(counts[0])


def number_by_lifetime(ensemble: Ensemble, lives: Floats, tallest: float, owner: str) -> int:
    """Return the number of clusters with the longest lifetime, limited to the common number of all partitions.

    Parameters
    ----------
    ensemble : Ensemble
        The members of the tree.
    lives : ndarray of shape (n_samples - 1,)
        `lifetimes` of 2, 3, ... clusters.
    tallest : float
        Height of the tree.
    owner : str
        Name of the estimator, used in the warning.

    Warns
    -----
    EnsembleWarning
        The longest lifetime is that of a larger number than any partition has. If all have the same number, a smaller one
        is chosen.
    """
    number, most = longest_of(lives, tallest), common_number(ensemble)
    largest = int(ensemble.cluster_counts[ensemble.partition_weights > 0].max())
    if number <= (most or largest):
        return number
    if most is None:
        warn(
            f"The longest lifetime is that of {number} clusters, and no partition has more than {largest}: {owner} cuts off "
            "objects that few partitions put together. Pass n_clusters, or use AutoConsensus(), which chooses it by other evidence.",
            EnsembleWarning,
        )
        return number
    warn(
        f"All partitions have {most} clusters, so they cannot show more: the longest lifetime is that of "
        f"{number} clusters, and {owner} takes the longest of at most {most}. Pass n_clusters={most} to "
        "choose their number.",
        EnsembleWarning,
    )
    return longest_of(lives, tallest, most)


# Least size of a cluster, as a share of the mean size of n_clusters clusters.
_LEAST_SHARE = 0.1


def counted_cut(tree: Floats, n_clusters: int) -> Ints:
    """Cut a tree into a number of clusters, of which none is a speck.

    A speck is a branch with fewer than a tenth of the objects that a cluster has on average. The tree is cut at the
    first level with `n_clusters` other branches. If more specks than clusters are met on the way, the user's clusters
    are that small: the cut is the usual one, and nothing is a speck.

    Parameters
    ----------
    tree : ndarray of shape (n_objects - 1, 4)
        A dendrogram in SciPy's format.
    n_clusters : int
        Number of clusters, at most that of the objects.

    Returns
    -------
    ndarray of int64 of shape (n_objects,)
        Clusters by first appearance; -1 for the objects of specks.
    """
    least = least_counted(len(tree) + 1, n_clusters)
    for level in range(n_clusters, min(2 * n_clusters, len(tree) + 1) + 1):
        labels = clusters_at(tree, level)
        counted = np.bincount(labels) >= least
        if np.count_nonzero(counted) == n_clusters:
            number = np.where(counted, np.cumsum(counted) - 1, -1)
            return np.asarray(number[labels], dtype=np.int64)
    return clusters_at(tree, n_clusters)


def has_specks(labels: Ints) -> bool:
    """Return whether a cluster has fewer than a tenth of the objects that a cluster has on average."""
    sizes = np.bincount(labels)
    return bool(sizes.min() < least_counted(len(labels), len(sizes)))


def least_counted(n: int, n_clusters: int) -> float:
    """Return the number of objects with fewer than which a cluster is a speck."""
    return _LEAST_SHARE * n / n_clusters


Linkage: TypeAlias = Literal["single", "average", "complete", "ward"]

_KERNELS = {
    "single": _kernels.agglomerate_single,
    "average": _kernels.agglomerate_average,
    "complete": _kernels.agglomerate_complete,
    "ward": _kernels.agglomerate_ward,
}
# Memory of blocks of this size is used again by the next block.
_BLOCK_ENTRIES = 1 << 20
_SOFT_BLOCK_ENTRIES = 1 << 22
# Dissimilarities that are not integers are rounded to this grid. Values that are equal on paper are
# then ties in floating point too, whatever the order of summation.
_GRID = 2.0**40
# Adding it to a number below 2048 and subtracting it again rounds the number to the grid.
_SHIFT = 1.5 * 2.0**52 / _GRID
# Number of entries that fit in the L2 cache.
_CACHED_ENTRIES = 1 << 16


def starting_clusters(ensemble: Ensemble, *, mute: bool = False) -> DistinctRows:
    """Return the groups of objects at distance 0 from each other because they have the same labels.

    `mute`: a partition of noise only, which puts no pair together, does not separate equal rows.

    Two objects with the same row agree wherever both have a cluster. Not so for noise (apart from all),
    in soft partitions (p.p < 1), or where only partitions of weight 0 observed them: such objects start
    alone.
    """
    weights = ensemble.weights
    weightless = weights is not None and not weights.all() and ensemble.has_missing
    if ensemble.is_soft or weightless:
        return DistinctRows.each_object(ensemble)
    telling = ensemble.cluster_counts > 0
    if not mute or telling.all() or not telling.any():
        return ensemble.distinct_rows(noise="apart")
    codes = np.ascontiguousarray(ensemble.codes[:, telling])
    equal = EqualRows.of(codes)
    codes = codes[equal.first]
    alone = (codes == noise_code(codes.dtype)).any(axis=1)
    alone |= (codes == missing_code(codes.dtype)).all(axis=1)
    equal = equal.apart(np.asarray(alone))
    return DistinctRows(equal.first, equal.inverse, equal.counts, ensemble)


def dense_tree(
    ensemble: Ensemble, linkage: Linkage, *, max_dense: int, n_jobs: int | None, mean: float = 0.0
) -> tuple[Floats, int]:
    """Agglomerate on the evidence of all pairs.

    `mean`: share of partitions that put two objects together; above 0, it counts as one partition more if labels are missing.

    Returns the linkage matrix and the number of pairs of objects that no partition observed together.
    """
    start = starting_clusters(ensemble)
    n = len(start)
    others = "'single' or 'average', which need no such matrix"
    if ensemble.has_missing:
        # Means of c_ij / N_ij: sums over clusters give the ratio only where all N_ij are equal.
        others = "'single', which needs, for incomplete labels too, no such matrix"
    check_dense(
        n,
        max_dense,
        f"linkage={linkage!r} needs a matrix of",
        f"linkage={others}, pairs= (for instance pairs=50: single and average linkage on sampled pairs)",
    )
    if n == 1:
        return expand(start, _empty_merges(1)), 0
    sizes = start.masses
    summed = linkage in ("average", "ward")
    matrix, scale, unobserved = _dissimilarities(start.ensemble, sizes, summed, n_jobs, mean)
    merges = _empty_merges(n)
    stage("linkage")
    _KERNELS[linkage](matrix, sizes, *merges)
    left, right, heights = merges
    heights /= np.sqrt(scale) if linkage == "ward" else scale
    return expand(start, (left, right, heights)), unobserved


def linkage_of(matrix: Floats, start: EqualRows, linkage: str) -> Floats:
    """Agglomerate from dissimilarities in [0, 1] of starting clusters, which are overwritten.

    For Ward they are squares of distances. Returns the linkage matrix over all objects.
    """
    return expand(start, merges_of(matrix, start.masses, linkage))


def merges_of(matrix: Floats, sizes: Floats, linkage: str) -> tuple[Ints, Ints, Floats]:
    """Return the merges of `linkage_of` for clusters with `sizes` objects."""
    stage("linkage")
    merges = _empty_merges(len(sizes))
    if len(sizes) > 1:
        _snap(matrix)
        if linkage in ("average", "ward") and sizes.max() > 1.0:
            for rows in _cached_rows(matrix):
                matrix[rows] *= sizes[rows, None]
                matrix[rows] *= sizes
        _KERNELS[linkage](matrix, sizes, *merges)
    return merges


def cluster_dissimilarities(
    ensemble: Ensemble,
    cluster_weights: Floats,
    weights_given: Floats | None,
    start: DistinctRows,
    *,
    n_jobs: int | None = None,
) -> tuple[Floats, int]:
    """Return 1 - p of all pairs of starting clusters, and the number of pairs of objects that no partition observed.

    `cluster_weights` (T,): weight of being together in each cluster. `weights_given` (n, N): how
    much each partition counts in the denominator of a pair of objects i and j, as sqrt(w_i w_j); None:
    1 where it observed the object::

        p_ij = sum of weight over clusters of both / sum of sqrt(w_i w_j) over partitions

    both times the weights of the partitions. The diagonal is 0.
    """
    stage("similarities of all pairs")
    rows = start.first
    weights = ensemble.partition_weights
    per_cluster = cluster_weights * ensemble.column_weights
    D = np.empty((len(rows), len(rows)))
    if weights_given is None and ensemble.is_soft:
        weights_given = ensemble.present.astype(np.float64)
    if weights_given is not None:
        Z = np.sqrt(weights_given[rows] * weights)
        np.matmul(Z, Z.T, out=D)
    if ensemble.is_soft:
        return D, _soft_dissimilarities(ensemble.indicator[rows], per_cluster, start.counts, D)
    codes = np.ascontiguousarray(ensemble.codes[rows])
    threads = thread_count(n_jobs)
    unobserved: int = _kernels.clusterwise_dissimilarities(
        _kernels.BitSlices(label_view(codes), threads),
        _own(codes, ensemble.offsets, per_cluster),
        weights if weights_given is None else None,
        np.ascontiguousarray(start.counts, dtype=np.int64),
        D,
        threads,
    )
    return D, unobserved


def _own(codes: NDArray[Any], offsets: Ints, per_cluster: Floats) -> Floats:
    """Return the value of `per_cluster` for the cluster of each object in each partition; 0 for none."""
    clusters = codes + offsets[:-1]
    clusters[codes >= noise_code(codes.dtype)] = len(per_cluster)
    return np.append(per_cluster, 0.0)[clusters]


def _soft_dissimilarities(
    indicator: sp.csr_array, per_cluster: Floats, counts: Ints, D: Floats
) -> int:
    """Turn the denominators in D into 1 - p; memberships multiply. Return the unobserved pairs."""
    scaled = sp.csr_array(indicator @ sp.diags_array(np.sqrt(per_cluster)))
    n = len(D)
    unobserved = 0
    step = max(1, _SOFT_BLOCK_ENTRIES // n)
    for begin in tracked(range(0, n, step), "blocks of rows"):
        some = slice(begin, min(begin + step, n))
        columns = np.arange(some.start, some.stop)
        block = D[some]
        observed = block > 0
        observed[columns - begin, columns] = True
        unobserved += int(counts[some] @ (~observed @ counts))
        c = (scaled @ np.ascontiguousarray(scaled[some].toarray().T)).T
        np.divide(c, block, out=block, where=block > 0)
        np.subtract(1.0, block, out=block)
        np.clip(block, 0.0, 1.0, out=block)
        block[columns - begin, columns] = 0.0
    return unobserved // 2


def _dissimilarities(
    ensemble: Ensemble, sizes: Floats, summed: bool, n_jobs: int | None, mean: float
) -> tuple[Floats, float, int]:
    """Return `scale` (1 - c / N) for all pairs, `scale`, and the number of pairs with N = 0.

    If every partition observed every object, the entries are the integers N - c: sums of them
    are exact. `summed`: over the pairs of objects of the starting clusters.
    """
    n = ensemble.n_samples
    whole = not ensemble.has_missing and not ensemble.is_soft and ensemble.weights is None
    matrix = np.empty((n, n))
    unobserved = 0.0
    # All partitions observed the same objects.
    alike = not ensemble.has_missing and not ensemble.is_soft
    table = None
    counted = ensemble
    all_weights = 0.0
    if whole:
        table = float(ensemble.n_partitions) - np.arange(ensemble.n_partitions + 1.0)
    elif alike:
        all_weights = evidence(ensemble, rows=slice(0, 1), n_jobs=n_jobs).copresence[0, 0]
        if (ensemble.partition_weights == 1.0).all():  # the same sums, as whole numbers
            counted = ensemble.reweighted(None)
            table = 1.0 - np.arange(ensemble.n_partitions + 1.0) / all_weights
            _snap(table)
    stage("evidence of all pairs")
    for begin in tracked(range(0, n, max(1, _BLOCK_ENTRIES // n)), "blocks of rows"):
        rows = slice(begin, min(n, begin + max(1, _BLOCK_ENTRIES // n)))
        block = matrix[rows]
        if alike:
            c = coassociation(counted, rows=rows, n_jobs=n_jobs)
            if table is not None:
                objects = sizes if summed else np.ones(n)
                _kernels.summed_dissimilarities(unsigned(c), table, objects[rows], objects, block)
                continue
            for part in _cached_rows(block):
                np.divide(c[part], all_weights, out=block[part])
                np.subtract(1.0, block[part], out=block[part])
                _snap(block[part])
        else:
            c, N = evidence(ensemble, rows=rows, n_jobs=n_jobs)
            nothing = N == 0
            columns = np.arange(rows.start, rows.stop)
            nothing[columns - rows.start, columns] = False
            unobserved += float(sizes[rows] @ (nothing @ sizes))
            block[...] = 0.0
            if mean and ensemble.has_missing:
                c, N = c + mean, N + 1.0
            np.divide(c, N, out=block, where=N > 0)
            np.subtract(1.0, block, out=block)
            _snap(block)
        if summed and sizes.max() > 1.0:
            block *= sizes[rows, None]
            block *= sizes
    return matrix, float(ensemble.n_partitions) if whole else 1.0, int(unobserved) // 2


def single_tree(ensemble: Ensemble) -> Floats:
    """Single linkage from the labels alone, in O(n) memory besides them. Not for soft partitions."""
    start = starting_clusters(ensemble)
    if len(start) == 1:
        return expand(start, _empty_merges(1))
    chosen = start.ensemble
    stage("spanning tree")
    order, heights = spanning_tree(chosen, progress=advance)
    # Prim's order visits the objects of every single-linkage cluster one after the other, so the
    # path in this order, with ties in the same order, has the dendrogram of the spanning tree.
    if chosen.weights is not None:
        _snap(heights)
    return expand(start, (order[:-1], order[1:], heights))


def sparse_tree(pairs: SparseEvidence, linkage: Linkage) -> tuple[Floats, int]:
    """Single or average linkage on some pairs. Returns the linkage matrix and the number of pieces."""
    stage("linkage of the pairs")
    exact = np.uint32 if pairs.counts.dtype.kind in "iu" else np.float64
    merges = _empty_merges(len(pairs.indptr) - 1)
    pieces = (_kernels.sparse_single if linkage == "single" else _kernels.sparse_average)(
        np.ascontiguousarray(pairs.indptr, dtype=np.int64),
        np.ascontiguousarray(pairs.indices, dtype=np.int32),
        np.ascontiguousarray(pairs.counts, dtype=exact),
        np.ascontiguousarray(pairs.copresence, dtype=exact),
        *merges,
    )
    return from_merges(*merges), pieces


def unobserved_pairs(
    ensemble: Ensemble, *, max_rows: int, present: Bools | None = None
) -> int | None:
    """Count the pairs of objects that no partition observed together, without an n x n matrix.

    Objects that the same partitions observed are counted together. None if there are more than `max_rows`
    such sets of partitions with too few of them to meet every other set. `present` (n, N): who observed
    whom, if not those of the ensemble.
    """
    present = ensemble.present if present is None else present
    if ensemble.weights is not None:
        present = present[:, ensemble.weights > 0]
    often = present.sum(axis=1)
    # Two objects share a partition if together they are observed more often than there are partitions.
    present = present[often + often.min() <= present.shape[1]]
    if not len(present):
        return 0
    packed = np.packbits(present, axis=1)
    same = EqualRows.of(packed)
    if len(same) > max_rows:
        return None
    rows = packed[same.first]
    total = 0
    for row, count in zip(rows, same.counts, strict=True):
        apart = ~(rows & row).any(axis=1)
        total += int(count) * int(same.counts[apart].sum())
        # An object that no partition of positive weight observed does not form a pair with itself.
        total -= int(count) if not row.any() else 0
    return total // 2


def _snap(values: Floats) -> None:
    """Round numbers in [0, 1] to the grid, a tie to even."""
    for rows in _cached_rows(values):
        values[rows] += _SHIFT
        values[rows] -= _SHIFT


def _cached_rows(values: Floats) -> list[slice]:
    step = max(1, _CACHED_ENTRIES * len(values) // values.size)
    return [slice(begin, begin + step) for begin in range(0, len(values), step)]


def _empty_merges(n: int) -> tuple[Ints, Ints, Floats]:
    return np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)


def expand(start: EqualRows, merges: tuple[Ints, Ints, Floats], n_first: int = 0) -> Floats:
    """Return the linkage matrix over all objects: the first merges, the starting clusters, at height 0, and the other merges."""
    first = start.first
    objects = np.arange(len(start.inverse))
    leader = first[start.inverse]
    member = leader != objects
    left, right, heights = merges
    return from_merges(
        np.concatenate([first[left[:n_first]], leader[member], first[left[n_first:]]]),
        np.concatenate([first[right[:n_first]], objects[member], first[right[n_first:]]]),
        np.concatenate([heights[:n_first], np.zeros(np.count_nonzero(member)), heights[n_first:]]),
    )
