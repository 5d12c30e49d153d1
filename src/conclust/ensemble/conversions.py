"""Ensembles from labels of any form, and from the arrays of a file."""

from __future__ import annotations

from typing import Any, cast

from conclust.ensemble.columns import collected
from conclust.ensemble.derived import Derived
from conclust.ensemble.ensemble import Ensemble
from conclust.ensemble.labels import Missing
from conclust.ensemble.orientation import clusterings_as_rows, draws_in_rows, runs_in_a_list
from conclust.exceptions import OrientationWarning, warn


def with_weight(ensemble: Ensemble) -> Ensemble:
    """Return the ensemble without partitions of weight 0, which would split rows of equal labels."""
    if ensemble.weights is None or ensemble.weights.all():
        return ensemble
    return ensemble.subset(partitions=ensemble.weights > 0)


def as_ensemble(labels: Any, *, missing: Missing = "unobserved") -> Ensemble:
    """Return `labels` if they are an Ensemble, else make one, with a hint if they look transposed."""
    if isinstance(labels, Derived):  # or labels in blocks, which provide all sums over objects
        return cast("Ensemble", labels)
    labels = collected(labels)
    ensemble = Ensemble(labels, missing=missing)
    n, m = ensemble.shape
    if runs_in_a_list(labels) or draws_in_rows(labels, n, m):
        return ensemble  # which has given the hint
    if clusterings_as_rows(labels, n, m):
        warn(
            f"The labels have {n} rows and {m} columns, and are read as {n} objects in {m} partitions. "
            f"If each row is a clustering of {m} objects, pass the transpose: numpy.transpose(labels). "
            "If the rows are objects, conclust.Ensemble(labels) is read without this hint.",
            OrientationWarning,
        )
    return ensemble
