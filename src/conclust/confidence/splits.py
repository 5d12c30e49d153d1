"""Clusters that most partitions split in the same way."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._types import Ints
from conclust._validation import check_real, count
from conclust.confidence.reading import read_consensus
from conclust.consensus.linkage import EAC, cut
from conclust.ensemble import Ensemble, with_weight
from conclust.ensemble.labels import MISSING, NOISE
from conclust.exceptions import EvidenceWarning, OrientationWarning
from conclust.measures.losses import hard_draws

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
        sentences = []
        for k in np.flatnonzero((self.n_parts > 1) & (2 * self.n_partitions > self.n_observing)):
            name = str(k) if names is None else names[k]
            sentences.append(
                f"cluster {name} is split in {_WORDS.get(int(self.n_parts[k]), self.n_parts[k])} by "
                f"{self.n_partitions[k]} of {self.n_observing[k]} {what}"
            )
        return sentences


_WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


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
    table = np.zeros((len(codes), int(parts.max()) + 1))
    np.add.at(table, (clusters, parts[observed]), 1.0)
    # Noise objects are clusters of one and carry no information on parts.
    table = table[codes != NOISE]
    if len(set(table.argmax(axis=1).tolist())) < table.shape[1]:
        return 0.0  # a part is the majority nowhere: its objects are not apart from the others
    return float(table.max(axis=1).sum() / np.count_nonzero(observed))
