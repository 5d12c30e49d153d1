"""Stability and ambiguity of each object, from the partitions alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from conclust._arrays.ratios import ratio
from conclust._threads import thread_count
from conclust._types import Bools, Floats
from conclust._validation import check_option, count
from conclust.ensemble import DistinctRows, Ensemble, as_ensemble
from conclust.evidence import coassociation_blocks, frequencies
from conclust.evidence.stability import Determinacy, stability_of_rows
from conclust.similarity.mutual import quadratic_forms

# Maximum number of clusters for which a table of all pairs is made: 128 MB.
_TABLE = 4000


@dataclass(frozen=True)
class SampleStability:
    """How clearly the partitions determine the company of each object; NaN for objects missing everywhere.

    Attributes
    ----------
    stability : ndarray of shape (n_samples,)
        Determinacy scaled from 0 (the least determined object) to 1 (the most); 1 if all are equal.
    determinacy : ndarray of shape (n_samples,)
        From 0 to 1: mean over the other objects of the distance between the share of partitions that put both
        together and `threshold`, relative to its maximum (never or always together).
    threshold : float
        Between the shares of pairs that are together and of pairs that are apart.
    core : ndarray of bool of shape (n_samples,)
        Objects in the group of higher stability, if stabilities are divided into two groups; the others are the halo.
    """

    stability: Floats
    determinacy: Floats
    threshold: float
    core: Bools

    def __repr__(self) -> str:
        return (
            f"SampleStability({count(len(self.core), 'object')}, {np.count_nonzero(self.core):,} in the core; "
            f"threshold {self.threshold:.2f})"
        )


def sample_stability(
    ensemble: Ensemble | ArrayLike,
    *,
    determinacy: Determinacy = "linear",
    n_jobs: int | None = None,
) -> SampleStability:
    """Divide the objects into the core of the clusters, on which the partitions agree, and the halo around it.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions. No consensus is needed.
    determinacy : {"linear", "quadratic"}, default="linear"
        Function of the share p of the partitions: its distance from the threshold divided by the largest distance on
        the same side, or the square of this ratio.
    n_jobs : int, default=None
        Number of threads. The result does not depend on it.

    Returns
    -------
    SampleStability
        An entry for each object.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If `determinacy` is not one of these.

    See Also
    --------
    conclust.CEs2 : the clusters of the core, which the halo joins.
    object_ambiguity : without comparing all pairs, and without a threshold.

    Notes
    -----
    This is the sample stability of [1]_, from which :class:`conclust.CEs2` makes a clustering. Other methods find
    clusters of the core if you pass ``labels[stability.core]``.

    Both thresholds are Otsu's: they maximise the variance between two groups, and lie halfway between the values that
    they separate. Pairs that no partition observed are left out. Shares of incomplete, weighted or soft partitions
    are rounded to a thousandth. O(n^2 N) time for n distinct rows of labels, in blocks.

    References
    ----------
    .. [1] F. Li, Y. Qian, J. Wang, C. Dang and L. Jing, "Clustering ensemble based on sample's stability",
       Artificial Intelligence 273, 2019.

    Examples
    --------
    >>> from conclust.confidence import sample_stability
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> found = sample_stability(labels)
    >>> found.threshold, found.determinacy.round(3), found.core
    (0.5, array([0.778, 0.778, 0.333, 0.778]), array([ True,  True, False,  True]))
    """
    check_option(determinacy, "determinacy", "sample_stability", Determinacy)
    thread_count(n_jobs, "sample_stability")
    members = as_ensemble(ensemble)
    observed = members.observed
    start = (members if observed.all() else members.observed_only()).distinct_rows(noise="apart")
    values = stability_of_rows(start, determinacy, n_jobs)
    place = np.cumsum(observed) - 1
    row = np.where(observed, start.inverse[place], 0)
    return SampleStability(
        np.where(observed, values.stability[row], np.nan),
        np.where(observed, values.determinacy[row], np.nan),
        values.threshold,
        observed & values.core[row],
    )


def object_ambiguity(ensemble: Ensemble | ArrayLike, *, n_jobs: int | None = None) -> Floats:
    """Measure how undecided the partitions are about the pairs of each object.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions. No consensus is needed.
    n_jobs : int, default=None
        Number of threads. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_samples,)
        The mean of 4 p (1 - p) over the other objects, where p is the share of the partitions that put both together.
        It is 0 if all partitions agree on every pair of the object, and 1 if half of them put each pair together. NaN
        for objects that no partition observed, or that none observed together with another object.

    Raises
    ------
    InputError
        If the labels are malformed.

    Notes
    -----
    The weights of objects in [1]_ are proportional to this ambiguity. For complete labels, the sums of p and p^2 over
    all objects follow from the clusters of the object and the pairs of these clusters, in O(n N^2) time and without
    pairs of objects. Incomplete labels need the pairs of the n distinct rows of labels, in blocks.

    References
    ----------
    .. [1] Y. Ren, C. Domeniconi, G. Zhang and G. Yu, "Weighted-object ensemble clustering", ICDM 2013.

    Examples
    --------
    >>> from conclust.confidence import object_ambiguity
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> object_ambiguity(labels).round(4)
    array([0.2963, 0.2963, 0.8889, 0.2963])
    """
    thread_count(n_jobs, "object_ambiguity")
    members = as_ensemble(ensemble)
    observed = members.observed
    observed_members = members if observed.all() else members.observed_only()
    start = observed_members.distinct_rows(noise="apart")
    if observed_members.has_missing:
        values = _mean_ambiguity(start, n_jobs)
    else:
        weights = observed_members.column_weights / observed_members.partition_weights.sum()
        rows = start.ensemble.indicator
        scaled = sp.diags_array(weights)
        sums = rows @ (weights * observed_members.cluster_sizes)
        squares = _square_sums(
            start.ensemble, sp.csr_array(scaled @ observed_members.gram @ scaled)
        )
        # Without the object itself, whose p is below 1 if it is soft or noise.
        self_pairs = np.asarray(rows.power(2) @ weights)
        others = max(1, observed_members.n_samples - 1)
        values = 4.0 * np.maximum(sums - squares - self_pairs * (1.0 - self_pairs), 0.0) / others
    ambiguity = np.full(members.n_samples, np.nan)
    ambiguity[observed] = values[start.inverse]
    return ambiguity


def _square_sums(rows: Ensemble, W: sp.csr_array) -> Floats:
    """Return b_i' W b_i of all rows."""
    T = W.shape[0]
    if rows.is_soft or T > _TABLE:
        return quadratic_forms(rows.indicator, W)
    # One entry for each pair of clusters of a row; noise is in none.
    table = np.zeros((T + 1, T + 1))
    table[:T, :T] = W.toarray()
    clusters = rows.codes + rows.offsets[:-1]
    clusters[rows.noise] = T
    columns = np.ascontiguousarray(clusters.T)
    sums = np.zeros(rows.n_samples)
    for u, one in enumerate(columns):
        sums += table[one, one]
        for other in columns[u + 1 :]:
            sums += 2.0 * table[one, other]
    return sums


def _mean_ambiguity(start: DistinctRows, n_jobs: int | None) -> Floats:
    """Return the mean of 4 p (1 - p) over the other objects that some partition observed with the row's."""
    means = np.empty(len(start))
    for block in coassociation_blocks(start.ensemble, n_jobs=n_jobs):
        p = frequencies(block.counts, block.copresence)
        weights = np.where(np.isnan(p), 0.0, start.masses)
        local = np.arange(len(block.rows))
        weights[local, local + block.rows.start] -= weights[local, local + block.rows.start] > 0
        total = weights.sum(axis=1)
        np.nan_to_num(p, copy=False)
        sums = (weights * p * (1.0 - p)).sum(axis=1)
        means[block.rows.start : block.rows.stop] = ratio(4.0 * sums, total, np.nan)
    return means
