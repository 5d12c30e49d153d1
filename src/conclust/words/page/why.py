"""The reason for the number of clusters in words: the p-value, the support of the clusterings, or neither."""

from __future__ import annotations

import math
from typing import Any

from conclust.results.record import Record
from conclust.words.page.decision import by_borders_alone, p_text, references

_SELECT = (
    "To estimate the number of clusters from the points, with a p-value: conclust select points.csv "
    "(conclust.selection.choose)."
)
_SUPPORT = (
    "the lifetime of K clusters in the co-association tree (Fred and Jain 2005), minus the extent to which "
    "fine clusterings cut across their borders, relative to chance"
)


def of_p_value(selection: Any, K: int) -> str:
    """Return what the p-value of a selection is and shows, for a result of K clusters."""
    if math.isnan(selection.p_value):
        text = "There is no p-value: whether there is more than one cluster was not tested. "
        if K > 1:
            return f"{text}The number with the largest sharp score was taken."
        return f"{text}One cluster is the answer because pairs do not differ at any number of clusters."
    text = (
        f"The p-value ({p_text(selection)}) is the share of data sets, including the points, with "
        "clusters at least as stable as the clusters of the points, at any K: the largest studentised gap "
        f"of log PAC over all K, compared with {references(selection)}. "
    )
    small = selection.p_value <= selection.settings.get("alpha", 0.0)
    if small and K == 1:
        text += "It is small, but no border between these clusters holds, and single clouds of the same shape are as stable."
    elif small:
        text += (
            "It is small. Single clouds of other shapes may be more stable, too, so a second test followed: a border "
            "between the clusters holds, or single clouds of the shape of the points are less stable."
        )
    elif by_borders_alone(selection):
        text += "It is not small: a long cloud without clusters would be cut as stably. But all borders hold at a fifth of the level."
    else:
        text += "It is not small: a cloud without clusters would be as stable. Weak clusters need more objects or fewer useless features."
    return text


def of_supports(record: Record) -> str:
    """Return what the clusterings support."""
    best = max(record.supports, key=lambda support: support.support)
    if record.number_by == "points" and record.reason is not None:
        return (
            f"The points determined the number. {record.reason} One half of the points determines where the borders "
            "are; the points of the other half near them are compared with those in an equally wide band within the clusters. "
            f"The table shows what the clusterings alone support: {_SUPPORT}."
        )
    if record.asked_for is not None:
        return (
            f"The number was given. The support of a number by the clusterings alone is {_SUPPORT}; they support "
            f"{best.n_clusters} most ({best.support:.2f})."
        )
    return f"The number comes from the clusterings alone (AutoConsensus). {record.reason or ''} Support is {_SUPPORT}."


def of_none(record: Record) -> str:
    """Return the source of a number that neither a selection nor the support of the clusterings gave."""
    if record.method is None:
        return f"The clusters were given as labels. {_SELECT}"
    alone = record.method.estimator in ("GraphConsensus", "TopicConsensus")
    return f"{record.reason} {_SELECT * (not alone)}".rstrip()
