"""Placing new objects in the clusters of a consensus, whatever method found it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._labels import indicator_of, missing_code
from conclust.ensemble import Ensemble, Missing
from conclust.exceptions import InputError

__all__ = ["shared_clusterings"]


def shared_clusterings(
    ensemble: Ensemble, labels: ArrayLike, new: Any, *, missing: Missing = "unobserved"
) -> NDArray[np.float64]:
    """Say how often new objects fall together with the objects of each cluster.

    This places new objects by a consensus without ``predict``: each goes to the cluster with which it
    shares the most clusterings, on average over the objects of the cluster.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions that the consensus was found of; their weights count.
    labels : array-like of int of shape (n_samples,)
        The consensus: 0, 1, ...; objects with a negative label are in no cluster.
    new : array-like of shape (n_new, n_partitions)
        Labels of the new objects in the same partitions. A label that no object of the ensemble
        has is noise: observed, and apart from all others.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 in `new` means.

    Returns
    -------
    ndarray of shape (n_new, n_clusters)
        Over the objects of the cluster and the partitions that observed both objects, the share of
        partitions that put them together, in [0, 1]. NaN where no partition observed both.

    Raises
    ------
    InputError
        If the labels are not one whole number an object, or the new labels are malformed.

    Examples
    --------
    >>> from conclust import Ensemble
    >>> from conclust.placing import shared_clusterings
    >>> ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [1, 2]])
    >>> shared_clusterings(ensemble, [0, 0, 1, 1], [[1, 1], [0, 2]])
    array([[0.  , 0.75],
           [0.5 , 0.25]])
    """
    if not isinstance(ensemble, Ensemble):
        raise InputError(
            f"shared_clusterings needs an Ensemble. Got {type(ensemble).__name__} instead: Ensemble(labels) "
            "makes one."
        )
    found = np.asarray(labels)
    if found.shape != (ensemble.n_samples,) or found.dtype.kind not in "iu":
        raise InputError(
            f"'labels' must be one whole number an object, shape ({ensemble.n_samples},). Got shape "
            f"{found.shape} and dtype {found.dtype} instead."
        )
    placed = np.flatnonzero(found >= 0)
    if not placed.size:
        raise InputError("'labels' put no object in a cluster: there is nowhere to place others.")
    codes, _ = ensemble.encode(new, missing=missing)
    in_cluster = np.zeros((ensemble.n_samples, int(found.max()) + 1))
    in_cluster[placed, found[placed]] = 1.0
    together = indicator_of(codes, ensemble.offsets) @ (
        ensemble.column_weights[:, np.newaxis] * (ensemble.indicator.T @ in_cluster)
    )
    present = np.asarray(codes != missing_code(codes.dtype), dtype=np.float64)
    both = (present * ensemble.partition_weights) @ (
        ensemble.present.T.astype(np.float64) @ in_cluster
    )
    shares: NDArray[np.float64] = np.full(together.shape, np.nan)
    np.divide(together, both, out=shares, where=both > 0)
    return shares
