"""Ensembles from labels of any form, and from the arrays of a file."""

from __future__ import annotations

import os
from typing import Any, cast

from numpy.typing import NDArray

from conclust.ensemble import file
from conclust.ensemble.columns import collected
from conclust.ensemble.derived import Derived
from conclust.ensemble.ensemble import Ensemble, made_of
from conclust.ensemble.labels import Missing
from conclust.ensemble.orientation import clusterings_as_rows, draws_in_rows, runs_in_a_list
from conclust.exceptions import OrientationWarning, warn


def packed(ensemble: Ensemble) -> tuple[dict[str, NDArray[Any]], Any]:
    """Return an ensemble as arrays and names, to be part of a file."""
    return file.pack(ensemble._coded(), ensemble.weights, ensemble._soft)


def unpacked(path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]], names: Any) -> Ensemble:
    """Return the ensemble from its `packed` parts, validating each; `path` is for messages."""
    return made_of(path, file.unpack(path, arrays, names))


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
