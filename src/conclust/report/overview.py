"""The groups at a glance: for each cluster its strongest features, its size, and its separation in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from conclust._arrays.rows import ratio
from conclust._types import Bools
from conclust._validation import count
from conclust.confidence import ClusterConfidence, ObjectConfidence
from conclust.report.differences import heat_table, strongest
from conclust.report.tables import numbers, section, table, text_block
from conclust.results.result import Reported
from conclust.words.page.columns import GROUPS
from conclust.words.page.sections import RARE, certainty, drawn_text, how_named, separations

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
        "separation": separations(clusters.overlap, gaps, reported.shown_clusters, apart),
    }
    if reported.features is not None:
        cells["features"] = ["; ".join(strongest(reported.features, k)) for k in range(K)]
    caption, named = f"The {count(K, 'group')}", how_named(reported)
    blocks = [
        text_block(certainty(reported, sure) + drawn_text(reported, of), "Certainty."),
        *([text_block(what_next, "Next steps.")] if what_next else []),
        table(caption, GROUPS, cells, first=_MANY_CLUSTERS, named=named, rare=RARE),
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
