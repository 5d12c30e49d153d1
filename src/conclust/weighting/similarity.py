"""The partitions of an ensemble side by side: their similarities, and those that hold nearly all objects in one cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Bools, Floats
from conclust._validation import check_option, check_real
from conclust.blocks.numbering import is_blocked
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import UnsupportedEnsembleError
from conclust.measures.agreement import Measure, partition_similarities
from conclust.measures.comparison import Average

if TYPE_CHECKING:
    from conclust.blocks.store import LabelStore

MAX_SHARE = 0.7
# If more than this share of the partitions is degenerate, most objects really belong together.
_MOST = 0.75


def as_members(ensemble: Ensemble | ArrayLike) -> Ensemble:
    """Return the ensemble, made from label columns if necessary.

    Raises
    ------
    UnsupportedEnsembleError
        If the labels are read in blocks.
    """
    if hasattr(ensemble, "in_blocks"):
        raise UnsupportedEnsembleError(
            "This needs all labels at once: LabelStore(...).ensemble() reads them into memory. For labels in blocks "
            "there are weights by agreement or certainty, and degenerate partitions."
        )
    return as_ensemble(ensemble)


def as_sums(ensemble: Ensemble | LabelStore | ArrayLike) -> Ensemble:
    """Return the ensemble, or for labels in blocks an object with all sums over objects."""
    if is_blocked(ensemble):
        from conclust.blocks.store import stored

        return as_ensemble(stored(ensemble, "unobserved").opened())
    return as_ensemble(ensemble)


def similarities(
    ensemble: Ensemble | LabelStore | ArrayLike,
    measure: Measure,
    owner: str,
    floor: float | None = 0.0,
    *,
    average: Average = "geometric",
) -> Floats:
    """Compare all members; 0 for members without common objects."""
    check_option(measure, "measure", owner, Measure)
    S = partition_similarities(as_sums(ensemble), measure=measure, average=average)
    S = np.nan_to_num(S, nan=0.0)
    return S if floor is None else np.maximum(S, floor)


def quality_of(S: Floats) -> Floats:
    """Return the mean similarity of each partition with the others; 1 for a single partition."""
    if len(S) == 1:
        return np.ones(1)
    return np.asarray((S.sum(axis=1) - np.diag(S)) / (len(S) - 1))


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
    InputError
        If the labels are malformed.
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
