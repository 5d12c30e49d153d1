"""Assigns new objects to the clusters of a consensus from any method."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import number_array, plain_array
from conclust._arrays.rows import ratio, shares_of_rows
from conclust._types import Bools, Floats, Ints
from conclust.ensemble import Ensemble, Missing
from conclust.ensemble.labels import canonical_labels, indicator_of, missing_code, one_hot_rows
from conclust.exceptions import InputError

__all__ = ["shared_clusterings", "warm_start"]

_ROUNDING = 1e-5


def shared_clusterings(
    ensemble: Ensemble, labels: ArrayLike, new: Any, *, missing: Missing = "unobserved"
) -> Floats:
    """Measure how often new objects are together with the objects of each cluster.

    Use it to place new objects with a consensus that has no ``predict``: each goes to the cluster with which it shares the most
    clusterings, on average over the objects of the cluster.

    Parameters
    ----------
    ensemble : Ensemble
        The partitions of the consensus; their weights are used.
    labels : array-like of int of shape (n_samples,)
        The consensus: 0, 1, ...; objects with a negative label are in no cluster.
    new : array-like of shape (n_new, n_partitions)
        Labels of the new objects in the same partitions. A label that no object of the ensemble
        has is noise: observed, and apart from all others.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in `new`.

    Returns
    -------
    ndarray of shape (n_new, n_clusters)
        Over the objects of the cluster and the partitions that observed both objects, the share of
        partitions that put them together, in [0, 1]. NaN where no partition observed both.

    Raises
    ------
    InputError
        If the labels are not one whole number per object, or the new labels are malformed.

    Examples
    --------
    >>> from conclust import Ensemble
    >>> from conclust.placing import shared_clusterings
    >>> ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [1, 2]])
    >>> shared_clusterings(ensemble, [0, 0, 1, 1], [[1, 1], [0, 2]])
    array([[0.  , 0.75],
           [0.5 , 0.25]])
    """
    consensus = _read_consensus(labels, ensemble)
    codes, _ = ensemble.encode(new, missing=missing)
    held = one_hot_rows(consensus, int(consensus.max()) + 1)
    present = np.asarray(codes != missing_code(codes.dtype))
    return _shares(ensemble, held, indicator_of(codes, ensemble.offsets), present)


def labels_by_shares(ensemble: Ensemble, labels: ArrayLike, new: ArrayLike) -> Ints:
    """Return the cluster with which each new object shares most clusterings; -1 without any evidence."""
    shares = shared_clusterings(ensemble, labels, new)
    placed = ~np.isnan(shares).all(axis=1)
    return np.where(placed, np.nan_to_num(shares, nan=-1.0).argmax(axis=1), -1)


def warm_start(ensemble: Ensemble, previous: ArrayLike) -> NDArray[Any]:
    """Return a partition or a membership to start from: the previous one, extended by new objects.

    For methods that improve a given start, such as ``PCC(K, init=warm_start(ensemble, previous))``: if little has
    changed, they stay close to the previous consensus.

    Parameters
    ----------
    ensemble : Ensemble
        Partitions of the current objects.
    previous : array-like of int of shape (n_samples,), or of float of shape (n_samples, n_clusters)
        The previous clusters, with -1 for an object that is new or was in none; or the previous membership, with rows of NaN
        for such objects.

    Returns
    -------
    ndarray of int64 of shape (n_samples,), or of float64 of shape (n_samples, n_clusters)
        As `previous`. Clusters are consecutive from 0 by first appearance. A new object is in the cluster with which
        it shares most partitions (:func:`shared_clusterings`), or has these shares as its row, scaled to sum to 1;
        without any, it is in the largest cluster, or its row is uniform.

    Raises
    ------
    InputError
        If `previous` has neither one whole number nor one row of memberships per object, or no object is in a cluster.

    Examples
    --------
    >>> from conclust import Ensemble
    >>> from conclust.placing import warm_start
    >>> ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [1, 2], [1, 1]])
    >>> warm_start(ensemble, [7, 7, 3, 3, -1])
    array([0, 0, 1, 1, 1])
    >>> warm_start(ensemble, [[1, 0], [1, 0], [0, 1], [0.2, 0.8], [float("nan")] * 2]).round(2)
    array([[1.  , 0.  ],
           [1.  , 0.  ],
           [0.  , 1.  ],
           [0.2 , 0.8 ],
           [0.06, 0.94]])
    """
    _needs_ensemble(ensemble)
    if plain_array(previous, "'previous'").ndim == 2:
        return _warm_membership(ensemble, number_array(previous, "'previous'").copy())
    consensus = _read_consensus(previous, ensemble, "'previous'")
    consensus = canonical_labels(np.where(consensus < 0, -1, consensus))
    new = np.flatnonzero(consensus < 0)
    if not len(new):
        return consensus
    held = one_hot_rows(consensus, int(consensus.max()) + 1)
    shares = np.nan_to_num(_shares(ensemble, held, ensemble.indicator[new], ensemble.present[new]))
    largest = int(held.sum(axis=0).argmax())
    start = consensus.copy()
    start[new] = np.where(shares.max(axis=1) > 0, shares.argmax(axis=1), largest)
    return canonical_labels(start)


def _warm_membership(ensemble: Ensemble, rows: Floats) -> Floats:
    """Return memberships, computed for new objects from the shares of partitions."""
    has_membership: Bools = np.logical_not(np.isnan(rows).all(axis=1))
    if (
        len(rows) != ensemble.n_samples
        or not has_membership.any()
        or np.isnan(rows[has_membership]).any()
    ):
        raise InputError(
            f"Memberships in 'previous' must have a row for each of the {ensemble.n_samples} objects: numbers, or only NaN if "
            f"the object is new. Not all objects may be new. Got shape {rows.shape} with {int(np.isnan(rows).sum())} NaN."
        )
    known = rows[has_membership]
    if (known < 0).any() or (np.abs(known.sum(axis=1) - 1.0) > _ROUNDING).any():
        raise InputError(
            "Memberships in 'previous' must be at least 0 and add up to 1 in each row. Got numbers from "
            f"{known.min():g} to {known.max():g}, and sums from {known.sum(axis=1).min():g} to {known.sum(axis=1).max():g}."
        )
    new = np.flatnonzero(~has_membership)
    held = np.where(has_membership[:, np.newaxis], rows, 0.0)
    shares = np.nan_to_num(_shares(ensemble, held, ensemble.indicator[new], ensemble.present[new]))
    rows[new] = shares_of_rows(shares)
    return rows


def _needs_ensemble(ensemble: Any) -> None:
    if not isinstance(ensemble, Ensemble):
        raise InputError(
            f"An Ensemble is needed. Got {type(ensemble).__name__} instead: Ensemble(labels) makes one."
        )


def _read_consensus(labels: ArrayLike, ensemble: Ensemble, name: str = "'labels'") -> Ints:
    """Read the cluster of each object of an ensemble; a negative number means no cluster."""
    _needs_ensemble(ensemble)
    values = plain_array(labels, name)
    if values.shape != (ensemble.n_samples,) or values.dtype.kind not in "iu":
        raise InputError(
            f"{name} must be one whole number per object, shape ({ensemble.n_samples},). Got shape "
            f"{values.shape} and dtype {values.dtype} instead."
        )
    if not (values >= 0).any():
        raise InputError(f"{name} puts no object in a cluster, so new objects cannot be placed.")
    return values.astype(np.int64)


def _shares(ensemble: Ensemble, held: Floats, indicator: sp.csr_array, present: Bools) -> Floats:
    """Return the shares of `shared_clusterings` for objects, from their indicator and observations.

    `held` (n, K): membership of each object in each cluster.
    """
    together = indicator @ (ensemble.column_weights[:, np.newaxis] * (ensemble.indicator.T @ held))
    both = (present.astype(np.float64) * ensemble.partition_weights) @ (
        ensemble.present.T.astype(np.float64) @ held
    )
    return ratio(together, both, np.nan)


def __dir__() -> list[str]:
    return __all__
