"""The choice of the number of clusters in result.json: written and read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from conclust.selection import Selection

__all__ = ["StoredSelection", "floats_of", "numbers_of", "read_selection", "selection_record"]

_STEPS = 2000  # maximum number of steps of a distribution function: more than any picture shows


@dataclass(frozen=True)
class StoredSelection:
    """A `Selection` as stored in a result folder: the data of pictures and tables, under the same names.

    Attributes
    ----------
    n_clusters, p_value, n_references, reason, alternatives, doubts, k, table, null, labels, settings
    n_borders, n_held, p_value_clouds
        As of `conclust.selection.Selection`.
    distribution : dict of int to (values, heights)
        The distribution functions.
    """

    n_clusters: int
    p_value: float
    n_references: int
    reason: str
    alternatives: tuple[int, ...]
    doubts: tuple[str, ...]
    k: NDArray[np.int64]
    table: dict[str, NDArray[np.float64]]
    null: NDArray[np.float64]
    labels: dict[int, NDArray[np.int64]]
    settings: dict[str, Any]
    distribution: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]
    n_borders: int = 0
    n_held: int = 0
    p_value_clouds: float = float("nan")

    def cdf(self, n_clusters: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the distribution function of one number of clusters."""
        return self.distribution[n_clusters]


def selection_record(found: Selection) -> dict[str, Any]:
    """Return a selection for result.json, without labels and resamples."""
    return {
        "clusters": found.n_clusters,
        "p_value": _number(found.p_value),
        "references": found.n_references,
        "borders_tested": found.n_borders,
        "borders_held": found.n_held,
        "p_value_clouds": _number(found.p_value_clouds),
        "reason": found.reason,
        "doubts": list(found.doubts),
        "alternatives": list(found.alternatives),
        "k": found.k,
        "criteria": {name: numbers_of(column) for name, column in found.table.items()},
        "null": [numbers_of(row) for row in found.null],
        "distribution": {str(k): _steps(*found.cdf(int(k))) for k in found.k},
        "settings": found.settings,
    }


def read_selection(
    entries: dict[str, Any], labels: Mapping[int, NDArray[np.int64]]
) -> StoredSelection | None:
    """Undo `selection_record`; None if its parts do not fit each other.

    Parameters
    ----------
    entries : dict
        The selection in result.json.
    labels : dict of int to ndarray
        Labels for each number of clusters; empty if they were not written.
    """
    ks = [int(k) for k in entries["k"]]
    table = {str(name): floats_of(column) for name, column in entries["criteria"].items()}
    if not ks or any(column.shape != (len(ks),) for column in table.values()):
        return None
    curves = entries["distribution"]
    p_value, clouds = entries["p_value"], entries.get("p_value_clouds")
    return StoredSelection(
        n_clusters=int(entries["clusters"]),
        p_value=math.nan if p_value is None else float(p_value),
        n_references=int(entries["references"]),
        n_borders=int(entries.get("borders_tested", 0)),
        n_held=int(entries.get("borders_held", 0)),
        p_value_clouds=math.nan if clouds is None else float(clouds),
        reason=str(entries["reason"]),
        alternatives=tuple(int(k) for k in entries["alternatives"]),
        doubts=tuple(str(doubt) for doubt in entries["doubts"]),
        k=np.array(ks, dtype=np.int64),
        table=table,
        null=floats_of(entries["null"]).reshape(-1, len(ks)),
        labels=dict(labels),
        settings=dict(entries["settings"]),
        distribution={
            k: (floats_of(curves[str(k)]["share"]), floats_of(curves[str(k)]["pairs_up_to"]))
            for k in ks
            if str(k) in curves
        },
    )


def floats_of(values: Any) -> NDArray[np.float64]:
    """Return numbers of JSON as an array; null is NaN."""
    return np.array(values, dtype=np.float64)


def _steps(
    values: NDArray[np.float64], heights: NDArray[np.float64]
) -> dict[str, list[float | None]]:
    """Return a distribution function; if it has very many steps, some of them including the last."""
    n = len(values)
    steps = np.arange(n) if n <= _STEPS else np.linspace(0, n - 1, _STEPS).round().astype(int)
    return {"share": numbers_of(values[steps]), "pairs_up_to": numbers_of(heights[steps])}


def numbers_of(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers for JSON, with None for NaN and infinity."""
    return [_number(value) for value in values]


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
