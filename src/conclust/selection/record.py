"""The part of a Selection that each of its files holds: the fields, and their JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conclust._files.storage import json_numbers
from conclust._types import Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionRecord:
    """The number of clusters, its reason and its criteria: a `Selection` without the evidence.

    Attributes
    ----------
    n_clusters, p_value, n_references, reason, alternatives, doubts, k, table, null, labels, settings, p_value_clouds, why
        See `conclust.selection.Selection`.
    """

    n_clusters: int
    p_value: float
    n_references: int
    reason: str
    alternatives: tuple[int, ...]
    doubts: tuple[str, ...]
    k: Ints
    table: dict[str, Floats] = field(repr=False)
    null: Floats = field(repr=False)
    labels: dict[int, Ints] = field(repr=False)
    settings: dict[str, Any] = field(repr=False)
    p_value_clouds: float = float("nan")
    why: str = ""

    def facts(self) -> dict[str, Any]:
        """Return the fields other than arrays as JSON; `facts_of` reads them."""
        return {
            "n_clusters": self.n_clusters,
            "p_value": json_numbers(self.p_value),
            "n_references": self.n_references,
            "p_value_clouds": json_numbers(self.p_value_clouds),
            "reason": self.reason,
            "why": self.why,
            "doubts": list(self.doubts),
            "alternatives": list(self.alternatives),
            "settings": self.settings,
        }


def facts_of(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a `SelectionRecord` that are written by `facts`, with their types."""
    p_value, clouds = entries["p_value"], entries.get("p_value_clouds")
    return {
        "n_clusters": int(entries["n_clusters"]),
        "p_value": math.nan if p_value is None else float(p_value),
        "n_references": int(entries["n_references"]),
        "p_value_clouds": math.nan if clouds is None else float(clouds),
        "reason": str(entries["reason"]),
        "why": str(entries.get("why", entries["reason"])),
        "doubts": tuple(map(str, entries["doubts"])),
        "alternatives": tuple(map(int, entries["alternatives"])),
        "settings": dict(entries["settings"]),
    }
