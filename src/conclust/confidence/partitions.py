"""How each partition compares with the consensus and with the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.ratios import ratio
from conclust._types import Floats, Ints
from conclust._validation import count, count_range
from conclust.confidence.reading import read_consensus
from conclust.ensemble import Ensemble
from conclust.measures.agreement import partition_similarities
from conclust.measures.comparison import element_centric_similarity
from conclust.measures.losses import hard_draws


@dataclass(frozen=True)
class PartitionConfidence:
    """How each partition compares with the consensus and with the others.

    Attributes
    ----------
    n_clusters : ndarray of int64 of shape (n_partitions,)
        Number of clusters of the partition.
    seen : ndarray of int64 of shape (n_partitions,)
        Number of objects that it observed.
    ari : ndarray of shape (n_partitions,)
        Adjusted Rand index with the consensus.
    nmi : ndarray of shape (n_partitions,)
        Normalized mutual information with the consensus (geometric mean).
    diversity : ndarray of shape (n_partitions,)
        1 minus the mean normalized mutual information with the other partitions; 0 for a single partition.
    weight : ndarray of shape (n_partitions,)
        Share of the total weight: of the weights learned by the model, or else of those of the ensemble.
    """

    n_clusters: Ints
    seen: Ints
    ari: Floats
    nmi: Floats
    diversity: Floats
    weight: Floats

    def __repr__(self) -> str:
        few, most = self.n_clusters.min(), self.n_clusters.max()
        finite = self.ari[~np.isnan(self.ari)]
        range_text = f"; ARI {finite.min():.2f} to {finite.max():.2f}" if len(finite) else ""
        return (
            f"PartitionConfidence({count(len(self.n_clusters), 'partition')} of "
            f"{count_range(few, most, 'cluster')}{range_text})"
        )


def partition_confidence(
    consensus: Any, ensemble: Ensemble | ArrayLike | None = None
) -> PartitionConfidence:
    """Compare each partition with the consensus and with the other partitions.

    Parameters
    ----------
    consensus : array-like of shape (n_samples,) or fitted model
        The clusters. An object with a negative label or NaN is in no cluster.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        Partitions that the consensus was made from; for soft ones, their most probable clusters. None: those
        that a `conclust.ConsensusClustering` keeps.

    Returns
    -------
    PartitionConfidence
        Every measure, with one entry per partition. NaN for a partition without objects in common with the partitions
        or the consensus that it is compared with.

    Raises
    ------
    InputError
        If the consensus and the ensemble are not of the same objects.

    Examples
    --------
    >>> from conclust.confidence import partition_confidence
    >>> labels = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> partition_confidence([0, 0, 1, 1], labels).diversity
    array([0.5, 0.5, 1. ])
    """
    judged = read_consensus(consensus, ensemble, "partition_confidence")
    members = judged.members
    labels = np.where(judged.labels < 0, -1, judged.labels)
    with_consensus = Ensemble(np.column_stack([members.labels, labels]))
    nmi, ari = (partition_similarities(with_consensus, measure=name) for name in ("nmi", "ari"))
    others = nmi[:-1, :-1].copy()
    np.fill_diagonal(others, np.nan)
    finite = ~np.isnan(others)

    sums = np.nan_to_num(others).sum(axis=1)
    alike = ratio(sums, finite.sum(axis=1), 1.0 if len(others) == 1 else np.nan)
    weights = members.partition_weights if judged.weights is None else np.asarray(judged.weights)
    return PartitionConfidence(
        n_clusters=members.cluster_counts.copy(),
        seen=np.count_nonzero(members.present, axis=0).astype(np.int64),
        ari=ari[:-1, -1],
        nmi=nmi[:-1, -1],
        diversity=1.0 - alike,
        weight=weights / weights.sum(),
    )


@dataclass(frozen=True)
class Inconsistency:
    """Differences between the partitions of an ensemble.

    Attributes
    ----------
    coefficient : float
        Inconsistency coefficient: 1 divided by the weighted mean of all entries of `similarity`. It is 1 if all
        partitions are equal, and grows as they differ more.
    similarity : ndarray of shape (n_partitions, n_partitions)
        Element-centric similarity of every two partitions.
    n_different : int
        Number of different partitions.
    typical : int
        Partition most similar to all others; the first one if several are equal.
    """

    coefficient: float
    similarity: Floats
    n_different: int
    typical: int

    def __repr__(self) -> str:
        return (
            f"Inconsistency({self.coefficient:.4f}; {self.n_different} different partitions of "
            f"{len(self.similarity)}, the most typical is {self.typical})"
        )


def inconsistency(ensemble: Ensemble | ArrayLike) -> Inconsistency:
    """Measure how much repeated clusterings differ: the inconsistency coefficient of scICE.

    With S the element-centric similarities of the different partitions
    (:func:`conclust.metrics.element_centric_similarity`) and p the shares of the runs that found them, it is
    1 / (p' S p) [1]_. It is meant for runs that differ only in their seeds; compute it for each resolution
    separately.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions. Two of them are compared on the objects that both observed; noise is a cluster of one.

    Returns
    -------
    Inconsistency
        The coefficient, and the similarities from which it was computed.

    Raises
    ------
    InputError
        If the labels are malformed, or two partitions share no object.
    UnsupportedEnsembleError
        If the members are soft.

    Notes
    -----
    O(n d^2) time for d different partitions.

    References
    ----------
    .. [1] H. Kim et al., "scICE: enhancing clustering reliability and efficiency of scRNA-seq data with
       multi-cluster label consistency evaluation", Nature Communications 16, 2025.

    Examples
    --------
    >>> from conclust.confidence import inconsistency
    >>> inconsistency([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    Inconsistency(1.2558; 2 different partitions of 3, the most typical is 0)
    """
    members = hard_draws(ensemble, "inconsistency")
    labels = members.labels
    different, place = _different(labels)
    d = len(different)
    table = np.ones((d, d))
    for a in range(d):
        for b in range(a):
            table[a, b] = table[b, a] = element_centric_similarity(
                labels[:, different[a]], labels[:, different[b]]
            )
    similarity = table[np.ix_(place, place)]
    weights = np.ones(len(place)) if members.weights is None else np.asarray(members.weights)
    shares = weights / weights.sum()
    mean = similarity @ shares
    # Means of equal partitions differ by rounding: the product adds rows in different ways.
    typical = int((mean >= mean.max() - 1e-12).argmax())
    return Inconsistency(float(1.0 / (shares @ mean)), similarity, d, typical)


def _different(labels: NDArray[np.generic]) -> tuple[list[int], Ints]:
    """Return the columns that differ from all earlier ones, and for each column its index among them."""
    different: list[int] = []
    numbers: dict[bytes, int] = {}
    place = np.empty(labels.shape[1], dtype=np.int64)
    for u, column in enumerate(labels.T):
        key = np.ascontiguousarray(column).tobytes()
        if key not in numbers:
            numbers[key] = len(different)
            different.append(u)
        place[u] = numbers[key]
    return different, place
