"""Degenerate partitions: nearly all objects in one cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Bools, Floats
from conclust._validation import check_real
from conclust.blocks.store import LabelStore
from conclust.ensemble import Ensemble
from conclust.weighting.similarity import as_sums

MAX_SHARE = 0.7
# If more than this share of the partitions is degenerate, most objects really belong together.
_MOST = 0.75


def largest_shares(ensemble: Ensemble) -> Floats:
    """Return the share of each partition's observed objects in its largest cluster."""
    largest = np.zeros(ensemble.n_partitions)
    np.maximum.at(largest, ensemble.column_partitions, ensemble.cluster_sizes)
    return np.asarray(largest / ensemble.observed_counts)


def degenerate_partitions(
    ensemble: Ensemble | LabelStore | ArrayLike, max_share: float = MAX_SHARE
) -> Bools:
    """Return which partitions have nearly all objects in one cluster.

    Single and centroid linkage, for instance, cut off a few outliers and leave the rest together.
    Such a partition separates little, but counts for a method that explains pairs (PCC,
    WeightedPCC) as evidence that all is one, and for a selection by diversity as the most
    diverse one.

    Parameters
    ----------
    ensemble : Ensemble, LabelStore or array-like of shape (n_samples, n_partitions)
        Partitions, hard or soft, or labels in blocks (:class:`conclust.blocks.LabelStore`).
    max_share : float, default=0.7
        Share of the observed objects in one cluster above which a partition is degenerate, from 0 to 1. 1: none is.

    Returns
    -------
    ndarray of bool of shape (n_partitions,)
        Mask of the degenerate partitions. None where more than three quarters of them (by weight)
        would be: then most objects do belong together.

    Raises
    ------
    ParameterError
        If `max_share` is not from 0 to 1.

    Examples
    --------
    >>> from conclust.weighting import degenerate_partitions
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 2, 1]]
    >>> degenerate_partitions(labels)
    array([False, False,  True])
    """
    check_real(max_share, "max_share", "degenerate_partitions", high=1.0)
    members = as_sums(ensemble)
    degenerate: Bools = largest_shares(members) > max_share
    weights = members.partition_weights / members.partition_weights.max()
    if weights[degenerate].sum() > _MOST * weights.sum():
        return np.zeros_like(degenerate)
    return degenerate
