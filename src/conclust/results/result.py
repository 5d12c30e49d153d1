"""The reported result: a consensus and its context, from any source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.confidence import BorderTests, ClusterGaps, ConsensusTree
from conclust.confidence.borders.power import BorderPower
from conclust.confidence.reading import Judged
from conclust.ensemble.labels import canonical_labels
from conclust.results.features import Features
from conclust.results.record import Record
from conclust.selection import Selection


@dataclass(frozen=True)
class Reported:
    """A consensus, ready to be reported.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_samples,)
        Clusters; negative for objects in none.
    record : Record
        Record of the run.
    judged : Judged or None
        Consensus and its ensemble. None: one cluster without an ensemble.
    selection : Selection or None
        Selection of the number of clusters.
    model : fitted estimator or None
        Fitted model, for its trace.
    tree : ndarray of shape (n_leaves - 1, 4) or None
        The dendrogram that the clusters are cut from.
    points : ndarray of shape (n_samples, n_features) or None
        The points.
    names : list of str or None
        Names of the objects; None: their numbers.
    features : Features or None
        Features by cluster.
    gaps : ClusterGaps or None
        Gaps between clusters.
    borders : BorderTests or None
        Borders between clusters, with tests.
    border_tree : ConsensusTree or None
        The consensus tree with a p-value for each split.
    power : BorderPower or None
        The number of objects that each border needs.
    cluster_names : tuple of str or None
        Names of the clusters; None: their labels, from 0.
    kept : ndarray of shape (n_samples,) or None
        The probability that the pairs of each object hold in a fresh sample, if it was measured.
    rows : ndarray of int64 of shape (n_samples,) or None
        A checksum of the cells of each object in the input.
    """

    labels: Ints
    record: Record
    judged: Judged | None = None
    selection: Any = None
    model: Any = None
    tree: Floats | None = None
    points: Floats | None = None
    names: list[str] | None = None
    features: Features | None = None
    gaps: ClusterGaps | None = None
    borders: BorderTests | None = None
    border_tree: ConsensusTree | None = None
    power: BorderPower | None = None
    cluster_names: tuple[str, ...] | None = None
    kept: Floats | None = None
    rows: Ints | None = None

    def _restored(self) -> bool:
        """Return whether parts that were read from a file are of the same objects and clusters."""
        n, K = len(self.labels), self.n_clusters
        in_cluster = self.labels[self.labels >= 0]
        per_object = [
            self.names,
            self.kept,
            self.rows,
            None if self.border_tree is None else self.border_tree.leaves,
        ]
        selection = self.selection
        per_object += [*selection.labels.values()] if isinstance(selection, Selection) else []
        squares = (
            [] if self.gaps is None else [self.gaps.dip, self.gaps.p_value, self.gaps.neighbours]
        )
        features = [] if self.features is None else self.features.parts()
        return (
            K > 0
            and isinstance(selection, Selection | None)
            and np.array_equal(canonical_labels(in_cluster), in_cluster)
            and all(part is None or len(part) == n for part in per_object)
            and all(square.shape == (K, K) for square in squares)
            and all(part.shape == (K, d) for part, d in features)
            and (self.borders is None or self.borders.n_clusters == K)
        )

    def __repr__(self) -> str:
        """Return the source and the size: the arrays fill screens."""
        return (
            f"Reported({count(len(self.labels), 'object')} in {count(self.n_clusters, 'cluster')})"
        )

    @property
    def n_clusters(self) -> int:
        """Clusters found."""
        return int(self.labels.max()) + 1

    @property
    def shown_clusters(self) -> tuple[str, ...]:
        """Clusters as people read them: their names, or their labels, from 0."""
        if self.cluster_names is not None:
            return self.cluster_names
        return tuple(str(k) for k in range(self.n_clusters))

    @property
    def cluster_titles(self) -> tuple[str, ...]:
        """Headings of the clusters: their names, or "Cluster 0" and so on."""
        if self.cluster_names is not None:
            return self.cluster_names
        return tuple(f"Cluster {number}" for number in self.shown_clusters)

    @property
    def n_samples(self) -> int:
        """Number of objects, including those in no cluster."""
        return len(self.labels)
