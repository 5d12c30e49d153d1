"""The criteria of the resamples of one K, each with its standard error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import MISSING, indicator_of, one_hot_rows, over_partitions
from conclust.evidence import evidence, frequencies
from conclust.measures.agreement import partition_similarities
from conclust.measures.comparison import adjusted_rand_index
from conclust.selection.judged.pairs import PairCounts

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


def pair_criteria(counts: PairCounts, window: tuple[Fraction, Fraction]) -> dict[str, float]:
    """Return the criteria of the distribution of c / N over pairs."""
    return {"pac": counts.pac(window), "area": counts.area}


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
    return per_resample(ensemble, labels, adjusted_rand_index)


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


def per_resample(
    ensemble: Ensemble, labels: Ints, measure: Callable[[Ints, Ints], float]
) -> Floats:
    """Compare the labels with each resample on their common objects; NaN if there are none."""
    values = np.full(ensemble.n_partitions, np.nan)
    for u, column in enumerate(ensemble.labels.T):
        if ((labels >= 0) & (column != MISSING)).any():
            values[u] = measure(labels, column)
    return values


@dataclass(frozen=True)
class Matrices:
    """The evidence of all pairs of some objects, and their clusters in the consensus.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Their consensus, from 0 on.
    counts, copresence : ndarray of shape (n, n)
        c and N.
    """

    labels: Ints
    counts: NDArray[Any]
    copresence: NDArray[Any]

    @classmethod
    def of(cls, ensemble: Ensemble, labels: Ints, n_jobs: int) -> Matrices:
        """Count the pairs of all objects of the ensemble."""
        c, N = evidence(ensemble, max_dense=None, n_jobs=n_jobs)
        return cls(labels, c, N)

    def of_some(self, at: Ints) -> Matrices:
        """Return the same for some of the objects."""
        square = np.ix_(at, at)
        return Matrices(self.labels[at], self.counts[square], self.copresence[square])

    def without(self, left_out: Ints) -> Matrices:
        """Return the same without some resamples, given as their labels of the objects."""
        observed = (left_out != -1).any(axis=0)
        if not observed.any():
            return self
        c, N = evidence(Ensemble(left_out[:, observed]), dtype=self.counts.dtype, max_dense=None)
        return Matrices(self.labels, self.counts - c, self.copresence - N)


def matrix_criteria(matrices: Matrices) -> dict[str, float]:
    """Return the criteria that need all pairs of some objects."""
    M = frequencies(matrices.counts, matrices.copresence)
    labels = matrices.labels
    sums, n_observed = cluster_sums(M, labels)
    return {"min_cluster_consensus": float(cluster_consensus(sums, n_observed, labels).min())}


def cluster_sums(M: Floats, labels: Ints) -> tuple[Floats, Floats]:
    """Return the sum of M over the other objects of each cluster, and their number, for each object.

    M is NaN for pairs that no resample observed: they are left out.
    """
    within = one_hot_rows(labels, int(labels.max()) + 1)
    finite = np.isfinite(M)
    if finite.all():
        diagonal = np.diag(M)[:, None] * within
        return M @ within - diagonal, within.sum(axis=0) - within
    np.fill_diagonal(finite, False)
    return np.where(finite, M, 0.0) @ within, finite.astype(np.float64) @ within


def cluster_consensus(sums: Floats, counts: Floats, labels: Ints) -> Floats:
    """Return the mean of M over the pairs of each cluster from `cluster_sums`; 1 if there are none."""
    in_cluster = np.arange(sums.shape[1]) == labels[:, None]
    total = np.bincount(labels, weights=sums[in_cluster])
    pairs = np.bincount(labels, weights=counts[in_cluster])
    return np.where(pairs > 0, total / np.maximum(pairs, 1.0), 1.0)
