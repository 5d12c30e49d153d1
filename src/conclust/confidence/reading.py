"""The input of the measures: a fitted consensus or its labels, and the ensemble that it was made from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.containers import check_row_names, point_rows, refuse_gaps
from conclust._kernels import cluster_sums
from conclust._types import Floats, Ints
from conclust._validation import refuse
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import InputError
from conclust.measures.contingency import read_labels


@dataclass(frozen=True)
class Judged:
    """A consensus and its members.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_samples,)
        0 to K - 1; negative for objects in no cluster.
    members : Ensemble
        The partitions.
    membership : ndarray of shape (n_samples, n_held) or None
        Membership of the model, if it has one; the columns of the K clusters come first.
    weights : ndarray of shape (n_partitions,) or None
        Weights of the partitions, if the model learned them.
    """

    labels: Ints
    members: Ensemble
    membership: Floats | None = None
    weights: Floats | None = None

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the consensus."""
        return max(0, int(self.labels.max()) + 1)

    @property
    def sizes(self) -> Ints:
        """Number of objects in each cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @property
    def indicator(self) -> sp.csr_array:
        """Z (n, K): 1 where the object is in the cluster."""
        in_cluster = self.labels >= 0
        starts = np.concatenate([[0], np.cumsum(in_cluster)])
        entries = (np.ones(int(starts[-1])), self.labels[in_cluster], starts)
        return sp.csr_array(entries, shape=(len(self.labels), self.n_clusters))

    @cached_property
    def shared(self) -> Floats:
        """B'Z (T, K): objects in both, for each cluster of a partition and of the consensus."""
        members, K = self.members, self.n_clusters
        if members.is_soft:
            return np.asarray((members.indicator.T @ self.indicator).toarray())
        counts = np.empty(
            (int(members.offsets[-1]), K + 1)
        )  # the last column: objects in no cluster
        cluster_sums(members.label_view, None, np.where(self.labels < 0, K, self.labels), counts)
        return np.ascontiguousarray(counts[:, :K])

    def own(self, table: Floats) -> Floats:
        """Return each object's entry of a table (n, K) for its own cluster; NaN for an object in none."""
        at = np.take_along_axis(table, np.maximum(self.labels, 0)[:, None], axis=1)[:, 0]
        return np.where(self.labels >= 0, at, np.nan)


def read_consensus(consensus: Any, ensemble: Any, owner: str) -> Judged:
    """Read a fitted model or labels, and the ensemble; a `ConsensusClustering` brings its own."""
    if isinstance(consensus, Judged):
        return consensus
    membership = weights = None
    labels = consensus
    if hasattr(consensus, "fit"):
        check_is_fitted(consensus)
        inner = getattr(consensus, "consensus_", consensus)
        labels = consensus.labels_
        membership = getattr(consensus, "membership_", None)
        weights = getattr(inner, "weights_", None)
        if ensemble is None:
            ensemble = getattr(consensus, "ensemble_", None)
        codes = np.asarray(labels, dtype=np.int64)
    else:
        codes, _ = read_labels(labels, "consensus")
    if ensemble is None:
        raise InputError(
            f"{owner} needs the ensemble that the consensus was made from: pass it as 'ensemble'."
        )
    check_row_names({"consensus": consensus, "ensemble": ensemble}, named_only=True)
    members = as_ensemble(ensemble)
    if len(codes) != members.n_samples:
        raise InputError(
            f"The consensus and the ensemble must be of the same objects. Got {len(codes)} labels and "
            f"an ensemble of {members.n_samples} objects."
        )
    if codes.max() < 0:
        raise InputError(
            f"{owner} needs a consensus with at least one cluster. Got one without any."
        )
    return Judged(codes, members, membership, weights)


def check_model(model: Any, owner: str) -> None:
    """Refuse a model that is not a fitted estimator."""
    if not hasattr(model, "fit"):
        refuse("model", owner, "a fitted consensus", model)
    check_is_fitted(model)


def read_features(
    X: ArrayLike, n: int, *, rows: str = "labels", empty_cells: bool = False
) -> NDArray[np.generic]:
    """Read points, one row per object; their type is kept, so that no copy is made.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points.
    n : int
        The number of objects.
    rows : str
        The word for the n rows.
    empty_cells : bool
        Whether a cell may be NaN.

    Raises
    ------
    InputError
        If the points are not numbers, not for n objects, or not finite.
    """
    points = point_rows(X, n, rows)
    refuse_gaps(points, X, empty_cells=empty_cells)
    return points
