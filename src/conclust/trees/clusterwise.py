"""Dendrograms of B W B': objects compared by a similarity of their clusters, without a matrix of all pairs.

Objects i and j with rows b_i and b_j of the indicator have the similarity b_i' W b_j / N_ij, W being a similarity
of clusters (`conclust.similarity`) and N_ij the weight of the partitions that observed both. Sums over the
objects of two clusters are b_p' W b_q with the sums of their rows: average linkage needs the rows only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from conclust._arrays.rows import ratio
from conclust._kernels import AverageChain, RowPairs, SingleTree
from conclust._progress import advance, stage, tracked
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust._validation import check_dense, count
from conclust.ensemble import DistinctRows, Ensemble
from conclust.ensemble.labels import over_clusters
from conclust.exceptions import EnsembleWarning, EvidenceWarning, warn
from conclust.spectra.gram import averaging_indicator, quadratic_forms
from conclust.spectra.transfer_cut import is_sparse
from conclust.trees.agglomeration import (
    Linkage,
    cut,
    expand,
    height_of,
    lifetimes,
    linkage_of,
    merges_of,
    number_by_lifetime,
    starting_clusters,
    unobserved_pairs,
)

# The linkages that need only rows of similarities, and complete linkage.
RowLinkage: TypeAlias = Literal["average", "single", "complete"]
# The mean over clusters that defines S_ij: over the partitions that observed both objects, b_i' W
# b_j / N_ij; or over all pairs of clusters of i and j in any partitions, b_i' W b_j / (N_ii N_jj).
Mean: TypeAlias = Literal["partitions", "pairs"]

# Number of distinct rows up to which a matrix of all pairs is always made: 32 MB.
FEW_ROWS = 2048
# Above this number average linkage may cost more products than a matrix has entries: the first use of new memory costs
# about as much as a fit (16,000 x 20: .7 CPU seconds by rows, by the matrix .9 and from .3 to 3.6 of the system).
_FEW_SUMMED = 4096
_COST_SUMMED = 4.0
# Number of remaining clusters at which their matrix is made: with a diagonal W, whose rows are
# cheap, and otherwise; 8 and 128 MB.
_FEW = 1024
_FEW_MIXED = 4096
# Number of entries of rows, and of blocks of pairs, processed between two checks for an interrupt.
_ENTRIES = 1 << 25
_BLOCK_ENTRIES = 1 << 22
# Seconds for a product of linkage by rows on fast processors, and the minutes from which a warning is due.
_SECONDS_A_PRODUCT = 1e-9
_MANY_MINUTES = 5


@dataclass(frozen=True)
class ClusterTree:
    """A dendrogram, and the height at which its distinct rows are formed.

    Attributes
    ----------
    matrix : ndarray of shape (n_samples - 1, 4)
        In SciPy's form.
    born : float, default=0
        Height from which the distinct rows of labels live: the largest 1 - S_ii. Objects with the same
        labels start merged at height 0, though their S_ii is below 1.
    n_rows : int, default=1
        Number of distinct rows; not used if they are formed at 0.
    """

    matrix: Floats
    born: float = 0.0
    n_rows: int = 1

    def lifetimes(self) -> Floats:
        """Return the lifetimes of 2, 3, ... clusters; that of the distinct rows starts at `born`."""
        lives = lifetimes(self.matrix)
        if self.n_rows > 1:
            place = self.n_rows - 2
            lives[place] = max(0.0, lives[place] - self.born)
        return lives

    def cut(self, n_clusters: int | None, ensemble: Ensemble, owner: str) -> Ints:
        """Cut into that number of clusters; None: into the number of `number_by_lifetime`."""
        if n_clusters is None:
            top = height_of(self.matrix)
            n_clusters = number_by_lifetime(ensemble, self.lifetimes(), top, owner)
        return cut(self.matrix, n_clusters)


@dataclass(frozen=True)
class ObjectPairs:
    """Distinct rows and their similarity: S_ij = b_i' W b_j / (z_i' z_j).

    Attributes
    ----------
    start : DistinctRows
        Objects of each row.
    rows : csr_array of shape (n_rows, T)
        Each distinct row b, once.
    W : csr_array or ndarray of shape (T, T)
        Symmetric, >= 0.
    presence : ndarray of shape (n_rows, m) or None
        z; None: 1 in one column.
    own : ndarray of shape (n_rows,)
        S_ii, where what is noise for a partition is with itself, in a cluster of one.
    scale : float
        Factor by which S has been multiplied.
    """

    start: DistinctRows
    rows: sp.csr_array
    W: Any
    presence: Floats | None
    own: Floats
    scale: float = 1.0

    def scaled(self, factor: float) -> ObjectPairs:
        """Return the same with S times a factor."""
        return replace(self, W=self.W * factor, own=self.own * factor, scale=self.scale * factor)

    def check_dense(
        self, linkage: Linkage, max_dense: int, owner: str, *, fixed: bool = False
    ) -> None:
        """Refuse a matrix of more than `max_dense` distinct rows."""
        needs = f"{owner} with linkage={linkage!r} needs a matrix of"
        instead = "linkage='average' or HBGF, which need no such matrix"
        check_dense(len(self.start), max_dense, needs, instead, fixed=fixed)

    def born(self, linkage: Linkage) -> float:
        """Return `ClusterTree.born`: the largest 1 - S_ii, its root for Ward."""
        highest = max(0.0, 1.0 - float(self.own.min()))
        return float(np.sqrt(highest)) if linkage == "ward" else highest

    @property
    def scan_cost(self) -> float:
        """Mean number of products for a row of similarities before any merge."""
        if not is_diagonal(self.W):
            return float(self.rows.nnz)
        held = np.bincount(self.rows.indices, minlength=self.rows.shape[1]).astype(np.float64)
        return float((held**2).sum()) / max(1, self.rows.shape[0])

    def dissimilarities(self) -> Floats:
        """Return 1 - S of all pairs of rows, 0 on the diagonal."""
        return _dissimilarities(self.rows, self.W, self.presence, np.ones(self.rows.shape[0]))


def pairs_of(ensemble: Ensemble, W: Any, *, mean: Mean = "partitions") -> ObjectPairs:
    """Return the similarity of the distinct rows of an ensemble.

    Parameters
    ----------
    ensemble : Ensemble
        The observed objects.
    W : csr_array or ndarray of shape (T, T)
        Similarity of its clusters, symmetric, >= 0. With "partitions" similarities between the
        clusters of different partitions do not count; a sparse W has none.
    mean : {"partitions", "pairs"}, default="partitions"
        Set over which S_ij is a mean; the weights of the partitions enter both.
    """
    start = starting_clusters(ensemble)
    first = start.first
    if mean == "pairs":
        rows = sp.csr_array(averaging_indicator(ensemble)[first])
        return ObjectPairs(start, rows, W, None, quadratic_forms(rows, W))
    weights = ensemble.partition_weights
    rows = sp.csr_array(ensemble.indicator[first])
    if ensemble.has_missing:
        scale = weights / (weights.max() or 1.0)
        present = ensemble.present[first] * np.sqrt(scale)
    else:
        scale, present = weights / (weights.sum() or 1.0), None
    if isinstance(W, np.ndarray):
        W = _within_partitions(W, ensemble.offsets)
    weighed = sp.csr_array(sp.diags_array(over_clusters(scale, ensemble.offsets)) @ W)
    self_similarity = quadratic_forms(rows, weighed)
    if ensemble.has_noise:
        self_similarity += ensemble.noise[first] @ scale
    if present is not None:
        self_similarity = ratio(self_similarity, (present**2).sum(axis=1))
    return ObjectPairs(start, rows, weighed, present, self_similarity)


def by_rows(pairs: ObjectPairs, linkage: Linkage, max_dense: int) -> bool:
    """Return whether the tree is grown from rows of similarities rather than from a matrix of all pairs.

    Rows are used if necessary, or if they are cheaper: for clusters that are small relative to the objects. With
    missing labels average linkage means another thing by it: see `cluster_tree`.
    """
    n = len(pairs.start)
    if linkage not in ("single", "average"):
        return False
    if n > max_dense:
        return True
    if n <= FEW_ROWS or not (pairs.presence is None or linkage == "single"):
        return False
    summed = linkage == "average" and n > _FEW_SUMMED
    return pairs.scan_cost <= (_COST_SUMMED * n if summed else n)


def cluster_tree(
    pairs: ObjectPairs,
    linkage: Linkage,
    *,
    max_dense: int,
    owner: str,
    ties_as_matrix: bool = False,
    fixed: bool = False,
) -> ClusterTree:
    """Agglomerate on 1 - S.

    Average linkage merges the two clusters with the highest (sum of b_i' W b_j) / (sum of z_i' z_j) over
    the pairs between them, which is the mean of S where all z are 1. Pairs that no partition observed
    together have S = 0.

    Parameters
    ----------
    pairs : ObjectPairs
        Pairs to compare.
    linkage : {"single", "average", "complete", "ward"}
        Single and average linkage take memory of the rows; the others a matrix.
    max_dense : int
        Maximum number of distinct rows for which a matrix is made.
    owner : str
        Name of the estimator, used in errors.
    ties_as_matrix : bool, default=False
        Whether average linkage breaks ties as on a matrix of all pairs: the nearest-neighbour chain is then
        continued to the end. Otherwise the last few clusters are merged on a matrix.
    fixed : bool, default=False
        Whether the estimator has no parameter `max_dense`.

    Raises
    ------
    DenseLimitError
        If a matrix of more rows is needed.

    Warns
    -----
    EnsembleWarning
        If linkage by rows takes many minutes.
    """
    born = pairs.born(linkage)
    if linkage in ("average", "single"):
        _warn_of_long(pairs, owner)
    with one_library_thread():
        if linkage == "average":
            tree = _average(pairs, to_the_end=ties_as_matrix)
        elif linkage == "single":
            tree = _single(pairs)
        else:
            pairs.check_dense(linkage, max_dense, owner, fixed=fixed)
            tree = linkage_of(pairs.dissimilarities(), pairs.start, linkage)
    return ClusterTree(tree, born, len(pairs.start))


def _warn_of_long(pairs: ObjectPairs, owner: str) -> None:
    """Warn before many minutes of linkage."""
    n = len(pairs.start)
    minutes = int(n * pairs.scan_cost * _SECONDS_A_PRODUCT / 60)
    if minutes >= _MANY_MINUTES:
        warn(
            f"{owner} compares all pairs of the {n:,} different rows of labels, which takes more than {minutes} minutes: "
            "AutoConsensus and LWGP take time linear in the number of objects.",
            EnsembleWarning,
        )


def warn_of_unobserved(ensemble: Ensemble, max_rows: int) -> None:
    """Warn that pairs without a common partition count as dissimilarity 1, if there are any."""
    if ensemble.has_missing:
        warn_of_pairs(unobserved_pairs(ensemble, max_rows=max_rows))


def warn_of_pairs(unobserved: int | None, by_none: str = "observed {}") -> None:
    """Warn that pairs without evidence count as dissimilarity 1; None: perhaps there are some, too many to count.

    `by_none` says with which pairs no partition did what.
    """
    if unobserved == 0:
        return
    if unobserved is None:
        which = (
            f"Pairs of objects that no partition {by_none.format('together')}, if there are any,"
        )
    else:
        both = f"both objects of {count(unobserved, 'pair')}"
        which = f"No partition {by_none.format(both)}: without evidence they"
    warn(f"{which} count as dissimilarity 1. MixtureModel and Voting use none.", EvidenceWarning)


def _within_partitions(W: Floats, offsets: Ints) -> sp.csr_array:
    """Return the blocks of W on the diagonal, one per partition."""
    parts = [slice(begin, end) for begin, end in pairwise(offsets) if end > begin]
    blocks = [sp.csr_array(W[part, part]) for part in parts]
    return sp.csr_array(sp.block_diag(blocks, format="csr")) if blocks else sp.csr_array(W.shape)


def is_diagonal(W: Any) -> bool:
    """Return whether W is sparse with exactly one entry per row, on the diagonal."""
    return bool(
        is_sparse(W)
        and W.nnz == W.shape[0]
        and (W.indices == np.arange(W.shape[0])).all()
        and (np.diff(W.indptr) == 1).all()
    )


def _average(pairs: ObjectPairs, *, to_the_end: bool = False) -> Floats:
    start, n = pairs.start, len(pairs.start)
    # Ratios of sums are not means of a matrix, so with presences no matrix is used at the end.
    few = _FEW if is_diagonal(pairs.W) else _FEW_MIXED
    until = 1 if to_the_end or pairs.presence is not None else min(n, few)
    left, right = np.empty(n - until, dtype=np.int64), np.empty(n - until, dtype=np.int64)
    heights, leaders = np.empty(n - until), np.arange(n)
    if n > until:
        chain = AverageChain(_row_pairs(pairs), until)
        at_once = max(1, int(_ENTRIES / max(1.0, pairs.scan_cost)))
        stage("linkage, similarities row by row")
        while left_over := chain.run(at_once):
            advance(n - until - left_over, n - until)
        chain.read(left, right, heights, leaders)
    if until == 1:
        return expand(start, (left, right, heights))
    leading, group = np.unique(leaders, return_inverse=True)
    masses = np.asarray(np.bincount(group, weights=start.masses), dtype=np.float64)
    gather = sp.csr_array((start.masses, (group, np.arange(n))), shape=(until, n))
    matrix = _dissimilarities(sp.csr_array(gather @ pairs.rows), pairs.W, None, masses)
    rest = merges_of(matrix, masses, "average")
    tops = np.zeros(n)
    np.maximum.at(tops, leaders[left], heights)
    return expand(
        start, _joined((left, right, heights), (leading[rest[0]], leading[rest[1]], rest[2]), tops)
    )


def _joined(
    first: tuple[Ints, Ints, Floats], rest: tuple[Ints, Ints, Floats], tops: Floats
) -> tuple[Ints, Ints, Floats]:
    """Return all merges; `tops` is the height of the cluster of each, which rounding may place above the next."""
    left, right, heights = rest
    for t, (a, b) in enumerate(zip(left, right, strict=True)):
        heights[t] = tops[a] = max(heights[t], tops[a], tops[b])
    return (
        np.concatenate([first[0], left]),
        np.concatenate([first[1], right]),
        np.concatenate([first[2], heights]),
    )


def _single(pairs: ObjectPairs) -> Floats:
    n = len(pairs.start)
    order, heights = np.zeros(n, dtype=np.int64), np.empty(n - 1)
    if n > 1:
        tree = SingleTree(_row_pairs(pairs))
        at_once = max(1, int(_ENTRIES / max(1.0, pairs.scan_cost + n / 4)))
        stage("spanning tree, similarities row by row")
        while left_over := tree.grow(at_once):
            advance(n - left_over, n)
        tree.read(order, heights)
    # The path in Prim's order has the dendrogram of the tree.
    return expand(pairs.start, (order[:-1], order[1:], heights))


def _row_pairs(pairs: ObjectPairs) -> RowPairs:
    masses = pairs.start.masses
    rows = sp.csr_array(sp.diags_array(masses) @ pairs.rows)
    rows.sort_indices()
    presence = pairs.presence
    options: dict[str, Any] = {}
    if presence is not None:
        options["presence"] = np.ascontiguousarray(presence * masses[:, None])
    if is_diagonal(pairs.W):
        options["diagonal"] = np.ascontiguousarray(pairs.W.data, dtype=np.float64)
    else:
        W = sp.csr_array(pairs.W)
        options["mixing_starts"] = W.indptr.astype(np.int64)
        options["mixing_columns"] = W.indices.astype(np.int32)
        options["mixing_values"] = np.ascontiguousarray(W.data, dtype=np.float64)
    return RowPairs(
        rows.indptr.astype(np.int64),
        rows.indices.astype(np.int32),
        np.ascontiguousarray(rows.data, dtype=np.float64),
        masses,
        rows.shape[1],
        **options,
    )


def _dissimilarities(rows: sp.csr_array, W: Any, presence: Floats | None, masses: Floats) -> Floats:
    """Return 1 - S of all pairs, in [0, 1], 0 on the diagonal; row i of `rows` is the sum of masses[i] objects."""
    n, T = rows.shape
    D = np.empty((n, n))
    step = max(1, _BLOCK_ENTRIES // max(1, n, T))
    stage("similarities of all pairs")
    for begin in tracked(range(0, n, step), "blocks of rows"):
        some = slice(begin, begin + step)
        mixed = rows[some] @ W
        dense = mixed.toarray() if is_sparse(mixed) else mixed
        block = (rows @ np.ascontiguousarray(dense.T)).T
        if presence is None:
            block /= masses[some, None]
            block /= masses
        else:
            both = presence[some] @ presence.T
            block = np.divide(block, both, out=np.zeros_like(block), where=both > 0)
        np.subtract(1.0, block, out=D[some])
    np.clip(D, 0.0, 1.0, out=D)
    np.fill_diagonal(D, 0.0)
    return D
