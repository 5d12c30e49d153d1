"""Clusters that overlap, placed by their centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._arrays.containers import holds
from conclust._arrays.ratios import shares_of_rows
from conclust._types import Floats, Ints
from conclust.consensus.auto.votes import evidence_for
from conclust.ensemble import Ensemble
from conclust.generation.labelling.labelling import scaled_blocks
from conclust.generation.labelling.models import nearest_center
from conclust.number import Discriminants


@dataclass(frozen=True, eq=False)
class ClusterCenters:
    """Clusters as the points nearest to centres, with the evidence of the members for them.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_axes)
        Means of the clusters, in the coordinates after `whitening`.
    whitening : ndarray of shape (n_features, n_axes)
        Points times this matrix have about the same spread within clusters in all directions.
    votes : ndarray of shape (n_ensemble_clusters, n_clusters)
        Votes of each cluster of the ensemble for each of the clusters.
    """

    centers: Floats
    whitening: Floats
    votes: Floats

    @classmethod
    def of(
        cls, found: Discriminants, points: Floats, objects: Ints, ensemble: Ensemble
    ) -> ClusterCenters:
        """Return the centres of clusters that the points of some objects show."""
        centers, whitening = found
        labels = nearest_center(points @ whitening, centers).astype(np.int64)
        return cls(centers, whitening, evidence_for(ensemble, objects, labels))

    def fits(self, d: int, n_columns: int, K: int) -> bool:
        """Return whether these are K centres of points with d features, with the votes of `n_columns` clusters."""
        axes = self.centers.shape[-1]
        return (
            holds(self.centers, K, axes)
            and holds(self.whitening, d, axes)
            and holds(self.votes, n_columns, K)
            and bool((self.votes >= 0).all())
        )

    def nearest(self, generator: Any, X: Any) -> Ints:
        """Return the nearest centre of each point of X, (n_samples,), in the scale of a fitted generator."""
        blocks = scaled_blocks(generator, X)
        nearest = [nearest_center(block @ self.whitening, self.centers) for block in blocks]
        return np.concatenate(nearest).astype(np.int64)

    def membership(self, labels: Ints, indicator: sp.csr_array) -> Floats:
        """Return the share of the members' evidence for each cluster.

        If the members favour another cluster than the nearest centre, both get the same share: they are equally
        likely.

        Parameters
        ----------
        labels : ndarray of int64 of shape (n_samples,)
            The nearest centre of each point.
        indicator : sparse array of shape (n_samples, n_ensemble_clusters)
            The clusters of the ensemble that each point is in.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows sum to 1; the largest entry is that of the nearest centre.
        """
        shares = shares_of_rows(indicator @ self.votes)
        rows = np.arange(len(shares))
        for_ = shares.argmax(axis=1)
        other = np.flatnonzero(shares[rows, for_] > shares[rows, labels])
        half = (shares[other, for_[other]] + shares[other, labels[other]]) / 2
        shares[other, for_[other]] = half
        shares[other, labels[other]] = half
        # The label is the largest entry, the first one if tied.
        first = np.flatnonzero(shares.argmax(axis=1) != labels)
        shares[first, labels[first]] = np.nextafter(shares[first, labels[first]], 2.0)
        return shares

    def renumbered(self, order: Ints) -> ClusterCenters:
        """Return the same with the clusters in another order."""
        return ClusterCenters(self.centers[order], self.whitening, self.votes[:, order])
