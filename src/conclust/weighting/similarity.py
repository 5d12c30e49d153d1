"""Similarities of the partitions of an ensemble to each other, for weights and selections."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Floats
from conclust._validation import check_option
from conclust.blocks.store import LabelStore, is_blocked, stored
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import UnsupportedEnsembleError
from conclust.measures.agreement import Measure, partition_similarities
from conclust.measures.comparison import Average


def as_members(ensemble: Ensemble | ArrayLike) -> Ensemble:
    """Return the ensemble, made from label columns if necessary.

    Raises
    ------
    UnsupportedEnsembleError
        If the labels are read in blocks.
    """
    if isinstance(ensemble, LabelStore):
        raise UnsupportedEnsembleError(
            "Weights by agreement or certainty and degenerate partitions are found of labels in blocks; this "
            "needs all labels at once: LabelStore(...).ensemble() reads them into memory."
        )
    return as_ensemble(ensemble)


def as_sums(ensemble: Ensemble | LabelStore | ArrayLike) -> Ensemble:
    """Return the ensemble, or for labels in blocks an object with all sums over objects."""
    if is_blocked(ensemble):
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
