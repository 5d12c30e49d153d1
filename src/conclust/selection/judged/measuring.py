"""Computes the consensus of the resamples of one K and its row of the table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._random import generator
from conclust._types import Floats, Ints
from conclust.consensus.linkage import EAC, cut
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import MISSING, NOISE, indicator_of, one_hot_rows, over_partitions
from conclust.evidence import evidence
from conclust.exceptions import EvidenceWarning, InputError
from conclust.measures.agreement import partition_similarities
from conclust.measures.comparison import adjusted_rand_index
from conclust.placing import shared_clusterings
from conclust.selection.judged.pairs import (
    PairCounts,
    count_all,
    count_some,
    sample_of_pairs,
    table_of,
)

_ROWS_AT_ONCE = 1 << 16
# Maximum numbers of objects for standard errors over pairs, and for silhouettes of points.
_SQUARE = 250
_WIDTHS = 1000


@dataclass(frozen=True)
class Design:
    """The pairs and objects that are examined, the same for every K.

    Attributes
    ----------
    n_samples : int
        Objects.
    part : ndarray of shape (n_part,) or None
        Objects whose pairs are examined one by one, if not all.
    pairs : (i, j) or None
        Pairs of the distribution function, if not all.
    n_jobs : int
        Threads.
    """

    n_samples: int
    part: Ints | None
    pairs: tuple[Ints, Ints] | None
    n_jobs: int

    @classmethod
    def draw(
        cls, n: int, *, max_dense: int, n_pairs: int, n_jobs: int, seed: np.random.SeedSequence
    ) -> Design:
        """Draw objects and pairs if there are more than `max_dense` objects.

        Parameters
        ----------
        n : int
            Number of objects.
        max_dense : int
            Maximum number of objects for which all pairs are counted.
        n_pairs : int
            Number of pairs to sample above that limit.
        n_jobs : int
            Threads.
        seed : SeedSequence
            Source of the sample.
        """
        if n <= max_dense:
            return cls(n, None, None, n_jobs)
        rng = generator(seed)
        part = np.sort(rng.choice(n, size=max_dense, replace=False, shuffle=False))
        return cls(n, part, sample_of_pairs(n, n_pairs, rng), n_jobs)

    def count(self, ensemble: Ensemble) -> PairCounts:
        """Count the pairs."""
        if self.pairs is None:
            return count_all(ensemble, self.n_jobs)
        return count_some(ensemble, self.pairs, self.n_jobs)


@dataclass(frozen=True, eq=False)
class Consensus:
    """A tree of the objects, or of a part of them.

    Attributes
    ----------
    ensemble : Ensemble
        The resamples.
    rows : ndarray of shape (n_leaves,)
        Objects that are the leaves.
    tree : ndarray of shape (n_leaves - 1, 4)
        Average linkage on 1 - c / N.
    """

    ensemble: Ensemble
    rows: Ints
    tree: Floats

    def cut(self, k: int) -> Ints:
        """Return labels of all objects: those that are not leaves join the cluster with which they co-occur most.

        -1: no resample drew the object.
        """
        labels = np.full(self.ensemble.n_samples, -1, dtype=np.int64)
        labels[self.rows] = cut(self.tree, min(k, len(self.rows)))
        others = np.flatnonzero(self.ensemble.observed & (labels < 0))
        if len(others):
            some, row_labels = _part_of(self.ensemble, self.rows), labels[self.rows]
            for begin in range(0, len(others), _ROWS_AT_ONCE):
                rows = others[begin : begin + _ROWS_AT_ONCE]
                shares = shared_clusterings(some, row_labels, self.ensemble.labels[rows])
                placed = np.isfinite(shares).any(axis=1)
                labels[rows[placed]] = np.nanargmax(shares[placed], axis=1)
        return labels


def consensus_of(ensemble: Ensemble, design: Design) -> Consensus:
    """Grow the tree of the objects, or of a part of them if there are too many for a matrix."""
    rows = np.flatnonzero(ensemble.observed)
    if design.part is not None:
        rows = np.intersect1d(rows, design.part, assume_unique=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)  # pairs that no resample drew together
        model = EAC(1, linkage="average", max_dense=len(rows), n_jobs=design.n_jobs)
        tree = model.fit(_part_of(ensemble, rows)).linkage_matrix_
    return Consensus(ensemble, rows, tree)


def _part_of(ensemble: Ensemble, rows: Ints) -> Ensemble:
    """Return the resamples of some objects; all columns are kept."""
    if len(rows) == ensemble.n_samples:
        return ensemble
    labels = ensemble.labels[rows]
    # A resample that drew none of them: one noise object carries no information about any pair.
    labels[0, (labels == MISSING).all(axis=0)] = NOISE
    return Ensemble(labels)


@dataclass(frozen=True, eq=False)
class Measured:
    """The results for one K: its consensus, its pairs, its criteria with standard errors.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        The consensus; -1 for objects that no resample drew.
    tree : ndarray of shape (n_leaves - 1, 4)
        Its dendrogram.
    rows : ndarray of shape (n_leaves,)
        The objects that are its leaves.
    counts : PairCounts
        The distribution of c / N.
    values, errors : dict of float
        By the name of the criterion; NaN where there is none.
    areas : ndarray
        The area with each group of resamples left out.
    """

    labels: Ints
    tree: Floats
    rows: Ints
    counts: PairCounts
    values: dict[str, float]
    errors: dict[str, float]
    areas: Floats


def measure(
    ensemble: Ensemble,
    k: int,
    design: Design,
    *,
    consensus: Consensus | None = None,
    points: Floats | None = None,
    shared: bool = False,
) -> Measured:
    """Compute the criteria of the resamples of one K.

    Parameters
    ----------
    ensemble : Ensemble
        Its resamples.
    k : int
        Clusters of the consensus.
    design : Design
        Pairs and objects that are examined.
    consensus : Consensus, default=None
        The tree, where one serves several K. None: grown here.
    points : ndarray of shape (n_samples, r), default=None
        The points, for the silhouette among them.
    shared : bool, default=False
        Whether the ensemble serves all K: members are then compared with the consensus of each K, not
        with each other, which would be the same for all.
    """
    tree = consensus_of(ensemble, design) if consensus is None else consensus
    labels = tree.cut(k)
    m = ensemble.n_partitions
    sharp = sharp_counts(ensemble, labels)
    agreement = mean_ari(ensemble, labels if shared else None)
    examined = tree.rows
    whole = Matrices.of(_part_of(ensemble, examined), design.n_jobs)
    if len(examined) == design.n_samples:
        counts = table_of(whole.counts, whole.copresence, m)
    else:
        counts = design.count(ensemble)

    def criteria(kept: Ints, pairs: PairCounts) -> dict[str, float]:
        compared = agreement[kept] if shared else upper(agreement[np.ix_(kept, kept)])
        return {
            "pac": pairs.pac(),
            "area": pairs.area,
            "sharp": sharp_score(sharp, kept),
            "mean_ari": mean_of(compared),
        }

    everything = np.arange(m)
    values = criteria(everything, counts)
    # Standard errors of criteria over pairs, from the pairs of at most _SQUARE objects.
    some = _spaced(len(examined), _SQUARE)
    square = whole.of_some(some)
    some_labels = ensemble.labels[examined[some]]
    without = []
    for group in groups_of(m):
        left = square.without(some_labels[:, group])
        pairs = table_of(left.counts, left.copresence, m)
        if not pairs.n_pairs:
            raise InputError(
                f"Standard errors come from leaving out each partition in turn. With K = {k} and without partition "
                f"{', '.join(map(str, group))} there are no two objects that a partition observed: pass partitions "
                "that observe more of the objects."
            )
        without.append(criteria(np.setdiff1d(everything, group), pairs))
    errors = {name: jackknife(np.array([one[name] for one in without])) for name in values}
    widths = _widths(points, labels, examined)
    values["silhouette_points"], errors["silhouette_points"] = (
        mean_of(widths),
        error_of_mean(widths),
    )
    values["smallest_cluster"] = float(np.bincount(labels[labels >= 0]).min())
    values["resamples_with_k"] = float(np.mean(np.diff(ensemble.offsets) >= k))
    areas = np.array([one["area"] for one in without])
    return Measured(labels, tree.tree, tree.rows, counts, values, errors, areas)


def _spaced(n: int, most: int) -> Ints:
    """Return at most `most` of n indices, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(most, n)).astype(np.int64))


