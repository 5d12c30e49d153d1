"""CEs2: single linkage of the stable objects, which the others join."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from conclust._arrays.rows import ratio
from conclust._progress import advance, stage
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_dense, count
from conclust.consensus.base import ConsensusClusterer, spread
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import DistinctRows, Ensemble, with_weight
from conclust.evidence import coassociation_blocks, frequencies
from conclust.exceptions import EvidenceWarning, warn
from conclust.trees.agglomeration import cut, from_merges, merges_of

# Depth of the links below a link with which it is compared, including itself.
_DEPTH = 4
# Number of steps to which fractional shares are rounded: two bytes per entry. Up to _FEW_STEPS take one.
_STEPS = 30_000
_FEW_STEPS = 126
# Difference below which heights, coefficients and scores are equal up to rounding.
_SAME = 1e-9
_BLOCK_ENTRIES = 1 << 20


@dataclass(eq=False, repr=False)
class CEs2(ConsensusClusterer):
    """Clustering ensemble based on the stability of the objects.

    An object is stable if the partitions agree about its pairs, putting them together nearly always or nearly never. The stable
    objects, the core, are grouped by single linkage on the co-association; then the others, the halo, join these groups, the
    most similar ones first. Finally groups are merged until K remain [1]_.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. Required: ``fit`` refuses None.
    determinacy : {"linear", "quadratic"}, default="linear"
        Determinacy of a pair that a share p of the partitions puts together: the distance of p from the
        threshold over the largest one on its side (CEs2-L), or the square of that (CEs2-Q).

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters; fewer than K where there are fewer distinct rows of labels.
    core_ : ndarray of bool of shape (n_samples,)
        Mask of the core, the objects grouped first.
    stability_ : ndarray of shape (n_samples,)
        Mean determinacy of the pairs of the object, scaled from 0, the least determined object, to 1. NaN for
        objects that no partition observed.
    n_pieces_ : int
        Number of groups before they were merged into K.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    DenseLimitError
        If there are more than 20,000 distinct rows of labels.

    Warns
    -----
    EvidenceWarning
        In the tree of the core, pairs of objects that no partition observed together count as dissimilarity 1.

    See Also
    --------
    EAC : linkage of all objects alike.

    Notes
    -----
    All thresholds are Otsu's. The tree of the core is cut below the link whose height is most out of
    proportion to those under it (the largest inconsistency coefficient, depth 4), lower if that leaves fewer than K groups. The
    fit of an object to a group is the sum of its similarities above the group's threshold, divided by their number plus one. In
    each round the upper group of the best fits joins. Groups are
    merged by single linkage of their mean similarities.

    Here, links of equal height that meet are one link: as published, their coefficients depend on the order of the objects. As
    published, the last rounds may not end; here, objects that resemble no group form groups of their own, one for each set of
    objects that evidence connects. An object does not form a pair with itself. The core has at least K distinct rows of labels.

    Objects with the same labels are counted together and stay together. Shares of incomplete, weighted or soft
    partitions are rounded, to 1 / 1,000 for the stability, to 1 / 30,000 elsewhere. Objects that only partitions of
    weight 0 observed join the largest cluster. O(n^2 N) time and O(n^2) per round for n distinct rows.

    Single linkage chains: on ten published ensembles of many small clusters, the mean NMI is .48 (quadratic: .47); `LWEA` has
    .60.

    References
    ----------
    .. [1] F. Li, Y. Qian, J. Wang, C. Dang and L. Jing, "Clustering ensemble based on sample's stability",
       Artificial Intelligence 273, 2019.

    Examples
    --------
    >>> from conclust import CEs2
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = CEs2(n_clusters=2).fit(labels)
    >>> model.labels_, model.core_
    (array([0, 0, 1, 1]), array([ True,  True, False,  True]))
    """

    core_: Bools = field(init=False)
    stability_: Floats = field(init=False)
    n_pieces_: int = field(init=False)

    max_dense: ClassVar[int] = 20000
    method = Method(
        title="Clustering ensemble based on sample stability",
        n_clusters="exact",
        cost="n^2 N",
        citation="Li, Qian, Wang, Dang and Jing 2019, Artificial Intelligence 273",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    determinacy: Determinacy = "linear"

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        ensemble = with_weight(ensemble)
        counted = ensemble.observed
        start = (ensemble if counted.all() else ensemble.observed_only()).distinct_rows(
            noise="apart"
        )
        labels = self._labels_of_rows(start)[start.inverse]
        self.core_ = spread(self.core_[start.inverse], counted, False)
        self.stability_ = spread(self.stability_[start.inverse], counted, np.nan)
        return spread(labels, counted, int(np.bincount(labels).argmax()))

    def _finish(self, observed: Bools) -> None:
        self.core_ = spread(self.core_, observed, False)
        self.stability_ = spread(self.stability_, observed, np.nan)

    def _labels_of_rows(self, start: DistinctRows) -> Ints:
        """Return the cluster of each row; core and stability of the rows are stored."""
        n, k = len(start), int(self.n_clusters)
        instead = "LWEA, LWGP or EAC with linkage='single', which need no such matrix"
        check_dense(n, self.max_dense, "CEs2 keeps the evidence of", instead, fixed=True)
        stage("stability of the objects")
        self.stability_, self.core_ = stability_of_rows(start, self.determinacy)
        self.n_pieces_ = n
        if n <= k:
            return np.arange(n)
        # K groups need K rows: all rows as stable as the K-th are in the core.
        self.core_ |= self.stability_ >= np.sort(self.stability_)[n - k] - _SAME
        pairs = _Pairs.of(start)
        if pairs.unobserved:
            warn(
                f"No partition observed both objects of {count(pairs.unobserved, 'pair')}: without evidence they count "
                "as dissimilarity 1 in the tree of the core, and nowhere else.",
                EvidenceWarning,
            )
        labels = np.full(n, -1)
        core = np.flatnonzero(self.core_)
        labels[core] = _pieces(pairs, core, k)
        pieces = _joined(pairs, labels)
        self.n_pieces_ = int(pieces.max()) + 1
        if self.n_pieces_ <= k:
            return pieces
        return _merged(pairs, pieces, k)[pieces]


@dataclass(frozen=True)
class _Pairs:
    """Co-association of distinct rows, in steps from never to always.

    Attributes
    ----------
    levels : ndarray of int8 or int16 of shape (n_rows, n_rows)
        0 to `steps`; -1: no partition observed both.
    steps : int
        The level of pairs that are always together.
    masses : ndarray of shape (n_rows,)
        Number of objects of each row.
    """

    levels: NDArray[np.signedinteger[Any]]
    steps: int
    masses: Floats

    @classmethod
    def of(cls, start: DistinctRows) -> _Pairs:
        """Count the pairs of rows."""
        stage("evidence of all pairs")
        n, steps = len(start), min(_STEPS, steps_of(start.ensemble, _STEPS))
        levels = np.empty((n, n), dtype=np.int8 if steps <= _FEW_STEPS else np.int16)
        at_once = max(1, _BLOCK_ENTRIES // n)
        for block in coassociation_blocks(start.ensemble, block_rows=at_once):
            shares = frequencies(block.counts, block.copresence) * steps
            np.nan_to_num(shares, copy=False, nan=-1.0)
            levels[block.rows.start : block.rows.stop] = np.rint(shares)
            advance(block.rows.stop, n)
        return cls(levels, steps, start.masses)

    @cached_property
    def unobserved(self) -> int:
        """Number of pairs of objects that no partition observed together."""
        pairs = sum(
            self.masses[i] * self.masses[row < 0].sum() for i, row in enumerate(self.levels)
        )
        return int(pairs) // 2

    def fits(self, some: Ints, piece: Ints) -> Floats:
        """Return how well some rows fit a piece: the mean of the similarities above its threshold.

        One more is counted than there are, so that a piece needs more than one similar object for a good fit.
        """
        masses = self.masses[piece]
        counts = np.zeros(self.steps + 2)
        step = max(1, _BLOCK_ENTRIES // len(piece))
        blocks = [some[begin : begin + step] for begin in range(0, len(some), step)]
        for rows in blocks:
            levels = self.levels[np.ix_(rows, piece)]
            weights = (self.masses[rows, None] * masses).ravel()
            counts += np.bincount(levels.ravel() + 1, weights, minlength=len(counts))
        least = otsu_threshold(np.arange(self.steps + 1.0), counts[1:])
        found = []
        for rows in blocks:
            levels = self.levels[np.ix_(rows, piece)]
            above = levels >= least
            above &= levels >= 0
            sums = np.where(above, levels, 0) @ masses / self.steps
            found.append(sums / (above @ masses + 1.0))
        return np.concatenate(found)

    def tree(self, rows: Ints) -> Floats:
        """Return the linkage matrix of single linkage of some rows; without evidence the similarity is 0."""
        D = 1.0 - np.maximum(self.levels[np.ix_(rows, rows)], 0) / self.steps
        return from_merges(*merges_of(D, np.ones(len(rows)), "single"))


def _pieces(pairs: _Pairs, core: Ints, k: int) -> Ints:
    """Return the groups of the core: single linkage, cut where heights are out of proportion."""
    n = len(core)
    if n == 1:
        return np.zeros(1, dtype=np.int64)
    stage("tree of the core")
    tree = pairs.tree(core)
    heights = tree[:, 2]
    odd = inconsistency(tree)
    odd[heights <= _SAME] = -1.0  # links at distance 0 are never cut
    highest = heights[np.argmax(odd >= odd.max() - _SAME)] if odd.max() >= 0.0 else np.inf
    if k > 1:
        highest = min(highest, heights[n - k])
    return cut(tree, n - int(np.count_nonzero(heights < highest - _SAME)))


def inconsistency(tree: Floats, depth: int = _DEPTH) -> Floats:
    """Return the height of each link above those under it, in standard deviations.

    Links of equal height that meet are one link, so that the order of ties does not count.

    Parameters
    ----------
    tree : ndarray of shape (n - 1, 4)
        A linkage matrix.
    depth : int
        Depth of the comparison: 1 is the link alone.

    Returns
    -------
    ndarray of shape (n - 1,)
        The height minus the mean, divided by the standard deviation; 0 where nothing under a link has another height.
    """
    n, heights = len(tree) + 1, tree[:, 2]
    above = np.full(n - 1, -1)
    for joined in tree[:, :2].astype(np.int64).T:
        inner = joined >= n
        above[joined[inner] - n] = np.flatnonzero(inner)
    top = np.arange(n - 1)
    for t in range(n - 2, -1, -1):
        if above[t] >= 0 and heights[top[above[t]]] - heights[t] <= _SAME:
            top[t] = top[above[t]]
    links = np.flatnonzero(top == np.arange(n - 1))
    parent = np.where(above[links] >= 0, top[above[links]], -1)
    upper = dict(zip(links.tolist(), parent.tolist(), strict=True))
    # Each link counts for itself and the next ones above it.
    counted = np.array(
        [(at, link) for link in links.tolist() for at in _upwards(link, upper, depth)]
    )
    at, of = counted.T
    count = np.bincount(at, minlength=n - 1)
    mean = np.bincount(at, heights[of], n - 1) / np.maximum(count, 1)
    squares = np.bincount(at, (heights[of] - mean[at]) ** 2, n - 1)
    deviation = np.sqrt(squares / np.maximum(count - 1, 1))
    return ratio(heights - mean, deviation)[top]


def _upwards(link: int, upper: dict[int, int], count: int) -> list[int]:
    """Return a link and the links above it, `count` in total."""
    links: list[int] = []
    while link >= 0 and len(links) < count:
        links.append(link)
        link = upper[link]
    return links


def _joined(pairs: _Pairs, labels: Ints) -> Ints:
    """Assign rows without a label (-1) to pieces, those that fit best first."""
    labels = labels.copy()
    total = float(pairs.masses.sum())
    stage("the halo joins")
    while (labels < 0).any():
        unlabelled = np.flatnonzero(labels < 0)
        advance(total - float(pairs.masses[unlabelled].sum()), total)
        order = np.argsort(labels, kind="stable")[len(unlabelled) :]
        members = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
        # If fits are equal, the largest piece is chosen.
        largest = np.argsort([-pairs.masses[piece].sum() for piece in members], kind="stable")
        fits = np.stack([pairs.fits(unlabelled, members[piece]) for piece in largest], axis=1)
        best = fits.max(axis=1)
        if best.max() <= 0.0:
            alike = sp.csr_array(np.maximum(pairs.levels[np.ix_(unlabelled, unlabelled)], 0))
            parts = connected_components(alike, directed=False)[1]
            labels[unlabelled] = len(members) + parts
            break
        joins = best >= otsu_threshold(best, pairs.masses[unlabelled])
        chosen = largest[(fits >= best[:, None] - _SAME).argmax(axis=1)]
        labels[unlabelled[joins]] = chosen[joins]
    return labels


def _merged(pairs: _Pairs, pieces: Ints, k: int) -> Ints:
    """Return the clusters of the pieces: k, by single linkage of mean similarities."""
    n, count = len(pieces), int(pieces.max()) + 1
    M = sp.csr_array((pairs.masses, (np.arange(n), pieces)), shape=(n, count))
    sums, n_known = np.zeros((count, count)), np.zeros((count, count))
    step = max(1, _BLOCK_ENTRIES // n)
    for begin in range(0, n, step):
        some = slice(begin, begin + step)
        levels = pairs.levels[some].T
        sums += np.asarray((M.T @ np.maximum(levels, 0)) @ M[some])
        n_known += np.asarray((M.T @ (levels >= 0)) @ M[some])
    D = 1.0 - ratio(sums, n_known * pairs.steps)
    np.fill_diagonal(D, 0.0)
    return cut(from_merges(*merges_of(D, np.ones(count), "single")), k)


Determinacy: TypeAlias = Literal["linear", "quadratic"]

# Number of steps in which fractional shares are counted.
_SHARE_STEPS = 1000
# Number of pairs counted at once, in several arrays of eight bytes each.


def stability_of_rows(start: DistinctRows, determinacy: Determinacy) -> tuple[Floats, Bools]:
    """Return the stability of each row of labels from 0 to 1, and the mask of the more stable ones: the core.

    The stability is the mean over the other objects of the distance of the share of partitions that put both together
    from a threshold between the shares of pairs that are together and of pairs that are apart, scaled; 1 if all are equal.
    """
    counts = _shares_of_rows(start)
    levels = np.linspace(0.0, 1.0, counts.shape[1])
    threshold = otsu_threshold(levels, start.masses @ counts)
    # If all shares are equal, both sides have length zero.
    side = np.where(levels < threshold, threshold, 1.0 - threshold)
    clear = ratio(np.abs(levels - threshold), side, 1.0)
    sums = counts @ (clear**2 if determinacy == "quadratic" else clear)
    raw = ratio(sums, counts.sum(axis=1))
    low, high = float(raw.min()), float(raw.max())
    scaled = (raw - low) / (high - low) if high - low > 1e-12 else np.ones_like(raw)
    return scaled, scaled >= otsu_threshold(scaled, start.masses)


def steps_of(rows: Ensemble, otherwise: int) -> int:
    """Return the number of steps of the shares: the number of partitions if all have equal weight."""
    whole = not rows.is_soft and not rows.has_missing and rows.weights is None
    return rows.n_partitions if whole else otherwise


def otsu_threshold(values: Floats, masses: Floats) -> float:
    """Return Otsu's threshold, halfway between the values that it separates, or the value if there is only one."""
    order = np.argsort(values, kind="stable")
    order = order[masses[order] > 0]
    at, weight = values[order], masses[order]
    if not len(at) or at[-1] - at[0] <= 1e-12:
        return float(at[0]) if len(at) else 0.0
    below = np.cumsum(weight)[:-1]
    above = weight.sum() - below
    sums = np.cumsum(weight * at)
    gap = sums[:-1] / below - (sums[-1] - sums[:-1]) / above
    between = below * above * gap**2
    between[np.diff(at) <= 1e-12] = 0.0  # equal values are not separated
    best = int(np.argmax(between >= between.max() * (1.0 - 1e-12)))
    return float(0.5 * (at[best] + at[best + 1]))


def _shares_of_rows(start: DistinctRows) -> Floats:
    """Return the number of other objects of each row at each share from 0 to 1 (n_rows, steps + 1)."""
    rows = start.ensemble
    steps = steps_of(rows, _SHARE_STEPS)
    masses = start.masses
    counts = np.zeros((len(start), steps + 1))
    at_once = max(1, _BLOCK_ENTRIES // len(start))
    for block in coassociation_blocks(rows, block_rows=at_once):
        shares = frequencies(block.counts, block.copresence)
        levels = np.rint(np.nan_to_num(shares) * steps).astype(np.int64)
        weights = np.where(np.isnan(shares), 0.0, masses)
        # A row counts one object of its own fewer, because an object does not form a pair with itself.
        local = np.arange(len(block.rows))
        weights[local, local + block.rows.start] -= weights[local, local + block.rows.start] > 0
        levels += (local * (steps + 1))[:, None]
        level_counts = np.bincount(
            levels.ravel(), weights.ravel(), minlength=len(local) * (steps + 1)
        )
        counts[block.rows.start : block.rows.stop] = level_counts.reshape(len(local), -1)
    return counts
