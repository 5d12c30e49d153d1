"""The choice of the number of clusters in result.json: written and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conclust._files.storage import json_numbers
from conclust._types import Floats, Ints
from conclust.selection import Selection
from conclust.selection.record import SelectionRecord, facts_of

_STEPS = 2000  # maximum number of steps of a distribution function: more than any picture shows
# Entries whose names differ from those of the fields.
_ENTRIES = {"n_clusters": "clusters", "n_references": "references"}


@dataclass(frozen=True, eq=False, kw_only=True)
class StoredSelection(SelectionRecord):
    """A `Selection` as stored in a result folder: the data of pictures and tables.

    Attributes
    ----------
    distribution : dict of int to (values, heights)
        The distribution functions.
    n_borders, n_held : int
        Number of borders that were tested, and of those that hold.
    """

    distribution: dict[int, tuple[Floats, Floats]]
    n_borders: int = 0
    n_held: int = 0

    def cdf(self, n_clusters: int) -> tuple[Floats, Floats]:
        """Return the distribution function of one number of clusters."""
        return self.distribution[n_clusters]


def selection_record(found: Selection) -> dict[str, Any]:
    """Return a selection for result.json, without labels and resamples."""
    return {
        **{_ENTRIES.get(name, name): value for name, value in found.facts().items()},
        "borders_tested": found.n_borders,
        "borders_held": found.n_held,
        "k": found.k,
        "criteria": {name: json_numbers(column) for name, column in found.table.items()},
        "null": json_numbers(found.null),
        "distribution": {str(k): _steps(*found.cdf(int(k))) for k in found.k},
    }


def read_selection(entries: dict[str, Any], labels: Mapping[int, Ints]) -> StoredSelection | None:
    """Undo `selection_record`; None if its parts do not fit each other.

    Parameters
    ----------
    entries : dict
        The selection in result.json.
    labels : dict of int to ndarray
        Labels for each number of clusters; empty if they were not written.
    """
    ks = [int(k) for k in entries["k"]]
    table = {str(name): _floats(column) for name, column in entries["criteria"].items()}
    if not ks or any(column.shape != (len(ks),) for column in table.values()):
        return None
    curves = entries["distribution"]
    return StoredSelection(
        **facts_of(entries | {name: entries[entry] for name, entry in _ENTRIES.items()}),
        n_borders=int(entries.get("borders_tested", 0)),
        n_held=int(entries.get("borders_held", 0)),
        k=np.array(ks, dtype=np.int64),
        table=table,
        null=_floats(entries["null"]).reshape(-1, len(ks)),
        labels=dict(labels),
        distribution={
            k: (_floats(curves[str(k)]["share"]), _floats(curves[str(k)]["pairs_up_to"]))
            for k in ks
            if str(k) in curves
        },
    )


def _floats(values: Any) -> Floats:
    """Return numbers of JSON as an array; null is NaN."""
    return np.array(values, dtype=np.float64)


def _steps(values: Floats, heights: Floats) -> dict[str, list[float | None]]:
    """Return a distribution function; if it has very many steps, some of them including the last."""
    n = len(values)
    steps = np.arange(n) if n <= _STEPS else np.linspace(0, n - 1, _STEPS).round().astype(int)
    return {"share": json_numbers(values[steps]), "pairs_up_to": json_numbers(heights[steps])}
