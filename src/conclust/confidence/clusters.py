"""Confidence of clusters: cluster consensus, recovery by the partitions, stability over numbers of clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.rows import ratio
from conclust._types import Floats, Ints
from conclust._validation import check_int, count
from conclust.confidence.objects import cluster_sums, membership_of
from conclust.confidence.reading import Judged, read_consensus
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import cluster_range
from conclust.membership import cluster_similarity

_SHOWN = 8  # maximum number of clusters in the repr


@dataclass(frozen=True)
class ClusterConfidence:
    """Confidence of each cluster.

    Attributes
    ----------
    sizes : ndarray of int64 of shape (n_clusters,)
        Objects.
    consensus : ndarray of shape (n_clusters,)
        Cluster consensus: mean of c_ij / N_ij over the pairs of its objects; NaN for a cluster of one.
    jaccard : ndarray of shape (n_clusters,)
        Recovery by the partitions: for each partition, the largest Jaccard coefficient with one of its clusters, on
        the objects that it observed; then the mean over the partitions. A cluster below 0.6 is unreliable, and a
        cluster from 0.85 on is very stable [1]_. Partitions that are finer than the consensus always give low values.
    confidence : ndarray of shape (n_clusters,)
        Mean confidence of the objects of the cluster (:func:`confidences`).
    overlap : ndarray of shape (n_clusters, n_clusters)
        m_ab: the probability that an object drawn from cluster a falls into cluster b if its cluster is drawn again
        (:func:`conclust.membership.cluster_similarity`).

    References
    ----------
    .. [1] C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics & Data
       Analysis 52, 2007.
    """

    sizes: Ints
    consensus: Floats
    jaccard: Floats
    confidence: Floats
    overlap: Floats

    def __repr__(self) -> str:
        clusters = ", ".join(
            f"{size:,} ({sure:.2f})"
            for size, sure in zip(self.sizes[:_SHOWN], self.confidence[:_SHOWN], strict=True)
        )
        more = ", ..." if len(self.sizes) > _SHOWN else ""
        return f"ClusterConfidence({count(len(self.sizes), 'cluster')}; objects (confidence): {clusters}{more})"


def cluster_confidence(
    consensus: Any,
    ensemble: Ensemble | ArrayLike | None = None,
    *,
    max_dense: int = 20_000,
    n_jobs: int | None = None,
) -> ClusterConfidence:
    """Measure the confidence of each cluster.

    Parameters
    ----------
    consensus : array-like of shape (n_samples,) or fitted model
        The clusters. An object with a negative label or NaN is in no cluster.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        Partitions from which the consensus was computed. None: the partitions of a `conclust.ConsensusClustering`.
    max_dense : int, default=20000
        See :func:`item_consensus`.
    n_jobs : int, default=None
        Number of threads. The result does not depend on it.

    Returns
    -------
    ClusterConfidence
        Every measure, with one entry per cluster.

    Raises
    ------
    InputError
        If the consensus and the ensemble are not of the same objects.

    Examples
    --------
    >>> from conclust.confidence import cluster_confidence
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> sure = cluster_confidence([0, 0, 1, 1], labels)
    >>> sure.consensus.round(3)
    array([1.   , 0.667])
    >>> sure.jaccard.round(3)
    array([0.889, 0.833])
    """
    check_int(max_dense, "max_dense", "cluster_confidence")
    judged = read_consensus(consensus, ensemble, "cluster_confidence")
    sums, weights = cluster_sums(judged, max_dense, n_jobs)
    in_cluster = judged.labels >= 0
    at = judged.labels[in_cluster]

    def per_cluster(values: Floats) -> Floats:
        return np.bincount(at, values[in_cluster], judged.n_clusters).astype(np.float64, copy=False)

    together, observed = per_cluster(judged.own(sums)), per_cluster(judged.own(weights))
    membership = membership_of(judged)
    own_membership = judged.own(membership[:, : judged.n_clusters])
    return ClusterConfidence(
        sizes=judged.sizes,
        consensus=ratio(together, observed, np.nan),
        jaccard=_jaccard(judged),
        confidence=per_cluster(np.nan_to_num(own_membership)) / judged.sizes,
        overlap=cluster_similarity(membership[in_cluster])[
            : judged.n_clusters, : judged.n_clusters
        ],
    )


def _jaccard(judged: Judged) -> Floats:
    """Return for each cluster the mean over the members of the best Jaccard coefficient."""
    members, Z = judged.members, judged.indicator
    hard = members if not members.is_soft else Ensemble(members.labels, weights=members.weights)
    shared = (judged if hard is members else replace(judged, members=hard)).shared
    sizes = hard.cluster_sizes
    # (K, N): objects of the cluster that the member observed, and those that are noise there.
    observed = np.repeat(judged.sizes[:, np.newaxis].astype(np.float64), hard.n_partitions, axis=1)
    noise = np.zeros_like(observed)
    if hard.has_missing:
        observed = np.asarray(Z.T @ hard.present.astype(np.float64))
    if hard.has_noise:
        noise = np.asarray(Z.T @ hard.noise.astype(np.float64))
    sums = np.zeros(judged.n_clusters)
    observed_weight = np.zeros(judged.n_clusters)
    for u, weight in enumerate(hard.partition_weights):
        block = cluster_range(hard.offsets, u)
        union = sizes[block][:, None] + observed[:, u] - shared[block]
        best = np.zeros(judged.n_clusters)
        if len(union):
            best = (shared[block] / np.maximum(union, 1.0)).max(axis=0)
        # A noise object is a singleton cluster.
        single = np.divide(1.0, observed[:, u], out=np.zeros_like(best), where=noise[:, u] > 0)
        sums += weight * np.maximum(best, single)
        observed_weight += weight * (observed[:, u] > 0)
    return ratio(sums, observed_weight, np.nan)
