"""How each partition compares with the consensus and with the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.ratios import ratio
from conclust._types import Floats, Ints
from conclust._validation import count, count_range
from conclust.confidence.reading import read_consensus
from conclust.ensemble import Ensemble
from conclust.measures.agreement import partition_similarities


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
