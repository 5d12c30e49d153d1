"""The reported result: a consensus and its context, from any source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.confidence import ClusterGaps
from conclust.confidence.reading import Judged
from conclust.results.borders import Borders
from conclust.results.features import Features
from conclust.results.record import Record


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
    selection : Selection, StoredSelection or None
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
    borders : Borders or None
        Borders between clusters, with tests.
    cluster_names : tuple of str or None
        Names of the clusters; None: their labels, from 0.
    kept : ndarray of shape (n_samples,) or None
        The probability that the pairs of each object hold in a fresh sample, if it was measured.
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
    borders: Borders | None = None
    cluster_names: tuple[str, ...] | None = None
    kept: Floats | None = None

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