def _widths(points: Floats | None, labels: Ints, rows: Ints) -> Floats:
    """Return the silhouette widths of at most _WIDTHS points; none if there are no two clusters."""
    rows = rows[_spaced(len(rows), _WIDTHS)]
    if points is None or not 1 < len(np.unique(labels[rows])) < len(rows):
        return np.empty(0)
    from sklearn.metrics import silhouette_samples

    return np.asarray(silhouette_samples(points[rows], labels[rows]))


# Number of groups of resamples, left out in turn for standard errors.
_GROUPS = 10


def groups_of(n_resamples: int) -> list[Ints]:
    """Return the resamples of each group of the jackknife; none if there is a single resample."""
    if n_resamples < 2:
        return []
    count = min(_GROUPS, n_resamples)
    return [np.arange(g, n_resamples, count) for g in range(count)]


def jackknife(left_out: Floats) -> float:
    """Return the standard error from the values with one group of equal size left out each."""
    count = len(left_out)
    if count < 2 or not np.isfinite(left_out).all():
        return float("nan")
    return float(np.sqrt((count - 1) / count * ((left_out - left_out.mean()) ** 2).sum()))


@dataclass(frozen=True)
class SharpCounts:
    """Pairs within and between the clusters of a partition: together and observed, by each resample.

    Attributes
    ----------
    together_within, observed_within, together, observed : ndarray of shape (n_partitions,)
        Counts of the pairs within clusters, and of all pairs.
    """

    together_within: Ints
    observed_within: Ints
    together: Ints
    observed: Ints


