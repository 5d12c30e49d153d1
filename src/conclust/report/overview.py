"""The groups at a glance: for each cluster its strongest features, its size, and its separation in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from conclust._arrays.rows import ratio
from conclust._types import Bools
from conclust._validation import brief, count
from conclust.confidence import ClusterConfidence, ObjectConfidence
from conclust.report.tables import column, numbers, section, table, text_block
from conclust.results.features import Features
from conclust.results.result import Reported
from conclust.words.names import shown
from conclust.words.page import sections
from conclust.words.page.columns import FEATURE, GROUPS, HEAT, NEAR

_MANY_CLUSTERS = 60


def overview_section(
    reported: Reported,
    sure: ObjectConfidence,
    clusters: ClusterConfidence,
    what_next: str,
    *,
    of: int,
) -> dict[str, Any]:
    """Return the section with the names of the clusters and how well they are separated.

    Parameters
    ----------
    reported : Reported
        Result to report.
    sure : ObjectConfidence
        Confidence of the objects.
    clusters : ClusterConfidence
        Confidence and overlap of the clusters, and their sizes in the whole result.
    what_next : str
        The sentences on other numbers of clusters; may be empty.
    of : int
        Number of objects of the whole result, of which `reported` may be a sample.
    """
    K, sizes = reported.n_clusters, clusters.sizes
    mean = clusters.confidence
    if reported.kept is not None:
        held = ~np.isnan(reported.kept) & (reported.labels >= 0)
        own = reported.labels[held]
        kept = np.bincount(own, reported.kept[held], minlength=K)
        mean = ratio(kept, np.bincount(own, minlength=K).astype(float), np.nan)
    gaps = None if reported.gaps is None else reported.gaps.separated()
    with_company = (reported.labels >= 0) & ~always_apart(reported, sure, of=of)
    apart = np.bincount(reported.labels[with_company], minlength=K) == 0
    cells: dict[str, Any] = {
        "cluster": list(range(K)),
        "size": sizes.tolist(),
        "share": numbers(sizes / sizes.sum()),
        "confidence" if reported.kept is None else "kept": numbers(mean),
        "separation": sections.separations(clusters.overlap, gaps, reported.shown_clusters, apart),
    }
    if reported.features is not None:
        cells["features"] = ["; ".join(strongest(reported.features, k)) for k in range(K)]
    caption, named = f"The {count(K, 'group')}", sections.how_named(reported)
    blocks = [
        text_block(
            sections.certainty(reported, sure) + sections.drawn_text(reported, of), "Certainty."
        ),
        *([text_block(what_next, "Next steps.")] if what_next else []),
        table(caption, GROUPS, cells, first=_MANY_CLUSTERS, named=named, rare=sections.RARE),
    ]
    if reported.features is not None:
        blocks += heat_table(reported.features, reported.cluster_titles)
    return section("overview", blocks)


def always_apart(reported: Reported, sure: ObjectConfidence, *, of: int) -> Bools:
    """Return which objects every partition puts apart from all others, though they share a consensus cluster.

    All False for a sample: objects that are alone in it may have company in the whole.
    """
    if reported.n_samples < of:
        return np.zeros(reported.n_samples, dtype=np.bool_)
    return np.asarray((reported.labels >= 0) & np.isnan(sure.company))


_TOP_FEATURES = 8
_MOST_COLUMNS = 12  # maximum number of clusters in that table
_MOST_ROWS = 500  # of the table of all features and categories
_HEAT_ROWS = 15
_STRONGEST = 3  # maximum number of features that are named for a cluster
_SMALL = 0.5  # standard deviations: smaller differences do not name a cluster


def features_section(reported: Reported) -> dict[str, Any]:
    """Return the section on the features in which clusters differ, or the reason for its absence."""
    features = reported.features
    if features is None:
        return section("features", [text_block(sections.without_features(reported.record.command))])
    text = sections.differences(reported.record.filling, mixed=features.categories is not None)
    rows = [_rows(features, k) for k in range(min(reported.n_clusters, _MANY_CLUSTERS))]
    of = {"of": len(features.names), "categories": len(features.category_names)}
    clusters = [{"cluster": k, "rows": part} for k, part in enumerate(rows)]
    return section("features", [text_block(text), {"kind": "features", **of, "clusters": clusters}])


def strongest(features: Features, k: int) -> list[str]:
    """Return up to three features and categories that distinguish cluster k most, each with its value inside and outside."""
    rows, texts = _ranked(features, k)[:_STRONGEST], []
    near = all(row["size"] < _SMALL for row in rows)
    for row in rows:
        if near or row["size"] >= _SMALL:
            word = "" if near or row["category"] else "high " if row["sign"] > 0 else "low "
            texts.append(f"{word}{row['feature']} {row['inside']} ({row['outside']} elsewhere)")
    return [NEAR, *texts] if near else texts


def heat_table(features: Features, titles: Sequence[str]) -> list[dict[str, Any]]:
    """Return a heatmap of the features by cluster as a table, the strongest first; nothing for too many clusters.

    Parameters
    ----------
    features : Features
        Features and categories by cluster.
    titles : sequence of str
        Headings of the clusters.
    """
    n_clusters = len(titles)
    if not 1 < n_clusters <= _MOST_COLUMNS:
        return []
    ranked = [_ranked(features, k) for k in range(n_clusters)]
    chosen: dict[str, None] = {}
    for at in range(max(map(len, ranked))):
        for rows in ranked:
            if at < len(rows) and len(chosen) < _MOST_ROWS:
                chosen.setdefault(rows[at]["feature"])
    cells: dict[str, list[Any]] = {"feature": list(chosen)}
    columns = [column("feature", "Feature", "name", FEATURE)]
    for k, title in enumerate(titles):
        of = {row["feature"]: row for row in _ranked(features, k, both=True)}
        cells[f"cluster_{k}"] = [
            [of[name]["difference"], of[name]["inside"]] if name in of else [None, "-"]
            for name in chosen
        ]
        columns.append(column(f"cluster_{k}", title, "heat", HEAT))
    return [table("Features by cluster", columns, cells, first=_HEAT_ROWS)]


def _rows(features: Features, k: int) -> list[dict[str, Any]]:
    """Return the features and categories in which cluster k differs most, in decreasing order."""
    return [
        {key: row[key] for key in row if key not in ("size", "category")}
        for row in _ranked(features, k)[:_TOP_FEATURES]
    ]


def _ranked(features: Features, k: int, *, both: bool = False) -> list[dict[str, Any]]:
    """Return the rows of features and categories for cluster k, in decreasing order of the difference.

    Of two categories, only the more frequent one is named, as the other is redundant, unless `both` are requested.
    """
    values, writers = features.found, dict.fromkeys(features.dates, _day)
    rows = [
        _row(features.names[j], values, k, j, writers.get(features.names[j], brief))
        for j in values.largest(k, len(features.names)).tolist()
    ]
    categories = features.categories
    if categories is not None:
        shares = categories.shares
        width = np.bincount(categories.column)
        for j in shares.largest(k, len(categories.category)).tolist():
            if not both and width[categories.column[j]] == 2 and shares.difference[k, j] < 0:
                continue
            name = f"{features.category_names[categories.column[j]]} = {categories.category[j]}"
            rows.append({**_row(name, shares, k, j, _percent), "category": True})
    order = sorted(range(len(rows)), key=lambda at: (-rows[at]["size"], at))
    return [rows[at] for at in order]


def _row(name: str, values: Any, k: int, j: int, write: Any) -> dict[str, Any]:
    difference = values.difference[k, j]
    return {
        "feature": shown(name),
        "difference": numbers([difference], 4)[0],
        "sign": int(np.sign(difference)),
        "inside": write(float(values.inside[k, j])),
        "outside": write(float(values.outside[k, j])),
        "size": abs(difference),
        "category": False,
    }


def _day(value: float) -> str:
    return "none" if math.isnan(value) else str(np.datetime64(round(value), "D"))


def _percent(value: float) -> str:
    return "none" if math.isnan(value) else f"{100 * value:.0f} %"
