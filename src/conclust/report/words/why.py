"""The reason for the number of clusters: the criteria over K, or the support of the clusterings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from conclust._validation import count
from conclust.report.pictures import Gallery
from conclust.report.tables import column, numbers, section, table, text_block
from conclust.report.words.decision import by_borders_alone, p_text, references
from conclust.results.result import Reported

# Columns of the table of a selection: the criteria that decide, and the ones that are only reported.
_DECIDING = (
    (
        "pac",
        "PAC",
        3,
        "Share of ambiguous pairs: neither nearly always together nor nearly always apart (Șenbabaoğlu "
        "et al. 2014). It also falls with K without clusters: compare it with the references.",
    ),
    (
        "rcsi",
        "RCSI",
        3,
        "Relative cluster stability (John et al. 2020): mean log PAC of the references minus log PAC of the "
        "points. The K with the largest value is chosen, unless almost no pair is ambiguous at several K; then the largest of these.",
    ),
    (
        "sharp",
        "Sharp",
        1,
        "Sharp score (Bodinier et al. 2023): the difference between the rates of being together within and "
        "between clusters, in units of chance. It is the second vote, and decides if there are no references.",
    ),
    (
        "mean_ari",
        "Mean ARI",
        3,
        "Mean adjusted Rand index of two resamples on the objects that both drew.",
    ),
    ("smallest_cluster", "Smallest", 0, "Number of objects in the smallest cluster."),
)
_REPORTED = (
    ("delta", "Delta area", 3, "Relative growth of the area under the distribution function."),
)


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
    title = "Why one cluster" if reported.n_clusters == 1 else "Why this number of clusters"
    if reported.selection is not None:
        blocks = _by_selection(reported)
    elif reported.record.supports:
        blocks = _by_support(reported)
    else:
        blocks = [text_block(_by_none(reported))]
    return section("why", title, [*blocks, gallery.of_number(reported)])


def _by_selection(reported: Reported) -> list[dict[str, Any]]:
    selection = reported.selection
    K, why = reported.n_clusters, reported.record.why
    blocks: list[dict[str, Any]] = [text_block(selection.reason)]
    if selection.n_clusters != K and why is not None:
        blocks.insert(0, text_block(f"{why[:1].upper()}{why[1:]}."))
    if not math.isnan(selection.p_value):
        text = (
            f"The p-value ({p_text(selection)}) is the share of data sets, the points among them, with "
            "clusters at least as stable as the clusters of the points, at any K: the largest studentised gap "
            f"of log PAC over all K, compared with {references(selection)}. "
        )
        small = selection.p_value <= selection.settings.get("alpha", 0.0)
        if small and K == 1:
            text += "It is small, but no border between these clusters holds, and a single cloud as flat or as skewed is as stable."
        elif small:
            text += (
                "It is small. A flat or a skewed cloud is also more stable than one Gaussian, so that a second test followed: a border "
                "between the clusters holds, or clouds as flat and as skewed as the points are less stable."
            )
        elif by_borders_alone(selection):
            text += "It is not small: a long cloud without clusters would be cut as stably. But all borders hold at a fifth of the level."
        else:
            text += "It is not small: a cloud without clusters would be as stable. Weak clusters need more objects or fewer useless features."
        blocks.append(text_block(text))
    else:
        text = "There is no p-value: whether there is more than one cluster was not tested. "
        if reported.n_clusters > 1:
            text += "The number with the largest sharp score was taken."
        else:
            text += (
                "One cluster is the answer because pairs do not differ at any number of clusters."
            )
        blocks.append(text_block(text))
    if selection.doubts:
        blocks.append(
            {"kind": "list", "title": "Arguments against it", "items": list(selection.doubts)}
        )
    if selection.alternatives:
        near = ", ".join(map(str, selection.alternatives))
        text = f"Within one standard error of the best: {near} clusters."
        blocks.append(text_block(text))
    deciding = _table(selection, _DECIDING, "Criteria that decide, for each number of clusters")
    others = _table(selection, _REPORTED, "Criteria that are reported only")
    blocks.append(deciding)
    blocks.append({"kind": "more", "title": "Other criteria", "blocks": [others]})
    return blocks


def _table(
    selection: Any, criteria: tuple[tuple[str, str, int, str], ...], caption: str
) -> dict[str, Any]:
    """Return criteria with standard errors, one row per number tried."""
    columns = [column("k", "K", "The number of clusters that was tried.")]
    cells: list[Any] = [selection.k.tolist()]
    for name, title, digits, how in criteria:
        values = selection.table.get(name)
        if values is None or not np.isfinite(values).any():
            continue
        errors = selection.table.get(f"{name}_se")
        if errors is None or not np.isfinite(errors).any():
            columns.append(column(name, title, how, digits=digits))
            cells.append(numbers(values))
            continue
        columns.append(
            column(name, title, how + " After ±: its standard error.", kind="spread", digits=digits)
        )
        pairs = zip(numbers(values), numbers(errors), strict=True)
        cells.append([list(pair) for pair in pairs])
    return {**table(caption, columns, cells, first=40), "stressed": selection.n_clusters}


def _by_support(reported: Reported) -> list[dict[str, Any]]:
    record, K = reported.record, reported.n_clusters
    best = max(record.supports, key=lambda support: support.support)
    measure = (
        "the lifetime of K clusters in the co-association tree (Fred and Jain 2005), minus the extent to which "
        "fine clusterings cut across their borders, relative to chance"
    )
    if record.number_by == "points" and record.reason is not None:
        text = (
            f"The points determined the number. {record.reason} One half of the points determines where the borders "
            "are; the points of the other half near them are compared with those in an equally wide band within the clusters. "
            f"The table shows what the clusterings alone support: {measure}."
        )
    elif record.asked_for is not None:
        text = (
            f"The number was given. The support of a number by the clusterings alone is {measure}; they support "
            f"{best.n_clusters} most ({best.support:.2f})."
        )
    elif K == 1:
        text = (
            f"The number comes from the clusterings alone (AutoConsensus): {measure}. The largest support, "
            f"{best.support:.2f} for {best.n_clusters}, is too small for clusters: fine clusterings cut "
            "through every border."
        )
    else:
        text = (
            f"The number comes from the clusterings alone (AutoConsensus): {measure}. {count(K, 'cluster')} have "
            f"the largest support, {best.support:.2f}."
        )
    supports = sorted(record.supports, key=lambda support: support.n_clusters)
    columns = [
        column("k", "K", "Number of clusters."),
        column(
            "support",
            "Support",
            "Lifetime minus straddling.",
            digits=3,
        ),
        column(
            "lifetime",
            "Lifetime",
            "Range of heights, from 0 to 1, over which the tree has K clusters.",
            digits=3,
        ),
        column(
            "straddling",
            "Straddled",
            "Extent to which fine clusterings cut across the borders; 1 by chance.",
            digits=3,
        ),
    ]
    cells = [
        [s.n_clusters for s in supports],
        numbers([s.support for s in supports]),
        numbers([s.lifetime for s in supports]),
        numbers([s.straddling for s in supports]),
    ]
    found_table = table("Support of each number of clusters", columns, cells, first=12)
    return [text_block(text), {**found_table, "stressed": K}]


def _by_none(reported: Reported) -> str:
    record, K = reported.record, reported.n_clusters
    select = (
        "To estimate the number of clusters from the points, with a p-value: conclust select points.csv "
        "(conclust.selection.choose)."
    )
    if record.asked_for is not None and record.method is not None:
        if record.method.n_clusters == "upper bound":
            return (
                f"At most {record.asked_for} clusters were allowed; {record.method.estimator} needed {K}. "
                + select
            )
        return f"The number, {record.asked_for}, was given. {select}"
    if record.method is None:
        return f"The clusters were given as labels. {select}"
    if record.method.estimator == "GraphConsensus":
        return (
            "GraphConsensus finds the number by itself: more clusters with a larger 'resolution'."
        )
    if record.method.estimator == "TopicConsensus":
        return (
            "TopicConsensus finds the number by itself: groups of at least 'min_topic_size' objects that are "
            "together in a share 'threshold' of the members. To estimate the number of clusters from the "
            "embeddings, with a p-value: conclust.selection.choose."
        )
    if record.reason is not None:
        return f"{record.reason} {select}"
    if K == 1:
        return f"Finer clusterings cut through every border: no number of clusters has support. {select}"
    return f"{record.method.estimator} finds the number by itself. {select}"
