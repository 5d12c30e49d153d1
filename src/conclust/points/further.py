"""Further partitions of the points, beside those that a generator makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust.ensemble import MISSING, NOISE, Ensemble, as_ensemble
from conclust.exceptions import InputError


def names_of(partitions: Any) -> list[str] | None:
    """Return the names of the columns of a frame; None of anything else."""
    names = list(getattr(partitions, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def cells_of(partitions: Any) -> NDArray[Any]:
    """Return further partitions as objects; an Ensemble with its names."""
    if not isinstance(partitions, Ensemble):
        return np.asarray(partitions, dtype=object)
    cells = np.empty(partitions.shape, dtype=object)
    for u, names in enumerate(partitions.names):
        # -2 and -1 count from the end.
        cells[:, u] = np.array([*names, NOISE, MISSING], dtype=object)[partitions.labels[:, u]]
    return cells


def with_further(ensemble: Ensemble, partitions: Any, n_features: int) -> Ensemble:
    """Append further partitions to the generated ones."""
    if partitions is None:
        return ensemble
    further = as_ensemble(partitions)
    if further.n_samples != ensemble.n_samples:
        raise InputError(
            f"'partitions' must be of the objects of X. Got partitions of {further.n_samples} objects, and "
            f"{ensemble.n_samples} objects in X."
        )
    if further.weights is None:
        share = ensemble.n_partitions / n_features
        further = further.reweighted(np.full(further.n_partitions, share))
    return Ensemble.concat([ensemble, further])