def sharp_counts(ensemble: Ensemble, labels: Ints) -> SharpCounts:
    """Count from contingency tables, without a matrix of pairs. Objects labelled -1 are ignored."""
    within = one_hot_rows(labels, int(labels.max()) + 1)
    table = indicator_of(ensemble.codes, ensemble.offsets).T @ within
    observed = ensemble.present.T.astype(np.float64) @ within

    def pairs(sizes: Floats) -> Floats:
        return sizes * (sizes - 1.0) / 2.0

    def per_partition(cells: Floats) -> Ints:
        return _whole(over_partitions(cells, ensemble.offsets))

    return SharpCounts(
        per_partition(pairs(table).sum(axis=1)),
        _whole(pairs(observed).sum(axis=1)),
        per_partition(pairs(table.sum(axis=1))),
        _whole(pairs(observed.sum(axis=1))),
    )


def _whole(values: Floats) -> Ints:
    return np.rint(values).astype(np.int64)


def sharp_score(counts: SharpCounts, kept: Ints | slice = slice(None)) -> float:
    """Return the difference between the rates of being together within and between clusters.

    The statistic of a test of two proportions, over pairs and resamples (Bodinier et al.,
    Bioinformatics 39:btad635, 2023). NaN if a rate has no pairs.
    """
    x_w, n_w = int(counts.together_within[kept].sum()), int(counts.observed_within[kept].sum())
    x, n = int(counts.together[kept].sum()), int(counts.observed[kept].sum())
    x_b, n_b = x - x_w, n - n_w
    if n_w == 0 or n_b == 0 or x in (0, n):
        return float("nan")
    p0 = x / n
    apart = x_w / n_w - x_b / n_b
    return float(apart / np.sqrt(p0 * (1.0 - p0) * (1.0 / n_w + 1.0 / n_b)))


def mean_ari(ensemble: Ensemble, labels: Ints | None) -> Floats:
    """Return the adjusted Rand index of each pair of resamples on their common objects, or of each resample with labels."""
    if labels is None:
        return partition_similarities(ensemble, measure="ari")
    values = np.full(ensemble.n_partitions, np.nan)
    for u, column in enumerate(ensemble.labels.T):
        if ((labels >= 0) & (column != MISSING)).any():
            values[u] = adjusted_rand_index(labels, column)
    return values


def upper(matrix: Floats) -> Floats:
    """Return the entries of a symmetric matrix, each pair once."""
    return matrix[np.triu_indices(len(matrix), 1)]


def mean_of(values: Floats) -> float:
    """Return the mean of the finite values; NaN if there are none."""
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")


def error_of_mean(values: Floats) -> float:
    """Return the standard error of `mean_of`; NaN for fewer than two values."""
    finite = values[np.isfinite(values)]
    return float(finite.std(ddof=1) / np.sqrt(len(finite))) if len(finite) > 1 else float("nan")


@dataclass(frozen=True)
class Matrices:
    """The evidence of all pairs of some objects.

    Attributes
    ----------
    counts, copresence : ndarray of shape (n, n)
        c and N.
    """

    counts: NDArray[Any]
    copresence: NDArray[Any]

    @classmethod
    def of(cls, ensemble: Ensemble, n_jobs: int) -> Matrices:
        """Count the pairs of all objects of the ensemble."""
        c, N = evidence(ensemble, max_dense=None, n_jobs=n_jobs)
        return cls(c, N)

    def of_some(self, at: Ints) -> Matrices:
        """Return the same for some of the objects."""
        square = np.ix_(at, at)
        return Matrices(self.counts[square], self.copresence[square])

    def without(self, left_out: Ints) -> Matrices:
        """Return the same without some resamples, given as their labels of the objects."""
        observed = (left_out != -1).any(axis=0)
        if not observed.any():
            return self
        c, N = evidence(Ensemble(left_out[:, observed]), dtype=self.counts.dtype, max_dense=None)
        return Matrices(self.counts - c, self.copresence - N)
