"""The ensemble: many partitions of the same objects, read once, validated and frozen (floor 1)."""

from conclust.ensemble.ensemble import (
    MISSING,
    NOISE,
    DistinctRows,
    Ensemble,
    Missing,
    Noise,
    as_ensemble,
    with_weight,
)
from conclust.ensemble.labels import Naming, canonical_labels

__all__ = [
    "MISSING",
    "NOISE",
    "DistinctRows",
    "Ensemble",
    "Missing",
    "Naming",
    "Noise",
    "as_ensemble",
    "canonical_labels",
    "with_weight",
]
