"""How each partition compares with the consensus and with the others."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.rows import cross_counts, ratio
from conclust._types import Floats, Ints
from conclust._validation import check_real, count, count_range
from conclust.confidence.reading import read_consensus
from conclust.consensus.linkage import EAC, cut
from conclust.ensemble import Ensemble, with_weight
from conclust.ensemble.labels import MISSING, NOISE
from conclust.exceptions import EvidenceWarning, OrientationWarning
from conclust.measures.agreement import partition_similarities
from conclust.measures.comparison import element_centric_similarity
from conclust.measures.losses import hard_draws
from conclust.words import confidence as words


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
        Partitions that the consensus was computed from; for soft ones, their most probable clusters. None: the partitions of a
        `conclust.ConsensusClustering`.

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
    different, place = different_columns(labels)
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


def different_columns(labels: NDArray[np.generic]) -> tuple[list[int], Ints]:
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


_OWNER = "cluster_splits"
# Number of objects examined per cluster, evenly spaced: enough for shares of columns.
_MOST_EXAMINED = 2000
_MOST_PARTS = 6
_FEW = 4


@dataclass(frozen=True)
class ClusterSplits:
    """Number of parts into which the partitions split each cluster.

    Attributes
    ----------
    n_parts : ndarray of int64 of shape (n_clusters,)
        Number of parts that the partitions suggest, each with at least the share `least` of the cluster; 1 if the
        cluster is not split.
    n_partitions : ndarray of int64 of shape (n_clusters,)
        Number of partitions that separate the parts.
    n_observing : ndarray of int64 of shape (n_clusters,)
        Number of partitions that observed the cluster.
    parts : ndarray of int64 of shape (n_samples,)
        For objects of clusters that fall into parts, the part, from 0; -1 for all others, for objects that were
        not examined (of clusters of more than 2,000, evenly spaced ones are) and for those between the parts.
    """

    n_parts: Ints
    n_partitions: Ints
    n_observing: Ints
    parts: Ints

    def __repr__(self) -> str:
        split = self.told()
        return f"ClusterSplits({count(len(self.n_parts), 'cluster')}; {'; '.join(split) or 'none is split'})"

    def told(self, names: list[str] | None = None, what: str = "partitions") -> list[str]:
        """Return a sentence for each cluster that most partitions split.

        Parameters
        ----------
        names : list of str, default=None
            Names of the clusters. None: their numbers.
        what : str, default="partitions"
            Word for the partitions.
        """
        return words.of_splits(self, names, what)


def cluster_splits(
    consensus: Any,
    ensemble: Ensemble | ArrayLike | None = None,
    *,
    least: float = 0.1,
    purity: float = 0.9,
) -> ClusterSplits:
    """Find the clusters of a consensus that most partitions split in the same way.

    The confidence of an object shows whether it could also belong to another cluster. It cannot show that a cluster
    consists of two, whose objects are together in some partitions and apart in others. This function applies average
    linkage to the objects of each cluster alone, and takes the first cut with two or more parts of at least the share
    `least`. Then it counts the partitions that separate these parts: at least the share `purity` of the objects must
    be in the part to which most objects with their label belong.

    Parameters
    ----------
    consensus : array-like of shape (n_samples,) or fitted model
        The clusters. An object with a negative label or NaN is in no cluster.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        The partitions. A fitted `ConsensusClustering` has them. Each of positive weight counts once.
    least : float, default=0.1
        Minimum size of a part as a share of its cluster, in the range (0, 0.5].
    purity : float, default=0.9
        Minimum share of the objects in the right part, by majority in each cluster of a partition, in the range (0,
        1].

    Returns
    -------
    ClusterSplits
        The parts of each cluster, and the number of partitions that find them.

    Raises
    ------
    InputError
        If the two are not of the same objects, or the ensemble is malformed.
    ParameterError
        If a parameter is out of its range.
    UnsupportedEnsembleError
        If the members are soft.

    Examples
    --------
    >>> from conclust.confidence import cluster_splits
    >>> labels = [[0, 0, 0]] * 4 + [[0, 1, 1]] * 4 + [[1, 2, 2]] * 4
    >>> found = cluster_splits([0] * 8 + [1] * 4, labels)
    >>> found.told()
    ['cluster 0 is split in two by 2 of 3 partitions']
    """
    check_real(least, "least", _OWNER, high=0.5, closed="right")
    check_real(purity, "purity", _OWNER, high=1.0, closed="right")
    judged = read_consensus(consensus, ensemble, _OWNER)
    K = judged.n_clusters
    n_parts, n_splitting, n_observing = (np.zeros(K, dtype=np.int64) for _ in range(3))
    parts = np.full(len(judged.labels), -1, dtype=np.int64)
    labels = with_weight(hard_draws(judged.members, _OWNER)).labels
    for k in range(K):
        objects = np.flatnonzero(judged.labels == k)
        if len(objects) > _MOST_EXAMINED:
            objects = objects[np.linspace(0, len(objects) - 1, _MOST_EXAMINED).astype(np.int64)]
        rows = labels[objects]
        rows = rows[:, (rows != MISSING).any(axis=0)]
        n_observing[k] = rows.shape[1]
        part_of = _parts(rows, least)
        n_parts[k] = max(1, int(part_of.max()) + 1)
        if n_parts[k] > 1:
            n_splitting[k] = sum(_purity(column, part_of) >= purity for column in rows.T)
            parts[objects] = part_of
    return ClusterSplits(n_parts, n_splitting, n_observing, parts)


def _parts(labels: NDArray[np.generic], least: float) -> Ints:
    """Return the part of each object; -1 for those in pieces too small to be one, and for all where there is no part."""
    n = len(labels)
    none = np.full(n, -1, dtype=np.int64)
    observed = (labels != MISSING).any(axis=1)
    if np.count_nonzero(observed) < _FEW:
        return none
    with warnings.catch_warnings():
        # Pairs that no partition observed count as apart, as intended here.
        warnings.simplefilter("ignore", EvidenceWarning)
        # There may be few such objects.
        warnings.simplefilter("ignore", OrientationWarning)
        tree = EAC(1).fit(labels[observed]).linkage_matrix_
    for k in range(2, min(_MOST_PARTS, len(tree) + 1) + 1):
        groups = cut(tree, k)
        sizes = np.bincount(groups)
        large = np.flatnonzero(sizes >= max(2.0, least * n))
        if len(large) > 1 and tree[-(k - 1), 2] > 0:
            number = np.full(len(sizes), -1, dtype=np.int64)
            number[large] = np.arange(len(large))
            none[observed] = number[groups]
            return none
    return none


def _purity(column: NDArray[np.generic], parts: Ints) -> float:
    """Return the share of the objects whose part is the majority of their cluster; 0 for a part without a column."""
    observed = (column != MISSING) & (parts >= 0)
    codes, clusters = np.unique(column[observed], return_inverse=True)
    if not len(codes) or 2 * np.count_nonzero(observed) < np.count_nonzero(parts >= 0):
        return 0.0
    table = cross_counts(clusters, parts[observed], (len(codes), int(parts.max()) + 1))
    # Noise objects are clusters of one and carry no information on parts.
    table = table[codes != NOISE]
    if len(set(table.argmax(axis=1).tolist())) < table.shape[1]:
        return 0.0  # a part is the majority nowhere: its objects are not apart from the others
    return float(table.max(axis=1).sum() / np.count_nonzero(observed))
