"""The clusters found in the points of a file: their features, and the gaps between them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._spreadsheets import guard_text
from conclust.cli.outputs import write_numbers
from conclust.cli.record import numbers_of
from conclust.confidence import cluster_features, cluster_gaps
from conclust.generation.scaling import Scale, scaler_of
from conclust.report.result import MOST_GAPS

__all__ = ["gaps_record", "write_features"]


def write_features(
    path: Path,
    X: NDArray[np.float64],
    labels: NDArray[np.int64],
    names: Sequence[str],
    *,
    raw: bool,
) -> None:
    """Write, for each cluster and feature, how far the cluster's values lie from the other objects'.

    Parameters
    ----------
    path : Path
        The file.
    X : ndarray of shape (n_samples, n_features)
        The points, in their own units.
    labels : ndarray of shape (n_samples,)
        Their clusters.
    names : sequence of str
        Of the features.
    raw : bool
        Whether names are written as they are.
    """
    found = cluster_features(X, labels)
    K, d = found.difference.shape
    shown = list(names) if raw else [guard_text(name) for name in names]
    columns = {
        "feature": np.repeat(np.array(shown, dtype=object), K),
        "cluster": np.tile(range(K), d),
    }
    for name in ("inside", "outside", "deviation", "difference"):
        columns[name] = getattr(found, name).T.ravel()
    write_numbers(path, columns)


def gaps_record(
    X: NDArray[np.float64], labels: NDArray[np.int64], scale: Scale, seed: int
) -> dict[str, Any] | None:
    """Return between which clusters there are gaps, in the scale of the clustering; None of too many."""
    if not 1 < int(labels.max()) + 1 <= MOST_GAPS:
        return None
    scaler = scaler_of(scale)
    found = cluster_gaps(
        X if scaler is None else scaler.fit_transform(X), labels, random_state=seed
    )
    return {
        "dip": [numbers_of(row) for row in found.dip],
        "p_value": [numbers_of(row) for row in found.p_value],
        "splits": found.n_splits,
        "draws": found.n_draws,
    }
