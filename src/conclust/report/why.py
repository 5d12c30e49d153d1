"""The reason for the number of clusters: the criteria over K, or the support of the clusterings."""

from __future__ import annotations

from typing import Any

import numpy as np

from conclust.report.pictures import Gallery
from conclust.report.tables import numbers, section, table, text_block
from conclust.results.result import Reported
from conclust.words.page.columns import CAPTIONS, DECIDING, REPORTED, SPREAD, SUPPORTS
from conclust.words.page.why import of_none, of_p_value, of_supports


def why_section(reported: Reported, gallery: Gallery) -> dict[str, Any]:
    """Return the section on the reason for the number of clusters.

    Parameters
    ----------
    reported : Reported
        Result to report.
    gallery : Gallery
        Makes the pictures.

    Returns
    -------
    dict
        A section.
    """
    if reported.selection is not None:
        blocks = _by_selection(reported)
    elif reported.record.supports:
        blocks = _by_support(reported)
    else:
        blocks = [text_block(of_none(reported.record))]
    title = "why one" if reported.n_clusters == 1 else ""
    return section("why", [*blocks, gallery.of_number(reported)], title)


def _by_selection(reported: Reported) -> list[dict[str, Any]]:
    selection = reported.selection
    K, why = reported.n_clusters, reported.record.why
    blocks: list[dict[str, Any]] = [text_block(selection.reason)]
    if selection.n_clusters != K and why is not None:
        blocks.insert(0, text_block(f"{why[:1].upper()}{why[1:]}."))
    blocks.append(text_block(of_p_value(selection, K)))
    if selection.doubts:
        blocks.append(
            {"kind": "list", "title": CAPTIONS["doubts"], "items": list(selection.doubts)}
        )
    others = _table(selection, REPORTED, CAPTIONS["reported"])
    blocks.append(_table(selection, DECIDING, CAPTIONS["deciding"]))
    blocks.append({"kind": "more", "title": CAPTIONS["others"], "blocks": [others]})
    return blocks


def _table(selection: Any, criteria: str, caption: str) -> dict[str, Any]:
    """Return criteria with standard errors, one row per number tried."""
    cells: dict[str, Any] = {"k": selection.k.tolist()}
    spreads = set()
    for name, values in selection.table.items():
        if name.endswith("_se") or not np.isfinite(values).any():
            continue
        cells[name] = numbers(values)
        errors = selection.table.get(f"{name}_se")
        if errors is not None and np.isfinite(errors).any():
            spreads.add(name)
            cells[name] = list(map(list, zip(cells[name], numbers(errors), strict=True)))
    found = table(caption, criteria, cells, first=40)
    for column in found["columns"]:
        if column["name"] in spreads:
            column |= {"how": column["how"] + SPREAD, "kind": "spread"}
    return {**found, "stressed": selection.n_clusters}


def _by_support(reported: Reported) -> list[dict[str, Any]]:
    record, K = reported.record, reported.n_clusters
    supports = sorted(record.supports, key=lambda support: support.n_clusters)
    names = ("support", "lifetime", "straddling")
    cells: dict[str, Any] = {name: numbers([getattr(s, name) for s in supports]) for name in names}
    cells["k"] = [s.n_clusters for s in supports]
    found_table = table(CAPTIONS["supports"], SUPPORTS, cells, first=12)
    return [text_block(of_supports(record)), {**found_table, "stressed": K}]
